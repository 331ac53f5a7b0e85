// What a launched command can see and change: the real kernel, by each backend.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernel/launches.h"
#include "support/doctest.h"
#include "support/subprocess.h"

namespace agent_exec {
namespace {

TEST_SUITE_BEGIN("kernel/confinement");

TEST_CASE("temporary files are private and usable") {
  TempDir w;
  std::string host_file = absl::StrCat("/tmp/agent-exec-host-", getpid());
  WriteTestFile(host_file, "x");
  std::string mine = absl::StrCat("/tmp/agent-exec-mine-", getpid());
  Finished run = Shell(
      w.path(),
      absl::StrCat(
          "test ! -e ", host_file, " && echo x > ", mine,
          " && mktemp >/dev/null && echo x > /var/tmp/x && echo x > /dev/shm/x && echo fine"));
  unlink(host_file.c_str());
  CHECK(run.out == "fine\n");
  CHECK(!Exists(mine));
}

TEST_CASE("the home is private, writable and forgotten") {
  TempDir w;
  WriteTestFile(Home() + "/.secret", "x");
  Finished run = Shell(w.path(), "cd && test ! -e .secret && echo x > .cache && echo fine");
  CHECK(run.out == "fine\n");
  CHECK(!Exists(Home() + "/.cache"));
  unlink((Home() + "/.secret").c_str());
}

TEST_CASE("the workspace is writable, and nothing else of the host is") {
  TempDir w;
  Finished run = Shell(w.path(),
                       "echo x > made; for d in / /etc /usr /usr/bin /proc/sys/kernel /sys/kernel "
                       "/run /dev; do touch $d/agent-exec-test 2>/dev/null && echo $d; done");
  CHECK(run.out == "");
  CHECK(ReadTestFile(w / "made") == "x\n");
  Finished read_only = Shell(w.path(), "echo x > more", {"--mode", "read-only"});
  CHECK(read_only.exit_status != 0);
  CHECK(!Exists(w / "more"));
}

TEST_CASE("kernel settings cannot be written, by root neither") {
  TempDir w;
  Finished run = Shell(w.path(),
                       "for f in sys/kernel/core_pattern sys/kernel/printk sys/vm/drop_caches "
                       "sysrq-trigger sys/fs/file-max; do "
                       "if (: >> /proc/$f) 2>/dev/null; then echo $f; fi; done");
  CHECK(run.out == "");
}

TEST_CASE("no capability is left in any set, no privilege can be gained, the filter is on") {
  TempDir w;
  Finished run = Shell(w.path(), "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status");
  CHECK(run.out ==
        "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
        "CapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n");
}

TEST_CASE("a denied path gives an error, a protected one cannot be changed, moved or replaced") {
  TempDir w;
  WriteTestFile(w / ".env", "TOKEN=1");
  mkdir((w / "closed").c_str(), 0755);
  WriteTestFile(w / "closed/file", "x");
  mkdir((w / ".git").c_str(), 0755);
  WriteTestFile(w / ".git/config", "[core]\n");
  Finished run = Shell(w.path(),
                       "cat .env closed/file; ls closed; chmod 777 .env closed; echo x >> "
                       ".git/config; mkdir .git/hooks; "
                       "mv .git g; rm -rf .git; mv .env e; rm -f .env; exit 3",
                       {"--deny-read", ".env", "--deny-read", "closed"});
  CHECK(run.Ending() == "exit 3");
  CHECK(run.out == "");
  CHECK(ReadTestFile(w / ".git/config") == "[core]\n");
  CHECK(ReadTestFile(w / ".env") == "TOKEN=1");
  CHECK(Exists(w / "closed/file"));
}

TEST_CASE("missing protected names cannot be made, and a run leaves nothing and no time stamp") {
  TempDir w;
  const timespec times[2] = {{1234567890, 0}, {1234567890, 0}};
  REQUIRE(utimensat(AT_FDCWD, w.path().c_str(), times, 0) == 0);
  Finished run = Shell(w.path(),
                       "mkdir .git 2>/dev/null; echo x > .git/config; echo x > .npmrc; echo x > "
                       ".agent-exec.toml; exit 4",
                       {"--deny-write", ".npmrc"});
  CHECK(run.Ending() == "exit 4");
  CHECK(Eventually([&] { return NamesIn(w.path()).empty(); }));
  struct stat st;
  REQUIRE(stat(w.path().c_str(), &st) == 0);
  CHECK(st.st_mtime == 1234567890);
}

TEST_CASE("a killed run leaves nothing beyond the next one, and two at once both hold") {
  TempDir w;
  Process first(ShellSpec(w.path(), "touch up; sleep 60"));
  REQUIRE(Eventually([&] { return Exists(w / "up"); }));
  Finished second = Shell(w.path(), "mkdir .git/hooks 2>/dev/null || echo held");
  CHECK(second.out == "held\n");
  usleep(50000);
  // The second run's end must not have taken the first one's protection.
  CHECK(Exists(w / ".git"));
  first.Signal(SIGKILL);
  first.Wait();
  // Nobody is left to do it where the launcher itself was the one: then the next run does.
  if (TestBackend() == "native") Shell(w.path(), "true");
  CHECK(Eventually([&] { return NamesIn(w.path()) == std::vector<std::string>{"up"}; }));
}

TEST_CASE(
    "a run that starts while another one holds its placeholders keeps them when that one ends") {
  TempDir w;
  Process first(ShellSpec(w.path(), "touch one; while ! test -e stop; do sleep 0.02; done"));
  REQUIRE(Eventually([&] { return Exists(w / "one"); }));
  Process second(ShellSpec(w.path(),
                           "touch two; while ! test -e go; do sleep 0.02; done; mkdir -p "
                           ".git/hooks 2>/dev/null || echo held"));
  REQUIRE(Eventually([&] { return Exists(w / "two"); }));
  WriteTestFile(w / "stop", "");
  first.Wait();
  usleep(100000);
  WriteTestFile(w / "go", "");
  CHECK(second.Wait().out == "held\n");
  CHECK(Eventually([&] { return !Exists(w / ".git"); }));
}

TEST_CASE("workspaces of any name work") {
  TempDir dir;
  for (std::string name :
       {"with space", "new\nline", "qu'o\"te", "$(x)", "-dash", "\xff\xfe", "*?[", "back\\slash"}) {
    CAPTURE(name);
    std::string w = dir / name;
    REQUIRE(mkdir(w.c_str(), 0755) == 0);
    Finished run = Shell(w, "pwd; echo x > made; mkdir .git/x 2>/dev/null || echo held");
    CHECK(run.out == w + "\nheld\n");
    CHECK(ReadTestFile(w + "/made") == "x\n");
  }
}

TEST_CASE("the command starts where the caller stands, or where it is told to") {
  TempDir w;
  mkdir((w / "sub").c_str(), 0755);
  REQUIRE(symlink("sub", (w / "link").c_str()) == 0);
  CHECK(Shell(w / "sub", "pwd -P", {"--workspace", w.path()}).out == (w / "sub") + "\n");
  CHECK(Shell(w / "link", "pwd -P; echo x > made").out == (w / "sub") + "\n");
  CHECK(ReadTestFile(w / "sub/made") == "x\n");
  CHECK(Shell(w.path(), "pwd", {"--chdir", "sub"}).out == (w / "sub") + "\n");
  CHECK(Shell("/usr", "pwd; test -w . || echo closed", {"--workspace", w.path()}).out ==
        "/usr\nclosed\n");
}

TEST_CASE("a working directory that is deleted or hidden is refused with the hint") {
  TempDir w;
  mkdir((w / "gone").c_str(), 0755);
  ProcessSpec spec = ShellSpec(w / "gone", "echo ran", {"--workspace", w.path()});
  spec.prepare = [&] { rmdir((w / "gone").c_str()); };
  Finished deleted = RunProcess(spec);
  CHECK(deleted.Ending() == "exit 125");
  CHECK(absl::StrContains(deleted.err, "--chdir"));
  TempDir other;
  Finished hidden = Shell(other.path(), "echo ran", {"--workspace", w.path()});
  CHECK(hidden.Ending() == "exit 125");
  CHECK(absl::StrContains(hidden.err, "--chdir"));
}

TEST_CASE("processes of the host are neither seen nor reached") {
  TempDir w;
  Process victim(ShellSpec("/", "sleep 60"));
  Finished run = Shell(
      w.path(), absl::StrCat("kill -9 ", getpid(), " 2>/dev/null; ls /proc | grep -c '^[0-9]'"));
  CHECK(atoi(run.out.c_str()) <= 6);
}

TEST_CASE("there is no network but a working loopback") {
  TempDir w;
  Finished run = Shell(
      w.path(), "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; cat /proc/net/route | wc -l");
  CHECK(absl::StartsWith(run.out, "lo\n"));
  CHECK(Shell(w.path(), "readlink /proc/self/ns/net", {"--network", "host"}).out == [] {
    char text[64];
    ssize_t size = readlink("/proc/self/ns/net", text, sizeof(text));
    return std::string(text, size > 0 ? static_cast<size_t>(size) : 0) + "\n";
  }());
}

TEST_CASE("danger-full-access confines nothing, says so, and still cleans") {
  TempDir w;
  ProcessSpec spec = ShellSpec(w.path(), "env; ls /proc/self/fd | tr '\\n' ' '; exit 5",
                               {"--mode", "danger-full-access"});
  spec.prepare = [] { dup2(0, 9); };
  Finished run = RunProcess(spec);
  CHECK(run.Ending() == "exit 5");
  CHECK(run.err != "");
  CHECK(!absl::StrContains(run.out, "hunter2"));
  CHECK(absl::StrContains(run.out, "0 1 2 3 "));
  CHECK(!absl::StrContains(run.out, " 9 "));
  CHECK(Shell(w.path(), "true", {"--mode", "danger-full-access", "--quiet"}).err == "");
}

TEST_CASE("the report is there when the command starts, and names the backend") {
  TempDir w;
  TempDir reports;
  Finished run = Shell(w.path(), "true", {"--report", reports / "r"});
  CHECK(run.Ending() == "exit 0");
  CHECK(absl::StrContains(ReadTestFile(reports / "r"),
                          absl::StrCat("\"backend\":\"", TestBackend(), "\"")));
  CHECK(absl::EndsWith(ReadTestFile(reports / "r"), "\n"));
  Finished refused = Shell(w.path(), "echo ran", {"--report", reports / "none/r"});
  CHECK(refused.Ending() == "exit 125");
  CHECK(refused.out == "");
}

TEST_CASE("umask, niceness, limits and ignored signals are the caller's") {
  TempDir w;
  ProcessSpec spec = ShellSpec(w.path(), "umask; nice; ulimit -c; grep SigIgn /proc/self/status");
  spec.prepare = [] {
    umask(0027);
    (void)!nice(3);
    signal(SIGUSR2, SIG_IGN);
  };
  Finished run = RunProcess(spec);
  CHECK(absl::StartsWith(run.out, "0027\n3\n"));
  CHECK(absl::StrContains(run.out, "SigIgn:\t0000000000000800\n"));
}

TEST_CASE("a workspace below the home works, and shows no more of it") {
  mkdir((Home() + "/project").c_str(), 0755);
  WriteTestFile(Home() + "/.netrc", "x");
  Finished run = Shell(Home() + "/project", "echo x > made; test -e ../.netrc && echo seen; pwd");
  CHECK(run.out == Home() + "/project\n");
  CHECK(ReadTestFile(Home() + "/project/made") == "x\n");
  RemoveTree(Home() + "/project");
  unlink((Home() + "/.netrc").c_str());
}

TEST_SUITE_END();

}  // namespace
}  // namespace agent_exec
