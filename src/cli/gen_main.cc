// Prints one of the texts that are made from the tables of the launcher, for man/ and completions/.
// A tool of the build, not installed: `gen-docs man-options` and so on. What a page is made of lies
// in cli/docs.h.

#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "backend/backend.h"
#include "cli/docs.h"

namespace agent_exec {
namespace {

std::string Backends() {
  std::vector<BackendDoc> docs;
  for (const Backend& row : agent_exec::Backends()) {
    BackendDoc doc = {row.name, row.summary, {}};
    for (const BackendLimit& limit : row.limits) doc.limits.emplace_back(limit.text);
    docs.push_back(doc);
  }
  return ManBackends(docs);
}

struct Text {
  absl::string_view name;
  std::string (*make)();
};

constexpr Text kTexts[] = {
    {"man-options", ManOptions}, {"man-keys", ManKeys},    {"man-weakenings", ManWeakenings},
    {"man-backends", Backends},  {"bash", BashCompletion}, {"zsh", ZshCompletion},
    {"fish", FishCompletion},    {"schema", SchemaJson},
};

}  // namespace
}  // namespace agent_exec

int main(int argc, char** argv) {
  for (const agent_exec::Text& text : agent_exec::kTexts) {
    if (argc != 2 || text.name != argv[1]) continue;
    const std::string made = text.make();
    return std::fwrite(made.data(), 1, made.size(), stdout) == made.size() &&
                   std::fflush(stdout) == 0
               ? 0
               : 1;
  }
  std::fputs(
      "usage: gen-docs man-options|man-keys|man-weakenings|man-backends|bash|zsh|fish|schema\n",
      stderr);
  return 2;
}
