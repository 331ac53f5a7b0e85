#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/raw.h"
#include "os/supervise_parts.h"

// The supervisor: the process that the caller started and waits for. To the caller it is the
// command: it gets the command's signals, stops and runs on with it, and ends as it does.

namespace agent_exec::raw {
namespace {

// --- Stopping and running on ---------------------------------------------------------------------

void Continue(Supervisor* s) {
  s->stopped_by = 0;
  (void)Send(*s, OrderKind::kContinue, 0);
}

// The command may run on; where it waits for the terminal, with it.
void Resume(Supervisor* s) {
  if (HasTerminal(s->terminal)) {
    RememberSettings(&s->terminal);
    if (s->wants_terminal) (void)LendTerminal(&s->terminal, s->command);
    s->wants_terminal = false;
  }
  Continue(s);
}

// Makes the kernel send SIGCONT when the other end of the channel has written or is closed: inside
// somebody may let the command run on, or kill it, while this process is stopped.
void WakeByChannel(const Supervisor& s, bool on) {
  if (on) {
    (void)fcntl(s.channel, F_SETOWN, getpid());
    (void)fcntl(s.channel, F_SETSIG, SIGCONT);
  }
  (void)fcntl(s.channel, F_SETFL, on ? O_ASYNC : 0);
}

bool HasNews(const Supervisor& s) {
  struct pollfd wait = {s.channel, POLLIN, 0};
  return poll(&wait, 1, 0) > 0;
}

bool IsPending(int signal) {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
}

// Stops this process as the command has stopped.
void Stop(Supervisor* s, int signal) {
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  // What the terminal sent to the command's group it would have sent to all of the caller's: a
  // script above, and the rest of a pipeline, must stop too for the shell to see the job stopped.
  const bool is_for_group =
      signal != SIGSTOP && s->terminal.fd >= 0 && (s->terminal.is_lent || wants_terminal);
  s->wants_terminal = s->wants_terminal || s->terminal.is_lent || wants_terminal;
  TakeTerminalBack(&s->terminal);
  WakeByChannel(*s, true);
  // Blocked, so pending; the kernel takes it away when SIGCONT comes, by the channel too.
  (void)kill(is_for_group ? 0 : getpid(), signal);
  sigset_t one;
  (void)sigemptyset(&one);
  (void)sigaddset(&one, signal);
  if (HasNews(*s)) {
    const struct timespec now = {0, 0};
    (void)sigtimedwait(&one, nullptr, &now);
  } else {
    (void)sigprocmask(SIG_UNBLOCK, &one, nullptr);  // stops here
    (void)sigprocmask(SIG_BLOCK, &one, nullptr);
  }
  WakeByChannel(*s, false);
  if (IsPending(SIGCONT)) {
    s->stopped_by = 0;
    return;
  }
  if (HasNews(*s)) return;  // and looks again when it knows them
  // The kernel has thrown the signal away: the caller's group is orphaned, nobody could let it run
  // on. In the background it can never get the terminal, and without this the command would ask
  // again and again.
  if (wants_terminal) (void)Send(*s, OrderKind::kLeaveSession, 0);
  Resume(s);
}

void FollowCommand(Supervisor* s) {
  const int signal = s->stopped_by;
  if (signal == 0) return;
  if ((signal == SIGTTIN || signal == SIGTTOU) && LendTerminal(&s->terminal, s->command)) {
    Continue(s);
  } else {
    Stop(s, signal);
  }
}

// --- What is read --------------------------------------------------------------------------------

void TakeEvent(Supervisor* s, const Event& event, pid_t sender) {
  switch (event.kind) {
    case EventKind::kStarted:
      s->command = sender;
      s->terminal.is_lent = event.number != 0;
      break;
    case EventKind::kStopped:
      s->stopped_by = event.number;
      break;
    case EventKind::kContinued:
      s->stopped_by = 0;
      break;
    case EventKind::kTerminalWanted:
      if (LendTerminal(&s->terminal, s->command)) {
        Continue(s);
      } else {
        // The command itself goes on in the background.
        s->wants_terminal = true;
      }
      break;
    case EventKind::kEnded:
      s->has_ended = true;
      s->stopped_by = 0;
      s->status = event.number;
      s->by_terminal = event.by_terminal != 0;
      break;
  }
}

// Returns false when the other side is closed.
bool ReadEvents(Supervisor* s) {
  for (;;) {
    Event event;
    alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
    struct iovec part = {&event, sizeof(event)};
    struct msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    ssize_t got = recvmsg(s->channel, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    pid_t sender = 0;
    const struct cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_level == SOL_SOCKET &&
        header->cmsg_type == SCM_CREDENTIALS) {
      struct ucred from;
      memcpy(&from, CMSG_DATA(header), sizeof(from));
      sender = from.pid;
    }
    TakeEvent(s, event, sender);
  }
}

bool IsStopSignal(int signal) {
  for (int stop : kStopSignals) {
    if (signal == stop) return true;
  }
  return false;
}

void ReadSignals(Supervisor* s) {
  struct signalfd_siginfo info;
  while (read(s->signal_fd, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCONT) {
      // One that the channel sent is for this process alone.
      if (info.ssi_code < POLL_IN || info.ssi_code > POLL_HUP) Resume(s);
      continue;
    }
    (void)Send(*s, OrderKind::kPass, signal);
    // There is no command any more that could stop first.
    if (s->has_ended && IsStopSignal(signal)) Stop(s, signal);
  }
}

void Watch(Supervisor* s) {
  enum { kInit, kChannel, kSignals };
  struct pollfd waits[] = {
      {s->init_fd, POLLIN, 0}, {s->channel, POLLIN, 0}, {s->signal_fd, POLLIN, 0}};
  // Without a pidfd the channel's end has to do: I has its other end, and what is left inside when
  // I ends is waited for all the same.
  for (bool is_open = true;;) {
    if (poll(waits, 3, -1) < 0) continue;
    // Also before the end: the last word may have come together with it.
    if (waits[kChannel].revents != 0 && !ReadEvents(s)) {
      is_open = false;
      waits[kChannel].fd = -1;
    }
    if (waits[kInit].revents != 0 || (!is_open && s->init_fd < 0)) break;
    if (waits[kSignals].revents != 0) ReadSignals(s);
    // Only when all is read: a stop may be over, and SIGCONT must not be lost to a new one.
    FollowCommand(s);
  }
  (void)ReadEvents(s);
  int status = 0;
  pid_t ended;
  while ((ended = waitpid(s->init, &status, 0)) < 0 && errno == EINTR) {
  }
  if (s->has_ended) return;
  // Set-up failed, or I was killed from outside: everything inside was then, by SIGKILL. Without a
  // word on the command nothing is a success.
  const bool is_known = ended == s->init && status != 0;
  s->status = is_known ? status : kStatusRefused << 8;
}

[[noreturn]] void EndAs(Supervisor* s) {
  const bool by_signal = WIFSIGNALED(s->status);
  const int signal = by_signal ? WTERMSIG(s->status) : 0;
  RemovePlaceholders(s->script);
  PutTerminalRight(&s->terminal, s->command, by_signal);
  if (!by_signal) _exit(WEXITSTATUS(s->status));
  // A core file would be this process's, not the command's.
  const struct rlimit none = {0, 0};
  (void)setrlimit(RLIMIT_CORE, &none);
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  (void)sigaction(signal, &standard, nullptr);
  // The terminal's Ctrl-C was for the script above too, which has not got it.
  (void)kill(s->by_terminal ? 0 : getpid(), signal);
  sigset_t one;
  (void)sigemptyset(&one);
  (void)sigaddset(&one, signal);
  (void)sigprocmask(SIG_UNBLOCK, &one, nullptr);
  // As pid 1 of a container it does not die by it.
  _exit(128 + signal);
}

}  // namespace

int Send(const Supervisor& s, OrderKind kind, int number) {
  const Order order = {kind, number};
  // Waits where the queue is full: what comes meanwhile stays pending in the kernel.
  ssize_t sent = send(s.channel, &order, sizeof(order), MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(sizeof(order)) ? 0 : errno;
}

void Supervise(Supervisor* s) {
  Watch(s);
  EndAs(s);
}

}  // namespace agent_exec::raw
