#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "host/file_view.h"

namespace agent_exec::testing {

// A file system in memory: symlinks, modes, owners, hard links, several devices. It keeps a log of
// what was asked, so that a test can say "a deny without metacharacters reads no directory".
//
// A tree is written as text, one node a line; parents come by themselves as directories of root,
// mode 0755:
//
//   /w/                          a directory
//   /w/a                         an empty file
//   /w/a = text\n                a file with content; \n is a line break
//   /w/l -> target               a symlink
//   /w/s socket                  a socket; also fifo, device
//   /w/b hardlink /w/a           another name of a file that stands above
//
// and then any of  mode=0700 uid=1000 dev=2 mtime=1000000000 unlistable  (no d_type: unknown)
// broken  (every look at it is EIO).
class FakeFileView : public FileView {
 public:
  // uid: who looks; 0 may search and read everything.
  explicit FakeFileView(absl::string_view tree, uint32_t uid = 1000);

  void Add(absl::string_view lines);
  void Remove(absl::string_view path);

  int Lstat(absl::string_view path, NodeInfo* info) override;
  int ReadLink(absl::string_view path, std::string* target) override;
  int Resolve(absl::string_view path, std::string* real_path, NodeInfo* info) override;
  int ListDir(absl::string_view path, std::vector<DirEntry>* entries) override;
  int Read(absl::string_view path, size_t max_bytes, std::string* bytes, NodeInfo* info) override;
  int ReadBeneath(absl::string_view directory, absl::string_view name, size_t max_bytes,
                  std::string* bytes, NodeInfo* info) override;

  // Every path in the tree, sorted.
  std::vector<std::string> Paths() const;

  std::vector<std::string> listed;  // canonical paths of directories that were read, in order
  std::vector<std::string> read;    // the same for files
  int calls = 0;                    // all calls together

 private:
  struct Node {
    NodeInfo info;
    std::string text;  // content or link text
    bool has_no_type = false;
    bool is_broken = false;
  };

  void AddLine(absl::string_view line);
  Node& MakeNode(const std::string& path, NodeType type, uint32_t mode);
  bool MaySearch(const Node& directory) const;
  bool MayRead(const Node& node) const;
  // Where a path leads. follow_last: the last component too.
  int Find(absl::string_view path, bool follow_last, std::string* real_path,
           const Node** node) const;

  uint32_t uid_;
  uint64_t next_inode_ = 1;
  std::map<std::string, Node> nodes_;
};

}  // namespace agent_exec::testing
