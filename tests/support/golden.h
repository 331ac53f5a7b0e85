#pragma once

// Golden files below tests/golden: text that a person has read and accepted.

#include <string>

#include "absl/strings/string_view.h"

namespace agent_exec::testing {

// What differs between the file and the text: the first line that does, of both, and how to accept
// it;
// "" when they are the same. With AGENT_EXEC_ACCEPT=1 in the environment the file is written
// instead.
//   In: a path relative to tests/golden, in a directory that exists.
std::string GoldenDifference(absl::string_view path, absl::string_view actual);

}  // namespace agent_exec::testing
