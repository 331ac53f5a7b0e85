#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace agent_exec {

// The candidate closest to a word by edit distance (a swap of neighbours is one edit; case and '_'
// for '-' are none), "" when none is close enough to be a typo of it. Of several equally close
// ones, the first.
//   Cost: no allocation; words over 64 bytes are never compared.
absl::string_view NearestName(absl::string_view word,
                              absl::Span<const absl::string_view> candidates);
// Breaks text at spaces into lines of at most width columns, each indented; the indent counts.
// Newlines of the text stay, runs of spaces become one. A word that is too wide has a line of its
// own.
//   Returns: lines with '\n' between them, none added at the end.
std::string WrapText(absl::string_view text, int width, int indent);
// Splits at '|': the choices of a settings row. None for "".
std::vector<absl::string_view> SplitChoices(absl::string_view choices);

// "10min", "2s", "1h30m", "500ms" → milliseconds. Units ms s m min h d, larger ones first; a bare
// number is seconds; at least 1 ms, at most 365 d.
//   Errors: InvalidArgument saying what was expected and what came; so for the next two.
absl::StatusOr<int64_t> ParseDurationMs(absl::string_view text);
// "64MiB", "4GiB", "10MB", "512" → bytes. Units B, kB MB GB TB (1000) and KiB MiB GiB TiB (1024);
// K, M, G, T as the binary ones.
absl::StatusOr<int64_t> ParseSizeBytes(absl::string_view text);
// Decimal digits only, within the bounds. Errors: InvalidArgument naming the bounds.
absl::StatusOr<int64_t> ParseCount(absl::string_view text, int64_t min, int64_t max);
// The way back: parsing gives the same number again. In: not negative.
std::string FormatDurationMs(int64_t ms);
std::string FormatSizeBytes(int64_t bytes);

}  // namespace agent_exec
