// Run inside the sandbox by native_test.cc: tells what no shell can.
//
//   native_probe privileges     securebits, no_new_privs, core limit, and whether any capability
//   can
//                               be raised
//   native_probe open PATH FLAGS...   opens with the flags named (read, write, append, truncate)
//   and
//                               prints "ok" or the errno's name
//   native_probe pty            opens a terminal of its own, by the C library
//   native_probe kill PID       sends signal 0

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

int Privileges() {
  struct rlimit core = {1, 1};
  getrlimit(RLIMIT_CORE, &core);
  printf("securebits %#x no_new_privs %d core %lu/%lu\n",
         static_cast<unsigned>(prctl(PR_GET_SECUREBITS)), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
         static_cast<unsigned long>(core.rlim_cur), static_cast<unsigned long>(core.rlim_max));
  for (int capability = 0; capability < 64; ++capability) {
    if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1) printf("bounding %d\n", capability);
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) == 1) {
      printf("ambient %d\n", capability);
    }
  }
  if (prctl(PR_SET_SECUREBITS, 0) == 0) printf("securebits are not locked\n");
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct all[2] = {{1, 1, 1}, {0, 0, 0}};
  if (syscall(SYS_capset, &header, all) == 0) printf("a capability was raised\n");
  return 0;
}

int Open(int argc, char** argv) {
  int flags = O_CLOEXEC;
  for (int i = 3; i < argc; ++i) {
    if (strcmp(argv[i], "write") == 0) flags |= O_WRONLY;
    if (strcmp(argv[i], "append") == 0) flags |= O_APPEND;
    if (strcmp(argv[i], "truncate") == 0) flags |= O_TRUNC;
  }
  // Not to standard output, which is what is tried.
  fprintf(stderr, "%s\n", open(argv[2], flags) >= 0 ? "ok" : strerror(errno));
  return 0;
}

int Pty() {
  int leader = posix_openpt(O_RDWR | O_NOCTTY);
  if (leader < 0 || grantpt(leader) != 0 || unlockpt(leader) != 0) {
    printf("%s\n", strerror(errno));
    return 1;
  }
  const char* name = ptsname(leader);
  int follower = open(name, O_RDWR | O_NOCTTY);
  printf("%s %s\n", name, follower >= 0 && isatty(follower) == 1 ? "ok" : strerror(errno));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 2 && strcmp(argv[1], "privileges") == 0) return Privileges();
  if (argc >= 4 && strcmp(argv[1], "open") == 0) return Open(argc, argv);
  if (argc >= 2 && strcmp(argv[1], "pty") == 0) return Pty();
  if (argc >= 3 && strcmp(argv[1], "kill") == 0) {
    printf("%s\n", kill(atoi(argv[2]), 0) == 0 ? "ok" : strerror(errno));
    return 0;
  }
  return 2;
}
