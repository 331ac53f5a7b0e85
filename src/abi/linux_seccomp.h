#pragma once

#include <cstdint>

// Kernel constants and layouts of seccomp(2) and classic BPF, so that the assembler needs no kernel
// header and builds on any system. Source: linux/filter.h, linux/bpf_common.h, linux/seccomp.h,
// linux/audit.h (the user-space ABI). A test compares them with the machine's own headers.

namespace agent_exec {

struct SockFilter {  // struct sock_filter
  uint16_t code;
  uint8_t jump_true;   // instructions to skip when the test holds
  uint8_t jump_false;  // and when it does not
  uint32_t k;
  bool operator==(const SockFilter&) const = default;
};

// struct seccomp_data: what a filter can read. The argument registers are 64 bits wide even where
// the kernel takes an int from them; both ABIs here are little-endian, so the low half comes first.
struct SeccompData {
  int32_t nr = 0;
  uint32_t arch = 0;
  uint64_t instruction_pointer = 0;
  uint64_t args[6] = {};
};
inline constexpr uint32_t kSeccompNrOffset = 0;
inline constexpr uint32_t kSeccompArchOffset = 4;
inline constexpr uint32_t kSeccompArgsOffset = 16;

// The instructions that the assembler emits. The kernel's constant-action bitmap (5.11) is computed
// by an emulator that knows these and little else: anything fancier costs every call a filter run.
inline constexpr uint16_t kBpfLoadWord = 0x20;     // BPF_LD | BPF_W | BPF_ABS: A = the word at k
inline constexpr uint16_t kBpfJump = 0x05;         // BPF_JMP | BPF_JA: skip k instructions
inline constexpr uint16_t kBpfJumpEqual = 0x15;    // BPF_JMP | BPF_JEQ | BPF_K: A == k
inline constexpr uint16_t kBpfJumpAtLeast = 0x35;  // BPF_JMP | BPF_JGE | BPF_K: A >= k, unsigned
inline constexpr uint16_t kBpfJumpAnyBit = 0x45;   // BPF_JMP | BPF_JSET | BPF_K: (A & k) != 0
inline constexpr uint16_t kBpfReturn = 0x06;       // BPF_RET | BPF_K
inline constexpr uint32_t kBpfMaxInstructions = 4096;

// What a filter returns. The low 16 bits of an error are the errno; 0 there means "return 0, do
// nothing".
inline constexpr uint32_t kSeccompKillProcess = 0x80000000;
inline constexpr uint32_t kSeccompErrno = 0x00050000;
inline constexpr uint32_t kSeccompUserNotif = 0x7fc00000;
inline constexpr uint32_t kSeccompAllow = 0x7fff0000;
inline constexpr uint32_t kSeccompActionMask = 0xffff0000;
inline constexpr uint32_t kSeccompDataMask = 0x0000ffff;

// seccomp(2): its first argument and one of the flags in its second.
inline constexpr uint32_t kSeccompSetModeFilter = 1;
inline constexpr uint32_t kSeccompFilterFlagNewListener = 1u << 3;

inline constexpr uint32_t kAuditArchX86_64 = 0xc000003e;
inline constexpr uint32_t kAuditArchAarch64 = 0xc00000b7;
inline constexpr uint32_t kAuditArchI386 = 0x40000003;
inline constexpr uint32_t kAuditArchArm = 0x40000028;
// x32 calls carry the x86_64 audit architecture and this bit in the number.
inline constexpr uint32_t kX32SyscallBit = 0x40000000;

// Linux's numbers, which the errno.h of another system does not have.
inline constexpr uint32_t kLinuxEperm = 1;
inline constexpr uint32_t kLinuxEbusy = 16;
inline constexpr uint32_t kLinuxEnosys = 38;
inline constexpr uint32_t kLinuxEprotonosupport = 93;
inline constexpr uint32_t kLinuxEafnosupport = 97;

}  // namespace agent_exec
