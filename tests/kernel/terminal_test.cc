// A supervised command on a terminal, as a person at the keys has it: the supervisor below an
// interactive shell, below a script, in a pipeline, and as the leader of its session.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernel/pty.h"
#include "kernel/supervisors.h"
#include "support/doctest.h"
#include "support/subprocess.h"

namespace agent_exec {
namespace {

TEST_SUITE_BEGIN("kernel/terminal");

constexpr char kCtrlC[] = "\x03";
constexpr char kCtrlD[] = "\x04";
constexpr char kCtrlZ[] = "\x1a";
constexpr char kEscape[] = "\x1b";

bool IsInstalled(const std::string& name) {
  return Exists("/bin/" + name) || Exists("/usr/bin/" + name);
}

// $AE is the supervisor.
ProcessSpec WithSupervisor(const SupervisorProgram& program, const std::string& cwd,
                           std::vector<std::string> argv) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  std::string words;
  for (const std::string& word : program.words) absl::StrAppend(&words, word, " ");
  spec.env = {"PATH=/usr/local/bin:/usr/bin:/bin",
              std::string("HOME=") + getenv("HOME"),
              "LANG=C.UTF-8",
              "TERM=vt100",
              "PS1=ready> ",
              "AE=" + words};
  spec.cwd = cwd;
  return spec;
}

ProcessSpec Bash(const SupervisorProgram& program, const std::string& cwd) {
  return WithSupervisor(program, cwd, {"/bin/bash", "--norc", "--noprofile", "-i"});
}

ProcessSpec Script(const SupervisorProgram& program, const std::string& cwd,
                   const std::string& text) {
  return WithSupervisor(program, cwd, {"/bin/sh", "-c", text});
}

// Types the line once the shell is ready for it.
void Enter(TerminalSession* session, const std::string& line) {
  CHECK(session->Expect("ready> "));
  session->Type(line + "\n");
}

// What a command prints to say that it runs, as its own text does not show it.
constexpr char kSayUp[] = "printf 'u%s\\n' p";

TEST_CASE("Ctrl-C ends the command, and the shell sees by what") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    TerminalSession session(Bash(program, w.path()));
    for (const char* after : {"", " | cat", " <probe", " 2>&1 >/dev/tty | cat"}) {
      CAPTURE(std::string(after));
      Enter(&session, absl::StrCat("$AE -- ./probe wait", after));
      CHECK(session.Expect("up\r\n"));
      session.Type(kCtrlC);
      Enter(&session, "printf 's%s\\n' t=${PIPESTATUS[0]}");
      CHECK(session.Expect("st=130"));
    }
  }
}

TEST_CASE("Ctrl-C reaches the script above too, whoever has the terminal") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    TerminalSession session(Bash(program, w.path()));
    Enter(&session, "sh -c '$AE -- ./probe wait; echo sur''vived'");
    CHECK(session.Expect("up\r\n"));
    session.Type(kCtrlC);
    Enter(&session, "printf 's%s\\n' t=$?");
    CHECK(session.Expect("st=130"));
    Enter(&session, "sh -c '$AE -- ./probe echo; echo sur''vived'");
    CHECK(session.Expect("up\r\n"));
    session.Type("text\n");
    CHECK(session.Expect("got=text"));
    session.Type(kCtrlC);
    Enter(&session, "printf 's%s\\n' t=$?");
    CHECK(session.Expect("st=130"));
    CHECK(!absl::StrContains(session.output(), "survived"));
  }
}

TEST_CASE(
    "a command that sends its own group a signal, or dies by one, interrupts nobody outside") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (const char* how : {"kill -INT 0", "kill -QUIT 0", "kill -INT -1; kill -INT \\$\\$"}) {
      CAPTURE(std::string(how));
      TerminalSession session(Script(
          program, w.path(),
          absl::StrCat("$AE -- sh -c \"read x; ", how, "; sleep 9\"; echo survived=$?; read x")));
      session.Type("text\n");
      CHECK(session.Expect("survived=13"));
      CHECK(session.IsCooked());
    }
  }
}

TEST_CASE("Ctrl-Z stops the job, fg lets it run on, with the terminal if it had it") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (const char* form : {"$AE -- ./probe echo", "$AE -- ./probe echo | cat",
                             "sh -c '$AE -- ./probe echo; exit'"}) {
      CAPTURE(std::string(form));
      TerminalSession session(Bash(program, w.path()));
      Enter(&session, form);
      CHECK(session.Expect("up\r\n"));
      session.Type("one\n");
      CHECK(session.Expect("got=one\r\n"));
      for (int round = 0; round < 3; ++round) {
        session.Type(kCtrlZ);
        CHECK(session.Expect("Stopped"));
        Enter(&session, "fg");
        CHECK(session.Expect("probe echo"));
        usleep(100000);
        session.Type("two\n");
        CHECK(session.Expect("got=two\r\n"));
      }
      session.Type(kCtrlD);
      Enter(&session, "printf 's%s\\n' t=$?");
      CHECK(session.Expect("st=0"));
    }
  }
}

TEST_CASE("Ctrl-Z before anything is read, then bg: the job runs on and ends in the background") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (const char* after : {"", " | cat"}) {
      CAPTURE(std::string(after));
      TerminalSession session(Bash(program, w.path()));
      Enter(&session, absl::StrCat("$AE -- ./probe nap", after));
      CHECK(session.Expect("up\r\n"));
      session.Type(kCtrlZ);
      CHECK(session.Expect("Stopped"));
      CHECK(!session.Shows("done"));
      Enter(&session, "bg; wait; printf 's%s\\n' t=$?");
      CHECK(session.Expect("done"));
      CHECK(session.Expect("st=0"));
    }
  }
}

TEST_CASE("a background command that reads from the terminal stops, and reads after fg") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    TerminalSession session(Bash(program, w.path()));
    Enter(&session, "$AE -- cat &");
    usleep(200000);
    Enter(&session, "jobs -l");
    CHECK(session.Expect("Stopped (tty input)"));
    Enter(&session, "fg");
    CHECK(session.Expect("$AE -- cat"));
    usleep(100000);
    session.Type("one\n");
    CHECK(session.Expect("one\r\none\r\n"));
    session.Type(kCtrlD);
    Enter(&session, "printf 's%s\\n' t=$?");
    CHECK(session.Expect("st=0"));
  }
}

TEST_CASE("without anybody who could give it the terminal, a background command's read fails") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    TerminalSession session(Bash(program, w.path()));
    Enter(&session, "(sh -c '$AE -- cat </dev/tty; echo en''d=$?' &)");
    CHECK(session.Expect("end=1"));
    CHECK(absl::StrContains(session.output(), "Input/output error"));
  }
}

TEST_CASE("a resize reaches the command, whoever has the terminal") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (const char* after : {"", " | cat"}) {
      CAPTURE(std::string(after));
      TerminalSession session(Bash(program, w.path()));
      Enter(&session, absl::StrCat("$AE -- sh -c \"trap 'stty size' WINCH; ", kSayUp,
                                   "; while :; do sleep 0.02; done\"", after));
      CHECK(session.Expect("up\r\n"));
      session.Resize(30, 100);
      CHECK(session.Expect("30 100"));
      session.Resize(40, 120);
      CHECK(session.Expect("40 120"));
      session.Type(kCtrlC);
      CHECK(session.Expect("ready> "));
    }
  }
}

TEST_CASE("a password is read from /dev/tty without echo, and echo is on afterwards") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (const char* after : {"", " | cat", " </dev/null 2>&1 | cat"}) {
      CAPTURE(std::string(after));
      TerminalSession session(
          Script(program, w.path(), absl::StrCat("$AE -- ./probe password", after, "; read x")));
      CHECK(session.Expect("before: echo"));
      CHECK(session.Expect("Password: "));
      session.Type("secret\n");
      CHECK(session.Expect("got 6 characters"));
      CHECK(!absl::StrContains(session.output(), "secret"));
      CHECK(Eventually([&] { return session.IsCooked(); }));
      session.Type("\n");
      CHECK(session.Ending() == "exit 0");
    }
  }
}

TEST_CASE("a command that dies by a signal with echo off leaves it on") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    TerminalSession session(
        Script(program, w.path(), "trap : INT; $AE -- ./probe password; read x; echo got=$x"));
    CHECK(session.Expect("Password: "));
    session.Type(kCtrlC);
    CHECK(Eventually([&] { return session.IsCooked(); }));
    session.Type("text\n");
    CHECK(session.Expect("got=text"));
  }
}

TEST_CASE("what a command changes about the terminal for good stays") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (const char* after : {"", " | cat"}) {
      CAPTURE(std::string(after));
      TerminalSession session(Script(
          program, w.path(), absl::StrCat("$AE -- stty -echo", after, "; echo rea''dy; read x")));
      CHECK(session.Expect("ready"));
      CHECK(!session.IsCooked());
    }
  }
}

TEST_CASE("a job by itself has the terminal from the start, one of several asks for it") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    TerminalSession session(Bash(program, w.path()));
    Enter(&session, "$AE -- ./probe foreground");
    CHECK(session.Expect("has the terminal"));
    Enter(&session, "$AE -- ./probe foreground | cat");
    CHECK(session.Expect("has not the terminal"));
    // The pager must be able to read keys while the command runs.
    Enter(&session, "$AE -- sh -c 'seq 1000; sleep 60' | less");
    CHECK(session.Expect("23\r\n"));
    session.Type("q");
    CHECK(session.Shows(""));
    session.Type(kCtrlC);
    CHECK(session.Expect("ready> "));
  }
}

TEST_CASE("a command that ignores the terminal's stop signals may have children that do not") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (const char* form : {"$AE -- ./probe stubborn", "$AE -- ./probe stubborn | cat",
                             "trap '' TTIN; $AE -- cat | cat"}) {
      CAPTURE(std::string(form));
      TerminalSession session(Script(program, w.path(), absl::StrCat(form, "; echo en''d")));
      usleep(100000);
      session.Type("text\n");
      CHECK(session.Expect("text\r\n"));
      CHECK(session.Expect("text\r\n"));
      session.Type(kCtrlD);
      CHECK(session.Expect("end"));
      CHECK(session.Ending() == "exit 0");
    }
  }
}

TEST_CASE("less works, also below Ctrl-Z and fg, and at the end of a pipeline") {
  ProbedDir w;
  if (!IsInstalled("less")) {
    MESSAGE("SKIP: less is not installed");
    return;
  }
  std::string text;
  for (int line = 1; line <= 100; ++line) absl::StrAppend(&text, "line-", line, "-\n");
  WriteTestFile(w / "text", text);
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (const char* form : {"$AE -- less text", "cat text | $AE -- less"}) {
      CAPTURE(std::string(form));
      TerminalSession session(Bash(program, w.path()));
      Enter(&session, form);
      CHECK(session.Expect("line-23-"));
      CHECK(!session.IsCooked());
      session.Type("G");
      CHECK(session.Expect("line-100-"));
      session.Type(kCtrlZ);
      CHECK(session.Expect("Stopped"));
      Enter(&session, "fg");
      CHECK(session.Expect("line-100-"));
      session.Type("g");
      CHECK(session.Expect("line-1-"));
      session.Type("q");
      Enter(&session, "printf 's%s\\n' t=$?");
      CHECK(session.Expect("st=0"));
    }
  }
}

TEST_CASE("vim works, also below Ctrl-Z and fg, and below a script") {
  ProbedDir w;
  if (!IsInstalled("vim")) {
    MESSAGE("SKIP: vim is not installed");
    return;
  }
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (const char* form :
         {"$AE -- vim -u NONE -N text", "sh -c '$AE -- vim -u NONE -N text; exit 0'"}) {
      CAPTURE(std::string(form));
      TerminalSession session(Bash(program, w.path()));
      Enter(&session, form);
      CHECK(session.Expect("text"));
      usleep(200000);
      session.Type("ihel");
      CHECK(session.Expect("hel"));
      session.Type(kEscape);
      usleep(200000);
      session.Type(kCtrlZ);
      CHECK(session.Expect("Stopped"));
      Enter(&session, "fg");
      CHECK(session.Expect("hel"));
      usleep(200000);
      session.Type(absl::StrCat("alo", kEscape));
      CHECK(session.Expect("lo"));
      usleep(200000);
      session.Type(":wq\n");
      Enter(&session, "printf 's%s\\n' t=$?");
      CHECK(session.Expect("st=0"));
      CHECK(ReadTestFile(w / "text") == "hello\n");
      unlink((w / "text").c_str());
    }
  }
}

TEST_CASE(
    "an interactive shell has job control inside, and its end leaves the terminal as it was") {
  struct Shell {
    std::string name;
    std::string options;
    std::string stopped;
  };
  const Shell shells[] = {{"bash", " --norc --noprofile -i", "Stopped"},
                          {"zsh", " -f -i", "suspended"},
                          {"fish", " --no-config -i", "stopped"}};
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    for (const Shell& shell : shells) {
      CAPTURE(shell.name);
      if (!IsInstalled(shell.name)) {
        MESSAGE("SKIP: " << shell.name << " is not installed");
        continue;
      }
      for (const char* form : {"$AE -- ", "stty -a >before; $AE -- "}) {
        TerminalSession session(Script(
            program, w.path(),
            absl::StrCat(form, shell.name, shell.options, "; echo en''d; read x; echo got=$x")));
        usleep(300000);
        session.Type("printf 'in%s\\n' side\n");
        CHECK(session.Expect("inside\r\n"));
        session.Type("./probe wait\n");
        CHECK(session.Expect("up\r\n"));
        session.Type(kCtrlZ);
        CHECK(session.Expect(shell.stopped));
        session.Type("fg\n");
        CHECK(session.Expect("probe wait"));
        usleep(100000);
        session.Type(kCtrlC);
        usleep(100000);
        session.Type("printf 'ag%s\\n' ain\n");
        CHECK(session.Expect("again\r\n"));
        session.Type("exit\n");
        CHECK(session.Expect("end\r\n"));
        CHECK(Eventually([&] { return session.IsCooked(); }));
        session.Type("text\n");
        CHECK(session.Expect("got=text"));
        CHECK(session.Ending() == "exit 0");
      }
    }
  }
}

TEST_CASE("a shell inside that is killed leaves the terminal to the caller, with its settings") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    TerminalSession session(
        Script(program, w.path(),
               "$AE -- bash --norc --noprofile -i; echo en''d=$?; read x; echo got=$x"));
    const termios before = session.Settings();
    usleep(200000);
    session.Type("sh -c 'stty raw -echo; kill -9 $PPID; sleep 60'\n");
    CHECK(session.Expect("end=137"));
    CHECK(session.IsCooked());
    CHECK(session.Settings().c_iflag == before.c_iflag);
    CHECK(session.Settings().c_oflag == before.c_oflag);
    session.Type("text\n");
    CHECK(session.Expect("got=text"));
  }
}

TEST_CASE("as the leader of its session the supervisor is the command to the terminal") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    TerminalSession reading(SupervisedSpec(program, w.path(), {"/bin/cat"}));
    reading.Type("one\n");
    CHECK(reading.Expect("one\r\none\r\n"));
    // Nobody could let it run on: the terminal's stop does nothing.
    reading.Type(kCtrlZ);
    usleep(100000);
    reading.Type("two\n");
    CHECK(reading.Expect("two\r\ntwo\r\n"));
    reading.Type(kCtrlD);
    CHECK(reading.Ending() == "exit 0");

    TerminalSession interrupted(SupervisedSpec(program, w.path(), {"/bin/cat"}));
    interrupted.Type("one\n");
    CHECK(interrupted.Expect("one\r\none\r\n"));
    interrupted.Type(kCtrlC);
    CHECK(interrupted.Ending() == "signal 2");
  }
}

TEST_CASE("a hang-up reaches the command once") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    const std::string seen = w / absl::StrCat("seen ", program.name);
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    {
      TerminalSession session(
          SupervisedShell(program, w.path(),
                          absl::StrCat("trap 'echo hup >>\"", seen, "\"' HUP; trap 'exit 0' TERM; ",
                                       kSayUp, "; while :; do sleep 0.02; done")));
      CHECK(session.Expect("up\r\n"));
      session.HangUp();
      CHECK(Eventually([&] { return Exists(seen); }));
      usleep(100000);
      CHECK(ReadTestFile(seen) == "hup\n");
    }
    close(ends[0]);
    close(ends[1]);
  }
}

TEST_CASE("tmux and script work inside, with terminals of their own") {
  ProbedDir w;
  for (const SupervisorProgram& program : SupervisorPrograms()) {
    CAPTURE(program.name);
    if (IsInstalled("script")) {
      TerminalSession session(Bash(program, w.path()));
      Enter(&session, "$AE -- script -qc 'echo u$((1))p; read x; echo got=$x' /dev/null");
      CHECK(session.Expect("u1p"));
      session.Type("text\n");
      CHECK(session.Expect("got=text"));
      Enter(&session, "printf 's%s\\n' t=$?");
      CHECK(session.Expect("st=0"));
    }
    if (IsInstalled("tmux")) {
      TerminalSession session(Bash(program, w.path()));
      Enter(&session,
            "$AE -- tmux -L inner -f /dev/null new-session 'echo u$((1))p; read x; echo got=$x; "
            "sleep 0.5'");
      CHECK(session.Expect("u1p"));
      session.Type("text\n");
      CHECK(session.Expect("got=text"));
      CHECK(session.Expect("exited"));
      Enter(&session, "printf 's%s\\n' t=$?");
      CHECK(session.Expect("st=0"));
    }
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace agent_exec
