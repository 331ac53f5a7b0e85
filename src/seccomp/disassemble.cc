#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "abi/linux_seccomp.h"
#include "absl/strings/str_cat.h"
#include "seccomp/filter.h"

namespace agent_exec {
namespace {

std::string Hex(uint32_t value) { return absl::StrCat("0x", absl::Hex(value)); }

std::string LoadText(uint32_t offset) {
  if (offset == kSeccompNrOffset) return "A = nr";
  if (offset == kSeccompArchOffset) return "A = arch";
  if (offset < kSeccompArgsOffset) return absl::StrCat("A = word at ", offset);
  uint32_t word = (offset - kSeccompArgsOffset) / 4;
  return absl::StrCat("A = arg", word / 2, word % 2 == 0 ? ".low" : ".high");
}

std::string ErrnoName(uint32_t number) {
  switch (number) {
    case 0:
      return "nothing, success";
    case kLinuxEperm:
      return "EPERM";
    case kLinuxEbusy:
      return "EBUSY";
    case kLinuxEnosys:
      return "ENOSYS";
    case kLinuxEprotonosupport:
      return "EPROTONOSUPPORT";
    case kLinuxEafnosupport:
      return "EAFNOSUPPORT";
  }
  return absl::StrCat("errno ", number);
}

std::string ReturnText(uint32_t value) {
  if (value == kSeccompAllow) return "allow";
  if (value == kSeccompKillProcess) return "kill process";
  if (value == kSeccompUserNotif) return "ask the supervisor";
  if ((value & kSeccompActionMask) == kSeccompErrno) {
    return absl::StrCat("refuse: ", ErrnoName(value & kSeccompDataMask));
  }
  return absl::StrCat("return ", Hex(value));
}

std::string InstructionText(const SockFilter& i, size_t position) {
  auto branch = [&](absl::string_view test) {
    return absl::StrCat("if ", test, " goto ", position + 1 + i.jump_true, " else ",
                        position + 1 + i.jump_false);
  };
  switch (i.code) {
    case kBpfLoadWord:
      return LoadText(i.k);
    case kBpfJump:
      return absl::StrCat("goto ", position + 1 + i.k);
    case kBpfJumpEqual:
      // The architecture is known by its hexadecimal number, everything else by its decimal one.
      return branch(absl::StrCat("A == ", i.k > 0xffff ? Hex(i.k) : absl::StrCat(i.k)));
    case kBpfJumpAtLeast:
      return branch(absl::StrCat("A >= ", i.k));
    case kBpfJumpAnyBit:
      return branch(absl::StrCat("A & ", Hex(i.k)));
    case kBpfReturn:
      return ReturnText(i.k);
  }
  return absl::StrCat("code ", Hex(i.code), " ", i.jump_true, " ", i.jump_false, " ", Hex(i.k));
}

}  // namespace

std::string Disassemble(const std::vector<SockFilter>& program) {
  std::string text;
  for (size_t i = 0; i < program.size(); ++i) {
    absl::StrAppend(&text, absl::Dec(i, absl::kSpacePad4), "  ", InstructionText(program[i], i),
                    "\n");
  }
  return text;
}

}  // namespace agent_exec
