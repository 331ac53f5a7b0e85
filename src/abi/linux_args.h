#pragma once

#include <cstdint>

// Argument values of system calls that the filter compares; the same on x86_64 and aarch64.
// Source: linux/sched.h, asm-generic/fcntl.h, linux/stat.h, asm-generic/ioctls.h, linux/tiocl.h,
// linux/socket.h, linux/in.h, linux/netlink.h, linux/resource.h, linux/ioprio.h (the user-space
// ABI).

namespace agent_exec {

// clone(2), unshare(2).
inline constexpr uint32_t kCloneVm = 0x00000100;
inline constexpr uint32_t kCloneFs = 0x00000200;
inline constexpr uint32_t kCloneFiles = 0x00000400;
inline constexpr uint32_t kCloneSighand = 0x00000800;
inline constexpr uint32_t kCloneThread = 0x00010000;
inline constexpr uint32_t kCloneNewns = 0x00020000;
inline constexpr uint32_t kCloneSysvsem = 0x00040000;
inline constexpr uint32_t kCloneNewcgroup = 0x02000000;
inline constexpr uint32_t kCloneNewuts = 0x04000000;
inline constexpr uint32_t kCloneNewipc = 0x08000000;
inline constexpr uint32_t kCloneNewuser = 0x10000000;
inline constexpr uint32_t kCloneNewpid = 0x20000000;
inline constexpr uint32_t kCloneNewnet = 0x40000000;
// Every namespace flag of clone(2). CLONE_NEWTIME is not one: its bit is part of the exit signal
// there.
inline constexpr uint32_t kCloneNamespaces = kCloneNewns | kCloneNewcgroup | kCloneNewuts |
                                             kCloneNewipc | kCloneNewuser | kCloneNewpid |
                                             kCloneNewnet;

// open(2). O_TMPFILE is this bit and O_DIRECTORY, whose value differs between the two ABIs.
inline constexpr uint32_t kOpenCreate = 0x00000040;
inline constexpr uint32_t kOpenTmpfileBit = 0x00400000;

// chmod(2).
inline constexpr uint32_t kModeSetuid = 04000;
inline constexpr uint32_t kModeSetgid = 02000;

// ioctl(2) on terminals.
inline constexpr uint32_t kIoctlTiocsti = 0x5412;
inline constexpr uint32_t kIoctlTioclinux = 0x541c;
inline constexpr uint32_t kIoctlTiocsetd = 0x5423;
inline constexpr uint32_t kIoctlBtrfsSnapCreate = 0x50009401;
inline constexpr uint32_t kIoctlBtrfsSnapCreateV2 = 0x50009417;
inline constexpr uint32_t kIoctlBtrfsSubvolSetflags = 0x4008941a;

// socket(2).
inline constexpr uint32_t kFamilyUnix = 1;
inline constexpr uint32_t kFamilyInet = 2;
inline constexpr uint32_t kFamilyInet6 = 10;
inline constexpr uint32_t kFamilyNetlink = 16;
inline constexpr uint32_t kNetlinkRoute = 0;
inline constexpr uint32_t kProtocolDefault = 0;
inline constexpr uint32_t kProtocolIcmp = 1;
inline constexpr uint32_t kProtocolTcp = 6;
inline constexpr uint32_t kProtocolUdp = 17;
inline constexpr uint32_t kProtocolIcmpv6 = 58;
inline constexpr uint32_t kProtocolUdplite = 136;
inline constexpr uint32_t kProtocolMptcp = 262;

// setpriority(2), ioprio_set(2): "this process" is who 0 of this kind.
inline constexpr uint32_t kPriorityProcess = 0;
inline constexpr uint32_t kIoprioProcess = 1;

}  // namespace agent_exec
