// The launcher as people start it: the real kernel, by each backend.

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

TEST_SUITE_BEGIN("kernel/launch");

TEST_CASE("the exit status is the command's own, whatever it is") {
  TempDir w;
  for (int status : {0, 1, 42, 124, 125, 126, 127, 255}) {
    Finished run = Shell(w.path(), absl::StrCat("exit ", status));
    CHECK(run.Ending() == absl::StrCat("exit ", status));
    CHECK(run.err == "");
  }
}

TEST_CASE("not found is 127, not executable 126, refused 125, and then nothing ran") {
  TempDir w;
  WriteTestFile(w / "plain", "#!/bin/sh\necho ran\n", 0644);
  WriteTestFile(w / "bad.toml", "mode = \"read-only\"\nno-such-key = 1\n", 0644);
  struct Case {
    std::vector<std::string> args;
    std::string ending;
    std::string message;
  };
  const Case cases[] = {
      {{"--", "no-such-command"}, "exit 127", "no-such-command"},
      {{"--", "./none"}, "exit 127", "none"},
      {{"--", "./plain"}, "exit 126", "plain"},
      {{"--", "/"}, "exit 126", "/"},
      {{"--policy", "bad.toml", "--", "./plain"}, "exit 125", "bad.toml:2:1"},
      {{"--policy", "missing.toml", "--", "true"}, "exit 125", "missing.toml"},
      {{"--no-such-option", "--", "true"}, "exit 125", "--no-such-option"},
      {{"--backend", "no-such-backend", "--", "true"}, "exit 125", "no-such-backend"},
      {{"--workspace", "missing", "--", "true"}, "exit 125", "missing"},
      {{"--workspace", "/", "--", "true"}, "exit 125", "/"},
      {{"--read", "missing", "--", "true"}, "exit 125", "missing"},
      {{}, "exit 125", ""},
  };
  for (const Case& c : cases) {
    Finished run = Launch(w.path(), c.args);
    CAPTURE(c.message);
    CHECK(run.Ending() == c.ending);
    CHECK(run.out == "");
    CHECK(absl::StartsWith(run.err, "agent-exec: "));
    CHECK(absl::StrContains(run.err, c.message));
  }
}

TEST_CASE("messages come as one line of JSON when asked") {
  TempDir w;
  Finished run = Launch(w.path(), {"--error-format", "json", "--read", "missing", "--", "true"});
  CHECK(run.Ending() == "exit 125");
  CHECK(absl::StartsWith(run.err, "{\"error\":\""));
  CHECK(absl::EndsWith(run.err, "\"status\":125}\n"));
}

TEST_CASE("a caller that gives no argument at all is answered, not crashed") {
  ProcessSpec spec;
  spec.body = [] {
    char* const nothing[] = {nullptr};
    execve(Launcher().c_str(), nothing, nothing);
  };
  CHECK(RunProcess(spec).Ending() == "exit 125");
}

TEST_CASE("standard streams and arguments pass as they are") {
  TempDir w;
  ProcessSpec spec = LaunchSpec(w.path(), {"--", "/bin/sh", "-c", "cat; printf '[%s]' \"$@\" >&2",
                                           "sh", "", "a b", "-x", "--", "\n"});
  spec.input = kHello;
  Finished run = RunProcess(spec);
  CHECK(run.out == kHello);
  CHECK(run.err == "[][a b][-x][--][\n]");
}

TEST_CASE("the process that the caller started becomes the wrapper") {
  TempDir w;
  Process process(ShellSpec(w.path(), "touch up; sleep 60", {"--backend", "bwrap"}));
  REQUIRE(Eventually([&] { return Exists(w / "up"); }));
  CHECK(ReadTestFile(absl::StrCat("/proc/", process.pid(), "/comm")) == "bwrap\n");
  process.Signal(SIGKILL);
}

TEST_CASE("everything inside ends with the launched process, even by SIGKILL") {
  TempDir w;
  Process process(ShellSpec(
      w.path(), "setsid sh -c 'touch up; while :; do touch tick; sleep 0.05; done' & sleep 60"));
  REQUIRE(Eventually([&] { return Exists(w / "tick"); }));
  process.Signal(SIGKILL);
  process.Wait();
  usleep(200000);
  unlink((w / "tick").c_str());
  usleep(200000);
  CHECK(!Exists(w / "tick"));
}

TEST_CASE("inherited descriptors are closed, and a kept one passes") {
  TempDir w;
  WriteTestFile(w / "data", kHello);
  ProcessSpec spec = ShellSpec(w.path(), "ls /proc/self/fd; cat <&7");
  spec.prepare = [&] {
    int fd = open((w / "data").c_str(), O_RDONLY);
    for (int number : {7, 8, 100}) dup2(fd, number);
  };
  Finished closed = RunProcess(spec);
  CHECK(closed.out == "0\n1\n2\n3\n");  // the last is the one that ls reads
  CHECK(closed.exit_status != 0);
  spec.argv.insert(spec.argv.begin() + 1, {"--keep-fd", "7"});
  CHECK(RunProcess(spec).out == absl::StrCat("0\n1\n2\n3\n7\n", kHello));
}

TEST_CASE("the environment is the allowed one, in every process inside") {
  TempDir w;
  Finished run =
      Shell(w.path(), "env; cat /proc/*/environ | tr '\\0' '\\n'", {"--env", "MINE=typed-value"});
  CHECK(!absl::StrContains(run.out, "hunter2"));
  CHECK(absl::StrContains(run.out, "MINE=typed-value\n"));
  CHECK(absl::StrContains(run.out, absl::StrCat("AGENT_EXEC_BACKEND=", TestBackend(), "\n")));
  CHECK(absl::StrContains(run.out, "LANG=C.UTF-8\n"));
  CHECK(absl::StrContains(Shell(w.path(), "env", {"--env", "SECRET_TOKEN"}).out,
                          "SECRET_TOKEN=hunter2\n"));
}

TEST_CASE("a loader hook that is passed by name acts on the command and not on the wrapper") {
  TempDir w;
  auto complaints = [&](std::vector<std::string> args) {
    ProcessSpec spec = LaunchSpec(w.path(), std::move(args));
    spec.env.push_back("LD_PRELOAD=/nonexistent/hook.so");
    Finished run = RunProcess(spec);
    CHECK(run.Ending() == "exit 0");
    int count = 0;
    for (size_t at = run.err.find("hook.so"); at != std::string::npos;
         at = run.err.find("hook.so", at + 1))
      ++count;
    return count;
  };
  // A launcher that is not static has one itself, from before it could do anything about it.
  int own = complaints({"--version"});
  CHECK(complaints({"--", "/bin/true"}) == own);
  CHECK(complaints({"--env", "LD_PRELOAD", "--", "/bin/true"}) == own + 1);
}

TEST_CASE("no command line shows a value or a rule, and the caller's own is wiped") {
  TempDir w;
  WriteTestFile(w / "private-name", "x");
  Process process(ShellSpec(w.path(), "touch up; sleep 60",
                            {"--env", "MINE=typed-value", "--deny-read", "private-name"}));
  REQUIRE(Eventually([&] { return Exists(w / "up"); }));
  std::string all = AllCommandLines();
  CHECK(absl::StrContains(all, "sleep"));
  CHECK(!absl::StrContains(all, "typed-value"));
  CHECK(!absl::StrContains(all, "private-name"));
  process.Signal(SIGKILL);
}

// Through a shell outside, so that descriptors and planted links are what a caller would have.
Finished Outside(const std::string& cwd, absl::string_view text) {
  ProcessSpec spec = ShellSpec(cwd, "true");
  spec.argv = {"/bin/sh", "-c", absl::StrCat("AE=", spec.argv[0], "; ", text)};
  return RunProcess(spec);
}

TEST_CASE("an open directory is refused on every stream and as a kept descriptor") {
  TempDir w;
  mkdir((w / "d").c_str(), 0755);
  for (const char* text :
       {"$AE -- sh -c 'echo ran' <d", "$AE -- sh -c 'echo ran >&2' 2>&1 1</",
        "$AE --keep-fd 5 -- sh -c 'echo ran' 5<d", "$AE -- sh -c 'echo ran' 2<."}) {
    Finished run = Outside(w.path(), text);
    CAPTURE(text);
    CHECK(run.Ending() == "exit 125");
    CHECK(!absl::StrContains(run.out, "ran"));
  }
  // One that is not kept is closed, as ever.
  CHECK(Outside(w.path(), "$AE -- sh -c 'echo ran' 5<d").out == "ran\n");
}

TEST_CASE("a link that the command planted does not lead the launcher's own reading and writing") {
  TempDir w;
  TempDir outside;
  WriteTestFile(outside / "kept", "NAME=kept\n", 0644);
  REQUIRE(symlink(outside.path().c_str(), (w / "d").c_str()) == 0);
  REQUIRE(symlink((outside / "kept").c_str(), (w / "conf.env").c_str()) == 0);
  for (const char* text : {"$AE --report d/kept -- true", "$AE --report d/new -- true",
                           "$AE --env-file conf.env -- sh -c 'echo $NAME'",
                           "$AE --env-file d/kept -- sh -c 'echo $NAME'"}) {
    Finished run = Outside(w.path(), text);
    CAPTURE(text);
    CHECK(run.Ending() == "exit 125");
    CHECK(run.out == "");
    CHECK(absl::StrContains(run.err, "which the command can replace"));
  }
  CHECK(ReadTestFile(outside / "kept") == "NAME=kept\n");
  CHECK(access((outside / "new").c_str(), F_OK) != 0);
}

TEST_CASE("an environment file in the workspace cannot be written by the command") {
  TempDir w;
  WriteTestFile(w / "e", "A=1\n", 0644);
  CHECK(Outside(w.path(), "$AE --env-file e -- sh -c 'echo B=2 >>e; echo $A'").out == "1\n");
  CHECK(ReadTestFile(w / "e") == "A=1\n");
}

TEST_CASE("what a protected link without a target leads to cannot be made") {
  TempDir w;
  REQUIRE(symlink("cl", (w / ".claude").c_str()) == 0);
  (void)Outside(w.path(), "$AE -- sh -c 'mkdir cl; echo x >cl/settings.json'");
  CHECK(access((w / "cl/settings.json").c_str(), F_OK) != 0);
}

TEST_SUITE_END();

}  // namespace
}  // namespace agent_exec
