#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "abi/linux_args.h"
#include "abi/linux_seccomp.h"
#include "abi/syscall_names.h"
#include "absl/strings/str_cat.h"
#include "doctest/doctest.h"
#include "seccomp/call_table.h"
#include "seccomp/filter.h"
#include "support/bpf_eval.h"
#include "support/golden.h"
#include "support/random.h"

namespace agent_exec {
namespace {

using testing::BpfProblem;
using testing::BpfResult;
using testing::GoldenDifference;
using testing::IsConstantAllow;
using testing::Random;
using testing::RunBpf;

constexpr Arch kArchs[] = {Arch::kX86_64, Arch::kAarch64};
constexpr uint32_t kEperm = kSeccompErrno | kLinuxEperm;
constexpr uint32_t kEnosys = kSeccompErrno | kLinuxEnosys;
constexpr uint32_t kEbusy = kSeccompErrno | kLinuxEbusy;
constexpr uint32_t kEafnosupport = kSeccompErrno | kLinuxEafnosupport;
constexpr uint32_t kEprotonosupport = kSeccompErrno | kLinuxEprotonosupport;
constexpr uint32_t kSuccess = kSeccompErrno;
// What a register may hold above an int.
constexpr uint64_t kGarbage = 0xdeadbeef00000000;

SyscallAbi AbiOf(Arch arch) {
  return arch == Arch::kX86_64 ? SyscallAbi::kX86_64 : SyscallAbi::kAarch64;
}
uint32_t AuditOf(Arch arch) { return arch == Arch::kX86_64 ? kAuditArchX86_64 : kAuditArchAarch64; }
const char* ArchName(Arch arch) { return arch == Arch::kX86_64 ? "x86_64" : "aarch64"; }

// Every combination of the options for one architecture.
std::vector<FilterOptions> AllOptions(Arch arch) {
  std::vector<FilterOptions> all;
  for (int bits = 0; bits < 16; ++bits) {
    for (SetgidChmod setgid : {SetgidChmod::kRefuse, SetgidChmod::kAllow, SetgidChmod::kNotify}) {
      FilterOptions options;
      options.arch = arch;
      options.nested_sandbox = (bits & 1) != 0;
      options.host_pids = (bits & 2) != 0;
      options.ignore_chown = (bits & 4) != 0;
      options.allow_openat2 = (bits & 8) != 0;
      options.setgid_chmod = setgid;
      all.push_back(options);
    }
  }
  return all;
}

// The meaning of the table, read straight from it.
uint32_t Reference(const FilterOptions& options, const SeccompData& data) {
  if (data.arch != AuditOf(options.arch)) return kSeccompKillProcess;
  const uint32_t number = static_cast<uint32_t>(data.nr);
  CallRule rule = CallRule::kEnosys;
  for (const CallRow& row : CallTable()) {
    const int known = SyscallNumber(AbiOf(options.arch), row.name);
    if (known >= 0 && static_cast<uint32_t>(known) == number) {
      rule = ResolveRule({row.rule, row.when}, options);
    }
  }
  for (const CallClause& clause : RuleClauses(rule)) {
    bool all = true;
    for (int t = 0; t < clause.test_count; ++t) {
      const ArgTest& test = clause.tests[t];
      const uint64_t arg = data.args[test.word / 2];
      const uint32_t half = static_cast<uint32_t>(test.word % 2 == 0 ? arg : arg >> 32);
      switch (test.op) {
        case ArgOp::kEqual:
          all = all && half == test.value;
          break;
        case ArgOp::kNotEqual:
          all = all && half != test.value;
          break;
        case ArgOp::kAnyBit:
          all = all && (half & test.value) != 0;
          break;
      }
    }
    if (all) return ResolveAction(clause.action, options);
  }
  return kSeccompKillProcess;
}

// Arguments that are near the values that some rule compares.
uint64_t RandomArg(Random* random) {
  static const std::vector<uint32_t> interesting = [] {
    std::vector<uint32_t> values = {0, 1, 2, 0x7fffffff, 0xffffffff, 0755, 06755};
    for (int rule = 0; rule < kCallRuleCount; ++rule) {
      for (const CallClause& clause : RuleClauses(static_cast<CallRule>(rule))) {
        for (int t = 0; t < clause.test_count; ++t) {
          values.push_back(clause.tests[t].value);
          values.push_back(~clause.tests[t].value);
        }
      }
    }
    return values;
  }();
  uint64_t low = interesting[random->Below(interesting.size())];
  if (random->OneIn(3)) low ^= 1ull << random->Below(32);
  const uint64_t high = random->OneIn(2) ? 0 : random->Below(0xffffffff);
  return high << 32 | (low & 0xffffffff);
}

struct Probe {
  const char* call;
  std::vector<uint64_t> args;
  uint32_t expected;
};

void CheckProbes(const FilterOptions& base, const std::vector<Probe>& probes) {
  for (Arch arch : kArchs) {
    FilterOptions options = base;
    options.arch = arch;
    const std::vector<SockFilter> program = AssembleFilter(options);
    for (const Probe& probe : probes) {
      SeccompData data;
      data.arch = AuditOf(arch);
      data.nr = SyscallNumber(AbiOf(arch), probe.call);
      if (data.nr < 0) continue;  // open, mkdir … exist on x86_64 only
      for (size_t i = 0; i < probe.args.size(); ++i) data.args[i] = probe.args[i];
      INFO(ArchName(arch), " ", probe.call, " ", probe.args.empty() ? 0 : probe.args[0], " ",
           probe.args.size() < 2 ? 0 : probe.args[1], " ",
           probe.args.size() < 3 ? 0 : probe.args[2]);
      CHECK(RunBpf(program, data).value == probe.expected);
    }
  }
}

TEST_SUITE("seccomp/assemble") {
  TEST_CASE(
      "every program is one that the kernel takes, with nothing in it that is never reached") {
    for (Arch arch : kArchs) {
      for (const FilterOptions& options : AllOptions(arch)) {
        const std::vector<SockFilter> program = AssembleFilter(options);
        CHECK(BpfProblem(program) == "");
        CHECK(program.size() < kBpfMaxInstructions);
      }
    }
  }

  TEST_CASE("for every number and random arguments the program says what the table says") {
    Random random(20240722);
    for (Arch arch : kArchs) {
      for (const FilterOptions& options : AllOptions(arch)) {
        const std::vector<SockFilter> program = AssembleFilter(options);
        int wrong = 0;
        for (int number = -1; number <= kLastSyscall + 3; ++number) {
          for (int round = 0; round < 6; ++round) {
            SeccompData data;
            data.arch = AuditOf(arch);
            data.nr = number;
            data.instruction_pointer = random.Below(0xffffffff);
            for (uint64_t& arg : data.args) arg = RandomArg(&random);
            if (RunBpf(program, data).value == Reference(options, data)) continue;
            if (wrong++ == 0) INFO("number ", number);
          }
        }
        CHECK(wrong == 0);
      }
    }
  }

  TEST_CASE("each rule's clauses are all reached with arguments made for them") {
    // Walks every clause of every rule: sets the words so that it is the first to match.
    for (Arch arch : kArchs) {
      for (const FilterOptions& options : AllOptions(arch)) {
        const std::vector<SockFilter> program = AssembleFilter(options);
        Random random(7);
        for (const CallRow& row : CallTable()) {
          SeccompData data;
          data.arch = AuditOf(arch);
          data.nr = SyscallNumber(AbiOf(arch), row.name);
          if (data.nr < 0) continue;
          for (const CallClause& clause : RuleClauses(ResolveRule({row.rule, row.when}, options))) {
            for (uint64_t& arg : data.args) arg = kGarbage;
            for (int t = 0; t < clause.test_count; ++t) {
              const ArgTest& test = clause.tests[t];
              const uint64_t value = test.op == ArgOp::kNotEqual ? test.value + 1 : test.value;
              data.args[test.word / 2] = test.word % 2 == 0 ? kGarbage | value : value << 32;
            }
            INFO(ArchName(arch), " ", row.name);
            CHECK(RunBpf(program, data).value == Reference(options, data));
          }
        }
      }
    }
  }

  TEST_CASE("no call passes more instructions than the header promises") {
    Random random(3);
    int most = 0;
    int most_plain = 0;
    for (Arch arch : kArchs) {
      for (const FilterOptions& options : AllOptions(arch)) {
        const std::vector<SockFilter> program = AssembleFilter(options);
        for (int number = -1; number <= kLastSyscall + 1; ++number) {
          SeccompData data;
          data.arch = AuditOf(arch);
          data.nr = number;
          if (IsConstantAllow(program, data.arch, static_cast<uint32_t>(number))) {
            most_plain = std::max(most_plain, RunBpf(program, data).instructions);
            continue;
          }
          for (int round = 0; round < 40; ++round) {
            for (uint64_t& arg : data.args) arg = RandomArg(&random);
            most = std::max(most, RunBpf(program, data).instructions);
          }
        }
      }
    }
    MESSAGE("at most ", most, " instructions, ", most_plain, " where the number decides");
    CHECK(most <= kMaxInstructionsPerCall);
    CHECK(most_plain <= kMaxInstructionsPerPlainCall);
  }

  TEST_CASE("an always allowed call is answered by the kernel's bitmap") {
    for (Arch arch : kArchs) {
      for (const FilterOptions& options : AllOptions(arch)) {
        const std::vector<SockFilter> program = AssembleFilter(options);
        for (const CallRow& row : CallTable()) {
          const int number = SyscallNumber(AbiOf(arch), row.name);
          if (number < 0) continue;
          const bool allowed = ResolveRule({row.rule, row.when}, options) == CallRule::kAllow;
          INFO(ArchName(arch), " ", row.name);
          CHECK(IsConstantAllow(program, AuditOf(arch), static_cast<uint32_t>(number)) == allowed);
        }
      }
    }
  }

  TEST_CASE("assembling takes microseconds") {
    FilterOptions options;
    auto best = std::chrono::nanoseconds::max();
    for (int round = 0; round < 200; ++round) {
      const auto start = std::chrono::steady_clock::now();
      const size_t size = AssembleFilter(options).size();
      const auto took = std::chrono::steady_clock::now() - start;
      CHECK(size > 0);
      best = std::min(best, std::chrono::duration_cast<std::chrono::nanoseconds>(took));
    }
    MESSAGE("assembled in ", best.count() / 1000.0, " µs");
    // Ten times the promise: sanitizers and slow machines.
    CHECK(best < std::chrono::microseconds(200));
  }

  TEST_CASE("a foreign ABI is refused: 32-bit calls end the process, x32 is not implemented") {
    for (Arch arch : kArchs) {
      FilterOptions options;
      options.arch = arch;
      const std::vector<SockFilter> program = AssembleFilter(options);
      for (uint32_t audit : {kAuditArchI386, kAuditArchArm, kAuditArchX86_64, kAuditArchAarch64,
                             uint32_t{0}, AuditOf(arch) ^ 0x80000000u}) {
        if (audit == AuditOf(arch)) continue;
        for (int number : {0, 1, 20, 59, 400}) {
          SeccompData data;
          data.arch = audit;
          data.nr = number;
          CHECK(RunBpf(program, data).value == kSeccompKillProcess);
        }
      }
      for (uint32_t number : {0u, 1u, 59u, 520u}) {
        SeccompData data;
        data.arch = AuditOf(arch);
        data.nr = static_cast<int32_t>(kX32SyscallBit | number);
        CHECK(RunBpf(program, data).value == kEnosys);
      }
    }
  }

  TEST_CASE("what the table does not know is not implemented") {
    for (Arch arch : kArchs) {
      for (const FilterOptions& options : AllOptions(arch)) {
        const std::vector<SockFilter> program = AssembleFilter(options);
        SeccompData data;
        data.arch = AuditOf(arch);
        for (int number : {kLastSyscall + 1, 500, 1000, 0x7fffffff, -1, -2}) {
          data.nr = number;
          CHECK(RunBpf(program, data).value == kEnosys);
        }
        // The hole between the old and the unified numbers.
        data.nr = arch == Arch::kX86_64 ? 400 : 300;
        CHECK(RunBpf(program, data).value == kEnosys);
      }
    }
  }

  TEST_CASE("namespaces and mounts are refused, unless a nested sandbox is wanted") {
    const std::vector<Probe> refused = {
        {"clone", {kCloneNewuser}, kEperm},
        {"clone", {kCloneNewuser | 17}, kEperm},
        {"clone", {kGarbage | kCloneNewnet | 17}, kEperm},
        {"clone", {kCloneNewpid}, kEperm},
        {"clone3", {}, kEnosys},
        {"unshare", {kCloneNewuser}, kEperm},
        {"unshare", {kCloneNewns | kCloneFs}, kEperm},
        {"unshare", {0x80}, kEperm},         // CLONE_NEWTIME
        {"unshare", {0x00100000}, kEperm},   // a flag of a later kernel
        {"unshare", {0x100000000}, kEperm},  // one above the low half
        {"setns", {3, 0}, kEperm},
        {"mount", {}, kEperm},
        {"umount2", {}, kEperm},
        {"pivot_root", {}, kEperm},
        {"chroot", {}, kEperm},
        {"open_tree", {}, kEperm},
        {"open_tree_attr", {}, kEperm},
        {"move_mount", {}, kEperm},
        {"fsopen", {}, kEperm},
        {"fsconfig", {}, kEperm},
        {"fsmount", {}, kEperm},
        {"fspick", {}, kEperm},
        {"mount_setattr", {}, kEperm},
        {"sethostname", {}, kEperm},
    };
    CheckProbes({}, refused);
    std::vector<Probe> nested = refused;
    for (Probe& probe : nested) probe.expected = kSeccompAllow;
    CheckProbes({.nested_sandbox = true}, nested);
    const std::vector<Probe> allowed = {
        {"clone", {17}, kSeccompAllow},         // fork
        {"clone", {0x3d0f00}, kSeccompAllow},   // pthread_create
        {"clone", {0x4111}, kSeccompAllow},     // posix_spawn
        {"clone", {0x80 | 17}, kSeccompAllow},  // part of the exit signal, not CLONE_NEWTIME
        {"clone", {kCloneNewuser << 4}, kSeccompAllow},
        {"unshare", {kCloneFiles | kCloneFs | kCloneSysvsem}, kSeccompAllow},
        {"unshare", {0}, kSeccompAllow},
        {"statmount", {}, kSeccompAllow},
        {"listmount", {}, kSeccompAllow},
    };
    CheckProbes({}, allowed);
  }

  TEST_CASE("what reaches the kernel or the host is refused, nested or not") {
    std::vector<Probe> probes;
    for (const char* call : {"bpf",
                             "perf_event_open",
                             "userfaultfd",
                             "io_uring_setup",
                             "io_uring_enter",
                             "io_uring_register",
                             "kexec_load",
                             "kexec_file_load",
                             "reboot",
                             "init_module",
                             "finit_module",
                             "delete_module",
                             "open_by_handle_at",
                             "swapon",
                             "swapoff",
                             "acct",
                             "quotactl",
                             "quotactl_fd",
                             "settimeofday",
                             "clock_settime",
                             "ioperm",
                             "iopl",
                             "syslog",
                             "lookup_dcookie",
                             "fanotify_init",
                             "vhangup"}) {
      probes.push_back({call, {}, kEperm});
    }
    for (const char* call : {"nfsservctl", "_sysctl", "uselib", "create_module"}) {
      probes.push_back({call, {}, kEnosys});
    }
    CheckProbes({}, probes);
    CheckProbes({.nested_sandbox = true}, probes);
    CheckProbes({}, {{"keyctl", {}, kEperm}, {"add_key", {}, kEperm}, {"request_key", {}, kEperm}});
    // Container runtimes go on without a keyring only when there is none.
    CheckProbes({.nested_sandbox = true}, {{"keyctl", {}, kEnosys}, {"add_key", {}, kEnosys}});
  }

  TEST_CASE("tracing, personalities and filters of its own are allowed") {
    std::vector<Probe> probes;
    for (const char* call : {"ptrace",
                             "process_vm_readv",
                             "process_vm_writev",
                             "personality",
                             "pidfd_open",
                             "pidfd_getfd",
                             "kcmp",
                             "seccomp",
                             "prctl",
                             "landlock_restrict_self",
                             "name_to_handle_at",
                             "vmsplice",
                             "process_madvise",
                             "adjtimex",
                             "clock_adjtime",
                             "io_setup",
                             "memfd_create",
                             "restart_syscall",
                             "rt_sigreturn",
                             "uretprobe",
                             "chown",
                             "prlimit64"}) {
      probes.push_back({call, {kGarbage | 1, 8, 0}, kSeccompAllow});
    }
    CheckProbes({}, probes);
  }

  TEST_CASE("a set-id bit is refused wherever a file can get one") {
    const std::vector<Probe> probes = {
        {"chmod", {0, 04755}, kEperm},
        {"chmod", {0, 02755}, kEperm},
        {"chmod", {0, kGarbage | 01777}, kSeccompAllow},
        {"chmod", {0, kGarbage | 04000}, kEperm},
        {"fchmod", {3, 06000}, kEperm},
        {"fchmod", {3, 0644}, kSeccompAllow},
        {"fchmodat", {3, 0, 04755}, kEperm},
        {"fchmodat", {3, 04755, 0755}, kSeccompAllow},
        {"fchmodat2", {3, 0, 04755, 0}, kEperm},
        {"fchmodat2", {3, 0, 0755, 04755}, kSeccompAllow},
        {"mknod", {0, 0104755}, kEperm},
        {"mknod", {0, 0100755}, kSeccompAllow},
        {"mknodat", {3, 0, 0102755}, kEperm},
        {"mknodat", {3, 0, 0010644}, kSeccompAllow},
        {"creat", {0, 04755}, kEperm},
        {"creat", {0, 0755}, kSeccompAllow},
        {"open", {0, 0x241, 04755}, kEperm},
        {"open", {0, 0x241, 0666}, kSeccompAllow},
        {"open", {0, 0, 06755}, kSeccompAllow},  // no O_CREAT: the mode is not looked at
        {"open", {0, kGarbage | 0x40, kGarbage | 02000}, kEperm},
        {"openat", {3, 0, 0x41, 04755}, kEperm},
        {"openat", {3, 0, 0x41, 01777}, kSeccompAllow},
        {"openat", {3, 0, 0x410002, 04755}, kEperm},           // O_TMPFILE
        {"openat", {3, 0, 0x404002, 04755}, kEperm},           // the same on aarch64
        {"openat", {3, 0x41, 0x10000, 04755}, kSeccompAllow},  // O_DIRECTORY alone
        {"openat2", {3, 0, 0, 24}, kEnosys},
        {"mkdir", {0, 06777}, kSeccompAllow},  // the kernel drops the bits
        {"mkdirat", {3, 0, 06777}, kSeccompAllow},
    };
    CheckProbes({}, probes);
    CheckProbes({.nested_sandbox = true}, probes);
    CheckProbes({.allow_openat2 = true}, {{"openat2", {3, 0, 0, 24}, kSeccompAllow}});
  }

  TEST_CASE("setgid by chmod follows its option; by open and mknod it stays refused") {
    for (SetgidChmod choice : {SetgidChmod::kAllow, SetgidChmod::kNotify}) {
      const uint32_t expected = choice == SetgidChmod::kAllow ? kSeccompAllow : kSeccompUserNotif;
      CheckProbes({.setgid_chmod = choice}, {
                                                {"chmod", {0, 02775}, expected},
                                                {"fchmod", {3, 02775}, expected},
                                                {"fchmodat", {3, 0, 02775}, expected},
                                                {"fchmodat2", {3, 0, 02775, 0}, expected},
                                                {"chmod", {0, 06775}, kEperm},
                                                {"chmod", {0, 0775}, kSeccompAllow},
                                                {"openat", {3, 0, 0x41, 02755}, kEperm},
                                                {"mknodat", {3, 0, 0102755}, kEperm},
                                                {"creat", {0, 02755}, kEperm},
                                            });
    }
  }

  TEST_CASE("with a listener of ours no other one is installed") {
    const std::vector<Probe> free = {{"seccomp", {1, 8}, kSeccompAllow},
                                     {"seccomp", {1, 0}, kSeccompAllow}};
    CheckProbes({}, free);
    CheckProbes({.setgid_chmod = SetgidChmod::kNotify},
                {{"seccomp", {1, 8}, kEbusy},
                 {"seccomp", {kGarbage | 1, kGarbage | 9}, kEbusy},
                 {"seccomp", {1, 1}, kSeccompAllow},
                 {"seccomp", {2, 8}, kSeccompAllow}});
  }

  TEST_CASE("typing into a terminal is refused whatever the high half of the request holds") {
    std::vector<Probe> probes;
    for (uint64_t request : {0x5412, 0x541c, 0x5423}) {
      probes.push_back({"ioctl", {0, request}, kEperm});
      probes.push_back({"ioctl", {0, kGarbage | request}, kEperm});
      probes.push_back({"ioctl", {kGarbage, 0x100000000 | request}, kEperm});
    }
    for (uint64_t request : {0x5401, 0x5413, 0x5414, 0x5410, 0x540e, 0x5422, 0x541b}) {
      probes.push_back({"ioctl", {0x5412, request, 0x5412}, kSeccompAllow});
    }
    CheckProbes({}, probes);
    CheckProbes({.nested_sandbox = true}, probes);
  }

  TEST_CASE("sockets are unix, inet, inet6 and route netlink") {
    const std::vector<Probe> probes = {
        {"socket", {1, 1, 0}, kSeccompAllow},
        {"socket", {1, 0x80802, 0}, kSeccompAllow},
        {"socket", {2, 1, 0}, kSeccompAllow},
        {"socket", {2, 0x80001, 6}, kSeccompAllow},
        {"socket", {kGarbage | 10, 2, kGarbage | 17}, kSeccompAllow},
        {"socket", {2, 2, 1}, kSeccompAllow},  // ping
        {"socket", {10, 2, 58}, kSeccompAllow},
        {"socket", {2, 1, 262}, kSeccompAllow},     // MPTCP, Go's default
        {"socket", {2, 1, 132}, kEprotonosupport},  // SCTP
        {"socket", {2, 1, 256}, kEprotonosupport},  // SMC by the other door
        {"socket", {16, 3, 0}, kSeccompAllow},
        {"socket", {16, 0x80003, 0}, kSeccompAllow},
        {"socket", {16, 3, 9}, kEprotonosupport},  // audit
        {"socket", {16, 3, kGarbage | 12}, kEprotonosupport},
        {"socket", {40, 1, 0}, kEafnosupport},
        {"socket", {kGarbage | 40, 1, 0}, kEafnosupport},
        {"socket", {17, 3, 0}, kEafnosupport},
        {"socket", {38, 5, 0}, kEafnosupport},
        {"socket", {0, 1, 0}, kEafnosupport},
        {"socket", {3, 1, 0}, kEafnosupport},
        {"socket", {0xffffffff, 1, 0}, kEafnosupport},
        {"socketpair", {1, 1, 0}, kSeccompAllow},
        {"socketpair", {30, 1, 0}, kEafnosupport},
        {"connect", {3}, kSeccompAllow},
    };
    CheckProbes({}, probes);
    CheckProbes({.nested_sandbox = true}, probes);
  }

  TEST_CASE("without a PID namespace only the caller itself is scheduled and limited") {
    const std::vector<Probe> foreign = {
        {"prlimit64", {1, 7}, kEperm},       {"sched_setaffinity", {kGarbage | 5}, kEperm},
        {"sched_setscheduler", {5}, kEperm}, {"sched_setparam", {5}, kEperm},
        {"sched_setattr", {5}, kEperm},      {"setpriority", {0, 5, 19}, kEperm},
        {"setpriority", {1, 0, 19}, kEperm}, {"setpriority", {2, 0, 19}, kEperm},
        {"ioprio_set", {1, 5}, kEperm},      {"ioprio_set", {2, 0}, kEperm},
        {"ioprio_set", {3, 0}, kEperm},
    };
    CheckProbes({.host_pids = true}, foreign);
    std::vector<Probe> inside = foreign;
    for (Probe& probe : inside) probe.expected = kSeccompAllow;
    CheckProbes({}, inside);
    CheckProbes({.host_pids = true}, {
                                         {"prlimit64", {kGarbage, 7}, kSeccompAllow},
                                         {"sched_setaffinity", {0}, kSeccompAllow},
                                         {"sched_getaffinity", {5}, kSeccompAllow},
                                         {"setpriority", {0, 0, 19}, kSeccompAllow},
                                         {"getpriority", {0, 5}, kSeccompAllow},
                                         {"ioprio_set", {1, 0, 3}, kSeccompAllow},
                                     });
  }

  TEST_CASE("the chown family does nothing, with success, where that is asked for") {
    const std::vector<Probe> probes = {
        {"chown", {}, kSuccess},
        {"fchown", {}, kSuccess},
        {"lchown", {}, kSuccess},
        {"fchownat", {}, kSuccess},
    };
    CheckProbes({.ignore_chown = true}, probes);
  }

  TEST_CASE("the programs are those that were read and accepted") {
    for (Arch arch : kArchs) {
      struct Row {
        const char* name;
        FilterOptions options;
      };
      const Row rows[] = {
          {"default", {}},
          {"nested", {.nested_sandbox = true, .allow_openat2 = true}},
          {"host-pids", {.host_pids = true, .setgid_chmod = SetgidChmod::kAllow}},
          {"root-supervised", {.setgid_chmod = SetgidChmod::kNotify, .ignore_chown = true}},
      };
      for (const Row& row : rows) {
        FilterOptions options = row.options;
        options.arch = arch;
        CHECK(GoldenDifference(absl::StrCat("seccomp/", ArchName(arch), ".", row.name, ".bpf"),
                               Disassemble(AssembleFilter(options))) == "");
      }
    }
  }
}

}  // namespace
}  // namespace agent_exec
