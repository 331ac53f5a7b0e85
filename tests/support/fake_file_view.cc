#include "support/fake_file_view.h"

#include <cassert>
#include <cerrno>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/path.h"

namespace agent_exec::testing {
namespace {

constexpr int kMaxLinks = 40;
constexpr size_t kMaxPath = 4096;

bool TakeWord(std::vector<absl::string_view>* words, absl::string_view prefix, std::string* value) {
  if (words->empty() || !absl::ConsumePrefix(&words->back(), prefix)) return false;
  *value = std::string(words->back());
  words->pop_back();
  return true;
}

}  // namespace

FakeFileView::FakeFileView(absl::string_view tree, uint32_t uid) : uid_(uid) {
  MakeNode("/", NodeType::kDirectory, 0755);
  Add(tree);
}

void FakeFileView::Add(absl::string_view lines) {
  for (absl::string_view line : absl::StrSplit(lines, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (!line.empty()) AddLine(line);
  }
}

void FakeFileView::Remove(absl::string_view path) {
  for (auto it = nodes_.begin(); it != nodes_.end();)
    it = IsUnder(it->first, path) ? nodes_.erase(it) : ++it;
}

FakeFileView::Node& FakeFileView::MakeNode(const std::string& path, NodeType type, uint32_t mode) {
  if (path != "/") {
    std::string parent(Dirname(path));
    if (nodes_.find(parent) == nodes_.end()) MakeNode(parent, NodeType::kDirectory, 0755);
    nodes_[parent].info.links += type == NodeType::kDirectory ? 1 : 0;
  }
  Node& node = nodes_[path];
  node.info.type = type;
  node.info.mode = mode;
  node.info.device = path == "/" ? 1 : nodes_[std::string(Dirname(path))].info.device;
  node.info.inode = next_inode_++;
  node.info.links = type == NodeType::kDirectory ? 2 : 1;
  return node;
}

void FakeFileView::AddLine(absl::string_view line) {
  std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  std::string mode, uid, device, mtime, rest;
  bool has_no_type = false;
  bool is_broken = false;
  while (TakeWord(&words, "mode=", &mode) || TakeWord(&words, "uid=", &uid) ||
         TakeWord(&words, "dev=", &device) || TakeWord(&words, "mtime=", &mtime) ||
         (words.back() == "unlistable" && TakeWord(&words, "unlistable", &rest) &&
          (has_no_type = true)) ||
         (words.back() == "broken" && TakeWord(&words, "broken", &rest) && (is_broken = true))) {
  }
  std::string path(words[0]);
  bool is_directory = path.size() > 1 && path.back() == '/';
  if (is_directory) path.pop_back();
  absl::string_view what = words.size() > 1 ? words[1] : "";
  std::string text;
  for (size_t i = 2; i < words.size(); ++i) absl::StrAppend(&text, i > 2 ? " " : "", words[i]);
  NodeType type = is_directory       ? NodeType::kDirectory
                  : what == "->"     ? NodeType::kSymlink
                  : what == "socket" ? NodeType::kSocket
                  : what == "fifo"   ? NodeType::kFifo
                  : what == "device" ? NodeType::kCharDevice
                                     : NodeType::kFile;
  if (what == "hardlink") {
    Node& other = nodes_.at(text);
    ++other.info.links;
    nodes_[path] = other;
    // Every name tells the same number.
    for (auto& [name, node] : nodes_) {
      if (node.info.inode == other.info.inode) node.info.links = other.info.links;
    }
    return;
  }
  Node& node = MakeNode(path, type, is_directory ? 0755 : type == NodeType::kSymlink ? 0777 : 0644);
  node.has_no_type = has_no_type;
  node.is_broken = is_broken;
  if (what == "=") text = absl::StrReplaceAll(text, {{"\\n", "\n"}, {"\\t", "\t"}});
  if (what == "=" || what == "->") node.text = text;
  node.info.size_bytes = static_cast<int64_t>(node.text.size());
  if (!mode.empty()) node.info.mode = static_cast<uint32_t>(std::strtoul(mode.c_str(), nullptr, 8));
  if (!uid.empty()) node.info.uid = static_cast<uint32_t>(std::strtoul(uid.c_str(), nullptr, 10));
  if (!mtime.empty()) node.info.mtime_s = std::strtoll(mtime.c_str(), nullptr, 10);
  if (!device.empty()) node.info.device = std::strtoul(device.c_str(), nullptr, 10);
}

bool FakeFileView::MaySearch(const Node& directory) const {
  if (uid_ == 0) return true;
  return directory.info.uid == uid_ ? (directory.info.mode & 0100) != 0
                                    : (directory.info.mode & 0001) != 0;
}

bool FakeFileView::MayRead(const Node& node) const {
  if (uid_ == 0) return true;
  return node.info.uid == uid_ ? (node.info.mode & 0400) != 0 : (node.info.mode & 0004) != 0;
}

int FakeFileView::Find(absl::string_view path, bool follow_last, std::string* real_path,
                       const Node** node) const {
  if (path.size() >= kMaxPath) return ENAMETOOLONG;
  std::vector<std::string> pending;  // the next component stands last
  auto push = [&](absl::string_view text) {
    std::vector<std::string> names = absl::StrSplit(text, '/', absl::SkipEmpty());
    pending.insert(pending.end(), names.rbegin(), names.rend());
  };
  push(path);
  std::string at = "/";
  int links = 0;
  while (!pending.empty()) {
    std::string name = pending.back();
    pending.pop_back();
    const Node& directory = nodes_.at(at);
    if (directory.info.type != NodeType::kDirectory) return ENOTDIR;
    if (!MaySearch(directory)) return EACCES;
    if (name == ".") continue;
    if (name == "..") {
      at = std::string(Dirname(at));
      continue;
    }
    std::string next = Join(at, name);
    auto it = nodes_.find(next);
    if (it == nodes_.end()) return ENOENT;
    if (it->second.info.type == NodeType::kSymlink && (follow_last || !pending.empty())) {
      if (++links > kMaxLinks) return ELOOP;
      push(it->second.text);
      if (IsAbsolute(it->second.text)) at = "/";
      continue;
    }
    at = std::move(next);
  }
  *node = &nodes_.at(at);
  *real_path = std::move(at);
  return 0;
}

int FakeFileView::Lstat(absl::string_view path, NodeInfo* info) {
  ++calls;
  std::string real;
  const Node* node = nullptr;
  int error = Find(path, false, &real, &node);
  if (error == 0 && node->is_broken) return EIO;
  if (error == 0) *info = node->info;
  return error;
}

int FakeFileView::ReadLink(absl::string_view path, std::string* target) {
  ++calls;
  std::string real;
  const Node* node = nullptr;
  int error = Find(path, false, &real, &node);
  if (error == 0 && node->info.type != NodeType::kSymlink) error = EINVAL;
  if (error == 0) *target = node->text;
  return error;
}

int FakeFileView::Resolve(absl::string_view path, std::string* real_path, NodeInfo* info) {
  ++calls;
  std::string real;
  const Node* node = nullptr;
  int error = Find(path, true, &real, &node);
  if (error != 0) return error;
  *real_path = std::move(real);
  *info = node->info;
  return 0;
}

int FakeFileView::ListDir(absl::string_view path, std::vector<DirEntry>* entries) {
  ++calls;
  std::string real;
  const Node* node = nullptr;
  int error = Find(path, true, &real, &node);
  if (error != 0) return error;
  if (node->info.type != NodeType::kDirectory) return ENOTDIR;
  if (!MayRead(*node)) return EACCES;
  listed.push_back(real);
  entries->clear();
  for (auto it = nodes_.upper_bound(real); it != nodes_.end(); ++it) {
    if (Dirname(it->first) != real || it->first == "/") continue;
    entries->push_back({std::string(Basename(it->first)),
                        it->second.has_no_type ? NodeType::kUnknown : it->second.info.type});
  }
  return 0;
}

int FakeFileView::Read(absl::string_view path, size_t max_bytes, std::string* bytes,
                       NodeInfo* info) {
  ++calls;
  std::string real;
  const Node* node = nullptr;
  int error = Find(path, true, &real, &node);
  if (error != 0) return error;
  if (!MayRead(*node)) return EACCES;
  if (node->info.type != NodeType::kFile) return EINVAL;
  if (node->text.size() > max_bytes) return EFBIG;
  read.push_back(real);
  *bytes = node->text;
  *info = node->info;
  return 0;
}

int FakeFileView::ReadBeneath(absl::string_view directory, absl::string_view name, size_t max_bytes,
                              std::string* bytes, NodeInfo* info) {
  std::string base, real;
  const Node* node = nullptr;
  int error = Find(directory, true, &base, &node);
  if (error == 0) error = Find(Join(base, name), true, &real, &node);
  if (error == 0 && !IsUnder(real, base)) error = EXDEV;
  return error != 0 ? error : Read(real, max_bytes, bytes, info);
}

std::vector<std::string> FakeFileView::Paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, node] : nodes_) paths.push_back(path);
  return paths;
}

}  // namespace agent_exec::testing
