#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/raw.h"

namespace agent_exec::raw {
namespace {

#ifndef SYS_seccomp
#if defined(__x86_64__)
#define SYS_seccomp 317
#else
#define SYS_seccomp 277
#endif
#endif
constexpr unsigned kSeccompSetModeFilter = 1;

struct FilterProgram {  // struct sock_fprog
  unsigned short count;
  const void* instructions;
};

// Every switch off and locked: uid 0 means nothing to an exec, ids that change bring nothing, and
// nothing is kept or raised.
constexpr unsigned long kSecureBits =
    SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
    SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

}  // namespace

int DropPrivileges() {
  // First what needs capabilities itself. EINVAL: past the last one that the kernel knows.
  for (unsigned long capability = 0; capability < 64; ++capability) {
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0) continue;
    if (errno == EINVAL && capability > CAP_AUDIT_READ) break;
    return errno;
  }
  if (prctl(PR_SET_SECUREBITS, kSecureBits, 0, 0, 0) != 0) return errno;
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return errno;
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {};
  if (syscall(SYS_capset, &header, none) != 0) return errno;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  // A core may be written by a program of the host, or beside a file that the host looks at.
  const struct rlimit no_core = {0, 0};
  return setrlimit(RLIMIT_CORE, &no_core) == 0 ? 0 : errno;
}

int InstallFilter(const char* program, size_t size) {
  const FilterProgram filter = {static_cast<unsigned short>(size / 8), program};
  return syscall(SYS_seccomp, kSeccompSetModeFilter, 0, &filter) == 0 ? 0 : errno;
}

}  // namespace agent_exec::raw
