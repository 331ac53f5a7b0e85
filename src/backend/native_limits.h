#pragma once

#include "absl/types/span.h"
#include "backend/backend.h"

namespace agent_exec {

// What the native backend's promises do not reach.
absl::Span<const BackendLimit> NativeLimits();

}  // namespace agent_exec
