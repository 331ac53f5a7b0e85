#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backend/script.h"
#include "policy/policy.h"

namespace agent_exec {

struct RunOptions {
  std::string report_target;  // a path or "fd:N"; "" for none
  std::string report_line;    // written just before the first act
  ErrorFormat error_format = ErrorFormat::kText;
  // FormatOrigin of every origin of the plan, by id, for the places in messages; may be empty.
  std::vector<std::string> places;
  // The executed file is the command itself and no wrapper: failing to execute it is 126 or 127.
  bool exec_is_command = false;
  // The launcher's own argument memory: the process that stays behind must neither show the
  // caller's command line nor be found by it. May be null.
  char* argument_memory = nullptr;
  size_t argument_bytes = 0;
};

// Carries out a script. Compiles it to plain arrays and ready-made messages first; from the first
// act on nothing allocates. Ends in execve, or in a message and exit status 125 with nothing left
// behind (126 and 127 when the command itself, for a backend without a wrapper, cannot be
// executed).
//
// Placeholders: each is held by a shared lock from when it is made until it may go. An existing one
// of ours (empty, our mode, our time stamp) is joined; anything else that has come to stand there
// since planning refuses the start. Signal dispositions, the signal mask and descriptors 0 to 2 are
// what they were.
[[noreturn]] void RunScript(const Script& script, const RunOptions& options);

// Called when the first act begins. Tests make every allocation after it fatal.
void SetArmedHookForTest(void (*hook)());

}  // namespace agent_exec
