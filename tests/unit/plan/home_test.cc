#include "plan/home.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plan/access_map.h"
#include "plan/environment.h"
#include "plan/home_tables.h"
#include "plan/resolve.h"
#include "support/doctest.h"
#include "support/planning.h"
#include "support/status.h"

namespace agent_exec::testing {
namespace {

absl::StatusOr<Plan> PlanFor(const HostFacts& facts, const Policy& policy, absl::string_view tree) {
  FakeFileView files(absl::StrCat(kHost, tree), facts.uid);
  return ResolvePlan(policy, facts, files, {"make"}, {});
}

HostFacts FactsWith(std::initializer_list<const char*> variables) {
  HostFacts facts = FactsOf();
  facts.env.clear();
  for (const char* variable : variables) facts.env.emplace_back(variable);
  return facts;
}

constexpr char kReadAll[] = "read /\nwrite .";

}  // namespace

TEST_SUITE("plan/home") {
  TEST_CASE("each way of having a home") {
    struct Case {
      HomeMode mode;
      const char* mounts;
    };
    const Case cases[] = {
        {HomeMode::kPrivate, "rw tmpfs /home/u 700"},
        {HomeMode::kHidden, "ro tmpfs /home/u 700"},
        {HomeMode::kRead, "ro bind /home/u"},
        {HomeMode::kWorkspace, "rw bind /home/u <- /home/u/.cache/agent-exec/workspaces/"},
    };
    for (const Case& c : cases) {
      Policy policy = PolicyOf(kReadAll);
      policy.home.value = c.mode;
      REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanFor(FactsOf(), policy, ""));
      CAPTURE(FormatMounts(plan));
      CHECK(absl::StrContains(FormatMounts(plan), absl::StrCat("ro tmpfs /home 755\n", c.mounts)));
      CHECK_EQ(PlannedVariable(plan, "HOME"), "/home/u");
      CHECK_EQ(plan.lasting_dirs.size(), c.mode == HomeMode::kWorkspace ? 1u : 0u);
    }
  }

  TEST_CASE(
      "homes of other people are hidden wherever /etc/passwd says that they are, but not what only "
      "looks like one") {
    FakeFileView files(absl::StrCat(kHost, R"(
      /etc/passwd = root:x:0:0::/root:/bin/sh\nu:x:1000:1000::/home/u:/bin/sh\nv:x:1001:1001::/data/v:/bin/sh\nsvc:x:200:200::/data/svc:/bin/sh\nn:x:65534:65534::/data/n:/bin/sh\nopt:x:1002:1002::/usr/local/x:/bin/sh\ngone:x:1003:1003::/data/gone:/bin/sh\nover:x:1004:1004::/w:/bin/sh\n
      /data/v/
      /data/svc/
      /data/n/
      /usr/local/x/)"));
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf(PolicyOf(kReadAll), files));
    CHECK_EQ(FormatOwnMounts(plan), "ro tmpfs /data/v 755\nrw bind /w\n");
  }

  TEST_CASE("a rule that names somebody's home shows it; the rest stays hidden") {
    FakeFileView files(absl::StrCat(kHost, "/home/v/"));
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf(PolicyOf("read /\nread /home/v"), files));
    CHECK_EQ(FormatOwnMounts(plan), "ro bind /home/v\n");
    CHECK(absl::StrContains(FormatMounts(plan), "ro tmpfs /home 755"));
  }

  TEST_CASE("the home of passwd is hidden too when HOME is another one") {
    HostFacts facts = FactsWith({"HOME=/srv/h", "PATH=/usr/bin"});
    REQUIRE_OK_AND_ASSIGN(const Plan plan,
                          PlanFor(facts, PolicyOf(kReadAll),
                                  "/srv/h/\n/etc/passwd = u:x:1000:1000::/data/u:\\n\n/data/u/"));
    CHECK_EQ(FormatOwnMounts(plan), "ro tmpfs /data/u 700\nrw tmpfs /srv/h 700\nrw bind /w\n");
  }

  TEST_CASE("an unusable HOME becomes a fresh directory") {
    for (const char* home :
         {"HOME=", "HOME=rel", "HOME=/", "HOME=/nonexistent", "HOME=/usr", "X=1"}) {
      CAPTURE(std::string(home));
      REQUIRE_OK_AND_ASSIGN(const Plan plan,
                            PlanFor(FactsWith({home, "PATH=/usr/bin"}), PolicyOf(kReadAll), ""));
      CHECK_EQ(PlannedVariable(plan, "HOME"), "/tmp/home");
      CHECK(absl::StrContains(FormatMounts(plan), "rw tmpfs /tmp/home 700\n"));
    }
    Policy policy = PolicyOf(kReadAll);
    policy.tmp.value = TmpMode::kHost;
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanFor(FactsWith({"PATH=/usr/bin"}), policy, ""));
    CHECK_EQ(PlannedVariable(plan, "HOME"), "/run/agent-exec/home");
    CHECK(absl::StrContains(FormatMounts(plan), "rw tmpfs /run/agent-exec/home 700\n"));
  }

  TEST_CASE("a home that is named through a symlink keeps its name") {
    HostFacts facts = FactsWith({"HOME=/home/u", "PATH=/usr/bin"});
    FakeFileView files(absl::StrCat(kHost, "/data/u/"));
    files.Remove("/home/u");
    files.Add("/home/u -> /data/u");
    REQUIRE_OK_AND_ASSIGN(const Plan plan,
                          ResolvePlan(PolicyOf(kReadAll), facts, files, {"make"}, {}));
    CHECK_EQ(FormatOwnMounts(plan), "rw tmpfs /data/u 700\nlink /home/u -> /data/u\nrw bind /w\n");
  }

  TEST_CASE("well-known tools are shown, without their credentials") {
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanFor(FactsOf(), PolicyOf(kReadAll), R"(
      /home/u/.cargo/bin/cargo mode=0755
      /home/u/.cargo/credentials.toml
      /home/u/.nix-profile -> /nix/var/p
      /nix/var/p/
      /home/u/.ssh/id
      /home/u/notes
      /home/u/.nvm -> tools/nvm
      /home/u/tools/nvm/x)"));
    CHECK_EQ(FormatOwnMounts(plan),
             "ro bind /home/u/.cargo\n"
             "mask file /home/u/.cargo/credentials.toml\n"
             "link /home/u/.nix-profile -> /nix/var/p\n"
             "link /home/u/.nvm -> tools/nvm\n"
             "ro bind /home/u/tools/nvm\n"
             "rw bind /w\n");
  }

  TEST_CASE("credentials are masked below a tool root that is a symlink") {
    REQUIRE_OK_AND_ASSIGN(const Plan plan,
                          PlanFor(FactsOf(), PolicyOf(kReadAll),
                                  "/home/u/.cargo -> x/cargo\n/home/u/x/cargo/credentials"));
    CHECK_EQ(FormatOwnMounts(plan),
             "link /home/u/.cargo -> x/cargo\nro bind /home/u/x/cargo\nmask file "
             "/home/u/x/cargo/credentials\nrw bind /w\n");
  }

  TEST_CASE("credentials are masked wherever the home is shown, unless a rule names them") {
    Policy policy = PolicyOf("read /\nread ~/.aws\nread ~/.config");
    policy.home.value = HomeMode::kRead;
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanFor(FactsOf(), policy, R"(
      /home/u/.ssh/id
      /home/u/.aws/credentials
      /home/u/.config/gh/hosts.yml
      /home/u/.bash_history)"));
    CHECK_EQ(FormatOwnMounts(plan),
             "ro bind /home/u\n"
             "mask file /home/u/.bash_history\n"
             "mask dir /home/u/.config/gh\n"
             "mask dir /home/u/.ssh\n");
    Policy written = PolicyOf("read /\nwrite ~");
    REQUIRE_OK_AND_ASSIGN(const Plan open, PlanFor(FactsOf(), written, "/home/u/.ssh/id"));
    CHECK(absl::StrContains(FormatOwnMounts(open), "rw bind /home/u\nmask dir /home/u/.ssh\n"));
  }

  TEST_CASE("PATH entries in the home are shown with what their programs need") {
    struct Case {
      const char* name;
      const char* path;
      const char* tree;
      const char* mounts;
    };
    const Case cases[] = {
        {"the entry and its siblings", "/home/u/t/bin",
         "/home/u/t/bin/x\n/home/u/t/lib/y\n/home/u/t/share/z",
         "ro bind /home/u/t/bin\nro bind /home/u/t/lib\n"},
        {"directly in the home", "/home/u/bin", "/home/u/bin/x\n/home/u/other",
         "ro bind /home/u/bin\n"},
        {"a virtual environment", "/home/u/v/bin",
         "/home/u/v/bin/python\n/home/u/v/pyvenv.cfg\n/home/u/v/lib/x", "ro bind /home/u/v\n"},
        {"what links lead to", "/home/u/t/bin",
         "/home/u/t/bin/x -> "
         "../../apps/x/bin/x\n/home/u/apps/x/bin/x\n/home/u/apps/x/lib/y\n/home/u/apps/secret",
         "ro bind /home/u/apps/x/bin\nro bind /home/u/apps/x/lib\nro bind /home/u/t/bin\n"},
        {"a virtual environment behind a link", "/home/u/t/bin",
         "/home/u/t/bin/x -> /home/u/apps/v/bin/x\n/home/u/apps/v/bin/x\n/home/u/apps/v/pyvenv.cfg",
         "ro bind /home/u/apps/v\nro bind /home/u/t/bin\n"},
        {"a lone file is shown alone", "/home/u/t/bin",
         "/home/u/t/bin/x -> ../../Downloads/x\n/home/u/Downloads/x\n/home/u/y",
         "ro bind /home/u/Downloads/x\nro bind /home/u/t/bin\n"},
        {"a file in the home itself too", "/home/u/t/bin",
         "/home/u/t/bin/x -> ../../x\n/home/u/x\n/home/u/y",
         "ro bind /home/u/t/bin\nro bind /home/u/x\n"},
        {"a link through another", "/home/u/t/bin",
         "/home/u/t/bin/x -> ../../cur/bin/x\n/home/u/cur -> apps/x-1\n/home/u/apps/x-1/bin/x",
         "ro bind /home/u/apps/x-1/bin\nlink /home/u/cur -> apps/x-1\nro bind /home/u/t/bin\n"},
        {"never the home", "/home/u", "/home/u/x", ""},
        {"never above it", "/home", "", ""},
        {"never credentials", "/home/u/.ssh:/home/u/.ssh/bin", "/home/u/.ssh/bin/x", ""},
        {"nor by a link", "/home/u/t/bin", "/home/u/t/bin/x -> ../../.ssh/id\n/home/u/.ssh/id",
         "ro bind /home/u/t/bin\n"},
        {"a relative or missing entry is nobody's", "bin:/home/u/gone", "/home/u/bin/x", ""},
        {"an entry that is a symlink", "/home/u/cur",
         "/home/u/cur -> apps/x/bin\n/home/u/apps/x/bin/x",
         "ro bind /home/u/apps/x/bin\nlink /home/u/cur -> apps/x/bin\n"},
    };
    for (const Case& c : cases) {
      CAPTURE(std::string(c.name));
      HostFacts facts = FactsWith({"HOME=/home/u"});
      facts.env.push_back(absl::StrCat("PATH=/usr/bin:", c.path));
      REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanFor(facts, PolicyOf(kReadAll), c.tree));
      CHECK_EQ(FormatOwnMounts(plan), absl::StrCat(c.mounts, "rw bind /w\n"));
    }
  }

  TEST_CASE("PATH entries and links that the command can make show nothing") {
    HostFacts facts = FactsWith({"HOME=/home/u", "PATH=/usr/bin:/home/u/p/bin:/home/u/t/bin"});
    facts.cwd = "/home/u/p";
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanFor(facts, PolicyOf(kReadAll), R"(
      /home/u/p/bin/x -> /home/u/private/d/x
      /home/u/private/d/x
      /home/u/t/bin/y -> /home/u/p/y
      /home/u/p/y -> /home/u/private/d/x)"));
    CHECK_EQ(FormatOwnMounts(plan), "rw bind /home/u/p\nro bind /home/u/t/bin\n");
  }

  TEST_CASE("nothing of a hidden home is shown") {
    Policy policy = PolicyOf(kReadAll);
    policy.home.value = HomeMode::kHidden;
    HostFacts facts = FactsWith({"HOME=/home/u", "PATH=/usr/bin:/home/u/t/bin"});
    REQUIRE_OK_AND_ASSIGN(
        const Plan plan,
        PlanFor(facts, policy,
                "/home/u/t/bin/x\n/home/u/.cargo/\n/home/u/.gitconfig = [user]\\nname=x\\n"));
    CHECK_EQ(FormatOwnMounts(plan), "ro tmpfs /home/u 700\nrw bind /w\n");
  }

  TEST_CASE("a tool root inside the workspace stays writable") {
    HostFacts facts = FactsWith({"HOME=/home/u", "PATH=/usr/bin", "GOPATH=/home/u/p/go"});
    facts.cwd = "/home/u/p";
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanFor(facts, PolicyOf(kReadAll), "/home/u/p/go/"));
    CHECK_EQ(FormatOwnMounts(plan), "rw bind /home/u/p\n");
  }

  TEST_CASE("git's configuration comes along without what it could run or tell") {
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanFor(FactsOf(), PolicyOf(kReadAll), R"(
      /home/u/.gitconfig = [user]\n\tname = Home Name\n[credential]\n\thelper = store\n[core]\n\texcludesFile = ~/.ignore\n
      /home/u/.ignore = *.o\n
      /home/u/.config/git/attributes = *.c diff=cpp\n)"));
    CHECK_EQ(FormatOwnMounts(plan),
             "ro bind /home/u/.config/git/attributes\n"
             "data /home/u/.gitconfig = [user]\n\tname = \"Home Name\"\n[core]\n\texcludesfile = "
             "\"~/.ignore\"\n\n"
             "ro bind /home/u/.ignore\n"
             "rw bind /w\n");
  }

  TEST_CASE("a git configuration cannot show credentials by naming them") {
    REQUIRE_OK_AND_ASSIGN(
        const Plan plan,
        PlanFor(FactsOf(), PolicyOf(kReadAll),
                "/home/u/.gitconfig = [core]\\nexcludesFile = ~/.ssh/id\\n\n/home/u/.ssh/id = s"));
    CHECK_FALSE(absl::StrContains(FormatMounts(plan), "bind /home/u/.ssh"));
  }

  TEST_CASE("a rule may deny what is made of git's configuration too") {
    REQUIRE_OK_AND_ASSIGN(const Plan plan,
                          PlanFor(FactsOf(), PolicyOf("read /\ndeny-read ~/.gitconfig"),
                                  "/home/u/.gitconfig = [user]\\nname = x\\n"));
    CHECK_EQ(FormatOwnMounts(plan), "mask file /home/u/.gitconfig\n");
  }

  TEST_CASE("the tables are relative paths, unique, and no tool root is a credential") {
    std::vector<std::string> seen;
    for (const ToolRoot& root : ToolRoots()) seen.emplace_back(root.path);
    for (const Secret& secret : Secrets()) seen.emplace_back(secret.path);
    for (const std::string& path : seen) {
      CHECK_FALSE(absl::StartsWith(path, "/"));
      CHECK_FALSE(absl::EndsWith(path, "/"));
    }
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
  }
}

TEST_SUITE("plan/lasting") {
  TEST_CASE("a workspace has one lasting /tmp of its own") {
    Policy policy = PolicyOf(kReadAll);
    policy.tmp.value = TmpMode::kWorkspace;
    REQUIRE_OK_AND_ASSIGN(const Plan one, PlanFor(FactsOf(), policy, "/w2/"));
    HostFacts elsewhere = FactsOf();
    elsewhere.cwd = "/w2";
    REQUIRE_OK_AND_ASSIGN(const Plan two, PlanFor(elsewhere, policy, "/w2/"));
    REQUIRE_EQ(one.lasting_dirs.size(), 2u);
    CHECK(absl::StartsWith(one.lasting_dirs[0].path, "/home/u/.cache/agent-exec/workspaces/"));
    CHECK(absl::EndsWith(one.lasting_dirs[0].path, "/tmp"));
    CHECK(absl::EndsWith(one.lasting_dirs[1].path, "/var-tmp"));
    CHECK(one.lasting_dirs[0].path != two.lasting_dirs[0].path);
    CHECK(absl::StrContains(FormatMounts(one),
                            absl::StrCat("rw bind /tmp <- ", one.lasting_dirs[0].path, "\n")));
  }

  TEST_CASE("a lasting directory needs a place, and one that the command cannot write to") {
    Policy policy = PolicyOf(kReadAll);
    policy.tmp.value = TmpMode::kWorkspace;
    CHECK_ERROR(PlanFor(FactsWith({"PATH=/usr/bin"}), policy, ""), kFailedPrecondition,
                "there is no home directory");
    CHECK_ERROR(
        PlanFor(FactsWith({"HOME=/home/u", "PATH=/usr/bin", "XDG_CACHE_HOME=/w/c"}), policy, ""),
        kFailedPrecondition, "the command can write to '/w'");
  }

  TEST_CASE("what an earlier command left where a mount is to stand") {
    Policy policy = PolicyOf(kReadAll);
    policy.home.value = HomeMode::kWorkspace;
    REQUIRE_OK_AND_ASSIGN(const Plan first, PlanFor(FactsOf(), policy, ""));
    std::string home = first.lasting_dirs[0].path;
    std::string tree = absl::StrCat("/home/u/.cargo/bin/x\n", home, "/.cargo -> /srv\n");
    // The tools can be done without.
    REQUIRE_OK_AND_ASSIGN(const Plan second, PlanFor(FactsOf(), policy, tree));
    CHECK_FALSE(absl::StrContains(FormatMounts(second), "/home/u/.cargo"));
    CHECK_EQ(FormatNotices(second),
             absl::StrCat("lasting-obstacle: cannot mount on '/home/u/.cargo': '", home,
                          "/.cargo' was left there by an earlier command\n"));
    // The workspace cannot.
    HostFacts facts = FactsOf();
    facts.cwd = "/home/u/p/w";
    REQUIRE_OK_AND_ASSIGN(const Plan third, PlanFor(facts, policy, "/home/u/p/w/"));
    tree = absl::StrCat("/home/u/p/w/\n", third.lasting_dirs[0].path, "/p -> /srv\n");
    CHECK_ERROR(PlanFor(facts, policy, tree), kFailedPrecondition,
                "was left there by an earlier command");
  }
}

}  // namespace agent_exec::testing
