// The supervisor of a native run, without a terminal.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kernel/supervisors.h"
#include "support/doctest.h"
#include "support/subprocess.h"

namespace agent_exec {
namespace {

TEST_SUITE_BEGIN("kernel/supervise");

// The value of a line of /proc/PID/status, or "".
std::string StatusLine(pid_t pid, const std::string& key) {
  std::vector<std::string> lines =
      absl::StrSplit(ReadTestFile(absl::StrCat("/proc/", pid, "/status")), '\n');
  for (const std::string& line : lines) {
    if (absl::StartsWith(line, absl::StrCat(key, ":\t"))) return line.substr(key.size() + 2);
  }
  return "";
}

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  std::string text = ReadTestFile(absl::StrCat("/proc/", pid, "/task/", pid, "/children"));
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    int child = 0;
    if (absl::SimpleAtoi(word, &child)) children.push_back(child);
  }
  return children;
}

// Process 1 inside.
pid_t InitOf(pid_t supervisor) {
  std::vector<pid_t> children = ChildrenOf(supervisor);
  return children.size() == 1 ? children[0] : -1;
}

// Has the process stopped by this signal, or continued (0)? Tells each change once.
bool Changed(pid_t pid, int signal) {
  siginfo_t info = {};
  int wanted = signal == 0 ? WCONTINUED : WSTOPPED;
  if (waitid(P_PID, static_cast<id_t>(pid), &info, wanted | WNOHANG) != 0) return false;
  return signal == 0 ? info.si_code == CLD_CONTINUED
                     : info.si_code == CLD_STOPPED && info.si_status == signal;
}

// A pipe that a process and what it starts have as standard output, and that closes with the last
// of them.
class OutputPipe {
 public:
  OutputPipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0) abort();
  }
  ~OutputPipe() {
    Close(0);
    Close(1);
  }
  // For ProcessSpec::prepare.
  void Install() const { dup2(ends_[1], 1); }
  void CloseWriter() { Close(1); }
  // Does it end within this time? What comes before is dropped.
  bool Ends(int timeout_ms) {
    char buffer[4096];
    pollfd wait = {ends_[0], POLLIN, 0};
    while (poll(&wait, 1, timeout_ms) > 0) {
      if (read(ends_[0], buffer, sizeof(buffer)) <= 0) return true;
    }
    return false;
  }

 private:
  void Close(int end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }
  int ends_[2];
};

// The handlers of the test's own process must not run in the child that is not the launcher yet.
class HeldSignals {
 public:
  HeldSignals() { Mask(SIG_BLOCK); }
  ~HeldSignals() { Mask(SIG_UNBLOCK); }
  // In the child, for ProcessSpec::prepare.
  static void Release() {
    for (int signal : {SIGINT, SIGTERM, SIGUSR1}) ::signal(signal, SIG_DFL);
    Mask(SIG_UNBLOCK);
  }

 private:
  static void Mask(int how) {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&set, signal);
    sigprocmask(how, &set, nullptr);
  }
};

std::string Lines(const std::string& path) { return ReadTestFile(path); }

int CountOf(const std::string& text, const std::string& line) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  return static_cast<int>(std::count(lines.begin(), lines.end(), line));
}

TEST_CASE("the exit status is the command's own, whatever it is") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (int status : {0, 1, 42, 124, 125, 126, 127, 129, 143, 255}) {
      Finished run =
          RunProcess(SupervisedShell(program, w.path(), absl::StrCat("echo out; exit ", status)));
      CHECK(run.Ending() == absl::StrCat("exit ", status));
      CHECK(run.out == "out\n");
      CHECK(run.err == "");
    }
  }
}

TEST_CASE("the supervisor dies by the signal that the command died by") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGKILL, SIGSEGV, SIGPIPE, SIGALRM,
                       SIGTERM, SIGUSR1, SIGXCPU, SIGSYS, 40}) {
      ProcessSpec spec =
          SupervisedShell(program, w.path(), absl::StrCat("kill -", signal, " $$; sleep 60"));
      CHECK(RunProcess(spec).Ending() == absl::StrCat("signal ", signal));
    }
  }
  CHECK(!Exists(w / "core"));
}

TEST_CASE("a signal to the supervisor alone reaches the command alone, and once") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    const std::string seen = w / absl::StrCat("seen ", program.name);
    ProcessSpec spec = SupervisedSpec(program, w.path(), {"./probe", "signals", seen});
    spec.own_group = true;
    Process process(spec);
    REQUIRE(
        Eventually([&] { return CountOf(Lines(seen), "c0") + CountOf(Lines(seen), "p0") == 2; }));
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
      if (signal == SIGKILL || signal == SIGSTOP || signal == SIGCHLD || signal == SIGCONT)
        continue;
      if (signal > SIGSYS && signal < SIGRTMIN + 1) continue;  // the C libraries' own
      CAPTURE(signal);
      process.Signal(signal);
      CHECK(Eventually([&] { return CountOf(Lines(seen), absl::StrCat("p", signal)) == 1; }));
    }
    usleep(20000);
    for (int signal = 1; signal <= SIGRTMAX; ++signal) {
      CAPTURE(signal);
      CHECK(CountOf(Lines(seen), absl::StrCat("p", signal)) <= 1);
      CHECK(CountOf(Lines(seen), absl::StrCat("c", signal)) == 0);
    }
  }
}

TEST_CASE("a signal to the supervisor's group reaches the command's whole group, and once") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    const std::string seen = w / absl::StrCat("seen ", program.name);
    ProcessSpec spec = SupervisedSpec(program, w.path(), {"./probe", "signals", seen});
    spec.own_group = true;
    Process process(spec);
    REQUIRE(
        Eventually([&] { return CountOf(Lines(seen), "c0") + CountOf(Lines(seen), "p0") == 2; }));
    // Again and again, and with one to the supervisor alone between: nothing may be left over.
    for (int round = 1; round <= 5; ++round) {
      for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT,
                         SIGTSTP, SIGTTIN, SIGTTOU, SIGALRM}) {
        CAPTURE(signal);
        kill(-process.pid(), signal);
        CHECK(Eventually([&] { return CountOf(Lines(seen), absl::StrCat("c", signal)) == round; }));
        CHECK(Eventually([&] { return CountOf(Lines(seen), absl::StrCat("p", signal)) == round; }));
      }
      process.Signal(SIGPWR);
      CHECK(Eventually([&] { return CountOf(Lines(seen), absl::StrCat("p", SIGPWR)) == round; }));
    }
    usleep(20000);
    for (int signal : {SIGHUP, SIGINT, SIGTERM, SIGCONT, SIGTSTP, SIGTTOU, SIGALRM}) {
      CAPTURE(signal);
      CHECK(CountOf(Lines(seen), absl::StrCat("c", signal)) == 5);
      CHECK(CountOf(Lines(seen), absl::StrCat("p", signal)) == 5);
    }
    CHECK(CountOf(Lines(seen), absl::StrCat("c", SIGPWR)) == 0);
  }
}

TEST_CASE("a signal that comes before the command has started is not lost") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (int i = 0; i < 60; ++i) {
      HeldSignals held;
      ProcessSpec spec = SupervisedSpec(program, w.path(), {"/bin/sleep", "60"});
      spec.prepare = [] { HeldSignals::Release(); };
      Process process(spec);
      usleep(static_cast<useconds_t>(i * 60));
      process.Signal(i % 2 == 0 ? SIGTERM : SIGINT);
      CHECK(process.Wait().Ending() == (i % 2 == 0 ? "signal 15" : "signal 2"));
    }
  }
}

TEST_CASE("a signal at the command's end does not change or delay it") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (int i = 0; i < 60; ++i) {
      HeldSignals held;
      ProcessSpec spec = SupervisedShell(program, w.path(), "exit 7");
      spec.prepare = [] { HeldSignals::Release(); };
      Process process(spec);
      usleep(static_cast<useconds_t>(1000 + i * 60));
      process.Signal(SIGUSR1);
      std::string ending = process.Wait().Ending();
      CHECK((ending == "exit 7" || ending == "signal 10"));
    }
  }
}

TEST_CASE("kill 0 and kill -1 inside reach nobody outside") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    const std::string seen = w / absl::StrCat("seen ", program.name);
    // A neighbour in the caller's group, which the supervisor's process is in too.
    ProcessSpec neighbour;
    neighbour.argv = {w / "probe", "signals", seen};
    neighbour.own_group = true;
    Process outside(neighbour);
    REQUIRE(
        Eventually([&] { return CountOf(Lines(seen), "c0") + CountOf(Lines(seen), "p0") == 2; }));
    for (const char* text :
         {"kill -TERM 0", "kill -INT 0", "kill -HUP 0", "kill -9 -1; sleep 60",
          "kill -TERM -1; kill -KILL $$", "kill -9 1; kill -TERM 1; kill -INT $$",
          "kill -STOP 1; kill -9 -1; kill -9 $$"}) {
      CAPTURE(std::string(text));
      ProcessSpec spec = SupervisedShell(program, w.path(), text);
      spec.timeout_ms = 10000;
      pid_t group = outside.pid();
      spec.prepare = [group] { setpgid(0, group); };
      if (std::string(text) == "kill -9 -1; sleep 60") {
        Process process(spec);
        REQUIRE(Eventually([&] { return InitOf(process.pid()) > 0; }));
        usleep(100000);
        process.Signal(SIGTERM);
        CHECK(process.Wait().Ending() == "signal 15");
      } else {
        CHECK(absl::StartsWith(RunProcess(spec).Ending(), "signal "));
      }
    }
    CHECK(Lines(seen).size() == 6);
  }
}

TEST_CASE("SIGKILL of the supervisor leaves no process, at whatever moment") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (int i = 0; i < 100; ++i) {
      OutputPipe pipe;
      ProcessSpec spec =
          SupervisedShell(program, w.path(), "setsid sleep 60 & (sleep 60 &) ; exec sleep 60");
      spec.prepare = [&] { pipe.Install(); };
      Process process(spec);
      pipe.CloseWriter();
      usleep(static_cast<useconds_t>(i * 100));
      process.Signal(SIGKILL);
      CHECK(process.Wait().Ending() == "signal 9");
      CHECK(pipe.Ends(3000));
    }
  }
}

TEST_CASE("what the command leaves in the background dies when it ends") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    OutputPipe pipe;
    ProcessSpec spec =
        SupervisedShell(program, w.path(), "trap '' HUP TERM; setsid sleep 60 & sleep 60 & exit 3");
    spec.prepare = [&] { pipe.Install(); };
    Process process(spec);
    pipe.CloseWriter();
    CHECK(process.Wait().Ending() == "exit 3");
    CHECK(pipe.Ends(0));
  }
}

TEST_CASE("--keep-background waits for what the command leaves, and then ends as it did") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    ProcessSpec spec = SupervisedShell(
        program, w.path(), "(setsid sh -c 'sleep 0.3; echo late' &) ; echo early; exit 5",
        {"--keep-background"});
    Finished run = RunProcess(spec);
    CHECK(run.Ending() == "exit 5");
    CHECK(run.out == "early\nlate\n");

    // Signals go to those that are left.
    spec = SupervisedShell(program, w.path(), "(setsid sleep 60 &) ; touch left; kill -9 $$",
                           {"--keep-background"});
    Process process(spec);
    REQUIRE(Eventually([&] { return Exists(w / "left"); }));
    usleep(50000);
    process.Signal(SIGTERM);
    CHECK(process.Wait().Ending() == "signal 9");
    unlink((w / "left").c_str());
  }
}

TEST_CASE("orphans inside are reaped") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    Process process(
        SupervisedShell(program, w.path(),
                        "for i in 1 2 3 4 5; do (true &) ; done; sleep 0.1; touch up; sleep 60"));
    REQUIRE(Eventually([&] { return Exists(w / "up"); }));
    // The command is all that is left.
    CHECK(Eventually([&] { return ChildrenOf(InitOf(process.pid())).size() == 1; }));
    process.Signal(SIGKILL);
    process.Wait();
    unlink((w / "up").c_str());
  }
}

TEST_CASE("a pipe closes when the command closes it, though the supervisor still runs") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    OutputPipe out;
    int in[2];
    REQUIRE(pipe2(in, O_CLOEXEC) == 0);
    ProcessSpec spec = SupervisedShell(program, w.path(), "exec <&- >&-; exec sleep 60");
    spec.prepare = [&] {
      out.Install();
      dup2(in[0], 0);
    };
    Process process(spec);
    out.CloseWriter();
    close(in[0]);
    CHECK(out.Ends(5000));
    CHECK(Eventually([&] {
      pollfd wait = {in[1], POLLOUT, 0};
      return poll(&wait, 1, 0) == 1 && (wait.revents & POLLERR) != 0;
    }));
    CHECK(kill(process.pid(), 0) == 0);
    process.Signal(SIGTERM);
    CHECK(process.Wait().Ending() == "signal 15");
    close(in[1]);
  }
}

TEST_CASE("supervisor and init are closed to ptrace and hold no descriptor of the caller's") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    ProcessSpec spec = SupervisedShell(program, w.path(), "touch up; exec sleep 60");
    spec.prepare = [&] {
      int fd = open((w / "probe").c_str(), O_RDONLY);
      for (int number : {7, 8, 100}) dup2(fd, number);
    };
    Process process(spec);
    REQUIRE(Eventually([&] { return Exists(w / "up"); }));
    for (pid_t pid : {process.pid(), InitOf(process.pid())}) {
      const std::string directory = absl::StrCat("/proc/", pid);
      struct stat st;
      // The files of a process that is not dumpable are root's.
      REQUIRE(stat((directory + "/environ").c_str(), &st) == 0);
      CHECK(st.st_uid == 0);
      if (geteuid() != 0) {
        CHECK(open((directory + "/environ").c_str(), O_RDONLY) < 0);
        CHECK(NamesIn(directory + "/fd").empty());
        continue;
      }
      for (const std::string& name : NamesIn(directory + "/fd")) {
        if (name == "2") continue;
        char target[256] = {};
        CHECK(readlink((directory + "/fd/" + name).c_str(), target, sizeof(target) - 1) > 0);
        const std::string text = target;
        CAPTURE(std::string(text));
        // The last: placeholders, and the directories that they stand in.
        CHECK((text == "/dev/null" || absl::StartsWith(text, "socket:") ||
               absl::StartsWith(text, "anon_inode:") || absl::StartsWith(text, w.path())));
      }
    }
    process.Signal(SIGKILL);
    process.Wait();
    unlink((w / "up").c_str());
  }
}

TEST_CASE("nothing wakes while the command sleeps, and both together are small") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    Process process(SupervisedShell(program, w.path(), "touch up; exec sleep 60"));
    REQUIRE(Eventually([&] { return Exists(w / "up"); }));
    usleep(50000);
    pid_t init = InitOf(process.pid());
    auto switches = [&] {
      std::string text;
      for (pid_t pid : {process.pid(), init}) {
        text += StatusLine(pid, "voluntary_ctxt_switches") + " " +
                StatusLine(pid, "nonvoluntary_ctxt_switches") + " ";
      }
      return text;
    };
    std::string before = switches();
    usleep(500000);
    CHECK(switches() == before);
    std::string maps = ReadTestFile(absl::StrCat("/proc/", process.pid(), "/maps"));
    // A build that is not static has the C library's pages too.
    if (geteuid() == 0 && !absl::StrContains(maps, ".so")) {
      int pss_kb = 0;
      for (pid_t pid : {process.pid(), init}) {
        std::string text = ReadTestFile(absl::StrCat("/proc/", pid, "/smaps_rollup"));
        size_t at = text.find("\nPss:");
        REQUIRE(at != std::string::npos);
        pss_kb += atoi(text.c_str() + at + 5);
      }
      MESSAGE(program.name << ": PSS of both " << pss_kb << " kB");
      CHECK(pss_kb <= 1024);
    }
    process.Signal(SIGKILL);
    process.Wait();
    unlink((w / "up").c_str());
  }
}

TEST_CASE("dispositions and mask are those that the caller had") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    auto lines_of = [&](bool set) {
      ProcessSpec spec = SupervisedSpec(program, w.path(), {"/bin/cat", "/proc/self/status"});
      spec.prepare = [set] {
        for (int signal = 1; signal < 65; ++signal) ::signal(signal, SIG_DFL);
        sigset_t mask;
        sigemptyset(&mask);
        if (set) {
          for (int signal : {SIGCHLD, SIGPIPE, SIGINT, SIGTSTP, SIGTTOU}) ::signal(signal, SIG_IGN);
          for (int signal : {SIGTERM, SIGUSR1, SIGCHLD, SIGTTIN, 40}) sigaddset(&mask, signal);
        }
        sigprocmask(SIG_SETMASK, &mask, nullptr);
      };
      Finished run = RunProcess(spec);
      CHECK(run.Ending() == "exit 0");
      std::string found;
      for (absl::string_view line : absl::StrSplit(run.out, '\n')) {
        if (absl::StartsWith(line, "Sig") && !absl::StartsWith(line, "SigQ")) {
          absl::StrAppend(&found, line, "\n");
        }
      }
      return found;
    };
    CHECK(lines_of(false) ==
          "SigPnd:\t0000000000000000\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
          "SigCgt:\t0000000000000000\n");
    CHECK(lines_of(true) ==
          "SigPnd:\t0000000000000000\nSigBlk:\t0000008000114200\nSigIgn:\t0000000000291002\n"
          "SigCgt:\t0000000000000000\n");
  }
}

TEST_CASE("a signal that was pending when the launcher started is the command's") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    ProcessSpec spec = SupervisedSpec(program, w.path(), {"/bin/sleep", "60"});
    spec.prepare = [] {
      sigset_t mask;
      sigemptyset(&mask);
      sigaddset(&mask, SIGTERM);
      sigprocmask(SIG_BLOCK, &mask, nullptr);
      kill(getpid(), SIGTERM);
    };
    // Blocked, as it was.
    Process process(spec);
    REQUIRE(Eventually([&] { return InitOf(process.pid()) > 0; }));
    pid_t command = -1;
    REQUIRE(Eventually([&] {
      std::vector<pid_t> children = ChildrenOf(InitOf(process.pid()));
      if (children.size() == 1) command = children[0];
      return command > 0 && StatusLine(command, "Name") == "sleep";
    }));
    CHECK(Eventually([&] { return StatusLine(command, "ShdPnd") == "0000000000004000"; }));
    process.Signal(SIGKILL);
  }
}

// A group of its own is not orphaned, however this test was started: its parent is in the session.
ProcessSpec InGroup(ProcessSpec spec) {
  spec.own_group = true;
  return spec;
}

TEST_CASE("the supervisor stops as the command does, and both run on together") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (int signal : {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU}) {
      CAPTURE(signal);
      Process process(InGroup(SupervisedShell(
          program, w.path(), absl::StrCat("kill -", signal, " $$; touch on; exit 4"))));
      CHECK(Eventually([&] { return Changed(process.pid(), signal); }));
      usleep(20000);
      CHECK(!Exists(w / "on"));
      process.Signal(SIGCONT);
      CHECK(process.Wait().Ending() == "exit 4");
      CHECK(Exists(w / "on"));
      unlink((w / "on").c_str());
    }
  }
}

TEST_CASE("a stop signal to the supervisor stops the command, and so the supervisor") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (int signal : {SIGTSTP, SIGTTIN, SIGTTOU}) {
      CAPTURE(signal);
      Process process(InGroup(SupervisedSpec(program, w.path(), {"/bin/sleep", "60"})));
      usleep(50000);
      for (int round = 0; round < 3; ++round) {
        process.Signal(signal);
        REQUIRE(Eventually([&] { return Changed(process.pid(), signal); }));
        process.Signal(SIGCONT);
        REQUIRE(Eventually([&] { return Changed(process.pid(), 0); }));
      }
      process.Signal(SIGTERM);
      CHECK(process.Wait().Ending() == "signal 15");
    }
  }
}

TEST_CASE("a command that is let run on, or killed, from inside wakes the supervisor") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (const char* how : {"CONT", "KILL"}) {
      CAPTURE(std::string(how));
      Process process(InGroup(SupervisedShell(
          program, w.path(),
          absl::StrCat("me=$$; (sleep 0.2; kill -", how, " $me) & kill -STOP $$; exit 6"))));
      CHECK(Eventually([&] { return Changed(process.pid(), SIGSTOP); }));
      CHECK(process.Wait().Ending() == (std::string(how) == "CONT" ? "exit 6" : "signal 9"));
    }
  }
}

TEST_CASE("where nobody could let the caller run on, the command does not stay stopped") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    // The session's leader is the only member of its group: orphaned.
    ProcessSpec spec =
        SupervisedShell(program, w.path(), "kill -TSTP $$; kill -TTIN $$; kill -TTOU $$; exit 8");
    spec.prepare = [] { setsid(); };
    spec.timeout_ms = 5000;
    CHECK(RunProcess(spec).Ending() == "exit 8");
  }
}

TEST_CASE("when init is killed from outside, so is everything, and the supervisor ends by that") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    OutputPipe pipe;
    ProcessSpec spec = SupervisedShell(program, w.path(), "setsid sleep 60 & touch up; sleep 60");
    spec.prepare = [&] { pipe.Install(); };
    Process process(spec);
    pipe.CloseWriter();
    REQUIRE(Eventually([&] { return Exists(w / "up"); }));
    kill(InitOf(process.pid()), SIGKILL);
    CHECK(process.Wait().Ending() == "signal 9");
    CHECK(pipe.Ends(1000));
    unlink((w / "up").c_str());
  }
}

TEST_CASE("a descriptor that the caller has closed stays closed and harms nothing") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (int closed = 0; closed < 8; ++closed) {
      CAPTURE(closed);
      ProcessSpec spec = SupervisedShell(program, w.path(), "exit 9");
      spec.prepare = [closed] {
        for (int fd = 0; fd < 3; ++fd) {
          if ((closed & (1 << fd)) != 0) close(fd);
        }
      };
      CHECK(RunProcess(spec).Ending() == "exit 9");
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace agent_exec
