#include "plan/command.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "plan/resolve.h"
#include "support/doctest.h"
#include "support/planning.h"
#include "support/status.h"

namespace agent_exec::testing {
namespace {

constexpr char kTree[] = R"(
  /usr/bin/tool mode=0755
  /usr/local/bin/tool mode=0755
  /usr/local/bin/noexec mode=0644
  /usr/bin/noexec mode=0755
  /usr/bin/dir/
  /usr/bin/link -> tool
  /usr/bin/broken -> gone
  /opt/bin/onlyhere mode=0644
  /w/run mode=0755 uid=1000
  /w/plain
  /w/sub/run mode=0755 uid=1000
  /w/others mode=0700 uid=1001
  /home/u/b/hidden mode=0755
  /srv/denied mode=0755
)";

absl::StatusOr<Plan> Find(const char* command,
                          const char* path = "/usr/local/bin:/usr/bin:/opt/bin",
                          Mode mode = Mode::kWorkspaceWrite) {
  FakeFileView files(absl::StrCat(kHost, kTree));
  Policy policy = PolicyOf("read /\nwrite .\ndeny-read /srv");
  policy.mode.value = mode;
  HostFacts facts = FactsOf();
  facts.env = {"HOME=/home/u"};
  if (path != nullptr) facts.env.push_back(absl::StrCat("PATH=", path));
  return ResolvePlan(policy, facts, files, {command, "arg"}, {});
}

}  // namespace

TEST_SUITE("plan/command") {
  TEST_CASE("a command is found as execvp finds it") {
    struct Case {
      const char* command;
      const char* path;
      const char* found;
    };
    const Case cases[] = {
        {"tool", "/usr/bin:/usr/local/bin", "/usr/bin/tool"},
        {"tool", "/usr/local/bin:/usr/bin", "/usr/local/bin/tool"},
        {"tool", nullptr, "/usr/local/bin/tool"},
        {"noexec", "/usr/local/bin:/usr/bin", "/usr/bin/noexec"},
        {"link", "/usr/bin", "/usr/bin/link"},
        {"run", ":/usr/bin", "/w/run"},
        {"run", "sub:/usr/bin", "/w/sub/run"},
        {"run", ".:/usr/bin", "/w/run"},
        {"./run", "/usr/bin", "/w/run"},
        {"sub/run", "/usr/bin", "/w/sub/run"},
        {"sub/../run", "/usr/bin", "/w/run"},
        {"/usr/bin//tool", "", "/usr/bin/tool"},
    };
    for (const Case& c : cases) {
      CAPTURE(std::string(c.command));
      for (Mode mode : {Mode::kWorkspaceWrite, Mode::kDangerFullAccess}) {
        REQUIRE_OK_AND_ASSIGN(const Plan plan, Find(c.command, c.path, mode));
        CHECK_EQ(plan.command.path, c.found);
        CHECK_EQ(plan.command.argv[0], c.command);
        CHECK_EQ(plan.command.argv[1], "arg");
      }
    }
  }

  TEST_CASE("127 for what is not found, 126 for what cannot be executed") {
    struct Case {
      const char* command;
      int status;
      const char* message;
    };
    const Case cases[] = {
        {"nosuch", 127, "cannot find the command 'nosuch': it is in no directory of PATH"},
        {"", 127, "cannot find the command '': No such file or directory"},
        {"./nosuch", 127, "cannot find the command './nosuch': No such file or directory"},
        {"broken", 127, "cannot find the command 'broken': it is in no directory of PATH"},
        {"./plain", 126, "cannot execute './plain': Permission denied"},
        {"./others", 126, "cannot execute './others': Permission denied"},
        {"./sub", 126, "cannot execute './sub': Is a directory"},
        {"/usr/bin/dir", 126, "cannot execute '/usr/bin/dir': Is a directory"},
        {"onlyhere", 126, "cannot execute '/opt/bin/onlyhere': Permission denied"},
        {"./plain/x", 127, "cannot find the command './plain/x': No such file or directory"},
    };
    for (const Case& c : cases) {
      CAPTURE(std::string(c.command));
      const absl::Status status = Find(c.command).status();
      CHECK_EQ(CommandExitStatus(status), c.status);
      CHECK_EQ(ToDiagnostic(status).message, c.message);
    }
    CHECK_EQ(CommandExitStatus(absl::NotFoundError("a policy file")), 125);
    CHECK_EQ(CommandExitStatus(absl::PermissionDeniedError("a policy file")), 125);
    CHECK_EQ(CommandExitStatus(absl::InternalError("a bug")), 125);
  }

  TEST_CASE("a command that the policy hides is not found, and the message says why") {
    CHECK_DIAGNOSTIC(Find("/srv/denied").status(), kUnavailable,
                     "cannot find the command '/srv/denied': the policy hides it", "",
                     "--read /srv/denied shows it");
    CHECK_DIAGNOSTIC(Find("denied", "/srv:/usr/bin").status(), kUnavailable,
                     "cannot find the command 'denied': the policy hides '/srv/denied'", "",
                     "--read /srv shows it");
    CHECK_OK(Find("/srv/denied", "", Mode::kDangerFullAccess));
  }

  TEST_CASE("a command is not found through a link that is hidden") {
    FakeFileView files(absl::StrCat(kHost, "/run/x/tool -> /usr/bin/make"));
    HostFacts facts = FactsOf();
    CHECK_ERROR(ResolvePlan(PolicyOf("read /"), facts, files, {"/run/x/tool"}, {}), kUnavailable,
                "the policy hides it");
  }

  TEST_CASE("a command of the lasting home is found there") {
    Policy policy = PolicyOf("read /\nwrite .");
    policy.home.value = HomeMode::kWorkspace;
    HostFacts facts = FactsOf();
    facts.env = {"HOME=/home/u", "PATH=/home/u/bin:/usr/bin"};
    FakeFileView files(kHost);
    REQUIRE_OK_AND_ASSIGN(const Plan first, ResolvePlan(policy, facts, files, {"make"}, {}));
    files.Add(absl::StrCat(first.lasting_dirs[0].path, "/bin/mine mode=0755 uid=1000"));
    REQUIRE_OK_AND_ASSIGN(const Plan second, ResolvePlan(policy, facts, files, {"mine"}, {}));
    CHECK_EQ(second.command.path, "/home/u/bin/mine");
  }

  TEST_CASE("the starting directory must be visible") {
    FakeFileView files(absl::StrCat(kHost, "/run/x/\n/srv/a/\n/w/d/\n/tmp/y/"));
    struct Case {
      const char* chdir;
      bool good;
    };
    for (const Case& c : {Case{"/w/d", true}, Case{"d", true}, Case{"/srv/a", true},
                          Case{"/tmp", true}, Case{"/home/u", true}, Case{"/run/x", false},
                          Case{"/tmp/y", false}, Case{"/home", false}, Case{"/root", false}}) {
      CAPTURE(std::string(c.chdir));
      Policy policy = PolicyOf("read /\nwrite .");
      policy.chdir = Sourced<std::string>{c.chdir, {Origin::Kind::kFlag, "--chdir", 0, 0}};
      absl::StatusOr<Plan> plan = PlanOf(policy, files);
      if (c.good) {
        CHECK_OK(plan.status());
      } else {
        CHECK_ERROR(plan, kFailedPrecondition, "the policy hides it");
      }
    }
  }
}

}  // namespace agent_exec::testing
