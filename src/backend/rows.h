#pragma once

#include "backend/backend.h"
#include "seccomp/filter.h"

// The rows of the table in registry.cc, each defined in a file of its own.

namespace agent_exec {

extern const Backend kNative;      // native_linux.cc
extern const Backend kBubblewrap;  // bubblewrap.cc
extern const Backend kUnconfined;  // unconfined.cc

// What every in-place backend puts into the environment besides the plan's: "NAME=VALUE" of the
// plan and AGENT_EXEC_BACKEND, sorted by name.
std::vector<std::string> EnvironmentFor(const Plan& plan, absl::string_view backend_name);
// Of what a backend can enforce, what this plan asks it to.
std::vector<Feature> EnforcedOf(absl::Span<const Feature> features, const Plan& plan);
// A filter as an array of the kernel's struct sock_filter.
std::string FilterBytes(const FilterOptions& options);
// The steps for limits.file-size and limits.open-files.
void AppendLimits(const Plan& plan, Script* script);

}  // namespace agent_exec
