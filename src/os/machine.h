#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "os/compile.h"
#include "os/mounts.h"

// The interpreter of a compiled script, for the two files that it is written in. Linux only.

namespace agent_exec {

// The state of the walk. Signals are held back from the first placeholder until somebody who
// removes it stands ready.
struct Machine {
  Compiled* script;
  const RunOptions* options;
  sigset_t caller_mask;
  bool signals_held = false;
  bool has_own_mounts = false;
  bool owns_root = false;      // the mounts are ours, no wrapper's
  bool is_supervised = false;  // another process removes placeholders and gives the status on
  raw::MountState mounts;
  // As the caller had them, while they are otherwise.
  mode_t umask = 0;
  bool umask_changed = false;
  struct rlimit open_files;
  bool open_files_changed = false;
};

// Blocks every signal; ReleaseSignals restores the caller's mask.
void HoldSignals(Machine* machine);
void ReleaseSignals(Machine* machine);

// Takes back what was made, tells, and ends with the status.
[[noreturn]] void Fail(Machine* machine, const Message& message, int error, int status);

// Carries out a step by which this process makes the sandbox itself (run_sandbox_linux.cc).
//   Returns: 0 or an errno, for the act's message.
int CarryOutSandbox(Machine* machine, const Act& act);

}  // namespace agent_exec
