// HoldLink on the real kernel: a symbolic link that stays, also in what a wrapper binds.

#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "kernel/scripts.h"
#include "support/doctest.h"
#include "support/subprocess.h"

namespace agent_exec {
namespace {

TEST_SUITE_BEGIN("kernel/held_links");

// A directory "w" with a link "name" to its subdirectory "data".
struct Tree {
  TempDir dir;
  std::string link = dir / "name";
  Tree() {
    mkdir((dir / "data").c_str(), 0777);
    if (symlink("data", link.c_str()) != 0) FAIL("symlink");
    // For whoever the script runs as.
    chmod(std::string(Dirname(dir.path())).c_str(), 0711);
    chmod(dir.path().c_str(), 0777);
    chmod((dir / "data").c_str(), 0777);
  }
};

ProcessSpec As(uid_t uid, Script script) {
  ProcessSpec spec = ScriptSpec(std::move(script));
  spec.prepare = [uid] {
    if (uid == getuid()) return;
    if (setgroups(0, nullptr) != 0 || setgid(uid) != 0 || setuid(uid) != 0) _exit(99);
    // As after an exec: a process that changed its ids does not own its files in /proc.
    prctl(PR_SET_DUMPABLE, 1);
  };
  return spec;
}

std::vector<uid_t> Callers() {
  if (getuid() != 0) return {getuid()};
  return {0, 12345};
}

const char kTries[] =
    "rm name; mv name other; ln -sfn elsewhere name; rm -rf name; : > name/x && echo followed; "
    "readlink name; touch new && echo new";

TEST_CASE("a held link cannot be removed, renamed or replaced, and is followed as before") {
  for (uid_t uid : Callers()) {
    Tree tree;
    Script script = ShellScript(absl::StrCat("cd ", tree.dir.path(), "; ", kTries));
    InsertBeforeExec(&script, HoldLink{{tree.link, "data", 0}});
    Finished run = RunProcess(As(uid, script));
    INFO("uid ", uid, ": ", run.err);
    CHECK(run.out == "followed\ndata\nnew\n");
    CHECK(absl::StrContains(run.err, "Device or resource busy"));
  }
}

TEST_CASE("bubblewrap takes the hold over into its sandbox") {
  if (access("/usr/bin/bwrap", X_OK) != 0) {
    MESSAGE("SKIP: no bubblewrap here");
    return;
  }
  for (uid_t uid : Callers()) {
    Tree tree;
    const std::string dir = tree.dir.path();
    Script script;
    script.steps = {HoldLink{{tree.link, "data", 0}},
                    Exec{"/usr/bin/bwrap",
                         {"bwrap", "--unshare-user", "--unshare-pid", "--die-with-parent",
                          "--cap-drop", "ALL", "--ro-bind", "/", "/", "--bind", dir, dir, "--chdir",
                          dir, "--", "/bin/sh", "-c", kTries},
                         {"PATH=/usr/bin:/bin"}}};
    Finished run = RunProcess(As(uid, script));
    INFO("uid ", uid, ": ", run.err);
    CHECK(run.out == "followed\ndata\nnew\n");
  }
}

TEST_CASE("the hold ends with the process and is not seen on the host") {
  for (uid_t uid : Callers()) {
    Tree tree;
    Script script = ShellScript(absl::StrCat("grep -c ' ", tree.link,
                                             " ' /proc/self/mountinfo; "
                                             "grep -c ' ",
                                             tree.link, " ' /proc/$PPID/mountinfo"));
    InsertBeforeExec(&script, HoldLink{{tree.link, "data", 0}});
    CHECK(RunProcess(As(uid, script)).out == "1\n0\n");
    CHECK(unlink(tree.link.c_str()) == 0);
  }
}

TEST_CASE("a link that was changed since the policy was read refuses the start") {
  Tree tree;
  const std::string message = absl::StrCat("agent-exec: cannot hold link '", tree.link,
                                           "': it has been changed since the policy was read "
                                           "(p.toml:1:2)\n  hint: start again\n");
  RunOptions options;
  options.places = {"", "p.toml:1:2"};
  Script script = ShellScript("echo started");
  InsertBeforeExec(&script, HoldLink{{tree.link, "dat", 1}});
  Finished run = RunProcess(ScriptSpec(script, options));
  CHECK(run.out == "");
  CHECK(run.err == message);
  REQUIRE(unlink(tree.link.c_str()) == 0);
  REQUIRE(mkdir(tree.link.c_str(), 0755) == 0);
  std::get<HoldLink>(script.steps[0]).link.text = "data";
  CHECK(RunProcess(ScriptSpec(script, options)).err == message);
}

TEST_SUITE_END();

}  // namespace
}  // namespace agent_exec
