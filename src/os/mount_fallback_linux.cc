#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "os/mounts.h"

// Attributes of a whole tree for kernels before 5.12: mount by mount, through the mount table.
// Reads the table three times for each tree, which costs a large policy time that newer kernels do
// not ask for.

namespace agent_exec::raw {
namespace {

constexpr int kMostMounts = 4096;

struct Line {
  int id = 0;
  int parent = 0;
  const char* path = nullptr;  // unescaped
  unsigned long flags = 0;     // MS_*
};

// The lines of mountinfo, one after the other.
class MountTable {
 public:
  explicit MountTable(int proc_self)
      : fd_(openat(proc_self, "mountinfo", O_RDONLY | O_CLOEXEC)), error_(fd_ < 0 ? errno : 0) {}
  MountTable(const MountTable&) = delete;
  MountTable& operator=(const MountTable&) = delete;
  ~MountTable() {
    if (fd_ >= 0) (void)close(fd_);
  }

  // False at the end, and when it cannot be read; then error() says why.
  bool Next(Line* line) {
    while (error_ == 0) {
      char* end = static_cast<char*>(memchr(at_, '\n', static_cast<size_t>(end_ - at_)));
      if (end != nullptr) {
        *end = '\0';
        char* text = at_;
        at_ = end + 1;
        if (!Parse(text, line)) error_ = EINVAL;
        return error_ == 0;
      }
      if (!Fill()) return false;
    }
    return false;
  }
  int error() const { return error_; }

 private:
  bool Fill() {
    size_t left = static_cast<size_t>(end_ - at_);
    if (left == sizeof(buffer_)) error_ = E2BIG;
    if (error_ != 0) return false;
    memmove(buffer_, at_, left);
    at_ = buffer_;
    end_ = buffer_ + left;
    ssize_t got;
    do got = read(fd_, end_, sizeof(buffer_) - left);
    while (got < 0 && errno == EINTR);
    if (got < 0) error_ = errno;
    if (got > 0) end_ += got;
    return got > 0;
  }

  static void Unescape(char* text) {
    char* out = text;
    for (; *text != '\0'; ++text, ++out) {
      const auto digit = [text](int i) { return text[i] >= '0' && text[i] <= '7'; };
      if (text[0] == '\\' && digit(1) && digit(2) && digit(3)) {
        *out = static_cast<char>((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
        text += 3;
      } else {
        *out = *text;
      }
    }
    *out = '\0';
  }

  // "36 35 98:0 /mnt1 /mnt2 rw,noatime ..."
  static bool Parse(char* text, Line* line) {
    char* fields[6];
    for (char*& field : fields) {
      field = text;
      text = strchr(text, ' ');
      if (text == nullptr) return false;
      *text++ = '\0';
    }
    line->id = atoi(fields[0]);
    line->parent = atoi(fields[1]);
    Unescape(fields[4]);
    line->path = fields[4];
    line->flags = 0;
    static constexpr struct {
      const char* name;
      unsigned long flag;
    } kOptions[] = {
        {"ro", MS_RDONLY}, {"nosuid", MS_NOSUID}, {"nodev", MS_NODEV}, {"noexec", MS_NOEXEC}};
    for (char* option = fields[5]; option != nullptr;) {
      char* next = strchr(option, ',');
      if (next != nullptr) *next++ = '\0';
      for (const auto& known : kOptions) {
        if (strcmp(option, known.name) == 0) line->flags |= known.flag;
      }
      option = next;
    }
    return true;
  }

  // Longer than a line can be: two paths and some words.
  char buffer_[3 * 4 * PATH_MAX];
  char* at_ = buffer_;
  char* end_ = buffer_;
  int fd_;
  int error_;
};

// The id of the mount that a descriptor is on, or the negative errno.
int MountIdOf(int proc_self, int fd) {
  char name[32] = "fdinfo/";
  char digits[12];
  int count = 0;
  int rest = fd;
  do digits[count++] = static_cast<char>('0' + rest % 10);
  while ((rest /= 10) != 0);
  size_t at = strlen(name);
  while (count > 0) name[at++] = digits[--count];
  name[at] = '\0';
  int info = openat(proc_self, name, O_RDONLY | O_CLOEXEC);
  if (info < 0) return -errno;
  char text[512];
  ssize_t got = read(info, text, sizeof(text) - 1);
  (void)close(info);
  if (got <= 0) return -EIO;
  text[got] = '\0';
  const char* found = strstr(text, "mnt_id:");
  return found == nullptr ? -ENOSYS : atoi(found + strlen("mnt_id:"));
}

class Tree {
 public:
  // Collects the mounts below a root. The table lists a mount after the one that it is on.
  int Collect(int proc_self, int root) {
    count_ = 0;
    ids_[count_++] = root;
    MountTable table(proc_self);
    Line line;
    while (table.Next(&line)) {
      if (!Has(line.parent) || Has(line.id)) continue;
      if (count_ == kMostMounts) return E2BIG;
      ids_[count_++] = line.id;
    }
    return table.error();
  }

  int Remount(int proc_self, unsigned long add) {
    MountTable table(proc_self);
    Line line;
    while (table.Next(&line)) {
      if (!Has(line.id) || IsOutOfReach(proc_self, line)) continue;
      // The kernel keeps the flags about access times where none is given.
      unsigned long flags = line.flags | add | MS_REMOUNT | MS_BIND;
      if (mount(nullptr, line.path, nullptr, flags, nullptr) != 0) return errno;
    }
    return table.error();
  }

  // Has every mount that can be reached the flags now?
  int Check(int proc_self, unsigned long wanted) {
    MountTable table(proc_self);
    Line line;
    while (table.Next(&line)) {
      if (!Has(line.id) || (line.flags & wanted) == wanted) continue;
      if (!IsOutOfReach(proc_self, line)) return EPERM;
    }
    return table.error();
  }

 private:
  bool Has(int id) const {
    for (int i = 0; i < count_; ++i) {
      if (ids_[i] == id) return true;
    }
    return false;
  }

  // Does its path lead to another mount that hides it, or is it somebody's own FUSE file system,
  // into which only its owner may look? No path inside leads there either.
  bool IsOutOfReach(int proc_self, const Line& line) const {
    if (line.id == ids_[0]) return false;
    int fd = open(line.path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return errno == EACCES || errno == ENOENT || errno == ENOTDIR;
    int id = MountIdOf(proc_self, fd);
    (void)close(fd);
    return id >= 0 && id != line.id;
  }

  int ids_[kMostMounts];
  int count_ = 0;
};

}  // namespace

int RemountTree(const MountState& state, int tree, unsigned long add) {
  if (state.proc_self < 0) return ENOENT;
  int root = MountIdOf(state.proc_self, tree);
  if (root < 0) return -root;
  Tree mounts;
  int error = mounts.Collect(state.proc_self, root);
  if (error == 0) error = mounts.Remount(state.proc_self, add);
  return error != 0 ? error : mounts.Check(state.proc_self, add);
}

int RemountDirectory(int directory, unsigned long flags) {
  if (fchdir(directory) != 0) return errno;
  int error = 0;
  if (mount(nullptr, ".", nullptr, MS_REMOUNT | MS_BIND | flags, nullptr) != 0) error = errno;
  return chdir("/") != 0 && error == 0 ? errno : error;
}

}  // namespace agent_exec::raw
