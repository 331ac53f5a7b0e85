#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/raw.h"
#include "os/supervise_parts.h"

// The process becomes two: the supervisor, which keeps next to nothing of what the launcher had,
// and process 1 of the new namespaces.

// The linker's: where the program's code begins and ends.
extern "C" const char __executable_start[];
extern "C" const char etext[];

namespace agent_exec::raw {
namespace {

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif
#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

constexpr char kTitle[] = "agent-exec";

void WipeArguments(const RunOptions& options) {
  char* arguments = options.argument_memory;
  const size_t size = options.argument_bytes;
  if (arguments == nullptr || size == 0) return;
  memset(arguments, 0, size);
  memcpy(arguments, kTitle, size < sizeof(kTitle) ? size - 1 : sizeof(kTitle));
}

// Nothing of the caller's stays but standard error: its pipes must be able to close. Placeholders
// stay open, for their locks.
void LetGo(const Supervisor& s) {
  int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < STDERR_FILENO; ++fd) {
    if (null_fd < 0) {
      (void)close(fd);
    } else if (null_fd != fd) {
      (void)dup2(null_fd, fd);
    }
  }
  int* keep = s.script->scratch_fds.data();
  size_t count = 0;
  auto add = [&](int fd) {
    if (fd < 3) return;
    size_t at = count++;
    for (; at > 0 && keep[at - 1] > fd; --at) keep[at] = keep[at - 1];
    keep[at] = fd;
  };
  for (int fd : {s.init_fd, s.channel, s.signal_fd, s.terminal.fd}) add(fd);
  for (const PlaceholderParent& parent : s.script->parents) add(parent.fd);
  for (const PlaceholderSlot& slot : s.script->placeholders) add(slot.fd);
  (void)ForOtherDescriptors(keep, count, Others::kClose);
}

// The code that read the policy is not needed again. Its pages are clean, so the few that are come
// back by themselves.
void ForgetCode() {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  // Rounded down: the next page may be data.
  const uintptr_t begin = reinterpret_cast<uintptr_t>(__executable_start) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(etext) / page * page;
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

int OpenSignals(const Compiled& script) {
  sigset_t wanted;
  (void)sigfillset(&wanted);
  // I tells what its children do, and the pidfd what I does.
  (void)sigdelset(&wanted, SIGCHLD);
  int fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  return fd < 0 ? fd : MoveAside(fd, script);
}

int WriteMapsFor(pid_t init, const Split& split) {
  struct File {
    const char* name;
    const char* text;
  };
  const File files[] = {{"setgroups", split.deny_setgroups ? "deny" : ""},
                        {"uid_map", split.uid_map},
                        {"gid_map", split.gid_map}};
  // Else the number may be a foreign process's, which must not get these maps.
  if (int error = CheckProcIsOurs(); error != 0) return error;
  for (const File& file : files) {
    if (file.text[0] == '\0') continue;
    char path[48];
    (void)snprintf(path, sizeof(path), "/proc/%d/%s", static_cast<int>(init), file.name);
    if (int error = WriteProcFile(path, file.text); error != 0) return error;
  }
  return 0;
}

// In I 0, in S its number, or -1 with errno.
pid_t ForkInit(const Split& split, int* init_fd) {
  unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
                        CLONE_NEWCGROUP | CLONE_PIDFD | SIGCHLD;
  if (split.own_network) flags |= CLONE_NEWNET;
  long pid = syscall(SYS_clone, flags, 0, init_fd, 0, 0);
  // A kernel without cgroups.
  if (pid < 0 && errno == EINVAL) {
    pid =
        syscall(SYS_clone, flags & ~static_cast<unsigned long>(CLONE_NEWCGROUP), 0, init_fd, 0, 0);
  }
  return static_cast<pid_t>(pid);
}

// Both ends of the channel and the signals, or an errno and none of them.
int OpenAll(Supervisor* s, const Compiled& script) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  s->channel = MoveAside(ends[0], script);
  int error = s->channel < 0 ? errno : 0;
  g_init_side.channel = MoveAside(ends[1], script);
  if (g_init_side.channel < 0 && error == 0) error = errno;
  // The kernel adds who sends, by the number that this process knows.
  const int on = 1;
  if (error == 0 && setsockopt(s->channel, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0) {
    error = errno;
  }
  if (error == 0 && (s->signal_fd = OpenSignals(script)) < 0) error = errno;
  return error;
}

void CloseAll(const Supervisor& s) {
  for (int fd : {s.channel, g_init_side.channel, s.signal_fd, s.terminal.fd}) {
    if (fd >= 0) (void)close(fd);
  }
}

}  // namespace

int SplitSupervisor(const Split& split) {
  static Supervisor s;
  s.script = split.script;
  g_init_side.split = split;
  g_init_side.caller_mask = *split.caller_mask;
  if (int error = OpenAll(&s, *split.script); error != 0) {
    CloseAll(s);
    return error;
  }
  OpenTerminal(&s.terminal, *split.script);
  g_init_side.terminal_fd = s.terminal.fd;
  g_init_side.lend_at_start = LendsAtStart(s.terminal, *split.caller_mask);
  // A caller that ignores SIGCHLD would have the kernel throw the ends of children away.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  if (sigaction(SIGCHLD, &standard, &g_init_side.caller_child) != 0 ||
      prctl(PR_SET_DUMPABLE, 0) != 0) {
    int error = errno;
    CloseAll(s);
    return error;
  }
  // Before there are two of them.
  WipeArguments(*split.options);
  s.init = ForkInit(split, &s.init_fd);
  if (s.init < 0) {
    int error = errno;
    CloseAll(s);
    return error;
  }
  if (s.init == 0) {
    (void)close(s.channel);
    (void)close(s.signal_fd);
    BecomeInit();
    return 0;
  }
  (void)close(g_init_side.channel);
  if (split.map_by_parent) {
    if (int error = Send(s, OrderKind::kGo, WriteMapsFor(s.init, split)); error != 0) {
      // It would wait for ever.
      (void)kill(s.init, SIGKILL);
      (void)waitpid(s.init, nullptr, 0);
      return error;
    }
  }
  s.init_fd = MoveAside(s.init_fd, *split.script);
  // Those that this process sends itself.
  for (int signal : kStopSignals) (void)sigaction(signal, &standard, nullptr);
  LetGo(s);
  ForgetCode();
  Supervise(&s);
}

}  // namespace agent_exec::raw
