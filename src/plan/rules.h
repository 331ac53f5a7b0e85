#pragma once

#include <vector>

#include "absl/status/status.h"
#include "plan/planning.h"

namespace agent_exec {

// A rule that shows or opens a path by way of a symlink that the command could have planted.
struct LedAstray {
  const PathRule* rule;
  FoundPath found;
  Access access;
  OriginId origin;
};

// Turns the path rules of the policy into claims, and finds the writable roots. Rules that lead
// through a symlink below a writable root are handed back: only what they would add to the rest
// tells what to do about them.
//   Errors: as ResolvePlan.
absl::Status AddRules(Planning* planning, std::vector<LedAstray>* led_astray);

// Judges those rules against what holds without them: one that adds nothing is dropped; one that
// adds something would give away a path of the command's choice, so it is an error (a built-in rule
// and missing = "allow": a notice).
absl::Status JudgeLedAstray(const std::vector<LedAstray>& led_astray,
                            const std::vector<MountOp>& mounts, Planning* planning);

}  // namespace agent_exec
