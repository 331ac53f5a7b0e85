#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "host/facts.h"
#include "host/file_view.h"
#include "plan/path_resolver.h"
#include "plan/plan.h"
#include "policy/policy.h"

namespace agent_exec {

// The directories that patterns stand in and that the built-in rules are about.
struct Anchors {
  std::string workspace;  // canonical
  std::string home;       // canonical $HOME; "" when it is unusable (unset, relative, "/", missing)
  std::string cwd;        // canonical: where the command starts
  std::string
      passwd_home;  // canonical home of the caller's uid in /etc/passwd; "" when none exists
  std::vector<std::string>
      other_homes;  // canonical homes of other people, sorted; without those below /home and /root
  std::string cache_dir;  // where lasting directories go, canonical, may be missing; "" when there
                          // is no usable home
  // Symlinks by which the workspace, the home and the starting directory were named. Shown again
  // where the sandbox hides the directory that holds them, so that these names work inside.
  std::vector<PathLink> links;
};

// Finds the workspace, the homes and the starting directory.
//   Errors: InvalidArgument for a workspace that is "/", $HOME or above it; NotFound and
//   ErrnoStatus with the place of the
//           setting for directories that are not there; FailedPrecondition when the current
//           directory was deleted and nothing else was named.
absl::StatusOr<Anchors> ResolveAnchors(const Policy& policy, const HostFacts& facts,
                                       FileView& files);

// Policy → Plan: runs the passes of this directory in order. The one entry.
//   In:      argv of the command, not empty; policy files that were read or looked for, present or
//   missing (each is protected
//            where it lies in a writable root), canonical.
//   Errors:  as ResolveAnchors; Unavailable and Unimplemented for the command alone (see
//   CommandExitStatus); ResourceExhausted over
//            a budget; InvalidArgument and NotFound with the rule's place.
//   Cost:    proportional to the rules; directories are read only for globs, PATH entries below the
//   home, and nested
//            repositories.
absl::StatusOr<Plan> ResolvePlan(const Policy& policy, const HostFacts& facts, FileView& files,
                                 const std::vector<std::string>& argv,
                                 const std::vector<std::string>& policy_files);

// 127 when the command was not found, 126 when it is not executable, else 125. These two have
// status codes that nothing else here uses: kUnavailable and kUnimplemented. NotFound and
// PermissionDenied also speak of policies and directories.
int CommandExitStatus(const absl::Status& status);

// Checks the invariants that backends rely on: ancestors first, unique and clean targets, sources
// clean, origins in range, sorted lists, no NUL. A plan that fails is a bug of ours.
//   Errors: Internal, naming the invariant and the path.
absl::Status CheckPlan(const Plan& plan);

}  // namespace agent_exec
