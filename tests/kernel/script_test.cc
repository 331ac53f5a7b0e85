// RunScript on the real kernel, with scripts made by hand: what each step does. Placeholders have a
// file of their own.

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "kernel/scripts.h"
#include "support/doctest.h"
#include "support/subprocess.h"

namespace agent_exec {
namespace {

TEST_SUITE_BEGIN("kernel/script");

TEST_CASE(
    "descriptors that are not kept are closed, a kept one passes, blobs stand on their numbers") {
  Script script = ShellScript(
      "for n in 3 4 5 6 7 8 9; do if test -e /proc/self/fd/$n; then echo $n; fi; done; cat <&6; "
      "cat <&5; cat <&9 | wc -c");
  script.blobs = {"first\n", "second\n"};
  // The numbers cross those that are open, and each other's sources.
  InsertBeforeExec(&script, PassBlob{6, 0, "a"});
  InsertBeforeExec(&script, PassBlob{5, 1, "b"});
  InsertBeforeExec(&script, PassNull{9});
  InsertBeforeExec(&script, CloseOthers{{5, 6, 7, 9}});
  ProcessSpec spec = ScriptSpec(script);
  spec.prepare = [] {
    for (int fd = 3; fd < 9; ++fd) dup2(0, fd);
  };
  CHECK(RunProcess(spec).out == "5\n6\n7\n9\nfirst\nsecond\n0\n");
}

TEST_CASE("closed standard streams stay closed, and nothing of ours takes their place") {
  Script script =
      ShellScript("ls -l /proc/self/fd/0 >/dev/null 2>&1 && echo open || echo closed; cat <&5 >&2");
  script.blobs = {"blob\n"};
  InsertBeforeExec(&script, PassBlob{5, 0, "a"});
  InsertBeforeExec(&script, PassNull{6});
  InsertBeforeExec(&script, CloseOthers{{5, 6}});
  ProcessSpec spec = ScriptSpec(script);
  spec.prepare = [] { close(0); };
  Finished run = RunProcess(spec);
  CHECK(run.out == "closed\n");
  CHECK(run.err == "blob\n");
}

TEST_CASE("a passed blob cannot be changed") {
  Script script = ShellScript("echo x >&5 || true; cat <&5");
  script.blobs = {"blob\n"};
  InsertBeforeExec(&script, PassBlob{5, 0, "a"});
  CHECK(RunProcess(ScriptSpec(script)).out == "blob\n");
}

TEST_CASE("a large blob and an empty one pass whole") {
  Script script = ShellScript("wc -c <&5; wc -c <&6");
  script.blobs = {std::string(3 << 20, 'x'), ""};
  InsertBeforeExec(&script, PassBlob{5, 0, "large"});
  InsertBeforeExec(&script, PassBlob{6, 1, "empty"});
  CHECK(RunProcess(ScriptSpec(script)).out == "3145728\n0\n");
}

TEST_CASE("signal mask and dispositions are those of the caller") {
  Script plain = ShellScript("grep -E '^Sig(Blk|Ign)' /proc/self/status");
  ProcessSpec bare;
  bare.argv = {"/bin/sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status"};
  TempDir root;
  Script sandboxed = plain;
  sandboxed.steps.insert(sandboxed.steps.begin(),
                         MakePlaceholder{{root / ".git", Node::kDirectory, false, root.path(), 0}});
  sandboxed.steps.insert(sandboxed.steps.begin() + 1, StartSweeper{kInfoFd});
  for (int variant = 0; variant < 2; ++variant) {
    auto prepare = [variant] {
      if (variant == 0) return;
      signal(SIGPIPE, SIG_IGN);
      signal(SIGCHLD, SIG_IGN);
      sigset_t set;
      sigemptyset(&set);
      sigaddset(&set, SIGUSR1);
      sigaddset(&set, SIGCHLD);
      sigprocmask(SIG_BLOCK, &set, nullptr);
    };
    bare.prepare = prepare;
    std::string expected = RunProcess(bare).out;
    for (const Script& script : {plain, sandboxed}) {
      ProcessSpec spec = ScriptSpec(script);
      spec.prepare = prepare;
      CHECK(RunProcess(spec).out == expected);
    }
  }
}

TEST_CASE("a limit is lowered and never raised") {
  Script script = ShellScript("ulimit -n; ulimit -Hn; ulimit -f");
  InsertBeforeExec(&script, SetLimit{Resource::kOpenFiles, 1000});
  InsertBeforeExec(&script, SetLimit{Resource::kFileSize, 1 << 20});
  ProcessSpec spec = ScriptSpec(script);
  CHECK(RunProcess(spec).out == "1000\n1000\n2048\n");
  spec.prepare = [] {
    rlimit limit = {100, 200};
    setrlimit(RLIMIT_NOFILE, &limit);
  };
  CHECK(RunProcess(spec).out == "200\n200\n2048\n");
}

TEST_CASE("a command that cannot be executed is 126, one that is not there 127, a wrapper 125") {
  TempDir dir;
  WriteTestFile(dir / "text", "#!/nonexistent\n", 0755);
  WriteTestFile(dir / "plain", "#!/bin/sh\n", 0644);
  WriteTestFile(dir / "bare", "echo \"$0 $1\"\n", 0755);
  struct Case {
    std::string path;
    bool is_command;
    std::string ending;
    std::string err;
  };
  const Case cases[] = {
      {dir / "none", true, "exit 127",
       absl::StrCat("agent-exec: cannot execute '", dir / "none",
                    "': No such file or directory\n")},
      {dir / "text", true, "exit 127",
       absl::StrCat("agent-exec: cannot execute '", dir / "text",
                    "': No such file or directory\n")},
      {dir / "plain", true, "exit 126",
       absl::StrCat("agent-exec: cannot execute '", dir / "plain", "': Permission denied\n")},
      {dir.path(), true, "exit 126",
       absl::StrCat("agent-exec: cannot execute '", dir.path(), "': Permission denied\n")},
      {dir / "none", false, "exit 125",
       absl::StrCat("agent-exec: cannot execute '", dir / "none",
                    "': No such file or directory\n")},
      {dir / "plain", false, "exit 125",
       absl::StrCat("agent-exec: cannot execute '", dir / "plain", "': Permission denied\n")},
  };
  for (const Case& c : cases) {
    CAPTURE(c.path);
    Script script;
    script.steps = {Exec{c.path, {"x"}, {}}};
    RunOptions options;
    options.exec_is_command = c.is_command;
    Finished run = RunProcess(ScriptSpec(script, options));
    CHECK(run.Ending() == c.ending);
    CHECK(run.err == c.err);
  }
  // A script without a first line runs as it does by execvp.
  Script script;
  script.steps = {Exec{dir / "bare", {"bare", "argument"}, {}}};
  RunOptions options;
  options.exec_is_command = true;
  CHECK(RunProcess(ScriptSpec(script, options)).out == absl::StrCat(dir / "bare", " argument\n"));
}

TEST_CASE("messages name the place and come as JSON when asked") {
  TempDir root;
  WriteTestFile(root / "a\n'b", "x");
  Script script = SandboxScript(root.path(), {{"a\n'b/.git"}}, "echo ran");
  std::get<MakePlaceholder>(script.steps[0]).placeholder.origin = 1;
  RunOptions options;
  options.places = {"", "policy.toml:12:3"};
  Finished text = RunProcess(ScriptSpec(script, options));
  CHECK(text.Ending() == "exit 125");
  CHECK(text.err == absl::StrCat("agent-exec: cannot make placeholder '", root.path(),
                                 "/a\\n\\'b/.git': Not a directory (policy.toml:12:3)\n"));
  options.error_format = ErrorFormat::kJson;
  CHECK(RunProcess(ScriptSpec(script, options)).err ==
        absl::StrCat("{\"error\":\"cannot make placeholder '", root.path(),
                     "/a\\\\n\\\\'b/.git': Not a "
                     "directory\",\"place\":\"policy.toml:12:3\",\"status\":125}\n"));
}

TEST_CASE("the report replaces the file of the run before and is there when the command starts") {
  TempDir dir;
  WriteTestFile(dir / "report", "something much longer than the new line\n");
  RunOptions options;
  options.report_target = dir / "report";
  options.report_line = "{\"a\":1}\n";
  CHECK(RunProcess(ScriptSpec(ShellScript("cat " + (dir / "report")), options)).out ==
        "{\"a\":1}\n");
  options.report_target = dir / "new";
  CHECK(RunProcess(ScriptSpec(ShellScript("stat -c %a " + (dir / "new")), options)).out == "600\n");
  options.report_target = "fd:2";
  CHECK(RunProcess(ScriptSpec(ShellScript("true"), options)).err == "{\"a\":1}\n");
}

TEST_CASE("a report that cannot be written refuses the start") {
  TempDir dir;
  WriteTestFile(dir / "mine", "precious");
  REQUIRE(symlink((dir / "mine").c_str(), (dir / "link").c_str()) == 0);
  RunOptions options;
  options.report_line = "{}\n";
  struct Case {
    std::string target;
    std::string cause;
  };
  const Case cases[] = {{dir / "link", "Too many levels of symbolic links"},
                        {dir / "none/x", "No such file or directory"},
                        {"/dev/full", "No space left on device"},
                        {"fd:77", "Bad file descriptor"},
                        {"fd:9", "Broken pipe"}};
  for (const Case& c : cases) {
    options.report_target = c.target;
    ProcessSpec spec = ScriptSpec(ShellScript("echo ran"), options);
    spec.prepare = [] {
      int ends[2];
      (void)!pipe(ends);
      dup2(ends[1], 9);
      close(ends[0]);
    };
    Finished run = RunProcess(spec);
    CHECK(run.Ending() == "exit 125");
    CHECK(run.out == "");
    CHECK(run.err == absl::StrCat("agent-exec: cannot write report '", c.target, "': ", c.cause,
                                  " (--report)\n"));
  }
  CHECK(ReadTestFile(dir / "mine") == "precious");
}

TEST_CASE(
    "a lasting directory is made with its parents for the caller alone, and a foreign one is "
    "refused") {
  TempDir dir;
  Script script =
      ShellScript("stat -c %a " + (dir / "c") + " " + (dir / "c/d") + " " + (dir / "c/d/e"));
  script.steps.insert(script.steps.begin(), MakeLastingDir{dir / "c/d/e"});
  ProcessSpec spec = ScriptSpec(script);
  spec.prepare = [] { umask(0); };
  CHECK(RunProcess(spec).out == "700\n700\n700\n");
  chmod((dir / "c/d/e").c_str(), 0777);
  CHECK(RunProcess(spec).out == "700\n700\n700\n");

  RemoveTree(dir / "c/d/e");
  REQUIRE(symlink("/tmp", (dir / "c/d/e").c_str()) == 0);
  CHECK(RunProcess(spec).Ending() == "exit 125");
  if (geteuid() == 0) {
    unlink((dir / "c/d/e").c_str());
    mkdir((dir / "c/d/e").c_str(), 0700);
    REQUIRE(chown((dir / "c/d/e").c_str(), 12345, 12345) == 0);
    Finished run = RunProcess(spec);
    CHECK(run.Ending() == "exit 125");
    CHECK(run.err == absl::StrCat("agent-exec: cannot use directory '", dir / "c/d/e",
                                  "': it belongs to somebody else\n"));
  }
}

TEST_CASE("a script that no backend should render is refused as a bug") {
  Script no_exec;
  no_exec.steps = {ChangeDir{"/"}};
  Script twice = ShellScript("true");
  twice.blobs = {""};
  InsertBeforeExec(&twice, PassBlob{5, 0, "a"});
  InsertBeforeExec(&twice, PassNull{5});
  Script low = ShellScript("true");
  InsertBeforeExec(&low, PassNull{1});
  Script outside = ShellScript("true");
  outside.steps.insert(outside.steps.begin(),
                       MakePlaceholder{{"/tmp/x", Node::kDirectory, false, "/var", 0}});
  Script empty_slot = ShellScript("true");
  InsertBeforeExec(&empty_slot, Attach{0, "/tmp", 0});
  Script full_slot = ShellScript("true");
  InsertBeforeExec(&full_slot, NewTmpfs{0, 0755, 0, 0});
  InsertBeforeExec(&full_slot, NewTmpfs{0, 0755, 0, 0});
  Script emptied_slot = ShellScript("true");
  InsertBeforeExec(&emptied_slot, NewTmpfs{0, 0755, 0, 0});
  InsertBeforeExec(&emptied_slot, Attach{0, "/tmp", 0});
  InsertBeforeExec(&emptied_slot, Attach{0, "/tmp", 0});
  Script relative = ShellScript("true");
  InsertBeforeExec(&relative, CoverTree{"usr", true, false, 0});
  Script dots = ShellScript("true");
  InsertBeforeExec(&dots, PinTree{0, "/usr/../etc", false, false, 0});
  Script no_init = ShellScript("true");
  InsertBeforeExec(&no_init, ForkCommand{});
  Script no_filter = ShellScript("true");
  no_filter.blobs = {"1234567"};
  InsertBeforeExec(&no_filter, InstallFilter{0});
  Script no_data = ShellScript("true");
  InsertBeforeExec(&no_data, AttachData{"/tmp/x", 0, 0444, 0});
  for (const Script& script : {Script{}, no_exec, twice, low, outside, empty_slot, full_slot,
                               emptied_slot, relative, dots, no_init, no_filter, no_data}) {
    Finished run = RunProcess(ScriptSpec(script));
    CHECK(run.Ending() == "exit 125");
    CHECK(run.err.find("agent-exec: bad script: ") == 0);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace agent_exec
