#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "os/gather_parts.h"

namespace agent_exec {
namespace {

// Shared with the child, which runs in this memory while this process waits.
struct Attempt {
  char uid_map[32];
  const char* failed_act = nullptr;
  int error = 0;
};

bool WriteFile(const char* path, const char* text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool written = write(fd, text, strlen(text)) == static_cast<ssize_t>(strlen(text));
  int error = errno;
  (void)close(fd);
  errno = error;
  return written;
}

int TryInChild(void* argument) {
  Attempt* attempt = static_cast<Attempt*>(argument);
  const char* act = nullptr;
  // The group map is not tried: it goes by the same rules, and each file of a new process costs as
  // much as the namespace.
  if (!WriteFile("/proc/self/uid_map", attempt->uid_map)) {
    act = "write uid_map";
  } else if (unshare(CLONE_NEWUTS) != 0) {
    // The cheapest call that needs CAP_SYS_ADMIN in the new namespace: AppArmor may let it be made
    // and give nothing in it.
    act = "use a capability";
  }
  if (act != nullptr) {
    attempt->error = errno;
    attempt->failed_act = act;
  }
  _exit(0);
}

}  // namespace

std::string TryUserNamespace() {
  Attempt attempt;
  unsigned uid = geteuid();
  (void)snprintf(attempt.uid_map, sizeof(attempt.uid_map), "%u %u 1\n", uid, uid);
  alignas(16) static char stack[16384];
  // A handler must not run in the child: it would run in this memory.
  sigset_t all;
  sigset_t before;
  (void)sigfillset(&all);
  (void)sigprocmask(SIG_BLOCK, &all, &before);
  // No exit signal: a SIGCHLD of ours must not be seen by what the caller has set up.
  int child =
      clone(TryInChild, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_NEWUSER, &attempt);
  int error = errno;
  if (child > 0) {
    while (waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  (void)sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return absl::StrCat("unshare: ", ErrnoText(error));
  if (attempt.failed_act == nullptr) return "";
  return absl::StrCat(attempt.failed_act, ": ", ErrnoText(attempt.error));
}

}  // namespace agent_exec
