#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "plan/plan.h"

// What will be done to start the command: a flat list of acts. Rendered by a backend, printed by
// verbs/print, carried out by os/run and by nothing else.

namespace agent_exec {

// Makes a directory of ours that lasts, with its parents, 0700; refuses one that is a symlink or
// somebody else's.
struct MakeLastingDir {
  std::string path;
  bool operator==(const MakeLastingDir&) const = default;
};
// Makes a placeholder beneath its root, holds it by flock, and puts the mtime of the directory
// above back.
struct MakePlaceholder {
  Placeholder placeholder;
  bool operator==(const MakePlaceholder&) const = default;
};
// Leaves a process outside the command's tree, session and descriptors that removes the
// placeholders when process `pid 1` of the sandbox (its number comes as JSON on the descriptor) or
// this process has ended.
struct StartSweeper {
  int info_fd;
  bool operator==(const StartSweeper&) const = default;
};
// Keeps a symbolic link from being removed, renamed or replaced, by a mount of its own: in a mount
// namespace that this process enters at the first one, with a user namespace where that needs one.
// Refuses a link that does not say `text` any more.
struct HoldLink {
  HeldLink link;
  bool operator==(const HoldLink&) const = default;
};
// Opens descriptor fd on a sealed memory file with blobs[blob], at its start; inherited by what is
// executed.
//   name: what the blob is, for people: "bwrap-args", kFilterBlobName, "data:/etc/x".
struct PassBlob {
  int fd;
  int blob;
  std::string name;
  bool operator==(const PassBlob&) const = default;
};
// Opens descriptor fd on /dev/null for reading; inherited.
struct PassNull {
  int fd;
  bool operator==(const PassNull&) const = default;
};
// The blob with this name is a system call filter: an array of struct sock_filter.
inline constexpr char kFilterBlobName[] = "seccomp-filter";
enum class Resource { kFileSize, kOpenFiles };
// Sets the soft and hard limit to the smaller of value and the present hard limit.
struct SetLimit {
  Resource resource;
  int64_t value;
  bool operator==(const SetLimit&) const = default;
};
// Closes every descriptor >= 3 that is not listed (sorted).
struct CloseOthers {
  std::vector<int> keep;
  bool operator==(const CloseOthers&) const = default;
};
// Changes the working directory. In place backends without a mount namespace only.
struct ChangeDir {
  std::string path;
  bool operator==(const ChangeDir&) const = default;
};
// The last step: replaces this process. env is complete, "NAME=VALUE".
struct Exec {
  std::string path;
  std::vector<std::string> argv;
  std::vector<std::string> env;
  bool operator==(const Exec&) const = default;
};

using Step = std::variant<MakeLastingDir, MakePlaceholder, StartSweeper, HoldLink, PassBlob,
                          PassNull, SetLimit, CloseOthers, ChangeDir, Exec>;

struct Script {
  std::vector<Step> steps;         // the last one is Exec
  std::vector<std::string> blobs;  // contents for PassBlob
};

// One line per step, what it holds on indented lines below it; exact: what --print=script shows.
// Values of the environment are shown as they are.
std::string FormatScript(const Script& script);

}  // namespace agent_exec
