#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace agent_exec {

enum class Os { kLinux, kMacos };
enum class Arch { kX86_64, kAarch64 };

// A wrapper program found at a trusted absolute path, or why there is none.
struct Tool {
  std::string path;  // "" when there is none that may be used
  std::string
      problem;       // when path is empty: "not installed", "'/usr/bin/bwrap' is setuid"; else ""
  std::string hint;  // when path is empty: the command that mends it
  std::string version;  // "0.8.0"; "" when unknown
  std::vector<std::string>
      features;  // option names it knows, sorted ("args", "perms", "size"); empty when unknown
};

// An inherited descriptor that the command could open again by its name in /proc: a regular file or
// a character device.
struct OpenFile {
  int fd = -1;
  bool is_device = false;
  bool is_terminal = false;
  bool reads = false;
  bool writes = false;
  bool appends = false;  // whatever it writes goes to the end
  bool operator==(const OpenFile&) const = default;
};

// What this process was given and what this host has. Gathered once (os/gather.h), passed by const
// reference.
struct HostFacts {
  Os os = Os::kLinux;
  Arch arch = Arch::kX86_64;
  uint32_t uid = 0;
  uint32_t gid = 0;
  std::string cwd;               // canonical; "" when it was deleted or cannot be told
  std::vector<std::string> env;  // NAME=VALUE as inherited
  std::string self_path;         // the launcher's own binary, canonical
  bool stdin_is_tty = false;
  bool stdout_is_tty = false;
  bool stderr_is_tty = false;
  std::vector<int> open_fds;  // descriptors >= 3 that were inherited, sorted
  // Of 0, 1, 2 and open_fds, those that are directories, sorted.
  std::vector<int> directory_fds;
  // Of 0, 1, 2 and open_fds, sorted by number.
  std::vector<OpenFile> open_files;
  // The terminal that one of the standard streams is open on, at a path below /dev that leads to
  // it;
  // "" when there is none.
  std::string terminal_path;
  // The wrappers below were looked for. They cost as much as all other facts together, so a start
  // that does without them goes without asking.
  bool knows_wrappers = false;
  Tool bwrap;
  bool user_namespaces = false;         // tried in a child: made, and its id map written
  std::string user_namespaces_problem;  // "unshare: Operation not permitted" when they are not
  // Only bubblewrap itself may make one: a profile of the host names it.
  bool user_namespaces_for_bwrap_only = false;
  bool mount_calls = false;  // open_tree, move_mount and fsopen: Linux 5.2
  int landlock_abi = 0;      // 0: none
  // Every id that this process's own user namespace has, onto itself, as text for uid_map and
  // gid_map; "" where this process may not write such a map.
  std::string full_uid_map;
  std::string full_gid_map;
  uint64_t max_open_files = 0;  // soft RLIMIT_NOFILE
  uint64_t hard_max_open_files = 0;
};

}  // namespace agent_exec
