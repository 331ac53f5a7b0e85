#include "verbs/print.h"

#include <string>

#include "absl/strings/match.h"
#include "support/doctest.h"
#include "support/facts.h"
#include "support/json.h"
#include "support/plans.h"
#include "support/status.h"

namespace agent_exec {
namespace {

using namespace testing;

std::string Print(PrintForm form, const Plan& plan, const char* backend_name = "bwrap") {
  const Backend& backend = *FindBackend(backend_name);
  REQUIRE_OK_AND_ASSIGN(Rendered rendered, backend.render(plan, DebianUser()));
  return FormatPrint(form, plan, backend, rendered);
}

std::string Shell(const Plan& plan, const char* backend_name = "bwrap") {
  return Print(PrintForm::kArgv, plan, backend_name);
}

// The text without the line that holds the filter, which has golden files of its own.
std::string WithoutFilter(std::string text) {
  size_t begin = text.find("  4< <(base64");
  if (begin == std::string::npos) return text;
  return text.erase(begin, text.find('\n', begin) + 1 - begin);
}

TEST_SUITE("verbs/print") {
  TEST_CASE("argv is a command for bash in which an option and its values share a line") {
    CHECK_EQ(WithoutFilter(Shell(SmallPlan())), R"(# agent-exec 0.1.0, backend bwrap, for bash.
# The launcher also closes the descriptors from 3 up that the shell leaves open.
# Every local user can read this command line in /proc; the launcher passes it in memory.
env -i \
  AGENT_EXEC=0.1.0 \
  AGENT_EXEC_BACKEND=bwrap \
  HOME="$HOME" \
  PATH="$PATH" \
  PWD=/w \
  /usr/bin/bwrap \
  --unshare-user \
  --unshare-pid \
  --unshare-ipc \
  --unshare-uts \
  --unshare-cgroup-try \
  --unshare-net \
  --die-with-parent \
  --cap-drop ALL \
  --ro-bind / / \
  --dev /dev \
  --proc /proc \
  --ro-bind /proc/sys /proc/sys \
  --perms 755 --tmpfs /run \
  --perms 1777 --size 1048576 --tmpfs /tmp \
  --bind /w /w \
  --perms 1777 --tmpfs /dev/shm \
  --perms 000 --ro-bind-data 5 /w/.env \
  --perms 000 --tmpfs /w/keys \
  --remount-ro /dev \
  --remount-ro /run \
  --remount-ro /w/keys \
  --chdir /w \
  --seccomp 4 \
  -- make -j2 \
  5< /dev/null
)");
  }

  TEST_CASE("the filter comes along as a redirection") {
    CHECK(absl::StrContains(Shell(SmallPlan()), "  4< <(base64 -d <<< 'IAAAAAQAAAA"));
  }

  TEST_CASE("a data file comes along as text") {
    Plan plan = SmallPlan();
    plan.blobs = {"[user]\n\tname = O'Neil\n"};
    plan.mounts.push_back(Special(MountKind::kData, "/home/u/.gitconfig"));
    plan.mounts.back().blob = 0;
    CHECK(absl::StrContains(Shell(plan), "  6< <(printf %s '[user]\n\tname = O'\\''Neil\n') \\\n"));
  }

  TEST_CASE("placeholders are made before, and a comment says that they stay") {
    Plan plan = SmallPlan();
    plan.placeholders = {{"/w/a b", Node::kDirectory, true, "/w", 0},
                         {"/w/a b/.npmrc", Node::kFile, false, "/w", 0}};
    const std::string text = Shell(plan);
    CHECK(absl::StrContains(text, "# The empty placeholders made here stay until"));
    CHECK(absl::StrContains(text,
                            "\ntest -e '/w/a b' || { mkdir -m 755 '/w/a b' && touch -d "
                            "@1000000000 '/w/a b'; }\n"
                            "test -e '/w/a b/.npmrc' || { : > '/w/a b/.npmrc' && chmod 444 '/w/a "
                            "b/.npmrc' && touch -d @1000000000 '/w/a b' '/w/a b/.npmrc'; }\n"
                            "env -i"));
  }

  TEST_CASE("limits hold for the command alone") {
    Plan plan = SmallPlan();
    plan.file_size_bytes = 1 << 20;
    plan.open_files = 64;
    const std::string text = Shell(plan);
    CHECK(absl::StrContains(text, "\n(\nulimit -f 1024\nulimit -n 64\nenv -i"));
    CHECK(absl::EndsWith(text, "\n)\n"));
  }

  TEST_CASE("without confinement it is env, the directory and the command") {
    Plan plan = SmallPlan();
    plan.confined = false;
    CHECK_EQ(Shell(plan, "none"), R"(# agent-exec 0.1.0, backend none, for bash.
# The launcher also closes the descriptors from 3 up that the shell leaves open.
(
cd /w
env -i \
  AGENT_EXEC=0.1.0 \
  AGENT_EXEC_BACKEND=none \
  HOME="$HOME" \
  PATH="$PATH" \
  PWD=/w \
  make -j2
)
)");
  }

  TEST_CASE("a command that env would take for an assignment goes through a shell") {
    Plan plan = SmallPlan();
    plan.command.argv = {"a=b", "c"};
    CHECK(absl::StrContains(Shell(plan, "none"), "\n  sh -c 'exec \"$0\" \"$@\"' \\\n  'a=b' c\n"));
  }

  TEST_CASE("a variable whose name no shell can say is written out") {
    Plan plan = SmallPlan();
    plan.env = {{"a.b", "it's", true, 0}};
    CHECK(absl::StrContains(Shell(plan), "\n  'a.b=it'\\''s' \\\n"));
  }

  TEST_CASE("json is one object that holds the steps, the mounts and the findings") {
    Plan plan = SmallPlan();
    plan.notices = {{"hard-link", "'/w/.env' has 2 names", 2}};
    const std::string text = Print(PrintForm::kJson, plan);
    std::optional<Json> json = ParseJson(text);
    REQUIRE(json.has_value());
    CHECK_EQ(json->Find("backend")->text, "bwrap");
    CHECK_EQ(json->Find("process-model")->text, "in-place");
    CHECK_EQ(json->Find("network")->text, "none");
    CHECK_EQ(json->Find("command")->Find("cwd")->text, "/w");
    CHECK_EQ(json->Find("argv")->items[0].text, "/usr/bin/bwrap");
    CHECK_EQ(json->Find("mounts")->items.size(), plan.mounts.size());
    const Json& mask = json->Find("mounts")->items[7];
    CHECK_EQ(mask.Find("kind")->text, "mask");
    CHECK_EQ(mask.Find("node")->text, "file");
    CHECK_EQ(mask.Find("origin")->text, "policy.toml:12:3");
    CHECK_EQ(json->Find("mounts")->items[4].Find("mode")->text, "1777");
    const Json& exec = json->Find("steps")->items.back();
    CHECK_EQ(exec.Find("do")->text, "exec");
    CHECK_EQ(exec.Find("argv")->items[1].text, "--args");
    CHECK_EQ(json->Find("notices")->items[0].Find("code")->text, "hard-link");
    CHECK_EQ(json->Find("environment")->items[1].Find("value")->text, "/home/u");
  }

  TEST_CASE("where the launcher makes the sandbox, argv is comments that a shell does not run") {
    CHECK_EQ(
        Shell(SmallPlan(), "native"),
        R"(# agent-exec 0.1.0, backend native: no other program makes the sandbox, so there is no command to run in its place.
# --print=script shows all that is done, --backend=bwrap --print=argv a command that does nearly the same.
# Inside is executed:
# env -i \
#   AGENT_EXEC=0.1.0 \
#   AGENT_EXEC_BACKEND=native \
#   HOME="$HOME" \
#   PATH="$PATH" \
#   PWD=/w \
#   make -j2
)");
    Plan plan = SmallPlan();
    plan.command.argv = {"sh", "-c", "echo a\nrm -rf /"};
    const std::string text = Shell(plan, "native");
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) CHECK_EQ(text[at], '#');
  }

  TEST_CASE("json has every step of a sandbox of our own") {
    Plan plan = SmallPlan();
    plan.held_links = {{"/w/.git", "data", 0}};
    std::optional<Json> json = ParseJson(Print(PrintForm::kJson, plan, "native"));
    REQUIRE(json.has_value());
    CHECK_EQ(json->Find("process-model")->text, "supervised");
    std::string names;
    for (const Json& step : json->Find("steps")->items) {
      const std::string& name = step.Find("do")->text;
      if (!absl::EndsWith(names, absl::StrCat(name, " "))) absl::StrAppend(&names, name, " ");
      if (name == "cover-tree") CHECK_EQ(step.Find("path")->text, "/proc/sys");
      if (name == "enter-namespaces") CHECK_EQ(step.Find("uid-map")->text, "1000 1000 1\n");
      if (name == "attach-mask") CHECK(absl::StartsWith(step.Find("target")->text, "/w/"));
    }
    for (const char* name : {"enter-namespaces ", "pin-tree ",
                             "enter-root ",       "open-store ",
                             "new-tmpfs ",        "attach ",
                             "make-mount-point ", "mount-devpts ",
                             "make-symlink ",     "mount-proc ",
                             "loopback-up ",      "cover-tree ",
                             "attach-mask ",      "close-store ",
                             "hold-link ",        "set-read-only ",
                             "change-dir ",       "drop-privileges ",
                             "fork-command ",     "close-others ",
                             "install-filter ",   "exec "}) {
      CAPTURE(name);
      CHECK(absl::StrContains(names, name));
    }
  }

  TEST_CASE("script is the exact list of steps") {
    CHECK(absl::StartsWith(Print(PrintForm::kScript, SmallPlan()), "pass-blob 3 bwrap-args of "));
  }
}

}  // namespace
}  // namespace agent_exec
