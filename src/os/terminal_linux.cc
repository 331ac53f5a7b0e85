#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/raw.h"
#include "os/supervise_parts.h"

// The command has a process group of its own, so the terminal takes it for a background job. Where
// the launcher's group may have others in it, the command is lent the terminal only when it asks,
// by stopping on SIGTTIN or SIGTTOU: as long as it does not, the rest of a pipeline and the script
// or make above can read from the terminal and get its Ctrl-C. Where the launcher is a shell's job
// by itself the command has the terminal at once, since some programs (wget, git) look whether they
// have it.

namespace agent_exec::raw {
namespace {

// The numbers of groups and processes are those of the PID namespace of S. 0: one outside of it.
pid_t ForegroundGroup(const Terminal& terminal) {
  return terminal.fd < 0 ? -1 : tcgetpgrp(terminal.fd);
}

bool IsPipe(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

// Reading from the background fails, and does not stop, where the signal is ignored or blocked.
bool CannotAsk(int signal, const sigset_t& caller_mask) {
  struct sigaction now;
  if (sigismember(&caller_mask, signal) == 1) return true;
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

bool LendsAtStart(const Terminal& terminal, const sigset_t& caller_mask) {
  if (!HasTerminal(terminal)) return false;
  if (CannotAsk(SIGTTIN, caller_mask) || CannotAsk(SIGTTOU, caller_mask)) return true;
  // The first of a pipeline leads its group too.
  return getpgrp() == getpid() && !IsPipe(0) && !IsPipe(1) && !IsPipe(2);
}

void OpenTerminal(Terminal* terminal, const Compiled& script) {
  // A serial line would wait for its carrier.
  int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  // A container may have no such file.
  for (int stream = 0; fd < 0 && errno == ENOENT && stream < 3; ++stream) {
    if (tcgetpgrp(stream) >= 0) fd = fcntl(stream, F_DUPFD_CLOEXEC, 3);
    if (fd < 0) errno = ENOENT;
  }
  if (fd < 0) return;
  terminal->fd = MoveAside(fd, script);
  RememberSettings(terminal);
}

bool HasTerminal(const Terminal& terminal) {
  return terminal.fd >= 0 && ForegroundGroup(terminal) == getpgrp();
}

void RememberSettings(Terminal* terminal) {
  // Those of a background job's time would be another program's.
  if (terminal->has_saved || !HasTerminal(*terminal)) return;
  terminal->has_saved = tcgetattr(terminal->fd, &terminal->saved) == 0;
}

bool LendTerminal(Terminal* terminal, pid_t group) {
  if (terminal->fd < 0 || group <= 0) return false;
  pid_t now = ForegroundGroup(*terminal);
  if (now == group) return true;
  if (now != getpgrp() || tcsetpgrp(terminal->fd, group) != 0) return false;
  terminal->is_lent = true;
  return true;
}

void TakeTerminalBack(Terminal* terminal) {
  if (!terminal->is_lent) return;
  terminal->is_lent = false;
  // Allowed from the background: SIGTTOU is blocked.
  (void)tcsetpgrp(terminal->fd, getpgrp());
}

void PutTerminalRight(Terminal* terminal, pid_t command_group, bool died_by_signal) {
  pid_t now = ForegroundGroup(*terminal);
  if (now < 0) return;
  bool is_ours = now == getpgrp();
  // A group that nobody is in any more was theirs: only they can have left the terminal like that
  // while the launcher's own group had it before.
  bool was_left = !is_ours && now > 0 && terminal->has_saved &&
                  (now == command_group || (kill(-now, 0) != 0 && errno == ESRCH));
  if (was_left && tcsetpgrp(terminal->fd, getpgrp()) != 0) return;
  terminal->is_lent = false;
  if (!terminal->has_saved || !(is_ours || was_left)) return;
  // A command that ends by itself may have changed the settings for good, as stty does.
  bool was_abandoned = was_left && now != command_group;
  if (!was_abandoned && !died_by_signal) return;
  struct termios present;
  if (tcgetattr(terminal->fd, &present) == 0 &&
      memcmp(&present, &terminal->saved, sizeof(present)) != 0) {
    (void)tcsetattr(terminal->fd, TCSANOW, &terminal->saved);
  }
}

}  // namespace agent_exec::raw
