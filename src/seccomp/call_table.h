#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "seccomp/filter.h"

// THE table of system call decisions, and what its words mean. The assembler compiles it, the tests
// interpret it; nobody else decides about a call.

namespace agent_exec {

// What a call is about; also says why the allowed ones of a group are allowed (GroupText).
enum class CallGroup : uint8_t {
  kInputOutput,
  kFiles,
  kSetId,
  kOwnership,
  kMemory,
  kProcesses,
  kForeignPids,
  kIdentity,
  kSignals,
  kTime,
  kIpc,
  kSockets,
  kTerminal,
  kSandboxing,
  kNamespaces,
  kMounts,
  kKeys,
  kKernel,
  kClock,
  kMachine,
  kGone,
};

// How a call ends when a clause of its rule matches.
enum class CallAction : uint8_t {
  kAllow,
  kEperm,
  kEnosys,
  kEafnosupport,
  kEprotonosupport,
  kEbusy,
  kSucceed,      // returns 0, does nothing
  kSetgidChmod,  // what FilterOptions::setgid_chmod says
};

// How a call is decided. The first ones look at nothing but the number.
enum class CallRule : uint8_t {
  kAllow,
  kEperm,
  kEnosys,
  kSucceed,
  kKeyring,  // EPERM; ENOSYS when nested: runc and crun go on without a keyring only then
  kClone,
  kUnshare,
  kIoctl,
  kSocket,
  kOpen,
  kOpenat,
  kCreat,
  kChmod,
  kChmodAt,
  kMknod,
  kMknodAt,
  kPidInFirst,
  kSetpriority,
  kIoprioSet,
  kSeccomp,
};
inline constexpr int kCallRuleCount = static_cast<int>(CallRule::kSeccomp) + 1;

// When a row's rule holds; otherwise the call is allowed.
enum class CallWhen : uint8_t {
  kAlways,
  kUnlessNested,   // !FilterOptions::nested_sandbox
  kHostPids,       // FilterOptions::host_pids
  kIgnoreChown,    // FilterOptions::ignore_chown
  kUnlessOpenat2,  // !FilterOptions::allow_openat2
  kOwnListener,    // FilterOptions::setgid_chmod is kNotify
};

struct CallRow {
  const char* name;
  CallGroup group;
  CallWhen when;
  CallRule rule;
  const char* reason;  // "" for an allowed call: the group's text says it
};

enum class ArgOp : uint8_t { kEqual, kNotEqual, kAnyBit };

// A test of one half of one argument.
struct ArgTest {
  uint8_t word;  // 2 * argument, + 1 for the high half
  ArgOp op;
  uint32_t value;
};

// All tests hold: the action. A rule is a list of clauses, the first that matches decides, and the
// last has no test.
struct CallClause {
  uint8_t test_count;
  ArgTest tests[2];
  CallAction action;
};

// What the table says about one number of one ABI.
struct CallDecision {
  CallRule rule = CallRule::kEnosys;
  CallWhen when = CallWhen::kAlways;
};

// Every call of abi/syscall_names.h exactly once (checked by the compiler), ordered by subject.
absl::Span<const CallRow> CallTable();
const char* GroupText(CallGroup group);

// By number, 0 to kLastSyscall; a number that the ABI does not have is ENOSYS.
absl::Span<const CallDecision> CallDecisions(Arch arch);

// The rule that holds under these options; never kKeyring, which becomes what it stands for.
CallRule ResolveRule(CallDecision decision, const FilterOptions& options);
// The value that the filter returns for an action.
uint32_t ResolveAction(CallAction action, const FilterOptions& options);
// In: a resolved rule.
absl::Span<const CallClause> RuleClauses(CallRule rule);

}  // namespace agent_exec
