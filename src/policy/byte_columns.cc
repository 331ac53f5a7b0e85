#include "policy/byte_columns.h"

#include <algorithm>
#include <cstdint>

namespace agent_exec {

ByteColumns::ByteColumns(absl::string_view text) : text_(text) {
  const bool is_ascii =
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
  if (is_ascii) return;
  line_starts_.push_back(0);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') line_starts_.push_back(i + 1);
  }
}

int ByteColumns::InBytes(size_t line, size_t column) {
  if (line_starts_.empty() || line > line_starts_.size()) return static_cast<int>(column);
  const size_t start = line_starts_[line - 1];
  if (line != line_ || column < column_) {
    line_ = line;
    column_ = 1;
    offset_ = start;
  }
  for (; column_ < column && offset_ < text_.size(); ++column_) {
    do {
      ++offset_;
    } while (offset_ < text_.size() && (static_cast<uint8_t>(text_[offset_]) & 0xC0) == 0x80);
  }
  return static_cast<int>(offset_ - start) + 1;
}

}  // namespace agent_exec
