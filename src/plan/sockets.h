#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plan/planning.h"

namespace agent_exec {

// Masks the sockets that host programs listen on wherever the mount list would show them: a
// read-only mount does not keep anybody from connecting.
//   In:     the mounts that hold without these masks.
//   Errors: FailedPrecondition when the list of sockets cannot be read.
//   Cost:   one read of /proc/net/unix; one Lstat for each directory that holds a socket and for
//   each visible socket.
absl::Status MaskSockets(const std::vector<MountOp>& mounts, Planning* planning);

// The absolute paths in a text like /proc/net/unix, sorted, unique. A socket that was bound by a
// relative path is listed by it, and cannot be found.
//   Source: proc_net(5).
std::vector<std::string> SocketPaths(absl::string_view proc_net_unix);

}  // namespace agent_exec
