#include "support/bpf_eval.h"

#include <cstddef>
#include <cstdlib>

namespace agent_exec::testing {
namespace {

uint32_t WordAt(const SeccompData& data, uint32_t offset) {
  if (offset == kSeccompNrOffset) return static_cast<uint32_t>(data.nr);
  if (offset == kSeccompArchOffset) return data.arch;
  if (offset < kSeccompArgsOffset) {
    return static_cast<uint32_t>(data.instruction_pointer >> (offset == 8 ? 0 : 32));
  }
  uint64_t arg = data.args[(offset - kSeccompArgsOffset) / 8];
  return static_cast<uint32_t>(offset % 8 == 0 ? arg : arg >> 32);
}

bool IsBranch(uint16_t code) {
  return code == kBpfJumpEqual || code == kBpfJumpAtLeast || code == kBpfJumpAnyBit;
}

bool TestHolds(const SockFilter& i, uint32_t a) {
  if (i.code == kBpfJumpEqual) return a == i.k;
  if (i.code == kBpfJumpAtLeast) return a >= i.k;
  return (a & i.k) != 0;
}

}  // namespace

BpfResult RunBpf(const std::vector<SockFilter>& program, const SeccompData& data) {
  BpfResult result;
  uint32_t a = 0;
  for (size_t pc = 0; pc < program.size();) {
    const SockFilter& i = program[pc];
    ++result.instructions;
    if (i.code == kBpfReturn) {
      result.value = i.k;
      result.last = static_cast<int>(pc);
      return result;
    }
    if (i.code == kBpfLoadWord) {
      a = WordAt(data, i.k);
      ++pc;
    } else if (i.code == kBpfJump) {
      pc += 1 + i.k;
    } else {
      pc += 1 + (TestHolds(i, a) ? i.jump_true : i.jump_false);
    }
  }
  std::abort();  // the caller ran a program that BpfProblem refuses
}

std::string BpfProblem(const std::vector<SockFilter>& program) {
  if (program.empty() || program.size() > kBpfMaxInstructions) return "no valid length";
  if (program.back().code != kBpfReturn) return "does not end with a return";
  std::vector<bool> reached(program.size());
  reached[0] = true;
  for (size_t pc = 0; pc < program.size(); ++pc) {
    const SockFilter& i = program[pc];
    const std::string at = "instruction " + std::to_string(pc);
    if (!reached[pc]) return at + " is never reached";
    std::vector<size_t> next = {pc + 1};
    if (i.code == kBpfReturn) {
      next.clear();
    } else if (i.code == kBpfJump) {
      next = {pc + 1 + i.k};
    } else if (IsBranch(i.code)) {
      next = {pc + 1 + i.jump_true, pc + 1 + i.jump_false};
    } else if (i.code != kBpfLoadWord) {
      return at + " is unknown";
    } else if (i.k % 4 != 0 || i.k >= sizeof(SeccompData)) {
      return at + " loads from outside";
    }
    for (size_t target : next) {
      if (target >= program.size()) return at + " leads out of the program";
      reached[target] = true;
    }
  }
  return "";
}

bool IsConstantAllow(const std::vector<SockFilter>& program, uint32_t arch, uint32_t number) {
  SeccompData data;
  data.nr = static_cast<int32_t>(number);
  data.arch = arch;
  uint32_t a = 0;
  for (size_t pc = 0; pc < program.size();) {
    const SockFilter& i = program[pc];
    ++pc;
    if (i.code == kBpfReturn) return i.k == kSeccompAllow;
    if (i.code == kBpfLoadWord) {
      if (i.k >= 8) return false;
      a = WordAt(data, i.k);
    } else if (i.code == kBpfJump) {
      pc += i.k;
    } else {
      pc += TestHolds(i, a) ? i.jump_true : i.jump_false;
    }
  }
  return false;
}

}  // namespace agent_exec::testing
