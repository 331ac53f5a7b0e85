#include "kernel/old_kernel.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>

namespace agent_exec {

// The same numbers on all architectures: they came after the tables were joined.
constexpr unsigned kPidfdOpen = 434;
constexpr unsigned kCloseRange = 436;
constexpr unsigned kOpenat2 = 437;
constexpr unsigned kMountSetattr = 442;

static void Load(sock_filter* program, unsigned short size) {
  sock_fprog filter = {size, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    abort();
  }
}

void PretendOldKernel(int answer) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kPidfdOpen, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kCloseRange, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kOpenat2, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(answer)),
  };
  Load(program, sizeof(program) / sizeof(program[0]));
}

void PretendNoMountAttributes() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMountSetattr, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
  };
  Load(program, sizeof(program) / sizeof(program[0]));
}

}  // namespace agent_exec
