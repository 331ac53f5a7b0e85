// What GatherFacts finds on this machine and in made-up ones.

#include "os/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "os/gather_parts.h"
#include "support/doctest.h"
#include "support/subprocess.h"

namespace agent_exec {
namespace {

// Runs in a child; what it returns comes back.
std::string InChild(const std::function<std::string()>& body) {
  ProcessSpec spec;
  spec.body = [&] {
    std::string text = body();
    (void)!write(1, text.data(), text.size());
  };
  return RunProcess(spec).out;
}

std::string CopyOfBubblewrap(const TempDir& dir) {
  std::string path = dir / "bwrap";
  WriteTestFile(path, ReadTestFile("/usr/bin/bwrap"), 0755);
  return path;
}

constexpr char kFakeBubblewrap[] =
    "#!/bin/sh\n"
    "case $1 in --version) echo bubblewrap 9.8.7;; --help) echo '    --args FD    Words'; echo '   "
    " --perms N';; esac\n";

TEST_SUITE_BEGIN("kernel/gather");

TEST_CASE("the process is told as it is") {
  HostFacts facts = GatherFacts(GatherScope::kProcess);
  CHECK(facts.uid == geteuid());
  CHECK(facts.gid == getegid());
  char cwd[4096];
  CHECK(facts.cwd == getcwd(cwd, sizeof(cwd)));
  rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  CHECK(facts.max_open_files == limit.rlim_cur);
  CHECK(std::count(facts.env.begin(), facts.env.end(), absl::StrCat("HOME=", getenv("HOME"))) == 1);
  CHECK(absl::EndsWith(facts.self_path, "kernel_tests"));
  CHECK(facts.bwrap.path == "");
}

TEST_CASE("inherited descriptors are listed, and none of our own") {
  std::string text = InChild([] {
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    dup2(0, 7);
    dup2(0, 40);
    std::string listed;
    for (int fd : OpenDescriptors()) absl::StrAppend(&listed, fd, " ");
    return listed;
  });
  CHECK(text == "7 40 ");
}

TEST_CASE("a deleted working directory has no path") {
  TempDir dir;
  mkdir((dir / "d").c_str(), 0755);
  std::string text = InChild([&] {
    (void)!chdir((dir / "d").c_str());
    rmdir((dir / "d").c_str());
    return "[" + GatherFacts(GatherScope::kProcess).cwd + "]";
  });
  CHECK(text == "[]");
}

TEST_CASE("a wrapper that somebody else could have made or could change is not used") {
  if (geteuid() != 0) {
    TempDir dir;
    Tool tool = FindBubblewrap({CopyOfBubblewrap(dir)});
    CHECK(tool.path == "");
    CHECK(absl::EndsWith(tool.problem, "does not belong to root"));
    return;
  }
  struct Case {
    const char* what;
    std::function<void(const std::string& path)> spoil;
    const char* problem;  // after the path; "" when it is fine
  };
  const Case cases[] = {
      {"fine", [](const std::string&) {}, ""},
      {"setuid", [](const std::string& p) { chmod(p.c_str(), 04755); }, "bwrap' is setuid"},
      {"setgid", [](const std::string& p) { chmod(p.c_str(), 02755); }, "bwrap' is setgid"},
      {"no execute bit", [](const std::string& p) { chmod(p.c_str(), 0644); },
       "bwrap' is not executable"},
      {"world-writable", [](const std::string& p) { chmod(p.c_str(), 0757); },
       "bwrap' is writable by others"},
      {"group-writable",
       [](const std::string& p) {
         chmod(p.c_str(), 0775);
         (void)!chown(p.c_str(), 0, 5);
       },
       "bwrap' is writable by others"},
      {"foreign", [](const std::string& p) { (void)!chown(p.c_str(), 12345, 0); },
       "bwrap' does not belong to root"},
      {"directory writable",
       [](const std::string& p) { chmod(p.substr(0, p.rfind('/')).c_str(), 0777); },
       "' is writable by others"},
      {"directory foreign",
       [](const std::string& p) { (void)!chown(p.substr(0, p.rfind('/')).c_str(), 12345, 0); },
       "' does not belong to root"},
      {"sticky directory",
       [](const std::string& p) { chmod(p.substr(0, p.rfind('/')).c_str(), 01777); }, ""},
      {"file capabilities",
       [](const std::string& p) {
         // struct vfs_cap_data, revision 2, effective, CAP_SYS_ADMIN permitted.
         const uint32_t caps[5] = {0x02000001, 1u << 21, 0, 0, 0};
         REQUIRE(setxattr(p.c_str(), "security.capability", caps, sizeof(caps), 0) == 0);
       },
       "bwrap' has file capabilities"},
      {"a directory",
       [](const std::string& p) {
         unlink(p.c_str());
         mkdir(p.c_str(), 0755);
       },
       "bwrap' is not a regular file"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    TempDir dir;
    std::string path = CopyOfBubblewrap(dir);
    c.spoil(path);
    Tool tool = FindBubblewrap({path});
    bool fine = std::string(c.problem).empty();
    CHECK(tool.path == (fine ? path : ""));
    CHECK(absl::EndsWith(tool.problem, c.problem));
    CHECK(tool.hint.empty() == fine);
  }
}

TEST_CASE(
    "the first that may be used is taken, by its canonical path; without any, the hint installs "
    "it") {
  Tool none = FindBubblewrap({"/nonexistent/bwrap"});
  CHECK(none.path == "");
  CHECK(none.problem == "not installed");
  CHECK(absl::StrContains(none.hint, "bubblewrap"));
  if (geteuid() != 0) return;
  TempDir dir;
  std::string path = CopyOfBubblewrap(dir);
  REQUIRE(symlink("bwrap", (dir / "link").c_str()) == 0);
  WriteTestFile(dir / "bad", "", 04755);
  Tool tool = FindBubblewrap({dir / "none", dir / "bad", dir / "link"});
  CHECK(tool.path == path);
  CHECK(tool.problem == "");
}

TEST_CASE("a look into the file tells what the program says of itself") {
  if (!Exists("/usr/bin/bwrap")) return;
  Tool looked;
  Tool asked;
  REQUIRE(ScanBubblewrap("/usr/bin/bwrap", &looked));
  AskBubblewrap("/usr/bin/bwrap", &asked);
  CHECK(looked.version == asked.version);
  CHECK(looked.features == asked.features);
  CHECK(std::binary_search(looked.features.begin(), looked.features.end(), "seccomp"));
}

TEST_CASE("a wrapper whose file does not tell is asked, for a bounded time") {
  TempDir dir;
  WriteTestFile(dir / "script", kFakeBubblewrap, 0755);
  Tool tool;
  CHECK(!ScanBubblewrap(dir / "script", &tool));
  AskBubblewrap(dir / "script", &tool);
  CHECK(tool.version == "9.8.7");
  CHECK(tool.features == std::vector<std::string>{"args", "perms"});
  WriteTestFile(dir / "hangs", "#!/bin/sh\nexec sleep 100\n", 0755);
  Tool hanging;
  AskBubblewrap(dir / "hangs", &hanging);
  CHECK(hanging.version == "");
}

TEST_CASE("user namespaces are reported by trying") {
  std::string expected = InChild([] { return unshare(CLONE_NEWUSER) == 0 ? "" : "refused"; });
  CHECK(TryUserNamespace().empty() == expected.empty());
  if (!expected.empty()) return;
  // Below a user namespace that allows no further one.
  std::string problem = InChild([] {
    unsigned uid = geteuid();
    (void)unshare(CLONE_NEWUSER);
    WriteTestFile("/proc/self/setgroups", "deny");
    WriteTestFile("/proc/self/uid_map", absl::StrCat("0 ", uid, " 1"));
    WriteTestFile("/proc/sys/user/max_user_namespaces", "0");
    return TryUserNamespace();
  });
  CHECK(problem == "unshare: No space left on device");
}

TEST_CASE("an id map is put onto itself, extent by extent") {
  CHECK(MapOntoItself("         0          0 4294967295\n") == "0 0 4294967295\n");
  CHECK(MapOntoItself("0 100000 65536\n70000 3 1\n") == "0 0 65536\n70000 70000 1\n");
  CHECK(MapOntoItself("") == "");
  CHECK(MapOntoItself("0 0\n") == "");
  CHECK(MapOntoItself("0 0 -1\n") == "");
}

TEST_CASE("files and devices on descriptors are known by what they were opened for") {
  TempDir dir;
  WriteTestFile(dir / "f", "x");
  std::string text = InChild([&] {
    close(0);
    int read_only = open((dir / "f").c_str(), O_RDONLY);
    int log = open((dir / "f").c_str(), O_WRONLY | O_APPEND);
    int both = open((dir / "f").c_str(), O_RDWR);
    int null = open("/dev/null", O_WRONLY);
    int ends[2];
    (void)!pipe(ends);
    std::string found;
    for (const OpenFile& file : OpenFiles({log, both, null, ends[0], ends[1]})) {
      if (file.fd == 1 || file.fd == 2) continue;
      absl::StrAppend(&found,
                      file.fd == read_only ? "r"
                      : file.fd == log     ? "l"
                      : file.fd == both    ? "b"
                                           : "n",
                      file.reads ? "R" : "", file.writes ? "W" : "", file.appends ? "A" : "",
                      file.is_device ? "D" : "", file.is_terminal ? "T" : "", " ");
    }
    return found;
  });
  CHECK(text == "rR lWA bRW nWD ");
}

TEST_CASE("what the kernel offers is told by asking it") {
  HostFacts facts = GatherFacts();
  CHECK(facts.mount_calls == (syscall(430 /* fsopen */, nullptr, 0) != 0 && errno != ENOSYS));
  if (getuid() != 0) CHECK(facts.full_uid_map == "");
  std::string problem = InChild([] {
    // Another root, that has no capability.
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (geteuid() != 0) return std::string();
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2] = {};
    syscall(SYS_capset, &header, none);
    HostFacts bound;
    GatherPosix(&bound);
    GatherKernel(&bound);
    return bound.full_uid_map + bound.full_gid_map;
  });
  CHECK(problem == "");
}

TEST_CASE("bwrap is tried where this program's own attempt fails, and only a start counts") {
  CHECK_FALSE(TryBubblewrap("/bin/false"));
  CHECK_FALSE(TryBubblewrap("/bin/echo-that-is-not-there"));
  Tool tool = FindBubblewrap(BubblewrapCandidates());
  if (tool.path.empty() || !TryUserNamespace().empty()) {
    MESSAGE("bwrap cannot be started on this host");
    return;
  }
  CHECK(TryBubblewrap(tool.path));
}

TEST_CASE("the attempt leaves no child, no signal and no changed mask") {
  std::string text = InChild([] {
    sigset_t before;
    sigset_t after;
    sigset_t pending;
    sigprocmask(SIG_SETMASK, nullptr, &before);
    (void)TryUserNamespace();
    sigprocmask(SIG_SETMASK, nullptr, &after);
    sigpending(&pending);
    bool same = true;
    for (int signal = 1; signal < 32; ++signal) {
      same = same && sigismember(&before, signal) == sigismember(&after, signal) &&
             sigismember(&pending, signal) == 0;
    }
    errno = 0;
    bool childless = waitpid(-1, nullptr, __WALL) == -1 && errno == ECHILD;
    return std::string(same && childless ? "clean" : "traces");
  });
  CHECK(text == "clean");
}

TEST_SUITE_END();

}  // namespace
}  // namespace agent_exec
