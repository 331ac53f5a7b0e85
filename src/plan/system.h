#pragma once

#include "absl/status/status.h"
#include "plan/planning.h"

namespace agent_exec {

// Claims what every sandbox has: the root, /proc, /dev, temporary directories, a hidden /run, and
// for uid 0 the masks of what only root can read.
//   In:     rules already added (shows_root).
//   Errors: FailedPrecondition when a lasting temporary directory has no place to be.
absl::Status AddSystem(Planning* planning);

// A directory of ours that lasts between runs, one for each workspace: "tmp", "home".
//   Errors: FailedPrecondition without a cache directory, or when it lies where the command can
//   write.
absl::StatusOr<std::string> AddLastingDir(absl::string_view name, const Origin& origin,
                                          Planning* planning);

}  // namespace agent_exec
