#pragma once

#include "absl/types/span.h"
#include "backend/backend.h"

namespace agent_exec {

// Where bubblewrap in place is narrower than a backend with a supervisor: every limit that can
// apply.
absl::Span<const BackendLimit> BwrapLimits();

}  // namespace agent_exec
