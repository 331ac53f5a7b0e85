#pragma once

#include <vector>

#include "absl/status/status.h"
#include "plan/planning.h"

namespace agent_exec {

// Claims the caller's home, hides everybody else's, and shows what of the caller's own tools and
// configuration works without its credentials.
//   Errors: FailedPrecondition when a lasting home has no place to be.
//   Cost:   one Lstat for each tool root; one directory read for each PATH entry below the home.
absl::Status AddHomes(Planning* planning);

// Where HOME points when the caller's own is of no use: a fresh directory inside. "" when the
// caller's serves.
std::string FreshHome(const Planning& planning);

// Masks credentials that the mount list so far would show.
//   In:   the mounts that hold without these masks.
//   Cost: nothing for those that are not shown; one Lstat for each of the others.
void MaskSecrets(const std::vector<MountOp>& mounts, Planning* planning);

// The passes of AddHomes, in their own files.
void ShowTools(Planning* planning);             // home_tools.cc
void ShowGitConfiguration(Planning* planning);  // home_git.cc

// The patterns of the file that git would take as core.excludesFile in a working tree; "" when
// there are none, or when the command may not see that file.
std::string CallerGitExcludes(absl::string_view work_tree, const std::vector<MountOp>& mounts,
                              Planning* planning);  // home_git.cc

// May this part of a home be shown? Never a home itself, what holds one, or credentials.
bool MayShow(absl::string_view path, const Planning& planning);
// Shows a part of a home read-only, if it may be shown, exists, and was not reached by a link that
// the command can plant.
//   Returns: whether it was.
bool Show(absl::string_view path, Planning* planning);

}  // namespace agent_exec
