#pragma once

#include <signal.h>

#include <cstddef>

#include "os/compile.h"

// What the interpreter and the sweeper are made of: plain functions on plain data that never
// allocate.

namespace agent_exec::raw {

// Moves a descriptor of ours out of the way of the standard ones and of those that the script opens
// by number.
//   Returns: the descriptor, close-on-exec, or -1 with errno; the given one is closed then.
int MoveAside(int fd, const Compiled& script);
// Opens `number` on the same file as fd, inherited by what is executed, and closes fd. Returns 0 or
// an errno.
int InstallAt(int fd, int number);
// All bytes or an errno. A broken pipe is EPIPE, without the signal.
int WriteAll(int fd, const void* bytes, size_t size);
// Writes a message with the text of an errno to standard error. Errors are ignored: there is nobody
// left to tell.
void Tell(const Message& message, int error);
void SleepUs(long microseconds);
// Does /proc number processes as this one's PID namespace does? A number means somebody else in
// another's. Returns 0 or an errno.
int CheckProcIsOurs();
// Makes every descriptor >= 3 that is not in the sorted list close-on-exec, or closes it. Returns 0
// or an errno.
enum class Others { kCloseOnExec, kClose };
int ForOtherDescriptors(const int* keep, size_t count, Others what);

// Placeholders (placeholder_linux.cc).

enum class Made { kOk, kFailed, kRefused };
// Makes or joins placeholders[index] and holds it. kFailed: *error says why.
Made MakePlaceholder(Compiled* script, int index, int* error);
// Removes what is still ours, empty and held by nobody else; children first.
void RemovePlaceholders(Compiled* script);

// Links (held_links_linux.cc).

// Enters a mount namespace of this process's own, from which nothing reaches the host. Returns 0 or
// an errno.
int EnterOwnMounts();
// Holds the link by a mount on itself. Returns 0, an errno, or kLinkChanged when it is not a link
// that says these bytes.
//   needs_attributes: bubblewrap will ask for these attributes by a path, which it cannot name:
//   they
//                     must be there.
inline constexpr int kLinkChanged = -1;
int HoldLink(const char* path, const char* text, size_t size, bool needs_attributes);

// The parts of a sandbox that this process builds itself; mounts are in os/mounts.h, the processes
// in os/supervise.h. Each returns 0 or an errno.

// The namespaces for a process that becomes the command itself, with its ids mapped
// (namespaces_linux.cc). Sets *maps_failed when it was the maps.
int EnterInPlace(const NamespacesAct& act, bool* maps_failed);
// Lo with its addresses, and low ports for everybody (loopback_linux.cc).
int LoopbackUp();
// No capability in any set, nor by any exec; no new privileges; no core (privileges_linux.cc).
int DropPrivileges();
int InstallFilter(const char* program, size_t size);
int RestrictLandlock(const LandlockAct& act);  // landlock_linux.cc

// The sweeper (sweeper_linux.cc).

// Starts it; info_fd will be the writing end of its pipe, or is -1 where this process becomes the
// command: its end is then all that is waited for. Returns 0 or an errno.
int StartSweeper(Compiled* script, int info_fd, const RunOptions& options);

}  // namespace agent_exec::raw
