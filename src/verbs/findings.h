#pragma once

#include "backend/backend.h"
#include "base/json.h"
#include "plan/plan.h"

namespace agent_exec {

// Writes what a program wants to know about a run, as members of the object that is open: backend,
// process-model, workspace, network, enforced, gaps, limits, globs, notices.
void WriteFindings(const Plan& plan, const Backend& backend, const Rendered& rendered,
                   JsonWriter* json);

}  // namespace agent_exec
