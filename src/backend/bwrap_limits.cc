#include "backend/bwrap_limits.h"

#include <algorithm>

namespace agent_exec {
namespace {

bool Always(const Plan&, const HostFacts&) { return true; }

bool IsRoot(const Plan&, const HostFacts& facts) { return facts.uid == 0; }

bool IgnoresChown(const Plan& plan, const HostFacts&) { return plan.ignore_chown; }

bool HasNestedSandboxes(const Plan& plan, const HostFacts&) { return plan.nested_sandbox; }

bool HasPlaceholders(const Plan& plan, const HostFacts&) { return !plan.placeholders.empty(); }

bool HasNoNetwork(const Plan& plan, const HostFacts&) { return plan.network == NetworkMode::kNone; }

bool HasHostNetwork(const Plan& plan, const HostFacts&) {
  return plan.network == NetworkMode::kHost;
}

bool HasPatterns(const Plan& plan, const HostFacts&) { return !plan.globs.empty(); }

bool HasFileMount(const Plan& plan, const HostFacts&) {
  return std::any_of(plan.mounts.begin(), plan.mounts.end(), [](const MountOp& op) {
    return op.node == Node::kFile && (op.kind == MountKind::kMask || op.kind == MountKind::kBind);
  });
}

bool HasHiddenTerminal(const Plan&, const HostFacts& facts) {
  return !facts.stdout_is_tty && (facts.stdin_is_tty || facts.stderr_is_tty);
}

// Bubblewrap sets PWD, whatever it was given.
bool ChangesPwd(const Plan& plan, const HostFacts&) {
  for (const EnvVar& variable : plan.env) {
    if (variable.name == "PWD") return variable.value != plan.command.cwd;
  }
  return true;
}

constexpr BackendLimit kLimits[] = {
    {"signal-status", "a command that dies by signal N is reported as exit status 128+N", Always},
    {"no-signal-forwarding",
     "a signal to the launched process is not passed to the command: one that ends the process, "
     "Ctrl-C included, ends the sandbox by SIGKILL before a handler has run",
     Always},
    {"setup-failure-status",
     "when bubblewrap itself fails, the status is 1 and the message is bubblewrap's own", Always},
    {"background-ends", "background processes end when the command does", Always},
    {"child-signal", "SIGCHLD is unblocked for the command even where the caller had blocked it",
     Always},
    {"stdio-reopen",
     "files on standard input, output and error can be opened again by the command, through "
     "/proc/self/fd, with the caller's rights",
     Always},
    {"host-replacement",
     "when a program of the host replaces a denied or protected file by rename, the new one is "
     "neither denied nor protected for the rest of the run",
     HasFileMount},
    {"new-names", "names that come to match a pattern during the run are not denied or protected",
     HasPatterns},
    {"placeholder-leftovers",
     "placeholders for missing names are removed by a process that outlives the sandbox for a "
     "moment; after a crash of the host they stay until the next run",
     HasPlaceholders},
    {"unfound-sockets",
     "a socket of the host that was bound by a relative name, renamed since, or bound in another "
     "network namespace is not found, and can be connected to where it lies in a visible directory",
     Always},
    {"host-abstract-sockets",
     "with the host's network, its abstract unix sockets can be connected to", HasHostNetwork},
    {"loopback-only",
     "the loopback interface has 127.0.0.1 and ::1 alone, and ports below 1024 are for nobody",
     HasNoNetwork},
    {"single-id-map",
     "only the caller's own user and group are mapped: files of others appear as nobody's", IsRoot},
    {"root-chown", "changes of ownership succeed without effect", IgnoresChown},
    // A rename is refused for what is a mount point in the mount namespace of whoever asks, and a
    // namespace made inside may let go of all its mounts at once.
    {"nested-renames",
     "with nested-sandbox, a program that makes a mount namespace of its own can rename protected "
     "names in writable directories, .git among them, and put others in their place",
     HasNestedSandboxes},
    {"no-nested-proc",
     "a sandbox inside cannot mount a /proc of its own, because parts of the surrounding one are "
     "covered",
     HasNestedSandboxes},
    {"no-setgid", "no directory can be made setgid, as trees shared by a group are", Always},
    {"terminal-name",
     "the terminal has a name inside (/dev/console) only when it is standard output too",
     HasHiddenTerminal},
    {"pwd-variable", "PWD is always set, to the directory in which the command starts", ChangesPwd},
};

}  // namespace

absl::Span<const BackendLimit> BwrapLimits() { return kLimits; }

}  // namespace agent_exec
