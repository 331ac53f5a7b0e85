#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "os/gather_parts.h"

extern char** environ;

namespace agent_exec {

std::vector<int> DirectoryDescriptors(const std::vector<int>& open_fds) {
  std::vector<int> candidates = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  candidates.insert(candidates.end(), open_fds.begin(), open_fds.end());
  std::vector<int> directories;
  for (int fd : candidates) {
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) directories.push_back(fd);
  }
  return directories;
}

std::vector<OpenFile> OpenFiles(const std::vector<int>& open_fds) {
  std::vector<int> candidates = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  candidates.insert(candidates.end(), open_fds.begin(), open_fds.end());
  std::vector<OpenFile> files;
  for (int fd : candidates) {
    struct stat st;
    if (fstat(fd, &st) != 0 || !(S_ISREG(st.st_mode) || S_ISCHR(st.st_mode))) continue;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0) continue;
    OpenFile file;
    file.fd = fd;
    file.is_device = S_ISCHR(st.st_mode);
    file.is_terminal = file.is_device && isatty(fd) == 1;
    file.reads = (flags & O_ACCMODE) == O_RDONLY || (flags & O_ACCMODE) == O_RDWR;
    file.writes = (flags & O_ACCMODE) == O_WRONLY || (flags & O_ACCMODE) == O_RDWR;
    file.appends = (flags & O_APPEND) != 0;
    files.push_back(file);
  }
  return files;
}

void GatherPosix(HostFacts* facts) {
#if defined(__aarch64__)
  facts->arch = Arch::kAarch64;
#else
  facts->arch = Arch::kX86_64;
#endif
  facts->uid = geteuid();
  facts->gid = getegid();
  char cwd[PATH_MAX];
  // A directory that is deleted or lies outside of this root has no path: ENOENT, or a text that is
  // no absolute path.
  if (getcwd(cwd, sizeof(cwd)) != nullptr && cwd[0] == '/') facts->cwd = cwd;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    facts->env.emplace_back(*entry);
  }
  facts->stdin_is_tty = isatty(STDIN_FILENO) == 1;
  facts->stdout_is_tty = isatty(STDOUT_FILENO) == 1;
  facts->stderr_is_tty = isatty(STDERR_FILENO) == 1;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    facts->max_open_files = static_cast<uint64_t>(limit.rlim_cur);
    facts->hard_max_open_files = static_cast<uint64_t>(limit.rlim_max);
  }
}

}  // namespace agent_exec
