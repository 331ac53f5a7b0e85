#pragma once

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace agent_exec {

// A variable by which whoever sets it runs code in programs that were started for something else:
// what the dynamic loader preloads, what an interpreter reads at its start, which command git or
// make runs. Such a variable passes only when an allow entry names it exactly; a wildcard such as
// "GIT_*" does not.
struct EnvHook {
  const char* name;  // "LD_*": every name that begins with "LD_"; at most one "*", anywhere;
                     // without it exactly this name
  const char* what;  // who reads it: "the dynamic loader"
};

// Sorted by name, bytewise.
absl::Span<const EnvHook> EnvHooks();
bool IsEnvHook(absl::string_view name);

}  // namespace agent_exec
