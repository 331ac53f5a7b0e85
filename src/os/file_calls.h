#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/file_view.h"

// The file calls that systems differ in. One implementation per system; none of those that return a
// descriptor allocates.

namespace agent_exec {

// Opens name below a directory descriptor (AT_FDCWD and an absolute name: below "/") with
// O_CLOEXEC. No symlink in the whole name is followed and none may leave the directory: ELOOP,
// EXDEV.
//   In:      name clean and without ".."; O_PATH only together with O_DIRECTORY, since it would
//   open a link itself. Returns: a descriptor, or the negative errno.
int OpenWithoutSymlinks(int directory, const char* name, int flags);

// O_PATH on exactly what an absolute, clean path names: no symlink is followed, and one that is
// named itself is not opened either (ELOOP).
//   Returns: a descriptor, or the negative errno. Linux only: others have no such descriptors.
int OpenNode(const char* path);

// As OpenWithoutSymlinks, but follows symlinks that stay inside the directory.
//   Errors: EXDEV for a name that leaves it; ENOSYS where the kernel has no such call: the caller
//   checks by hand.
int OpenBeneath(int directory, const char* name, int flags);

// The canonical path of what a path names, through one descriptor.
//   Errors: ENOSYS where that cannot be told (no /proc, or a mount that is out of reach): the
//   caller walks by hand.
int ResolveByDescriptor(const char* path, char* real_path, size_t size, NodeInfo* info);

// All entries of an open directory, without "." and "..".
//   Errors: an errno; entries is untouched then.
int ListDescriptor(int directory, std::vector<DirEntry>* entries);

}  // namespace agent_exec
