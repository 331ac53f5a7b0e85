#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/raw.h"

// The process that removes placeholders when a wrapper has taken the launcher's place. It is
// nobody's child, has a session of its own and no descriptor of the caller's, so that neither a
// signal to the caller's group nor a pipe that is waited for to close meets it.

namespace agent_exec::raw {
namespace {

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

constexpr char kTitle[] = "agent-exec-sweeper";
// A wrapper that has died before it told its child's number tells nothing any more; only its own
// child may still hold the pipe.
constexpr int kLateInfoMs = 1000;
constexpr long kPollUs = 50000;

// A process that is waited for. Without pidfd_open (before Linux 5.3) it is looked at again and
// again.
struct Watched {
  pid_t pid = -1;
  int fd = -1;
};

struct Start {
  Compiled* script;
  const RunOptions* options;
  Watched launcher;
  int info_fd = -1;
  int error = 0;
};

int OpenPidfd(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

void WaitFor(const Watched& process) {
  if (process.fd >= 0) {
    struct pollfd wait = {process.fd, POLLIN, 0};
    while (poll(&wait, 1, -1) < 0 && errno == EINTR) {
    }
    return;
  }
  while (process.pid > 0 && kill(process.pid, 0) == 0) SleepUs(kPollUs);
}

// The digits after a key in a small JSON text, or -1.
int64_t NumberAfter(const char* text, const char* key) {
  const char* at = strstr(text, key);
  if (at == nullptr) return -1;
  at += strlen(key);
  while (*at == ' ' || *at == ':' || *at == '"' || *at == '\t') ++at;
  if (*at < '0' || *at > '9') return -1;
  int64_t number = 0;
  while (*at >= '0' && *at <= '9' && number < (int64_t{1} << 40))
    number = number * 10 + (*at++ - '0');
  return number;
}

// The wrapper's word on its child: {"child-pid": N, …}. Returns N, or -1 when the wrapper failed
// before.
pid_t ReadChildPid(const Start& start) {
  char text[1024];
  size_t used = 0;
  bool launcher_ended = false;
  while (used < sizeof(text) - 1) {
    struct pollfd wait[2] = {{start.info_fd, POLLIN, 0}, {start.launcher.fd, POLLIN, 0}};
    int ready = poll(wait, launcher_ended || start.launcher.fd < 0 ? 1 : 2,
                     launcher_ended ? kLateInfoMs : -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return -1;
    if (wait[0].revents == 0) {
      launcher_ended = true;
      continue;
    }
    ssize_t got = read(start.info_fd, text + used, sizeof(text) - 1 - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return -1;
    used += static_cast<size_t>(got);
    text[used] = '\0';
    int64_t pid = NumberAfter(text, "\"child-pid\"");
    // The number is whole when something stands after it.
    if (pid > 0 && strpbrk(strstr(text, "\"child-pid\"") + 11, ",}\n") != nullptr) {
      return static_cast<pid_t>(pid);
    }
  }
  return -1;
}

// Is it pid 1 of a PID namespace below ours? Whoever has taken a freed number meanwhile hardly is.
bool IsInitOfNamespace(pid_t pid) {
  char path[40] = "/proc/";
  char digits[12];
  int count = 0;
  for (pid_t rest = pid; rest > 0; rest /= 10) digits[count++] = static_cast<char>('0' + rest % 10);
  size_t at = strlen(path);
  while (count > 0) path[at++] = digits[--count];
  memcpy(path + at, "/status", sizeof("/status"));
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[4096];
  ssize_t size = read(fd, text, sizeof(text) - 1);
  (void)close(fd);
  if (size <= 0) return false;
  text[size] = '\0';
  const char* line = strstr(text, "\nNSpid:");
  if (line == nullptr) return false;
  const char* end = strchr(line + 1, '\n');
  if (end == nullptr) return false;
  return end - line > 9 && end[-1] == '1' && (end[-2] == '\t' || end[-2] == ' ');
}

// Nothing of the caller's stays: its pipes must be able to close, its directories to be unmounted.
void Detach(const Start& start) {
  Compiled* script = start.script;
  int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; ++fd) {
    if (null_fd < 0) {
      (void)close(fd);
    } else if (null_fd != fd) {
      (void)dup2(null_fd, fd);
    }
  }
  int* keep = script->scratch_fds.data();
  size_t count = 0;
  auto add = [&](int fd) {
    if (fd < 3) return;
    size_t at = count++;
    for (; at > 0 && keep[at - 1] > fd; --at) keep[at] = keep[at - 1];
    keep[at] = fd;
  };
  add(start.info_fd);
  add(start.launcher.fd);
  for (const PlaceholderParent& parent : script->parents) add(parent.fd);
  for (const PlaceholderSlot& slot : script->placeholders) add(slot.fd);
  (void)ForOtherDescriptors(keep, count, Others::kClose);
  (void)chdir("/");
  (void)prctl(PR_SET_NAME, kTitle);
  // Its memory holds the caller's environment.
  (void)prctl(PR_SET_DUMPABLE, 0);
  char* arguments = start.options->argument_memory;
  if (size_t size = start.options->argument_bytes; arguments != nullptr && size > 0) {
    memset(arguments, 0, size);
    memcpy(arguments, kTitle, size < sizeof(kTitle) ? size - 1 : sizeof(kTitle));
  }
}

[[noreturn]] void Sweep(const Start& start) {
  Detach(start);
  Watched sandbox;
  if (start.info_fd >= 0) sandbox.pid = ReadChildPid(start);
  if (sandbox.pid > 0) {
    sandbox.fd = OpenPidfd(sandbox.pid);
    // Checked after the descriptor is open: from here on the number cannot become somebody else's.
    if (!IsInitOfNamespace(sandbox.pid)) sandbox.pid = -1;
  }
  // The pipe stays open meanwhile: bubblewrap writes its JSON in pieces and would die of SIGPIPE.
  WaitFor(start.launcher);
  if (sandbox.pid > 0) {
    // The wrapper's child dies with it, unless it was too young yet to have asked for that.
    if (sandbox.fd >= 0) (void)syscall(SYS_pidfd_send_signal, sandbox.fd, SIGKILL, nullptr, 0);
    // Only when all inside is gone can nobody make the names again.
    WaitFor(sandbox);
  }
  RemovePlaceholders(start.script);
  _exit(0);
}

// Runs in the launcher's memory while the launcher waits. Its child, the sweeper, has a copy.
int Leave(void* argument) {
  Start* start = static_cast<Start*>(argument);
  if (setsid() < 0) {
    start->error = errno;
    _exit(1);
  }
  // The raw call: no handler of the C library need run, and none may take a lock here.
  long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) Sweep(*start);
  if (pid < 0) start->error = errno;
  _exit(0);
}

}  // namespace

int StartSweeper(Compiled* script, int info_fd, const RunOptions& options) {
  Start start;
  start.script = script;
  start.options = &options;
  int ends[2] = {-1, -1};
  if (info_fd >= 0) {
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    start.info_fd = MoveAside(ends[0], *script);
    if (start.info_fd < 0) return errno;
  }
  // Opened before the launcher is replaced: the number is surely ours now, and the process stays
  // the same by execve.
  start.launcher.pid = getpid();
  start.launcher.fd = OpenPidfd(start.launcher.pid);
  if (start.launcher.fd >= 0) {
    start.launcher.fd = MoveAside(start.launcher.fd, *script);
  }
  alignas(16) static char stack[32768];
  // No exit signal: the caller's SIGCHLD disposition, and what the wrapper waits for, do not
  // concern this child.
  pid_t child = clone(Leave, stack + sizeof(stack), CLONE_VM | CLONE_VFORK, &start);
  if (child < 0) return errno;
  while (waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  if (start.info_fd >= 0) (void)close(start.info_fd);
  if (start.launcher.fd >= 0) (void)close(start.launcher.fd);
  int error = start.error;
  if (error != 0 || info_fd < 0) {
    if (ends[1] >= 0) (void)close(ends[1]);
    return error;
  }
  return InstallAt(MoveAside(ends[1], *script), info_fd);
}

}  // namespace agent_exec::raw
