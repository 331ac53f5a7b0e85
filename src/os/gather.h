#pragma once

#include "host/facts.h"

namespace agent_exec {

// How much of the host is looked at. What only a confined start asks for is the dearer half.
enum class GatherScope {
  kProcess,  // what this process was given
  kKernel,   // also what the kernel lets us do
  kAll,      // also the wrappers of this host
};

// What this process was given and what this host has, by looking and by trying in a child.
//   Cost: kProcess some 15 system calls. kKernel a child that makes a user namespace besides
//         (60 µs). kAll one look into each wrapper's file (50 µs) besides.
HostFacts GatherFacts(GatherScope scope = GatherScope::kAll);

// Adds the wrappers to facts that were gathered without them.
//   Cost: see kAll; a wrapper is executed only where its file does not tell, or where it alone may
//         make a user namespace.
void GatherWrappers(HostFacts* facts);

}  // namespace agent_exec
