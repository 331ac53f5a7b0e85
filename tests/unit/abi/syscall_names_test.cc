#include "abi/syscall_names.h"

#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "doctest/doctest.h"

namespace agent_exec {
namespace {

#if defined(AGENT_EXEC_UNISTD_MACROS) && (defined(__x86_64__) || defined(__aarch64__))
// The __NR_ macros of the build machine's <asm/unistd.h>, as the preprocessor lists them (cc -dM
// -E).
std::map<std::string, int> MachineCalls() {
  std::map<std::string, std::string> macros;
  std::ifstream in(AGENT_EXEC_UNISTD_MACROS);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string define, name, value;
    if (words >> define >> name >> value && name.rfind("__NR", 0) == 0) macros[name] = value;
  }
  std::map<std::string, int> calls;
  for (auto [name, value] : macros) {
    if (name.rfind("__NR_", 0) != 0) continue;
    // Older headers of aarch64 spell some numbers as another macro.
    for (auto other = macros.find(value); other != macros.end(); other = macros.find(value)) {
      value = other->second;
    }
    if (value.find_first_not_of("0123456789") == std::string::npos) {
      calls[name.substr(5)] = std::stoi(value);
    }
  }
  // Not calls: where an architecture's own begin, and their number.
  calls.erase("arch_specific_syscall");
  calls.erase("syscalls");
  return calls;
}
#endif

TEST_SUITE("abi/syscall_names") {
  TEST_CASE("the table is sorted by name, and no number is given twice") {
    std::set<int> x86_64, aarch64;
    const char* previous = "";
    for (const SyscallRow& row : kSyscalls) {
      CHECK(std::strcmp(previous, row.name) < 0);
      previous = row.name;
      CHECK((row.x86_64 >= 0 || row.aarch64 >= 0));
      if (row.x86_64 >= 0) CHECK(x86_64.insert(row.x86_64).second);
      if (row.aarch64 >= 0) CHECK(aarch64.insert(row.aarch64).second);
    }
    CHECK(*x86_64.rbegin() == kLastSyscall);
    CHECK(*aarch64.rbegin() == kLastSyscall);
  }

  TEST_CASE("names lead to numbers and numbers to names") {
    for (const SyscallRow& row : kSyscalls) {
      CHECK(SyscallNumber(SyscallAbi::kX86_64, row.name) == row.x86_64);
      CHECK(SyscallNumber(SyscallAbi::kAarch64, row.name) == row.aarch64);
      if (row.x86_64 >= 0)
        CHECK(SyscallName(SyscallAbi::kX86_64, row.x86_64) == std::string(row.name));
      if (row.aarch64 >= 0)
        CHECK(SyscallName(SyscallAbi::kAarch64, row.aarch64) == std::string(row.name));
    }
    CHECK(SyscallNumber(SyscallAbi::kX86_64, "openat") == 257);
    CHECK(SyscallNumber(SyscallAbi::kAarch64, "openat") == 56);
    for (const char* none : {"", "ope", "openatt", "zz"}) {
      CHECK(SyscallNumber(SyscallAbi::kX86_64, none) == -1);
    }
    CHECK(SyscallNumber(SyscallAbi::kAarch64, "open") == -1);
    CHECK(SyscallName(SyscallAbi::kX86_64, -1) == nullptr);
    CHECK(SyscallName(SyscallAbi::kX86_64, 400) == nullptr);
    CHECK(SyscallName(SyscallAbi::kAarch64, kLastSyscall + 1) == nullptr);
  }

#if defined(AGENT_EXEC_UNISTD_MACROS) && (defined(__x86_64__) || defined(__aarch64__))
  TEST_CASE("this machine's <asm/unistd.h> has no call that the table lacks or numbers otherwise") {
#ifdef __x86_64__
    const SyscallAbi abi = SyscallAbi::kX86_64;
#else
    const SyscallAbi abi = SyscallAbi::kAarch64;
#endif
    const std::map<std::string, int> calls = MachineCalls();
    CHECK(calls.size() > 250);
    for (const auto& [name, number] : calls) {
      // What is newer than the table is ENOSYS in the filter: safe, but time to decide about it.
      INFO(name, " is ", number);
      CHECK(SyscallNumber(abi, name.c_str()) == number);
    }
  }
#endif
}

}  // namespace
}  // namespace agent_exec
