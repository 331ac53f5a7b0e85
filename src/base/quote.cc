#include "base/quote.h"

#include <cassert>
#include <cstdint>

namespace agent_exec {
namespace {

// One step through a text: a character of valid UTF-8, or the longest start of one that breaks off
// (then `valid` is false, and replacing it by one U+FFFD is what the Unicode standard recommends).
struct Rune {
  absl::string_view bytes;
  uint32_t code = 0;
  bool valid = false;
};

Rune NextRune(absl::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {text.substr(0, 1), lead, true};
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return {text.substr(0, 1)};
  // The second byte has narrower bounds where an overlong form, a surrogate or a value over
  // U+10FFFF would begin.
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  uint32_t code = lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    const bool fits =
        i < text.size() && byte(i) >= (i == 1 ? low : 0x80) && byte(i) <= (i == 1 ? high : 0xbf);
    if (!fits) return {text.substr(0, i)};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  return {text.substr(0, length), code, true};
}

// Characters that a terminal or an editor obeys instead of showing them: C0, DEL and C1 controls
// (U+009B starts a sequence as ESC [ does), line and paragraph separators, and those that reorder
// the text around them.
bool IsControl(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
         code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

// Copies the text to `out`, with each character that is not plain replaced by what `replace`
// appends.
//   plain: bool(const Rune&)
//   replace: void(const Rune&, std::string* out)
template <typename Plain, typename Replace>
void Escape(absl::string_view text, Plain plain, Replace replace, std::string* out) {
  out->reserve(out->size() + text.size() + 2);
  while (!text.empty()) {
    size_t run = 0;
    Rune rune;
    while (run < text.size()) {
      rune = NextRune(text.substr(run));
      if (!plain(rune)) break;
      run += rune.bytes.size();
    }
    out->append(text.data(), run);
    text.remove_prefix(run);
    if (text.empty()) return;
    replace(rune, out);
    text.remove_prefix(rune.bytes.size());
  }
}

// The letter X for which C, JSON and TOML all read \X as this character; '\0' when there is none.
char ShortEscape(uint32_t code) {
  switch (code) {
    case '\b':
      return 'b';
    case '\t':
      return 't';
    case '\n':
      return 'n';
    case '\f':
      return 'f';
    case '\r':
      return 'r';
    case '"':
    case '\\':
      return static_cast<char>(code);
    default:
      return '\0';
  }
}

void AppendHex(uint32_t value, int digits, std::string* out) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    *out += "0123456789abcdef"[(value >> shift) & 0xf];
  }
}

void AppendForMessage(const Rune& rune, std::string* out) {
  const char letter = ShortEscape(rune.code);
  if (rune.valid && rune.code < 0x20 && letter != '\0') {
    *out += '\\';
    *out += letter;
    return;
  }
  for (const char c : rune.bytes) {
    *out += "\\x";
    AppendHex(static_cast<uint8_t>(c), 2, out);
  }
}

// What JSON strings and TOML basic strings have in common, which is all that is needed.
std::string QuoteForData(absl::string_view text) {
  std::string out = "\"";
  Escape(
      text,
      [](const Rune& rune) {
        return rune.valid && !IsControl(rune.code) && rune.code != '"' && rune.code != '\\';
      },
      [](const Rune& rune, std::string* to) {
        if (!rune.valid) {
          *to += "\xef\xbf\xbd";
        } else if (const char letter = ShortEscape(rune.code); letter != '\0') {
          *to += '\\';
          *to += letter;
        } else {
          *to += "\\u";
          AppendHex(rune.code, 4, to);
        }
      },
      &out);
  out += '"';
  return out;
}

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Words that a shell takes for its own grammar where a command may stand.
constexpr absl::string_view kShellWords[] = {
    "case",      "coproc", "do",     "done",    "elif",     "else",  "end",
    "esac",      "fi",     "for",    "foreach", "function", "if",    "in",
    "nocorrect", "repeat", "select", "then",    "time",     "until", "while"};

// Does the word mean itself in every place where a command or an argument may stand, in sh, bash
// and zsh?
bool IsBareShellWord(absl::string_view word) {
  if (word.empty()) return false;
  for (const char c : word) {
    if (!IsNameByte(c) && absl::string_view("+,-./:=@").find(c) == absl::string_view::npos)
      return false;
  }
  // NAME= and NAME+= assign, and zsh looks up what follows a leading '='.
  size_t name = 0;
  while (name < word.size() && IsNameByte(word[name])) ++name;
  const absl::string_view after = word.substr(name);
  if (after.substr(0, 1) == "=" || after.substr(0, 2) == "+=") return false;
  for (const absl::string_view reserved : kShellWords) {
    if (word == reserved) return false;
  }
  return true;
}

}  // namespace

std::string ShellQuote(absl::string_view word) {
  assert(word.find('\0') == absl::string_view::npos);
  if (IsBareShellWord(word)) return std::string(word);
  enum class In { kNothing, kQuotes, kPrintf } in = In::kNothing;
  std::string out;
  const auto enter = [&in, &out](In next) {
    if (in == next) return;
    if (in == In::kQuotes) out += '\'';
    if (in == In::kPrintf) out += "')\"";
    if (next == In::kQuotes) out += '\'';
    if (next == In::kPrintf) out += "\"$(printf '";
    in = next;
  };
  out.reserve(word.size() + 2);
  while (!word.empty()) {
    const Rune rune = NextRune(word);
    word.remove_prefix(rune.bytes.size());
    if (rune.valid && rune.code == '\'') {
      enter(In::kNothing);
      out += "\\'";
    } else if (rune.valid && (!IsControl(rune.code) || rune.code == '\n' || rune.code == '\t')) {
      enter(In::kQuotes);
      out.append(rune.bytes.data(), rune.bytes.size());
    } else {
      // There is no escape for these within POSIX quotes. A newline is never among them, so the
      // substitution, which strips trailing ones, gives back every byte.
      enter(In::kPrintf);
      for (const char c : rune.bytes) {
        const auto byte = static_cast<uint8_t>(c);
        out += {'\\', static_cast<char>('0' + (byte >> 6)),
                static_cast<char>('0' + (byte >> 3 & 7)), static_cast<char>('0' + (byte & 7))};
      }
    }
  }
  if (out.empty()) enter(In::kQuotes);
  enter(In::kNothing);
  return out;
}

std::string QuoteForMessage(absl::string_view text) {
  std::string out = "'";
  Escape(
      text,
      [](const Rune& rune) {
        return rune.valid && !IsControl(rune.code) && rune.code != '\'' && rune.code != '\\';
      },
      [](const Rune& rune, std::string* to) {
        if (rune.valid && (rune.code == '\'' || rune.code == '\\')) {
          *to += '\\';
          *to += static_cast<char>(rune.code);
        } else {
          AppendForMessage(rune, to);
        }
      },
      &out);
  out += '\'';
  return out;
}

std::string EscapeControls(absl::string_view text) {
  std::string out;
  Escape(
      text, [](const Rune& rune) { return rune.valid && !IsControl(rune.code); }, AppendForMessage,
      &out);
  return out;
}

std::string JsonQuote(absl::string_view text) { return QuoteForData(text); }

std::string TomlQuote(absl::string_view text) { return QuoteForData(text); }

}  // namespace agent_exec
