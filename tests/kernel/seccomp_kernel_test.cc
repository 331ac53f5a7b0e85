// The filter on the real kernel: each call of the table is made under it, from children that may
// die of it, as whoever runs this and, started by root, as an unprivileged user too.
//
// Exit status: 0, 1 with a line for each failure, 77 with the reason where seccomp is impossible.

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "abi/linux_args.h"
#include "abi/linux_seccomp.h"
#include "abi/syscall_names.h"
#include "seccomp/call_table.h"
#include "seccomp/filter.h"
#include "support/bpf_eval.h"

namespace agent_exec {
namespace {

#if defined(__x86_64__)
constexpr Arch kArch = Arch::kX86_64;
constexpr SyscallAbi kAbi = SyscallAbi::kX86_64;
constexpr uint32_t kAudit = kAuditArchX86_64;
#elif defined(__aarch64__)
constexpr Arch kArch = Arch::kAarch64;
constexpr SyscallAbi kAbi = SyscallAbi::kAarch64;
constexpr uint32_t kAudit = kAuditArchAarch64;
#else
#error "the filter has no table for this architecture"
#endif

constexpr int kSkip = 77;
// Newer than the oldest C library headers that this compiles with.
constexpr long kNrClone3 = 435;
constexpr long kNrOpenat2 = 437;
constexpr long kNrFchmodat2 = 452;

int g_failures = 0;
int g_checks = 0;

void Check(bool ok, const std::string& what) {
  ++g_checks;
  if (ok) return;
  ++g_failures;
  printf("FAIL (uid %u): %s\n", getuid(), what.c_str());
}

// How a call went in a child.
struct Outcome {
  long result = 0;
  int error = 0;   // errno when result is -1
  int signal = 0;  // the child died of it, before the call came back

  std::string Text() const {
    if (signal != 0) return std::string("died: ") + strsignal(signal);
    return result == -1 ? strerror(error) : "ok";
  }
  bool Same(const Outcome& other) const {
    if (signal != 0 || other.signal != 0) return signal == other.signal;
    return result == -1 || other.result == -1 ? result == other.result && error == other.error
                                              : true;
  }
};

std::vector<SockFilter> FilterFor(FilterOptions options) {
  options.arch = kArch;
  return AssembleFilter(options);
}

// Returns -1 with errno, 0, or the listener's descriptor.
long Install(const std::vector<SockFilter>& program, unsigned flags = 0) {
  struct {
    unsigned short length;
    const SockFilter* filter;
  } argument = {static_cast<unsigned short>(program.size()), program.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &argument);
}

// Runs act in a child, under the program if there is one.
Outcome InChild(const std::vector<SockFilter>* program, const std::function<long()>& act) {
  auto* shared = static_cast<Outcome*>(
      mmap(nullptr, sizeof(Outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    // Away from the caller's terminal and group, whatever the call may do to them.
    setsid();
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(20);
    // With or without a filter: it changes the answers of others (Landlock's, for one).
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (program != nullptr && Install(*program) != 0) _exit(99);
    errno = 0;
    long result = act();
    shared->error = errno;
    shared->result = result;
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  Outcome outcome = *shared;
  munmap(shared, sizeof(Outcome));
  outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 99)
    Check(false, "the filter cannot be installed");
  return outcome;
}

// Not called with made-up arguments: they end or stop the child, or make something that stays.
bool HasEffect(const std::string& name) {
  for (const char* each : {"exit", "exit_group", "fork", "vfork", "pause", "rt_sigreturn", "sync",
                           "restart_syscall", "msgget"}) {
    if (name == each) return true;
  }
  return false;
}

// Every call of the table with arguments that no kernel takes: refused as the program says, or what
// it gives without a filter.
void CheckEveryCall(const char* label, const FilterOptions& options) {
  const std::vector<SockFilter> program = FilterFor(options);
  for (const CallRow& row : CallTable()) {
    const int number = SyscallNumber(kAbi, row.name);
    if (number < 0 || HasEffect(row.name)) continue;
    SeccompData data;
    data.nr = number;
    data.arch = kAudit;
    for (uint64_t& arg : data.args) arg = ~uint64_t{0};
    auto call = [&] { return syscall(number, -1L, -1L, -1L, -1L, -1L, -1L); };
    const uint32_t verdict = testing::RunBpf(program, data).value;
    Outcome expected = {-1, static_cast<int>(verdict & kSeccompDataMask), 0};
    if (verdict == kSeccompErrno) expected = {0, 0, 0};
    if (verdict == kSeccompAllow) expected = InChild(nullptr, call);
    const Outcome outcome = InChild(&program, call);
    Check(outcome.Same(expected), std::string(label) + ": " + row.name + " gave " + outcome.Text() +
                                      ", expected " + expected.Text());
  }
}

// A named call under a filter.
struct Case {
  std::string what;
  std::function<long()> act;
  int error;  // the errno expected; 0: success
};

void RunCases(const FilterOptions& options, const std::vector<Case>& cases) {
  const std::vector<SockFilter> program = FilterFor(options);
  for (const Case& each : cases) {
    const Outcome outcome = InChild(&program, each.act);
    const int error = outcome.result == -1 ? outcome.error : 0;
    Check(outcome.signal == 0 && error == each.error,
          each.what + ": " + outcome.Text() + ", expected " +
              (each.error == 0 ? "ok" : strerror(each.error)));
  }
}

unsigned ModeOf(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777u : 0xffffffff;
}

void CheckFiles(const std::string& dir) {
  const std::string file = dir + "/file";
  const std::string made = dir + "/made";
  close(open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  const char* f = file.c_str();
  const char* m = made.c_str();
  int fd = open(f, O_RDWR | O_CLOEXEC);
  struct {
    uint64_t flags, mode, resolve;
  } how = {O_CREAT | O_RDWR, 04755, 0};
  RunCases(
      {},
      {
          {"fchmodat +setuid", [=] { return syscall(SYS_fchmodat, AT_FDCWD, f, 04755); }, EPERM},
          {"fchmodat +setgid", [=] { return syscall(SYS_fchmodat, AT_FDCWD, f, 02755); }, EPERM},
          {"fchmodat, garbage above the mode",
           [=] { return syscall(SYS_fchmodat, AT_FDCWD, f, 0x1234567800000000 | 04755); }, EPERM},
          {"fchmod +setuid", [=] { return syscall(SYS_fchmod, fd, 04755); }, EPERM},
          {"fchmodat2 +setuid", [=] { return syscall(kNrFchmodat2, AT_FDCWD, f, 04755, 0); },
           EPERM},
          {"fchmodat of an ordinary mode",
           [=] { return syscall(SYS_fchmodat, AT_FDCWD, f, 01750); }, 0},
          {"openat O_CREAT +setuid",
           [=] { return syscall(SYS_openat, AT_FDCWD, m, O_CREAT | O_RDWR, 04755); }, EPERM},
          {"openat O_CREAT +setgid",
           [=] { return syscall(SYS_openat, AT_FDCWD, m, O_CREAT | O_RDWR, 02755); }, EPERM},
          {"openat O_TMPFILE +setuid",
           [=] { return syscall(SYS_openat, AT_FDCWD, dir.c_str(), O_TMPFILE | O_RDWR, 04755); },
           EPERM},
          {"openat without O_CREAT, garbage as mode",
           [=] { return syscall(SYS_openat, AT_FDCWD, f, O_RDONLY, -1L); }, 0},
          {"mknodat of a file +setuid",
           [=] { return syscall(SYS_mknodat, AT_FDCWD, m, S_IFREG | 04755, 0); }, EPERM},
          {"openat2", [=] { return syscall(kNrOpenat2, AT_FDCWD, m, &how, sizeof how); }, ENOSYS},
#ifdef SYS_open
          {"chmod +setuid", [=] { return syscall(SYS_chmod, f, 04755); }, EPERM},
          {"open O_CREAT +setuid", [=] { return syscall(SYS_open, m, O_CREAT | O_RDWR, 04755); },
           EPERM},
          {"creat +setuid", [=] { return syscall(SYS_creat, m, 04755); }, EPERM},
          {"mknod of a file +setuid", [=] { return syscall(SYS_mknod, m, S_IFREG | 04755, 0); },
           EPERM},
#endif
      });
  Check(ModeOf(file) == 01750, "the file has the ordinary mode that was asked for");
  Check(ModeOf(made) == 0xffffffff, "no refused call left a file");
  // Why mkdir needs no rule.
  RunCases({}, {{"mkdirat with set-id bits",
                 [=] {
                   umask(0);
                   return syscall(SYS_mkdirat, AT_FDCWD, m, 06777);
                 },
                 0}});
  Check((ModeOf(made) & 06000) == 0, "mkdir makes no set-id directory");
  rmdir(m);
  RunCases(
      {.setgid_chmod = SetgidChmod::kAllow},
      {{"setgid by chmod, allowed", [=] { return syscall(SYS_fchmodat, AT_FDCWD, f, 02750); }, 0},
       {"setuid by chmod", [=] { return syscall(SYS_fchmodat, AT_FDCWD, f, 04755); }, EPERM}});
  struct stat before, after;
  stat(f, &before);
  RunCases({.ignore_chown = true},
           {{"fchownat, ignored",
             [=] { return syscall(SYS_fchownat, AT_FDCWD, f, 12345, 12345, 0); }, 0}});
  stat(f, &after);
  Check(before.st_uid == after.st_uid && before.st_gid == after.st_gid,
        "an ignored chown does nothing");
  close(fd);
  unlink(f);
}

void CheckTerminal() {
  int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) {
    printf("note: no pseudo-terminal here, ioctl requests not tried\n");
    return;
  }
  static char key = 'x';
  static struct winsize size;
  RunCases(
      {},
      {
          {"TIOCSTI", [=] { return syscall(SYS_ioctl, fd, 0x5412L, &key); }, EPERM},
          {"TIOCSTI with a high half", [=] { return syscall(SYS_ioctl, fd, 0x700005412L, &key); },
           EPERM},
          {"TIOCLINUX", [=] { return syscall(SYS_ioctl, fd, 0x541cL, &key); }, EPERM},
          {"TIOCSETD", [=] { return syscall(SYS_ioctl, fd, 0x5423L, &key); }, EPERM},
          {"btrfs snapshot", [=] { return syscall(SYS_ioctl, fd, 0x50009401L, &key); }, EPERM},
          {"btrfs snapshot v2", [=] { return syscall(SYS_ioctl, fd, 0x50009417L, &key); }, EPERM},
          {"btrfs flags", [=] { return syscall(SYS_ioctl, fd, 0x4008941aL, &key); }, EPERM},
          {"TIOCGWINSZ", [=] { return syscall(SYS_ioctl, fd, 0x5413L, &size); }, 0},
      });
  close(fd);
}

void CheckSockets() {
  auto open_socket = [](long family, long type, long protocol) {
    return [=] { return syscall(SYS_socket, family, type, protocol); };
  };
  RunCases({},
           {
               {"unix socket", open_socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), 0},
               {"inet socket", open_socket(AF_INET, SOCK_STREAM, 0), 0},
               {"inet socket, UDP by name", open_socket(AF_INET, SOCK_DGRAM, 17), 0},
               {"route netlink", open_socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0), 0},
               {"audit netlink", open_socket(AF_NETLINK, SOCK_RAW, 9), EPROTONOSUPPORT},
               {"netfilter netlink", open_socket(AF_NETLINK, SOCK_RAW, 12), EPROTONOSUPPORT},
               {"SCTP", open_socket(AF_INET, SOCK_STREAM, 132), EPROTONOSUPPORT},
               {"vsock", open_socket(40, SOCK_STREAM, 0), EAFNOSUPPORT},
               {"vsock with a high half", open_socket(0x100000028, SOCK_STREAM, 0), EAFNOSUPPORT},
               {"packet", open_socket(17, SOCK_RAW, 0), EAFNOSUPPORT},
               {"alg", open_socket(38, SOCK_SEQPACKET, 0), EAFNOSUPPORT},
               {"bluetooth", open_socket(31, SOCK_RAW, 0), EAFNOSUPPORT},
               {"xdp", open_socket(44, SOCK_RAW, 0), EAFNOSUPPORT},
               {"socketpair",
                [] {
                  int fds[2];
                  return syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, fds);
                },
                0},
           });
}

long Fork(long flags) {
  long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) _exit(0);
  if (pid > 0) waitpid(static_cast<pid_t>(pid), nullptr, 0);
  return pid;
}

long TraceChild() {
  pid_t pid = fork();
  if (pid == 0) {
    for (;;) pause();
  }
  long attached = ptrace(PTRACE_ATTACH, pid, nullptr, nullptr);
  int error = errno;
  if (attached == 0) waitpid(pid, nullptr, WUNTRACED);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  errno = error;
  return attached;
}

void CheckProcesses() {
  RunCases(
      {},
      {
          {"fork", [] { return Fork(0); }, 0},
          {"a thread",
           [] {
             long done = -1;
             std::thread([&] { done = 0; }).join();
             return done;
           },
           0},
          {"clone with a user namespace", [] { return Fork(CLONE_NEWUSER); }, EPERM},
          {"clone with a high half", [] { return Fork(0x500000000 | CLONE_NEWUSER); }, EPERM},
          {"clone with a network namespace", [] { return Fork(CLONE_NEWNET); }, EPERM},
          {"unshare of a user namespace", [] { return syscall(SYS_unshare, CLONE_NEWUSER); },
           EPERM},
          {"unshare of a time namespace", [] { return syscall(SYS_unshare, 0x80); }, EPERM},
          {"unshare of descriptors", [] { return syscall(SYS_unshare, CLONE_FILES | CLONE_FS); },
           0},
          {"clone3", [] { return syscall(kNrClone3, nullptr, 0); }, ENOSYS},
          {"a number above the table", [] { return syscall(kLastSyscall + 1); }, ENOSYS},
          {"a number far above the table", [] { return syscall(100000); }, ENOSYS},
          {"x32 getpid", [] { return syscall(static_cast<long>(kX32SyscallBit | 39)); }, ENOSYS},
          {"ptrace of an own child", TraceChild, 0},
          {"personality without randomisation", [] { return personality(ADDR_NO_RANDOMIZE); }, 0},
          {"a second filter", [] { return Install(FilterFor({})); }, 0},
          {"limits of the parent",
           [] {
             struct rlimit limit;
             return syscall(SYS_prlimit64, getppid(), RLIMIT_CORE, nullptr, &limit);
           },
           0},
      });
  RunCases({.host_pids = true},
           {
               {"limits of a pid",
                [] {
                  struct rlimit limit;
                  return syscall(SYS_prlimit64, getppid(), RLIMIT_CORE, nullptr, &limit);
                },
                EPERM},
               {"own limits",
                [] {
                  struct rlimit limit;
                  return syscall(SYS_prlimit64, 0, RLIMIT_CORE, nullptr, &limit);
                },
                0},
               {"priority of a pid",
                [] { return syscall(SYS_setpriority, PRIO_PROCESS, getppid(), 1); }, EPERM},
               {"priority of the process group",
                [] { return syscall(SYS_setpriority, PRIO_PGRP, 0, 1); }, EPERM},
               {"priority of the user", [] { return syscall(SYS_setpriority, PRIO_USER, 0, 19); },
                EPERM},
               {"own priority", [] { return syscall(SYS_setpriority, PRIO_PROCESS, 0, 19); }, 0},
           });
  // What the host allows by itself, a nested sandbox gets.
  auto unshare_user = [] { return syscall(SYS_unshare, CLONE_NEWUSER); };
  const std::vector<SockFilter> nested = FilterFor({.nested_sandbox = true});
  Check(InChild(&nested, unshare_user).Same(InChild(nullptr, unshare_user)),
        "under nested_sandbox a user namespace is made as without a filter");
  const std::vector<SockFilter> notify = FilterFor({.setgid_chmod = SetgidChmod::kNotify});
  const Outcome second = InChild(nullptr, [&] {
    if (Install(notify, SECCOMP_FILTER_FLAG_NEW_LISTENER) < 0) return -2L;
    return Install(notify, SECCOMP_FILTER_FLAG_NEW_LISTENER);
  });
  Check(second.result == -1 && second.error == EBUSY, "a second listener: " + second.Text());
}

#ifdef __x86_64__
void CheckForeignAbi() {
  const std::vector<SockFilter> program = FilterFor({});
  const Outcome outcome = InChild(&program, [] {
    long number = 20;  // getpid of i386
    __asm__ volatile("int $0x80" : "+a"(number) : : "memory");
    return number;
  });
  // A kernel without 32-bit calls ends it with SIGSEGV.
  Check(outcome.signal == SIGSYS || outcome.signal == SIGSEGV, "int 0x80: " + outcome.Text());
}
#else
void CheckForeignAbi() {}
#endif

// The kernel's own list of calls that it lets pass without a filter run, where it shows one.
void CheckBitmap() {
  const std::vector<SockFilter> program = FilterFor({});
  bool seen = false;
  bool complete = true;
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return;
  InChild(&program, [&] {
    static char text[65536];
    int fd = open("/proc/self/seccomp_cache", O_RDONLY | O_CLOEXEC);
    ssize_t size = 0;
    for (ssize_t n;
         fd >= 0 && (n = read(fd, text + size, sizeof text - static_cast<size_t>(size))) > 0;)
      size += n;
    return write(pipes[1], text, static_cast<size_t>(size));
  });
  close(pipes[1]);
  std::string cache;
  char buffer[4096];
  for (ssize_t n; (n = read(pipes[0], buffer, sizeof buffer)) > 0;)
    cache.append(buffer, static_cast<size_t>(n));
  close(pipes[0]);
  for (const CallRow& row : CallTable()) {
    const int number = SyscallNumber(kAbi, row.name);
    const size_t at = cache.find(std::string(kArch == Arch::kX86_64 ? "x86_64 " : "aarch64 ") +
                                 std::to_string(number) + " ");
    if (number < 0 || at == std::string::npos) continue;
    seen = true;
    const bool allow = cache.compare(cache.find(' ', cache.find(' ', at) + 1) + 1, 5, "ALLOW") == 0;
    const bool expected = testing::IsConstantAllow(program, kAudit, static_cast<uint32_t>(number));
    if (allow != expected) complete = false;
  }
  if (seen) Check(complete, "the kernel's bitmap holds every call that is always allowed");
  if (!seen) printf("note: this kernel does not show its seccomp bitmap\n");
}

double Microseconds(const std::function<void()>& act) {
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  act();
  clock_gettime(CLOCK_MONOTONIC, &end);
  return static_cast<double>(end.tv_sec - start.tv_sec) * 1e6 +
         static_cast<double>(end.tv_nsec - start.tv_nsec) / 1e3;
}

void ReportLoadTime() {
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    auto* shared = static_cast<double*>(
        mmap(nullptr, sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    InChild(nullptr, [&] {
      const std::vector<SockFilter> program = FilterFor({});
      *shared = Microseconds([&] { Install(program); });
      return 0L;
    });
    if (*shared > 0 && *shared < best) best = *shared;
    munmap(shared, sizeof(double));
  }
  printf("note: the filter of %zu instructions loads in %.0f µs\n", FilterFor({}).size(), best);
}

void RunAll() {
  char dir[] = "/tmp/seccomp_test.XXXXXX";
  if (mkdtemp(dir) == nullptr) {
    Check(false, "cannot make a directory below /tmp");
    return;
  }
  CheckEveryCall("default", {});
  CheckEveryCall("nested", {.nested_sandbox = true, .allow_openat2 = true});
  CheckEveryCall("in place as root", {.host_pids = true, .ignore_chown = true});
  CheckFiles(dir);
  CheckTerminal();
  CheckSockets();
  CheckProcesses();
  CheckForeignAbi();
  rmdir(dir);
}

int Main() {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::vector<SockFilter> program = FilterFor({});
  const Outcome tried = InChild(nullptr, [&] { return Install(program); });
  if (tried.result == -1 && (tried.error == ENOSYS || tried.error == EINVAL)) {
    printf("SKIP: this kernel has no seccomp filters: %s\n", strerror(tried.error));
    return kSkip;
  }
  Check(tried.result == 0, "installing: " + tried.Text());
  RunAll();
  CheckBitmap();
  ReportLoadTime();
  if (getuid() == 0) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
      constexpr unsigned kNobody = 65534;
      if (syscall(SYS_setgroups, 0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0) {
        printf("note: cannot become an unprivileged user here: %s\n", strerror(errno));
        _exit(0);
      }
      // The change of user took it away, and with it the right to trace children.
      prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
      g_failures = 0;
      RunAll();
      printf("%d checks as uid %u\n", g_checks, getuid());
      fflush(stdout);
      _exit(g_failures == 0 ? 0 : 1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    Check(status == 0, "the checks as an unprivileged user");
  }
  printf("%d checks, %d failed\n", g_checks, g_failures);
  return g_failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace agent_exec

int main() { return agent_exec::Main(); }
