#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host/placeholder_mark.h"
#include "os/file_calls.h"
#include "os/raw.h"

namespace agent_exec::raw {
namespace {

// How long a placeholder that another run is making or removing right now is waited for. Nothing
// honest takes longer, and a hostile holder of the lock must not stop every start.
constexpr int kTries = 200;
constexpr long kTryUs = 500;
// Something without our time stamp may be a placeholder in the making: two system calls away from
// having it.
constexpr int kUnstampedTries = 40;

bool IsStamped(const struct stat& st) {
  return st.st_mtim.tv_sec == kPlaceholderTime && st.st_mtim.tv_nsec == 0;
}

// "." and ".." only. An error counts as not empty.
bool IsEmptyDirectory(int fd) {
  if (lseek(fd, 0, SEEK_SET) != 0) return false;
  alignas(8) char buffer[512];
  int entries = 0;
  for (;;) {
    long got = syscall(SYS_getdents64, fd, buffer, sizeof(buffer));
    if (got < 0) return false;
    if (got == 0) return entries <= 2;
    for (long at = 0; at < got; ++entries) {
      at += *reinterpret_cast<const uint16_t*>(buffer + at + 16);  // d_reclen
    }
    if (entries > 2) return false;
  }
}

bool IsTheSame(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Is it of the kind, mode and owner that one of ours has? The time stamp is asked separately.
bool LooksLikeOurs(const PlaceholderSlot& slot, const struct stat& st, uid_t parent_owner) {
  bool right_type = slot.is_directory ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode);
  // Root may have run in a user's tree, or the user in one that root runs in now.
  bool right_owner = st.st_uid == geteuid() || st.st_uid == 0 || st.st_uid == parent_owner;
  bool right_size = slot.is_directory || (st.st_size == 0 && st.st_nlink == 1);
  return right_type && right_owner && right_size && (st.st_mode & 0777) == slot.mode;
}

int OpenParent(Compiled* script, PlaceholderParent* parent) {
  if (parent->fd >= 0) return 0;
  // From the root of the tree, then from the writable root: no component of either may be a
  // symlink, whatever a program that runs in the workspace right now puts there.
  int root = OpenWithoutSymlinks(AT_FDCWD, parent->root, O_PATH | O_DIRECTORY);
  if (root < 0) return -root;
  int fd = OpenWithoutSymlinks(root, parent->relative, O_PATH | O_DIRECTORY);
  (void)close(root);
  if (fd < 0) return -fd;
  parent->fd = MoveAside(fd, *script);
  return parent->fd < 0 ? errno : 0;
}

// What a directory's time stamp must be after a change of ours: as before, or the fixed one where
// it is a placeholder itself (what is read may be the trace of another run's change).
void PutTimesBack(const Compiled& script, const PlaceholderParent& parent,
                  const struct stat& before) {
  struct timespec times[2] = {before.st_atim, before.st_mtim};
  times[0].tv_nsec = UTIME_OMIT;
  bool is_ours = parent.placeholder >= 0 &&
                 script.placeholders[static_cast<size_t>(parent.placeholder)].is_held;
  if (is_ours) times[1] = {kPlaceholderTime, 0};
  // Fails in somebody else's directory: then it keeps the trace.
  (void)utimensat(parent.fd, ".", times, 0);
}

// Makes the node with its mode. Returns an open descriptor, or the negative errno.
int CreateNode(const Compiled& script, const PlaceholderParent& parent,
               const PlaceholderSlot& slot) {
  struct stat before;
  if (fstat(parent.fd, &before) != 0) return -errno;
  // With the final mode at once, so that the only thing missing to another run is the time stamp.
  mode_t mask = umask(0);
  int fd;
  if (slot.is_directory) {
    fd = mkdirat(parent.fd, slot.name, slot.mode);
    if (fd == 0) {
      fd = openat(parent.fd, slot.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      int error = errno;
      if (fd < 0) (void)unlinkat(parent.fd, slot.name, AT_REMOVEDIR);
      errno = error;
    }
  } else {
    fd = openat(parent.fd, slot.name, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                slot.mode);
  }
  if (fd < 0) fd = -errno;
  (void)umask(mask);
  if (fd < 0) return fd;
  struct stat st;
  if (fstat(fd, &st) == 0 && (st.st_mode & 0777) != slot.mode) {
    (void)fchmod(fd, slot.mode);  // a default ACL had its own idea
  }
  const struct timespec times[2] = {{kPlaceholderTime, 0}, {kPlaceholderTime, 0}};
  if (futimens(fd, times) != 0) {
    // Without its mark nobody would remove it.
    int error = errno;
    (void)close(fd);
    (void)unlinkat(parent.fd, slot.name, slot.is_directory ? AT_REMOVEDIR : 0);
    fd = -error;
  }
  PutTimesBack(script, parent, before);
  return fd;
}

// Takes the shared lock. Returns 0, EAGAIN when another run is about to remove it, or another
// errno. On a file system without locks it is used without one, and stays.
int Hold(PlaceholderSlot* slot) {
  while (flock(slot->fd, LOCK_SH | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    slot->is_locked = false;
    bool has_no_locks = errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP;
    return has_no_locks ? 0 : errno == EWOULDBLOCK ? EAGAIN : errno;
  }
  slot->is_locked = true;
  return 0;
}

void Drop(PlaceholderSlot* slot) {
  (void)close(slot->fd);
  slot->fd = -1;
  slot->is_locked = false;
}

// Is the open node still what the name leads to?
bool IsStillNamed(const PlaceholderParent& parent, const PlaceholderSlot& slot) {
  struct stat opened;
  struct stat named;
  return fstat(slot.fd, &opened) == 0 &&
         fstatat(parent.fd, slot.name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         IsTheSame(opened, named);
}

enum class Existing { kOurs, kUnstamped, kForeign, kGone };

// Opens what stands at the name and looks at it.
Existing OpenExisting(const PlaceholderParent& parent, PlaceholderSlot* slot) {
  struct stat above;
  struct stat st;
  if (fstatat(parent.fd, slot->name, &st, AT_SYMLINK_NOFOLLOW) != 0) return Existing::kGone;
  if (fstat(parent.fd, &above) != 0 || !LooksLikeOurs(*slot, st, above.st_uid)) {
    return Existing::kForeign;
  }
  // Only now: a device must not be opened just to look at it.
  slot->fd = openat(
      parent.fd, slot->name,
      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (slot->is_directory ? O_DIRECTORY : 0));
  if (slot->fd < 0) return errno == ENOENT ? Existing::kGone : Existing::kForeign;
  bool is_ours = fstat(slot->fd, &st) == 0 && LooksLikeOurs(*slot, st, above.st_uid) &&
                 // A missing parent may hold what another run keeps in it by now.
                 (!slot->is_directory || slot->writable || IsEmptyDirectory(slot->fd));
  if (!is_ours) {
    // What another run has just removed looks like nothing that we make: it has no link left.
    bool is_gone = !IsStillNamed(parent, *slot);
    Drop(slot);
    return is_gone ? Existing::kGone : Existing::kForeign;
  }
  if (!IsStamped(st)) {
    Drop(slot);
    return Existing::kUnstamped;
  }
  return Existing::kOurs;
}

// A directory above a protected name that has come into being meanwhile serves as well as one of
// ours, but is not removed.
Made UseForeignParent(const PlaceholderParent& parent, const PlaceholderSlot& slot) {
  struct stat st;
  bool is_directory =
      fstatat(parent.fd, slot.name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
  return slot.writable && is_directory ? Made::kOk : Made::kRefused;
}

void RemoveOne(Compiled* script, PlaceholderSlot* slot) {
  PlaceholderParent& parent = script->parents[static_cast<size_t>(slot->parent)];
  if (!slot->is_held || slot->fd < 0 || !slot->is_locked) return;
  // A failed conversion gives up the old lock, so of several runs that end at once the last one
  // gets it and removes.
  if (flock(slot->fd, LOCK_EX | LOCK_NB) != 0) return;
  struct stat st;
  struct stat above;
  if (fstat(slot->fd, &st) != 0 || fstat(parent.fd, &above) != 0) return;
  bool ours = LooksLikeOurs(*slot, st, above.st_uid) && IsStamped(st) &&
              (!slot->is_directory || IsEmptyDirectory(slot->fd)) && IsStillNamed(parent, *slot);
  if (!ours) return;
  if (unlinkat(parent.fd, slot->name, slot->is_directory ? AT_REMOVEDIR : 0) == 0) {
    PutTimesBack(*script, parent, above);
  }
}

}  // namespace

Made MakePlaceholder(Compiled* script, int index, int* error) {
  PlaceholderSlot& slot = script->placeholders[static_cast<size_t>(index)];
  PlaceholderParent& parent = script->parents[static_cast<size_t>(slot.parent)];
  *error = OpenParent(script, &parent);
  if (*error != 0) return Made::kFailed;
  int unstamped = 0;
  for (int tries = 0; tries < kTries; ++tries) {
    int fd = CreateNode(*script, parent, slot);
    if (fd >= 0) {
      slot.fd = fd;
    } else if (fd != -EEXIST) {
      *error = -fd;
      return Made::kFailed;
    } else {
      switch (OpenExisting(parent, &slot)) {
        case Existing::kOurs:
          break;
        case Existing::kGone:
          continue;
        case Existing::kForeign:
          return UseForeignParent(parent, slot);
        case Existing::kUnstamped:
          if (++unstamped >= kUnstampedTries) return UseForeignParent(parent, slot);
          SleepUs(kTryUs);
          continue;
      }
    }
    int held = Hold(&slot);
    if (held != 0 && held != EAGAIN) {
      Drop(&slot);
      // Made by us a moment ago: whoever has joined it since holds a lock that we could not get.
      if (fd >= 0) (void)unlinkat(parent.fd, slot.name, slot.is_directory ? AT_REMOVEDIR : 0);
      *error = held;
      return Made::kFailed;
    }
    if (held == 0 && IsStillNamed(parent, slot)) {
      slot.fd = MoveAside(slot.fd, *script);
      *error = errno;
      slot.is_held = slot.fd >= 0;
      return slot.is_held ? Made::kOk : Made::kFailed;
    }
    Drop(&slot);
    SleepUs(kTryUs);
  }
  *error = EBUSY;
  return Made::kFailed;
}

void RemovePlaceholders(Compiled* script) {
  for (size_t i = script->placeholders.size(); i > 0; --i) {
    RemoveOne(script, &script->placeholders[i - 1]);
  }
}

}  // namespace agent_exec::raw
