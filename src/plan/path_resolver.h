#pragma once

#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "host/file_view.h"

namespace agent_exec {

// A symbolic link that was followed.
struct PathLink {
  std::string place;  // canonical directory and the link's name
  std::string text;
  bool operator==(const PathLink&) const = default;
};

// Where a path leads.
struct FoundPath {
  std::string path;             // canonical; of a missing one: where it would come into being
  int error = 0;                // 0, or the errno of the component that stops it
  std::string stop;             // with an error: that component, canonical directory and name
  NodeInfo info;                // without an error
  std::vector<PathLink> links;  // in the order they were met

  bool missing() const;  // ENOENT or ENOTDIR: nothing is there
  bool is_directory() const { return error == 0 && info.type == NodeType::kDirectory; }
};

// Follows paths as open does, and remembers every answer: the rules of a policy share most of their
// directories.
class PathResolver {
 public:
  explicit PathResolver(FileView* files) : files_(*files) {}

  // In:      absolute, NUL-free; "." and ".." are resolved after the links before them.
  // Returns: see FoundPath; ELOOP after 40 links.
  // Cost:    one Lstat for each component that was not asked for before, one ReadLink for each
  // link.
  FoundPath Follow(absl::string_view path);

  // The first look that failed for a reason that says nothing about what is there: neither missing
  // nor closed to the caller (a broken disk or server). A rule about such a path would be lost.
  struct Trouble {
    std::string path;
    int error = 0;  // 0: there was none
  };
  const Trouble& trouble() const { return trouble_; }

 private:
  struct Known {
    int error = 0;
    NodeInfo info;
    std::string text;  // of a link
  };
  // The short way, for a path whose directory was met before: every key of known_ is canonical but
  // for its last component. False when it takes the long one.
  bool FollowFromKnown(absl::string_view path, FoundPath* found);
  // Valid until the next call.
  const Known& Look(const std::string& path);

  FileView& files_;
  absl::btree_map<std::string, Known> known_;
  Trouble trouble_;
};

}  // namespace agent_exec
