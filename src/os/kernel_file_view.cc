#include "os/kernel_file_view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/path.h"
#include "os/file_calls.h"
#include "os/node_info.h"
#include "os/unique_fd.h"

namespace agent_exec {
namespace {

// A non-blocking open: a FIFO without a writer, or a terminal, must not hold up or become ours.
constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr int kMaxSymlinks = 40;  // the kernel's own bound

// A path with a terminating NUL on the stack. What the kernel would cut off at a NUL is an error
// instead.
class CPath {
 public:
  explicit CPath(absl::string_view path) {
    if (path.size() >= sizeof(text_)) {
      error_ = ENAMETOOLONG;
    } else if (path.empty() || memchr(path.data(), '\0', path.size()) != nullptr) {
      error_ = ENOENT;
    } else {
      memcpy(text_, path.data(), path.size());
      text_[path.size()] = '\0';
    }
  }
  int error() const { return error_; }
  const char* c_str() const { return text_; }

 private:
  int error_ = 0;
  char text_[PATH_MAX];
};

// Reads a regular file to its end. The size that stat gives is a hint: files of procfs claim none.
int ReadDescriptor(int fd, size_t max_bytes, std::string* bytes, NodeInfo* info) {
  struct stat st;
  if (fstat(fd, &st) != 0) return errno;
  if (!S_ISREG(st.st_mode)) return EINVAL;
  if (static_cast<uint64_t>(st.st_size) > max_bytes) return EFBIG;
  // Small ones by way of the stack: a string is cleared before it can be read into.
  char small[8192];
  std::string content;
  size_t expected = static_cast<size_t>(st.st_size);
  if (expected >= sizeof(small)) content.reserve(expected + 1);
  for (;;) {
    ssize_t got = read(fd, small, sizeof(small));
    if (got < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (got == 0) break;
    content.append(small, static_cast<size_t>(got));
    if (content.size() > max_bytes) return EFBIG;
  }
  *bytes = std::move(content);
  *info = NodeInfoOf(st);
  return 0;
}

int ReadLinkAt(const char* path, std::string* target) {
  char buffer[PATH_MAX];
  ssize_t size = readlink(path, buffer, sizeof(buffer));
  if (size < 0) return errno;
  if (static_cast<size_t>(size) == sizeof(buffer)) return ENAMETOOLONG;
  target->assign(buffer, static_cast<size_t>(size));
  return 0;
}

// One step of the walk: `current` grows by a component, or `rest` by the text of a link.
int WalkComponent(std::string* current, std::string* rest, int* links) {
  size_t slash = rest->find('/');
  std::string component = rest->substr(0, slash);
  rest->erase(0, slash == std::string::npos ? rest->size() : slash + 1);
  bool must_be_directory = slash != std::string::npos;
  if (component == "..") {
    *current = std::string(Dirname(*current));
    return 0;
  }
  if (component.empty() || component == ".") return 0;
  std::string next = Join(*current, component);
  struct stat st;
  if (lstat(next.c_str(), &st) != 0) return errno;
  if (S_ISLNK(st.st_mode)) {
    if (++*links > kMaxSymlinks) return ELOOP;
    std::string target;
    if (int error = ReadLinkAt(next.c_str(), &target); error != 0) return error;
    if (target.empty()) return ENOENT;
    if (target[0] == '/') *current = "/";
    *rest = must_be_directory ? target + "/" + *rest : target;
    return 0;
  }
  if (must_be_directory && !S_ISDIR(st.st_mode)) return ENOTDIR;
  *current = std::move(next);
  return 0;
}

}  // namespace

NodeType NodeTypeOf(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return NodeType::kFile;
    case S_IFDIR:
      return NodeType::kDirectory;
    case S_IFLNK:
      return NodeType::kSymlink;
    case S_IFSOCK:
      return NodeType::kSocket;
    case S_IFIFO:
      return NodeType::kFifo;
    case S_IFCHR:
      return NodeType::kCharDevice;
    case S_IFBLK:
      return NodeType::kBlockDevice;
    default:
      return NodeType::kUnknown;
  }
}

NodeInfo NodeInfoOf(const struct stat& st) {
  NodeInfo info;
  info.type = NodeTypeOf(st.st_mode);
  info.mode = st.st_mode & 07777;
  info.uid = st.st_uid;
  info.gid = st.st_gid;
  info.device = static_cast<uint64_t>(st.st_dev);
  info.inode = st.st_ino;
  info.links = st.st_nlink;
  info.size_bytes = st.st_size;
#ifdef __APPLE__
  info.mtime_s = st.st_mtimespec.tv_sec;
#else
  info.mtime_s = st.st_mtim.tv_sec;
#endif
  return info;
}

int KernelFileView::Lstat(absl::string_view path, NodeInfo* info) {
  CPath c_path(path);
  if (c_path.error() != 0) return c_path.error();
  struct stat st;
  if (lstat(c_path.c_str(), &st) != 0) return errno;
  *info = NodeInfoOf(st);
  return 0;
}

int KernelFileView::ReadLink(absl::string_view path, std::string* target) {
  CPath c_path(path);
  if (c_path.error() != 0) return c_path.error();
  return ReadLinkAt(c_path.c_str(), target);
}

int KernelFileView::Resolve(absl::string_view path, std::string* real_path, NodeInfo* info) {
  CPath c_path(path);
  if (c_path.error() != 0) return c_path.error();
  char buffer[PATH_MAX];
  int error = ResolveByDescriptor(c_path.c_str(), buffer, sizeof(buffer), info);
  if (error == ENOSYS) return ResolveByWalking(path, real_path, info);
  if (error == 0) *real_path = buffer;
  return error;
}

int KernelFileView::ResolveByWalking(absl::string_view path, std::string* real_path,
                                     NodeInfo* info) {
  CPath c_path(path);
  if (c_path.error() != 0) return c_path.error();
  std::string current = "/";
  std::string rest(path);
  int links = 0;
  while (!rest.empty()) {
    if (int error = WalkComponent(&current, &rest, &links); error != 0) return error;
    if (current.size() + rest.size() >= PATH_MAX) return ENAMETOOLONG;
  }
  struct stat st;
  if (lstat(current.c_str(), &st) != 0) return errno;
  *info = NodeInfoOf(st);
  *real_path = std::move(current);
  return 0;
}

int KernelFileView::ListDir(absl::string_view path, std::vector<DirEntry>* entries) {
  CPath c_path(path);
  if (c_path.error() != 0) return c_path.error();
  UniqueFd fd(open(c_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.ok()) return errno;
  return ListDescriptor(fd.get(), entries);
}

int KernelFileView::Read(absl::string_view path, size_t max_bytes, std::string* bytes,
                         NodeInfo* info) {
  CPath c_path(path);
  if (c_path.error() != 0) return c_path.error();
  UniqueFd fd(open(c_path.c_str(), kReadFlags));
  // A socket, or a device without a driver, cannot even be opened.
  if (!fd.ok()) return errno == ENXIO || errno == ENODEV ? EINVAL : errno;
  return ReadDescriptor(fd.get(), max_bytes, bytes, info);
}

int KernelFileView::ReadBeneath(absl::string_view directory, absl::string_view name,
                                size_t max_bytes, std::string* bytes, NodeInfo* info) {
  CPath c_directory(directory);
  CPath c_name(name);
  if (c_directory.error() != 0) return c_directory.error();
  if (c_name.error() != 0) return c_name.error();
  UniqueFd parent(open(c_directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK));
  int fd = -ENOSYS;
  if (parent.ok()) {
    fd = OpenBeneath(parent.get(), c_name.c_str(), kReadFlags);
  } else if (errno != EACCES) {  // a directory that may be searched and not listed is read below
    return errno;
  }
  if (fd != -ENOSYS) {
    if (fd < 0) return fd == -ENXIO || fd == -ENODEV ? EINVAL : -fd;
    UniqueFd file(fd);
    return ReadDescriptor(file.get(), max_bytes, bytes, info);
  }
  // By hand: what the name leads to must lie below the directory, and must be what is then opened.
  std::string real_directory;
  std::string real_path;
  NodeInfo seen;
  if (int error = Resolve(directory, &real_directory, &seen); error != 0) return error;
  if (int error = Resolve(Join(real_directory, name), &real_path, &seen); error != 0) return error;
  if (!IsUnder(real_path, real_directory)) return EXDEV;
  std::string content;
  NodeInfo opened;
  if (int error = Read(real_path, max_bytes, &content, &opened); error != 0) return error;
  if (opened.device != seen.device || opened.inode != seen.inode) return EXDEV;
  *bytes = std::move(content);
  *info = opened;
  return 0;
}

}  // namespace agent_exec
