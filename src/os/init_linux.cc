#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/raw.h"
#include "os/supervise_parts.h"

// Pid 1 of the command's PID namespace. When it ends, the kernel kills everybody else in there.
//
// It stays in the caller's process group with every signal blocked. So a signal that was sent to
// the group is pending here too, and one that was sent to S alone is not: that is how the two are
// told apart, and how none reaches the command twice. The kernel goes through a group from its
// youngest member to its eldest, and this process is younger than S: what S has got is here
// already.

namespace agent_exec::raw {

InitSide g_init_side;

namespace {

constexpr char kTitle[] = "agent-exec-init";
// Queued, so that it is not merged with another one; from pid 1, which nobody inside can claim to
// be.
constexpr int kAskWitness = 64;
// A hostile command may keep the witness from answering.
constexpr long kWitnessMs = 20;
enum WitnessAnswer { kSawInterrupt = 1, kSawQuit = 2 };

struct Init {
  pid_t command = 0;         // 0: has ended
  pid_t* witness = nullptr;  // 0: none, or gone
  bool is_stopped = false;
  sigset_t waiting_mask;  // SIGCHLD may come
};

[[noreturn]] void Quit() { _exit(0); }

void OnChild(int) {}

// The raw call: what the C library does around a fork is for handlers and locks that this program
// does not have. Its idea of the own thread number is wrong afterwards, so raise() must not be
// used.
pid_t Fork(unsigned long flags) {
  return static_cast<pid_t>(syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0));
}

bool Report(EventKind kind, int number, bool by_terminal, int flags) {
  const Event event = {kind, number, by_terminal ? 1 : 0};
  return send(g_init_side.channel, &event, sizeof(event), flags | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof(event));
}

// Was this signal sent to the caller's group? Once asked, it is forgotten.
bool TakePending(int signal) {
  sigset_t one;
  (void)sigemptyset(&one);
  (void)sigaddset(&one, signal);
  const struct timespec now = {0, 0};
  return sigtimedwait(&one, nullptr, &now) == signal;
}

// --- The witness ---------------------------------------------------------------------------------

// A member of the command's group that sees what the terminal sends there, also what the command
// itself ignores: it stops by SIGTTIN and SIGTTOU, which tells this process that somebody in the
// group wants the terminal, and keeps SIGINT and SIGQUIT with who sent them until it is asked.
[[noreturn]] void Witness() {
  (void)ForOtherDescriptors(nullptr, 0, Others::kClose);
  for (int fd = 0; fd < 3; ++fd) (void)close(fd);
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  (void)sigaction(SIGTTIN, &standard, nullptr);
  (void)sigaction(SIGTTOU, &standard, nullptr);
  sigset_t stops;
  (void)sigemptyset(&stops);
  (void)sigaddset(&stops, SIGTTIN);
  (void)sigaddset(&stops, SIGTTOU);
  (void)sigprocmask(SIG_UNBLOCK, &stops, nullptr);
  sigset_t ask;
  (void)sigemptyset(&ask);
  (void)sigaddset(&ask, kAskWitness);
  siginfo_t info;
  do {
    info = {};
    (void)sigwaitinfo(&ask, &info);
  } while (info.si_signo != kAskWitness || info.si_code != SI_QUEUE || info.si_pid != 1);
  int answer = 0;
  const struct timespec now = {0, 0};
  sigset_t keys;
  (void)sigemptyset(&keys);
  (void)sigaddset(&keys, SIGINT);
  (void)sigaddset(&keys, SIGQUIT);
  while (sigtimedwait(&keys, &info, &now) > 0) {
    // No process can send a signal that says that the kernel did.
    if (info.si_code != SI_KERNEL) continue;
    answer |= info.si_signo == SIGINT ? kSawInterrupt : kSawQuit;
  }
  _exit(answer);
}

// Did the terminal send this signal to the command's group? The witness is gone afterwards.
bool TerminalSent(const Init& init, int signal) {
  pid_t witness = *init.witness;
  if (witness <= 0 || (signal != SIGINT && signal != SIGQUIT)) return false;
  union sigval nothing = {};
  if (sigqueue(witness, kAskWitness, nothing) != 0) return false;
  (void)kill(witness, SIGCONT);
  sigset_t child;
  (void)sigemptyset(&child);
  (void)sigaddset(&child, SIGCHLD);
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  const long end_ms = now.tv_sec * 1000 + now.tv_nsec / 1000000 + kWitnessMs;
  int status = 0;
  while (waitpid(witness, &status, WNOHANG) == 0) {
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const long left_ms = end_ms - (now.tv_sec * 1000 + now.tv_nsec / 1000000);
    if (left_ms <= 0) return false;
    const struct timespec left = {0, left_ms * 1000000};
    (void)sigtimedwait(&child, nullptr, &left);
  }
  const int wanted = signal == SIGINT ? kSawInterrupt : kSawQuit;
  return WIFEXITED(status) && (WEXITSTATUS(status) & wanted) != 0;
}

// --- Orders --------------------------------------------------------------------------------------

void SendToGroup(const Init& init, int signal) {
  (void)kill(-init.command, signal);
  // It may have joined a group that a child of its own has made.
  if (getpgid(init.command) != init.command) (void)kill(init.command, signal);
}

void Pass(const Init& init, int signal) {
  bool is_for_group = TakePending(signal);
  if (init.command == 0) {
    // Only what it has left in the background is there to get it.
    (void)kill(-1, signal);
  } else if (is_for_group) {
    SendToGroup(init, signal);
  } else {
    (void)kill(init.command, signal);
  }
}

void Continue(Init* init) {
  // What stopped the caller's group is over.
  for (int signal : {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT}) (void)TakePending(signal);
  init->is_stopped = false;
  if (init->command == 0) {
    (void)kill(-1, SIGCONT);
  } else {
    SendToGroup(*init, SIGCONT);
  }
}

// Returns false when S is gone.
bool TakeOrders(Init* init) {
  for (;;) {
    Order order;
    ssize_t got = recv(g_init_side.channel, &order, sizeof(order), MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    switch (order.kind) {
      case OrderKind::kGo:
        break;
      case OrderKind::kPass:
        Pass(*init, order.number);
        break;
      case OrderKind::kContinue:
        Continue(init);
        break;
      case OrderKind::kLeaveSession:
        // Now no parent of a member of the command's group is in its session: the kernel lets it
        // neither stop on SIGTSTP nor wait for a terminal that it would never be given.
        (void)setsid();
        break;
    }
  }
}

// --- Children ------------------------------------------------------------------------------------

void CommandEnded(Init* init, int status) {
  bool by_terminal = WIFSIGNALED(status) && TerminalSent(*init, WTERMSIG(status));
  if (!Report(EventKind::kEnded, status, by_terminal, 0)) _exit(kStatusRefused);
  if (!g_init_side.split.keep_background) Quit();
  init->command = 0;
  if (*init->witness > 0) (void)kill(*init->witness, SIGKILL);
}

void ChildChanged(Init* init, pid_t child, int status) {
  if (child == init->command) {
    if (WIFSTOPPED(status)) {
      init->is_stopped = true;
      (void)Report(EventKind::kStopped, WSTOPSIG(status), false, MSG_DONTWAIT);
    } else if (WIFCONTINUED(status)) {
      if (init->is_stopped) (void)Report(EventKind::kContinued, 0, false, MSG_DONTWAIT);
      init->is_stopped = false;
    } else {
      CommandEnded(init, status);
    }
  } else if (child == *init->witness && WIFSTOPPED(status)) {
    const int signal = WSTOPSIG(status);
    // Of a command that has stopped itself S knows already, and may have stopped: it must not be
    // woken.
    if ((signal == SIGTTIN || signal == SIGTTOU) && !init->is_stopped) {
      (void)Report(EventKind::kTerminalWanted, signal, false, MSG_DONTWAIT);
    }
  } else if (child == *init->witness && !WIFCONTINUED(status)) {
    *init->witness = 0;
  }
}

void ReapChildren(Init* init) {
  int status;
  pid_t child;
  while ((child = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
    ChildChanged(init, child, status);
  }
  // Whoever is left inside has an ancestor among the children.
  if (child < 0 && errno == ECHILD) Quit();
}

[[noreturn]] void Attend(Init* init) {
  for (;;) {
    ReapChildren(init);
    struct pollfd wait = {g_init_side.channel, POLLIN, 0};
    (void)ppoll(&wait, 1, nullptr, &init->waiting_mask);
    if (wait.revents != 0 && !TakeOrders(init)) Quit();
  }
}

// Dies with S. The kernel sends this signal only for a death that is still to come.
int DieWithSupervisor() {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  struct pollfd wait = {g_init_side.channel, 0, 0};
  // One that has ended has closed its end of the channel before it has told its children.
  if (poll(&wait, 1, 0) < 0) return errno;
  if ((wait.revents & POLLHUP) != 0) _exit(kStatusRefused);
  return 0;
}

int WriteOwnMaps(const Split& split) {
  // Old kernels have no such file.
  if (split.deny_setgroups) {
    int error = WriteProcFile("/proc/self/setgroups", "deny");
    if (error != 0 && error != ENOENT) return error;
  }
  if (int error = WriteProcFile("/proc/self/uid_map", split.uid_map); error != 0) return error;
  return WriteProcFile("/proc/self/gid_map", split.gid_map);
}

int AwaitMaps() {
  Order order;
  ssize_t got;
  while ((got = recv(g_init_side.channel, &order, sizeof(order), 0)) < 0 && errno == EINTR) {
  }
  if (got == 0) _exit(kStatusRefused);
  return got < 0 ? errno : order.number;
}

int BecomeCommand(pid_t* witness) {
  // Without it `kill 0` would reach the caller.
  if (setpgid(0, 0) != 0) return errno;
  if (g_init_side.terminal_fd >= 0) {
    // A child of pid 1, like this process, but in this one's group from the start.
    pid_t child = Fork(CLONE_PARENT);
    if (child == 0) Witness();
    if (child < 0) return errno;
    *witness = child;
    // Allowed from the background, since SIGTTOU is still blocked.
    bool has_it = g_init_side.lend_at_start && tcsetpgrp(g_init_side.terminal_fd, getpgrp()) == 0;
    if (!Report(EventKind::kStarted, has_it ? 1 : 0, false, 0)) return errno;
  }
  // An exec would do this too, but what comes before it may need /proc/self.
  (void)prctl(PR_SET_DUMPABLE, 1);
  if (sigaction(SIGCHLD, &g_init_side.caller_child, nullptr) != 0) return errno;
  return sigprocmask(SIG_SETMASK, &g_init_side.caller_mask, nullptr) == 0 ? 0 : errno;
}

}  // namespace

int WriteProcFile(const char* path, const char* text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const auto size = static_cast<ssize_t>(strlen(text));
  int error = write(fd, text, static_cast<size_t>(size)) == size ? 0 : errno;
  (void)close(fd);
  return error;
}

void BecomeInit() {
  const Split& split = g_init_side.split;
  int error = DieWithSupervisor();
  // S is not dumpable, and the files in /proc of such a process are root's.
  if (error == 0 && prctl(PR_SET_DUMPABLE, 1) != 0) error = errno;
  if (error != 0) {
    Tell(split.failed, error);
    EndSetup(kStatusRefused);
  }
  error = split.map_by_parent ? AwaitMaps() : WriteOwnMaps(split);
  if (error == 0) return;
  Tell(split.maps_failed, error);
  EndSetup(kStatusRefused);
}

int SplitInit() {
  // A change of ids may have taken the first one away.
  if (int error = DieWithSupervisor(); error != 0) return error;
  (void)prctl(PR_SET_NAME, kTitle);
  // Before the command exists: its memory holds the caller's environment, and by ptrace it would
  // do what the filter forbids.
  if (prctl(PR_SET_DUMPABLE, 0) != 0) return errno;
  // A caller that ignores SIGCHLD has its children's ends thrown away.
  struct sigaction on_child = {};
  on_child.sa_handler = OnChild;
  if (sigaction(SIGCHLD, &on_child, nullptr) != 0) return errno;
  Init init;
  static pid_t no_witness = 0;
  pid_t* witness = &no_witness;
  if (g_init_side.terminal_fd >= 0) {
    void* page =
        mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return errno;
    witness = static_cast<pid_t*>(page);
  }
  init.witness = witness;
  init.command = Fork(0);
  if (init.command < 0) return errno;
  if (init.command == 0) return BecomeCommand(witness);
  // Both do it: neither may go on before it is done.
  (void)setpgid(init.command, init.command);
  for (int fd = 0; fd < 3; ++fd) (void)close(fd);
  const int keep[] = {g_init_side.channel};
  (void)ForOtherDescriptors(keep, 1, Others::kClose);
  (void)sigfillset(&init.waiting_mask);
  (void)sigdelset(&init.waiting_mask, SIGCHLD);
  Attend(&init);
}

void EndSetup(int status) {
  // S takes this process's status where I has told none, and I takes that of C.
  _exit(status);
}

}  // namespace agent_exec::raw
