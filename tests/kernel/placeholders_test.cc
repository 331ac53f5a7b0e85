// Placeholders, the process that removes them, and held links on the real kernel: nothing is left
// behind, whatever happens.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "host/placeholder_mark.h"
#include "kernel/old_kernel.h"
#include "kernel/scripts.h"
#include "support/doctest.h"
#include "support/subprocess.h"

namespace agent_exec {
namespace {

constexpr int64_t kOldTime = 1234567890;

void SetTime(const std::string& path, int64_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0);
}

int64_t TimeOf(const std::string& path) {
  struct stat st;
  return lstat(path.c_str(), &st) == 0 ? st.st_mtime : -1;
}

bool IsEmptyDirectory(const std::string& path) { return NamesIn(path).empty(); }

// This test's own sweeper, which has become its child by PR_SET_CHILD_SUBREAPER: other launchers
// may run on this machine. 0 when there is none.
pid_t FindSweeper() {
  for (const std::string& name : NamesIn("/proc")) {
    if (name[0] < '0' || name[0] > '9') continue;
    std::string status = ReadTestFile("/proc/" + name + "/status");
    if (status.find("Name:\tagent-exec-swee\n") == std::string::npos) continue;
    if (status.find(absl::StrCat("PPid:\t", getpid(), "\n")) == std::string::npos) continue;
    return atoi(name.c_str());
  }
  return 0;
}

TEST_SUITE_BEGIN("kernel/placeholders");

TEST_CASE(
    "placeholders stand while the command runs, cannot be replaced, and are gone afterwards") {
  TempDir root;
  SetTime(root.path(), kOldTime);
  Script script = SandboxScript(root.path(), {{".git"}, {".npmrc", Node::kFile}},
                                "stat -c '%F %a %Y' .git .npmrc; echo x > .npmrc; mkdir "
                                ".git/hooks; rmdir .git; mv .npmrc y; ls -A");
  Finished run = RunProcess(ScriptSpec(script));
  CHECK(run.Ending() == "exit 0");
  CHECK(run.out == "directory 555 1000000000\nregular empty file 444 1000000000\n.git\n.npmrc\n");
  CHECK(Eventually([&] { return IsEmptyDirectory(root.path()); }));
  CHECK(Eventually([&] { return TimeOf(root.path()) == kOldTime; }));
}

TEST_CASE("the time stamp of the directory above is the old one while the command runs too") {
  TempDir root;
  SetTime(root.path(), kOldTime);
  Finished run = RunProcess(
      ScriptSpec(SandboxScript(root.path(), {{".git"}, {".envrc", Node::kFile}}, "stat -c %Y .")));
  CHECK(run.out == "1234567890\n");
}

TEST_CASE("the umask of the caller neither changes a placeholder nor is changed") {
  TempDir root;
  ProcessSpec spec = ScriptSpec(SandboxScript(root.path(), {{".git"}}, "stat -c %a .git; umask"));
  spec.prepare = [] { umask(0077); };
  CHECK(RunProcess(spec).out == "555\n0077\n");
}

TEST_CASE("after SIGKILL of the launcher, or of its whole process group, nothing is left") {
  for (bool group : {false, true}) {
    CAPTURE(group);
    TempDir root;
    ProcessSpec spec = ScriptSpec(SandboxScript(root.path(), {{".git"}}, "touch up; sleep 60"));
    spec.own_group = true;
    Process process(spec);
    REQUIRE(Eventually([&] { return Exists(root / "up"); }));
    kill(group ? -process.pid() : process.pid(), SIGKILL);
    CHECK(process.Wait().Ending() == "signal 9");
    CHECK(Eventually([&] { return NamesIn(root.path()) == std::vector<std::string>{"up"}; }));
  }
}

TEST_CASE("of two runs at once, both start, and the last one removes") {
  for (int round = 0; round < 50; ++round) {
    CAPTURE(round);
    TempDir root;
    Script script = SandboxScript(
        root.path(), {{"a", Node::kDirectory, true}, {"a/.git"}, {".npmrc", Node::kFile}},
        "test -d a/.git && test -f .npmrc && ! mkdir a/.git/hooks 2>/dev/null");
    std::vector<std::unique_ptr<Process>> both;
    for (int i = 0; i < 2; ++i) both.push_back(std::make_unique<Process>(ScriptSpec(script)));
    for (auto& process : both) {
      Finished run = process->Wait();
      CHECK(run.Ending() == "exit 0");
      CHECK(run.err == "");
    }
    REQUIRE(Eventually([&] { return IsEmptyDirectory(root.path()); }));
  }
}

TEST_CASE("a run that ends leaves what another one still needs") {
  TempDir root;
  Process longer(ScriptSpec(SandboxScript(
      root.path(), {{".git"}},
      "touch up; while ! test -e stop; do sleep 0.02; done; mkdir .git/x; ls -A .git")));
  REQUIRE(Eventually([&] { return Exists(root / "up"); }));
  CHECK(RunProcess(ScriptSpec(SandboxScript(root.path(), {{".git"}}, "true"))).Ending() ==
        "exit 0");
  REQUIRE(Eventually([] {
    usleep(20000);
    return true;
  }));
  CHECK(Exists(root / ".git"));
  WriteTestFile(root / "stop", "");
  Finished run = longer.Wait();
  CHECK(run.Ending() == "exit 0");
  CHECK(run.out == "");
  CHECK(Eventually([&] { return !Exists(root / ".git"); }));
}

TEST_CASE("a placeholder that a killed run left is joined and removed") {
  TempDir root;
  REQUIRE(mkdir((root / ".git").c_str(), kPlaceholderDirectoryMode) == 0);
  REQUIRE(chmod((root / ".git").c_str(), kPlaceholderDirectoryMode) == 0);
  SetTime(root / ".git", kPlaceholderTime);
  CHECK(RunProcess(ScriptSpec(SandboxScript(root.path(), {{".git"}}, "true"))).Ending() ==
        "exit 0");
  CHECK(Eventually([&] { return IsEmptyDirectory(root.path()); }));
}

TEST_CASE("anything else that has come to stand there refuses the start and is left alone") {
  struct Case {
    const char* what;
    std::function<void(const std::string&)> make;
    Node node;
  };
  const Case cases[] = {
      {"a directory with content",
       [](const std::string& p) {
         mkdir(p.c_str(), 0555);
         chmod(p.c_str(), 0755);
         WriteTestFile(p + "/f", "x");
         chmod(p.c_str(), 0555);
         SetTime(p, kPlaceholderTime);
       },
       Node::kDirectory},
      {"an empty directory without our time", [](const std::string& p) { mkdir(p.c_str(), 0555); },
       Node::kDirectory},
      {"an empty directory of another mode",
       [](const std::string& p) {
         mkdir(p.c_str(), 0755);
         SetTime(p, kPlaceholderTime);
       },
       Node::kDirectory},
      {"a symlink to one of ours",
       [](const std::string& p) {
         mkdir((p + "x").c_str(), 0555);
         SetTime(p + "x", kPlaceholderTime);
         (void)!symlink((p + "x").c_str(), p.c_str());
       },
       Node::kDirectory},
      {"a file with content",
       [](const std::string& p) {
         WriteTestFile(p, "secret", 0444);
         SetTime(p, kPlaceholderTime);
       },
       Node::kFile},
      {"a FIFO",
       [](const std::string& p) {
         mkfifo(p.c_str(), 0444);
         SetTime(p, kPlaceholderTime);
       },
       Node::kFile},
      {"a directory for a file",
       [](const std::string& p) {
         mkdir(p.c_str(), 0555);
         SetTime(p, kPlaceholderTime);
       },
       Node::kFile},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    TempDir root;
    std::string path = root / "name";
    c.make(path);
    std::vector<std::string> before = NamesIn(root.path());
    // The first one is made before the second refuses, and must be gone at once.
    Finished run = RunProcess(
        ScriptSpec(SandboxScript(root.path(), {{".git"}, {"name", c.node}}, "echo ran")));
    CHECK(run.Ending() == "exit 125");
    CHECK(run.out == "");
    CHECK(
        run.err ==
        absl::StrCat(
            "agent-exec: cannot make placeholder '", path,
            "': something has come to be there since the policy was read\n  hint: start again\n"));
    CHECK(NamesIn(root.path()) == before);
  }
}

TEST_CASE("missing parents are made, stay writable, and go when they are empty") {
  TempDir root;
  std::vector<Wanted> wanted = {
      {"a", Node::kDirectory, true}, {"a/b", Node::kDirectory, true}, {"a/b/.git"}};
  Finished run = RunProcess(ScriptSpec(SandboxScript(
      root.path(), wanted,
      "touch a/b/x && rm a/b/x && ! touch a/b/.git/x 2>/dev/null && stat -c %a a a/b a/b/.git")));
  CHECK(run.Ending() == "exit 0");
  CHECK(run.out == "755\n755\n555\n");
  // The command has used a/b, so it stays what it made of it.
  CHECK(Eventually([&] { return !Exists(root / "a/b/.git"); }));
  RemoveTree(root / "a");

  CHECK(RunProcess(ScriptSpec(SandboxScript(root.path(), wanted, "true"))).Ending() == "exit 0");
  CHECK(Eventually([&] { return IsEmptyDirectory(root.path()); }));

  CHECK(RunProcess(ScriptSpec(SandboxScript(root.path(), wanted, "echo kept > a/file"))).Ending() ==
        "exit 0");
  CHECK(Eventually([&] { return !Exists(root / "a/b"); }));
  CHECK(ReadTestFile(root / "a/file") == "kept\n");
}

TEST_CASE("a parent that has come into being meanwhile serves, and stays") {
  TempDir root;
  REQUIRE(mkdir((root / "a").c_str(), 0700) == 0);
  SetTime(root / "a", kOldTime);
  std::vector<Wanted> wanted = {{"a", Node::kDirectory, true}, {"a/.git"}};
  CHECK(RunProcess(ScriptSpec(SandboxScript(root.path(), wanted, "true"))).Ending() == "exit 0");
  CHECK(Eventually([&] { return !Exists(root / "a/.git"); }));
  CHECK(Eventually([&] { return TimeOf(root / "a") == kOldTime; }));
}

TEST_CASE("no placeholder is made through a symlink") {
  TempDir root;
  TempDir elsewhere;
  REQUIRE(symlink(elsewhere.path().c_str(), (root / "a").c_str()) == 0);
  Finished run = RunProcess(ScriptSpec(SandboxScript(root.path(), {{"a/.git"}}, "echo ran")));
  CHECK(run.Ending() == "exit 125");
  CHECK(run.err == absl::StrCat("agent-exec: cannot make placeholder '", root / "a/.git",
                                "': Too many levels of symbolic links\n"));
  CHECK(IsEmptyDirectory(elsewhere.path()));

  Finished through_root = RunProcess(ScriptSpec(SandboxScript(root / "a", {{".git"}}, "echo ran")));
  CHECK(through_root.Ending() == "exit 125");
  CHECK(IsEmptyDirectory(elsewhere.path()));
}

TEST_CASE("an error after placeholders were made leaves none, wherever it comes") {
  TempDir root;
  SetTime(root.path(), kOldTime);
  Script bad_dir = SandboxScript(root.path(), {{".git"}, {".npmrc", Node::kFile}}, "echo ran");
  bad_dir.steps.insert(bad_dir.steps.begin() + 2, ChangeDir{"/nonexistent"});
  Script late = SandboxScript(root.path(), {{".git"}}, "echo ran");
  InsertBeforeExec(&late, ChangeDir{"/nonexistent"});
  Script no_wrapper = SandboxScript(root.path(), {{".git"}}, "echo ran");
  std::get<Exec>(no_wrapper.steps.back()).path = "/nonexistent";
  for (const Script& script : {bad_dir, late, no_wrapper}) {
    Finished run = RunProcess(ScriptSpec(script));
    CHECK(run.Ending() == "exit 125");
    CHECK(run.err.find("'/nonexistent': No such file or directory\n") != std::string::npos);
    CHECK(IsEmptyDirectory(root.path()));
    CHECK(TimeOf(root.path()) == kOldTime);
  }
}

TEST_CASE("a wrapper that fails leaves no placeholder") {
  TempDir root;
  Script script = SandboxScript(root.path(), {{".git"}}, "echo ran");
  script.blobs[0].append("--no-such-option").push_back('\0');
  CHECK(RunProcess(ScriptSpec(script)).Ending() == "exit 1");
  CHECK(Eventually([&] { return IsEmptyDirectory(root.path()); }));
}

TEST_CASE("the sweeper has a session and a name of its own and no descriptor of the caller's") {
  TempDir root;
  std::string memory = "agent-exec --env SECRET=hunter2 -- make";
  std::replace(memory.begin(), memory.end(), ' ', '\0');
  RunOptions options;
  options.argument_memory = memory.data();
  options.argument_bytes = memory.size() + 1;
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  Process process(ScriptSpec(
      SandboxScript(root.path(), {{".git"}}, "exec >&- 2>&-; touch up; sleep 60"), options));
  REQUIRE(Eventually([&] { return Exists(root / "up"); }));
  pid_t sweeper = 0;
  REQUIRE(Eventually([&] { return (sweeper = FindSweeper()) != 0; }));
  CHECK(getsid(sweeper) != getsid(process.pid()));
  CHECK(getpgid(sweeper) != getpgid(process.pid()));
  CHECK(ReadTestFile(absl::StrCat("/proc/", sweeper, "/cmdline")).find("make") ==
        std::string::npos);
  std::string status = ReadTestFile(absl::StrCat("/proc/", sweeper, "/status"));
  CHECK(status.find(absl::StrCat("PPid:\t", process.pid(), "\n")) == std::string::npos);
  if (geteuid() == 0) {
    int pipes = 0;
    for (const std::string& fd : NamesIn(absl::StrCat("/proc/", sweeper, "/fd"))) {
      char target[4096];
      ssize_t size =
          readlink(absl::StrCat("/proc/", sweeper, "/fd/", fd).c_str(), target, sizeof(target));
      std::string text(target, size > 0 ? static_cast<size_t>(size) : 0);
      bool expected = text == "/dev/null" || text == "anon_inode:[pidfd]" || text == root.path() ||
                      text == root / ".git" || text.compare(0, 5, "pidfd") == 0 ||
                      // Where bubblewrap says the number of its child.
                      (text.compare(0, 5, "pipe:") == 0 && ++pipes == 1);
      CHECK_MESSAGE(expected, fd << " is " << text);
    }
  }
  kill(sweeper, SIGTERM);
  kill(sweeper, SIGINT);
  usleep(5000);
  CHECK(kill(sweeper, 0) == 0);
  process.Signal(SIGKILL);
  process.Wait();
  CHECK(Eventually([&] { return waitpid(sweeper, nullptr, WNOHANG) == sweeper; }));
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  CHECK(!Exists(root / ".git"));
}

TEST_CASE("the command has no child or sibling that it did not make") {
  TempDir root;
  Finished run = RunProcess(ScriptSpec(
      SandboxScript(root.path(), {{".git"}},
                    "cd /proc; echo [0-9]*; ls -l /proc/self/fd | grep -c '[0-9] -> '")));
  // bubblewrap's init and the shell; the three streams and the one that ls reads.
  CHECK(run.out == "1 2\n4\n");
}

TEST_CASE("a held link is followed and cannot be removed, renamed or replaced") {
  TempDir root;
  mkdir((root / "real").c_str(), 0755);
  WriteTestFile(root / "real/file", "x\n");
  WriteTestFile(root / "other", "y\n");
  REQUIRE(symlink("real", (root / "link").c_str()) == 0);
  Script script =
      SandboxScript(root.path(), {{".git"}},
                    "cat link/file; rm -f link; mv link l; mv -T other link; ln -sfn other link; "
                    "readlink link; ls -A");
  script.steps.insert(script.steps.begin() + 2, HoldLink{{root / "link", "real", 0}});
  Finished run = RunProcess(ScriptSpec(script));
  CHECK(run.out == "x\nreal\n.git\nlink\nother\nreal\n");
  CHECK(Eventually([&] { return !Exists(root / ".git"); }));

  std::get<HoldLink>(script.steps[2]).link.text = "another";
  Finished changed = RunProcess(ScriptSpec(script));
  CHECK(changed.Ending() == "exit 125");
  CHECK(changed.err ==
        absl::StrCat("agent-exec: cannot hold link '", root / "link",
                     "': it has been changed since the policy was read\n  hint: start again\n"));
  CHECK(!Exists(root / ".git"));
}

TEST_CASE("all of it works without openat2, close_range and pidfd_open too") {
  for (int answer : {ENOSYS, EPERM}) {
    CAPTURE(answer);
    TempDir root;
    TempDir elsewhere;
    SetTime(root.path(), kOldTime);
    std::vector<Wanted> wanted = {
        {"a", Node::kDirectory, true}, {"a/.git"}, {".npmrc", Node::kFile}};
    auto spec = [&](const std::string& command) {
      ProcessSpec made = ScriptSpec(SandboxScript(root.path(), wanted, command));
      made.prepare = [answer] {
        for (int fd : {5, 7, 20}) dup2(0, fd);
        PretendOldKernel(answer);
      };
      return made;
    };
    Finished run = RunProcess(spec("ls -A; ls /proc/self/fd"));
    CHECK(run.err == "");
    CHECK(run.out == ".npmrc\na\n0\n1\n2\n3\n");
    CHECK(Eventually([&] { return IsEmptyDirectory(root.path()); }));
    CHECK(Eventually([&] { return TimeOf(root.path()) == kOldTime; }));

    Process killed(spec("touch up; sleep 60"));
    REQUIRE(Eventually([&] { return Exists(root / "up"); }));
    killed.Signal(SIGKILL);
    killed.Wait();
    CHECK(Eventually([&] { return NamesIn(root.path()) == std::vector<std::string>{"up"}; }));

    REQUIRE(symlink(elsewhere.path().c_str(), (root / "a").c_str()) == 0);
    wanted = {{"a/.git"}};
    CHECK(RunProcess(spec("echo ran")).Ending() == "exit 125");
    CHECK(IsEmptyDirectory(elsewhere.path()));
  }
}

TEST_CASE("a caller who may open few files gets a refusal or a run, and never a leftover") {
  TempDir root;
  int refused = 0;
  for (rlim_t limit_value = 3; limit_value < 24; ++limit_value) {
    CAPTURE(limit_value);
    ProcessSpec spec =
        ScriptSpec(SandboxScript(root.path(), {{".git"}, {".npmrc", Node::kFile}}, "true"));
    spec.prepare = [limit_value] {
      rlimit limit = {limit_value, limit_value};
      setrlimit(RLIMIT_NOFILE, &limit);
    };
    Finished run = RunProcess(spec);
    bool known = run.exit_status == 0 || run.exit_status == 1 || run.exit_status == 125;
    CHECK(known);
    if (run.exit_status == 125) {
      ++refused;
      CHECK(NamesIn(root.path()).empty());
      CHECK(absl::StartsWith(run.err, "agent-exec: cannot "));
    }
    REQUIRE(Eventually([&] { return IsEmptyDirectory(root.path()); }));
  }
  CHECK(refused > 3);
}

TEST_SUITE_END();

}  // namespace
}  // namespace agent_exec
