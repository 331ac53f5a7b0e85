// A supervised run without a sandbox around it, and a command that tells what signals it gets.
//
//   supervise_probe [--keep-background] -- COMMAND ARGS...   COMMAND below a supervisor
//   supervise_probe signals FILE      appends one line for each signal: "p15" from this process,
//                                     "c15" from a child of it in the same process group
//   supervise_probe wait              prints "up" and never ends
//   supervise_probe nap               prints "up", and "done" half a second later
//   supervise_probe echo              prints "up", and "got=LINE" for each line
//   supervise_probe stubborn          a command that never stops on the terminal's account and
//                                     waits for a child that reads one line from it
//   supervise_probe foreground        tells whether its group has the terminal
//   supervise_probe password          prompts on /dev/tty, with echo off while the answer is typed

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <string>

#include "os/supervise.h"

namespace {

using agent_exec::raw::Split;

int Supervised(char** argv, bool keep_background) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  agent_exec::Compiled script;
  script.scratch_fds.resize(4);
  agent_exec::RunOptions options;
  const bool is_root = geteuid() == 0;
  const std::string uid = std::to_string(geteuid());
  const std::string gid = std::to_string(getegid());
  const std::string uid_map = is_root ? "0 0 4294967295" : uid + " " + uid + " 1";
  const std::string gid_map = is_root ? "0 0 4294967295" : gid + " " + gid + " 1";
  Split split;
  split.script = &script;
  split.options = &options;
  split.uid_map = uid_map.c_str();
  split.gid_map = gid_map.c_str();
  split.map_by_parent = is_root;
  split.deny_setgroups = !is_root;
  split.own_network = true;
  split.keep_background = keep_background;
  split.caller_mask = &before;
  split.failed = split.maps_failed = {"probe: cannot start: ", "\n"};
  int error = agent_exec::raw::SplitSupervisor(split);
  if (error == 0) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    error = agent_exec::raw::SplitInit();
  }
  if (error == 0) {
    execvp(argv[0], argv);
    error = errno;
  }
  fprintf(stderr, "probe: %s: %s\n", argv[0], strerror(error));
  agent_exec::raw::EndSetup(error == ENOENT ? 127 : 125);
}

int TellSignals(const char* file) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return 1;
  char who = 'p';
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    who = 'c';
  }
  dprintf(fd, "%c0\n", who);
  for (;;) {
    int signal = sigwaitinfo(&all, nullptr);
    if (signal > 0 && signal != SIGCHLD) dprintf(fd, "%c%d\n", who, signal);
  }
}

// A shell must not stand in for these: it loses a key's signal while it forks.
int Wait() {
  dprintf(1, "up\n");
  for (;;) pause();
}

int Nap() {
  dprintf(1, "up\n");
  timespec left = {0, 500000000};
  while (nanosleep(&left, &left) != 0) {
  }
  dprintf(1, "done\n");
  return 0;
}

int Echo() {
  dprintf(1, "up\n");
  char line[64];
  ssize_t got;
  while ((got = read(0, line, sizeof(line) - 1)) > 0) {
    line[got] = '\0';
    dprintf(1, "got=%s", line);
  }
  return got == 0 ? 0 : 1;
}

int Stubborn() {
  signal(SIGTTIN, SIG_IGN);
  signal(SIGTTOU, SIG_IGN);
  pid_t child = fork();
  if (child == 0) {
    signal(SIGTTIN, SIG_DFL);
    char line[64];
    ssize_t got = read(0, line, sizeof(line) - 1);
    if (got <= 0) {
      printf("no line: %s\n", strerror(errno));
      return 1;
    }
    line[got] = '\0';
    printf("line: %s", line);
    return 0;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

int Password() {
  int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (tty < 0) return 1;
  termios before;
  tcgetattr(tty, &before);
  termios silent = before;
  silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  dprintf(tty, "before: %s\n", (before.c_lflag & ECHO) != 0 ? "echo" : "silent");
  if (tcsetattr(tty, TCSAFLUSH, &silent) != 0) return 1;
  dprintf(tty, "Password: ");
  char line[64];
  ssize_t got = read(tty, line, sizeof(line) - 1);
  tcsetattr(tty, TCSAFLUSH, &before);
  if (got <= 0) return 1;
  dprintf(tty, "\ngot %d characters\n", static_cast<int>(got - 1));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool keep_background = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--" && i + 1 < argc) return Supervised(argv + i + 1, keep_background);
    if (word == "--keep-background") keep_background = true;
    if (word == "signals" && i + 1 < argc) return TellSignals(argv[i + 1]);
    if (word == "wait") return Wait();
    if (word == "nap") return Nap();
    if (word == "echo") return Echo();
    if (word == "stubborn") return Stubborn();
    if (word == "password") return Password();
    if (word == "foreground") {
      puts(tcgetpgrp(0) == getpgrp() ? "has the terminal" : "has not the terminal");
      return 0;
    }
  }
  return 2;
}
