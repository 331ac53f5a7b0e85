#include "backend/native_limits.h"

#include <algorithm>

namespace agent_exec {
namespace {

bool Always(const Plan&, const HostFacts&) { return true; }

bool IgnoresChown(const Plan& plan, const HostFacts&) { return plan.ignore_chown; }

bool HasSingleId(const Plan&, const HostFacts& facts) {
  return facts.uid == 0 && (facts.full_uid_map.empty() || facts.full_gid_map.empty());
}

bool HasPlaceholders(const Plan& plan, const HostFacts&) {
  return !plan.in_place && !plan.placeholders.empty();
}

bool HasPlaceholdersInPlace(const Plan& plan, const HostFacts&) {
  return plan.in_place && !plan.placeholders.empty();
}

bool HasPatterns(const Plan& plan, const HostFacts&) { return !plan.globs.empty(); }

bool HasFileMount(const Plan& plan, const HostFacts&) {
  return std::any_of(plan.mounts.begin(), plan.mounts.end(), [](const MountOp& op) {
    return op.node == Node::kFile && (op.kind == MountKind::kMask || op.kind == MountKind::kBind);
  });
}

bool IsInPlace(const Plan& plan, const HostFacts&) { return plan.in_place; }

bool IsInPlaceWithoutScopes(const Plan& plan, const HostFacts& facts) {
  return plan.in_place && facts.landlock_abi < 6;
}

bool HasAbstractSockets(const Plan& plan, const HostFacts& facts) {
  return plan.network == NetworkMode::kHost && facts.landlock_abi < 6;
}

bool HasOldLandlock(const Plan&, const HostFacts& facts) { return facts.landlock_abi < 2; }

// Files that the command holds, and could open again.
bool HasStreamFile(const Plan& plan, const HostFacts& facts) {
  return std::any_of(facts.open_files.begin(), facts.open_files.end(), [&](const OpenFile& file) {
    return !file.is_device &&
           (file.fd < 3 || std::binary_search(plan.keep_fds.begin(), plan.keep_fds.end(), file.fd));
  });
}

bool RestrictsFiles(const Plan& plan, const HostFacts& facts) {
  return facts.landlock_abi >= 2 && !plan.nested_sandbox;
}

bool HasFreeStreamFile(const Plan& plan, const HostFacts& facts) {
  return !RestrictsFiles(plan, facts) && HasStreamFile(plan, facts);
}

bool HasBoundStreamFile(const Plan& plan, const HostFacts& facts) {
  return RestrictsFiles(plan, facts) && HasStreamFile(plan, facts);
}

bool HasStreamFileToTruncate(const Plan& plan, const HostFacts& facts) {
  return RestrictsFiles(plan, facts) && facts.landlock_abi == 2 && HasStreamFile(plan, facts);
}

bool HasNestedSandboxes(const Plan& plan, const HostFacts& facts) {
  return plan.nested_sandbox && facts.landlock_abi >= 2;
}

bool HasNamelessTerminal(const Plan&, const HostFacts& facts) {
  return facts.terminal_path.empty() &&
         (facts.stdin_is_tty || facts.stdout_is_tty || facts.stderr_is_tty);
}

bool HasLowPorts(const Plan& plan, const HostFacts&) {
  return plan.in_place && plan.network == NetworkMode::kNone;
}

constexpr BackendLimit kLimits[] = {
    {"host-replacement",
     "when a program of the host replaces a denied or protected file by rename, the new one is "
     "neither denied nor protected for the rest of the run",
     HasFileMount},
    {"new-names", "names that come to match a pattern during the run are not denied or protected",
     HasPatterns},
    {"placeholder-leftovers",
     "after a SIGKILL of the launcher, placeholders for missing names stay until the next run",
     HasPlaceholders},
    {"placeholder-leftovers-in-place",
     "placeholders for missing names are removed by a process that outlives the command for a "
     "moment, and not held for what the command leaves running; after a crash of the host they "
     "stay "
     "until the next run",
     HasPlaceholdersInPlace},
    {"unfound-sockets",
     "a socket of the host that was bound by a relative name, renamed since, or bound in another "
     "network namespace is not found, and can be connected to where it lies in a visible directory",
     Always},
    {"host-abstract-sockets",
     "with the host's network, its abstract unix sockets can be connected to", HasAbstractSockets},
    {"single-id-map",
     "only the caller's own user and group are mapped: files of others appear as nobody's",
     HasSingleId},
    {"root-chown", "changes of ownership succeed without effect", IgnoresChown},
    {"no-setgid", "no directory can be made setgid, as trees shared by a group are", Always},
    {"no-second-layer",
     "this kernel has no Landlock of ABI 2 or newer: namespaces, mounts and the filter stand alone",
     HasOldLandlock},
    // A rename is refused for what is a mount point in the mount namespace of whoever asks, and a
    // namespace made inside may let go of all its mounts at once.
    {"nested-renames",
     "with nested-sandbox, a program that makes a mount namespace of its own can rename protected "
     "names in writable directories, .git among them, and put others in their place",
     HasNestedSandboxes},
    {"nested-second-layer",
     "with nested-sandbox, Landlock restricts signals and abstract sockets alone, where it can, "
     "and "
     "no files",
     HasNestedSandboxes},
    {"stdio-reopen",
     "files on standard input, output and error can be opened again by the command, through "
     "/proc/self/fd, with the caller's rights",
     HasFreeStreamFile},
    {"stdio-truncate",
     "a file on standard input, output or error that the command may write can be cut off by it, "
     "through /proc/self/fd, though it was opened for appending",
     HasStreamFileToTruncate},
    {"stdio-rights",
     "a file on standard input, output or error that was opened for appending can be overwritten "
     "by "
     "the command, through /proc/self/fd; one in a visible directory can be read, and one in a "
     "writable directory written, whatever it was opened for",
     HasBoundStreamFile},
    {"terminal-name", "the terminal has no name inside, since it has none below /dev",
     HasNamelessTerminal},
    {"host-processes",
     "in place, the host's processes are seen in /proc, and what the command leaves running "
     "outlives it",
     IsInPlace},
    {"host-signals",
     "in place, the caller's other processes can be sent signals: this kernel's Landlock has no "
     "scope for them",
     IsInPlaceWithoutScopes},
    {"low-ports",
     "in place, ports below 1024 are for everybody only where /proc/sys can be written",
     HasLowPorts},
};

}  // namespace

absl::Span<const BackendLimit> NativeLimits() { return kLimits; }

}  // namespace agent_exec
