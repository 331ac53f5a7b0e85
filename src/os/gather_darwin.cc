#include <fcntl.h>
#include <mach-o/dyld.h>
#include <unistd.h>

#include <algorithm>

#include "os/file_calls.h"
#include "os/gather.h"
#include "os/gather_parts.h"
#include "os/kernel_file_view.h"
#include "os/unique_fd.h"

namespace agent_exec {

std::vector<int> OpenDescriptors() {
  UniqueFd directory(open("/dev/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::vector<DirEntry> entries;
  std::vector<int> open_fds;
  if (!directory.ok() || ListDescriptor(directory.get(), &entries) != 0) return open_fds;
  for (const DirEntry& entry : entries) {
    int fd = atoi(entry.name.c_str());
    // The listing's own copies are closed again by now.
    if (fd >= 3 && fd != directory.get() && fcntl(fd, F_GETFD) >= 0) open_fds.push_back(fd);
  }
  std::sort(open_fds.begin(), open_fds.end());
  return open_fds;
}

HostFacts GatherFacts(GatherScope) {
  HostFacts facts;
  facts.os = Os::kMacos;
  facts.open_fds = OpenDescriptors();
  facts.directory_fds = DirectoryDescriptors(facts.open_fds);
  GatherPosix(&facts);
  char path[4096];
  uint32_t size = sizeof(path);
  NodeInfo info;
  KernelFileView files;
  if (_NSGetExecutablePath(path, &size) == 0) (void)files.Resolve(path, &facts.self_path, &info);
  facts.knows_wrappers = true;
  facts.bwrap.problem = "not available on this system";
  facts.user_namespaces_problem = "not available on this system";
  return facts;
}

void GatherWrappers(HostFacts*) {}

}  // namespace agent_exec
