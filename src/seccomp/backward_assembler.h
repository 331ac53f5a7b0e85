#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "abi/linux_seccomp.h"

namespace agent_exec {

// Builds a BPF program from its end to its beginning. Jumps of classic BPF only go forward, so
// every target is known when a jump to it is made: no patching, and a jump that is too long for its
// eight bits gets a stepping stone at once. What is emitted last runs first.
class BackwardAssembler {
 public:
  using Label = size_t;  // of an instruction: its position, counted from the end

  BackwardAssembler() { reversed_.reserve(256); }

  // A return of this value that what is emitted next can reach; an earlier one where there is one.
  Label Return(uint32_t value) {
    for (Label known : returns_) {
      if (reversed_[known].k == value && IsNear(known)) return known;
    }
    Label label = Push({kBpfReturn, 0, 0, value});
    returns_.push_back(label);
    return label;
  }

  // Loads the word at this offset; goes on with what was emitted last.
  Label Load(uint32_t offset) { return Push({kBpfLoadWord, 0, 0, offset}); }

  // In: code is one of the conditional jumps of abi/linux_seccomp.h; the labels came from this
  // object.
  Label Branch(uint16_t code, uint32_t k, Label if_true, Label if_false) {
    if_true = Near(if_true);
    if_false = Near(if_false);
    return Push({code, Distance(if_true), Distance(if_false), k});
  }

  std::vector<SockFilter> Take() {
    return std::vector<SockFilter>(reversed_.rbegin(), reversed_.rend());
  }

 private:
  // The stepping stones of one branch, at most two, may still come between it and its target.
  static constexpr size_t kReach = 255 - 2;

  size_t Skipped(Label label) const { return reversed_.size() - label - 1; }
  bool IsNear(Label label) const { return Skipped(label) <= kReach; }
  uint8_t Distance(Label label) const { return static_cast<uint8_t>(Skipped(label)); }

  Label Near(Label label) {
    if (IsNear(label)) return label;
    return Push({kBpfJump, 0, 0, static_cast<uint32_t>(Skipped(label))});
  }

  Label Push(SockFilter instruction) {
    reversed_.push_back(instruction);
    return reversed_.size() - 1;
  }

  std::vector<SockFilter> reversed_;
  std::vector<Label> returns_;
};

}  // namespace agent_exec
