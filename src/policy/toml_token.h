#pragma once

#include "absl/strings/string_view.h"

namespace agent_exec {

// Is this a TOML value that has neither quotes nor brackets: a boolean, a number, a date or a time?
// Its form alone is judged: 25:00:00 is one.
//   Source: TOML 1.0.0.
bool IsTomlToken(absl::string_view token);

// The value of a hexadecimal digit, -1 for any other byte.
int TomlHexDigit(char c);

}  // namespace agent_exec
