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
//   info_fd: -1 where there is no such process: this one becomes the command.
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
// Changes the working directory.
struct ChangeDir {
  std::string path;
  bool operator==(const ChangeDir&) const = default;
};

// The steps by which this process makes the sandbox itself (backend/native_linux.cc). Trees of
// mounts that are held by descriptor and stand nowhere yet have numbers of their own, the slots.
// No path is reached through a symbolic link: all are canonical, and one that has become something
// else since planning is refused.

// Text for /proc/PID/uid_map and gid_map.
struct IdMap {
  std::string uid_map;
  std::string gid_map;
  bool deny_setgroups = true;
  // Written by a process of the user namespace above, with its capabilities: more than one id.
  bool by_parent = false;
  bool operator==(const IdMap&) const = default;
};
// Enters namespaces of its own: user, mount, ipc, uts, cgroup where the kernel has it. From then on
// no mount reaches the host or comes from it.
//   pid: also a PID namespace. This process then stays outside as the supervisor and carries out
//        nothing further; what follows is done by process 1 inside, until ForkCommand.
//   net: also a network namespace.
//   keep_background: processes that the command leaves behind may end by themselves.
struct EnterNamespaces {
  bool pid = true;
  bool net = true;
  bool keep_background = false;
  IdMap ids;
  bool operator==(const EnterNamespaces&) const = default;
};
// Clones what is at the path, with everything mounted below it, into a slot: nosuid, nodev unless
// devices, read-only unless writable, all of it.
struct PinTree {
  int slot;
  std::string path;
  bool writable = false;
  bool devices = false;
  OriginId origin = 0;
  bool operator==(const PinTree&) const = default;
};
// An empty file system in memory. size_bytes 0: the kernel's default.
struct NewTmpfs {
  int slot;
  uint32_t mode = 0755;
  int64_t size_bytes = 0;
  OriginId origin = 0;
  bool operator==(const NewTmpfs&) const = default;
};
// The slot's tree becomes the root directory, and no path leads to the old one any more.
struct EnterRoot {
  int slot;
  bool operator==(const EnterRoot&) const = default;
};
// An empty file or directory for a mount to stand on, with its parents (0755). In a file system of
// ours only; nothing happens where it is there already.
struct MakeMountPoint {
  std::string path;
  Node node = Node::kDirectory;
  bool operator==(const MakeMountPoint&) const = default;
};
// Mounts the slot's tree and empties the slot.
struct Attach {
  int slot;
  std::string target;
  OriginId origin = 0;
  bool operator==(const Attach&) const = default;
};
// Mounts what is at the path over itself, with everything mounted below it: read-only, or else as
// it is, as a mount of its own.
//   optional: where nothing is there, nothing happens.
struct CoverTree {
  std::string path;
  bool read_only = true;
  bool optional = false;
  OriginId origin = 0;
  bool operator==(const CoverTree&) const = default;
};
// A file system with one empty file and one empty directory of these modes, which no path leads to:
// what AttachMask and AttachData mount.
struct OpenStore {
  uint32_t file_mode = 0;
  uint32_t directory_mode = 0;
  bool operator==(const OpenStore&) const = default;
};
// Mounts the store's file or directory, read-only.
struct AttachMask {
  std::string target;
  Node node = Node::kFile;
  OriginId origin = 0;
  bool operator==(const AttachMask&) const = default;
};
// Mounts a file that holds blobs[blob], read-only.
struct AttachData {
  std::string target;
  int blob;
  uint32_t mode = 0444;
  OriginId origin = 0;
  bool operator==(const AttachData&) const = default;
};
// Nothing more can be made in the store; what was mounted from it stays.
struct CloseStore {
  bool operator==(const CloseStore&) const = default;
};
// A procfs of this PID namespace; a devpts of its own.
struct MountProc {
  std::string target;
  bool operator==(const MountProc&) const = default;
};
struct MountDevpts {
  std::string target;
  bool operator==(const MountDevpts&) const = default;
};
// In a file system of ours only; parents as with MakeMountPoint.
struct MakeSymlink {
  std::string path;
  std::string text;
  OriginId origin = 0;
  bool operator==(const MakeSymlink&) const = default;
};
// Makes the mount at the target read-only; those below it stay what they are.
struct SetReadOnly {
  std::string target;
  bool operator==(const SetReadOnly&) const = default;
};
// Brings the loopback interface up with 127.0.0.1, ::1 and one further address of each family, and
// opens the ports below 1024 to everybody.
struct LoopbackUp {
  bool operator==(const LoopbackUp&) const = default;
};
// No capability in any set, the bounding one included; none that could be had again; no core dumps.
struct DropPrivileges {
  bool operator==(const DropPrivileges&) const = default;
};
// Process 1 starts the process that will be the command and stays as its init; what follows is done
// by the new one.
struct ForkCommand {
  bool operator==(const ForkCommand&) const = default;
};
// Rights of landlock(7), as bits of LANDLOCK_ACCESS_FS_*, for the path and everything below it, or
// for the file that descriptor `fd` is open on.
struct LandlockRule {
  std::string path;
  int fd = -1;           // used when path is ""
  bool entries = false;  // for what is in the directory `path`, and not for itself
  uint64_t rights = 0;
  bool operator==(const LandlockRule&) const = default;
};
// Only what a rule allows can be done from here on. A path that is not there, or cannot be reached
// by the command either, needs no right and gets none.
struct RestrictLandlock {
  uint64_t handled_fs = 0;
  uint64_t scoped = 0;
  std::vector<LandlockRule> rules;
  bool operator==(const RestrictLandlock&) const = default;
};
// The last step before Exec: blobs[blob] is an array of struct sock_filter.
struct InstallFilter {
  int blob;
  bool operator==(const InstallFilter&) const = default;
};

// The last step: replaces this process. env is complete, "NAME=VALUE".
struct Exec {
  std::string path;
  std::vector<std::string> argv;
  std::vector<std::string> env;
  bool operator==(const Exec&) const = default;
};

using Step =
    std::variant<MakeLastingDir, MakePlaceholder, StartSweeper, HoldLink, PassBlob, PassNull,
                 SetLimit, CloseOthers, ChangeDir, EnterNamespaces, PinTree, NewTmpfs, EnterRoot,
                 MakeMountPoint, Attach, CoverTree, OpenStore, AttachMask, AttachData, CloseStore,
                 MountProc, MountDevpts, MakeSymlink, SetReadOnly, LoopbackUp, DropPrivileges,
                 ForkCommand, RestrictLandlock, InstallFilter, Exec>;

struct Script {
  std::vector<Step> steps;         // the last one is Exec
  std::vector<std::string> blobs;  // contents for PassBlob, AttachData and InstallFilter
};

// "read-file", "truncate": the names of landlock(7), for people and programs, in the order of the
// bits.
std::vector<std::string> LandlockRightNames(uint64_t rights);
std::vector<std::string> LandlockScopeNames(uint64_t scoped);

// One line per step, what it holds on indented lines below it; exact: what --print=script shows.
// Values of the environment are shown as they are.
std::string FormatScript(const Script& script);

}  // namespace agent_exec
