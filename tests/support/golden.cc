#include "support/golden.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

// The build system names the directory: tests run from anywhere.
#ifndef AGENT_EXEC_GOLDEN_DIR
#error "AGENT_EXEC_GOLDEN_DIR must be the path of tests/golden"
#endif

namespace agent_exec::testing {

std::string GoldenDifference(absl::string_view path, absl::string_view actual) {
  const std::string file = absl::StrCat(AGENT_EXEC_GOLDEN_DIR, "/", path);
  const char* accept = std::getenv("AGENT_EXEC_ACCEPT");
  if (accept != nullptr && std::string(accept) == "1") {
    std::ofstream out(file, std::ios::binary);
    out << std::string(actual);
    out.close();
    return out ? "" : absl::StrCat("cannot write ", file);
  }
  std::ifstream in(file, std::ios::binary);
  const std::string expected((std::istreambuf_iterator<char>(in)),
                             std::istreambuf_iterator<char>());
  if (in && absl::string_view(expected) == actual) return "";
  const std::vector<std::string> want = absl::StrSplit(expected, '\n');
  const std::vector<std::string> have = absl::StrSplit(actual, '\n');
  size_t line = 0;
  while (line < want.size() && line < have.size() && want[line] == have[line]) ++line;
  return absl::StrCat(file, ":", line + 1,
                      "\n  expected: ", line < want.size() ? want[line] : "(end)",
                      "\n  actual:   ", line < have.size() ? have[line] : "(end)",
                      "\n  AGENT_EXEC_ACCEPT=1 in the environment accepts what is there now");
}

}  // namespace agent_exec::testing
