#include "plan/plan.h"

namespace agent_exec {

const char* FeatureName(Feature feature) {
  switch (feature) {
    case Feature::kMounts:
      return "mounts";
    case Feature::kMasks:
      return "masks";
    case Feature::kPlaceholders:
      return "placeholders";
    case Feature::kLinks:
      return "links";
    case Feature::kPids:
      return "pids";
    case Feature::kIpc:
      return "ipc";
    case Feature::kNetworkNone:
      return "network-none";
    case Feature::kNetworkHost:
      return "network-host";
    case Feature::kFilter:
      return "filter";
    case Feature::kNoPrivileges:
      return "no-privileges";
    case Feature::kFileSize:
      return "file-size";
    case Feature::kBackground:
      return "background";
    case Feature::kOpenFiles:
      return "open-files";
    case Feature::kEnvironment:
      return "environment";
    case Feature::kDescriptors:
      return "descriptors";
  }
  return "unknown";
}

OriginId AddOrigin(const Origin& origin, Plan* plan) {
  // Index 0 stands for "no rule" and is never handed out for another origin.
  if (plan->origins.empty()) plan->origins.emplace_back();
  for (size_t i = plan->origins.size(); i-- > 0;) {
    if (plan->origins[i] == origin) return static_cast<OriginId>(i);
  }
  plan->origins.push_back(origin);
  return static_cast<OriginId>(plan->origins.size() - 1);
}

}  // namespace agent_exec
