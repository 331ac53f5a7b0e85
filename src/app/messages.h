#pragma once

#include <string>

#include "backend/backend.h"
#include "plan/plan.h"
#include "policy/policy.h"

namespace agent_exec {

// What is said on stderr before the command starts, in the policy's error format, one line each:
// that nothing is confined when that is so, and the notices of the plan; with --verbose also the
// backend and its limits; with --quiet nothing.
std::string FormatMessages(const Policy& policy, const Plan& plan, const Backend& backend,
                           const Rendered& rendered);

}  // namespace agent_exec
