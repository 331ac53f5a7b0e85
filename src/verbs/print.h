#pragma once

#include <string>

#include "backend/backend.h"
#include "cli/parse.h"
#include "plan/plan.h"

namespace agent_exec {

// What --print shows: what would be run, in one of three forms, with a newline at the end.
//   argv    a command for bash, expanded and runnable, after comments that say what it lacks.
//   Values of variables that are
//           passed on are not in it, but taken from the shell's environment. Where the launcher
//           makes the sandbox itself: comments alone, since no other command does it.
//   json    one object
//   script  FormatScript
std::string FormatPrint(PrintForm form, const Plan& plan, const Backend& backend,
                        const Rendered& rendered);

}  // namespace agent_exec
