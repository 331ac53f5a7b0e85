#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "host/file_view.h"

namespace agent_exec {

// Is this user the only member of the group, by /etc/group and /etc/passwd? False when they do not
// know the group or the user: a directory service may give it members that nobody sees here.
bool IsOnlyMember(uint32_t uid, uint32_t gid, FileView& files);

// May a policy be taken from this file?
//   In:      what was opened; what messages call it; whose policy it would be.
//   Errors:  PermissionDenied: owned by neither the caller nor root (unless any_owner), or writable
//   by others than its owner;
//            the hint is the command that mends it.
//   Cost:    reads two files when the group may write, else none.
absl::Status CheckTrust(const NodeInfo& info, absl::string_view path, uint32_t caller,
                        bool any_owner, FileView& files);

}  // namespace agent_exec
