#pragma once

#include "absl/status/statusor.h"
#include "plan/path_resolver.h"
#include "plan/resolve.h"

namespace agent_exec {

// ResolveAnchors with a resolver that later passes go on using.
absl::StatusOr<Anchors> FindAnchors(const Policy& policy, const HostFacts& facts,
                                    PathResolver* paths, FileView* files);

}  // namespace agent_exec
