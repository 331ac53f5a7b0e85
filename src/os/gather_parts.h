#pragma once

#include <string>
#include <vector>

#include "host/facts.h"

// The pieces of GatherFacts, one file each. Internal to os/.

namespace agent_exec {

// What every system tells the same way: ids, environment, terminals, limits.
void GatherPosix(HostFacts* facts);

// Of the standard streams and these descriptors, those that are directories, sorted.
std::vector<int> DirectoryDescriptors(const std::vector<int>& open_fds);

// Of the standard streams and these descriptors, those that are regular files or character devices,
// sorted.
std::vector<OpenFile> OpenFiles(const std::vector<int>& open_fds);

// What the kernel lets this process do that the native backend asks for: mount calls, Landlock, id
// maps of more than one id; and the terminal's path.
void GatherKernel(HostFacts* facts);

// Every extent of this process's own id map, onto itself: "0 0 1000\n". In: the text of
// /proc/self/uid_map. "" for a text that is none.
std::string MapOntoItself(const std::string& map);

// Descriptors >= 3 that are open now, sorted.
std::vector<int> OpenDescriptors();

// The first bwrap at a trusted place that may be used, or why there is none. PATH is not looked at:
// the caller's may begin with a directory that a sandboxed command can write.
//   In: candidates absolute; the first that passes is taken.
Tool FindBubblewrap(const std::vector<std::string>& candidates);
const std::vector<std::string>& BubblewrapCandidates();

// Why a program must not be trusted with the sandbox, as a message; "" when it may. In: a canonical
// path.
std::string DistrustOf(const std::string& path);

// Version and option names as the program's own text holds them. False when it holds none (a
// script, another program).
bool ScanBubblewrap(const std::string& path, Tool* tool);
// The same by executing it, for at most two seconds each time.
void AskBubblewrap(const std::string& path, Tool* tool);

// Starts bwrap with a user namespace of its own on a program that does nothing. Where a profile for
// that program alone allows namespaces (AppArmor), only this can tell. False when it fails for
// whatever reason.
//   In: a path that FindBubblewrap returned. Cost: one execution; for hosts where TryUserNamespace
//   failed.
bool TryBubblewrap(const std::string& path);

// Makes a user namespace in a child, writes its id map and uses a capability in it. Restrictions
// differ in where they bite: a sysctl or a filter refuses the first, AppArmor the second or the
// third.
//   Returns: "" when all of that works, else "ACT: ERRNO".
std::string TryUserNamespace();

}  // namespace agent_exec
