#include "policy/policy.h"

namespace agent_exec {

const std::vector<WeakeningName>& WeakeningNames() {
  // Never destroyed: nothing needs its memory back, and exit handlers would cost the start path.
  static const auto& names = *new std::vector<WeakeningName>{
      {Weakening::kInheritEnvironment, "inherit-environment",
       "Reduces security: the command gets all of the caller's environment, secrets included"},
      {Weakening::kNestedSandbox, "nested-sandbox",
       "Reduces security: user namespaces and mounts are open to programs that make a sandbox of "
       "their own"},
      {Weakening::kRunUnsandboxed, "run-unsandboxed",
       "Reduces security: the command runs with no confinement where the policy cannot be "
       "enforced"},
  };
  return names;
}

bool IsWeakened(const Policy& policy, Weakening weakening) {
  for (const Sourced<Weakening>& accepted : policy.weaken) {
    if (accepted.value == weakening) return true;
  }
  return false;
}

}  // namespace agent_exec
