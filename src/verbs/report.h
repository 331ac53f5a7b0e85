#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "backend/backend.h"
#include "plan/plan.h"
#include "policy/policy.h"

namespace agent_exec {

// The object of --report that is written before the command starts: one line of JSON and a newline.
// Its member "event" is "start". The command line and the values of the environment are not in it.
std::string FormatStartReport(const Policy& policy, const Plan& plan, const Backend& backend,
                              const Rendered& rendered);

}  // namespace agent_exec
