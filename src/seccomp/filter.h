#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "abi/linux_seccomp.h"
#include "host/facts.h"

// The system call filter: one table of decisions (call_table.h), assembled to classic BPF. Pure.
//
// What the table does not know is refused: numbers that the ABI does not have or that are newer
// than the table get ENOSYS, which a libc answers with its fallback. A foreign ABI has no number
// here at all:
//   * int 0x80 on x86_64 and AArch32 on aarch64 kill the process. A program of that ABI could not
//     even exit once every call fails (musl would spin, glibc crash); SIGSYS tells what happened.
//   * x32 calls carry the native architecture and a high bit: they are numbers above the table, and
//     get what a kernel without x32 gives, ENOSYS.

namespace agent_exec {

// What a chmod with S_ISGID meets. In open, creat and mknod, which make no directory, the bit is
// always refused; S_ISUID is refused everywhere.
enum class SetgidChmod : uint8_t {
  kRefuse,  // EPERM
  kAllow,   // passes, on files too: a limit to be declared
  kNotify,  // asks the supervisor, which grants it for directories; the filter must be loaded with
            // a listener
};

struct FilterOptions {
  Arch arch = Arch::kX86_64;
  // User namespaces, mounts and what else a sandbox inside needs stay allowed.
  bool nested_sandbox = false;
  // No PID namespace: calls that change foreign processes by pid are refused; only pid 0 passes,
  // since a filter does not know its own process's pid.
  bool host_pids = false;
  SetgidChmod setgid_chmod = SetgidChmod::kRefuse;
  // The chown family returns success without effect: uid 0 without CAP_CHOWN, where tar and cp -a
  // would fail.
  bool ignore_chown = false;
  // openat2 takes its mode from memory, which a filter cannot read. Allowed, it can leave a set-id
  // file: an empty one, since the kernel drops the bits when the file gets content (old kernels not
  // on every way). Refused (ENOSYS), most programs fall back to openat; GNU tar with glibc >= 2.43
  // does not.
  bool allow_openat2 = false;
};

// An upper bound, over all options and arguments, of the instructions that one call runs through.
inline constexpr int kMaxInstructionsPerCall = 30;
// The same for a call that is decided by its number alone.
inline constexpr int kMaxInstructionsPerPlainCall = 13;

// The program for these options, for the 64-bit ABI of the architecture and everything foreign.
//   Returns: a valid program, some 100 to 200 instructions. Calls that are always allowed get there
//            without a look at an argument, so that the kernel's constant-action bitmap (5.11)
//            answers for them.
//   Cost:    microseconds; the program is a search tree, so no call passes more than a few tests.
std::vector<SockFilter> AssembleFilter(const FilterOptions& options);

// One line per instruction, for golden files and --print=script.
//   In: a valid program; instructions that AssembleFilter does not emit are shown as their numbers.
std::string Disassemble(const std::vector<SockFilter>& program);

}  // namespace agent_exec
