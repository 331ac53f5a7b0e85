#pragma once

#include "host/file_view.h"

namespace agent_exec {

// FileView on the running kernel. Holds no state and no descriptor between calls.
//   Cost: Lstat, ReadLink: one system call. Resolve: four. Read: four and one more per 64 KiB.
class KernelFileView : public FileView {
 public:
  int Lstat(absl::string_view path, NodeInfo* info) override;
  int ReadLink(absl::string_view path, std::string* target) override;
  int Resolve(absl::string_view path, std::string* real_path, NodeInfo* info) override;
  int ListDir(absl::string_view path, std::vector<DirEntry>* entries) override;
  int Read(absl::string_view path, size_t max_bytes, std::string* bytes, NodeInfo* info) override;
  int ReadBeneath(absl::string_view directory, absl::string_view name, size_t max_bytes,
                  std::string* bytes, NodeInfo* info) override;

  // Resolve without the kernel's help, as it is done where /proc is missing. For tests.
  int ResolveByWalking(absl::string_view path, std::string* real_path, NodeInfo* info);
};

}  // namespace agent_exec
