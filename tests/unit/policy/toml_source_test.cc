#include "policy/toml_source.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "support/doctest.h"
#include "support/status.h"

namespace agent_exec {
namespace {

std::string Describe(const std::vector<Assignment>& assignments) {
  std::string out;
  for (const Assignment& assignment : assignments) {
    absl::StrAppend(&out, FormatOrigin(assignment.origin), " ", assignment.setting->key, " = ",
                    assignment.value.text);
    for (const auto& [name, value] : assignment.value.attributes) {
      absl::StrAppend(&out, " ", name, "=", value);
    }
    absl::StrAppend(&out, "\n");
  }
  return out;
}

std::string Parsed(absl::string_view text) {
  const absl::StatusOr<Layer> layer = ParseToml(text, "p", LayerKind::kUser);
  return layer.ok() ? Describe(layer->assignments) : testing::DescribeStatus(layer.status());
}

struct Refusal {
  const char* text;
  const char* place;
  const char* message;
  const char* hint;
};

void CheckRefused(const Refusal& c) {
  CAPTURE(c.text);
  CHECK_DIAGNOSTIC(ParseToml(c.text, "p", LayerKind::kUser), kInvalidArgument, c.message, c.place,
                   c.hint);
}

TEST_SUITE("policy/toml_source") {
  TEST_CASE("assignments come in the order of the text, element by element, with their places") {
    CHECK_EQ(Parsed("version = 1\n"
                    "mode = \"read-only\"\n"
                    "[network]\n"
                    "mode = \"host\"\n"
                    "[filesystem]\n"
                    "write = [\".\", 'a']\n"
                    "deny-write = [{ path = \"x\", missing = \"allow\", kind = \"dir\" }]\n"
                    "home = \"read\"\n"
                    "[limits]\n"
                    "tmp-size = 65536\n"
                    "file-size = \"1MiB\"\n"),
             std::string("p:2:8 mode = read-only\n"
                         "p:4:8 network.mode = host\n"
                         "p:6:10 filesystem.write = .\n"
                         "p:6:15 filesystem.write = a\n"
                         "p:7:15 filesystem.deny-write = x kind=dir missing=allow\n"
                         "p:8:8 filesystem.home = read\n"
                         "p:10:12 limits.tmp-size = 65536\n"
                         "p:11:13 limits.file-size = 1MiB\n"));
  }

  TEST_CASE("a key is the same whether dotted, quoted, in a table or inline") {
    for (const char* text :
         {"filesystem.home = \"read\"", "[filesystem]\nhome = \"read\"",
          "filesystem = { home = \"read\" }", "\"filesystem\".'home' = \"read\""}) {
      REQUIRE_OK_AND_ASSIGN(const Layer layer, ParseToml(text, "p", LayerKind::kUser));
      REQUIRE_EQ(layer.assignments.size(), 1);
      CHECK_EQ(std::string(layer.assignments[0].setting->key), std::string("filesystem.home"));
    }
  }

  TEST_CASE("a map is delivered in the order of the text") {
    CHECK_EQ(Parsed("env.set = { B = \"1\", A = \"2\" }"),
             std::string("p:1:17 env.set = 1 name=B\np:1:26 env.set = 2 name=A\n"));
    CHECK_EQ(Parsed("[env.set]\n\"a.b\" = \"\""), std::string("p:2:9 env.set =  name=a.b\n"));
  }

  TEST_CASE("a list that replaces arrives whole") {
    CHECK_EQ(Parsed("platforms.enabled = [\"linux\", \"macos\"]"),
             std::string("p:1:21 platforms.enabled =  =linux =macos\n"));
  }

  TEST_CASE("an empty list that appends says nothing") {
    CHECK_EQ(Parsed("filesystem.read = []"), std::string());
  }

  TEST_CASE("columns count bytes, also behind other characters and a byte order mark") {
    CHECK_EQ(Parsed("filesystem.read = [\"é\", \"€\", \"x\"]"),
             std::string("p:1:20 filesystem.read = é\np:1:26 filesystem.read = €\n"
                         "p:1:33 filesystem.read = x\n"));
    CHECK_EQ(
        Parsed("# é\nquiet = true\n[env.set]\nA = 'ü'\nB = 'x'\n"),
        std::string("p:2:9 quiet = true\np:4:5 env.set = ü name=A\np:5:5 env.set = x name=B\n"));
    CHECK_EQ(Parsed("\xef\xbb\xbfquiet = true"), std::string("p:1:9 quiet = true\n"));
  }

  TEST_CASE("line ends may be those of another system") {
    CHECK_EQ(Parsed("quiet = true\r\nverbose = false\r\n"),
             std::string("p:1:9 quiet = true\np:2:11 verbose = false\n"));
  }

  TEST_CASE("version is optional, and 1 where it stands") {
    CHECK_OK(ParseToml("", "p", LayerKind::kUser));
    CHECK_OK(ParseToml("version = 1", "p", LayerKind::kUser));
    CheckRefused({"version = 2", "p:1:11", "bad value of 'version': expected 1, found 2",
                  "this file was written for another version of agent-exec"});
    CheckRefused(
        {"version = \"1\"", "p:1:11", "bad value of 'version': expected 1, found a string", ""});
  }

  TEST_CASE("an unknown key is an error that names the nearest one") {
    for (const Refusal& c : {
             Refusal{"[filesystem]\n  raed = []", "p:2:3", "unknown key 'filesystem.raed'",
                     "did you mean 'filesystem.read'?"},
             Refusal{"[filesystem]\ndeny_read = []", "p:2:1", "unknown key 'filesystem.deny_read'",
                     "did you mean 'filesystem.deny-read'?"},
             Refusal{"deny-read = []", "p:1:1", "unknown key 'deny-read'",
                     "did you mean 'filesystem.deny-read'?"},
             Refusal{"mod = 1", "p:1:1", "unknown key 'mod'", "did you mean 'mode'?"},
             Refusal{"xyzzy = 1", "p:1:1", "unknown key 'xyzzy'", ""},
             Refusal{"[profle.x]\nmode = \"read-only\"", "p:1:2", "unknown key 'profle'",
                     "did you mean 'profile'?"},
             Refusal{"[filesytem]\nread = []", "p:1:2", "unknown key 'filesytem'",
                     "did you mean 'filesystem'?"},
             Refusal{"\"filesystem.read\" = []", "p:1:1", "unknown key 'filesystem.read'",
                     "did you mean 'filesystem.read'?"},
             Refusal{"[profile.ci]\nextend = \"x\"", "p:2:1", "unknown key 'profile.ci.extend'",
                     "did you mean 'profile.ci.extends'?"},
             Refusal{"[profile.ci.filesystem]\nraed = []", "p:2:1",
                     "unknown key 'profile.ci.filesystem.raed'",
                     "did you mean 'profile.ci.filesystem.read'?"},
             Refusal{"[profile.ci]\nversion = 1", "p:2:1", "unknown key 'profile.ci.version'", ""},
             Refusal{"\"a\\u001bb\" = 1", "p:1:1", "unknown key 'a\\x1bb'", ""},
             Refusal{"[filesystem]\nread = [{ path = \"x\", mising = \"allow\" }]", "p:2:23",
                     "unknown key 'mising' in an entry of 'filesystem.read'",
                     "did you mean 'missing'?"},
         }) {
      CheckRefused(c);
    }
  }

  TEST_CASE("of several faults the first in the text is told") {
    CheckRefused({"zzz = 1\naaa = 2", "p:1:1", "unknown key 'zzz'", ""});
    CheckRefused({"[network]\nmode = 1\n[backend]\n", "p:2:8",
                  "bad value of 'network.mode': expected a string, found an integer", ""});
  }

  TEST_CASE("a wrong type says what was expected and what was found") {
    for (const Refusal& c : {
             Refusal{"mode = 3", "p:1:8",
                     "bad value of 'mode': expected a string, found an integer", ""},
             Refusal{"quiet = \"true\"", "p:1:9",
                     "bad value of 'quiet': expected true or false, found a string", ""},
             Refusal{"filesystem.read = 3", "p:1:19",
                     "bad value of 'filesystem.read': expected an array of strings or { path = … } "
                     "tables, found an integer",
                     ""},
             Refusal{"filesystem.read = \"/\"", "p:1:19",
                     "bad value of 'filesystem.read': expected an array of strings or { path = … } "
                     "tables, found a string",
                     "a list of one is written in brackets too: [\"…\"]"},
             Refusal{"env.allow = [\"A\", 1]", "p:1:19",
                     "bad value of 'env.allow': expected an array of strings, found an integer",
                     ""},
             Refusal{"keep-fd = [\"3\"]", "p:1:12",
                     "bad value of 'keep-fd': expected an array of integers, found a string", ""},
             Refusal{"env.set = [\"A=1\"]", "p:1:11",
                     "bad value of 'env.set': expected a table of strings, found an array", ""},
             Refusal{"env.set = { A = 1 }", "p:1:17",
                     "bad value of 'env.set': expected a table of strings, found an integer", ""},
             Refusal{"limits.tmp-size = 1.5", "p:1:19",
                     "bad value of 'limits.tmp-size': expected a string such as \"64MiB\" or an "
                     "integer (bytes), found a float",
                     ""},
             Refusal{"limits.open-files = \"64\"", "p:1:21",
                     "bad value of 'limits.open-files': expected an integer, found a string", ""},
             Refusal{"mode = 1979-05-27", "p:1:8",
                     "bad value of 'mode': expected a string, found a date", ""},
             Refusal{"platforms.enabled = [1]", "p:1:22",
                     "bad value of 'platforms.enabled': expected an array of strings, found an "
                     "integer",
                     ""},
             Refusal{"filesystem = \"x\"", "p:1:14",
                     "bad value of 'filesystem': expected a table, found a string", ""},
             Refusal{"[[filesystem]]\nread = []", "p:1:1",
                     "bad value of 'filesystem': expected a table, found an array", ""},
             Refusal{"[filesystem]\nread = [{ path = 1 }]", "p:2:18",
                     "bad value of 'path' in an entry of 'filesystem.read': expected a string, "
                     "found an integer",
                     ""},
         }) {
      CheckRefused(c);
    }
  }

  TEST_CASE("a bad value is found where it stands, in a profile that nobody uses too") {
    CheckRefused(
        {"[filesystem]\nhome = \"open\"", "p:2:8",
         "bad value of 'filesystem.home': expected hidden, private, workspace or read, got "
         "'open'",
         ""});
    CheckRefused({"[profile.x.network]\nmode = \"proxies\"", "p:2:8",
                  "bad value of 'network.mode': expected none or host, got 'proxies'", ""});
    CheckRefused({"filesystem.read = [\"a\\u0000b\"]", "p:1:20",
                  "bad value of 'filesystem.read': it holds a NUL character", ""});
    CheckRefused({"env.set = { \"A\\u0000\" = \"x\" }", "p:1:25",
                  "bad value of 'env.set': it holds a NUL character", ""});
    CheckRefused({"platforms.enabled = []", "p:1:21",
                  "bad value of 'platforms.enabled': expected at least one platform", ""});
  }

  TEST_CASE("what the parser refuses has a place and no tail of its own") {
    CheckRefused({"mode = \"read-only\"\nmode = \"read-only\"", "p:2:8",
                  "cannot redefine existing string 'mode'", ""});
    CheckRefused({"keep-fd = [99999999999999999999]", "p:1:32",
                  "'99999999999999999999' is not representable in 64 bits", ""});
    CHECK_ERROR(ParseToml("mode = 1979-13-01", "p", LayerKind::kUser), kInvalidArgument, "month");
    CHECK_ERROR(ParseToml("[a]\n[a]", "p", LayerKind::kUser), kInvalidArgument,
                "cannot redefine existing table 'a'");
  }

  TEST_CASE("malformed texts are the guard's to refuse") {
    CheckRefused({"[~", "p:1:2", "expected a key, found '~'", ""});
    CheckRefused({"é=1", "p:1:1", "a key with 'é' must be quoted", ""});
  }

  TEST_CASE("profiles have their own assignments, bases and place, sorted by name") {
    REQUIRE_OK_AND_ASSIGN(const Layer layer, ParseToml("[profile.b]\n"
                                                       "extends = [\"a\", \"install\"]\n"
                                                       "mode = \"read-only\"\n"
                                                       "[profile.a.network]\n"
                                                       "mode = \"host\"\n"
                                                       "[profile.a]\n"
                                                       "extends = \"build\"\n",
                                                       "p", LayerKind::kUser));
    CHECK(layer.assignments.empty());
    REQUIRE_EQ(layer.profiles.size(), 2);
    const NamedProfile& a = layer.profiles[0];
    CHECK_EQ(a.name, std::string("a"));
    CHECK_EQ(FormatOrigin(a.origin), std::string("p:4:10"));
    CHECK_EQ(Describe(a.assignments), std::string("p:5:8 network.mode = host\n"));
    REQUIRE_EQ(a.extends.size(), 1);
    CHECK_EQ(a.extends[0].value, std::string("build"));
    const NamedProfile& b = layer.profiles[1];
    CHECK_EQ(FormatOrigin(b.origin), std::string("p:1:10"));
    CHECK_EQ(Describe(b.assignments), std::string("p:3:8 mode = read-only\n"));
    REQUIRE_EQ(b.extends.size(), 2);
    CHECK_EQ(b.extends[1].value, std::string("install"));
    CHECK_EQ(FormatOrigin(b.extends[1].origin), std::string("p:2:17"));
  }

  TEST_CASE("what cannot be a profile is refused") {
    for (const Refusal& c : {
             Refusal{"profile = [\"install\"]", "p:1:11",
                     "bad value of 'profile': expected tables [profile.NAME], found an array",
                     "profiles are chosen by use-profiles = [\"NAME\"]"},
             Refusal{"profile.x = 1", "p:1:13",
                     "bad value of 'profile.x': expected a table with a name, found an integer",
                     ""},
             Refusal{"[profile.x]\nextends = 1", "p:2:11",
                     "bad value of 'profile.x.extends': expected the name of a profile or an array "
                     "of them, found an integer",
                     ""},
             Refusal{"[profile.x]\nextends = [\"\"]", "p:2:12",
                     "bad value of 'profile.x.extends': expected the name of a profile or an array "
                     "of them, found an empty string",
                     ""},
             Refusal{"[profile.x]\nuse-profiles = [\"y\"]", "p:2:16",
                     "'use-profiles' cannot stand in a profile",
                     "a profile applies others by extends = \"NAME\""},
         }) {
      CheckRefused(c);
    }
  }

  TEST_CASE("a built-in layer has built-in origins") {
    REQUIRE_OK_AND_ASSIGN(const Layer layer,
                          ParseToml("quiet = true", "built-in x", LayerKind::kBuiltin));
    CHECK_EQ(layer.assignments[0].origin.kind, Origin::Kind::kBuiltin);
    CHECK_EQ(FormatOrigin(layer.assignments[0].origin), std::string("built-in x:1:9"));
  }

  TEST_CASE("the largest text with the most keys is read or refused without delay") {
    std::string text;
    for (int i = 0; i < kMaxPolicyKeys - 1; ++i)
      absl::StrAppend(&text, "k", i % 2500, ".a", i, " = 1\n");
    CHECK_ERROR(ParseToml(text, "p", LayerKind::kWorkspace), kInvalidArgument, "unknown key");
    text = "filesystem.deny-read = [\"é\"";
    while (text.size() < kMaxPolicyBytes - 16) absl::StrAppend(&text, ", \"é\"");
    absl::StrAppend(&text, "]\n");
    REQUIRE_OK_AND_ASSIGN(const Layer layer, ParseToml(text, "p", LayerKind::kWorkspace));
    CHECK_EQ(static_cast<size_t>(layer.assignments.back().origin.column), text.size() - 5);
  }
}

}  // namespace
}  // namespace agent_exec
