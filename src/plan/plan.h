#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/origin.h"
#include "policy/policy.h"

// What will be true inside. Made from a Policy, the facts and the file system (plan/resolve.h);
// read by every backend, by the access map and by the reports. Plain data: equal plans behave
// alike.

namespace agent_exec {

using OriginId = uint16_t;  // index into Plan::origins

enum class Access { kNone, kRead, kWrite };
enum class Node { kFile, kDirectory };

enum class MountKind {
  kBind,   // the host's `source`, with everything mounted below it
  kTmpfs,  // an empty file system
  kProc,   // a fresh /proc in which sys, sysrq-trigger, irq, bus and fs are read-only for uid 0 too
  kDev,    // null zero full random urandom tty ptmx pts and the descriptor links, read-only as a
           // directory
  kMask,   // a denied path: an unreadable, immutable file or directory (empty and readable where
           // Plan::denied says so)
  kData,   // a read-only file that holds Plan::blobs[blob]
  kSymlink,  // a symbolic link whose text is `source`
};

// Why an op is there, for --print, --report and the access map's words.
enum class Purpose { kRule, kSystem, kHome, kTemporary, kPin, kPlaceholder, kSocket, kGit };

// One mount. In a Plan: ancestors first, targets unique, so that the last op that covers a path
// decides it, and that op is the one with the deepest target.
struct MountOp {
  MountKind kind = MountKind::kBind;
  std::string source;  // kBind: canonical host path; kSymlink: the link's text; else ""
  std::string
      target;  // canonical path inside; the same as source for every kBind but lasting directories
  Access access = Access::kRead;
  Node node = Node::kDirectory;  // what the target is
  uint32_t mode = 0755;          // kTmpfs, kData: permission bits
  int64_t size_bytes = 0;        // kTmpfs: its size; 0 leaves the kernel's default
  int blob = -1;                 // kData: index into Plan::blobs
  Purpose purpose = Purpose::kRule;
  OriginId origin = 0;
  bool operator==(const MountOp&) const = default;
};

// A name that must not come into being inside a writable root. It is made on the host before the
// command starts, since a mount needs something to stand on, and removed afterwards if still empty.
struct Placeholder {
  std::string path;  // canonical
  Node node = Node::kDirectory;
  bool writable = false;  // a missing parent of a protected name: stays writable
  std::string root;  // the writable root it lies in: nothing is made through a path that leaves it
  OriginId origin = 0;
  bool operator==(const Placeholder&) const = default;
};

// A directory of ours that lasts between runs (tmp or home = "workspace"): made when missing, 0700,
// owned by the caller.
struct LastingDir {
  std::string path;  // below the user's cache directory
  OriginId origin = 0;
  bool operator==(const LastingDir&) const = default;
};

// A rule whose paths other rules decide, kept for explanations.
struct Shadowed {
  std::string target;
  OriginId loser = 0;
  OriginId winner = 0;
  bool operator==(const Shadowed&) const = default;
};

// A symbolic link inside a writable root by which a protected name is reached: it must stay what it
// is, or the name could be rebuilt beside its protected target. No path names a mount on a link,
// since mount targets are followed; a descriptor does (open_tree with AT_SYMLINK_NOFOLLOW,
// move_mount with MOVE_MOUNT_T_EMPTY_PATH on an O_PATH | O_NOFOLLOW one): a link bound onto itself
// is still followed, and removing, renaming or replacing it is EBUSY. Demanded by Feature::kLinks.
struct HeldLink {
  std::string path;  // canonical directory and name
  std::string text;  // what the link says
  OriginId origin = 0;
  bool operator==(const HeldLink&) const = default;
};

// How many paths a glob rule stands for.
struct GlobCount {
  std::string pattern;
  OriginId origin = 0;
  int64_t matches = 0;
  bool operator==(const GlobCount&) const = default;
};

struct EnvVar {
  std::string name;
  std::string value;
  bool passed = false;  // inherited from the caller, not set by us or the policy
  OriginId origin = 0;
  bool operator==(const EnvVar&) const = default;
};

struct Command {
  std::string path;               // where the file was found, inside and out
  std::vector<std::string> argv;  // as typed; argv[0] need not be path
  std::string cwd;                // canonical, visible inside
};

// What a plan may ask of a backend. Each is enforced, or a gap.
enum class Feature {
  kMounts,        // the mount list with its accesses
  kMasks,         // denied paths
  kPlaceholders,  // missing names that cannot be created
  kLinks,         // protected names that are symlinks stay what they are (Plan::held_links)
  kPids,          // own processes only
  kIpc,           // System V IPC, POSIX queues, host name of its own
  kNetworkNone,
  kNetworkHost,
  kFilter,        // the system call filter
  kNoPrivileges,  // no capability, no_new_privs
  kFileSize,
  kOpenFiles,
  kBackground,   // what the command leaves running goes on and is waited for
  kEnvironment,  // exactly the planned variables
  kDescriptors,  // exactly the kept ones
};
const char* FeatureName(Feature feature);  // "network-none"

struct Need {
  Feature feature;
  OriginId origin = 0;
  bool operator==(const Need&) const = default;
};

// Something worth a line on stderr and an entry in the report, found while planning: "'a' has
// another name (2 links)".
struct Notice {
  std::string code;     // "hard-link", "unreadable-directory"; stable, for programs
  std::string message;  // one line, safe to print
  OriginId origin = 0;
  bool operator==(const Notice&) const = default;
};

struct Plan {
  bool confined =
      true;  // false: danger-full-access; then there are no mounts, no filter and no namespaces
  std::string workspace;  // canonical
  Command command;
  std::vector<MountOp> mounts;            // ancestors first, unique targets
  std::vector<Placeholder> placeholders;  // parents first
  std::vector<HeldLink> held_links;       // sorted by path, unique
  std::vector<LastingDir> lasting_dirs;   // sorted by path, unique
  std::vector<EnvVar> env;                // sorted by name, unique
  std::vector<int> keep_fds;              // sorted, unique, >= 3
  NetworkMode network = NetworkMode::kNone;
  // No process of ours stays, and no PID namespace is made.
  bool in_place = false;
  // What the command leaves running is waited for and not ended with it.
  bool keep_background = false;
  bool nested_sandbox = false;  // accepted by name: what sandboxes inside need is open
  bool ignore_chown = false;    // changes of ownership succeed without effect
  DeniedForm denied = DeniedForm::kError;
  int64_t file_size_bytes = 0;  // 0: the caller's
  int64_t open_files = 0;       // 0: the caller's
  std::vector<Need> needs;      // sorted by feature, unique
  std::vector<std::string> blobs;
  std::vector<Origin> origins;  // [0] is Origin{}; the others unique
  std::vector<Shadowed> shadowed;
  std::vector<GlobCount> globs;
  std::vector<Notice> notices;
};

// The id of an origin, added when it is new.
//   Cost: a look at every origin; planning itself keeps an index (plan/planning.h).
OriginId AddOrigin(const Origin& origin, Plan* plan);

}  // namespace agent_exec
