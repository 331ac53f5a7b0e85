#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// The calls of linux/mount.h, which older headers and C libraries lack. The same numbers on all
// architectures.

namespace agent_exec::raw {

inline constexpr long kSysOpenTree = 428;
inline constexpr long kSysMoveMount = 429;
inline constexpr long kSysFsopen = 430;
inline constexpr long kSysFsconfig = 431;
inline constexpr long kSysFsmount = 432;
inline constexpr long kSysMountSetattr = 442;

inline constexpr unsigned kOpenTreeClone = 1;
inline constexpr unsigned kAtRecursive = 0x8000;
inline constexpr unsigned kMoveMountFromEmptyPath = 0x04;
inline constexpr unsigned kMoveMountToEmptyPath = 0x40;
inline constexpr unsigned kFsopenCloexec = 1;
inline constexpr unsigned kFsmountCloexec = 1;
inline constexpr unsigned kFsconfigSetString = 1;
inline constexpr unsigned kFsconfigCreate = 6;
inline constexpr uint64_t kAttrReadOnly = 0x01;
inline constexpr uint64_t kAttrNoSuid = 0x02;
inline constexpr uint64_t kAttrNoDev = 0x04;
inline constexpr uint64_t kAttrNoExec = 0x08;
struct MountAttr {
  uint64_t set;
  uint64_t clear;
  uint64_t propagation;
  uint64_t userns_fd;
};

// A detached copy of the mount that fd is on, at fd, with what is mounted below it.
inline int CloneTree(int fd) {
  return static_cast<int>(
      syscall(kSysOpenTree, fd, "", kOpenTreeClone | O_CLOEXEC | AT_EMPTY_PATH | kAtRecursive));
}

inline int SetMountAttributes(int tree, uint64_t set, bool recursive) {
  const MountAttr attributes = {set, 0, 0, 0};
  return static_cast<int>(syscall(kSysMountSetattr, tree, "",
                                  AT_EMPTY_PATH | (recursive ? kAtRecursive : 0), &attributes,
                                  sizeof(attributes)));
}

inline int MoveMount(int tree, int target) {
  return static_cast<int>(syscall(kSysMoveMount, tree, "", target, "",
                                  kMoveMountFromEmptyPath | kMoveMountToEmptyPath));
}

}  // namespace agent_exec::raw
