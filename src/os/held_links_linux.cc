#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "os/mount_calls_linux.h"
#include "os/raw.h"

// A mount on a symbolic link itself: no path names such a target, but a descriptor does. The link
// is followed as before, and removing, renaming or replacing it is EBUSY, also in what another
// program binds recursively from here.

namespace agent_exec::raw {
namespace {

int WriteFile(const char* path, const char* text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const auto size = static_cast<ssize_t>(strlen(text));
  int error = write(fd, text, static_cast<size_t>(size)) == size ? 0 : errno;
  (void)close(fd);
  return error;
}

int MapCaller(unsigned uid, unsigned gid) {
  char map[32];
  if (int error = WriteFile("/proc/self/setgroups", "deny"); error != 0 && error != ENOENT) {
    return error;
  }
  (void)snprintf(map, sizeof(map), "%u %u 1\n", uid, uid);
  if (int error = WriteFile("/proc/self/uid_map", map); error != 0) return error;
  (void)snprintf(map, sizeof(map), "%u %u 1\n", gid, gid);
  return WriteFile("/proc/self/gid_map", map);
}

}  // namespace

int EnterOwnMounts() {
  const unsigned uid = geteuid();
  const unsigned gid = getegid();
  // With the capability for it no user namespace is needed, and ids stay as they are.
  if (unshare(CLONE_NEWNS) != 0) {
    if (errno != EPERM) return errno;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return errno;
    if (int error = MapCaller(uid, gid); error != 0) return error;
  }
  // Nothing that is mounted here may reach the host; what the host mounts may still come.
  return mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 ? 0 : errno;
}

int HoldLink(const char* path, const char* text, size_t size, bool needs_attributes) {
  int link = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (link < 0) return errno;
  char now[4096];
  const ssize_t length = readlinkat(link, "", now, sizeof(now));
  int tree = -1;
  int error = 0;
  if (length < 0) {
    error = errno == EINVAL || errno == ENOENT ? kLinkChanged : errno;
  } else if (static_cast<size_t>(length) != size || memcmp(now, text, size) != 0) {
    error = kLinkChanged;
  } else {
    tree = CloneTree(link);
    if (tree < 0) error = errno;
  }
  constexpr uint64_t kAttributes = kAttrReadOnly | kAttrNoSuid | kAttrNoDev;
  if (error == 0 && SetMountAttributes(tree, kAttributes, false) != 0) {
    // Before Linux 5.12. A link holds nothing that could be written.
    if (errno != ENOSYS || needs_attributes) error = errno;
  }
  if (error == 0 && MoveMount(tree, link) != 0) error = errno;
  if (tree >= 0) (void)close(tree);
  (void)close(link);
  return error;
}

}  // namespace agent_exec::raw
