#include <string>

#include "policy/setting.h"
#include "support/doctest.h"
#include "support/policies.h"
#include "support/status.h"

// The entries of the path lists: src/policy/path_rule.cc.

namespace agent_exec {
namespace {

using testing::MergeTexts;
using testing::ShowWritten;

// What filesystem.KEY shows for a TOML entry, or the refusal.
std::string Entry(absl::string_view key, absl::string_view entry) {
  const absl::StatusOr<Policy> policy = MergeTexts(
      {{LayerKind::kUser, "p", absl::StrCat("[filesystem]\n", key, " = [", entry, "]\n")}});
  if (!policy.ok()) return ToDiagnostic(policy.status()).message;
  std::string shown = ShowWritten(absl::StrCat("filesystem.", key), *policy);
  return shown.substr(0, shown.rfind(" (p:"));
}

TEST_SUITE("policy/path_rule") {
  TEST_CASE("a pattern is kept as written but for empty and '.' names") {
    const struct {
      const char* written;
      const char* shown;
    } kCases[] = {
        {"/", "/"},
        {"//", "/"},
        {"/a//b/./c/", "/a/b/c"},
        {".", "."},
        {"./", "."},
        {"./a", "a"},
        {"a/", "a"},
        {"~", "~"},
        {"~/x/", "~/x"},
        {"**/.env", "**/.env"},
        {"a/{b,c}", "a/{b,c}"},
        {".env.*", ".env.*"},
        {"...", "..."},
        {"a/..b", "a/..b"},
        {"a~b", "a~b"},
        {"x y", "x y"},
    };
    for (const auto& c : kCases) {
      CHECK_EQ(Entry("read", absl::StrCat("'", c.written, "'")), absl::StrCat("\"", c.shown, "\""));
    }
  }

  TEST_CASE("'!' takes back, and a backslash before it does not") {
    REQUIRE_OK_AND_ASSIGN(
        const Policy policy,
        MergeTexts({{LayerKind::kUser, "p", "[filesystem]\nread = ['!a', '\\!a']"}}));
    const PathRule& literal = policy.paths.back();
    const PathRule& back = policy.paths[policy.paths.size() - 2];
    CHECK(back.takes_back);
    CHECK_EQ(back.pattern, std::string("a"));
    CHECK_FALSE(literal.takes_back);
    CHECK_EQ(literal.pattern, std::string("\\!a"));
    CHECK_EQ(ShowWritten("filesystem.read", policy),
             std::string("\"!a\" (p:2:9)\n\"\\\\!a\" (p:2:15)"));
  }

  TEST_CASE("an entry can say what a missing path means and what stands in for it") {
    CHECK_EQ(Entry("deny-write", "{ path = 'a', missing = 'allow' }"),
             std::string("{ path = \"a\", missing = \"allow\" }"));
    CHECK_EQ(Entry("deny-write", "{ kind = 'file', path = 'a', missing = 'block' }"),
             std::string("{ path = \"a\", missing = \"block\", kind = \"file\" }"));
    CHECK_EQ(Entry("read", "{ path = 'a', kind = 'dir' }"),
             std::string("{ path = \"a\", kind = \"dir\" }"));
    CHECK_EQ(Entry("write", "{ path = 'a' }"), std::string("\"a\""));
  }

  TEST_CASE("entries that could not mean what they say are refused") {
    const struct {
      const char* key;
      const char* entry;
      const char* part;
    } kCases[] = {
        {"read", "''", "expected a path, got an empty string"},
        {"read", "'!'", "expected a path, got an empty string"},
        {"read", "{ missing = 'allow' }", "expected a path"},
        {"write", "'../x'", "expected a path without '..', got '../x'"},
        {"write", "'/a/../b'", "expected a path without '..'"},
        {"write", "'a/..'", "expected a path without '..'"},
        {"read", "'~root/x'", "other users' homes are written out"},
        {"read", "'!~root'", "other users' homes are written out"},
        {"deny-read", "'a/[b'", "bad value of 'filesystem.deny-read'"},
        {"deny-read", "'/{a'", "bad value of 'filesystem.deny-read'"},
        {"deny-read", "'~/{a'", "bad value of 'filesystem.deny-read'"},
        {"deny-read", "'a\\'", "bad value of 'filesystem.deny-read'"},
        {"read", "{ path = 'a', missing = 'block' }", "expected missing = 'allow', got 'block'"},
        {"deny-read", "{ path = 'a', missing = 'block' }", "expected missing = 'allow'"},
        {"deny-write", "{ path = 'a', missing = 'no' }", "expected missing = 'allow' or 'block'"},
        {"deny-write", "{ path = '*.a', missing = 'block' }", "expected a path without wildcards"},
        {"deny-write", "{ path = 'a', kind = 'link' }", "expected kind = 'file' or 'dir'"},
        {"deny-write", "{ path = '!a', missing = 'allow' }", "has nothing but a path"},
    };
    for (const auto& c : kCases) {
      const std::string refusal = Entry(c.key, c.entry);
      CHECK_MESSAGE(absl::StrContains(refusal, c.part), c.entry, ": ", refusal);
    }
  }

  TEST_CASE("--deny-write-existing is an entry of deny-write that allows a missing path") {
    REQUIRE_OK_AND_ASSIGN(const Policy policy, MergeTexts({}, {{"deny-write-existing", "a"}}));
    CHECK_EQ(ShowWritten("filesystem.deny-write", policy),
             std::string("{ path = \"a\", missing = \"allow\" } (--deny-write-existing)"));
  }

  TEST_CASE("a path on the command line may hold any byte but NUL") {
    REQUIRE_OK_AND_ASSIGN(const Policy policy, MergeTexts({}, {{"read", "/a\xff\n"}}));
    CHECK_EQ(policy.paths.back().pattern, std::string("/a\xff\n"));
    CHECK_ERROR(AssignmentFromFlag("read", absl::string_view("a\0b", 3)), kInvalidArgument, "NUL");
  }
}

}  // namespace
}  // namespace agent_exec
