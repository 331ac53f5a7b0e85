#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace agent_exec {

enum class NodeType {
  kFile,
  kDirectory,
  kSymlink,
  kSocket,
  kFifo,
  kCharDevice,
  kBlockDevice,
  kUnknown
};

// What lstat says, as far as anybody here asks.
struct NodeInfo {
  NodeType type = NodeType::kUnknown;
  uint32_t mode = 0;  // permission bits with setuid, setgid and sticky: 07777
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t links = 0;
  int64_t size_bytes = 0;
  int64_t mtime_s = 0;
};

struct DirEntry {
  std::string name;
  NodeType type = NodeType::kUnknown;  // from d_type; kUnknown where the file system does not say
};

// The file system as the pure code sees it. The only base class of the project: the kernel is
// behind it in os/, an in-memory tree in the tests. Every call returns 0 or an errno; outputs are
// untouched on error.
class FileView {
 public:
  virtual ~FileView() = default;
  // In: an absolute path. The last component is not followed.
  virtual int Lstat(absl::string_view path, NodeInfo* info) = 0;
  virtual int ReadLink(absl::string_view path, std::string* target) = 0;
  // The canonical path without any symlink, and what is there. ELOOP, ENOENT, ENOTDIR, EACCES as
  // open would give.
  virtual int Resolve(absl::string_view path, std::string* real_path, NodeInfo* info) = 0;
  // Entries without "." and "..", in no order.
  virtual int ListDir(absl::string_view path, std::vector<DirEntry>* entries) = 0;
  // The bytes of a regular file and what was opened, from one descriptor; EFBIG over max_bytes,
  // EINVAL when not regular (never blocks on a FIFO). Files that the kernel makes up (/proc) are
  // read to their end whatever size they claim.
  virtual int Read(absl::string_view path, size_t max_bytes, std::string* bytes,
                   NodeInfo* info) = 0;
  // The same for directory/name, without following a symlink out of the directory (EXDEV) or a
  // magic link.
  virtual int ReadBeneath(absl::string_view directory, absl::string_view name, size_t max_bytes,
                          std::string* bytes, NodeInfo* info) = 0;
};

}  // namespace agent_exec
