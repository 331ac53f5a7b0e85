#pragma once

// A file system of a few text files, for tests that only read configuration. What a test of paths
// needs (links, directories to be listed) has fake_file_view.h.

#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/path.h"
#include "host/file_view.h"

namespace agent_exec::testing {

class TextFiles : public FileView {
 public:
  struct File {
    std::string bytes;
    NodeInfo info;
    int error = 0;  // what reading it fails with
  };

  // A regular file and its directories.
  File& Add(const std::string& path, std::string bytes, uint32_t uid = 1000, uint32_t mode = 0644) {
    File& file = files_[path];
    file.bytes = std::move(bytes);
    file.info.type = NodeType::kFile;
    file.info.uid = uid;
    file.info.gid = uid;
    file.info.mode = mode;
    AddDirectory(std::string(Dirname(path)));
    return file;
  }
  void AddDirectory(const std::string& path) {
    for (absl::string_view ancestor : AncestorsAndSelf(path)) directories_.emplace(ancestor);
  }

  int Lstat(absl::string_view path, NodeInfo* info) override {
    if (directories_.count(std::string(path)) != 0) {
      info->type = NodeType::kDirectory;
      return 0;
    }
    auto it = files_.find(std::string(path));
    if (it == files_.end()) return ENOENT;
    *info = it->second.info;
    return 0;
  }
  int ReadLink(absl::string_view, std::string*) override { return EINVAL; }
  int Resolve(absl::string_view path, std::string* real_path, NodeInfo* info) override {
    std::string clean = Clean(path);
    int error = Lstat(clean, info);
    if (error == 0) *real_path = clean;
    return error;
  }
  int ListDir(absl::string_view, std::vector<DirEntry>*) override { return EACCES; }
  int Read(absl::string_view path, size_t max_bytes, std::string* bytes, NodeInfo* info) override {
    auto it = files_.find(Clean(path));
    if (it == files_.end()) return ENOENT;
    if (it->second.error != 0) return it->second.error;
    if (it->second.bytes.size() > max_bytes) return EFBIG;
    *bytes = it->second.bytes;
    *info = it->second.info;
    return 0;
  }
  int ReadBeneath(absl::string_view directory, absl::string_view name, size_t max_bytes,
                  std::string* bytes, NodeInfo* info) override {
    return Read(Join(directory, name), max_bytes, bytes, info);
  }

 private:
  std::map<std::string, File> files_;
  std::set<std::string> directories_ = {"/"};
};

}  // namespace agent_exec::testing
