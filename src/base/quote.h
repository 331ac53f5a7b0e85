#pragma once

#include <string>

#include "absl/strings/string_view.h"

// One place for every escape. All functions take bytes; those that are not UTF-8 survive.

namespace agent_exec {

// In all outputs "control" means every character that a terminal obeys instead of showing it: C0,
// DEL and C1 controls, line and paragraph separators, and those that change the direction of text.
// Outputs are valid UTF-8.

// A word that a POSIX shell reads back as exactly these bytes, in any place where a command or an
// argument may stand; left bare when that is safe. Control characters other than newline and tab,
// and bytes that are not UTF-8, become
// "$(printf '\033')".
//   In: no NUL.
std::string ShellQuote(absl::string_view word);
// For messages: 'text' with control bytes, quotes, backslashes and bytes that are not UTF-8 as \n,
// \', \\, \xNN: always one line, no terminal sequence gets through, and no two texts look the same.
std::string QuoteForMessage(absl::string_view text);
// For text whose subjects are quoted already: control bytes and bytes that are not UTF-8 as \n,
// \xNN, all else as it is. Doing it twice changes nothing.
std::string EscapeControls(absl::string_view text);
// A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
std::string JsonQuote(absl::string_view text);
// A TOML basic string with its quotes; bytes that are not UTF-8 become U+FFFD.
std::string TomlQuote(absl::string_view text);

}  // namespace agent_exec
