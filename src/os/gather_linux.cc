#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "os/file_calls.h"
#include "os/gather.h"
#include "os/gather_parts.h"
#include "os/unique_fd.h"

namespace agent_exec {
namespace {

// Where /proc is missing: every number that can be open. A limit of "unlimited" is cut at the
// kernel's default maximum.
std::vector<int> ProbeDescriptors() {
  constexpr rlim_t kMostDescriptors = 1 << 20;
  struct rlimit limit = {0, 0};
  (void)getrlimit(RLIMIT_NOFILE, &limit);
  int end = static_cast<int>(std::min(limit.rlim_max, kMostDescriptors));
  std::vector<int> open_fds;
  for (int fd = 3; fd < end; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) open_fds.push_back(fd);
  }
  return open_fds;
}

std::string SelfPath() {
  char path[PATH_MAX];
  ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  // A deleted binary cannot be protected by its path, and a relative text is none.
  if (size <= 0 || static_cast<size_t>(size) >= sizeof(path) || path[0] != '/') return "";
  return std::string(path, static_cast<size_t>(size));
}

// Since Linux 6.2 the size of that directory is the number of open descriptors; before, it is 0.
bool HasStandardDescriptorsOnly() {
  struct stat st;
  if (stat("/proc/self/fd", &st) != 0 || st.st_size == 0) return false;
  int open_standard = 0;
  for (int fd = 0; fd < 3; ++fd) open_standard += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return st.st_size == open_standard;
}

}  // namespace

std::vector<int> OpenDescriptors() {
  // To list them costs the kernel an inode for each.
  if (HasStandardDescriptorsOnly()) return {};
  UniqueFd directory(open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::vector<DirEntry> entries;
  if (!directory.ok() || ListDescriptor(directory.get(), &entries) != 0) return ProbeDescriptors();
  std::vector<int> open_fds;
  for (const DirEntry& entry : entries) {
    int fd = atoi(entry.name.c_str());
    if (fd >= 3 && fd != directory.get()) open_fds.push_back(fd);
  }
  std::sort(open_fds.begin(), open_fds.end());
  return open_fds;
}

HostFacts GatherFacts(GatherScope scope) {
  HostFacts facts;
  facts.os = Os::kLinux;
  // First: whatever is opened later must not be taken for inherited.
  facts.open_fds = OpenDescriptors();
  facts.directory_fds = DirectoryDescriptors(facts.open_fds);
  GatherPosix(&facts);
  facts.self_path = SelfPath();
  if (scope == GatherScope::kProcess) return facts;
  facts.open_files = OpenFiles(facts.open_fds);
  GatherKernel(&facts);
  facts.user_namespaces_problem = TryUserNamespace();
  facts.user_namespaces = facts.user_namespaces_problem.empty();
  if (scope == GatherScope::kAll) GatherWrappers(&facts);
  return facts;
}

void GatherWrappers(HostFacts* facts) {
  facts->knows_wrappers = true;
  facts->bwrap = FindBubblewrap(BubblewrapCandidates());
  if (!facts->user_namespaces && !facts->bwrap.path.empty() && TryBubblewrap(facts->bwrap.path)) {
    facts->user_namespaces = true;
    facts->user_namespaces_problem.clear();
    facts->user_namespaces_for_bwrap_only = true;
  }
}

}  // namespace agent_exec
