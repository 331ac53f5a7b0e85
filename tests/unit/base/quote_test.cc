#include "base/quote.h"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "support/doctest.h"
#include "support/json.h"
#include "support/random.h"

namespace agent_exec {
namespace {

using testing::HostileText;
using testing::IsUtf8;
using testing::Json;
using testing::ParseJson;
using testing::Random;

// The words of a command line as /bin/sh understands it.
std::vector<std::string> ReadByShell(absl::string_view words) {
  const std::string script = absl::StrCat("printf '%s\\0' ", words);
  std::FILE* pipe = popen(script.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::vector<std::string> out(1);
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    if (c == '\0') {
      out.emplace_back();
    } else {
      out.back() += static_cast<char>(c);
    }
  }
  CHECK_EQ(pclose(pipe), 0);
  CHECK(out.back().empty());
  out.pop_back();
  return out;
}

void CheckShellReadsBack(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) absl::StrAppend(&line, " ", ShellQuote(word));
  const std::vector<std::string> got = ReadByShell(line);
  REQUIRE_EQ(got.size(), words.size());
  for (size_t i = 0; i < words.size(); ++i) CHECK_EQ(got[i], words[i]);
}

// Nothing in it that a terminal obeys: no C0 but those allowed, no DEL, no C1, valid UTF-8.
bool IsHarmless(absl::string_view text, absl::string_view allowed) {
  if (!IsUtf8(text)) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 || c == 0x7f) && allowed.find(text[i]) == absl::string_view::npos) return false;
    if (c == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0) return false;
    if (text.substr(i, 3) == "\xe2\x80\xae" || text.substr(i, 3) == "\xe2\x80\xa8") return false;
  }
  return true;
}

// What a text is when it is not UTF-8: each start of a character that breaks off becomes U+FFFD.
// Told from the grammar of the Unicode standard (table 3-7) by trying all its rows.
std::string Replaced(absl::string_view text) {
  struct Row {
    unsigned char bounds[4][2];
    size_t length;
  };
  static constexpr Row kRows[] = {
      {{{0x00, 0x7f}}, 1},
      {{{0xc2, 0xdf}, {0x80, 0xbf}}, 2},
      {{{0xe0, 0xe0}, {0xa0, 0xbf}, {0x80, 0xbf}}, 3},
      {{{0xe1, 0xec}, {0x80, 0xbf}, {0x80, 0xbf}}, 3},
      {{{0xed, 0xed}, {0x80, 0x9f}, {0x80, 0xbf}}, 3},
      {{{0xee, 0xef}, {0x80, 0xbf}, {0x80, 0xbf}}, 3},
      {{{0xf0, 0xf0}, {0x90, 0xbf}, {0x80, 0xbf}, {0x80, 0xbf}}, 4},
      {{{0xf1, 0xf3}, {0x80, 0xbf}, {0x80, 0xbf}, {0x80, 0xbf}}, 4},
      {{{0xf4, 0xf4}, {0x80, 0x8f}, {0x80, 0xbf}, {0x80, 0xbf}}, 4},
  };
  std::string out;
  while (!text.empty()) {
    size_t best = 1;
    bool whole = false;
    for (const Row& row : kRows) {
      size_t n = 0;
      while (n < row.length && n < text.size() &&
             static_cast<unsigned char>(text[n]) >= row.bounds[n][0] &&
             static_cast<unsigned char>(text[n]) <= row.bounds[n][1]) {
        ++n;
      }
      if (n >= best) best = n;
      if (n == row.length) whole = true;
    }
    absl::StrAppend(&out, whole ? text.substr(0, best) : "\xef\xbf\xbd");
    text.remove_prefix(best);
  }
  return out;
}

// The bytes that a message's escapes stand for.
std::string Unquoted(absl::string_view quoted) {
  REQUIRE(quoted.size() >= 2);
  CHECK_EQ(quoted.front(), '\'');
  CHECK_EQ(quoted.back(), '\'');
  quoted = quoted.substr(1, quoted.size() - 2);
  std::string out;
  for (size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] != '\\') {
      CHECK_NE(quoted[i], '\'');
      out += quoted[i];
      continue;
    }
    const char letter = quoted[++i];
    const size_t known = absl::string_view("btnfr'\\").find(letter);
    if (known != absl::string_view::npos) {
      out += "\b\t\n\f\r'\\"[known];
    } else {
      REQUIRE_EQ(letter, 'x');
      out += static_cast<char>(std::stoi(std::string(quoted.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    }
  }
  return out;
}

TEST_SUITE("base/quote") {
  TEST_CASE("a word that means itself to a shell stays bare") {
    for (const char* word :
         {"make", "-j2", "/usr/bin/cc", "--mode=x", "a,b:c@d", "x.tar.gz", "+x", "A_1", "-", "."}) {
      CHECK_EQ(ShellQuote(word), word);
    }
  }

  TEST_CASE("a word that means something to a shell is quoted") {
    const struct {
      const char* word;
      const char* quoted;
    } cases[] = {
        {"", "''"},
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"'", "\\'"},
        {"$HOME", "'$HOME'"},
        {"*", "'*'"},
        {"~", "'~'"},
        {"#x", "'#x'"},
        {"\xc3\xa9", "'\xc3\xa9'"},
        {"a\nb\t", "'a\nb\t'"},
        // Assignments, where a command may stand.
        {"A=b", "'A=b'"},
        {"A+=b", "'A+=b'"},
        {"=ls", "'=ls'"},
        {"--a=b", "--a=b"},
        // Grammar, where a command may stand.
        {"if", "'if'"},
        {"time", "'time'"},
        {"{", "'{'"},
        {"!", "'!'"},
    };
    for (const auto& c : cases) {
      CAPTURE(c.word);
      CHECK_EQ(ShellQuote(c.word), c.quoted);
    }
  }

  TEST_CASE("controls and broken UTF-8 reach a shell as escapes, never raw") {
    CHECK_EQ(ShellQuote("\x1b[31m"), "\"$(printf '\\033')\"'[31m'");
    CHECK_EQ(ShellQuote("a\r\x7f"), "'a'\"$(printf '\\015\\177')\"");
    CHECK_EQ(ShellQuote("\xff'"), "\"$(printf '\\377')\"\\'");
    CHECK_EQ(ShellQuote("\xc2\x9b"), "\"$(printf '\\302\\233')\"");
    CHECK_EQ(ShellQuote("\xe2\x80\xae"), "\"$(printf '\\342\\200\\256')\"");
  }

  TEST_CASE("a real shell reads every byte back, alone and between others") {
    std::vector<std::string> words;
    for (int byte = 1; byte < 256; ++byte) {
      const std::string one(1, static_cast<char>(byte));
      words.push_back(one);
      words.push_back("a" + one + "b" + one + "\n");
    }
    CheckShellReadsBack(words);
  }

  TEST_CASE("a real shell reads hostile words back") {
    Random random(4);
    for (int batch = 0; batch < 8; ++batch) {
      std::vector<std::string> words;
      for (int i = 0; i < 150; ++i) {
        words.push_back(HostileText(&random, 8));
        CHECK(IsHarmless(ShellQuote(words.back()), "\n\t"));
      }
      CheckShellReadsBack(words);
    }
  }

  TEST_CASE("a real shell takes a quoted first word for a command, whatever it looks like") {
    // Each would be an assignment or grammar when bare; as a command none of them is found.
    for (const char* word : {"A=b", "if", "while", "{", "!", "case", "#", "~", ""}) {
      CAPTURE(word);
      const std::vector<std::string> got = ReadByShell(
          absl::StrCat("x; ", ShellQuote(word), " </dev/null 2>/dev/null; printf '%s\\0' $?"));
      REQUIRE_EQ(got.size(), 2);
      CHECK((got[1] == "127" || got[1] == "126"));
    }
  }

  TEST_CASE("a message shows text in quotes, on one line, with what is special escaped") {
    const struct {
      absl::string_view text;
      const char* quoted;
    } cases[] = {
        {"", "''"},
        {"/srv/x", "'/srv/x'"},
        {"it's \"x\"", "'it\\'s \"x\"'"},
        {"a\\n", "'a\\\\n'"},
        {"a\nb\tc\r", "'a\\nb\\tc\\r'"},
        {"\x1b[2J", "'\\x1b[2J'"},
        {"\x7f", "'\\x7f'"},
        {"\xc3\xa9\xe2\x82\xac", "'\xc3\xa9\xe2\x82\xac'"},
        {"\xff\xc3", "'\\xff\\xc3'"},
        {"\xc2\x9b", "'\\xc2\\x9b'"},
        {"\xe2\x80\xae", "'\\xe2\\x80\\xae'"},
        {absl::string_view("\0", 1), "'\\x00'"},
    };
    for (const auto& c : cases) CHECK_EQ(QuoteForMessage(c.text), c.quoted);
  }

  TEST_CASE("what turns or breaks a line is escaped, its neighbours are not") {
    for (const char* text : {"\xc2\x80", "\xc2\x9f", "\xd8\x9c", "\xe2\x80\x8e", "\xe2\x80\x8f",
                             "\xe2\x80\xa8", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9"}) {
      CHECK_NE(EscapeControls(text), text);
    }
    for (const char* text : {"\xc2\xa0", "\xd8\x9b", "\xd8\x9d", "\xe2\x80\x8d", "\xe2\x80\x90",
                             "\xe2\x80\xa7", "\xe2\x80\xaf", "\xe2\x81\xa5", "\xe2\x81\xaa"}) {
      CHECK_EQ(EscapeControls(text), text);
    }
  }

  TEST_CASE("what a message shows can be read back and no control gets through") {
    Random random(5);
    for (int i = 0; i < 3000; ++i) {
      const std::string text = i % 2 == 0 ? HostileText(&random, 8) : random.Bytes(12);
      const std::string quoted = QuoteForMessage(text);
      CAPTURE(quoted);
      CHECK(IsHarmless(quoted, ""));
      CHECK_EQ(Unquoted(quoted), text);
      CHECK_EQ(EscapeControls(quoted), quoted);
    }
  }

  TEST_CASE("escaping controls leaves quotes and backslashes alone, and twice is once") {
    CHECK_EQ(EscapeControls("cannot open 'a\\n': \"x\""), "cannot open 'a\\n': \"x\"");
    CHECK_EQ(EscapeControls("a\nb\x1b\xff"), "a\\nb\\x1b\\xff");
    Random random(6);
    for (int i = 0; i < 2000; ++i) {
      const std::string once = EscapeControls(random.Bytes(12));
      CHECK(IsHarmless(once, ""));
      CHECK_EQ(EscapeControls(once), once);
    }
  }

  TEST_CASE("JSON and TOML strings escape what their grammars and terminals ask for") {
    const struct {
      absl::string_view text;
      const char* quoted;
    } cases[] = {
        {"", "\"\""},
        {"a'b", "\"a'b\""},
        {"\"\\/", "\"\\\"\\\\/\""},
        {"\b\t\n\f\r", "\"\\b\\t\\n\\f\\r\""},
        {absl::string_view("\0\x1f", 2), "\"\\u0000\\u001f\""},
        {"\x7f\xc2\x9b\xe2\x80\xa8", "\"\\u007f\\u009b\\u2028\""},
        {"\xc3\xa9\xf0\x9f\x98\x80", "\"\xc3\xa9\xf0\x9f\x98\x80\""},
        {"a\xff\xe2\x82", "\"a\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xf0\x9f\x98x", "\"\xef\xbf\xbdx\""},
    };
    for (const auto& c : cases) {
      CHECK_EQ(JsonQuote(c.text), c.quoted);
      CHECK_EQ(TomlQuote(c.text), c.quoted);
    }
  }

  TEST_CASE("a JSON reader gets back every text, with U+FFFD for what is not UTF-8") {
    Random random(7);
    for (int i = 0; i < 3000; ++i) {
      const std::string text = i % 2 == 0 ? HostileText(&random, 8) : random.Bytes(12);
      const std::string quoted = JsonQuote(text);
      CAPTURE(quoted);
      const std::optional<Json> json = ParseJson(quoted);
      REQUIRE(json.has_value());
      REQUIRE(json->kind == Json::Kind::kString);
      CHECK_EQ(json->text, Replaced(text));
      CHECK(IsHarmless(quoted, ""));
    }
  }
}

}  // namespace
}  // namespace agent_exec
