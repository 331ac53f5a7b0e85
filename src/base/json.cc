#include "base/json.h"

#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/quote.h"

namespace agent_exec {

void JsonWriter::BreakLine() {
  if (style_ == Style::kOneLine) return;
  out_ += '\n';
  out_.append(2 * nesting_.size(), ' ');
}

void JsonWriter::Separate() {
  // After a key the value stands on the key's line, and Key() has set the comma.
  if (std::exchange(after_key_, false)) return;
  assert(nesting_.empty() ? out_.empty() : nesting_.back() == '[');
  if (need_comma_) out_ += ',';
  if (!nesting_.empty()) BreakLine();
}

JsonWriter& JsonWriter::Value(absl::string_view text) {
  Separate();
  out_.append(text.data(), text.size());
  need_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Begin(char bracket) {
  Separate();
  out_ += bracket;
  nesting_ += bracket;
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::End(char opening, char closing) {
  assert(!nesting_.empty() && nesting_.back() == opening && !after_key_);
  (void)opening;
  nesting_.pop_back();
  // An empty object or array stays on one line.
  if (need_comma_) BreakLine();
  out_ += closing;
  need_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::BeginObject() { return Begin('{'); }
JsonWriter& JsonWriter::EndObject() { return End('{', '}'); }
JsonWriter& JsonWriter::BeginArray() { return Begin('['); }
JsonWriter& JsonWriter::EndArray() { return End('[', ']'); }

JsonWriter& JsonWriter::Key(absl::string_view key) {
  assert(!nesting_.empty() && nesting_.back() == '{' && !after_key_);
  if (need_comma_) out_ += ',';
  BreakLine();
  out_ += JsonQuote(key);
  out_ += style_ == Style::kOneLine ? ":" : ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::String(absl::string_view value) { return Value(JsonQuote(value)); }
JsonWriter& JsonWriter::Int(int64_t value) { return Value(absl::AlphaNum(value).Piece()); }
JsonWriter& JsonWriter::Bool(bool value) { return Value(value ? "true" : "false"); }
JsonWriter& JsonWriter::Null() { return Value("null"); }

std::string JsonWriter::Take() {
  assert(nesting_.empty() && !after_key_);
  need_comma_ = false;
  return std::exchange(out_, std::string());
}

}  // namespace agent_exec
