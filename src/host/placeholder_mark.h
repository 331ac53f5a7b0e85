#pragma once

#include "host/file_view.h"

namespace agent_exec {

// How a placeholder is told from anything else: by its mode, its time stamp and its emptiness. os/
// makes them so; planning takes what looks so for a missing name (another run holds it and will
// remove it, or was killed and could not), and os/ then checks the rest before it joins.
inline constexpr uint32_t kPlaceholderDirectoryMode = 0555;  // a name that cannot be created
inline constexpr uint32_t kPlaceholderParentMode = 0755;     // a missing parent of one, writable
inline constexpr uint32_t kPlaceholderFileMode = 0444;
// 2001-09-09T01:46:40Z: a stamp that no other program gives, and that every file system can hold.
inline constexpr int64_t kPlaceholderTime = 1000000000;

inline bool LooksLikePlaceholder(const NodeInfo& info) {
  if (info.mtime_s != kPlaceholderTime) return false;
  uint32_t mode = info.mode & 0777;
  if (info.type == NodeType::kFile) {
    return mode == kPlaceholderFileMode && info.size_bytes == 0 && info.links == 1;
  }
  return info.type == NodeType::kDirectory &&
         (mode == kPlaceholderDirectoryMode || mode == kPlaceholderParentMode);
}

// An empty directory of this mode is a placeholder whose run has not come to the stamp yet, or one
// of nobody else's making: to plan it as an ordinary directory would leave the name free once that
// run has ended.
inline bool MayBecomePlaceholder(const NodeInfo& info) {
  return info.type == NodeType::kDirectory && (info.mode & 0777) == kPlaceholderDirectoryMode;
}

}  // namespace agent_exec
