#include "base/glob.h"

#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/path.h"
#include "support/random.h"
#include "support/status.h"

namespace agent_exec {
namespace {

using testing::Random;

// The reference: the definition of glob.h told a second time, by trying everything. In: a pattern
// that compiles.
namespace reference {

// The byte behind the escape, class or character at `at`.
size_t Skip(absl::string_view pattern, size_t at) {
  if (pattern[at] == '\\') return at + 2;
  if (pattern[at] != '[') return at + 1;
  ++at;
  if (pattern[at] == '!' || pattern[at] == '^') ++at;
  for (bool first = true; first || pattern[at] != ']'; first = false) {
    at += pattern[at] == '\\' ? 2 : 1;
  }
  return at + 1;
}

std::vector<std::string> ExpandBraces(const std::string& pattern) {
  size_t open = 0;
  while (open < pattern.size() && pattern[open] != '{') open = Skip(pattern, open);
  if (open >= pattern.size()) return {pattern};
  std::vector<std::string> alternatives(1);
  size_t at = open + 1;
  for (int depth = 1;;) {
    const size_t next = Skip(pattern, at);
    if (pattern[at] == '{') ++depth;
    if (pattern[at] == '}' && --depth == 0) break;
    if (pattern[at] == ',' && depth == 1) {
      alternatives.emplace_back();
    } else {
      alternatives.back() += pattern.substr(at, next - at);
    }
    at = next;
  }
  std::vector<std::string> out;
  for (const std::string& alternative : alternatives) {
    for (std::string& whole :
         ExpandBraces(pattern.substr(0, open) + alternative + pattern.substr(at + 1))) {
      out.push_back(std::move(whole));
    }
  }
  return out;
}

bool InClass(absl::string_view members, char c) {
  bool negated = false;
  if (members[0] == '!' || members[0] == '^') {
    negated = true;
    members.remove_prefix(1);
  }
  bool found = false;
  const auto take = [&members] {
    if (members[0] == '\\') members.remove_prefix(1);
    const char out = members[0];
    members.remove_prefix(1);
    return static_cast<unsigned char>(out);
  };
  while (!members.empty()) {
    const unsigned char low = take();
    unsigned char high = low;
    if (members.size() > 1 && members[0] == '-') {
      members.remove_prefix(1);
      high = take();
    }
    found =
        found || (low <= static_cast<unsigned char>(c) && static_cast<unsigned char>(c) <= high);
  }
  return found != negated;
}

bool MatchesName(absl::string_view pattern, absl::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    return MatchesName(pattern.substr(1), name) ||
           (!name.empty() && MatchesName(pattern, name.substr(1)));
  }
  if (name.empty()) return false;
  const size_t next = Skip(pattern, 0);
  bool matches = pattern[0] == '?' || pattern[0] == name[0];
  if (pattern[0] == '\\') matches = pattern[1] == name[0];
  if (pattern[0] == '[') matches = InClass(pattern.substr(1, next - 2), name[0]);
  return matches && MatchesName(pattern.substr(next), name.substr(1));
}

bool MatchesNames(const std::vector<std::string>& pattern, size_t p,
                  const std::vector<std::string>& names, size_t n) {
  if (p == pattern.size()) return n == names.size();
  if (pattern[p] == "**") {
    return MatchesNames(pattern, p + 1, names, n) ||
           (n < names.size() && MatchesNames(pattern, p, names, n + 1));
  }
  return n < names.size() && MatchesName(pattern[p], names[n]) &&
         MatchesNames(pattern, p + 1, names, n + 1);
}

std::vector<std::string> Components(absl::string_view path) {
  if (path.empty()) return {};
  return absl::StrSplit(path, '/');
}

bool Matches(absl::string_view anchor, const std::string& pattern, absl::string_view path) {
  if (!IsUnder(path, anchor)) return false;
  const std::vector<std::string> names = Components(RelativeTo(path, anchor));
  for (const std::string& expanded : ExpandBraces(pattern)) {
    if (MatchesNames(Components(expanded), 0, names, 0)) return true;
  }
  return false;
}

}  // namespace reference

std::string RandomComponent(Random* random) {
  static const char* const kPieces[] = {
      "a",      "b",          "c",    "a",     "b",          ".",   "*",      "*",       "?",
      "\\*",    "[ab]",       "[!a]", "[a-b]", "[^b-c*]",    "]",   "}",      ",",       "{a,b}",
      "{a*,}c", "{b,{a,c}?}", "[]a]", "[{,]",  "{[a,],\\,}", "\\a", "[\\]-]", "\xc3\xa9"};
  if (random->OneIn(5)) return "**";
  if (random->OneIn(5)) return "*";
  std::string out;
  for (size_t n = 1 + random->Below(4); n > 0; --n) absl::StrAppend(&out, random->Pick(kPieces));
  return out;
}

std::string RandomPattern(Random* random) {
  std::vector<std::string> components(1 + random->Below(5));
  for (std::string& component : components) component = RandomComponent(random);
  return absl::StrJoin(components, "/");
}

std::string RandomPath(Random* random, absl::string_view anchor) {
  std::string path(random->OneIn(8) ? "/w/x" : anchor);
  for (size_t n = random->Below(6); n > 0; --n) {
    std::string name = random->Text("aabbcc.*,]}{\xc3\xa9", 4);
    if (name.empty() || name == "." || name == "..") name = "a";
    path = Join(path, name);
  }
  return path;
}

bool MatchesAt(const char* anchor, const char* pattern, const char* path) {
  const absl::StatusOr<Glob> glob = Glob::Compile(anchor, pattern);
  REQUIRE_OK(glob);
  return glob->Matches(path);
}

struct MatchCase {
  const char* pattern;
  std::vector<const char*> matches;  // below /w
  std::vector<const char*> misses;
};

void CheckCases(const std::vector<MatchCase>& cases) {
  for (const MatchCase& c : cases) {
    const std::string pattern = c.pattern;
    CAPTURE(pattern);
    REQUIRE_OK_AND_ASSIGN(const Glob glob, Glob::Compile("/w", pattern));
    for (const bool wanted : {true, false}) {
      for (const char* below : wanted ? c.matches : c.misses) {
        const std::string path = Join("/w", below);
        CAPTURE(path);
        CHECK_EQ(glob.Matches(path), wanted);
        CHECK_EQ(reference::Matches("/w", pattern, path), wanted);
      }
    }
  }
}

TEST_SUITE("base/glob") {
  TEST_CASE("a wildcard stays inside one component and matches a leading dot") {
    CheckCases({
        {"*", {"a", ".a", "*"}, {"", "a/b"}},
        {"*.pem", {".pem", "x.pem", "a.b.pem"}, {"pem", "x.pem.bak", "d/x.pem"}},
        {".env*", {".env", ".env.local"}, {".en", "env", "d/.env"}},
        {"a*a", {"aa", "aba"}, {"a", "ab"}},
        {"*a*b*", {"ab", "xaxbx", "bab"}, {"ba", "a", "b"}},
        {"?", {"a", "."}, {"ab", "", "\xc3\xa9"}},
        {"??", {"ab", "\xc3\xa9"}, {"a", "abc"}},
        {"a/*/c", {"a/b/c", "a/.b/c"}, {"a/c", "a/b/b/c", "a/b"}},
    });
  }

  TEST_CASE("two stars cross any number of components, zero included") {
    CheckCases({
        {"**", {"", "a", "a/b/c"}, {}},
        {"**/.env", {".env", "a/.env", "a/b/c/.env"}, {".env/a", "a.env", "env"}},
        {"a/**", {"a", "a/b", "a/b/c"}, {"", "ab", "b/a"}},
        {"a/**/b", {"a/b", "a/x/b", "a/b/b", "a/x/y/b"}, {"a", "b", "a/bb", "x/a/b"}},
        {"**/a/**/b/**", {"a/b", "x/a/y/b/z", "a/a/b/b"}, {"b/a", "a", "ab", "x/b"}},
        {"**/a/b/**/a/c", {"a/b/a/c", "a/b/a/b/a/c", "a/a/b/x/a/c"}, {"a/b/c", "a/b/a/a"}},
        {"**/**/a", {"a", "x/a"}, {"x"}},
        {"*/**/a", {"x/a", "x/y/a"}, {"a"}},
    });
  }

  TEST_CASE("a class is one byte of a list, with ranges, negation and escapes") {
    CheckCases({
        {"[ab]", {"a", "b"}, {"c", "ab", "[ab]"}},
        {"[a-cx]", {"a", "b", "c", "x"}, {"d", "-"}},
        {"[!a]", {"b", "!", "\xff"}, {"a", "bb"}},
        {"[^a-y]", {"z", "^", "A"}, {"a", "m"}},
        {"[}-\x7f]", {"}", "~", "\x7f"}, {"|", "\xff"}},
        {"[a!^]", {"!", "^"}, {"b"}},
        {"[]a]", {"]", "a"}, {"[", "]a"}},
        {"[!]a]", {"b"}, {"]", "a"}},
        {"[]-a]", {"]", "^", "a"}, {"-", "b"}},
        {"[a-]", {"a", "-"}, {"b"}},
        {"[-a]", {"a", "-"}, {"b"}},
        {"[\\]]", {"]"}, {"\\"}},
        {"[a\\-c]", {"a", "-", "c"}, {"b"}},
        {"[\\a-\\c]", {"a", "b", "c"}, {"d", "\\", "-"}},
        {"[*?{}]", {"*", "?", "{", "}"}, {"a"}},
        {"[[]", {"["}, {"a"}},
        {"[[:]x", {"[x", ":x"}, {"x"}},
        {"x[ab]*[!c]", {"xad", "xaccd"}, {"xa", "xac"}},
    });
  }

  TEST_CASE("braces hold alternatives, nested and empty ones too") {
    CheckCases({
        {"*.{pem,key}", {"a.pem", ".key"}, {"a.pe", "a.{pem,key}"}},
        {"{a,b{c,d}e,}x", {"ax", "bcex", "bdex", "x"}, {"bex", "cx", "a"}},
        {"{a,b}{1,2}", {"a1", "b2"}, {"ab", "12", "a"}},
        {"{a,b}/{c,d}", {"a/c", "b/d"}, {"a/b", "c/d", "a"}},
        {"{a\\,b,c}", {"a,b", "c"}, {"a", "b"}},
        {"{[,}],a}", {",", "}", "a"}, {"[", "]"}},
        {"{*,x}y", {"y", "xy", "aby"}, {"x"}},
        {"a,b}", {"a,b}"}, {"a", "b"}},
        {"**/{.env,.env.*}", {".env", "a/.env.x"}, {"a/.envx"}},
    });
  }

  TEST_CASE("a backslash takes the meaning away") {
    CheckCases({
        {"\\*", {"*"}, {"a", "\\*"}},
        {"\\**", {"*", "*a"}, {"a"}},
        {"*\\*", {"*", "a*"}, {"a"}},
        {"\\*\\*", {"**"}, {"a/b", "ab"}},
        {"\\[a]", {"[a]"}, {"a"}},
        {"\\{a,b\\}", {"{a,b}"}, {"a"}},
        {"\\\\", {"\\"}, {"a"}},
        {"\\a\\?", {"a?"}, {"ab"}},
    });
  }

  TEST_CASE("bytes are compared as they are") {
    CheckCases({
        {"\xc3\xa9*", {"\xc3\xa9", "\xc3\xa9x"}, {"e\xcc\x81", "\xc3"}},
        {"A", {"A"}, {"a"}},
        {"*\xff", {"\xff", "a\xff"}, {"\xfe"}},
        {"a\n?", {"a\n\n"}, {"a"}},
    });
  }

  TEST_CASE("the anchor is literal and holds every match") {
    CHECK(MatchesAt("/w/[x]*", "*", "/w/[x]*/a"));
    CHECK_FALSE(MatchesAt("/w/[x]*", "*", "/w/xa/a"));
    CHECK_FALSE(MatchesAt("/w", "**", "/wx"));
    CHECK_FALSE(MatchesAt("/w", "**", "/"));
    CHECK_FALSE(MatchesAt("/w", "*", "/w"));
    CHECK(MatchesAt("/", "*", "/a"));
    CHECK(MatchesAt("/", "**", "/"));
    CHECK(MatchesAt("/", "a/*", "/a/b"));
  }

  TEST_CASE("a pattern that is wrong, or means something else than it looks, is refused") {
    const struct {
      std::string pattern;
      const char* message;
    } cases[] = {
        {"", "bad pattern '': empty component at byte 1"},
        {"/a", "empty component at byte 1"},
        {"a//b", "empty component at byte 3"},
        {"a/", "empty component at byte 3"},
        {"{,a}/b", "empty component at byte 1"},
        {"a/./b", "'.' cannot be a component at byte 3"},
        {"..", "'..' cannot be a component at byte 1"},
        {"\\.\\.", "'..' cannot be a component at byte 1"},
        {"a/{.,x}{.,y}", "'..' cannot be a component at byte 3"},
        {"a/[bc", "unclosed '[' at byte 3"},
        {"[", "unclosed '[' at byte 1"},
        {"[]", "unclosed '[' at byte 1"},
        {"[!]", "unclosed '[' at byte 1"},
        {"[a/b]", "unclosed '[' at byte 1"},
        {"[a\\]", "unclosed '[' at byte 1"},
        {"[a-", "unclosed '[' at byte 1"},
        {"[a-\\", "unclosed '[' at byte 1"},
        {"[a-/]", "unclosed '[' at byte 1"},
        {"x{a,b", "unclosed '{' at byte 2"},
        {"x{a,{b,c}", "unclosed '{' at byte 2"},
        {"{a,{b", "unclosed '{' at byte 4"},
        {"{a,b/c", "unclosed '{' at byte 1"},
        {"{a,b/c}", "'/' inside braces at byte 5"},
        {"{a}", "braces without ',': write '\\{' for the character at byte 1"},
        {"{a,{}}", "braces without ',': write '\\{' for the character at byte 4"},
        {"a\\", "trailing backslash at byte 2"},
        {"a\\/b", "trailing backslash at byte 2"},
        {std::string("a\0b", 3), "bad pattern 'a\\x00b': NUL at byte 2"},
        {"a/**b", "'**' must be a whole component"},
        {"a**", "'**' must be a whole component"},
        {"***", "'**' must be a whole component"},
        {"{**,a}", "'**' must be a whole component"},
        {"{*,a}*", "'**' must be a whole component"},
        {"[[:alpha:]]", "a class by name is not supported"},
        {"[a[=b=]]", "a class by name is not supported"},
        {"x[z-a]", "empty range at byte 3"},
        {"[\xc3\xa9]", "only ASCII can stand between '[' and ']'"},
        {"[a-\xff]", "only ASCII can stand between '[' and ']'"},
        {"{a,b}/{a,b}/{a,b}/{a,b}/{a,b}/{a,b}/{a,b}", "more than 64 alternatives at byte 37"},
        {"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "more than 64 alternatives at byte 1"},
        {std::string(4097, 'a'), "pattern of 4097 bytes: at most 4096"},
    };
    for (const auto& c : cases) {
      const std::string pattern = c.pattern.substr(0, 100);
      CAPTURE(pattern);
      CHECK_ERROR(Glob::Compile("/w", c.pattern), kInvalidArgument, c.message);
    }
  }

  TEST_CASE("a pattern at its limits is accepted") {
    CHECK_OK(Glob::Compile("/w", std::string(4096, 'a')));
    CHECK_OK(Glob::Compile("/w", "{a,b}/{a,b}/{a,b}/{a,b}/{a,b}/{a,b}"));
    CHECK_OK(Glob::Compile("/w", "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"));
  }

  TEST_CASE("magic is an unescaped metacharacter, and unescaping undoes the escapes") {
    for (const char* pattern : {"*", "a/?", "[", "x{", "\\\\*", "a\\**"}) {
      CHECK(Glob::HasMagic(pattern));
    }
    for (const char* pattern : {"", "a/b", "\\*", "\\[a]", "a,b}", "]", "!a", "a\\", "\\\\"}) {
      CHECK_FALSE(Glob::HasMagic(pattern));
    }
    CHECK_EQ(Glob::Unescape("a\\*b"), "a*b");
    CHECK_EQ(Glob::Unescape("\\\\\\a"), "\\a");
    CHECK_EQ(Glob::Unescape("a\\"), "a\\");
    CHECK_EQ(Glob::Unescape(""), "");
  }

  TEST_CASE("a pattern without magic matches exactly its unescaped text") {
    Random random(11);
    for (int i = 0; i < 2000; ++i) {
      const std::string pattern = random.Text("ab.\\*}/", 8);
      const absl::StatusOr<Glob> glob = Glob::Compile("/w", pattern);
      if (Glob::HasMagic(pattern) || !glob.ok()) continue;
      const std::string path = Join("/w", Glob::Unescape(pattern));
      CAPTURE(path);
      CHECK(glob->Matches(path));
      CHECK_FALSE(glob->Matches(path + "x"));
      CHECK_EQ(glob->walk_root(), Dirname(path));
    }
  }

  TEST_CASE("a walk starts at the deepest literal directory that holds every match") {
    const struct {
      const char* anchor;
      const char* pattern;
      const char* root;
    } cases[] = {
        {"/w", "*", "/w"},         {"/w", "**/.env", "/w"},     {"/w", "a/b/*.pem", "/w/a/b"},
        {"/w", "a/b", "/w/a"},     {"/w", "a", "/w"},           {"/w", "a/\\*/**/x", "/w/a/*"},
        {"/w", "a/**", "/w"},      {"/w", "a/b/**/**", "/w/a"}, {"/w", "a/{b,c}/d", "/w/a"},
        {"/w", "**", "/w"},        {"/", "a/*", "/a"},          {"/", "*", "/"},
        {"/[x]", "a/*", "/[x]/a"},
    };
    for (const auto& c : cases) {
      const std::string pattern = c.pattern;
      CAPTURE(pattern);
      REQUIRE_OK_AND_ASSIGN(const Glob glob, Glob::Compile(c.anchor, c.pattern));
      CHECK_EQ(glob.walk_root(), c.root);
    }
  }

  TEST_CASE("a walk enters exactly the directories below which something can match") {
    const struct {
      const char* pattern;
      std::vector<const char*> enter;
      std::vector<const char*> prune;
    } cases[] = {
        {"*", {"/", "/w"}, {"/w/a", "/x", "/wx"}},
        {"a/*.c", {"/w", "/w/a"}, {"/w/b", "/w/a/x", "/w/a/x.c", "/w/aa"}},
        {"a/**", {"/w", "/w/a", "/w/a/b/c"}, {"/w/b", "/w/b/a"}},
        {"**/x", {"/w", "/w/a/b"}, {"/x"}},
        {"{a,b}/?/c", {"/w/a", "/w/b/x"}, {"/w/c", "/w/a/xx", "/w/b/x/c"}},
        {"a/b", {"/w/a"}, {"/w/a/b", "/w/b"}},
    };
    for (const auto& c : cases) {
      const std::string pattern = c.pattern;
      CAPTURE(pattern);
      REQUIRE_OK_AND_ASSIGN(const Glob glob, Glob::Compile("/w", c.pattern));
      for (const char* dir : c.enter) CHECK_MESSAGE(glob.CanMatchBelow(dir), std::string(dir));
      for (const char* dir : c.prune) {
        CHECK_MESSAGE(!glob.CanMatchBelow(dir), std::string(dir));
      }
    }
  }

  TEST_CASE("random patterns match what the reference matches, and a walk finds every match") {
    Random random(12);
    size_t compiled = 0;
    size_t matched = 0;
    static const char* const kAnchors[] = {"/w", "/", "/w/[a]*"};
    for (int i = 0; i < 4000; ++i) {
      const std::string anchor = random.Pick(kAnchors);
      const std::string pattern = RandomPattern(&random);
      const absl::StatusOr<Glob> glob = Glob::Compile(anchor, pattern);
      if (!glob.ok()) continue;
      ++compiled;
      CAPTURE(anchor);
      CAPTURE(pattern);
      for (int j = 0; j < 40; ++j) {
        const std::string path = RandomPath(&random, anchor);
        CAPTURE(path);
        const bool matches = glob->Matches(path);
        REQUIRE_EQ(matches, reference::Matches(anchor, pattern, path));
        if (!matches) continue;
        ++matched;
        CHECK(IsUnder(path, glob->walk_root()));
        CHECK((path != glob->walk_root() || path == anchor));
        for (const absl::string_view dir : AncestorsAndSelf(path)) {
          if (dir != path) CHECK_MESSAGE(glob->CanMatchBelow(dir), std::string(dir));
        }
      }
    }
    // Else the property would hold for want of cases.
    CHECK(compiled > 2000);
    CHECK(matched > 5000);
  }

  TEST_CASE("hostile patterns and paths cost no more than the product of their lengths") {
    const std::string name(255, 'a');
    std::string path = "/w";
    for (int i = 0; i < 15; ++i) absl::StrAppend(&path, "/", name);
    std::string stars;
    std::string deep;
    for (int i = 0; i < 100; ++i) absl::StrAppend(&stars, "*a");
    for (int i = 0; i < 200; ++i) absl::StrAppend(&deep, "**/*a*a*a*b/");
    std::string nested = "x";
    for (int i = 0; i < 60; ++i) nested = absl::StrCat("{", nested, ",b}");
    const auto start = std::chrono::steady_clock::now();
    for (const std::string& pattern :
         {std::string("**/**/**/*a*a*a*a*b"), "**/" + stars + "b", deep + "c", nested,
          "**/" + stars + "{b,c,{d,e}f}/**/" + stars + "b"}) {
      REQUIRE_OK_AND_ASSIGN(const Glob glob, Glob::Compile("/w", pattern));
      for (int i = 0; i < 10; ++i) CHECK_FALSE(glob.Matches(path));
      CHECK(glob.CanMatchBelow("/w"));
    }
    // Backtracking would take years; the rest of the room is for sanitizers.
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
  }
}

}  // namespace
}  // namespace agent_exec
