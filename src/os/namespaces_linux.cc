#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/raw.h"

namespace agent_exec::raw {
namespace {

int WriteText(const char* path, const char* text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const auto size = static_cast<ssize_t>(strlen(text));
  ssize_t written = write(fd, text, static_cast<size_t>(size));
  int error = written == size ? 0 : written < 0 ? errno : EIO;
  (void)close(fd);
  return error;
}

int MapSelf(const NamespacesAct& act) {
  // Old kernels have no such file, and no need for it.
  if (act.deny_setgroups) {
    int error = WriteText("/proc/self/setgroups", "deny");
    if (error != 0 && error != ENOENT) return error;
  }
  if (int error = WriteText("/proc/self/uid_map", act.uid_map); error != 0) return error;
  return WriteText("/proc/self/gid_map", act.gid_map);
}

int MapParent(const NamespacesAct& act) {
  if (int error = CheckProcIsOurs(); error != 0) return error;
  char path[48] = "/proc/";
  char digits[12];
  int count = 0;
  for (pid_t rest = getppid(); rest > 0; rest /= 10) {
    digits[count++] = static_cast<char>('0' + rest % 10);
  }
  size_t at = strlen(path);
  while (count > 0) path[at++] = digits[--count];
  strcpy(path + at, "/uid_map");
  if (int error = WriteText(path, act.uid_map); error != 0) return error;
  strcpy(path + at, "/gid_map");
  return WriteText(path, act.gid_map);
}

// The child that stays above for a moment, to write the maps. One byte says that there is something
// to map, one says how it went.
[[noreturn]] void WriteMaps(const NamespacesAct& act, int channel) {
  char go;
  ssize_t got;
  do got = read(channel, &go, 1);
  while (got < 0 && errno == EINTR);
  _exit(got == 1 ? MapParent(act) : 0);
}

}  // namespace

int EnterInPlace(const NamespacesAct& act, bool* maps_failed) {
  int ends[2] = {-1, -1};
  pid_t writer = -1;
  if (act.by_parent) {
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    // No exit signal: what the caller has set up for its children does not concern this one.
    writer = static_cast<pid_t>(syscall(SYS_clone, 0, 0, 0, 0, 0));
    if (writer == 0) {
      (void)close(ends[1]);
      WriteMaps(act, ends[0]);
    }
    if (writer < 0) return errno;
    (void)close(ends[0]);
  }
  const int wanted =
      CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | (act.net ? CLONE_NEWNET : 0);
  int error = unshare(wanted | CLONE_NEWCGROUP) != 0 ? errno : 0;
  // Kernels before 4.6, or without cgroups.
  if (error == EINVAL) error = unshare(wanted) != 0 ? errno : 0;
  const bool made = error == 0;
  if (writer > 0) {
    if (made) {
      const char go = 0;
      if (write(ends[1], &go, 1) != 1) error = errno;
    }
    (void)close(ends[1]);
    int status = 0;
    while (waitpid(writer, &status, __WALL) < 0 && errno == EINTR) {
    }
    if (made && error == 0) error = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
  } else if (made) {
    error = MapSelf(act);
  }
  *maps_failed = made && error != 0;
  return error;
}

}  // namespace agent_exec::raw
