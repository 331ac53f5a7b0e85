#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "plan/access_map.h"
#include "plan/planning.h"

namespace agent_exec {

// Plans the variables of the command: those of the caller that the policy lets through, those that
// it sets, and ours.
//
// The caller's variables pass by an allow entry; one of env_hooks.h only by an entry of exactly its
// name. deny beats allow, set beats both. inherit-environment lets everything pass but hooks and
// what is denied. Ours: AGENT_EXEC, AGENT_EXEC_NETWORK, PWD, HOME where the caller's is of no use,
// TMPDIR where the caller's leads nowhere inside, and git's configuration.
//
//   In:      map is null for a command that is not confined; git_config are pairs of key and value
//   for git, put after those that
//            the caller passes.
//   Errors:  InvalidArgument with the place: a name that is empty or holds '=' or NUL, one that is
//   ours.
absl::Status PlanEnvironment(const AccessMap* map,
                             const std::vector<std::pair<std::string, std::string>>& git_config,
                             Planning* planning);

// The value that the command will see; "" when there is none.
absl::string_view PlannedVariable(const Plan& plan, absl::string_view name);

}  // namespace agent_exec
