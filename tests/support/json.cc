#include "support/json.h"

#include <cstdint>

namespace agent_exec::testing {
namespace {

void AppendUtf8(uint32_t code, std::string* out) {
  const auto put = [out](uint32_t byte) { *out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

class Reader {
 public:
  explicit Reader(absl::string_view text) : text_(text) {}

  bool ReadDocument(Json* out) {
    if (!ReadValue(out, 0)) return false;
    SkipSpace();
    return at_ == text_.size();
  }

 private:
  static constexpr int kMaxDepth = 200;

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool Eat(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool EatWord(absl::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void SkipSpace() {
    while (Peek() == ' ' || Peek() == '\t' || Peek() == '\n' || Peek() == '\r') ++at_;
  }
  bool EatDigits() {
    const size_t begin = at_;
    while (Peek() >= '0' && Peek() <= '9') ++at_;
    return at_ > begin;
  }

  bool ReadNumber(Json* out) {
    const size_t begin = at_;
    Eat('-');
    if (!Eat('0') && !EatDigits()) return false;
    if (Eat('.') && !EatDigits()) return false;
    if (Eat('e') || Eat('E')) {
      if (!Eat('+')) Eat('-');
      if (!EatDigits()) return false;
    }
    out->kind = Json::Kind::kNumber;
    out->text = std::string(text_.substr(begin, at_ - begin));
    return true;
  }

  bool ReadUnit(uint32_t* unit) {
    *unit = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = Peek();
      uint32_t digit = 0;
      if (c >= '0' && c <= '9') {
        digit = static_cast<uint32_t>(c - '0');
      } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
        digit = static_cast<uint32_t>((c | 0x20) - 'a' + 10);
      } else {
        return false;
      }
      *unit = *unit << 4 | digit;
      ++at_;
    }
    return true;
  }

  bool ReadEscape(std::string* out) {
    static constexpr absl::string_view kLetters = "\"\\/bfnrt";
    static constexpr absl::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (Eat('u')) {
      uint32_t code = 0;
      if (!ReadUnit(&code)) return false;
      if (code >= 0xdc00 && code < 0xe000) return false;
      if (code >= 0xd800 && code < 0xdc00) {
        uint32_t low = 0;
        if (!EatWord("\\u") || !ReadUnit(&low) || low < 0xdc00 || low >= 0xe000) return false;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      }
      AppendUtf8(code, out);
      return true;
    }
    const size_t letter = at_ < text_.size() ? kLetters.find(Peek()) : absl::string_view::npos;
    if (letter == absl::string_view::npos) return false;
    ++at_;
    *out += kMeanings[letter];
    return true;
  }

  bool ReadString(std::string* out) {
    if (!Eat('"')) return false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        *out += c;
      } else if (!ReadEscape(out)) {
        return false;
      }
    }
    return false;
  }

  bool ReadArray(Json* out, int depth) {
    out->kind = Json::Kind::kArray;
    SkipSpace();
    if (Eat(']')) return true;
    do {
      out->items.emplace_back();
      if (!ReadValue(&out->items.back(), depth)) return false;
      SkipSpace();
    } while (Eat(','));
    return Eat(']');
  }

  bool ReadObject(Json* out, int depth) {
    out->kind = Json::Kind::kObject;
    SkipSpace();
    if (Eat('}')) return true;
    do {
      std::string key;
      SkipSpace();
      if (!ReadString(&key) || out->Find(key) != nullptr) return false;
      SkipSpace();
      if (!Eat(':')) return false;
      out->members.emplace_back(std::move(key), Json());
      if (!ReadValue(&out->members.back().second, depth)) return false;
      SkipSpace();
    } while (Eat(','));
    return Eat('}');
  }

  bool ReadValue(Json* out, int depth) {
    if (depth > kMaxDepth) return false;
    SkipSpace();
    if (Eat('{')) return ReadObject(out, depth + 1);
    if (Eat('[')) return ReadArray(out, depth + 1);
    if (EatWord("null")) return true;
    for (const absl::string_view word : {"true", "false"}) {
      if (!EatWord(word)) continue;
      out->kind = Json::Kind::kBool;
      out->text = std::string(word);
      return true;
    }
    if (Peek() != '"') return ReadNumber(out);
    out->kind = Json::Kind::kString;
    return ReadString(&out->text);
  }

  absl::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::optional<Json> ParseJson(absl::string_view text) {
  Json json;
  if (!IsUtf8(text) || !Reader(text).ReadDocument(&json)) return std::nullopt;
  return json;
}

// Decodes loosely and encodes again: only the one right form of a character comes back the same.
bool IsUtf8(absl::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if ((lead >= 0x80 && lead < 0xc0) || lead > 0xf7 || at + length > text.size()) return false;
    uint32_t code = length == 1 ? lead : lead & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; ++i) {
      code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fu);
    }
    std::string again;
    AppendUtf8(code, &again);
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
    if (text.substr(at, length) != absl::string_view(again)) return false;
    at += length;
  }
  return true;
}

}  // namespace agent_exec::testing
