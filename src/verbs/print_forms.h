#pragma once

#include <string>

#include "backend/backend.h"
#include "plan/plan.h"

namespace agent_exec {

// --print=argv, in print_shell.cc.
std::string FormatShell(const Plan& plan, const Backend& backend, const Rendered& rendered);
// --print=json, in print_json.cc.
std::string FormatRunJson(const Plan& plan, const Backend& backend, const Rendered& rendered);

}  // namespace agent_exec
