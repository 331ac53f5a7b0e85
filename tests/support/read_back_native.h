#pragma once

// Carries out the mounting steps of a native script on an imagined mount table, by what each step
// is documented to do and without any code of the renderer: what a test compares with the plan that
// was rendered.

#include <string>
#include <vector>

#include "backend/script.h"
#include "plan/plan.h"

namespace agent_exec::testing {

struct ReadBackTree {
  std::string error;                 // "" when every step could be carried out
  std::vector<MountOp> mounts;       // what is mounted in the end: ancestors first, unique targets;
                                     // origins and purposes are not known
  std::vector<std::string> covers;   // read-only clones below a procfs, as whole paths
  std::vector<std::string> devices;  // pinned with devices: where they were mounted
  std::vector<std::string> links;    // made below a /dev: "/dev/fd -> /proc/self/fd"
  int most_held = 0;                 // slots filled at the same time
};

// Held to, besides: every slot is filled once and emptied once; pins come before the root is
// entered; nothing is made outside of file systems of ours (but for lasting directories); what is
// mounted on has been made or is the host's; nothing is made in what is read-only already; every
// mount comes before privileges go.
ReadBackTree ReadBackNative(const Script& script);

}  // namespace agent_exec::testing
