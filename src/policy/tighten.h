#pragma once

#include "absl/status/status.h"
#include "policy/setting.h"

namespace agent_exec {

// The hint for what a workspace's policy file may never set.
inline constexpr char kSetElsewhereHint[] =
    "set it in your own policy file, or on the command line";

// May the workspace's policy file, which the sandboxed command could have written, make this
// assignment?
//   In:      present is what was merged before it.
//   Errors:  InvalidArgument with the place: what it would loosen, and in the hint what would be
//   allowed.
absl::Status CheckTightens(const Assignment& assignment, const Policy& present);

}  // namespace agent_exec
