#include "abi/syscall_names.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace agent_exec {
namespace {

int NumberOf(const SyscallRow& row, SyscallAbi abi) {
  return abi == SyscallAbi::kX86_64 ? row.x86_64 : row.aarch64;
}

}  // namespace

int SyscallNumber(SyscallAbi abi, const char* name) {
  const SyscallRow* row = std::lower_bound(
      std::begin(kSyscalls), std::end(kSyscalls), name,
      [](const SyscallRow& a, const char* b) { return std::strcmp(a.name, b) < 0; });
  if (row == std::end(kSyscalls) || std::strcmp(row->name, name) != 0) return -1;
  return NumberOf(*row, abi);
}

const char* SyscallName(SyscallAbi abi, int number) {
  if (number < 0) return nullptr;
  for (const SyscallRow& row : kSyscalls) {
    if (NumberOf(row, abi) == number) return row.name;
  }
  return nullptr;
}

}  // namespace agent_exec
