#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plan/environment.h"
#include "plan/git_config.h"
#include "plan/git_layout.h"
#include "plan/resolve.h"
#include "support/doctest.h"
#include "support/planning.h"
#include "support/random.h"
#include "support/status.h"

namespace agent_exec::testing {
namespace {

std::string FormatEntries(const GitConfig& config) {
  std::string out;
  for (const GitConfigEntry& entry : config.entries) {
    absl::StrAppend(&out, entry.section, "|", entry.subsection, "|", entry.key,
                    entry.has_value ? absl::StrCat("=", entry.value) : "", "\n");
  }
  return config.well_formed ? out : out + "BAD\n";
}

constexpr char kRules[] = "read /\nwrite .\ndeny-write .git missing=block";

std::string MountsOf(absl::string_view tree) {
  absl::StatusOr<Plan> plan = PlanOf(kRules, tree);
  return plan.ok() ? FormatOwnMounts(*plan) : DescribeStatus(plan.status());
}

}  // namespace

TEST_SUITE("plan/git_config") {
  TEST_CASE("the forms of the file") {
    struct Case {
      const char* text;
      const char* entries;
    };
    const Case cases[] = {
        {"", ""},
        {"[user]\n\tname = A B \n", "user||name=A B\n"},
        {"[User]\nNAME=x", "user||name=x\n"},
        {"[a \"Sub B\"]\nk=v\n", "a|Sub B|k=v\n"},
        {"[a \"q\\\"\\\\\"]\nk=v\n", "a|q\"\\|k=v\n"},
        {"[a.B]\nk=v\n", "a|b|k=v\n"},
        {"[a]k=v\n", "a||k=v\n"},
        {"[a]\nk\nl = \n", "a||k\na||l=\n"},
        {"[a]\nk = v # c\nl = v ; c\n# c\n; c\n", "a||k=v\na||l=v\n"},
        {"[a]\nk = \" v # \" w\n", "a||k= v #  w\n"},
        {"[a]\nk = a\\\nb\n", "a||k=ab\n"},
        {"[a]\nk = \"\\t\\n\\b\\\\\\\"\"\n", "a||k=\t\n\b\\\"\n"},
        {"[a]\r\nk = v\r\n", "a||k=v\n"},
        {"\xef\xbb\xbf[a]\nk=v\n", "a||k=v\n"},
        {"k = v\n", "BAD\n"},
        {"[a\n", "BAD\n"},
        {"[a]\nk = \"v\n", "BAD\n"},
        {"[a]\nk = \\x\n", "BAD\n"},
        {"[a]\n1 = v\n", "BAD\n"},
        {"[a]\nb=c\nk v\n", "a||b=c\nBAD\n"},
        {"[]\nk=v\n", "BAD\n"},
    };
    for (const Case& c : cases) {
      CAPTURE(std::string(c.text));
      CHECK_EQ(FormatEntries(ParseGitConfig(c.text)), std::string(c.entries));
    }
  }

  TEST_CASE("only what is harmless is kept") {
    const char* kText = R"(
[user]
	name = "Q\"uote \\ ; # x"
	email = a@b
	signingKey = 1
[credential]
	helper = store
[core]
	sshCommand = evil
	hooksPath = /evil
	fsmonitor = evil
	editor = evil
	pager = evil
	autocrlf = input
[include]
	path = /evil
[includeIf "gitdir:/"]
	path = /evil
[url "https://token@h/"]
	insteadOf = https://h/
[http]
	extraHeader = secret
	proxy = p
[gpg]
	program = evil
[alias]
	st = status
	x = !evil
[filter "lfs"]
	clean = git-lfs clean -- %f
	smudge = "git-lfs smudge; evil"
	process = evil
	required
[filter "x"]
	clean = evil
[color "diff"]
	meta = yellow
[diff "x"]
	command = evil
	textconv = evil
[diff]
	external = evil
	algorithm = histogram
[merge "x"]
	driver = evil
[commit]
	template = /x
	gpgSign = true
)";
    CHECK_EQ(HarmlessGitConfig(ParseGitConfig(kText)),
             std::string("[user]\n\tname = \"Q\\\"uote \\\\ ; # x\"\n\temail = \"a@b\"\n"
                         "[core]\n\tautocrlf = \"input\"\n"
                         "[alias]\n\tst = \"status\"\n"
                         "[filter \"lfs\"]\n\tclean = \"git-lfs clean -- %f\"\n\trequired\n"
                         "[color \"diff\"]\n\tmeta = \"yellow\"\n"
                         "[diff]\n\talgorithm = \"histogram\"\n"));
    CHECK_EQ(HarmlessGitConfig(ParseGitConfig("[credential]\nhelper=x\n")), "");
    // A value cannot smuggle in a line.
    CHECK_EQ(HarmlessGitConfig(ParseGitConfig("[user]\nname = \"x\\n[core]\\nhooksPath=/e\"\n")),
             "");
  }

  TEST_CASE("property: what is written is read back, and nothing else is") {
    Random random(5);
    for (int i = 0; i < 2000; ++i) {
      GitConfig config;
      for (size_t n = random.Below(4); n > 0; --n) {
        constexpr const char* kSections[] = {"user",  "core",    "alias",
                                             "color", "include", "credential"};
        constexpr const char* kKeys[] = {"name", "email", "autocrlf", "path", "hookspath", "st"};
        GitConfigEntry entry;
        entry.section = random.Pick(kSections);
        entry.key = random.Pick(kKeys);
        if (random.OneIn(4)) entry.subsection = HostileText(&random, 3);
        entry.has_value = !random.OneIn(5);
        if (entry.has_value) entry.value = HostileText(&random, 6);
        config.entries.push_back(entry);
      }
      const std::string text = HarmlessGitConfig(config);
      const GitConfig back = ParseGitConfig(text);
      CAPTURE(text);
      CHECK(back.well_formed);
      // Each is one of those that went in, in order, and all of them are harmless still.
      size_t at = 0;
      for (const GitConfigEntry& entry : back.entries) {
        while (at < config.entries.size() && !(config.entries[at] == entry)) ++at;
        CHECK(at < config.entries.size());
        ++at;
      }
      CHECK_EQ(HarmlessGitConfig(back), text);
      for (const GitConfigEntry& entry : back.entries) {
        CHECK(entry.section != "include");
        CHECK(entry.section != "credential");
        CHECK_FALSE((entry.section == "core" && entry.key == "hookspath"));
      }
    }
  }

  TEST_CASE("any bytes are read to some end") {
    Random random(6);
    for (int i = 0; i < 2000; ++i) {
      (void)ParseGitConfig(random.OneIn(2) ? random.Bytes(60)
                                           : random.Text("[]\"\\=#; \n\tab.\r", 40));
    }
  }
}

TEST_SUITE("plan/git_layout") {
  TEST_CASE("an ordinary repository: .git is read-only") {
    CHECK_EQ(MountsOf("/w/.git/HEAD\n/w/.git/config"), "rw bind /w\nro bind /w/.git\n");
  }

  TEST_CASE("a .git file is protected, and what it points at where that could be written") {
    CHECK_EQ(
        MountsOf(
            "/w/.git = gitdir: /srv/main/.git/worktrees/w\\n\n/srv/main/.git/worktrees/w/HEAD"),
        "rw bind /w\nro bind /w/.git\n");
    CHECK_EQ(MountsOf("/w/.git = gitdir: store/git\\n\n/w/store/git/HEAD"),
             "rw bind /w\nro bind /w/.git\nrw bind /w/store (pin)\nro bind /w/store/git\n");
    CHECK_EQ(MountsOf("/w/.git = gitdir: store/git\\n\n/w/store/git/HEAD\n/w/store/git/commondir = "
                      "../common\\n\n/w/store/common/HEAD"),
             "rw bind /w\nro bind /w/.git\nrw bind /w/store (pin)\nro bind /w/store/common\nro "
             "bind /w/store/git\n");
    // A pointer to something else is a file that somebody wrote.
    CHECK_EQ(MountsOf("/w/.git = gitdir: src\\n\n/w/src/x"), "rw bind /w\nro bind /w/.git\n");
  }

  TEST_CASE(
      "hooks, monitors and included files in the workspace are protected, present or missing") {
    CHECK_EQ(
        MountsOf("/w/.git/config = [core]\\n\\thooksPath = .husky/_\\n\n/w/.husky/_/pre-commit"),
        "rw bind /w\nro bind /w/.git\nrw bind /w/.husky (pin)\nro bind /w/.husky/_\n");
    CHECK_EQ(MountsOf("/w/.git/config = [core]\\n\\thooksPath = hooks\\n"),
             "rw bind /w\nro bind /w/.git\nro bind /w/hooks (placeholder)\n");
    CHECK_EQ(MountsOf("/w/.git/config = [include]\\n\\tpath = ../shared.cfg\\n\n/w/shared.cfg = "
                      "[core]\\nhooksPath=h\\n\n/w/h/"),
             "rw bind /w\nro bind /w/.git\nro bind /w/h\nro bind /w/shared.cfg\n");
    CHECK_EQ(MountsOf("/w/.git/config = [core]\\n\\tfsmonitor = ./mon\\n\n/w/mon"),
             "rw bind /w\nro bind /w/.git\nro bind /w/mon\n");
    CHECK_EQ(MountsOf("/w/.git/config = [core]\\n\\tfsmonitor = true\\n\thooksPath = "
                      "/srv/hooks\\n\n/srv/hooks/"),
             "rw bind /w\nro bind /w/.git\n");
    CHECK_EQ(MountsOf("/w/.git/config.worktree = [core]\\n\\thooksPath = h\\n\n/w/h/"),
             "rw bind /w\nro bind /w/.git\nro bind /w/h\n");
  }

  TEST_CASE("an include that includes itself ends") {
    CHECK_EQ(
        MountsOf("/w/.git/config = [include]\\npath = ../a\\n\n/w/a = [include]\\npath = a\\n"),
        "rw bind /w\nro bind /w/.git\nro bind /w/a\n");
  }

  TEST_CASE("worktrees that were added inside the workspace") {
    CHECK_EQ(MountsOf("/w/.git/worktrees/x/gitdir = /w/build/x/.git\\n\n/w/build/x/.git = gitdir: "
                      "/w/.git/worktrees/x\\n\n"
                      "/w/.git/worktrees/x/HEAD"),
             "rw bind /w\nro bind /w/.git\nrw bind /w/build (pin)\nrw bind /w/build/x (pin)\nro "
             "bind /w/build/x/.git\n");
  }

  TEST_CASE("nested repositories are found, but not in directories of dependencies") {
    CHECK_EQ(MountsOf("/w/.git/HEAD\n/w/a/b/.git/HEAD\n/w/c/.git = gitdir: "
                      "../.git/modules/c\\n\n/w/node_modules/x/.git/\n"
                      "/w/d/.git/config = [core]\\nhooksPath=h\\n\n/w/d/h/"),
             "rw bind /w\nro bind /w/.git\nro bind /w/a/b/.git\nro bind /w/c/.git\nro bind "
             "/w/d/.git\nro bind /w/d/h\n");
  }

  TEST_CASE("what a nested repository says cannot keep a run from starting") {
    CHECK_EQ(
        MountsOf("/w/.git/HEAD\n/w/a/.git/config = [core]\\nhooksPath=../closed/x/y\\n\n/w/closed/ "
                 "mode=0000 uid=1000\n/w/closed/x/"),
        "rw bind /w\nro bind /w/.git\nro bind /w/a/.git\n");
  }

  TEST_CASE("settings lift the protection") {
    const char* kTree = "/w/.git/config = [core]\\nhooksPath=h\\n\n/w/h/\n/w/n/.git/";
    FakeFileView files(absl::StrCat(kHost, kTree));
    Policy policy = PolicyOf("read /\nwrite .\ndeny-write .git\ndeny-write !.git");
    policy.git.value = GitMode::kFull;
    policy.nested_repositories.value = NestedRepositories::kIgnore;
    REQUIRE_OK_AND_ASSIGN(const Plan full, PlanOf(policy, files));
    CHECK_EQ(FormatOwnMounts(full), "rw bind /w\n");
    // Taken back by name: the workspace's own only.
    policy.git.value = GitMode::kReadOnly;
    policy.nested_repositories.value = NestedRepositories::kProtect;
    REQUIRE_OK_AND_ASSIGN(const Plan named, PlanOf(policy, files));
    CHECK_EQ(FormatOwnMounts(named), "rw bind /w\nro bind /w/n/.git\n");
  }

  TEST_CASE("the search for nested repositories is bounded, and says so") {
    std::string tree = kHost;
    for (int i = 0; i < 21000; ++i) absl::StrAppend(&tree, "/w/f", i, "\n");
    absl::StrAppend(&tree, "/w/z/a/.git/HEAD\n/w/.git/HEAD\n");
    FakeFileView files(tree);
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf(PolicyOf(kRules), files));
    CHECK(absl::StrContains(FormatNotices(plan),
                            "nested-repositories-partial: did not look everywhere in '/w'"));
    // A directory that is closed to the command as well is no loss.
    FakeFileView closed(absl::StrCat(kHost, "/w/.git/HEAD\n/w/db/ mode=0700 uid=999\n/w/db/x"));
    REQUIRE_OK_AND_ASSIGN(const Plan quiet, PlanOf(PolicyOf(kRules), closed));
    CHECK_EQ(FormatNotices(quiet), "");
  }

  TEST_CASE("git is told to ignore placeholders that are files, beside what the caller ignores") {
    FakeFileView files(
        absl::StrCat(kHost, "/w/.git/ uid=1000\n/home/u/.config/git/ignore = *.o\n"));
    REQUIRE_OK_AND_ASSIGN(
        const Plan plan,
        PlanOf(PolicyOf(absl::StrCat(kRules, "\ndeny-write a#.json\ndeny-write d")), files));
    CHECK(absl::StrContains(FormatMounts(plan),
                            "data /run/agent-exec/git-excludes = *.o\n/a\\#.json\n\n"));
    CHECK_EQ(PlannedVariable(plan, "GIT_CONFIG_COUNT"), "1");
    CHECK_EQ(PlannedVariable(plan, "GIT_CONFIG_KEY_0"), "core.excludesFile");
    CHECK_EQ(PlannedVariable(plan, "GIT_CONFIG_VALUE_0"), "/run/agent-exec/git-excludes");
    // In a subdirectory of a repository the lines are those of its root; without one there is
    // nobody to tell.
    FakeFileView above(absl::StrCat(kHost, "/.git/HEAD"));
    REQUIRE_OK_AND_ASSIGN(const Plan deep,
                          PlanOf(PolicyOf("read /\nwrite .\ndeny-write x.json"), above));
    CHECK(absl::StrContains(FormatMounts(deep), "git-excludes = /w/x.json\n"));
    FakeFileView none(kHost);
    REQUIRE_OK_AND_ASSIGN(const Plan bare,
                          PlanOf(PolicyOf("read /\nwrite .\ndeny-write x.json"), none));
    CHECK_EQ(PlannedVariable(bare, "GIT_CONFIG_COUNT"), "");
  }

  TEST_CASE("what git ignores is copied for the command only where it may be seen") {
    const char* kRule = "read /\nwrite .\ndeny-write x.json\ndeny-read /srv/denied";
    struct Case {
      const char* config;
      const char* data;
    };
    for (const Case& c : {Case{"/srv/ignore", "git-excludes = own\n/x.json\n"},
                          Case{"/srv/denied", "git-excludes = /x.json\n"},
                          Case{"~/.ssh/id", "git-excludes = /x.json\n"},
                          Case{"~/.ignore", "git-excludes = /x.json\n"},
                          Case{"/run/secret", "git-excludes = /x.json\n"}}) {
      CAPTURE(std::string(c.config));
      FakeFileView files(
          absl::StrCat(kHost, "/w/.git/config = [core]\\nexcludesFile = ", c.config,
                       "\\n\n/srv/ignore = own\n/srv/denied = secret\n/home/u/.ssh/id = secret\n"
                       "/home/u/.ignore = secret\n/run/secret = secret"));
      REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf(PolicyOf(kRule), files));
      CHECK(absl::StrContains(FormatMounts(plan), c.data));
    }
  }

  TEST_CASE("a repository of another owner is trusted for exactly the workspace") {
    FakeFileView files(absl::StrCat(kHost, "/w/ uid=12345\n/w/.git/HEAD"));
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf(PolicyOf(kRules), files));
    CHECK_EQ(PlannedVariable(plan, "GIT_CONFIG_KEY_0"), "safe.directory");
    CHECK_EQ(PlannedVariable(plan, "GIT_CONFIG_VALUE_0"), "/w");
    FakeFileView own(absl::StrCat(kHost, "/w/.git/ uid=1000"));
    REQUIRE_OK_AND_ASSIGN(const Plan mine, PlanOf(PolicyOf(kRules), own));
    CHECK_EQ(PlannedVariable(mine, "GIT_CONFIG_COUNT"), "");
  }
}

}  // namespace agent_exec::testing
