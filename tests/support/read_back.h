#pragma once

// Reads a rendered bubblewrap invocation back into what it means, by bwrap(1) and without any code
// of the renderer: what a test compares with the plan that was rendered.

#include <string>
#include <utility>
#include <vector>

#include "backend/script.h"
#include "plan/plan.h"

namespace agent_exec::testing {

struct ReadBack {
  std::string error;            // "" when the words were understood
  std::vector<MountOp> mounts;  // what is mounted in the end: ancestors first, unique targets;
                                // origins and purposes are not known
  std::vector<std::string> proc_covers;  // read-only binds below a fresh /proc, as names below it
  std::vector<std::string> flags;        // options without values, in order: "--unshare-pid"
  std::vector<std::pair<std::string, std::string>> set_env;
  std::string chdir;
  std::string cap_drop;
  int seccomp_fd = -1;
  int info_fd = -1;
  std::vector<std::string> command;  // after "--"
};

// In: the script of an in-place bubblewrap run, "--args FD" resolved by its PassBlob. Denied paths
// come back as kMask when they have the
//     modes of DeniedForm::kError, or a file is /dev/null; a read-only directory of mode 0555 comes
//     back as an empty kMask. What access a procfs and a /dev have cannot be told.
ReadBack ReadBackBubblewrap(const Script& script);

}  // namespace agent_exec::testing
