#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "os/gather_parts.h"
#include "os/mount_calls_linux.h"
#include "os/unique_fd.h"

namespace agent_exec {
namespace {

constexpr long kSysLandlockCreateRuleset = 444;
constexpr unsigned kLandlockVersion = 1;

bool HasMountCalls() {
  // Flags that no kernel has: one that has the call says so. A filter says EPERM or ENOSYS.
  return syscall(raw::kSysOpenTree, -1, "", ~0u) != 0 && errno == EINVAL;
}

int LandlockAbi() {
  long version = syscall(kSysLandlockCreateRuleset, nullptr, 0, kLandlockVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

// May this process map more ids than its own? Root of a container often may not.
bool MayMapIds() {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2] = {};
  if (syscall(SYS_capget, &header, data) != 0) return false;
  // CAP_SETFCAP, for a map that has uid 0 in it: since Linux 5.12.
  constexpr uint32_t kNeeded = 1u << CAP_SETUID | 1u << CAP_SETGID | 1u << CAP_SETFCAP;
  return (data[0].effective & kNeeded) == kNeeded;
}

std::string ReadSmallFile(const char* path) {
  UniqueFd fd(open(path, O_RDONLY | O_CLOEXEC));
  // The kernel takes no longer map than a page.
  char text[4096];
  ssize_t size = fd.ok() ? read(fd.get(), text, sizeof(text)) : -1;
  return size <= 0 || size == sizeof(text) ? "" : std::string(text, static_cast<size_t>(size));
}

// Where a terminal's device lies, if the descriptor's own path still leads to it.
std::string TerminalPath(int fd) {
  char path[PATH_MAX];
  ssize_t size = readlink(absl::StrCat("/proc/self/fd/", fd).c_str(), path, sizeof(path) - 1);
  if (size <= 0) return "";
  path[size] = '\0';
  // /dev/tty is another terminal for each who opens it.
  if (!absl::StartsWith(path, "/dev/") || strcmp(path, "/dev/tty") == 0) return "";
  struct stat opened;
  struct stat named;
  if (fstat(fd, &opened) != 0 || lstat(path, &named) != 0 || !S_ISCHR(named.st_mode)) return "";
  const bool same = opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
  return same ? path : "";
}

}  // namespace

std::string MapOntoItself(const std::string& map) {
  std::string text;
  for (absl::string_view line : absl::StrSplit(map, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    uint32_t first = 0;
    uint32_t count = 0;
    if (words.size() != 3 || !absl::SimpleAtoi(words[0], &first) ||
        !absl::SimpleAtoi(words[2], &count) || count == 0) {
      return "";
    }
    absl::StrAppend(&text, first, " ", first, " ", count, "\n");
  }
  return text;
}

void GatherKernel(HostFacts* facts) {
  facts->mount_calls = HasMountCalls();
  facts->landlock_abi = LandlockAbi();
  if (facts->uid == 0 && MayMapIds()) {
    facts->full_uid_map = MapOntoItself(ReadSmallFile("/proc/self/uid_map"));
    facts->full_gid_map = MapOntoItself(ReadSmallFile("/proc/self/gid_map"));
  }
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const bool is_terminal = fd == STDIN_FILENO    ? facts->stdin_is_tty
                             : fd == STDOUT_FILENO ? facts->stdout_is_tty
                                                   : facts->stderr_is_tty;
    if (is_terminal && facts->terminal_path.empty()) facts->terminal_path = TerminalPath(fd);
  }
}

}  // namespace agent_exec
