#include "seccomp/call_table.h"

#include <set>
#include <string>

#include "abi/syscall_names.h"
#include "absl/strings/str_cat.h"
#include "doctest/doctest.h"
#include "support/golden.h"

namespace agent_exec {
namespace {

const char* RuleName(CallRule rule) {
  switch (rule) {
    case CallRule::kAllow:
      return "allow";
    case CallRule::kEperm:
      return "EPERM";
    case CallRule::kEnosys:
      return "ENOSYS";
    case CallRule::kSucceed:
      return "success";
    case CallRule::kKeyring:
      return "keyring";
    default:
      return "by arguments";
  }
}

// One line per call: numbers, what becomes of it by default and nested, and why.
std::string TableText() {
  std::string text = "# call, x86_64, aarch64: by default; under nested-sandbox (why)\n";
  for (const CallRow& row : CallTable()) {
    const int x86_64 = SyscallNumber(SyscallAbi::kX86_64, row.name);
    const int aarch64 = SyscallNumber(SyscallAbi::kAarch64, row.name);
    const CallRule standard = ResolveRule({row.rule, row.when}, {});
    const CallRule nested = ResolveRule({row.rule, row.when}, {.nested_sandbox = true});
    absl::StrAppend(&text, row.name, ", ", x86_64, ", ", aarch64, ": ", RuleName(standard));
    if (nested != standard) absl::StrAppend(&text, "; ", RuleName(nested));
    if (row.reason[0] != '\0') absl::StrAppend(&text, " (", row.reason, ")");
    text += "\n";
  }
  return text;
}

TEST_SUITE("seccomp/call_table") {
  TEST_CASE("every call of both ABIs has exactly one row") {
    std::set<std::string> names;
    for (const CallRow& row : CallTable()) CHECK(names.insert(row.name).second);
    for (const SyscallRow& call : kSyscalls) CHECK(names.count(call.name) == 1);
    CHECK(names.size() == std::size(kSyscalls));
  }

  TEST_CASE("whatever is not simply allowed has a reason, and every group a text") {
    for (const CallRow& row : CallTable()) {
      INFO(row.name);
      CHECK((row.rule == CallRule::kAllow) == (row.reason[0] == '\0'));
      CHECK(std::string(GroupText(row.group)) != "");
    }
  }

  TEST_CASE("a call's number leads to the decision of its row, a hole to ENOSYS") {
    for (Arch arch : {Arch::kX86_64, Arch::kAarch64}) {
      const SyscallAbi abi = arch == Arch::kX86_64 ? SyscallAbi::kX86_64 : SyscallAbi::kAarch64;
      REQUIRE(CallDecisions(arch).size() == kLastSyscall + 1);
      for (const CallRow& row : CallTable()) {
        const int number = SyscallNumber(abi, row.name);
        if (number < 0) continue;
        CHECK(CallDecisions(arch)[static_cast<size_t>(number)].rule == row.rule);
        CHECK(CallDecisions(arch)[static_cast<size_t>(number)].when == row.when);
      }
      for (int number = 0; number <= kLastSyscall; ++number) {
        if (SyscallName(abi, number) != nullptr) continue;
        CHECK(CallDecisions(arch)[static_cast<size_t>(number)].rule == CallRule::kEnosys);
      }
    }
  }

  TEST_CASE("every rule ends with a clause that always holds, and only there") {
    for (int rule = 0; rule < kCallRuleCount; ++rule) {
      const absl::Span<const CallClause> clauses = RuleClauses(static_cast<CallRule>(rule));
      REQUIRE(!clauses.empty());
      for (const CallClause& clause : clauses) {
        CHECK((clause.test_count == 0) == (&clause == &clauses.back()));
        for (int t = 0; t < clause.test_count; ++t) CHECK(clause.tests[t].word < 12);
      }
    }
  }

  TEST_CASE("the decisions are those that were read and accepted") {
    CHECK(testing::GoldenDifference("seccomp/calls.txt", TableText()) == "");
  }
}

}  // namespace
}  // namespace agent_exec
