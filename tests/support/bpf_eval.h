#pragma once

// Runs seccomp programs without a kernel: the instructions that AssembleFilter emits, as the kernel
// would run, check and judge them.

#include <cstdint>
#include <string>
#include <vector>

#include "abi/linux_seccomp.h"

namespace agent_exec::testing {

struct BpfResult {
  uint32_t value = 0;    // what the program returned
  int instructions = 0;  // how many it ran through, the return included
  int last = 0;          // the position of the return
};

// In: a program that BpfProblem finds nothing in.
BpfResult RunBpf(const std::vector<SockFilter>& program, const SeccompData& data);

// What the kernel's checks (bpf_check_classic, seccomp_check_filter) would refuse, or code that
// nothing reaches; "" when there is nothing.
std::string BpfProblem(const std::vector<SockFilter>& program);

// Does the kernel's constant-action bitmap (5.11 and later) answer for this call? It does where the
// program comes to "allow" by the number and the architecture alone (seccomp_is_const_allow).
bool IsConstantAllow(const std::vector<SockFilter>& program, uint32_t arch, uint32_t number);

}  // namespace agent_exec::testing
