#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/parse.h"
#include "host/facts.h"
#include "host/file_view.h"
#include "policy/layer.h"

namespace agent_exec {

struct LoadedLayers {
  std::vector<Layer> layers;  // sorted by kind, flags last; without the built-in one
  std::string workspace;  // canonical; "" when the current directory, which it would be, is gone
  // The paths of all policy files as they were opened, present or missing: what they lead to, and
  // the links on the way, are protected.
  std::vector<std::string> looked_at;
};

// Reads the policy files of an invocation: system, user, workspace, --policy.
//   Errors: as ParseToml; PermissionDenied with the file and the command that mends it when a file
//   is not a regular file, is
//           a symlink that leaves its directory, is not owned by the caller or root, or is writable
//           by others (the workspace's own file is exempt from the ownership check);
//           ResourceExhausted over kMaxPolicyBytes; NotFound for a --policy that is missing;
//           NotFound and ErrnoStatus for a workspace that cannot be found.
//   Cost:   some five file system calls for each of the three standard places; the workspace's name
//   may need one merge. Source: design §3.
absl::StatusOr<LoadedLayers> LoadLayers(const Invocation& invocation, const HostFacts& facts,
                                        FileView& files);

}  // namespace agent_exec
