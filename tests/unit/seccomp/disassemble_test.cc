#include "abi/linux_seccomp.h"
#include "doctest/doctest.h"
#include "seccomp/filter.h"

namespace agent_exec {
namespace {

TEST_SUITE("seccomp/disassemble") {
  TEST_CASE("each instruction is a line with its position and absolute targets") {
    CHECK(Disassemble({
              {kBpfLoadWord, 0, 0, kSeccompArchOffset},
              {kBpfJumpEqual, 0, 6, kAuditArchX86_64},
              {kBpfLoadWord, 0, 0, kSeccompNrOffset},
              {kBpfJumpAtLeast, 1, 3, 57},
              {kBpfJump, 0, 0, 2},
              {kBpfLoadWord, 0, 0, kSeccompArgsOffset + 8},
              {kBpfJumpAnyBit, 0, 2, 06000},
              {kBpfLoadWord, 0, 0, kSeccompArgsOffset + 4},
              {kBpfReturn, 0, 0, kSeccompKillProcess},
              {kBpfReturn, 0, 0, kSeccompAllow},
              {kBpfReturn, 0, 0, kSeccompErrno | kLinuxEperm},
              {kBpfReturn, 0, 0, kSeccompErrno},
              {kBpfReturn, 0, 0, kSeccompErrno | 5},
              {kBpfReturn, 0, 0, kSeccompUserNotif},
              {kBpfReturn, 0, 0, 0x7ff00000},
              {0x54, 1, 2, 0xff},
          }) ==
          "   0  A = arch\n"
          "   1  if A == 0xc000003e goto 2 else 8\n"
          "   2  A = nr\n"
          "   3  if A >= 57 goto 5 else 7\n"
          "   4  goto 7\n"
          "   5  A = arg1.low\n"
          "   6  if A & 0xc00 goto 7 else 9\n"
          "   7  A = arg0.high\n"
          "   8  kill process\n"
          "   9  allow\n"
          "  10  refuse: EPERM\n"
          "  11  refuse: nothing, success\n"
          "  12  refuse: errno 5\n"
          "  13  ask the supervisor\n"
          "  14  return 0x7ff00000\n"
          "  15  code 0x54 1 2 0xff\n");
  }
}

}  // namespace
}  // namespace agent_exec
