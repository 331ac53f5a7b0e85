#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/glob.h"
#include "host/file_view.h"
#include "plan/path_resolver.h"
#include "policy/policy.h"

namespace agent_exec {

// One pattern of one list, in the order of the policy.
struct Pattern {
  Want want = Want::kRead;
  bool takes_back = false;
  Glob glob;
  std::string place;  // of the rule, for errors
  std::string text;   // as written, for errors
};

// A path that a pattern matched and that no later "!" took back.
struct Match {
  std::string path;  // canonical directory and name; the name itself may be a symlink
  int pattern = 0;   // index: the first that matched
  int root = 0;      // index into Expansion::roots: where the walk began
  NodeInfo info;
};

struct Expansion {
  std::vector<FoundPath> roots;                // as they were reached
  std::vector<Match> matches;                  // sorted by path, then by list
  std::vector<std::string> other_filesystems;  // directories that were left out, sorted
};

inline constexpr int64_t kMaxWalkEntries = 1000000;
inline constexpr int64_t kMaxMatches = 100000;

// Finds what patterns match now. One walk for all patterns that share a walk root; symlinks are not
// followed, other file systems not entered. A match on a directory covers what is below it, so the
// walk does not look there for the same list (a denied one: nor for what to protect).
//   Errors: ResourceExhausted with the pattern's place over a budget; FailedPrecondition naming a
//   directory that cannot be
//           read where a deny pattern could match (see below); an unreadable one that the command
//           could not make use of either is passed over.
//   Cost:   one ListDir and one Lstat for each directory that a pattern can match below; one Lstat
//   for each match.
absl::StatusOr<Expansion> ExpandPatterns(const std::vector<Pattern>& patterns, uint32_t uid,
                                         PathResolver* paths, FileView* files);

}  // namespace agent_exec
