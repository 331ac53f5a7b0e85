#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <utility>

#include "os/file_calls.h"
#include "os/node_info.h"

namespace agent_exec {

int OpenWithoutSymlinks(int directory, const char* name, int flags) {
  int fd = openat(directory, name, flags | O_NOFOLLOW_ANY | O_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

int OpenBeneath(int, const char*, int) { return -ENOSYS; }

int ResolveByDescriptor(const char*, char*, size_t, NodeInfo*) { return ENOSYS; }

int ListDescriptor(int directory, std::vector<DirEntry>* entries) {
  int copy = fcntl(directory, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return errno;
  DIR* stream = fdopendir(copy);
  if (stream == nullptr) {
    int error = errno;
    (void)close(copy);
    return error;
  }
  std::vector<DirEntry> found;
  errno = 0;
  while (const dirent* entry = readdir(stream)) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    DirEntry& added = found.emplace_back();
    added.name = entry->d_name;
    added.type =
        entry->d_type == DT_UNKNOWN ? NodeType::kUnknown : NodeTypeOf(DTTOIF(entry->d_type));
    errno = 0;
  }
  int error = errno;
  (void)closedir(stream);
  if (error == 0) *entries = std::move(found);
  return error;
}

}  // namespace agent_exec
