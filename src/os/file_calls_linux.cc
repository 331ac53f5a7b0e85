#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "os/file_calls.h"
#include "os/node_info.h"
#include "os/unique_fd.h"

namespace agent_exec {
namespace {

// openat2(2) and getdents64(2) have no wrapper in every C library that this is built with.
struct OpenHow {
  uint64_t flags;
  uint64_t mode;
  uint64_t resolve;
};
constexpr uint64_t kResolveNoMagiclinks = 0x02;
constexpr uint64_t kResolveNoSymlinks = 0x04;
constexpr uint64_t kResolveBeneath = 0x08;
#ifndef SYS_openat2
#define SYS_openat2 437
#endif

struct Dirent64 {
  uint64_t inode;
  int64_t offset;
  uint16_t size;
  uint8_t type;
  char name[];
};

int Openat2(int directory, const char* name, int flags, uint64_t resolve) {
  OpenHow how = {static_cast<uint64_t>(flags) | O_CLOEXEC, 0, resolve};
  // EAGAIN: something was renamed while the kernel looked, and it cannot tell whether the path left
  // the directory.
  for (int tries = 0;; ++tries) {
    long fd = syscall(SYS_openat2, directory, name, &how, sizeof(how));
    if (fd >= 0) return static_cast<int>(fd);
    if (errno == EINTR || (errno == EAGAIN && tries < 32)) continue;
    return -errno;
  }
}

// A filter that does not know openat2 may answer EPERM; so may a file, but then the fallback says
// it too.
bool CannotTell(int result) { return result == -ENOSYS || result == -EPERM; }

NodeType NodeTypeOfDirent(uint8_t type) {
  return type == DT_UNKNOWN ? NodeType::kUnknown : NodeTypeOf(DTTOIF(type));
}

}  // namespace

int OpenWithoutSymlinks(int directory, const char* name, int flags) {
  // RESOLVE_BENEATH refuses every absolute name; where the name starts at "/" there is nothing to
  // leave.
  uint64_t beneath = directory == AT_FDCWD ? 0 : kResolveBeneath;
  int fd = Openat2(directory, name, flags, kResolveNoSymlinks | kResolveNoMagiclinks | beneath);
  if (!CannotTell(fd)) return fd;
  int at = directory == AT_FDCWD ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)
                                 : openat(directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (at < 0) return -errno;
  for (;;) {
    while (*name == '/') ++name;
    size_t size = strcspn(name, "/");
    char component[NAME_MAX + 1] = ".";
    if (size > NAME_MAX) break;
    if (size > 0) {
      memcpy(component, name, size);
      component[size] = '\0';
    }
    name += size;
    while (*name == '/') ++name;
    bool last = *name == '\0';
    int next_flags = last ? flags : O_PATH | O_DIRECTORY;
    int next = openat(at, component, next_flags | O_NOFOLLOW | O_CLOEXEC);
    int error = errno;
    (void)close(at);
    if (next < 0) return -error;
    if (last) return next;
    at = next;
  }
  (void)close(at);
  return -ENAMETOOLONG;
}

int OpenNode(const char* path) {
  int fd = Openat2(AT_FDCWD, path, O_PATH, kResolveNoSymlinks | kResolveNoMagiclinks);
  if (!CannotTell(fd)) return fd;
  // By hand, the last component is opened whatever it is.
  fd = OpenWithoutSymlinks(AT_FDCWD, path, O_PATH);
  if (fd < 0) return fd;
  struct stat st;
  int error = fstat(fd, &st) != 0 ? errno : S_ISLNK(st.st_mode) ? ELOOP : 0;
  if (error == 0) return fd;
  (void)close(fd);
  return -error;
}

int OpenBeneath(int directory, const char* name, int flags) {
  int fd = Openat2(directory, name, flags, kResolveBeneath | kResolveNoMagiclinks);
  return CannotTell(fd) ? -ENOSYS : fd;
}

int ResolveByDescriptor(const char* path, char* real_path, size_t size, NodeInfo* info) {
  UniqueFd fd(open(path, O_PATH | O_CLOEXEC));
  if (!fd.ok()) return errno;
  struct stat st;
  if (fstat(fd.get(), &st) != 0) return errno;
  char link[32] = "/proc/self/fd/";
  char digits[12];
  int count = 0;
  for (int rest = fd.get(); rest > 0 || count == 0; rest /= 10) digits[count++] = '0' + rest % 10;
  size_t at = strlen(link);
  while (count > 0) link[at++] = digits[--count];
  ssize_t length = readlink(link, real_path, size);
  // Without /proc, or for something outside of this root ("(unreachable)/x"), the kernel cannot
  // say.
  if (length <= 0 || static_cast<size_t>(length) >= size || real_path[0] != '/') return ENOSYS;
  real_path[length] = '\0';
  constexpr char kDeleted[] = " (deleted)";
  constexpr ssize_t kDeletedSize = sizeof(kDeleted) - 1;
  if (length > kDeletedSize && strcmp(real_path + length - kDeletedSize, kDeleted) == 0) {
    // A name may really end that way; then it leads to the same object.
    struct stat named;
    if (lstat(real_path, &named) != 0 || named.st_dev != st.st_dev || named.st_ino != st.st_ino) {
      return ENOENT;
    }
  }
  *info = NodeInfoOf(st);
  return 0;
}

int ListDescriptor(int directory, std::vector<DirEntry>* entries) {
  // The C library's buffer is 2 KiB in musl: sixteen times the calls on a large directory.
  alignas(Dirent64) char buffer[32768];
  std::vector<DirEntry> found;
  for (;;) {
    long got = syscall(SYS_getdents64, directory, buffer, sizeof(buffer));
    if (got < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (got == 0) break;
    for (long at = 0; at < got;) {
      const Dirent64* entry = reinterpret_cast<const Dirent64*>(buffer + at);
      at += entry->size;
      const char* name = entry->name;
      if (name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'))) continue;
      DirEntry& added = found.emplace_back();
      added.name = name;
      added.type = NodeTypeOfDirent(entry->type);
    }
  }
  *entries = std::move(found);
  return 0;
}

}  // namespace agent_exec
