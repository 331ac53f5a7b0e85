#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "host/facts.h"
#include "host/file_view.h"
#include "plan/plan.h"
#include "policy/origin.h"

namespace agent_exec {

// The value of an inherited variable; "" when it is not set.
absl::string_view EnvValue(const HostFacts& facts, absl::string_view name);

// A path as a person gives it, made absolute: "~" and "~/x" are in $HOME, others stand in the
// current directory. Symlinks and ".." are left to whoever resolves it.
//   Errors: FailedPrecondition when there is no current directory, or no usable home, for it to
//   stand in.
absl::StatusOr<std::string> FromUser(absl::string_view path, const HostFacts& facts,
                                     const Origin& origin);

// Where a path that the launcher itself reads or writes outside the sandbox leads: canonical,
// whether the last component exists or not.
//   In:     path absolute; act and subject as in "cannot ACT 'SUBJECT'".
//   Errors: FailedPrecondition when it passes a symlink that the command of this plan could have
//   made.
absl::StatusOr<std::string> OutOfReach(absl::string_view path, const Plan& plan, FileView& files,
                                       absl::string_view act, const Sourced<std::string>& subject);

}  // namespace agent_exec
