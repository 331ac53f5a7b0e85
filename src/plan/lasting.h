#pragma once

#include <vector>

#include "absl/status/status.h"
#include "plan/planning.h"

namespace agent_exec {

// Lasting directories are the command's own between runs, so an earlier one may have left a symlink
// where this one is to make a mount point; set-up would follow it and create or cover something
// elsewhere. Claims that can be done without are taken away, with a notice; without the others
// there is no run.
//   In:      the settled mounts.
//   Returns: whether claims were taken away, so that the list must be settled again.
//   Errors:  FailedPrecondition naming the link.
//   Cost:    one Lstat for each component below a lasting directory that a mount point has.
absl::StatusOr<bool> CheckLastingMountPoints(const std::vector<MountOp>& mounts,
                                             Planning* planning);

}  // namespace agent_exec
