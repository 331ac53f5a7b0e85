#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/origin.h"

// What the user asked for, after all layers were merged. Plain data: nothing here knows the host.
// The values of each enum stand in the order of the row's `choices`: strictest first.

namespace agent_exec {

enum class Mode { kReadOnly, kWorkspaceWrite, kDangerFullAccess };
enum class HomeMode { kHidden, kPrivate, kWorkspace, kRead };
enum class TmpMode { kPrivate, kWorkspace, kHost };
enum class GitMode { kReadOnly, kFull };
// The .git of repositories below the workspace root.
enum class NestedRepositories { kProtect, kIgnore };
enum class NetworkMode { kNone, kHost };
// What a denied path looks like: EACCES, or an empty file or directory.
enum class DeniedForm { kError, kEmpty };
enum class ErrorFormat { kText, kJson };
// What a change of ownership meets when the command runs as uid 0, without the capability for it.
enum class RootChown { kRefuse, kIgnore };

enum class Want { kRead, kWrite, kDenyRead, kDenyWrite };
// What a rule does about a path that does not exist.
enum class Missing {
  kDefault,  // read, write: an error. deny-read: nothing to hide. deny-write: a literal path cannot
             // be created, a glob match can
  kAllow,    // nothing, in every case
  kBlock,    // deny-write: cannot be created
};
enum class NodeHint { kAuto, kFile, kDirectory };  // what a placeholder for a missing path is

// One entry of filesystem.read, .write, .deny-read or .deny-write.
struct PathRule {
  Want want = Want::kRead;
  // As written, without a leading "!" and without empty and "." names ("." alone is the workspace);
  // absolute, "~", "~/…" or relative to the workspace root; no "..".
  std::string pattern;
  // Written with "!": cancels earlier entries of the same list for what it matches.
  bool takes_back = false;
  Missing missing = Missing::kDefault;
  NodeHint kind = NodeHint::kAuto;
  Origin origin;
};

// One entry of env.allow, env.set, env.deny or a line of env.file.
struct EnvRule {
  enum class Kind { kAllow, kSet, kDeny };
  Kind kind = Kind::kAllow;
  // kAllow and kDeny: may hold `*` and `?`; an exact name also lets loader hooks pass.
  std::string name;
  std::string value;  // kSet
  Origin origin;
};

enum class Weakening { kRunUnsandboxed, kInheritEnvironment, kNestedSandbox };
struct WeakeningName {
  Weakening weakening;
  const char* name;  // "run-unsandboxed"
  const char* help;  // starts with "Reduces security:"
};
// All weakenings there are, in the order of their names.
const std::vector<WeakeningName>& WeakeningNames();

struct Limits {
  std::optional<Sourced<int64_t>> tmp_size_bytes;   // each private temporary directory and /dev/shm
  std::optional<Sourced<int64_t>> file_size_bytes;  // RLIMIT_FSIZE
  std::optional<Sourced<int64_t>> open_files;       // RLIMIT_NOFILE
};

struct Policy {
  Sourced<Mode> mode;
  std::vector<Sourced<std::string>> profiles;  // those asked for, in the order they were asked for
  std::optional<Sourced<std::string>> workspace;  // as written; default: the current directory
  std::optional<Sourced<std::string>> chdir;      // as written; default: the current directory
  std::vector<PathRule> paths;                    // in layer order, the last added last
  Sourced<HomeMode> home;
  Sourced<TmpMode> tmp;
  // kFull has already taken back the built-in rule for .git (an entry "!.git" in paths) and set
  // nested_repositories to kIgnore unless somebody set that one; a deny-write that the user wrote
  // still holds.
  Sourced<GitMode> git;
  Sourced<NestedRepositories> nested_repositories;
  Sourced<DeniedForm> denied;
  Sourced<NetworkMode> network;
  std::vector<EnvRule> env;                     // in layer order
  std::vector<Sourced<std::string>> env_files;  // as written; read by app/, turned into EnvRules
  Limits limits;
  Sourced<std::string> backend;  // "auto" or a name from the backend table
  Sourced<bool> in_place;
  Sourced<bool> keep_background;
  Sourced<RootChown> root_chown;
  std::vector<Sourced<int>> keep_fds;      // sorted by number, unique, none below 3
  std::vector<Sourced<Weakening>> weaken;  // unique
  std::optional<Sourced<std::vector<std::string>>> platforms;  // absent: all
  std::optional<Sourced<std::string>> report;                  // a path or "fd:N"
  Sourced<ErrorFormat> error_format;
  Sourced<bool> quiet;
  Sourced<bool> verbose;
};

bool IsWeakened(const Policy& policy, Weakening weakening);

}  // namespace agent_exec
