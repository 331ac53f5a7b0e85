#pragma once

#include <cstddef>
#include <cstdint>

#include "os/compile.h"

// The mount calls of a sandbox that this process builds itself. Each returns 0 or an errno and
// never allocates. Paths are opened without following a symbolic link in any component (ELOOP), and
// what was opened is what is cloned or mounted upon, whatever its name leads to by then.

namespace agent_exec::raw {

// What the calls share.
struct MountState {
  int store = -1;  // the root of the store, while it is open
  unsigned data_files = 0;
  // Kernels before 5.12 have no mount_setattr: attributes are then set by remounting each mount of
  // a tree once it stands somewhere, as the mount table at proc_self lists them.
  bool by_remounting = false;
  int proc_self = -1;  // O_PATH on /proc/self of the namespace we came from
};

// Makes all mounts private. Call first, in the new mount namespace.
int StartMounts(MountState* state);
// Forgets what StartMounts keeps open.
void EndMounts(MountState* state);

int PinTree(MountState* state, const char* path, TreeSlot* slot);
int NewTmpfs(uint32_t mode, int64_t size_bytes, TreeSlot* slot);
int EnterRoot(MountState* state, TreeSlot* slot);
int MakeMountPoint(const char* path, bool is_directory);
int Attach(MountState* state, TreeSlot* slot, const char* target);
int CoverTree(MountState* state, const char* path, bool read_only, bool optional);
int OpenStore(MountState* state, uint32_t file_mode, uint32_t directory_mode);
int AttachMask(MountState* state, const char* target, bool is_directory);
int AttachData(MountState* state, const char* target, const char* data, size_t size, uint32_t mode);
int CloseStore(MountState* state);
int MountProc(const char* target);
int MountDevpts(const char* target);
int MakeLink(const char* path, const char* text);
int SetReadOnly(MountState* state, const char* target);

// mount_fallback_linux.cc: sets attributes (MS_RDONLY, MS_NOSUID, MS_NODEV) on every mount of the
// tree that `tree` is the root of, which stands in this namespace, besides those it has.
int RemountTree(const MountState& state, int tree, unsigned long add);
// The same for the one mount whose root directory is open, with exactly these flags.
int RemountDirectory(int directory, unsigned long flags);

}  // namespace agent_exec::raw
