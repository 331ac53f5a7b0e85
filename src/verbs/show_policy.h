#pragma once

#include <string>

#include "policy/policy.h"

namespace agent_exec {

// The merged policy as TOML, each value with its origin in a comment: what --show-policy prints,
// and what the policy hash of reports is made of. Read back, it sets the same values.
std::string FormatPolicy(const Policy& policy);

}  // namespace agent_exec
