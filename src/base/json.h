#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace agent_exec {

// Writes one JSON value in the order of the calls; keys are not checked for being unique. A wrong
// nesting is a bug and asserts. kOneLine has no white space at all.
class JsonWriter {
 public:
  enum class Style { kOneLine, kIndented };
  explicit JsonWriter(Style style = Style::kOneLine) : style_(style) {}
  JsonWriter& BeginObject();
  JsonWriter& EndObject();
  JsonWriter& BeginArray();
  JsonWriter& EndArray();
  JsonWriter& Key(absl::string_view key);
  JsonWriter& String(absl::string_view value);
  JsonWriter& Int(int64_t value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  std::string Take();  // the text, without a newline at its end; the writer is empty afterwards

 private:
  JsonWriter& Value(absl::string_view text);
  JsonWriter& Begin(char bracket);
  JsonWriter& End(char opening, char closing);
  void Separate();   // what must stand between the last value and the next one
  void BreakLine();  // kIndented: to the column of the present level

  Style style_;
  std::string out_;
  std::string nesting_;  // one of "{[" per open level
  bool need_comma_ = false;
  bool after_key_ = false;
};

}  // namespace agent_exec
