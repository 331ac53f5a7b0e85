#pragma once

#include "absl/strings/string_view.h"
#include "backend/script.h"
#include "host/facts.h"
#include "plan/plan.h"

namespace agent_exec {

// The steps of the native backend from the first pin to the last seal, with the loopback and the
// held links among them; their blobs are those of the plan.
//   In: the script's blobs are empty.
void AppendNativeMounts(const Plan& plan, const HostFacts& facts, Script* script);

bool HasMountAt(const Plan& plan, absl::string_view target);

}  // namespace agent_exec
