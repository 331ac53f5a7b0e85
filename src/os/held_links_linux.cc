#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/raw.h"

// A mount on a symbolic link itself: no path names such a target, but a descriptor does. The link
// is followed as before, and removing, renaming or replacing it is EBUSY, also in what another
// program binds recursively from here.

namespace agent_exec::raw {
namespace {

#ifndef SYS_open_tree
#define SYS_open_tree 428
#endif
#ifndef SYS_move_mount
#define SYS_move_mount 429
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

// linux/mount.h, which older headers lack.
constexpr unsigned kOpenTreeClone = 1;
constexpr unsigned kMoveMountFromEmptyPath = 0x04;
constexpr unsigned kMoveMountToEmptyPath = 0x40;
constexpr uint64_t kAttrReadOnly = 0x01;
constexpr uint64_t kAttrNoSuid = 0x02;
constexpr uint64_t kAttrNoDev = 0x04;
struct MountAttr {
  uint64_t set;
  uint64_t clear;
  uint64_t propagation;
  uint64_t userns_fd;
};

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

int HoldLink(const char* path, const char* text, size_t size) {
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
    tree = static_cast<int>(
        syscall(SYS_open_tree, link, "", kOpenTreeClone | O_CLOEXEC | AT_EMPTY_PATH));
    if (tree < 0) error = errno;
  }
  // The attributes are those that bubblewrap would set; by path, which is how it sets them, it
  // could not, so it must find nothing to do.
  const MountAttr attributes = {kAttrReadOnly | kAttrNoSuid | kAttrNoDev, 0, 0, 0};
  if (error == 0 &&
      syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attributes, sizeof(attributes)) != 0) {
    error = errno;
  }
  if (error == 0 && syscall(SYS_move_mount, tree, "", link, "",
                            kMoveMountFromEmptyPath | kMoveMountToEmptyPath) != 0) {
    error = errno;
  }
  if (tree >= 0) (void)close(tree);
  (void)close(link);
  return error;
}

}  // namespace agent_exec::raw
