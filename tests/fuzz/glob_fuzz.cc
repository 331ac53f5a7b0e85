// Fuzzes Glob: the input is a pattern and, behind the first newline, a path. Crashes where a
// promise of glob.h breaks.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/glob.h"
#include "base/path.h"

namespace agent_exec {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckPattern(absl::string_view anchor, absl::string_view pattern, absl::string_view below) {
  const absl::StatusOr<Glob> glob = Glob::Compile(anchor, pattern);
  if (!glob.ok()) {
    Require(absl::IsInvalidArgument(glob.status()));
    Require(glob.status().message().find('\n') == absl::string_view::npos);
    return;
  }
  Require(IsClean(glob->walk_root()) && IsUnder(glob->walk_root(), anchor));
  Require(glob->CanMatchBelow(anchor));
  if (!Glob::HasMagic(pattern)) Require(glob->Matches(Join(anchor, Glob::Unescape(pattern))));

  const std::string path = Clean(Join(anchor, below));
  if (!glob->Matches(path)) return;
  Require(IsUnder(path, glob->walk_root()));
  Require(path != glob->walk_root() || path == anchor);
  for (const absl::string_view dir : AncestorsAndSelf(path)) {
    if (dir != path) Require(glob->CanMatchBelow(dir));
  }
}

}  // namespace
}  // namespace agent_exec

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view input(reinterpret_cast<const char*>(data), size);
  const absl::string_view pattern = input.substr(0, input.find('\n'));
  absl::string_view below = input.substr(pattern.size());
  while (!below.empty() && (below[0] == '\n' || below[0] == '/')) below.remove_prefix(1);
  if (agent_exec::HasNul(below)) return 0;
  agent_exec::CheckPattern("/w/[a]", pattern, below);
  agent_exec::CheckPattern("/", pattern, below);
  return 0;
}
