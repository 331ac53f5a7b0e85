#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "plan/access_map.h"
#include "plan/planning.h"

namespace agent_exec {

// Finds the command's file as execvp would inside, before anything is started: a wrapper that has
// to say "not found" itself has no status for it that callers know.
//   In:      argv not empty; the planned environment and mounts are in the plan; map is null for a
//   command that is not confined. Returns: Plan::command filled in. Errors:  kUnavailable (127) and
//   kUnimplemented (126), see CommandExitStatus; FailedPrecondition when the starting
//            directory is not visible inside.
//   Cost:    a few Lstat for each directory of PATH up to the one that holds it.
absl::Status PlanCommand(const std::vector<std::string>& argv, const AccessMap* map,
                         Planning* planning);

}  // namespace agent_exec
