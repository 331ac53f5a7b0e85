#include "doctest/doctest.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/btrfs.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstddef>

#include "abi/linux_args.h"
#include "abi/linux_landlock.h"
#include "abi/linux_seccomp.h"

namespace agent_exec {
namespace {

TEST_SUITE("abi/linux") {
  TEST_CASE("the layouts are the kernel's") {
    CHECK(sizeof(SockFilter) == sizeof(sock_filter));
    CHECK(offsetof(SockFilter, jump_true) == offsetof(sock_filter, jt));
    CHECK(offsetof(SockFilter, jump_false) == offsetof(sock_filter, jf));
    CHECK(offsetof(SockFilter, k) == offsetof(sock_filter, k));
    CHECK(sizeof(SeccompData) == sizeof(seccomp_data));
    CHECK(kSeccompNrOffset == offsetof(seccomp_data, nr));
    CHECK(kSeccompArchOffset == offsetof(seccomp_data, arch));
    CHECK(kSeccompArgsOffset == offsetof(seccomp_data, args));
  }

  TEST_CASE("the rights of Landlock are those of this machine's headers") {
    CHECK(kLandlockExecute == LANDLOCK_ACCESS_FS_EXECUTE);
    CHECK(kLandlockWriteFile == LANDLOCK_ACCESS_FS_WRITE_FILE);
    CHECK(kLandlockReadFile == LANDLOCK_ACCESS_FS_READ_FILE);
    CHECK(kLandlockReadDir == LANDLOCK_ACCESS_FS_READ_DIR);
    CHECK(LandlockRights(1) == (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1);
#ifdef LANDLOCK_ACCESS_FS_REFER
    CHECK(kLandlockRefer == LANDLOCK_ACCESS_FS_REFER);
#endif
#ifdef LANDLOCK_ACCESS_FS_TRUNCATE
    CHECK(kLandlockTruncate == LANDLOCK_ACCESS_FS_TRUNCATE);
#endif
#ifdef LANDLOCK_ACCESS_FS_IOCTL_DEV
    CHECK(kLandlockIoctlDev == LANDLOCK_ACCESS_FS_IOCTL_DEV);
#endif
#ifdef LANDLOCK_SCOPE_SIGNAL
    CHECK(kLandlockScopeSignal == LANDLOCK_SCOPE_SIGNAL);
    CHECK(kLandlockScopeAbstractUnixSocket == LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET);
#endif
  }

  TEST_CASE("the constants of BPF and seccomp are those of this machine's headers") {
    CHECK(kBpfLoadWord == (BPF_LD | BPF_W | BPF_ABS));
    CHECK(kBpfJump == (BPF_JMP | BPF_JA));
    CHECK(kBpfJumpEqual == (BPF_JMP | BPF_JEQ | BPF_K));
    CHECK(kBpfJumpAtLeast == (BPF_JMP | BPF_JGE | BPF_K));
    CHECK(kBpfJumpAnyBit == (BPF_JMP | BPF_JSET | BPF_K));
    CHECK(kBpfReturn == (BPF_RET | BPF_K));
    CHECK(kBpfMaxInstructions == BPF_MAXINSNS);
    CHECK(kSeccompKillProcess == SECCOMP_RET_KILL_PROCESS);
    CHECK(kSeccompErrno == SECCOMP_RET_ERRNO);
    CHECK(kSeccompUserNotif == SECCOMP_RET_USER_NOTIF);
    CHECK(kSeccompAllow == SECCOMP_RET_ALLOW);
    CHECK(kSeccompActionMask == SECCOMP_RET_ACTION_FULL);
    CHECK(kSeccompDataMask == SECCOMP_RET_DATA);
    CHECK(kSeccompSetModeFilter == SECCOMP_SET_MODE_FILTER);
    CHECK(kSeccompFilterFlagNewListener == SECCOMP_FILTER_FLAG_NEW_LISTENER);
    CHECK(kAuditArchX86_64 == AUDIT_ARCH_X86_64);
    CHECK(kAuditArchAarch64 == AUDIT_ARCH_AARCH64);
    CHECK(kAuditArchI386 == AUDIT_ARCH_I386);
    CHECK(kAuditArchArm == AUDIT_ARCH_ARM);
    CHECK(kLinuxEperm == EPERM);
    CHECK(kLinuxEbusy == EBUSY);
    CHECK(kLinuxEnosys == ENOSYS);
    CHECK(kLinuxEprotonosupport == EPROTONOSUPPORT);
    CHECK(kLinuxEafnosupport == EAFNOSUPPORT);
  }

  TEST_CASE("the argument values are those of this machine's headers") {
    CHECK(kCloneVm == CLONE_VM);
    CHECK(kCloneFs == CLONE_FS);
    CHECK(kCloneFiles == CLONE_FILES);
    CHECK(kCloneSighand == CLONE_SIGHAND);
    CHECK(kCloneThread == CLONE_THREAD);
    CHECK(kCloneSysvsem == CLONE_SYSVSEM);
    CHECK(kCloneNamespaces == (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                               CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET));
    CHECK(kOpenCreate == O_CREAT);
    CHECK((kOpenTmpfileBit | O_DIRECTORY) == O_TMPFILE);
    CHECK(kModeSetuid == S_ISUID);
    CHECK(kModeSetgid == S_ISGID);
    CHECK(kIoctlTiocsti == TIOCSTI);
    CHECK(kIoctlTioclinux == TIOCLINUX);
    CHECK(kIoctlTiocsetd == TIOCSETD);
    CHECK(kIoctlBtrfsSnapCreate == BTRFS_IOC_SNAP_CREATE);
    CHECK(kIoctlBtrfsSnapCreateV2 == BTRFS_IOC_SNAP_CREATE_V2);
    CHECK(kIoctlBtrfsSubvolSetflags == BTRFS_IOC_SUBVOL_SETFLAGS);
    CHECK(kFamilyUnix == AF_UNIX);
    CHECK(kFamilyInet == AF_INET);
    CHECK(kFamilyInet6 == AF_INET6);
    CHECK(kFamilyNetlink == AF_NETLINK);
    CHECK(kNetlinkRoute == NETLINK_ROUTE);
    CHECK(kProtocolTcp == IPPROTO_TCP);
    CHECK(kProtocolUdp == IPPROTO_UDP);
    CHECK(kProtocolIcmp == IPPROTO_ICMP);
    CHECK(kProtocolIcmpv6 == IPPROTO_ICMPV6);
    CHECK(kProtocolUdplite == IPPROTO_UDPLITE);
    CHECK(kPriorityProcess == PRIO_PROCESS);
  }
}

}  // namespace
}  // namespace agent_exec

#endif  // __linux__
