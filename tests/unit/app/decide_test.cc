#include "app/decide.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "support/doctest.h"
#include "support/facts.h"
#include "support/fake_file_view.h"
#include "support/json.h"

namespace agent_exec {
namespace {

using namespace testing;

// What DebianUser sees.
const char kTree[] = R"(
/bin -> usr/bin
/dev/shm/ mode=01777
/etc/passwd = root:x:0:0:root:/root:/bin/sh\nu:x:1000:1000::/home/u:/bin/sh\n
/home/u/ uid=1000
/proc/
/root/ mode=0700
/run/
/sys/
/tmp/ mode=01777
/usr/bin/make mode=0755
/usr/bin/notes mode=0644
/var/tmp/ mode=01777
/w/ uid=1000
/w/.agent-exec.toml = version = 1\n uid=1000
/w/.git/
/w/vars = FROM_FILE=1\n uid=1000
)";

Outcome Run(std::vector<std::string> words, const HostFacts& facts = DebianUser(),
            const char* more_files = "") {
  words.insert(words.begin(), "agent-exec");
  FakeFileView files(absl::StrCat(kTree, more_files));
  return Decide({words, facts}, files);
}

Text MustText(std::vector<std::string> words, const HostFacts& facts = DebianUser(),
              const char* more_files = "") {
  Outcome outcome = Run(std::move(words), facts, more_files);
  REQUIRE(std::holds_alternative<Text>(outcome));
  return std::get<Text>(outcome);
}

Launch MustLaunch(std::vector<std::string> words, const HostFacts& facts = DebianUser(),
                  const char* more_files = "") {
  Outcome outcome = Run(std::move(words), facts, more_files);
  if (const Text* text = std::get_if<Text>(&outcome)) INFO(text->err);
  const auto* text = std::get_if<Text>(&outcome);
  REQUIRE_MESSAGE(text == nullptr, (text == nullptr ? "" : text->err));
  return std::get<Launch>(std::move(outcome));
}

std::string Env(const Launch& launch) {
  return absl::StrJoin(std::get<Exec>(launch.rendered.script.steps.back()).env, " ");
}

TEST_SUITE("app/decide") {
  TEST_CASE("a command is started by the backend, and nothing is said") {
    Launch launch = MustLaunch({"make", "-j2"});
    CHECK_EQ(launch.err, "");
    CHECK_EQ(launch.report_target, "");
    CHECK(launch.error_format == ErrorFormat::kText);
    CHECK_EQ(std::get<Exec>(launch.rendered.script.steps.back()).path, "/usr/bin/bwrap");
    CHECK_FALSE(absl::StrContains(Env(launch), "hunter2"));
  }

  TEST_CASE("inside a sandbox of ours the refusal says so, and not what the backends lack") {
    HostFacts facts = NativeUser();
    facts.user_namespaces = false;
    facts.user_namespaces_problem = "unshare: Operation not permitted";
    facts.env.push_back("AGENT_EXEC=0.1.0");
    Text refused = MustText({"make"}, facts);
    CHECK_EQ(refused.exit_status, 125);
    CHECK(absl::StartsWith(refused.err,
                           "agent-exec: already inside a sandbox of agent-exec 0.1.0, which allows "
                           "no other in it (AGENT_EXEC)\n  hint: "));
  }

  TEST_CASE("wrappers are asked for only where nothing else will do") {
    HostFacts facts = NativeUser();
    facts.knows_wrappers = false;
    facts.bwrap = Tool{};
    CHECK(std::holds_alternative<Launch>(Run({"make"}, facts)));
    CHECK(std::holds_alternative<NeedsWrappers>(Run({"--backend", "bwrap", "make"}, facts)));
    CHECK(std::holds_alternative<Launch>(Run({"--mode", "danger-full-access", "make"}, facts)));
    facts.mount_calls = false;
    CHECK(std::holds_alternative<NeedsWrappers>(Run({"make"}, facts)));
    CHECK(
        std::holds_alternative<NeedsWrappers>(Run({"--weaken", "run-unsandboxed", "make"}, facts)));
    facts.knows_wrappers = true;
    CHECK(std::holds_alternative<Text>(Run({"make"}, facts)));
  }

  TEST_CASE("verbs that need no policy answer at once") {
    CHECK(absl::StartsWith(MustText({"--version"}).out, "agent-exec "));
    CHECK(absl::StrContains(MustText({"--help"}).out, "--deny-read"));
    std::string schema = MustText({"--print-schema"}).out;
    CHECK(ParseJson(absl::StripTrailingAsciiWhitespace(schema)).has_value());
    for (const char* verb : {"--version", "--help", "--print-schema"}) {
      CHECK_EQ(MustText({verb}).exit_status, 0);
    }
  }

  TEST_CASE("the merged policy is shown with origins, and without a command") {
    Text text = MustText({"--deny-read", "x", "--show-policy"});
    CHECK_EQ(text.exit_status, 0);
    CHECK(absl::StrContains(text.out, "\"x\",  # --deny-read\n"));
  }

  TEST_CASE("a dry run prints and starts nothing") {
    for (const char* form : {"--print", "--print=json", "--print=script"}) {
      Text text = MustText({form, "make"});
      CHECK_EQ(text.exit_status, 0);
      CHECK(absl::StrContains(text.out, "/usr/bin/bwrap"));
      CHECK_EQ(text.err, "");
    }
  }

  TEST_CASE("a refusal is 125 with its place, in the form that was asked for") {
    Text text = MustText({"--mode", "nonsense", "make"});
    CHECK_EQ(text.exit_status, 125);
    CHECK_EQ(text.out, "");
    CHECK(absl::StartsWith(text.err, "agent-exec: "));
    CHECK(absl::StrContains(text.err, "(--mode)"));
    Text json = MustText({"--bogus", "--error-format", "json", "make"});
    std::optional<Json> parsed = ParseJson(absl::StripTrailingAsciiWhitespace(json.err));
    REQUIRE(parsed.has_value());
    CHECK_EQ(parsed->Find("status")->text, "125");
    CHECK(absl::StrContains(parsed->Find("error")->text, "--bogus"));
  }

  TEST_CASE("the error format of a policy file holds for what goes wrong after it was read") {
    const char* policy = "/w/p.toml = version = 1\\nerror-format = \"json\"\\n uid=1000\n";
    Text text = MustText({"--policy", "p.toml", "nothing-of-that-name"}, DebianUser(), policy);
    CHECK(ParseJson(absl::StripTrailingAsciiWhitespace(text.err)).has_value());
    CHECK(absl::StrContains(text.err, "\"status\":127"));
  }

  TEST_CASE("a command that is not there is 127, one that cannot be executed 126") {
    CHECK_EQ(MustText({"nothing-of-that-name"}).exit_status, 127);
    CHECK_EQ(MustText({"/usr/bin/notes"}).exit_status, 126);
    // A policy file that is not there is no missing command.
    CHECK_EQ(MustText({"--policy", "none.toml", "make"}).exit_status, 125);
  }

  TEST_CASE("a host that cannot enforce the policy refuses with the remedy") {
    Text text = MustText({"make"}, WithoutBubblewrap());
    CHECK_EQ(text.exit_status, 125);
    CHECK_EQ(text.err,
             "agent-exec: no backend can enforce this policy: native: this kernel has no "
             "open_tree, move_mount and fsopen, or refuses them; bwrap: not installed\n"
             "  hint: native: Linux 5.2 and newer have them; bwrap: apt-get install bubblewrap\n");
  }

  TEST_CASE("danger-full-access says that nothing is confined, unless it is to be quiet") {
    Launch launch = MustLaunch({"--mode", "danger-full-access", "make"}, WithoutBubblewrap());
    CHECK_EQ(launch.err, "agent-exec: nothing is confined (--mode)\n");
    CHECK_EQ(std::get<Exec>(launch.rendered.script.steps.back()).path, "/usr/bin/make");
    CHECK_FALSE(absl::StrContains(Env(launch), "hunter2"));
    CHECK_EQ(MustLaunch({"--mode", "danger-full-access", "--quiet", "make"}).err, "");
    Launch json = MustLaunch({"--mode=danger-full-access", "--error-format=json", "make"});
    CHECK_EQ(
        json.err,
        "{\"notice\":\"unconfined\",\"message\":\"nothing is confined\",\"place\":\"--mode\"}\n");
  }

  TEST_CASE("running without a sandbox needs the weakening by name, and warns") {
    CHECK_EQ(MustText({"--backend", "none", "make"}).exit_status, 125);
    Launch launch = MustLaunch({"--backend=none", "--weaken", "run-unsandboxed", "make"});
    CHECK_EQ(launch.err,
             "agent-exec: warning: nothing is confined, although the policy asks for it "
             "(--weaken)\n");
    // As in danger-full-access: nothing in the environment speaks of a sandbox.
    CHECK(absl::StrContains(Env(launch), "AGENT_EXEC_NETWORK=host"));
    CHECK_FALSE(absl::StrContains(Env(launch), "/run/agent-exec"));
    CHECK_FALSE(launch.rendered.gaps.empty());
    // Accepted, but not needed here.
    CHECK_EQ(MustLaunch({"--weaken", "run-unsandboxed", "make"}).err, "");
  }

  TEST_CASE("a policy for other platforms refuses, or runs unsandboxed where that was accepted") {
    const char* policy =
        "/w/p.toml = version = 1\\n[platforms]\\nenabled = [\"macos\"]\\n uid=1000\n";
    Text text = MustText({"--policy", "p.toml", "make"}, DebianUser(), policy);
    CHECK_EQ(text.exit_status, 125);
    CHECK(absl::StrContains(text.err, "this policy is not enabled on 'linux' (p.toml:3:"));
    Launch launch = MustLaunch({"--policy", "p.toml", "--weaken", "run-unsandboxed", "make"},
                               DebianUser(), policy);
    CHECK(absl::StrContains(launch.err, "nothing is confined"));
    CHECK_EQ(std::get<Exec>(launch.rendered.script.steps.back()).path, "/usr/bin/make");
  }

  TEST_CASE("variables of an environment file are set, and what was typed is to be wiped") {
    Launch launch = MustLaunch({"--env-file", "vars", "--env", "TYPED=secret", "make"});
    CHECK(absl::StrContains(Env(launch), "FROM_FILE=1"));
    CHECK(absl::StrContains(Env(launch), "TYPED=secret"));
    CHECK_EQ(absl::StrJoin(launch.wipe, " "), "TYPED=secret");
  }

  TEST_CASE("a report goes where it was asked for, and does not know values of env files") {
    Launch launch = MustLaunch({"--report", "fd:5", "--env-file", "vars", "make"});
    CHECK_EQ(launch.report_target, "fd:5");
    std::string line = launch.report_line;
    CHECK(absl::EndsWith(line, "}\n"));
    Launch other = MustLaunch({"--report", "fd:5", "--env-file", "vars", "make"}, DebianUser(),
                              "/w/vars = FROM_FILE=2\\n uid=1000\n");
    CHECK_EQ(other.report_line, line);
    CHECK_NE(MustLaunch({"--report", "fd:5", "--deny-read", "x", "make"}).report_line, line);
  }

  TEST_CASE("--verbose names the backend and its limits") {
    std::string err = MustLaunch({"--verbose", "make"}).err;
    CHECK(absl::StrContains(err, "agent-exec: backend bwrap, in-place, workspace '/w'"));
    CHECK(absl::StrContains(err, "agent-exec: limit: a command that dies by signal N"));
  }

  TEST_CASE("places of the rules come along for messages after the start") {
    Launch launch = MustLaunch({"--deny-write", "made", "make"});
    CHECK(std::find(launch.places.begin(), launch.places.end(), "--deny-write") !=
          launch.places.end());
  }
}

}  // namespace
}  // namespace agent_exec
