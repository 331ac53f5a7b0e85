// Fuzzes the reader of git configuration: the input is a file. Crashes where a promise of
// plan/git_config.h breaks.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "plan/git_config.h"

namespace agent_exec {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckText(absl::string_view text) {
  const GitConfig config = ParseGitConfig(text);
  for (const GitConfigEntry& entry : config.entries) {
    Require(!entry.section.empty() && !entry.key.empty());
    Require(entry.has_value || entry.value.empty());
  }
  const std::string harmless = HarmlessGitConfig(config);
  const GitConfig back = ParseGitConfig(harmless);
  Require(back.well_formed);
  // Each entry that is read back is one that went in, in the same order.
  size_t at = 0;
  for (const GitConfigEntry& entry : back.entries) {
    while (at < config.entries.size() && !(config.entries[at] == entry)) ++at;
    Require(at < config.entries.size());
    ++at;
    Require(entry.section != "include" && entry.section != "includeif" &&
            entry.section != "credential" && entry.section != "url");
  }
  Require(HarmlessGitConfig(back) == harmless);
}

}  // namespace
}  // namespace agent_exec

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  agent_exec::CheckText(absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
