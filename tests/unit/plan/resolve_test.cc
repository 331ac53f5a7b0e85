#include "plan/resolve.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plan/path_resolver.h"
#include "support/doctest.h"
#include "support/planning.h"
#include "support/random_plan.h"
#include "support/status.h"

namespace agent_exec::testing {
namespace {

Sourced<std::string> Setting(const char* value, const char* flag) {
  return {value, {Origin::Kind::kFlag, flag, 0, 0}};
}

std::string FormatNeeds(const Plan& plan) {
  std::string out;
  for (const Need& need : plan.needs)
    absl::StrAppend(&out, out.empty() ? "" : " ", FeatureName(need.feature));
  return out;
}

}  // namespace

TEST_SUITE("plan/anchors") {
  TEST_CASE("a workspace that holds the caller's start-up files is refused") {
    struct Case {
      const char* workspace;
      const char* problem;
    };
    for (const Case& c :
         {Case{"/", "it is the whole system"}, Case{"/home/u", "it is the home directory"},
          Case{"/home/u/", "it is the home directory"}, Case{"~", "it is the home directory"},
          Case{"/home", "the home directory lies in it"},
          Case{"/link", "it is the home directory"}}) {
      CAPTURE(std::string(c.workspace));
      FakeFileView files(absl::StrCat(kHost, "/link -> home/u"));
      Policy policy = PolicyOf("read /\nwrite .");
      policy.workspace = Setting(c.workspace, "--workspace");
      absl::StatusOr<Plan> plan = PlanOf(policy, files);
      CHECK_ERROR(plan, kInvalidArgument, c.problem);
      CHECK_EQ(ToDiagnostic(plan.status()).place, "--workspace");
    }
  }

  TEST_CASE("so is one that is the home of passwd while HOME says something else") {
    FakeFileView files(absl::StrCat(kHost, "/srv/h/"));
    HostFacts facts = FactsOf();
    facts.env[0] = "HOME=/srv/h";
    facts.cwd = "/home/u";
    CHECK_ERROR(ResolvePlan(PolicyOf("read /"), facts, files, {"make"}, {}), kInvalidArgument,
                "cannot use the workspace '/home/u': it is the home directory");
  }

  TEST_CASE("the workspace is where its links lead, and the name that was given works inside") {
    FakeFileView files(absl::StrCat(kHost, "/tmp/ws -> /srv/w\n/srv/w/"));
    Policy policy = PolicyOf("read /\nwrite .");
    policy.workspace = Setting("/tmp/ws", "--workspace");
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf(policy, files));
    CHECK_EQ(plan.workspace, "/srv/w");
    CHECK_EQ(FormatOwnMounts(plan), "rw bind /srv/w\nlink /tmp/ws -> /srv/w\n");
  }

  TEST_CASE("relative settings start at the current directory") {
    FakeFileView files(absl::StrCat(kHost, "/w/a/b/\n/w/f"));
    Policy policy = PolicyOf("read /\nwrite .");
    policy.workspace = Setting("a", "--workspace");
    policy.chdir = Setting("a/b", "--chdir");
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf(policy, files));
    CHECK_EQ(plan.workspace, "/w/a");
    CHECK_EQ(plan.command.cwd, "/w/a/b");
    policy.chdir = Setting("gone", "--chdir");
    CHECK_DIAGNOSTIC(PlanOf(policy, files), kNotFound,
                     "cannot start in 'gone': No such file or directory", "--chdir", "");
    policy.chdir = Setting("f", "--chdir");
    CHECK_ERROR(PlanOf(policy, files), kFailedPrecondition, "Not a directory");
  }

  TEST_CASE("a current directory that was deleted is refused, unless nothing needs it") {
    FakeFileView files(kHost);
    HostFacts facts = FactsOf();
    facts.cwd = "";
    Policy policy = PolicyOf("read /\nwrite .");
    CHECK_ERROR(ResolvePlan(policy, facts, files, {"make"}, {}), kFailedPrecondition,
                "it was deleted");
    policy.workspace = Setting("/w", "--workspace");
    CHECK_ERROR(ResolvePlan(policy, facts, files, {"make"}, {}), kFailedPrecondition,
                "it was deleted");
    policy.chdir = Setting("/w", "--chdir");
    CHECK_OK(ResolvePlan(policy, facts, files, {"make"}, {}));
  }

  TEST_CASE("a pattern in a home that nobody has is an error") {
    FakeFileView files(kHost);
    HostFacts facts = FactsOf();
    facts.env = {"PATH=/usr/bin"};
    // The home of passwd serves.
    CHECK_OK(ResolvePlan(PolicyOf("read /\ndeny-read ~/x"), facts, files, {"make"}, {}));
    facts.uid = 4242;
    CHECK_ERROR(ResolvePlan(PolicyOf("read /\ndeny-read ~/x"), facts, files, {"make"}, {}),
                kFailedPrecondition, "there is no home directory");
  }
}

TEST_SUITE("plan/path_resolver") {
  TEST_CASE("where paths lead, by which links, and where they stop") {
    FakeFileView files(R"(
      /a/b/f
      /a/l -> b
      /abs -> /a/l
      /up -> a/b/../../a
      /dangling -> a/gone/x
      /loop -> loop
      /a/closed/ mode=0000
      /a/closed/x
    )");
    PathResolver paths(&files);
    struct Case {
      const char* path;
      const char* leads_to;
      int error;
      const char* stop;
      size_t links;
    };
    const Case cases[] = {
        {"/", "/", 0, "", 0},
        {"/a/b/f", "/a/b/f", 0, "", 0},
        {"/a//./b/", "/a/b", 0, "", 0},
        {"/a/l/f", "/a/b/f", 0, "", 1},
        {"/abs/f", "/a/b/f", 0, "", 2},
        {"/abs/../b/f", "/a/b/f", 0, "", 2},
        {"/up/b", "/a/b", 0, "", 1},
        {"/a/gone/x/y", "/a/gone/x/y", ENOENT, "/a/gone", 0},
        {"/dangling", "/a/gone/x", ENOENT, "/a/gone", 1},
        {"/a/b/f/x", "/a/b/f/x", ENOTDIR, "/a/b/f", 0},
        {"/a/closed/x", "/a/closed/x", EACCES, "/a/closed/x", 0},
        {"/../a", "/a", 0, "", 0},
    };
    for (const Case& c : cases) {
      CAPTURE(std::string(c.path));
      const FoundPath found = paths.Follow(c.path);
      CHECK_EQ(found.path, c.leads_to);
      CHECK_EQ(found.error, c.error);
      CHECK_EQ(found.stop, c.stop);
      CHECK_EQ(found.links.size(), c.links);
    }
    CHECK_EQ(paths.Follow("/loop").error, ELOOP);
    CHECK_EQ(paths.Follow("/loop/x").links.front().place, "/loop");
  }

  TEST_CASE("an answer is asked for once") {
    FakeFileView files("/a/b/c/d");
    PathResolver paths(&files);
    (void)paths.Follow("/a/b/c/d");
    const int calls = files.calls;
    (void)paths.Follow("/a/b/c/d");
    (void)paths.Follow("/a/b");
    CHECK_EQ(files.calls, calls);
  }
}

TEST_SUITE("plan/resolve") {
  TEST_CASE("danger-full-access plans no mounts but the environment and the command") {
    FakeFileView files(kHost);
    Policy policy = PolicyOf("read /\nwrite .\ndeny-read .env");
    policy.mode.value = Mode::kDangerFullAccess;
    HostFacts facts = FactsOf();
    facts.cwd = "/home/u";
    facts.env.push_back("SECRET=x");
    REQUIRE_OK_AND_ASSIGN(const Plan plan, ResolvePlan(policy, facts, files, {"make"}, {}));
    CHECK_FALSE(plan.confined);
    CHECK(plan.mounts.empty());
    CHECK(plan.network == NetworkMode::kHost);
    CHECK_EQ(FormatNeeds(plan), "environment descriptors");
    for (const EnvVar& variable : plan.env) CHECK(variable.name != "SECRET");
  }

  TEST_CASE("a plan needs what its rules ask for, each by its rule") {
    REQUIRE_OK_AND_ASSIGN(const Plan plain, PlanOf("read /\nwrite .", ""));
    CHECK_EQ(FormatNeeds(plain),
             "mounts pids ipc network-none filter no-privileges environment descriptors");
    FakeFileView files(absl::StrCat(kHost, "/w/.env"));
    Policy policy = PolicyOf("read /\nwrite .\ndeny-read .env\ndeny-write .git");
    policy.network = {NetworkMode::kHost, {Origin::Kind::kFlag, "--network", 0, 0}};
    policy.limits.file_size_bytes = Sourced<int64_t>{10, {Origin::Kind::kFlag, "--limit", 0, 0}};
    policy.limits.open_files = Sourced<int64_t>{20, {Origin::Kind::kFlag, "--limit", 0, 0}};
    policy.keep_fds = {{3, {}}, {7, {}}};
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf(policy, files));
    CHECK_EQ(FormatNeeds(plan),
             "mounts masks placeholders pids ipc network-host filter no-privileges file-size "
             "open-files environment "
             "descriptors");
    CHECK_EQ(FormatOrigin(plan.origins[plan.needs[1].origin]), "p:3:1");
    CHECK_EQ(FormatOrigin(plan.origins[plan.needs[2].origin]), "p:4:1");
    CHECK_EQ(FormatOrigin(plan.origins[plan.needs[5].origin]), "--network");
    CHECK_EQ(plan.file_size_bytes, 10);
    CHECK_EQ(plan.open_files, 20);
    CHECK(plan.keep_fds == std::vector<int>{3, 7});
  }

  TEST_CASE("a path that cannot be looked at is no path without a rule") {
    HostFacts root = FactsOf();
    root.uid = 0;
    for (const char* path : {"/etc/shadow", "/var/tmp", "/run", "/home/u/.cargo"}) {
      CAPTURE(path);
      FakeFileView files(absl::StrCat(kHost, path, " broken"), 0);
      CHECK_ERROR(ResolvePlan(PolicyOf("read /\nwrite ."), root, files, {"make"}, {}),
                  kFailedPrecondition,
                  absl::StrCat("cannot look at '", path, "': Input/output error"));
    }
  }

  TEST_CASE("how processes stand to the launcher follows the policy, or is refused") {
    FakeFileView files(kHost);
    Policy policy = PolicyOf("read /\nwrite .");
    HostFacts root = FactsOf();
    root.uid = 0;
    policy.root_chown.value = RootChown::kIgnore;
    policy.keep_background = {true, {Origin::Kind::kFlag, "--keep-background", 0, 0}};
    REQUIRE_OK_AND_ASSIGN(const Plan kept, ResolvePlan(policy, root, files, {"make"}, {}));
    CHECK(kept.ignore_chown);
    CHECK(kept.keep_background);
    CHECK(absl::StrContains(FormatNeeds(kept), "background"));
    policy.in_place.value = true;
    CHECK_DIAGNOSTIC(ResolvePlan(policy, root, files, {"make"}, {}), kInvalidArgument,
                     "'keep-background' needs the supervisor that 'in-place' goes without",
                     "--keep-background", "leave one of them out");
    policy.keep_background.value = false;
    policy.weaken = {{Weakening::kNestedSandbox, {Origin::Kind::kFlag, "--weaken", 0, 0}}};
    CHECK_ERROR(ResolvePlan(policy, root, files, {"make"}, {}), kFailedPrecondition,
                "'nested-sandbox' is refused for uid 0");
    REQUIRE_OK_AND_ASSIGN(const Plan user, ResolvePlan(policy, FactsOf(), files, {"make"}, {}));
    CHECK(user.in_place);
    CHECK(user.nested_sandbox);
    CHECK_FALSE(user.ignore_chown);
    policy.root_chown.value = RootChown::kRefuse;
    policy.weaken.clear();
    REQUIRE_OK_AND_ASSIGN(const Plan refused, ResolvePlan(policy, root, files, {"make"}, {}));
    CHECK_FALSE(refused.ignore_chown);
  }

  TEST_CASE("the default policy in a small workspace costs few calls") {
    FakeFileView files(
        absl::StrCat(kHost, "/w/.git/HEAD\n/w/src/main.c\n/w/node_modules/x/y\n/w/.env\n"));
    HostFacts facts = FactsOf();
    facts.env = {"HOME=/home/u", "PATH=/usr/local/bin:/usr/bin:/bin:/home/u/.local/bin"};
    REQUIRE_OK(ResolvePlan(
        PolicyOf("read /\nwrite .\ndeny-write .git missing=block\ndeny-write .agent-exec.toml\n"
                 "deny-write .env missing=allow\ndeny-write .env.*\n"
                 "deny-write node_modules missing=allow\nwrite node_modules/.vite*\n"
                 "deny-write .vscode missing=allow\ndeny-write .idea missing=allow"),
        facts, files, {"make"}, {"/w/.agent-exec.toml"}));
    CHECK(files.calls <= 200);
  }

  TEST_CASE("six thousand rules are planned in the time of a few") {
    std::string tree = kHost;
    std::string rules = "read /\nwrite .";
    for (int i = 0; i < 6000; ++i) {
      absl::StrAppend(&tree, "/w/d/f", i, "\n");
      absl::StrAppend(&rules, "\ndeny-read d/f", i);
    }
    FakeFileView files(tree);
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf(PolicyOf(rules), files));
    CHECK_EQ(std::count_if(plan.mounts.begin(), plan.mounts.end(),
                           [](const MountOp& op) { return op.kind == MountKind::kMask; }),
             6000);
    CHECK(plan.origins.size() > 6000);
  }

  TEST_CASE("equal input makes equal plans") {
    Random random(9);
    for (int i = 0; i < 200; ++i) {
      RandomCase c = MakeRandomCase(&random);
      absl::StatusOr<Plan> one = PlanOf(c.rules, c.tree);
      absl::StatusOr<Plan> two = PlanOf(c.rules, c.tree);
      REQUIRE_EQ(one.ok(), two.ok());
      if (!one.ok()) continue;
      CHECK(one->mounts == two->mounts);
      CHECK(one->placeholders == two->placeholders);
      CHECK(one->notices == two->notices);
      CHECK(one->origins == two->origins);
    }
  }
}

TEST_SUITE("plan/check") {
  TEST_CASE("each invariant is looked at") {
    REQUIRE_OK_AND_ASSIGN(const Plan good,
                          PlanOf("read /\nwrite .\ndeny-write a/.git\ndeny-read .env", "/w/.env"));
    REQUIRE_OK(CheckPlan(good));
    struct Case {
      const char* part;
      void (*damage)(Plan*);
    };
    const Case cases[] = {
        {"no root", [](Plan* p) { p->mounts.erase(p->mounts.begin()); }},
        {"mounts out of order", [](Plan* p) { std::swap(p->mounts[1], p->mounts[2]); }},
        {"mounts out of order", [](Plan* p) { p->mounts.push_back(p->mounts.back()); }},
        {"target not clean", [](Plan* p) { p->mounts[1].target += "/"; }},
        {"target not clean", [](Plan* p) { p->mounts[1].target.push_back('\0'); }},
        {"source not clean", [](Plan* p) { p->mounts[0].source = "x"; }},
        {"origin out of range", [](Plan* p) { p->mounts[0].origin = 999; }},
        {"bind without access", [](Plan* p) { p->mounts[0].access = Access::kNone; }},
        {"blob out of range",
         [](Plan* p) {
           p->mounts[1].kind = MountKind::kData;
           p->mounts[1].blob = 99;
         }},
        {"placeholder outside its root", [](Plan* p) { p->placeholders[0].root = "/srv"; }},
        {"placeholder without a mount",
         [](Plan* p) { p->placeholders[0].writable = !p->placeholders[0].writable; }},
        {"needs out of order", [](Plan* p) { std::swap(p->needs[0], p->needs[1]); }},
        {"variables out of order", [](Plan* p) { p->env.push_back(p->env[0]); }},
        {"variable that cannot be passed",
         [](Plan* p) { p->env.insert(p->env.begin(), EnvVar{"", "x", false, 0}); }},
        {"descriptors out of order", [](Plan* p) { p->keep_fds = {2}; }},
        {"no command", [](Plan* p) { p->command.path = "make"; }},
        {"argument with a NUL byte",
         [](Plan* p) { p->command.argv.push_back(std::string(1, '\0')); }},
        {"no first origin", [](Plan* p) { p->origins[0].name = "x"; }},
        {"mounts without confinement", [](Plan* p) { p->confined = false; }},
    };
    for (const Case& c : cases) {
      CAPTURE(std::string(c.part));
      Plan plan = good;
      c.damage(&plan);
      CHECK_ERROR(CheckPlan(plan), kInternal, c.part);
    }
  }

  TEST_CASE("every feature has a name of its own") {
    for (int i = 0; i <= static_cast<int>(Feature::kDescriptors); ++i) {
      CHECK(std::string(FeatureName(static_cast<Feature>(i))) != "unknown");
    }
  }

  TEST_CASE("an origin is added once") {
    Plan plan;
    const Origin origin{Origin::Kind::kFile, "p", 1, 2};
    CHECK_EQ(AddOrigin(Origin{}, &plan), 0);
    CHECK_EQ(AddOrigin(origin, &plan), 1);
    CHECK_EQ(AddOrigin(origin, &plan), 1);
    CHECK_EQ(plan.origins.size(), 2u);
  }
}

}  // namespace agent_exec::testing
