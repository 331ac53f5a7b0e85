#pragma once

#include "host/facts.h"

namespace agent_exec {

// How much of the host is looked at. What only a confined start asks for is the dearer half.
enum class GatherScope {
  kProcess,  // what this process was given
  kAll,      // also what this host has: the wrappers, and what the kernel lets us do
};

// What this process was given and what this host has, by looking and by trying in a child.
//   Cost: kProcess some 15 system calls. kAll a child that makes a user namespace besides (150 µs)
//   and one look into each
//         wrapper's file (50 µs); a wrapper is executed only where its file does not tell.
HostFacts GatherFacts(GatherScope scope = GatherScope::kAll);

}  // namespace agent_exec
