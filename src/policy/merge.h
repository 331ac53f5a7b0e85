#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "policy/layer.h"
#include "policy/policy.h"

namespace agent_exec {

// Merges layers into one policy.
//
// Order: what the built-in modes share; the built-in profile of the effective mode; kSystem; kUser;
// kWorkspace; kGiven in the order given; the profiles asked for, each after those it extends, in
// the order they were asked for; kFlags. A scalar of a later layer replaces, list elements are
// appended. The mode is found first, since it decides the lowest layer. A [profile.NAME] that
// several layers define applies in layer order, a built-in one of that name below them, and the
// workspace's part of it may only tighten too.
//
//   In:      layers without kBuiltin, sorted by kind, kGiven in the order given.
//   Errors:  InvalidArgument with the place: a workspace value that loosens (says what would be
//   allowed), an unknown
//            profile (nearest name), a cycle of extends, a value that its row refuses; and those of
//            ValidatePolicy.
absl::StatusOr<Policy> MergeLayers(const std::vector<Layer>& layers);

// Cross-field checks of a merged policy: contradictions that no single row can see.
//   Errors: InvalidArgument with the place of the later of the two values.
absl::Status ValidatePolicy(const Policy& policy);

}  // namespace agent_exec
