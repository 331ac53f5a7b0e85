#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "os/file_calls.h"
#include "os/mount_calls_linux.h"
#include "os/mounts.h"
#include "os/raw.h"

namespace agent_exec::raw {
namespace {

constexpr char kStoreFile[] = "file";
constexpr char kStoreDirectory[] = "directory";

// Closes and keeps the errno of what came before.
void Close(int fd) {
  int error = errno;
  (void)close(fd);
  errno = error;
}

uint64_t AttributesOf(const TreeSlot& slot) {
  return kAttrNoSuid | (slot.devices ? 0 : kAttrNoDev) | (slot.read_only ? kAttrReadOnly : 0);
}

unsigned long FlagsOf(const TreeSlot& slot) {
  return MS_NOSUID | (slot.devices ? 0 : MS_NODEV) | (slot.read_only ? MS_RDONLY : 0);
}

// What the file system says wins over what was set: nothing starts on a mount that took no effect.
int CheckReadOnly(int tree) {
  struct statvfs st;
  if (fstatvfs(tree, &st) != 0) return errno;
  return (st.f_flag & ST_RDONLY) != 0 ? 0 : EROFS;
}

// Sets the attributes of a detached tree, or leaves them to AfterAttach.
int Prepare(MountState* state, const TreeSlot& slot) {
  if (state->by_remounting) return 0;
  if (SetMountAttributes(slot.fd, AttributesOf(slot), true) == 0) return 0;
  if (errno != ENOSYS) return errno;
  state->by_remounting = true;
  return 0;
}

int AfterAttach(const MountState& state, const TreeSlot& slot) {
  if (!state.by_remounting || !slot.is_clone) return 0;
  if (int error = RemountTree(state, slot.fd, FlagsOf(slot)); error != 0) return error;
  return slot.read_only ? CheckReadOnly(slot.fd) : 0;
}

int AttachTo(const MountState& state, const TreeSlot& slot, int target) {
  if (MoveMount(slot.fd, target) != 0) return errno;
  return AfterAttach(state, slot);
}

int NewFileSystem(const char* type, const char* const* options, uint64_t attributes, int* mount) {
  int context = static_cast<int>(syscall(kSysFsopen, type, kFsopenCloexec));
  if (context < 0) return errno;
  for (; *options != nullptr; options += 2) {
    if (syscall(kSysFsconfig, context, kFsconfigSetString, options[0], options[1], 0) != 0) {
      Close(context);
      return errno;
    }
  }
  int error = 0;
  if (syscall(kSysFsconfig, context, kFsconfigCreate, nullptr, nullptr, 0) != 0) {
    error = errno;
  } else {
    *mount = static_cast<int>(syscall(kSysFsmount, context, kFsmountCloexec, attributes));
    if (*mount < 0) error = errno;
  }
  (void)close(context);
  return error;
}

int NewTmpfsMount(uint32_t mode, int64_t size_bytes, int* mount) {
  char octal[16];
  char* at = octal + sizeof(octal);
  *--at = '\0';
  do *--at = static_cast<char>('0' + (mode & 7));
  while ((mode >>= 3) != 0);
  char decimal[24];
  char* size = decimal + sizeof(decimal);
  *--size = '\0';
  int64_t rest = size_bytes;
  do *--size = static_cast<char>('0' + rest % 10);
  while ((rest /= 10) != 0);
  const char* options[] = {"mode", at, size_bytes > 0 ? "size" : nullptr, size, nullptr};
  return NewFileSystem("tmpfs", options, kAttrNoSuid | kAttrNoDev, mount);
}

int AttachNew(int mount, const char* target) {
  int at = OpenNode(target);
  int error = at < 0 ? -at : MoveMount(mount, at) != 0 ? errno : 0;
  if (at >= 0) (void)close(at);
  (void)close(mount);
  return error;
}

// Opens the directory that a path lies in, making what is missing, and gives the last name.
int OpenParent(const char* path, const char** name) {
  const char* slash = strrchr(path, '/');
  *name = slash + 1;
  char parent[PATH_MAX];
  size_t size = static_cast<size_t>(slash - path);
  if (size >= sizeof(parent)) return -ENAMETOOLONG;
  memcpy(parent, path, size);
  parent[size] = '\0';
  if (size == 0) return open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  int fd = OpenWithoutSymlinks(AT_FDCWD, parent, O_PATH | O_DIRECTORY);
  if (fd != -ENOENT) return fd;
  int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  char* component = parent + 1;
  while (at >= 0 && component != nullptr) {
    char* next = strchr(component, '/');
    if (next != nullptr) *next++ = '\0';
    if (mkdirat(at, component, 0755) != 0 && errno != EEXIST) {
      int error = errno;
      (void)close(at);
      return -error;
    }
    int below = openat(at, component, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    Close(at);
    at = below;
    component = next;
  }
  return at < 0 ? -errno : at;
}

// A clone of something in the store, read-only, mounted on the target.
int AttachFromStore(MountState* state, const char* name, const char* target) {
  int source = openat(state->store, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (source < 0) return errno;
  TreeSlot slot;
  slot.read_only = true;
  slot.is_clone = true;
  slot.fd = CloneTree(source);
  int error = slot.fd < 0 ? errno : Prepare(state, slot);
  (void)close(source);
  if (error == 0) return Attach(state, &slot, target);
  if (slot.fd >= 0) (void)close(slot.fd);
  return error;
}

}  // namespace

int StartMounts(MountState* state) {
  // Nothing that happens here may reach the host, and nothing that is mounted there later may come.
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return errno;
  // Without the mount table an old kernel cannot be dealt with; others do without it.
  state->proc_self = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
  return 0;
}

void EndMounts(MountState* state) {
  if (state->proc_self >= 0) (void)close(state->proc_self);
  state->proc_self = -1;
}

int PinTree(MountState* state, const char* path, TreeSlot* slot) {
  int source = OpenNode(path);
  if (source < 0) return -source;
  slot->is_clone = true;
  slot->fd = CloneTree(source);
  int error = slot->fd < 0 ? errno : Prepare(state, *slot);
  (void)close(source);
  return error;
}

int NewTmpfs(uint32_t mode, int64_t size_bytes, TreeSlot* slot) {
  return NewTmpfsMount(mode, size_bytes, &slot->fd);
}

int EnterRoot(MountState* state, TreeSlot* slot) {
  int old_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (old_root < 0) return errno;
  int error = 0;
  // Over the root that there is, then in its place: with both arguments the same directory, the old
  // root ends up on top of the new one, from where it is taken away.
  if (MoveMount(slot->fd, old_root) != 0 || fchdir(slot->fd) != 0 ||
      syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) {
    error = errno;
  }
  (void)close(old_root);
  if (error == 0) error = AfterAttach(*state, *slot);
  (void)close(slot->fd);
  slot->fd = -1;
  return error;
}

int MakeMountPoint(const char* path, bool is_directory) {
  const char* name;
  int parent = OpenParent(path, &name);
  if (parent < 0) return -parent;
  int error = 0;
  if (is_directory) {
    if (mkdirat(parent, name, 0755) != 0) error = errno;
  } else {
    int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0) {
      error = errno;
    } else {
      (void)close(fd);
    }
  }
  (void)close(parent);
  return error == EEXIST ? 0 : error;
}

int Attach(MountState* state, TreeSlot* slot, const char* target) {
  int at = OpenNode(target);
  int error = at < 0 ? -at : AttachTo(*state, *slot, at);
  if (at >= 0) (void)close(at);
  (void)close(slot->fd);
  slot->fd = -1;
  return error;
}

int CoverTree(MountState* state, const char* path, bool read_only, bool optional) {
  int at = OpenNode(path);
  if (at == -ENOENT && optional) return 0;
  if (at < 0) return -at;
  TreeSlot slot;
  slot.read_only = read_only;
  // What it is a clone of has been told already which devices it may have.
  slot.devices = true;
  slot.is_clone = true;
  slot.fd = CloneTree(at);
  int error = slot.fd < 0 ? errno : Prepare(state, slot);
  if (error == 0) error = AttachTo(*state, slot, at);
  if (slot.fd >= 0) (void)close(slot.fd);
  (void)close(at);
  return error;
}

int OpenStore(MountState* state, uint32_t file_mode, uint32_t directory_mode) {
  if (int error = NewTmpfsMount(0700, 0, &state->store); error != 0) return error;
  int file = openat(state->store, kStoreFile, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  int error = fchmod(file, file_mode) != 0 ? errno : 0;
  (void)close(file);
  if (error != 0) return error;
  if (mkdirat(state->store, kStoreDirectory, 0700) != 0 ||
      fchmodat(state->store, kStoreDirectory, directory_mode, 0) != 0) {
    return errno;
  }
  // Only what stands somewhere in this namespace can be cloned. On top of the root directory no
  // path leads to it: paths begin below.
  int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return errno;
  if (MoveMount(state->store, root) != 0) error = errno;
  (void)close(root);
  return error;
}

int AttachMask(MountState* state, const char* target, bool is_directory) {
  return AttachFromStore(state, is_directory ? kStoreDirectory : kStoreFile, target);
}

int AttachData(MountState* state, const char* target, const char* data, size_t size,
               uint32_t mode) {
  // A name of its own for each: what is mounted keeps it.
  char name[24] = "data-";
  size_t end = strlen(name);
  unsigned number = state->data_files++;
  do name[end++] = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  name[end] = '\0';
  int fd = openat(state->store, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  int error = WriteAll(fd, data, size);
  if (error == 0 && fchmod(fd, mode) != 0) error = errno;
  (void)close(fd);
  return error != 0 ? error : AttachFromStore(state, name, target);
}

int CloseStore(MountState* state) {
  int error =
      fchdir(state->store) != 0 || umount2(".", MNT_DETACH) != 0 || chdir("/") != 0 ? errno : 0;
  (void)close(state->store);
  state->store = -1;
  return error;
}

int MountProc(const char* target) {
  const char* options[] = {nullptr};
  int mount = -1;
  int error = NewFileSystem("proc", options, kAttrNoSuid | kAttrNoDev | kAttrNoExec, &mount);
  return error != 0 ? error : AttachNew(mount, target);
}

int MountDevpts(const char* target) {
  const char* options[] = {"ptmxmode", "0666", "mode", "620", nullptr};
  int mount = -1;
  int error = NewFileSystem("devpts", options, kAttrNoSuid | kAttrNoExec, &mount);
  return error != 0 ? error : AttachNew(mount, target);
}

int MakeLink(const char* path, const char* text) {
  const char* name;
  int parent = OpenParent(path, &name);
  if (parent < 0) return -parent;
  int error = symlinkat(text, parent, name) != 0 ? errno : 0;
  (void)close(parent);
  return error;
}

int SetReadOnly(MountState* state, const char* target) {
  int at = OpenNode(target);
  if (at < 0) return -at;
  int error = 0;
  if (!state->by_remounting && SetMountAttributes(at, kAttrReadOnly, false) != 0) {
    if (errno == ENOSYS) {
      state->by_remounting = true;
    } else {
      error = errno;
    }
  }
  if (error == 0 && state->by_remounting) {
    error = RemountDirectory(at, MS_RDONLY | MS_NOSUID | MS_NODEV);
    if (error == 0) error = CheckReadOnly(at);
  }
  (void)close(at);
  return error;
}

}  // namespace agent_exec::raw
