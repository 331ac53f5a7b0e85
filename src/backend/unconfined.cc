#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backend/rows.h"

// No confinement: the environment and the descriptors are cleaned, then the command is executed.
// For danger-full-access, and for those who ask for it by name and by weakening.

namespace agent_exec {
namespace {

constexpr Feature kFeatures[] = {Feature::kNetworkHost, Feature::kFileSize, Feature::kOpenFiles,
                                 Feature::kEnvironment, Feature::kDescriptors};

Diagnostic Unavailable(const HostFacts&) { return {}; }

bool Enforces(Feature feature) {
  return std::find(std::begin(kFeatures), std::end(kFeatures), feature) != std::end(kFeatures);
}

absl::StatusOr<Rendered> Render(const Plan& plan, const HostFacts&) {
  Rendered rendered;
  for (const Need& need : plan.needs) {
    if (Enforces(need.feature)) {
      rendered.enforced.push_back(need.feature);
      continue;
    }
    rendered.gaps.push_back(
        {need.feature, "", "the backend 'none' confines nothing", "run-unsandboxed", need.origin});
  }
  Script& script = rendered.script;
  AppendLimits(plan, &script);
  script.steps.emplace_back(CloseOthers{plan.keep_fds});
  script.steps.emplace_back(ChangeDir{plan.command.cwd});
  script.steps.emplace_back(
      Exec{plan.command.path, plan.command.argv, EnvironmentFor(plan, kUnconfined.name)});
  rendered.printed_argv = plan.command.argv;
  rendered.model = ProcessModel::kInPlace;
  rendered.executes_command = true;
  return rendered;
}

}  // namespace

const Backend kUnconfined = {
    "none",
    "no confinement: a clean environment and clean descriptors only",
    kFeatures,
    {},
    /*in_auto=*/false,
    Unavailable,
    Render,
};

}  // namespace agent_exec
