#pragma once

#include <signal.h>

#include "os/compile.h"

// The three processes of a supervised run. S is the process that the caller started: it stays, and
// takes everything with it when it goes. I is pid 1 of the new PID namespace: it sets the sandbox
// up, then reaps. C is the command.
//
// Nothing here allocates.

namespace agent_exec::raw {

struct Split {
  Compiled* script = nullptr;
  const RunOptions* options = nullptr;
  // Texts for /proc/PID/uid_map and gid_map.
  const char* uid_map = "";
  const char* gid_map = "";
  bool map_by_parent = false;  // S writes the maps for I; else I writes its own
  bool deny_setgroups = true;  // needed where an ordinary user writes gid_map
  bool own_network = false;    // a network namespace of its own
  bool keep_background = false;
  // What the signal mask was before this process changed it.
  const sigset_t* caller_mask = nullptr;
  // Told by I when it cannot be what it is to be, and when the maps cannot be written. An errno
  // goes between the two parts.
  Message failed;
  Message maps_failed;
};

// Forks I into new user, mount, PID, IPC, UTS and (where the kernel has it) cgroup namespaces, and
// a network namespace where wanted.
//   In:      every signal is blocked already, and stays so in I.
//   Returns: in I 0, with the maps written; all mounts are still those of the caller's namespace,
//            with its propagation. In S an errno, and then nothing was forked; else it does not
//            return: S supervises, takes placeholders back, puts the terminal right and ends as the
//            command did, or with the status that I or C gave to EndSetup.
//   I keeps the caller's descriptors until SplitInit; S keeps none but standard error.
int SplitSupervisor(const Split& split);

// In I, when the sandbox stands and its privileges are gone: forks C.
//   Returns: in C 0: a process group of its own, and the signal mask and dispositions that the
//            caller had. An errno in I, and then nothing was forked, or in C; else I does not
//            return.
int SplitInit();

// In I or C: ends set-up with this status, which becomes that of S. The message is out already.
// Placeholders are S's to remove.
[[noreturn]] void EndSetup(int status);

}  // namespace agent_exec::raw
