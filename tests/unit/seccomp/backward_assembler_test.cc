#include "seccomp/backward_assembler.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "doctest/doctest.h"
#include "support/bpf_eval.h"

namespace agent_exec {
namespace {

using testing::BpfProblem;
using testing::RunBpf;

TEST_SUITE("seccomp/backward_assembler") {
  TEST_CASE("returns of one value are shared as long as a jump can reach them") {
    BackwardAssembler out;
    const size_t allow = out.Return(kSeccompAllow);
    CHECK(out.Return(kSeccompKillProcess) != allow);
    CHECK(out.Return(kSeccompAllow) == allow);
    for (int i = 0; i < 300; ++i) out.Load(0);
    CHECK(out.Return(kSeccompAllow) != allow);
  }

  TEST_CASE("a jump of any length arrives: long ones by stepping stones") {
    // if nr == 7 goto far else near, with filler between; both sides far in the second half.
    for (bool both : {false, true}) {
      for (int filler : {0, 1, 250, 251, 252, 253, 254, 255, 256, 257, 258, 600}) {
        BackwardAssembler out;
        const size_t far = out.Return(kSeccompAllow);
        const size_t farther = out.Return(kSeccompUserNotif);
        size_t near = 0;
        for (int i = 0; i < filler; ++i) near = out.Load(kSeccompArgsOffset);
        if (filler == 0 || both) near = farther;
        out.Branch(kBpfJumpEqual, 7, far, near);
        out.Load(kSeccompNrOffset);
        const std::vector<SockFilter> program = out.Take();
        INFO("filler ", filler, both ? " both" : "");
        // With both sides far nothing runs the filler.
        if (filler == 0 || !both) CHECK(BpfProblem(program) == "");
        SeccompData data;
        data.nr = 7;
        CHECK(RunBpf(program, data).value == kSeccompAllow);
        data.nr = 8;
        CHECK(RunBpf(program, data).value == kSeccompUserNotif);
      }
    }
  }
}

}  // namespace
}  // namespace agent_exec
