#include "policy/toml_guard.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/quote.h"
#include "policy/origin.h"
#include "policy/toml_source.h"
#include "policy/toml_token.h"

namespace agent_exec {
namespace {

bool IsBareKeyByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

// The bytes of numbers, dates, true, false, inf and nan.
bool IsTokenByte(char c) { return IsBareKeyByte(c) || c == '+' || c == '.' || c == ':'; }

// The length of the UTF-8 sequence at the front, 0 when it is none: overlong forms, surrogates and
// values above U+10FFFF are none.
size_t Utf8Length(absl::string_view text) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  auto follows = [&](size_t i, uint8_t low = 0x80, uint8_t high = 0xBF) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const uint8_t low = first == 0xE0 ? 0xA0 : 0x80;
    const uint8_t high = first == 0xED ? 0x9F : 0xBF;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const uint8_t low = first == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = first == 0xF4 ? 0x8F : 0xBF;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

// A recursive descent over the form of the text. Every function leaves pos_ behind what it read, or
// fails; after a failure nothing reads on. What a message repeats of the text is quoted.
class Guard {
 public:
  explicit Guard(absl::string_view text) : text_(text) {}

  bool Run() { return CheckBytes() && Document(); }
  const std::string& message() const { return message_; }
  // Line and column of the failure, 1-based, in bytes.
  void Place(int* line, int* column) const {
    *line = 1;
    size_t start = 0;
    for (size_t i = 0; i < fault_; ++i) {
      if (text_[i] != '\n') continue;
      ++*line;
      start = i + 1;
    }
    *column = static_cast<int>(fault_ - start) + 1;
  }

 private:
  bool Fail(absl::string_view message) { return FailAt(pos_, message); }
  bool FailAt(size_t pos, absl::string_view message) {
    fault_ = pos;
    message_ = std::string(message);
    return false;
  }
  bool FailExpected(absl::string_view what) {
    return Fail(absl::StrCat("expected ", what, ", found ", Here()));
  }
  // What stands at pos_, for a message.
  std::string Here() const {
    if (AtEnd()) return "the end of the file";
    if (AtNewline()) return "the end of the line";
    return QuoteForMessage(text_.substr(pos_, Utf8Length(text_.substr(pos_))));
  }

  bool AtEnd() const { return pos_ >= text_.size(); }
  char Peek(size_t ahead = 0) const {
    return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
  }
  bool AtNewline() const { return Peek() == '\n' || (Peek() == '\r' && Peek(1) == '\n'); }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++pos_;
    return true;
  }
  void SkipBlanks() {
    while (Peek() == ' ' || Peek() == '\t') ++pos_;
  }
  void SkipComment() {
    if (Peek() != '#') return;
    while (!AtEnd() && !AtNewline()) ++pos_;
  }
  bool TakeNewline() {
    if (!AtNewline()) return false;
    pos_ += Peek() == '\r' ? 2 : 1;
    return true;
  }

  // Every byte before the structure, so that the rest need not think about control characters and
  // halves of sequences.
  bool CheckBytes() {
    for (size_t i = 0; i < text_.size();) {
      const uint8_t c = static_cast<uint8_t>(text_[i]);
      if (c >= 0x20 && c < 0x7F) {
        ++i;
      } else if (c >= 0x80) {
        const size_t length = Utf8Length(text_.substr(i));
        if (length == 0) return FailAt(i, "this is not valid UTF-8");
        i += length;
      } else if (c == '\t' || c == '\n' ||
                 (c == '\r' && i + 1 < text_.size() && text_[i + 1] == '\n')) {
        ++i;
      } else if (c == '\r') {
        return FailAt(i, "a carriage return must be followed by a line feed");
      } else {
        return FailAt(i, absl::StrCat("control character ", QuoteForMessage(text_.substr(i, 1)),
                                      " is not allowed"));
      }
    }
    return true;
  }

  bool Document() {
    while (!AtEnd()) {
      SkipBlanks();
      if (Peek() == '[') {
        if (!Header()) return false;
      } else if (!AtEnd() && Peek() != '#' && !AtNewline()) {
        if (!KeyValue(0)) return false;
      }
      SkipBlanks();
      SkipComment();
      if (!AtEnd() && !TakeNewline()) return FailExpected("the end of the line");
    }
    return true;
  }

  bool Header() {
    ++pos_;
    const bool is_array = Take('[');
    SkipBlanks();
    if (!Key()) return false;
    if (!Take(']')) return FailExpected("']'");
    if (is_array && !Take(']')) return FailExpected("']]'");
    return true;
  }

  bool KeyValue(int depth) {
    if (!Key()) return false;
    if (!Take('=')) return FailExpected("'='");
    SkipBlanks();
    return Value(depth);
  }

  // A key with its dots, and the blanks after it.
  bool Key() {
    if (++keys_ > kMaxPolicyKeys) {
      return Fail(absl::StrCat("more than ", kMaxPolicyKeys, " keys"));
    }
    for (int parts = 1;; ++parts) {
      if (parts > kMaxPolicyNesting) return FailNesting();
      if (!KeyPart()) return false;
      SkipBlanks();
      if (!Take('.')) return true;
      SkipBlanks();
    }
  }

  bool KeyPart() {
    if (Peek() == '"' || Peek() == '\'') {
      if (Peek(1) == Peek() && Peek(2) == Peek()) {
        return Fail("a multi-line string cannot be a key");
      }
      return Peek() == '"' ? BasicString() : LiteralString();
    }
    const size_t start = pos_;
    while (IsBareKeyByte(Peek())) ++pos_;
    if (pos_ > start) return true;
    if (static_cast<uint8_t>(Peek()) >= 0x80) {
      return Fail(absl::StrCat("a key with ", Here(), " must be quoted"));
    }
    return FailExpected("a key");
  }

  bool Value(int depth) {
    switch (Peek()) {
      case '"':
        return Peek(1) == '"' && Peek(2) == '"' ? MultilineBasicString() : BasicString();
      case '\'':
        return Peek(1) == '\'' && Peek(2) == '\'' ? MultilineLiteralString() : LiteralString();
      case '[':
        return depth < kMaxPolicyNesting ? Array(depth + 1) : FailNesting();
      case '{':
        return depth < kMaxPolicyNesting ? InlineTable(depth + 1) : FailNesting();
      default:
        return Token();
    }
  }

  bool FailNesting() {
    return Fail(absl::StrCat("nested deeper than ", kMaxPolicyNesting, " levels"));
  }

  bool Array(int depth) {
    ++pos_;
    while (true) {
      if (!SkipToElement()) return false;
      if (Take(']')) return true;
      if (!Value(depth)) return false;
      if (!SkipToElement()) return false;
      if (Take(']')) return true;
      if (!Take(',')) return FailExpected("',' or ']'");
    }
  }

  // Blanks, line ends and comments between the elements of an array.
  bool SkipToElement() {
    do {
      SkipBlanks();
      SkipComment();
    } while (TakeNewline());
    return !AtEnd() || FailExpected("']'");
  }

  bool InlineTable(int depth) {
    ++pos_;
    SkipBlanks();
    if (Take('}')) return true;
    while (true) {
      if (!KeyValue(depth)) return false;
      SkipBlanks();
      if (Take('}')) return true;
      if (!Take(',')) return FailExpected("',' or '}'");
      SkipBlanks();
    }
  }

  // true, false, numbers and dates. The parser keeps a history of 127 characters and steps back in
  // it.
  bool Token() {
    constexpr size_t kMaxToken = 64;
    const size_t start = pos_;
    while (IsTokenByte(Peek())) ++pos_;
    if (pos_ == start) return FailExpected("a value");
    const absl::string_view token = text_.substr(start, pos_ - start);
    if (token.size() <= kMaxToken && IsTomlToken(token)) return true;
    return FailAt(
        start, absl::StrCat("expected a value, found ", QuoteForMessage(token.substr(0, kMaxToken)),
                            ": a string needs quotes"));
  }

  bool BasicString() {
    const size_t start = pos_++;
    while (!AtEnd() && !AtNewline()) {
      if (Take('"')) return true;
      if (Peek() == '\\') {
        if (!Escape()) return false;
      } else {
        ++pos_;
      }
    }
    return FailAt(start, "this string is not closed on its line");
  }

  bool LiteralString() {
    const size_t start = pos_++;
    while (!AtEnd() && !AtNewline()) {
      if (Take('\'')) return true;
      ++pos_;
    }
    return FailAt(start, "this string is not closed on its line");
  }

  bool MultilineBasicString() {
    const size_t start = pos_;
    pos_ += 3;
    while (!AtEnd()) {
      if (Peek() == '"') {
        if (ClosingQuotes('"')) return true;
      } else if (Peek() == '\\') {
        if (!LineContinuation() && !Escape()) return false;
      } else {
        ++pos_;
      }
    }
    return FailAt(start, "this multi-line string is not closed");
  }

  bool MultilineLiteralString() {
    const size_t start = pos_;
    pos_ += 3;
    while (!AtEnd()) {
      if (Peek() == '\'') {
        if (ClosingQuotes('\'')) return true;
      } else {
        ++pos_;
      }
    }
    return FailAt(start, "this multi-line string is not closed");
  }

  // Takes a run of quotes, at most five: two that belong to the string and three that end it. Did
  // it end?
  bool ClosingQuotes(char quote) {
    size_t run = 0;
    while (run < 5 && Take(quote)) ++run;
    return run >= 3;
  }

  // A backslash at the end of a line, blanks after it allowed.
  bool LineContinuation() {
    const size_t start = pos_++;
    SkipBlanks();
    if (TakeNewline()) return true;
    pos_ = start;
    return false;
  }

  bool Escape() {
    const size_t start = pos_++;
    const char kind = Peek();
    switch (kind) {
      case 'b':
      case 't':
      case 'n':
      case 'f':
      case 'r':
      case '"':
      case '\\':
        ++pos_;
        return true;
      case 'u':
      case 'U':
        ++pos_;
        return EscapedScalar(start, kind == 'u' ? 4 : 8);
      default:
        return FailAt(start, absl::StrCat("unknown escape, a backslash before ", Here()));
    }
  }

  bool EscapedScalar(size_t start, int digits) {
    uint64_t value = 0;
    for (int i = 0; i < digits; ++i, ++pos_) {
      const int digit = TomlHexDigit(Peek());
      if (digit < 0) return FailExpected("a hexadecimal digit");
      value = value * 16 + static_cast<uint64_t>(digit);
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) {
      return FailAt(start, "this escape names no character");
    }
    return true;
  }

  absl::string_view text_;
  size_t pos_ = 0;
  int keys_ = 0;
  size_t fault_ = 0;
  std::string message_;
};

}  // namespace

absl::Status GuardToml(absl::string_view text, absl::string_view name) {
  Origin place{Origin::Kind::kFile, std::string(name)};
  if (text.size() > kMaxPolicyBytes) {
    return ErrorAt(absl::StatusCode::kInvalidArgument,
                   absl::StrCat("a policy has at most ", kMaxPolicyBytes, " bytes, this one has ",
                                text.size()),
                   FormatOrigin(place));
  }
  Guard guard(text);
  if (guard.Run()) return absl::OkStatus();
  guard.Place(&place.line, &place.column);
  return ErrorAt(absl::StatusCode::kInvalidArgument, guard.message(), FormatOrigin(place));
}

}  // namespace agent_exec
