#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "os/raw.h"

namespace agent_exec::raw {
namespace {

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
constexpr unsigned kCloseRangeCloexec = 4;

bool Contains(const int* sorted, size_t count, int wanted) {
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (sorted[middle] == wanted) return true;
    if (sorted[middle] < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return false;
}

bool CloseRange(unsigned first, unsigned last, Others what) {
  unsigned flags = what == Others::kCloseOnExec ? kCloseRangeCloexec : 0;
  return syscall(SYS_close_range, first, last, flags) == 0;
}

void CloseOne(int fd, Others what) {
  if (what == Others::kClose) {
    (void)close(fd);
  } else if (int flags = fcntl(fd, F_GETFD); flags >= 0) {
    (void)fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
  }
}

// One by one, by the list that the kernel gives. Closing while reading is safe here: entries are
// numbers in order.
bool CloseListed(const int* keep, size_t count, Others what) {
  int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return false;
  alignas(8) char buffer[2048];
  long got;
  while ((got = syscall(SYS_getdents64, directory, buffer, sizeof(buffer))) > 0) {
    for (long at = 0; at < got;) {
      const char* entry = buffer + at;
      at += *reinterpret_cast<const uint16_t*>(entry + 16);  // d_reclen
      const char* name = entry + 19;                         // d_name
      if (name[0] < '0' || name[0] > '9') continue;
      int fd = atoi(name);
      if (fd >= 3 && fd != directory && !Contains(keep, count, fd)) CloseOne(fd, what);
    }
  }
  (void)close(directory);
  return got == 0;
}

}  // namespace

int MoveAside(int fd, const Compiled& script) {
  const int* reserved = script.keep_fds.data();
  size_t count = script.keep_fds.size();
  if (fd < 0 || (fd >= 3 && !Contains(reserved, count, fd))) return fd;
  // Above all of them in one step; between them only where the limit on descriptors leaves no room
  // there.
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, count > 0 ? std::max(reserved[count - 1] + 1, 3) : 3);
  int from = 3;
  while (moved < 0 && (errno == EINVAL || errno == EMFILE)) {
    while (Contains(reserved, count, from)) ++from;
    int next = fcntl(fd, F_DUPFD_CLOEXEC, from);
    if (next < 0) {
      errno = EMFILE;
      break;
    }
    if (!Contains(reserved, count, next)) {
      moved = next;
      break;
    }
    (void)close(next);
    from = next + 1;
    errno = EMFILE;
  }
  int error = errno;
  (void)close(fd);
  errno = error;
  return moved;
}

int InstallAt(int fd, int number) {
  if (fd < 0) return errno;
  int result = fd == number ? fcntl(fd, F_SETFD, 0) : dup3(fd, number, 0);
  int error = errno;
  if (fd != number) (void)close(fd);
  return result < 0 ? error : 0;
}

int WriteAll(int fd, const void* bytes, size_t size) {
  // The caller's SIGPIPE would end this process without a word, and with what it has made still
  // there.
  sigset_t pipe_only;
  sigset_t before;
  sigset_t pending;
  (void)sigemptyset(&pipe_only);
  (void)sigaddset(&pipe_only, SIGPIPE);
  (void)sigpending(&pending);
  bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  (void)sigprocmask(SIG_BLOCK, &pipe_only, &before);
  const char* at = static_cast<const char*>(bytes);
  int error = 0;
  while (size > 0) {
    ssize_t written = write(fd, at, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      error = errno;
      break;
    }
    at += written;
    size -= static_cast<size_t>(written);
  }
  if (error == EPIPE && !was_pending) {
    const struct timespec now = {0, 0};
    (void)sigtimedwait(&pipe_only, nullptr, &now);
  }
  (void)sigprocmask(SIG_SETMASK, &before, nullptr);
  return error;
}

void Tell(const Message& message, int error) {
  const char* text = message.after[0] == '\0' ? "" : ErrnoText(error);
  struct iovec parts[3] = {{const_cast<char*>(message.before), strlen(message.before)},
                           {const_cast<char*>(text), strlen(text)},
                           {const_cast<char*>(message.after), strlen(message.after)}};
  (void)!writev(STDERR_FILENO, parts, 3);
}

int CheckProcIsOurs() {
  char text[16];
  ssize_t size = readlink("/proc/self", text, sizeof(text) - 1);
  if (size < 0) return errno;
  text[size] = '\0';
  return atoi(text) == getpid() ? 0 : ESRCH;
}

void SleepUs(long microseconds) {
  const struct timespec pause = {microseconds / 1000000, (microseconds % 1000000) * 1000};
  (void)nanosleep(&pause, nullptr);
}

int ForOtherDescriptors(const int* keep, size_t count, Others what) {
  unsigned first = 3;
  bool done = true;
  for (size_t i = 0; i < count && done; ++i) {
    unsigned kept = static_cast<unsigned>(keep[i]);
    if (kept > first) done = CloseRange(first, kept - 1, what);
    if (kept >= first) first = kept + 1;
  }
  if (done && CloseRange(first, ~0u, what)) return 0;
  // Before Linux 5.9, CLOEXEC 5.11, or below a filter that does not know the call.
  if (CloseListed(keep, count, what)) return 0;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return errno;
  // A number above a lowered limit may be open, and an unlimited one has no end: neither is guessed
  // at.
  if (limit.rlim_max > (1 << 20)) return ENOSYS;
  for (int fd = 3; fd < static_cast<int>(limit.rlim_max); ++fd) {
    if (!Contains(keep, count, fd)) CloseOne(fd, what);
  }
  return 0;
}

}  // namespace agent_exec::raw
