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
  Tool bwrap;
  bool user_namespaces = false;         // tried in a child: made, and its id map written
  std::string user_namespaces_problem;  // "unshare: Operation not permitted" when they are not
  uint64_t max_open_files = 0;          // soft RLIMIT_NOFILE
};

}  // namespace agent_exec
