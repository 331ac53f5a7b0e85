#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "base/quote.h"
#include "os/file_calls.h"
#include "os/machine.h"
#include "os/raw.h"
#include "os/run.h"
#include "os/supervise.h"

namespace agent_exec {

void HoldSignals(Machine* machine) {
  if (machine->signals_held) return;
  sigset_t all;
  (void)sigfillset(&all);
  (void)sigprocmask(SIG_BLOCK, &all, &machine->caller_mask);
  machine->signals_held = true;
}

void ReleaseSignals(Machine* machine) {
  if (machine->signals_held) (void)sigprocmask(SIG_SETMASK, &machine->caller_mask, nullptr);
  machine->signals_held = false;
}

[[noreturn]] void Fail(Machine* machine, const Message& message, int error, int status) {
  if (machine->is_supervised) {
    raw::Tell(message, error);
    raw::EndSetup(status);
  }
  // First: standard error may be a pipe that blocks.
  raw::RemovePlaceholders(machine->script);
  ReleaseSignals(machine);
  raw::Tell(message, error);
  _exit(status);
}

namespace {

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

void (*g_armed_hook)() = nullptr;

// A directory of ours, component by component. Returns 0, an errno, or -1 when it is there and
// somebody else's.
int MakeLastingDir(const char* path) {
  int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (at < 0) return errno;
  char component[NAME_MAX + 1];
  while (*path == '/') ++path;
  while (*path != '\0') {
    size_t size = strcspn(path, "/");
    if (size > NAME_MAX) {
      (void)close(at);
      return ENAMETOOLONG;
    }
    memcpy(component, path, size);
    component[size] = '\0';
    path += size;
    while (*path == '/') ++path;
    constexpr int kFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int next = openat(at, component, kFlags);
    if (next < 0 && errno == ENOENT) {
      if (mkdirat(at, component, 0700) == 0 || errno == EEXIST)
        next = openat(at, component, kFlags);
    }
    int error = errno;
    if (next >= 0 && *path == '\0') {
      struct stat st;
      if (fstat(next, &st) != 0 || st.st_uid != geteuid()) {
        (void)close(next);
        next = -1;
        error = -1;
      } else if ((st.st_mode & 07777) != 0700 && fchmodat(at, component, 0700, 0) != 0) {
        error = errno;
        (void)close(next);
        next = -1;
      }
    }
    (void)close(at);
    if (next < 0) return error;
    at = next;
  }
  (void)close(at);
  return 0;
}

int PassBlob(const Act& act, const Compiled& script) {
  // Where the machine forbids memory files that can be executed, the flag is demanded; before
  // Linux 6.3 it is unknown.
  unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int fd = memfd_create(act.text, flags | MFD_NOEXEC_SEAL);
  if (fd < 0 && errno == EINVAL) fd = memfd_create(act.text, flags);
  if (fd < 0) return errno;
  // Mostly the number is the one that is wanted.
  if (fd != act.fd) fd = raw::MoveAside(fd, script);
  if (fd < 0) return errno;
  if (int error = raw::WriteAll(fd, act.data, act.size); error != 0) return error;
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0 ||
      lseek(fd, 0, SEEK_SET) != 0) {
    return errno;
  }
  return raw::InstallAt(fd, act.fd);
}

int PassNull(const Act& act, const Compiled& script) {
  int fd = open("/dev/null", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return errno;
  if (fd >= 0 && fd != act.fd) fd = raw::MoveAside(fd, script);
  return fd < 0 ? errno : raw::InstallAt(fd, act.fd);
}

int SetLimit(const Act& act) {
  struct rlimit limit;
  if (getrlimit(act.index, &limit) != 0) return errno;
  rlim_t wanted = static_cast<rlim_t>(act.value);
  if (wanted > limit.rlim_max) wanted = limit.rlim_max;
  limit.rlim_cur = limit.rlim_max = wanted;
  return setrlimit(act.index, &limit) == 0 ? 0 : errno;
}

[[noreturn]] void Execute(Machine* machine, const Act& act) {
  ReleaseSignals(machine);
  Compiled* script = machine->script;
  (void)execve(act.text, script->argv.data(), script->env.data());
  int error = errno;
  bool is_command = machine->options->exec_is_command;
  if (is_command && error == ENOEXEC) {
    // A script without a first line: the shell's, as execvp and every shell have it.
    (void)execve("/bin/sh", script->shell_argv.data(), script->env.data());
  }
  bool missing = is_command && (error == ENOENT || error == ENOTDIR);
  int status = !is_command ? kStatusRefused : missing ? kStatusNotFound : kStatusNotExecutable;
  Fail(machine, missing ? act.refused : act.failed, error, status);
}

void CarryOutPlaceholder(Machine* machine, const Act& act) {
  HoldSignals(machine);
  int error = 0;
  switch (raw::MakePlaceholder(machine->script, act.index, &error)) {
    case raw::Made::kOk:
      return;
    case raw::Made::kFailed:
      Fail(machine, act.failed, error, kStatusRefused);
    case raw::Made::kRefused:
      Fail(machine, act.refused, 0, kStatusRefused);
  }
}

void HoldLink(Machine* machine, const Act& act) {
  int error = machine->has_own_mounts ? 0 : raw::EnterOwnMounts();
  machine->has_own_mounts = true;
  if (error == 0) error = raw::HoldLink(act.text, act.data, act.size, !machine->owns_root);
  if (error == raw::kLinkChanged) Fail(machine, act.refused, 0, kStatusRefused);
  if (error != 0) Fail(machine, act.failed, error, kStatusRefused);
}

void CarryOut(Machine* machine, const Act& act) {
  Compiled* script = machine->script;
  int error = 0;
  switch (act.kind) {
    case ActKind::kMakeLastingDir:
      error = MakeLastingDir(act.text);
      if (error < 0) Fail(machine, act.refused, 0, kStatusRefused);
      break;
    case ActKind::kMakePlaceholder:
      CarryOutPlaceholder(machine, act);
      break;
    case ActKind::kStartSweeper:
      HoldSignals(machine);
      error = raw::StartSweeper(script, act.fd, *machine->options);
      if (error == 0) ReleaseSignals(machine);
      break;
    case ActKind::kHoldLink:
      HoldLink(machine, act);
      break;
    case ActKind::kPassBlob:
      error = PassBlob(act, *script);
      break;
    case ActKind::kPassNull:
      error = PassNull(act, *script);
      break;
    case ActKind::kSetLimit:
      error = SetLimit(act);
      break;
    case ActKind::kCloseOthers:
      // Closed by the exec itself, so that a failing one still has what it needs to take back what
      // was made.
      error = raw::ForOtherDescriptors(script->keep_fds.data(), script->keep_fds.size(),
                                       raw::Others::kCloseOnExec);
      break;
    case ActKind::kChangeDir:
      error = chdir(act.text) == 0 ? 0 : errno;
      break;
    case ActKind::kExec:
      Execute(machine, act);
    default:
      error = CarryOutSandbox(machine, act);
  }
  if (error != 0) Fail(machine, act.failed, error, kStatusRefused);
}

// A run's report replaces the one before. Not through a symlink: an earlier command may have put it
// there.
int WriteReport(const RunOptions& options) {
  const std::string& target = options.report_target;
  if (target.compare(0, 3, "fd:") == 0) {
    return raw::WriteAll(atoi(target.c_str() + 3), options.report_line.data(),
                         options.report_line.size());
  }
  int fd =
      open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0600);
  if (fd < 0) return errno;
  int error = raw::WriteAll(fd, options.report_line.data(), options.report_line.size());
  if (close(fd) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

void SetArmedHookForTest(void (*hook)()) { g_armed_hook = hook; }

void RunScript(const Script& script, const RunOptions& options) {
  std::deque<std::string> texts;
  absl::StatusOr<Compiled> compiled = CompileScript(script, options);
  if (!compiled.ok()) {
    Diagnostic diagnostic = ToDiagnostic(compiled.status());
    raw::Tell(MakeWholeMessage(options, diagnostic.message, diagnostic.place, diagnostic.hint,
                               kStatusRefused, &texts),
              0);
    _exit(kStatusRefused);
  }
  Message report_failed =
      MakeMessage(options, "cannot write report " + QuoteForMessage(options.report_target),
                  "--report", "", kStatusRefused, &texts);
  if (g_armed_hook != nullptr) g_armed_hook();
  if (!options.report_target.empty()) {
    if (int error = WriteReport(options); error != 0) {
      raw::Tell(report_failed, error);
      _exit(kStatusRefused);
    }
  }
  Machine machine = {};
  machine.script = &*compiled;
  machine.options = &options;
  for (const Act& act : compiled->acts) CarryOut(&machine, act);
  _exit(kStatusRefused);  // not reached: the last act is an exec
}

}  // namespace agent_exec
