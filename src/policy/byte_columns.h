#pragma once

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"

namespace agent_exec {

// Turns columns that count characters, as the TOML parser's do, into columns that count bytes.
class ByteColumns {
 public:
  // In: valid UTF-8, which outlives this.
  explicit ByteColumns(absl::string_view text);

  // Both 1-based. Cost: none for a text in ASCII; a long line is walked once when it is asked about
  // from left to right.
  int InBytes(size_t line, size_t column);

 private:
  absl::string_view text_;
  std::vector<size_t> line_starts_;  // empty: every character is one byte
  // Where the last question ended.
  size_t line_ = 0;
  size_t column_ = 1;
  size_t offset_ = 0;
};

}  // namespace agent_exec
