#include "seccomp/call_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "abi/linux_args.h"
#include "abi/linux_seccomp.h"
#include "abi/syscall_names.h"

namespace agent_exec {
namespace {

constexpr CallRow Allow(const char* name, CallGroup group) {
  return {name, group, CallWhen::kAlways, CallRule::kAllow, ""};
}

constexpr CallRow kCallTable[] = {
    Allow("read", CallGroup::kInputOutput),
    Allow("write", CallGroup::kInputOutput),
    Allow("readv", CallGroup::kInputOutput),
    Allow("writev", CallGroup::kInputOutput),
    Allow("pread64", CallGroup::kInputOutput),
    Allow("pwrite64", CallGroup::kInputOutput),
    Allow("preadv", CallGroup::kInputOutput),
    Allow("pwritev", CallGroup::kInputOutput),
    Allow("preadv2", CallGroup::kInputOutput),
    Allow("pwritev2", CallGroup::kInputOutput),
    Allow("lseek", CallGroup::kInputOutput),
    Allow("close", CallGroup::kInputOutput),
    Allow("close_range", CallGroup::kInputOutput),
    Allow("dup", CallGroup::kInputOutput),
    Allow("dup2", CallGroup::kInputOutput),
    Allow("dup3", CallGroup::kInputOutput),
    Allow("fcntl", CallGroup::kInputOutput),
    Allow("flock", CallGroup::kInputOutput),
    Allow("poll", CallGroup::kInputOutput),
    Allow("ppoll", CallGroup::kInputOutput),
    Allow("select", CallGroup::kInputOutput),
    Allow("pselect6", CallGroup::kInputOutput),
    Allow("epoll_create", CallGroup::kInputOutput),
    Allow("epoll_create1", CallGroup::kInputOutput),
    Allow("epoll_ctl", CallGroup::kInputOutput),
    Allow("epoll_wait", CallGroup::kInputOutput),
    Allow("epoll_pwait", CallGroup::kInputOutput),
    Allow("epoll_pwait2", CallGroup::kInputOutput),
    Allow("eventfd", CallGroup::kInputOutput),
    Allow("eventfd2", CallGroup::kInputOutput),
    Allow("pipe", CallGroup::kInputOutput),
    Allow("pipe2", CallGroup::kInputOutput),
    Allow("splice", CallGroup::kInputOutput),
    Allow("tee", CallGroup::kInputOutput),
    Allow("vmsplice", CallGroup::kInputOutput),
    Allow("sendfile", CallGroup::kInputOutput),
    Allow("copy_file_range", CallGroup::kInputOutput),
    Allow("readahead", CallGroup::kInputOutput),
    Allow("fadvise64", CallGroup::kInputOutput),
    Allow("fallocate", CallGroup::kInputOutput),
    Allow("truncate", CallGroup::kInputOutput),
    Allow("ftruncate", CallGroup::kInputOutput),
    Allow("fsync", CallGroup::kInputOutput),
    Allow("fdatasync", CallGroup::kInputOutput),
    Allow("sync", CallGroup::kInputOutput),
    Allow("syncfs", CallGroup::kInputOutput),
    Allow("sync_file_range", CallGroup::kInputOutput),
    Allow("io_setup", CallGroup::kInputOutput),
    Allow("io_destroy", CallGroup::kInputOutput),
    Allow("io_submit", CallGroup::kInputOutput),
    Allow("io_cancel", CallGroup::kInputOutput),
    Allow("io_getevents", CallGroup::kInputOutput),
    Allow("io_pgetevents", CallGroup::kInputOutput),

    Allow("stat", CallGroup::kFiles),
    Allow("fstat", CallGroup::kFiles),
    Allow("lstat", CallGroup::kFiles),
    Allow("newfstatat", CallGroup::kFiles),
    Allow("statx", CallGroup::kFiles),
    Allow("statfs", CallGroup::kFiles),
    Allow("fstatfs", CallGroup::kFiles),
    Allow("ustat", CallGroup::kFiles),
    Allow("sysfs", CallGroup::kFiles),
    Allow("access", CallGroup::kFiles),
    Allow("faccessat", CallGroup::kFiles),
    Allow("faccessat2", CallGroup::kFiles),
    Allow("getdents", CallGroup::kFiles),
    Allow("getdents64", CallGroup::kFiles),
    Allow("readlink", CallGroup::kFiles),
    Allow("readlinkat", CallGroup::kFiles),
    Allow("getcwd", CallGroup::kFiles),
    Allow("chdir", CallGroup::kFiles),
    Allow("fchdir", CallGroup::kFiles),
    Allow("mkdir", CallGroup::kFiles),
    Allow("mkdirat", CallGroup::kFiles),
    Allow("rmdir", CallGroup::kFiles),
    Allow("link", CallGroup::kFiles),
    Allow("linkat", CallGroup::kFiles),
    Allow("symlink", CallGroup::kFiles),
    Allow("symlinkat", CallGroup::kFiles),
    Allow("unlink", CallGroup::kFiles),
    Allow("unlinkat", CallGroup::kFiles),
    Allow("rename", CallGroup::kFiles),
    Allow("renameat", CallGroup::kFiles),
    Allow("renameat2", CallGroup::kFiles),
    Allow("umask", CallGroup::kFiles),
    Allow("utime", CallGroup::kFiles),
    Allow("utimes", CallGroup::kFiles),
    Allow("futimesat", CallGroup::kFiles),
    Allow("utimensat", CallGroup::kFiles),
    Allow("setxattr", CallGroup::kFiles),
    Allow("lsetxattr", CallGroup::kFiles),
    Allow("fsetxattr", CallGroup::kFiles),
    Allow("setxattrat", CallGroup::kFiles),
    Allow("getxattr", CallGroup::kFiles),
    Allow("lgetxattr", CallGroup::kFiles),
    Allow("fgetxattr", CallGroup::kFiles),
    Allow("getxattrat", CallGroup::kFiles),
    Allow("listxattr", CallGroup::kFiles),
    Allow("llistxattr", CallGroup::kFiles),
    Allow("flistxattr", CallGroup::kFiles),
    Allow("listxattrat", CallGroup::kFiles),
    Allow("removexattr", CallGroup::kFiles),
    Allow("lremovexattr", CallGroup::kFiles),
    Allow("fremovexattr", CallGroup::kFiles),
    Allow("removexattrat", CallGroup::kFiles),
    Allow("file_getattr", CallGroup::kFiles),
    Allow("file_setattr", CallGroup::kFiles),
    Allow("inotify_init", CallGroup::kFiles),
    Allow("inotify_init1", CallGroup::kFiles),
    Allow("inotify_add_watch", CallGroup::kFiles),
    Allow("inotify_rm_watch", CallGroup::kFiles),
    Allow("name_to_handle_at", CallGroup::kFiles),
    Allow("cachestat", CallGroup::kFiles),
    {"openat2", CallGroup::kFiles, CallWhen::kUnlessOpenat2, CallRule::kEnosys,
     "its mode lies in memory, where no filter can look for a set-id bit; ENOSYS, since that has a "
     "fallback"},

    {"open", CallGroup::kSetId, CallWhen::kAlways, CallRule::kOpen, "a new file with a set-id bit"},
    {"openat", CallGroup::kSetId, CallWhen::kAlways, CallRule::kOpenat,
     "a new file with a set-id bit"},
    {"creat", CallGroup::kSetId, CallWhen::kAlways, CallRule::kCreat,
     "a new file with a set-id bit"},
    {"mknod", CallGroup::kSetId, CallWhen::kAlways, CallRule::kMknod,
     "a new file with a set-id bit"},
    {"mknodat", CallGroup::kSetId, CallWhen::kAlways, CallRule::kMknodAt,
     "a new file with a set-id bit"},
    {"chmod", CallGroup::kSetId, CallWhen::kAlways, CallRule::kChmod,
     "a set-id bit outlives the sandbox"},
    {"fchmod", CallGroup::kSetId, CallWhen::kAlways, CallRule::kChmod,
     "a set-id bit outlives the sandbox"},
    {"fchmodat", CallGroup::kSetId, CallWhen::kAlways, CallRule::kChmodAt,
     "a set-id bit outlives the sandbox"},
    {"fchmodat2", CallGroup::kSetId, CallWhen::kAlways, CallRule::kChmodAt,
     "a set-id bit outlives the sandbox"},

    {"chown", CallGroup::kOwnership, CallWhen::kIgnoreChown, CallRule::kSucceed,
     "uid 0 without CAP_CHOWN: tar and cp -a expect to succeed"},
    {"fchown", CallGroup::kOwnership, CallWhen::kIgnoreChown, CallRule::kSucceed,
     "uid 0 without CAP_CHOWN: tar and cp -a expect to succeed"},
    {"lchown", CallGroup::kOwnership, CallWhen::kIgnoreChown, CallRule::kSucceed,
     "uid 0 without CAP_CHOWN: tar and cp -a expect to succeed"},
    {"fchownat", CallGroup::kOwnership, CallWhen::kIgnoreChown, CallRule::kSucceed,
     "uid 0 without CAP_CHOWN: tar and cp -a expect to succeed"},

    Allow("brk", CallGroup::kMemory),
    Allow("mmap", CallGroup::kMemory),
    Allow("munmap", CallGroup::kMemory),
    Allow("mremap", CallGroup::kMemory),
    Allow("mprotect", CallGroup::kMemory),
    Allow("madvise", CallGroup::kMemory),
    Allow("mincore", CallGroup::kMemory),
    Allow("msync", CallGroup::kMemory),
    Allow("mlock", CallGroup::kMemory),
    Allow("mlock2", CallGroup::kMemory),
    Allow("mlockall", CallGroup::kMemory),
    Allow("munlock", CallGroup::kMemory),
    Allow("munlockall", CallGroup::kMemory),
    Allow("mseal", CallGroup::kMemory),
    Allow("remap_file_pages", CallGroup::kMemory),
    Allow("memfd_create", CallGroup::kMemory),
    Allow("memfd_secret", CallGroup::kMemory),
    Allow("pkey_alloc", CallGroup::kMemory),
    Allow("pkey_free", CallGroup::kMemory),
    Allow("pkey_mprotect", CallGroup::kMemory),
    Allow("map_shadow_stack", CallGroup::kMemory),
    Allow("mbind", CallGroup::kMemory),
    Allow("get_mempolicy", CallGroup::kMemory),
    Allow("set_mempolicy", CallGroup::kMemory),
    Allow("set_mempolicy_home_node", CallGroup::kMemory),
    Allow("migrate_pages", CallGroup::kMemory),
    Allow("move_pages", CallGroup::kMemory),
    Allow("membarrier", CallGroup::kMemory),
    {"userfaultfd", CallGroup::kMemory, CallWhen::kAlways, CallRule::kEperm,
     "stops the kernel inside a copy: a tool to win races in it"},

    Allow("fork", CallGroup::kProcesses),
    Allow("vfork", CallGroup::kProcesses),
    Allow("execve", CallGroup::kProcesses),
    Allow("execveat", CallGroup::kProcesses),
    Allow("exit", CallGroup::kProcesses),
    Allow("exit_group", CallGroup::kProcesses),
    Allow("wait4", CallGroup::kProcesses),
    Allow("waitid", CallGroup::kProcesses),
    Allow("restart_syscall", CallGroup::kProcesses),
    Allow("set_tid_address", CallGroup::kProcesses),
    Allow("set_robust_list", CallGroup::kProcesses),
    Allow("get_robust_list", CallGroup::kProcesses),
    Allow("rseq", CallGroup::kProcesses),
    Allow("rseq_slice_yield", CallGroup::kProcesses),
    Allow("futex", CallGroup::kProcesses),
    Allow("futex_wait", CallGroup::kProcesses),
    Allow("futex_wake", CallGroup::kProcesses),
    Allow("futex_waitv", CallGroup::kProcesses),
    Allow("futex_requeue", CallGroup::kProcesses),
    Allow("getpid", CallGroup::kProcesses),
    Allow("getppid", CallGroup::kProcesses),
    Allow("gettid", CallGroup::kProcesses),
    Allow("getpgid", CallGroup::kProcesses),
    Allow("getpgrp", CallGroup::kProcesses),
    Allow("setpgid", CallGroup::kProcesses),
    Allow("getsid", CallGroup::kProcesses),
    Allow("setsid", CallGroup::kProcesses),
    Allow("getrusage", CallGroup::kProcesses),
    Allow("getrlimit", CallGroup::kProcesses),
    Allow("setrlimit", CallGroup::kProcesses),
    Allow("times", CallGroup::kProcesses),
    Allow("getcpu", CallGroup::kProcesses),
    Allow("sysinfo", CallGroup::kProcesses),
    Allow("uname", CallGroup::kProcesses),
    Allow("getrandom", CallGroup::kProcesses),
    Allow("prctl", CallGroup::kProcesses),
    Allow("arch_prctl", CallGroup::kProcesses),
    Allow("personality", CallGroup::kProcesses),
    Allow("pidfd_open", CallGroup::kProcesses),
    Allow("pidfd_getfd", CallGroup::kProcesses),
    Allow("ptrace", CallGroup::kProcesses),
    Allow("process_vm_readv", CallGroup::kProcesses),
    Allow("process_vm_writev", CallGroup::kProcesses),
    Allow("process_madvise", CallGroup::kProcesses),
    Allow("process_mrelease", CallGroup::kProcesses),
    Allow("kcmp", CallGroup::kProcesses),
    Allow("uretprobe", CallGroup::kProcesses),
    Allow("uprobe", CallGroup::kProcesses),
    {"clone", CallGroup::kProcesses, CallWhen::kUnlessNested, CallRule::kClone, "a new namespace"},
    {"clone3", CallGroup::kProcesses, CallWhen::kUnlessNested, CallRule::kEnosys,
     "its flags lie in memory; ENOSYS makes a libc use clone"},

    Allow("sched_yield", CallGroup::kForeignPids),
    Allow("sched_getaffinity", CallGroup::kForeignPids),
    Allow("sched_getattr", CallGroup::kForeignPids),
    Allow("sched_getparam", CallGroup::kForeignPids),
    Allow("sched_getscheduler", CallGroup::kForeignPids),
    Allow("sched_get_priority_max", CallGroup::kForeignPids),
    Allow("sched_get_priority_min", CallGroup::kForeignPids),
    Allow("sched_rr_get_interval", CallGroup::kForeignPids),
    Allow("getpriority", CallGroup::kForeignPids),
    Allow("ioprio_get", CallGroup::kForeignPids),
    {"prlimit64", CallGroup::kForeignPids, CallWhen::kHostPids, CallRule::kPidInFirst,
     "limits of a process of the host"},
    {"sched_setaffinity", CallGroup::kForeignPids, CallWhen::kHostPids, CallRule::kPidInFirst,
     "scheduling of a process of the host"},
    {"sched_setattr", CallGroup::kForeignPids, CallWhen::kHostPids, CallRule::kPidInFirst,
     "scheduling of a process of the host"},
    {"sched_setparam", CallGroup::kForeignPids, CallWhen::kHostPids, CallRule::kPidInFirst,
     "scheduling of a process of the host"},
    {"sched_setscheduler", CallGroup::kForeignPids, CallWhen::kHostPids, CallRule::kPidInFirst,
     "scheduling of a process of the host"},
    {"setpriority", CallGroup::kForeignPids, CallWhen::kHostPids, CallRule::kSetpriority,
     "priority of processes of the host; a process group or a user is foreign too"},
    {"ioprio_set", CallGroup::kForeignPids, CallWhen::kHostPids, CallRule::kIoprioSet,
     "priority of processes of the host; a process group or a user is foreign too"},

    Allow("getuid", CallGroup::kIdentity),
    Allow("geteuid", CallGroup::kIdentity),
    Allow("getgid", CallGroup::kIdentity),
    Allow("getegid", CallGroup::kIdentity),
    Allow("getresuid", CallGroup::kIdentity),
    Allow("getresgid", CallGroup::kIdentity),
    Allow("getgroups", CallGroup::kIdentity),
    Allow("setuid", CallGroup::kIdentity),
    Allow("setgid", CallGroup::kIdentity),
    Allow("setreuid", CallGroup::kIdentity),
    Allow("setregid", CallGroup::kIdentity),
    Allow("setresuid", CallGroup::kIdentity),
    Allow("setresgid", CallGroup::kIdentity),
    Allow("setfsuid", CallGroup::kIdentity),
    Allow("setfsgid", CallGroup::kIdentity),
    Allow("setgroups", CallGroup::kIdentity),
    Allow("capget", CallGroup::kIdentity),
    Allow("capset", CallGroup::kIdentity),

    Allow("kill", CallGroup::kSignals),
    Allow("tkill", CallGroup::kSignals),
    Allow("tgkill", CallGroup::kSignals),
    Allow("rt_sigaction", CallGroup::kSignals),
    Allow("rt_sigprocmask", CallGroup::kSignals),
    Allow("rt_sigpending", CallGroup::kSignals),
    Allow("rt_sigqueueinfo", CallGroup::kSignals),
    Allow("rt_tgsigqueueinfo", CallGroup::kSignals),
    Allow("rt_sigreturn", CallGroup::kSignals),
    Allow("rt_sigsuspend", CallGroup::kSignals),
    Allow("rt_sigtimedwait", CallGroup::kSignals),
    Allow("sigaltstack", CallGroup::kSignals),
    Allow("signalfd", CallGroup::kSignals),
    Allow("signalfd4", CallGroup::kSignals),
    Allow("pidfd_send_signal", CallGroup::kSignals),
    Allow("pause", CallGroup::kSignals),

    Allow("time", CallGroup::kTime),
    Allow("gettimeofday", CallGroup::kTime),
    Allow("clock_gettime", CallGroup::kTime),
    Allow("clock_getres", CallGroup::kTime),
    Allow("nanosleep", CallGroup::kTime),
    Allow("clock_nanosleep", CallGroup::kTime),
    Allow("alarm", CallGroup::kTime),
    Allow("getitimer", CallGroup::kTime),
    Allow("setitimer", CallGroup::kTime),
    Allow("timer_create", CallGroup::kTime),
    Allow("timer_delete", CallGroup::kTime),
    Allow("timer_getoverrun", CallGroup::kTime),
    Allow("timer_gettime", CallGroup::kTime),
    Allow("timer_settime", CallGroup::kTime),
    Allow("timerfd_create", CallGroup::kTime),
    Allow("timerfd_gettime", CallGroup::kTime),
    Allow("timerfd_settime", CallGroup::kTime),
    Allow("adjtimex", CallGroup::kTime),
    Allow("clock_adjtime", CallGroup::kTime),

    Allow("shmget", CallGroup::kIpc),
    Allow("shmat", CallGroup::kIpc),
    Allow("shmctl", CallGroup::kIpc),
    Allow("shmdt", CallGroup::kIpc),
    Allow("semget", CallGroup::kIpc),
    Allow("semop", CallGroup::kIpc),
    Allow("semtimedop", CallGroup::kIpc),
    Allow("semctl", CallGroup::kIpc),
    Allow("msgget", CallGroup::kIpc),
    Allow("msgsnd", CallGroup::kIpc),
    Allow("msgrcv", CallGroup::kIpc),
    Allow("msgctl", CallGroup::kIpc),
    Allow("mq_open", CallGroup::kIpc),
    Allow("mq_unlink", CallGroup::kIpc),
    Allow("mq_timedsend", CallGroup::kIpc),
    Allow("mq_timedreceive", CallGroup::kIpc),
    Allow("mq_notify", CallGroup::kIpc),
    Allow("mq_getsetattr", CallGroup::kIpc),

    Allow("connect", CallGroup::kSockets),
    Allow("bind", CallGroup::kSockets),
    Allow("listen", CallGroup::kSockets),
    Allow("accept", CallGroup::kSockets),
    Allow("accept4", CallGroup::kSockets),
    Allow("getsockname", CallGroup::kSockets),
    Allow("getpeername", CallGroup::kSockets),
    Allow("getsockopt", CallGroup::kSockets),
    Allow("setsockopt", CallGroup::kSockets),
    Allow("sendto", CallGroup::kSockets),
    Allow("sendmsg", CallGroup::kSockets),
    Allow("sendmmsg", CallGroup::kSockets),
    Allow("recvfrom", CallGroup::kSockets),
    Allow("recvmsg", CallGroup::kSockets),
    Allow("recvmmsg", CallGroup::kSockets),
    Allow("shutdown", CallGroup::kSockets),
    {"socket", CallGroup::kSockets, CallWhen::kAlways, CallRule::kSocket,
     "families that reach a hypervisor, a device or rarely tried kernel code"},
    {"socketpair", CallGroup::kSockets, CallWhen::kAlways, CallRule::kSocket,
     "families that reach a hypervisor, a device or rarely tried kernel code"},

    {"ioctl", CallGroup::kTerminal, CallWhen::kAlways, CallRule::kIoctl,
     "typing into the caller's terminal (TIOCSTI, TIOCLINUX); line disciplines (TIOCSETD)"},
    {"vhangup", CallGroup::kTerminal, CallWhen::kAlways, CallRule::kEperm,
     "hangs up the caller's terminal"},

    Allow("landlock_create_ruleset", CallGroup::kSandboxing),
    Allow("landlock_add_rule", CallGroup::kSandboxing),
    Allow("landlock_restrict_self", CallGroup::kSandboxing),
    Allow("lsm_get_self_attr", CallGroup::kSandboxing),
    Allow("lsm_set_self_attr", CallGroup::kSandboxing),
    Allow("lsm_list_modules", CallGroup::kSandboxing),
    {"seccomp", CallGroup::kSandboxing, CallWhen::kOwnListener, CallRule::kSeccomp,
     "a listener of the command's own would be asked in place of the supervisor"},

    {"unshare", CallGroup::kNamespaces, CallWhen::kUnlessNested, CallRule::kUnshare,
     "a new namespace"},
    {"setns", CallGroup::kNamespaces, CallWhen::kUnlessNested, CallRule::kEperm,
     "another namespace"},
    {"listns", CallGroup::kNamespaces, CallWhen::kUnlessNested, CallRule::kEperm,
     "the namespaces of others"},
    {"sethostname", CallGroup::kNamespaces, CallWhen::kUnlessNested, CallRule::kEperm,
     "no tool of an unprivileged user needs it"},
    {"setdomainname", CallGroup::kNamespaces, CallWhen::kUnlessNested, CallRule::kEperm,
     "no tool of an unprivileged user needs it"},

    Allow("statmount", CallGroup::kMounts),
    Allow("listmount", CallGroup::kMounts),
    {"mount", CallGroup::kMounts, CallWhen::kUnlessNested, CallRule::kEperm,
     "the mount tree is the sandbox"},
    {"umount2", CallGroup::kMounts, CallWhen::kUnlessNested, CallRule::kEperm,
     "the mount tree is the sandbox"},
    {"pivot_root", CallGroup::kMounts, CallWhen::kUnlessNested, CallRule::kEperm,
     "the mount tree is the sandbox"},
    {"chroot", CallGroup::kMounts, CallWhen::kUnlessNested, CallRule::kEperm,
     "the mount tree is the sandbox"},
    {"open_tree", CallGroup::kMounts, CallWhen::kUnlessNested, CallRule::kEperm,
     "the mount tree is the sandbox"},
    {"open_tree_attr", CallGroup::kMounts, CallWhen::kUnlessNested, CallRule::kEperm,
     "the mount tree is the sandbox"},
    {"move_mount", CallGroup::kMounts, CallWhen::kUnlessNested, CallRule::kEperm,
     "the mount tree is the sandbox"},
    {"mount_setattr", CallGroup::kMounts, CallWhen::kUnlessNested, CallRule::kEperm,
     "the mount tree is the sandbox"},
    {"fsopen", CallGroup::kMounts, CallWhen::kUnlessNested, CallRule::kEperm,
     "the mount tree is the sandbox"},
    {"fsconfig", CallGroup::kMounts, CallWhen::kUnlessNested, CallRule::kEperm,
     "the mount tree is the sandbox"},
    {"fsmount", CallGroup::kMounts, CallWhen::kUnlessNested, CallRule::kEperm,
     "the mount tree is the sandbox"},
    {"fspick", CallGroup::kMounts, CallWhen::kUnlessNested, CallRule::kEperm,
     "the mount tree is the sandbox"},
    {"open_by_handle_at", CallGroup::kMounts, CallWhen::kAlways, CallRule::kEperm,
     "opens files by inode, past the mount tree"},
    {"fanotify_init", CallGroup::kMounts, CallWhen::kAlways, CallRule::kEperm,
     "marks whole mounts and can hold up or see the opens of others"},
    {"fanotify_mark", CallGroup::kMounts, CallWhen::kAlways, CallRule::kEperm,
     "marks whole mounts and can hold up or see the opens of others"},
    {"quotactl", CallGroup::kMounts, CallWhen::kAlways, CallRule::kEperm, "a device of the host"},
    {"quotactl_fd", CallGroup::kMounts, CallWhen::kAlways, CallRule::kEperm,
     "a device of the host"},
    {"swapon", CallGroup::kMounts, CallWhen::kAlways, CallRule::kEperm, "a device of the host"},
    {"swapoff", CallGroup::kMounts, CallWhen::kAlways, CallRule::kEperm, "a device of the host"},

    {"add_key", CallGroup::kKeys, CallWhen::kAlways, CallRule::kKeyring,
     "kernel keyrings belong to the user, not to a namespace"},
    {"request_key", CallGroup::kKeys, CallWhen::kAlways, CallRule::kKeyring,
     "kernel keyrings belong to the user, not to a namespace"},
    {"keyctl", CallGroup::kKeys, CallWhen::kAlways, CallRule::kKeyring,
     "kernel keyrings belong to the user, not to a namespace"},

    {"bpf", CallGroup::kKernel, CallWhen::kAlways, CallRule::kEperm, "programs in the kernel"},
    {"perf_event_open", CallGroup::kKernel, CallWhen::kAlways, CallRule::kEperm,
     "counters of others, and a long record of kernel bugs"},
    {"io_uring_setup", CallGroup::kKernel, CallWhen::kAlways, CallRule::kEperm,
     "makes calls that no filter sees; EPERM is what kernel.io_uring_disabled gives"},
    {"io_uring_enter", CallGroup::kKernel, CallWhen::kAlways, CallRule::kEperm,
     "makes calls that no filter sees, on a ring that was passed in"},
    {"io_uring_register", CallGroup::kKernel, CallWhen::kAlways, CallRule::kEperm,
     "makes calls that no filter sees, on a ring that was passed in"},
    {"syslog", CallGroup::kKernel, CallWhen::kAlways, CallRule::kEperm,
     "the kernel's log, with addresses in it"},
    {"lookup_dcookie", CallGroup::kKernel, CallWhen::kAlways, CallRule::kEperm,
     "paths of others, for a profiler"},
    {"acct", CallGroup::kKernel, CallWhen::kAlways, CallRule::kEperm,
     "process accounting of the host"},
    {"kexec_load", CallGroup::kKernel, CallWhen::kAlways, CallRule::kEperm,
     "replaces or stops the kernel"},
    {"kexec_file_load", CallGroup::kKernel, CallWhen::kAlways, CallRule::kEperm,
     "replaces or stops the kernel"},
    {"reboot", CallGroup::kKernel, CallWhen::kAlways, CallRule::kEperm,
     "replaces or stops the kernel"},
    {"init_module", CallGroup::kKernel, CallWhen::kAlways, CallRule::kEperm, "kernel modules"},
    {"finit_module", CallGroup::kKernel, CallWhen::kAlways, CallRule::kEperm, "kernel modules"},
    {"delete_module", CallGroup::kKernel, CallWhen::kAlways, CallRule::kEperm, "kernel modules"},

    {"settimeofday", CallGroup::kClock, CallWhen::kAlways, CallRule::kEperm,
     "the clock of the host"},
    {"clock_settime", CallGroup::kClock, CallWhen::kAlways, CallRule::kEperm,
     "the clock of the host"},

    Allow("modify_ldt", CallGroup::kMachine),
    {"ioperm", CallGroup::kMachine, CallWhen::kAlways, CallRule::kEperm, "ports of devices"},
    {"iopl", CallGroup::kMachine, CallWhen::kAlways, CallRule::kEperm, "ports of devices"},

    {"_sysctl", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
    {"afs_syscall", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
    {"create_module", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
    {"epoll_ctl_old", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
    {"epoll_wait_old", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
    {"get_kernel_syms", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
    {"get_thread_area", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
    {"getpmsg", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
    {"nfsservctl", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
    {"putpmsg", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
    {"query_module", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
    {"security", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
    {"set_thread_area", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
    {"tuxcall", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
    {"uselib", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
    {"vserver", CallGroup::kGone, CallWhen::kAlways, CallRule::kEnosys,
     "never there or gone: the kernel's own answer"},
};

constexpr uint8_t Low(int argument) { return static_cast<uint8_t>(2 * argument); }
constexpr uint8_t High(int argument) { return static_cast<uint8_t>(2 * argument + 1); }
constexpr CallClause Else(CallAction action) { return {0, {}, action}; }
constexpr CallClause If(ArgTest test, CallAction action) { return {1, {test}, action}; }
constexpr CallClause IfBoth(ArgTest first, ArgTest second, CallAction action) {
  return {2, {first, second}, action};
}
constexpr ArgTest Equal(uint8_t word, uint32_t value) { return {word, ArgOp::kEqual, value}; }
constexpr ArgTest NotEqual(uint8_t word, uint32_t value) { return {word, ArgOp::kNotEqual, value}; }
constexpr ArgTest AnyBit(uint8_t word, uint32_t bits) { return {word, ArgOp::kAnyBit, bits}; }

// Which half counts. The kernel cuts an int, mode_t or socket argument down to its low half (or
// less), whatever the register holds: a test of all 64 bits would be passed by garbage in the high
// half. Only unshare takes a long and looks at all of it.

constexpr CallClause kAllowClauses[] = {Else(CallAction::kAllow)};
constexpr CallClause kEpermClauses[] = {Else(CallAction::kEperm)};
constexpr CallClause kEnosysClauses[] = {Else(CallAction::kEnosys)};
constexpr CallClause kSucceedClauses[] = {Else(CallAction::kSucceed)};

constexpr CallClause kCloneClauses[] = {
    If(AnyBit(Low(0), kCloneNamespaces), CallAction::kEperm),
    Else(CallAction::kAllow),
};

// An allowlist, so that a flag of a later kernel is no way out.
constexpr uint32_t kUnshareHarmless =
    kCloneFs | kCloneFiles | kCloneSysvsem | kCloneThread | kCloneSighand | kCloneVm;
constexpr CallClause kUnshareClauses[] = {
    If(AnyBit(Low(0), ~kUnshareHarmless), CallAction::kEperm),
    If(NotEqual(High(0), 0), CallAction::kEperm),
    Else(CallAction::kAllow),
};

constexpr CallClause kIoctlClauses[] = {
    If(Equal(Low(1), kIoctlTiocsti), CallAction::kEperm),
    If(Equal(Low(1), kIoctlTioclinux), CallAction::kEperm),
    If(Equal(Low(1), kIoctlTiocsetd), CallAction::kEperm),
    // A snapshot has none of the mounts that cover what is denied in its source.
    If(Equal(Low(1), kIoctlBtrfsSnapCreate), CallAction::kEperm),
    If(Equal(Low(1), kIoctlBtrfsSnapCreateV2), CallAction::kEperm),
    If(Equal(Low(1), kIoctlBtrfsSubvolSetflags), CallAction::kEperm),
    Else(CallAction::kAllow),
};

// The errors are those of a kernel without the module, which programs know how to take: libaudit,
// asked by login and its like, gives up its log for these two and its program for any other. The
// protocols close the second door to what the families close: SMC is also IPPROTO_SMC of AF_INET,
// and SCTP or DCCP would load a module.
constexpr CallClause kSocketClauses[] = {
    If(Equal(Low(0), kFamilyUnix), CallAction::kAllow),
    IfBoth(Equal(Low(0), kFamilyNetlink), Equal(Low(2), kNetlinkRoute), CallAction::kAllow),
    If(Equal(Low(0), kFamilyNetlink), CallAction::kEprotonosupport),
    IfBoth(NotEqual(Low(0), kFamilyInet), NotEqual(Low(0), kFamilyInet6),
           CallAction::kEafnosupport),
    If(Equal(Low(2), kProtocolDefault), CallAction::kAllow),
    If(Equal(Low(2), kProtocolTcp), CallAction::kAllow),
    If(Equal(Low(2), kProtocolUdp), CallAction::kAllow),
    If(Equal(Low(2), kProtocolIcmp), CallAction::kAllow),
    If(Equal(Low(2), kProtocolIcmpv6), CallAction::kAllow),
    If(Equal(Low(2), kProtocolUdplite), CallAction::kAllow),
    If(Equal(Low(2), kProtocolMptcp), CallAction::kAllow),
    Else(CallAction::kEprotonosupport),
};

// mkdir is not among them: the kernel drops both bits from its mode before a file system sees it
// (tested).
constexpr uint32_t kModeSetId = kModeSetuid | kModeSetgid;
// The mode counts only where a file may be made; otherwise the register holds what was left in it.
constexpr uint32_t kOpenMakes = kOpenCreate | kOpenTmpfileBit;
constexpr CallClause kOpenClauses[] = {
    IfBoth(AnyBit(Low(1), kOpenMakes), AnyBit(Low(2), kModeSetId), CallAction::kEperm),
    Else(CallAction::kAllow),
};
constexpr CallClause kOpenatClauses[] = {
    IfBoth(AnyBit(Low(2), kOpenMakes), AnyBit(Low(3), kModeSetId), CallAction::kEperm),
    Else(CallAction::kAllow),
};
constexpr CallClause kModeInSecondClauses[] = {
    If(AnyBit(Low(1), kModeSetId), CallAction::kEperm),
    Else(CallAction::kAllow),
};
constexpr CallClause kModeInThirdClauses[] = {
    If(AnyBit(Low(2), kModeSetId), CallAction::kEperm),
    Else(CallAction::kAllow),
};
constexpr CallClause kChmodClauses[] = {
    If(AnyBit(Low(1), kModeSetuid), CallAction::kEperm),
    If(AnyBit(Low(1), kModeSetgid), CallAction::kSetgidChmod),
    Else(CallAction::kAllow),
};
constexpr CallClause kChmodAtClauses[] = {
    If(AnyBit(Low(2), kModeSetuid), CallAction::kEperm),
    If(AnyBit(Low(2), kModeSetgid), CallAction::kSetgidChmod),
    Else(CallAction::kAllow),
};

constexpr CallClause kPidInFirstClauses[] = {
    If(NotEqual(Low(0), 0), CallAction::kEperm),
    Else(CallAction::kAllow),
};
constexpr CallClause kSetpriorityClauses[] = {
    IfBoth(Equal(Low(0), kPriorityProcess), Equal(Low(1), 0), CallAction::kAllow),
    Else(CallAction::kEperm),
};
constexpr CallClause kIoprioSetClauses[] = {
    IfBoth(Equal(Low(0), kIoprioProcess), Equal(Low(1), 0), CallAction::kAllow),
    Else(CallAction::kEperm),
};

// EBUSY is what the kernel itself says while it allows one listener only. Of two filters that ask,
// it would heed the younger one, and that one's answer may be "go on".
constexpr CallClause kSeccompClauses[] = {
    IfBoth(Equal(Low(0), kSeccompSetModeFilter), AnyBit(Low(1), kSeccompFilterFlagNewListener),
           CallAction::kEbusy),
    Else(CallAction::kAllow),
};

constexpr bool NameLess(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a < *b;
}

using DecisionsByNumber = std::array<CallDecision, kLastSyscall + 1>;
struct JoinedTable {
  bool complete = true;
  DecisionsByNumber x86_64;
  DecisionsByNumber aarch64;
};

// Gives the rows their numbers. The two tables must name the same calls.
constexpr JoinedTable Join() {
  constexpr size_t kRows = std::size(kCallTable);
  std::array<uint16_t, kRows> order = {};
  for (size_t i = 0; i < kRows; ++i) order[i] = static_cast<uint16_t>(i);
  std::sort(order.begin(), order.end(), [](uint16_t a, uint16_t b) {
    return NameLess(kCallTable[a].name, kCallTable[b].name);
  });
  JoinedTable joined;
  joined.complete = kRows == std::size(kSyscalls);
  for (size_t i = 0; joined.complete && i < kRows; ++i) {
    const CallRow& row = kCallTable[order[i]];
    const SyscallRow& call = kSyscalls[i];
    if (NameLess(row.name, call.name) || NameLess(call.name, row.name)) joined.complete = false;
    if (call.x86_64 >= 0) joined.x86_64[static_cast<size_t>(call.x86_64)] = {row.rule, row.when};
    if (call.aarch64 >= 0) joined.aarch64[static_cast<size_t>(call.aarch64)] = {row.rule, row.when};
  }
  return joined;
}

constexpr JoinedTable kJoined = Join();
static_assert(kJoined.complete, "kCallTable must decide every call of kSyscalls exactly once");

constexpr DecisionsByNumber kX86_64Decisions = kJoined.x86_64;
constexpr DecisionsByNumber kAarch64Decisions = kJoined.aarch64;

bool Holds(CallWhen when, const FilterOptions& options) {
  switch (when) {
    case CallWhen::kAlways:
      return true;
    case CallWhen::kUnlessNested:
      return !options.nested_sandbox;
    case CallWhen::kHostPids:
      return options.host_pids;
    case CallWhen::kIgnoreChown:
      return options.ignore_chown;
    case CallWhen::kUnlessOpenat2:
      return !options.allow_openat2;
    case CallWhen::kOwnListener:
      return options.setgid_chmod == SetgidChmod::kNotify;
  }
  return true;
}

}  // namespace

absl::Span<const CallRow> CallTable() { return kCallTable; }

const char* GroupText(CallGroup group) {
  switch (group) {
    case CallGroup::kInputOutput:
      return "work on descriptors that the process has";
    case CallGroup::kFiles:
      return "paths, which the mount tree and Landlock decide about";
    case CallGroup::kSetId:
      return "making files and changing their modes";
    case CallGroup::kOwnership:
      return "owners, which the kernel lets only capabilities change";
    case CallGroup::kMemory:
      return "the process's own memory, and that of those it may trace";
    case CallGroup::kProcesses:
      return "processes of its own: the kernel's ptrace check and the PID namespace bound the rest";
    case CallGroup::kForeignPids:
      return "scheduling and limits, by pid";
    case CallGroup::kIdentity:
      return "ids and capabilities, of which there are none to gain";
    case CallGroup::kSignals:
      return "signals, bounded by the PID namespace or Landlock";
    case CallGroup::kTime:
      return "reading clocks; setting them by adjtimex needs a capability of the host";
    case CallGroup::kIpc:
      return "System V and POSIX objects of the IPC namespace";
    case CallGroup::kSockets:
      return "sockets that exist, of families that were allowed";
    case CallGroup::kTerminal:
      return "terminals and other devices";
    case CallGroup::kSandboxing:
      return "restricting itself further";
    case CallGroup::kNamespaces:
      return "namespaces";
    case CallGroup::kMounts:
      return "mounts; reading them tells what /proc/self/mountinfo does";
    case CallGroup::kKeys:
      return "keyrings";
    case CallGroup::kKernel:
      return "the running kernel";
    case CallGroup::kClock:
      return "setting the clock";
    case CallGroup::kMachine:
      return "the processor: own segments (Wine) yes, ports no";
    case CallGroup::kGone:
      return "calls that no kernel answers";
  }
  return "";
}

absl::Span<const CallDecision> CallDecisions(Arch arch) {
  if (arch == Arch::kX86_64) return kX86_64Decisions;
  return kAarch64Decisions;
}

CallRule ResolveRule(CallDecision decision, const FilterOptions& options) {
  if (!Holds(decision.when, options)) return CallRule::kAllow;
  if (decision.rule != CallRule::kKeyring) return decision.rule;
  return options.nested_sandbox ? CallRule::kEnosys : CallRule::kEperm;
}

uint32_t ResolveAction(CallAction action, const FilterOptions& options) {
  switch (action) {
    case CallAction::kAllow:
      return kSeccompAllow;
    case CallAction::kEperm:
      return kSeccompErrno | kLinuxEperm;
    case CallAction::kEnosys:
      return kSeccompErrno | kLinuxEnosys;
    case CallAction::kEafnosupport:
      return kSeccompErrno | kLinuxEafnosupport;
    case CallAction::kEprotonosupport:
      return kSeccompErrno | kLinuxEprotonosupport;
    case CallAction::kEbusy:
      return kSeccompErrno | kLinuxEbusy;
    case CallAction::kSucceed:
      return kSeccompErrno;
    case CallAction::kSetgidChmod:
      if (options.setgid_chmod == SetgidChmod::kAllow) return kSeccompAllow;
      if (options.setgid_chmod == SetgidChmod::kNotify) return kSeccompUserNotif;
      return kSeccompErrno | kLinuxEperm;
  }
  return kSeccompErrno | kLinuxEperm;
}

absl::Span<const CallClause> RuleClauses(CallRule rule) {
  switch (rule) {
    case CallRule::kAllow:
      return kAllowClauses;
    case CallRule::kEnosys:
      return kEnosysClauses;
    case CallRule::kSucceed:
      return kSucceedClauses;
    case CallRule::kClone:
      return kCloneClauses;
    case CallRule::kUnshare:
      return kUnshareClauses;
    case CallRule::kIoctl:
      return kIoctlClauses;
    case CallRule::kSocket:
      return kSocketClauses;
    case CallRule::kOpen:
      return kOpenClauses;
    case CallRule::kOpenat:
      return kOpenatClauses;
    case CallRule::kCreat:
    case CallRule::kMknod:
      return kModeInSecondClauses;
    case CallRule::kMknodAt:
      return kModeInThirdClauses;
    case CallRule::kChmod:
      return kChmodClauses;
    case CallRule::kChmodAt:
      return kChmodAtClauses;
    case CallRule::kPidInFirst:
      return kPidInFirstClauses;
    case CallRule::kSetpriority:
      return kSetpriorityClauses;
    case CallRule::kIoprioSet:
      return kIoprioSetClauses;
    case CallRule::kSeccomp:
      return kSeccompClauses;
    case CallRule::kEperm:
    case CallRule::kKeyring:
      break;
  }
  return kEpermClauses;
}

}  // namespace agent_exec
