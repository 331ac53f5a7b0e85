#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backend/script.h"
#include "os/run.h"

// A script as flat arrays: what the interpreter walks. All that may allocate happens here.

namespace agent_exec {

// What app/exit_codes.h says; main.cc holds them equal, since os/ does not see app/.
inline constexpr int kStatusRefused = 125;
inline constexpr int kStatusNotExecutable = 126;
inline constexpr int kStatusNotFound = 127;

// A ready message; the text of an errno goes between the two parts.
struct Message {
  const char* before = "";
  const char* after = "";
};

enum class ActKind : uint8_t {
  kMakeLastingDir,
  kMakePlaceholder,
  kStartSweeper,
  kHoldLink,
  kPassBlob,
  kPassNull,
  kSetLimit,
  kCloseOthers,
  kChangeDir,
  kEnterNamespaces,
  kPinTree,
  kNewTmpfs,
  kEnterRoot,
  kMakeMountPoint,
  kAttach,
  kCoverTree,
  kOpenStore,
  kAttachMask,
  kAttachData,
  kCloseStore,
  kMountProc,
  kMountDevpts,
  kMakeSymlink,
  kSetReadOnly,
  kLoopbackUp,
  kDropPrivileges,
  kForkCommand,
  kRestrictLandlock,
  kInstallFilter,
  kExec,
};

struct Act {
  ActKind kind = ActKind::kExec;
  int fd = -1;         // kPassBlob, kPassNull, kStartSweeper: the number to open
  int index = 0;       // kMakePlaceholder: into placeholders; kSetLimit: RLIMIT_*; else a slot
  int64_t value = 0;   // kSetLimit; kNewTmpfs: bytes
  uint32_t mode = 0;   // kNewTmpfs, kAttachData; kOpenStore: of its file
  uint32_t mode2 = 0;  // kOpenStore: of its directory
  bool is_directory = false;
  bool read_only = false;
  bool devices = false;
  bool optional = false;
  const char* text = "";  // path, or the blob's name
  const char* data = "";  // kPassBlob; kHoldLink, kMakeSymlink: what the link says
  size_t size = 0;        // of data
  Message failed;
  // kMakePlaceholder, kHoldLink: something else stands there; kMakeLastingDir: not the caller's;
  // kExec: the command is not there.
  Message refused;
};

// A directory that placeholders stand in.
struct PlaceholderParent {
  const char* root = "";      // the writable root, absolute
  const char* relative = "";  // below the root; "." for itself
  int placeholder = -1;       // the placeholder that this directory is, if it is one
  int fd = -1;                // O_PATH; -1 until opened
};

struct PlaceholderSlot {
  int parent = 0;         // into parents
  const char* name = "";  // one component
  bool is_directory = true;
  bool writable = false;
  uint32_t mode = 0;
  int fd = -1;  // open while held
  bool is_locked = false;
  bool is_held = false;  // made or joined by this run
};

// A tree of mounts that stands nowhere yet.
struct TreeSlot {
  int fd = -1;
  // What its mounts are to be, for kernels that can only tell them so once they stand somewhere.
  bool read_only = false;
  bool devices = false;
  bool is_clone = false;
};

struct NamespacesAct {
  bool pid = false;
  bool net = false;
  bool keep_background = false;
  const char* uid_map = "";
  const char* gid_map = "";
  bool deny_setgroups = true;
  bool by_parent = false;
};

struct LandlockRuleAct {
  const char* path = nullptr;  // or
  int fd = -1;
  bool entries = false;
  uint64_t rights = 0;
};

struct LandlockAct {
  uint64_t handled_fs = 0;
  uint64_t scoped = 0;
  std::vector<LandlockRuleAct> rules;
};

struct Compiled {
  std::vector<Act> acts;  // the last one is kExec
  std::vector<PlaceholderParent> parents;
  std::vector<PlaceholderSlot> placeholders;  // parents first
  std::vector<int> reserved_fds;              // sorted: numbers that acts open
  std::vector<int> keep_fds;                  // sorted, with the reserved ones
  std::vector<int> scratch_fds;               // room for what the sweeper keeps
  std::vector<TreeSlot> slots;
  NamespacesAct namespaces;
  LandlockAct landlock;
  std::vector<char*> argv;
  std::vector<char*> shell_argv;  // "/bin/sh FILE ARG...": for a command without a first line
  std::vector<char*> env;
  std::deque<std::string> texts;  // owns every text above
};

// "cannot ACT 'SUBJECT': " and " (PLACE)" around the errno, in the wanted format. In: what holds no
// errno.
Message MakeMessage(const RunOptions& options, const std::string& what, const std::string& place,
                    const std::string& hint, int exit_status, std::deque<std::string>* texts);
// A message that needs no errno, whole in `before`.
Message MakeWholeMessage(const RunOptions& options, const std::string& what,
                         const std::string& place, const std::string& hint, int exit_status,
                         std::deque<std::string>* texts);

// Errors: Internal for a script that no backend should render (a relative path, two acts for one
// descriptor, a descriptor
//         below 3, a blob that is not there, an end that is not Exec).
absl::StatusOr<Compiled> CompileScript(const Script& script, const RunOptions& options);

}  // namespace agent_exec
