#include <cstddef>
#include <cstdint>
#include <vector>

#include "abi/linux_seccomp.h"
#include "abi/syscall_names.h"
#include "absl/types/span.h"
#include "seccomp/backward_assembler.h"
#include "seccomp/call_table.h"
#include "seccomp/filter.h"

namespace agent_exec {
namespace {

using Label = BackwardAssembler::Label;

// Is the word of a test in the accumulator already, on every way there? The ways to a clause's
// first test are the failed tests of the clause before it, the way to a later one is the test
// before.
bool IsLoaded(absl::Span<const CallClause> clauses, size_t clause, size_t test) {
  const int word = clauses[clause].tests[test].word;
  if (test > 0) return clauses[clause].tests[test - 1].word == word;
  if (clause == 0) return false;
  const CallClause& before = clauses[clause - 1];
  for (size_t t = 0; t < before.test_count; ++t) {
    if (before.tests[t].word != word) return false;
  }
  return true;
}

Label EmitTest(BackwardAssembler& out, const ArgTest& test, Label if_true, Label if_false) {
  switch (test.op) {
    case ArgOp::kEqual:
      return out.Branch(kBpfJumpEqual, test.value, if_true, if_false);
    case ArgOp::kNotEqual:
      return out.Branch(kBpfJumpEqual, test.value, if_false, if_true);
    case ArgOp::kAnyBit:
      break;
  }
  return out.Branch(kBpfJumpAnyBit, test.value, if_true, if_false);
}

Label EmitRule(BackwardAssembler& out, CallRule rule, const FilterOptions& options) {
  absl::Span<const CallClause> clauses = RuleClauses(rule);
  Label next = out.Return(ResolveAction(clauses.back().action, options));
  for (size_t i = clauses.size() - 1; i-- > 0;) {
    Label here = out.Return(ResolveAction(clauses[i].action, options));
    for (size_t t = clauses[i].test_count; t-- > 0;) {
      const ArgTest& test = clauses[i].tests[t];
      here = EmitTest(out, test, here, next);
      if (!IsLoaded(clauses, i, t)) {
        here = out.Load(kSeccompArgsOffset + 4 * static_cast<uint32_t>(test.word));
      }
    }
    next = here;
  }
  return next;
}

// Numbers from first to the next range's first, with one rule.
struct Range {
  uint32_t first;
  CallRule rule;
};

// One range per change of rule; the last one reaches to the highest number there is.
std::vector<Range> MakeRanges(const FilterOptions& options) {
  std::vector<Range> ranges;
  ranges.reserve(192);
  absl::Span<const CallDecision> decisions = CallDecisions(options.arch);
  for (size_t number = 0; number < decisions.size(); ++number) {
    CallRule rule = ResolveRule(decisions[number], options);
    if (!ranges.empty() && ranges.back().rule == rule) continue;
    ranges.push_back({static_cast<uint32_t>(number), rule});
  }
  if (ranges.back().rule != CallRule::kEnosys) {
    ranges.push_back({static_cast<uint32_t>(decisions.size()), CallRule::kEnosys});
  }
  return ranges;
}

// The search over ranges, which are not empty; the accumulator holds the number.
Label EmitSearch(BackwardAssembler& out, absl::Span<const Range> ranges,
                 const FilterOptions& options) {
  if (ranges.size() == 1) return EmitRule(out, ranges[0].rule, options);
  // A lone number between two ranges of one rule takes one test instead of two.
  if (ranges.size() == 3 && ranges[0].rule == ranges[2].rule &&
      ranges[1].first + 1 == ranges[2].first) {
    Label around = EmitRule(out, ranges[0].rule, options);
    Label lone = EmitRule(out, ranges[1].rule, options);
    return out.Branch(kBpfJumpEqual, ranges[1].first, lone, around);
  }
  size_t middle = ranges.size() / 2;
  Label upper = EmitSearch(out, ranges.subspan(middle), options);
  Label lower = EmitSearch(out, ranges.first(middle), options);
  return out.Branch(kBpfJumpAtLeast, ranges[middle].first, upper, lower);
}

}  // namespace

std::vector<SockFilter> AssembleFilter(const FilterOptions& options) {
  BackwardAssembler out;
  // x32 needs no test of its own: its bit makes a number above every range but the last.
  static_assert(kX32SyscallBit > kLastSyscall);
  EmitSearch(out, MakeRanges(options), options);
  Label search = out.Load(kSeccompNrOffset);
  Label kill = out.Return(kSeccompKillProcess);
  uint32_t native = options.arch == Arch::kX86_64 ? kAuditArchX86_64 : kAuditArchAarch64;
  out.Branch(kBpfJumpEqual, native, search, kill);
  out.Load(kSeccompArchOffset);
  return out.Take();
}

}  // namespace agent_exec
