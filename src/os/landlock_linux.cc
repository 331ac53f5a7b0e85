#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/linux_landlock.h"
#include "os/file_calls.h"
#include "os/raw.h"

namespace agent_exec::raw {
namespace {

// The same numbers on all architectures.
constexpr long kSysCreateRuleset = 444;
constexpr long kSysAddRule = 445;
constexpr long kSysRestrictSelf = 446;
constexpr int kRulePathBeneath = 1;

// Some kernels know less than the whole; the size says how much is meant.
struct RulesetAttr {
  uint64_t handled_fs;
  uint64_t handled_net;
  uint64_t scoped;
};
struct [[gnu::packed]] PathBeneath {
  uint64_t allowed;
  int32_t parent_fd;
};

int AddRule(int ruleset, int fd, uint64_t rights) {
  if (rights == 0) return 0;
  const PathBeneath rule = {rights, fd};
  if (syscall(kSysAddRule, ruleset, kRulePathBeneath, &rule, 0) == 0) return 0;
  // Only a directory has rights about what is in it; another is refused them.
  if (errno != EINVAL || (rights & ~kLandlockFileRights) == 0) return errno;
  return AddRule(ruleset, fd, rights & kLandlockFileRights);
}

// What is not there, or cannot be reached without the privileges that are gone, cannot be used
// either.
bool IsOutOfReach(int error) {
  return error == ENOENT || error == EACCES || error == ENOTDIR || error == ELOOP;
}

int AddPath(int ruleset, const LandlockRuleAct& rule) {
  int fd = OpenNode(rule.path);
  if (fd < 0) return IsOutOfReach(-fd) ? 0 : -fd;
  int error = AddRule(ruleset, fd, rule.rights);
  (void)close(fd);
  return error;
}

int AddEntries(int ruleset, const LandlockRuleAct& rule) {
  int directory = OpenWithoutSymlinks(AT_FDCWD, rule.path, O_RDONLY | O_DIRECTORY);
  // One that may be passed through and not listed: then the rights are those of the whole.
  if (directory == -EACCES) return AddPath(ruleset, rule);
  if (directory < 0) return -directory;
  alignas(8) char buffer[8192];
  int error = 0;
  long got = 0;
  while (error == 0 && (got = syscall(SYS_getdents64, directory, buffer, sizeof(buffer))) > 0) {
    for (long at = 0; at < got && error == 0;) {
      const char* entry = buffer + at;
      at += *reinterpret_cast<const uint16_t*>(entry + 16);  // d_reclen
      const char* name = entry + 19;                         // d_name
      // A link has no rights: what it leads to is asked for.
      if (entry[18] == DT_LNK) continue;  // d_type
      if (name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'))) continue;
      int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
      if (fd < 0) {
        error = IsOutOfReach(errno) ? 0 : errno;
        continue;
      }
      error = AddRule(ruleset, fd, rule.rights);
      (void)close(fd);
    }
  }
  if (got < 0 && error == 0) error = errno;
  (void)close(directory);
  return error;
}

int AddDescriptor(int ruleset, const LandlockRuleAct& rule) {
  int error = AddRule(ruleset, rule.fd, rule.rights);
  // EBADFD: of a kernel-internal file system (a memory file), to which Landlock gives all rights.
  return error == EBADFD ? 0 : error;
}

}  // namespace

int RestrictLandlock(const LandlockAct& act) {
  const RulesetAttr attr = {act.handled_fs, 0, act.scoped};
  const size_t size = act.scoped != 0 ? sizeof(attr) : sizeof(attr.handled_fs);
  int ruleset = static_cast<int>(syscall(kSysCreateRuleset, &attr, size, 0));
  if (ruleset < 0) return errno;
  int error = 0;
  for (const LandlockRuleAct& rule : act.rules) {
    error = rule.path == nullptr ? AddDescriptor(ruleset, rule)
            : rule.entries       ? AddEntries(ruleset, rule)
                                 : AddPath(ruleset, rule);
    if (error != 0) break;
  }
  if (error == 0 && syscall(kSysRestrictSelf, ruleset, 0) != 0) error = errno;
  (void)close(ruleset);
  return error;
}

}  // namespace agent_exec::raw
