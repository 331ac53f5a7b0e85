#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "plan/planning.h"

namespace agent_exec {

inline constexpr int kMaxNestedWalkEntries = 20000;

// Claims protection for what the host's git would obey: the workspace's repository wherever its
// files lie, what its configuration includes and takes hooks from, and nested repositories.
//
//   Returns: nothing when git = "full"; nested repositories only when the policy protects them.
//   Errors:  as AddGuard.
//   Cost:    a few reads of small files; a walk of at most kMaxNestedWalkEntries entries. What is
//   beyond is a notice. Source:  gitrepository-layout(5), git-config(1), git-worktree(1).
absl::Status AddGitProtection(Planning* planning);

// The root of the working tree that holds a directory: it or the nearest ancestor with a .git. ""
// when there is none.
std::string GitWorkTree(absl::string_view directory, Planning* planning);

}  // namespace agent_exec
