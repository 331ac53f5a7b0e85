// The sandbox that the launcher makes itself, on the real kernel: what only this backend does, or
// does in a way of its own. What all backends promise is in confinement_test.cc and launch_test.cc.

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backend/backend.h"
#include "kernel/launches.h"
#include "kernel/old_kernel.h"
#include "kernel/scripts.h"
#include "os/gather.h"
#include "support/doctest.h"
#include "support/subprocess.h"

namespace agent_exec {
namespace {

TEST_SUITE_BEGIN("kernel/native");

// A copy of the probe where the sandbox shows it, whoever runs the tests.
std::string Probe(const TempDir& w) {
  const char* built = getenv("AGENT_EXEC_NATIVE_PROBE");
  REQUIRE_MESSAGE(built != nullptr, "AGENT_EXEC_NATIVE_PROBE names the probe");
  std::string path = w / "probe";
  WriteTestFile(path, ReadTestFile(built), 0755);
  return path;
}

struct Mounted {
  std::string target;
  std::string options;
};

std::vector<Mounted> ParseMounts(const std::string& mountinfo) {
  std::vector<Mounted> mounts;
  for (absl::string_view line : absl::StrSplit(mountinfo, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() > 5) mounts.push_back({words[4], words[5]});
  }
  return mounts;
}

std::map<std::string, int> CountTargets(const std::vector<Mounted>& mounts) {
  std::map<std::string, int> counts;
  for (const Mounted& one : mounts) ++counts[one.target];
  return counts;
}

// What a path meets: the last mount on each target.
std::map<std::string, std::string> Topmost(const std::vector<Mounted>& mounts) {
  std::map<std::string, std::string> options;
  for (const Mounted& one : mounts) options[one.target] = one.options;
  return options;
}

TEST_CASE("every target has one mount, besides what the host has there") {
  TempDir w;
  mkdir((w / "a").c_str(), 0755);
  WriteTestFile(w / ".env", "x");
  Finished run = Shell(w.path(), "cat /proc/self/mountinfo",
                       {"--deny-read", ".env", "--deny-write", "a", "--deny-write", "none"});
  REQUIRE(run.Ending() == "exit 0");
  std::map<std::string, int> host = CountTargets(ParseMounts(ReadTestFile("/proc/self/mountinfo")));
  std::map<std::string, int> inside = CountTargets(ParseMounts(run.out));
  for (const auto& [target, count] : inside) {
    CAPTURE(target);
    CHECK(count <= 1 + (host.count(target) > 0 ? host[target] : 0));
  }
  for (const std::string& target :
       {w.path(), w / ".env", w / "a", w / "none", w / ".git", std::string("/proc"),
        std::string("/dev"), std::string("/tmp")}) {
    CAPTURE(target);
    CHECK(inside.count(target) == 1);
  }
}

TEST_CASE("what is read-only is so at the mount, and nothing keeps set-id bits or devices") {
  TempDir w;
  WriteTestFile(w / ".env", "x");
  std::map<std::string, std::string> options = Topmost(
      ParseMounts(Shell(w.path(), "cat /proc/self/mountinfo", {"--deny-read", ".env"}).out));
  const auto has = [&options](const std::string& target, const char* option) {
    std::vector<std::string> words = absl::StrSplit(options[target], ',');
    return std::find(words.begin(), words.end(), option) != words.end();
  };
  for (const char* target : {"/", "/sys", "/dev", "/proc/sys", "/run"}) {
    CAPTURE(target);
    CHECK(has(target, "ro"));
  }
  CHECK(has(w / ".env", "ro"));
  CHECK(has(w / ".git", "ro"));
  CHECK(has(w.path(), "rw"));
  for (const auto& [target, words] : options) {
    CAPTURE(target);
    CHECK(has(target, "nosuid"));
    if (!absl::StartsWith(target, "/dev/")) CHECK(has(target, "nodev"));
  }
}

TEST_CASE("no path leads to the old root") {
  TempDir w;
  // Under the host's /var/tmp, which a private one hides.
  std::string marker = absl::StrCat("/var/tmp/agent-exec-marker-", getpid());
  WriteTestFile(marker, "x");
  Finished run =
      Shell(w.path(),
            absl::StrCat(
                "test \"$(stat -c %d:%i /)\" = \"$(stat -c %d:%i /../..)\" || echo up; "
                "for r in / /.. /proc/self/root /proc/1/root /proc/1/cwd /proc/self/cwd/../../..; "
                "do test -e $r",
                marker, " && echo $r; done; cd /; cd ..; cd ..; test -e .", marker,
                " && echo cd; ls -d /oldroot /.old* /newroot 2>/dev/null; true"));
  unlink(marker.c_str());
  CHECK(run.Ending() == "exit 0");
  CHECK(run.out == "");
}

TEST_CASE("masks give errors, and can be neither opened up, replaced nor removed") {
  TempDir w;
  WriteTestFile(w / ".env", "TOKEN=1", 0600);
  mkdir((w / "keys").c_str(), 0700);
  WriteTestFile(w / "keys/one", "x");
  WriteTestFile(w / "keys/public", "p\n");
  mkdir((w / "closed").c_str(), 0700);
  Finished run =
      Shell(w.path(),
            "cat .env; ls closed; ls keys; cat keys/one; chmod 700 .env closed keys; "
            "rm -f .env; mv closed c; echo x > closed/x; echo x > keys/x; cat keys/public; "
            "stat -c %a .env closed keys",
            {"--deny-read", ".env", "--deny-read", "closed", "--deny-read", "keys", "--read",
             "keys/public"});
  CHECK(run.out == "p\n0\n0\n111\n");
  CHECK(absl::StrContains(run.err, "cat: .env: Permission denied"));
  CHECK(ReadTestFile(w / ".env") == "TOKEN=1");
  CHECK(NamesIn(w / "keys") == std::vector<std::string>{"one", "public"});
  Finished empty = Shell(w.path(), "cat .env; ls closed; stat -c %a .env closed",
                         {"--deny-read", ".env", "--deny-read", "closed", "--denied", "empty"});
  CHECK(empty.out == "444\n555\n");
  CHECK(empty.err == "");
}

TEST_CASE("a data file shows what it should and cannot be changed") {
  TempDir w;
  WriteTestFile(Home() + "/.gitconfig", "[user]\n\tname = Somebody\n\temail = s@example.org\n");
  Finished run = Shell(w.path(),
                       "grep -c Somebody ~/.gitconfig; echo x >> ~/.gitconfig; rm -f ~/.gitconfig; "
                       "mv ~/.gitconfig ~/g; chmod 777 ~/.gitconfig; stat -c %a ~/.gitconfig");
  unlink((Home() + "/.gitconfig").c_str());
  CHECK(run.out == "1\n444\n");
}

TEST_CASE("a protected link is followed and stays what it is") {
  TempDir w;
  mkdir((w / "gitdata").c_str(), 0755);
  WriteTestFile(w / "gitdata/config", "[core]\n");
  REQUIRE(symlink("gitdata", (w / ".git").c_str()) == 0);
  Finished run = Shell(w.path(),
                       "cat .git/config; rm -f .git; mv .git g; ln -sfn /tmp .git; echo x >> "
                       "gitdata/config; mv gitdata other; readlink .git");
  CHECK(run.out == "[core]\ngitdata\n");
  CHECK(NamesIn(w.path()) == std::vector<std::string>{".git", "gitdata"});
}

TEST_CASE("links on the way to a shown path are there") {
  TempDir w;
  // A toolchain directory in the home that is a link to another place.
  mkdir((Home() + "/real-cargo").c_str(), 0755);
  WriteTestFile(Home() + "/real-cargo/config.toml", "c\n");
  REQUIRE(symlink("real-cargo", (Home() + "/.cargo").c_str()) == 0);
  Finished run = Shell(w.path(), "cat ~/.cargo/config.toml; readlink ~/.cargo");
  unlink((Home() + "/.cargo").c_str());
  RemoveTree(Home() + "/real-cargo");
  CHECK(run.out == "c\nreal-cargo\n");
}

TEST_CASE("/proc is this sandbox's own, and nothing but processes can be written in it") {
  TempDir w;
  Finished run = Shell(w.path(),
                       "echo $$; ls -d /proc/[0-9]* | wc -l; cat /proc/1/comm; "
                       "echo 100 > /proc/self/oom_score_adj && cat /proc/self/oom_score_adj; "
                       "for f in sys/kernel/hostname sys/kernel/core_pattern sys/vm/drop_caches "
                       "sysrq-trigger irq/default_smp_affinity; do "
                       "{ echo x > /proc/$f; } 2>/dev/null && echo $f; done; true");
  std::vector<std::string> lines = absl::StrSplit(run.out, '\n');
  REQUIRE(lines.size() >= 4);
  CHECK(lines[0] != "1");
  CHECK(atoi(lines[1].c_str()) <= 4);
  CHECK(lines.back() == "");
  CHECK(lines[lines.size() - 2] == "100");
}

TEST_CASE("/dev holds what programs take for granted, and they work") {
  TempDir w;
  std::string probe = Probe(w);
  Finished run = Shell(w.path(), "ls /dev | tr '\\n' ' '; ls /dev/pts | tr '\\n' ' '");
  CHECK(run.out == "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero ptmx ");
  Finished use =
      Shell(w.path(),
            "echo x > /dev/null && head -c 3 /dev/zero | wc -c; head -c 5 /dev/urandom | "
            "wc -c; echo x > /dev/full; echo e > /dev/stderr; echo o > /dev/stdout; cat "
            "/dev/fd/0; echo s > /dev/shm/s && cat /dev/shm/s; touch /dev/x; rm -f "
            "/dev/null; chmod 600 /dev/null /dev/tty; ./probe pty; ./probe pty");
  CHECK(use.out == "3\n5\no\ns\n/dev/pts/0 ok\n/dev/pts/0 ok\n");
  CHECK(absl::StrContains(use.err, "e\n"));
  struct stat st;
  REQUIRE(stat("/dev/null", &st) == 0);
  CHECK((st.st_mode & 0777) == 0666);
}

TEST_CASE("no capability is left or can be had again, and no core is written") {
  TempDir w;
  Probe(w);
  Finished run = Shell(w.path(), "./probe privileges; grep -E '^Cap' /proc/self/status");
  CHECK(run.out ==
        "securebits 0xef no_new_privs 1 core 0/0\n"
        "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
        "CapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\n");
  // The init that stays holds no more, and cannot be looked into.
  Finished init = Shell(w.path(),
                        "grep -E '^(CapPrm|CapBnd|NoNewPrivs)' /proc/1/status; ls "
                        "/proc/1/fd /proc/1/root/ >/dev/null 2>&1 && echo open");
  CHECK(init.out == "CapPrm:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\n");
}

TEST_CASE("ids are the caller's own, and root sees all owners right") {
  TempDir w;
  Finished run = Shell(w.path(), "id -u; id -g; stat -c %u / .; stat -c %u /usr");
  std::string uid = absl::StrCat(getuid());
  bool maps_all = getuid() == 0 && !GatherFacts().full_uid_map.empty();
  if (getuid() == 0 && maps_all) {
    REQUIRE(chown(w.path().c_str(), 4711, 4712) == 0);
    CHECK(Shell("/", "stat -c %u:%g .", {"--workspace", w.path(), "--chdir", w.path()}).out ==
          "4711:4712\n");
    REQUIRE(chown(w.path().c_str(), 0, 0) == 0);
  } else if (getuid() != 0) {
    CHECK(run.out == absl::StrCat(uid, "\n", getgid(), "\n65534\n", uid, "\n65534\n"));
  }
}

TEST_CASE("the loopback has an address of each family besides its own, and low ports are free") {
  TempDir w;
  CHECK(absl::StartsWith(Shell(w.path(), "cat /proc/sys/net/ipv4/ip_unprivileged_port_start").out,
                         "0\n"));
  Finished run = Shell(w.path(), "cat /proc/net/fib_trie; cat /proc/net/if_inet6");
  CHECK(absl::StrContains(run.out, "127.0.0.1\n"));
  CHECK(absl::StrContains(run.out, "192.0.2.1\n"));
  if (Exists("/proc/net/if_inet6")) {
    CHECK(absl::StrContains(run.out, "20010db8000000000000000000000001"));
  }
}

// With standard output on a file of the host that the sandbox hides.
std::string TryStream(const TempDir& w, int flags, const std::string& text) {
  // Below the host's /tmp: outside of all that is shown.
  std::string file = absl::StrCat("/tmp/agent-exec-log-", getpid());
  WriteTestFile(file, "first\n", 0600);
  ProcessSpec spec = ShellSpec(w.path(), text);
  spec.prepare = [&] {
    int fd = open(file.c_str(), flags | O_CLOEXEC);
    dup2(fd, 1);
  };
  Finished run = RunProcess(spec);
  std::string content = ReadTestFile(file);
  unlink(file.c_str());
  return absl::StrCat(run.err, "|", content);
}

TEST_CASE("a stream is opened again for what it was opened for, and an appending one not cut off") {
  if (GatherFacts().landlock_abi < 3) {
    MESSAGE("SKIP: needs Landlock of ABI 3");
    return;
  }
  TempDir w;
  Probe(w);
  const char* const open_all =
      "./probe open /proc/self/fd/1 read; ./probe open /proc/self/fd/1 write; "
      "./probe open /proc/self/fd/1 write append";
  CHECK(
      TryStream(w, O_WRONLY | O_APPEND, "echo more; (: > /proc/self/fd/1); echo e > /dev/stderr") ==
      "/bin/sh: 1: cannot create /proc/self/fd/1: Permission denied\ne\n|first\nmore\n");
  CHECK(TryStream(w, O_WRONLY | O_APPEND, open_all) == "Permission denied\nok\nok\n|first\n");
  CHECK(TryStream(w, O_WRONLY | O_TRUNC, "echo a > /dev/stdout; echo b > /dev/stdout") == "|b\n");
  CHECK(TryStream(w, O_RDONLY, open_all) == "ok\nPermission denied\nPermission denied\n|first\n");
}

TEST_CASE("many pins do not need a high limit of descriptors, and the command gets its own") {
  TempDir w;
  TempDir shown;
  std::vector<std::string> options;
  // Below /tmp, which is private: each must be pinned before it is covered.
  for (int i = 0; i < 120; ++i) {
    std::string path = shown / absl::StrCat("d", i);
    mkdir(path.c_str(), 0755);
    WriteTestFile(path + "/x", "x");
    options.insert(options.end(), {"--read", path});
  }
  ProcessSpec spec = ShellSpec(
      w.path(), absl::StrCat("ulimit -n; ulimit -Hn; ls ", shown.path(), "/*/x | wc -l"), options);
  spec.prepare = [] {
    struct rlimit limit = {64, 1000};
    setrlimit(RLIMIT_NOFILE, &limit);
  };
  CHECK(RunProcess(spec).out == "64\n1000\n120\n");
}

double MillisecondsOf(const std::string& cwd, const std::vector<std::string>& options) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    struct timeval before;
    struct timeval after;
    gettimeofday(&before, nullptr);
    Finished run = Shell(cwd, "exit 0", options);
    gettimeofday(&after, nullptr);
    CHECK(run.Ending() == "exit 0");
    best = std::min(best,
                    (after.tv_sec - before.tv_sec) * 1e3 + (after.tv_usec - before.tv_usec) / 1e3);
  }
  return best;
}

TEST_CASE("two thousand protected paths hold, and cost in proportion to their number") {
  TempDir w;
  TempDir policies;
  std::string few = "version = 1\n[filesystem]\ndeny-write = [";
  std::string many = few;
  for (int i = 0; i < 2000; ++i) {
    std::string name = absl::StrCat("d", i);
    mkdir((w / name).c_str(), 0755);
    absl::StrAppend(&many, "\"", name, "\",");
    if (i < 200) absl::StrAppend(&few, "\"", name, "\",");
  }
  WriteTestFile(policies / "few.toml", few + "]\n");
  WriteTestFile(policies / "many.toml", many + "]\n");
  Finished run = Shell(w.path(),
                       "for i in 0 999 1999; do touch d$i/x 2>/dev/null && echo $i; done; "
                       "touch free",
                       {"--policy", policies / "many.toml"});
  CHECK(run.out == "");
  CHECK(Exists(w / "free"));
  double few_ms = MillisecondsOf(w.path(), {"--policy", policies / "few.toml"});
  double many_ms = MillisecondsOf(w.path(), {"--policy", policies / "many.toml"});
  MESSAGE("200: " << few_ms << " ms, 2000: " << many_ms << " ms");
  // Ten times the rules: a quadratic step would show as a factor of a hundred.
  CHECK(many_ms < 25 * few_ms);
}

TEST_CASE("without mount_setattr the same comes out by remounting") {
  TempDir w;
  mkdir((w / "keys").c_str(), 0755);
  WriteTestFile(w / "keys/public", "p\n");
  WriteTestFile(w / ".env", "x");
  WriteTestFile(Home() + "/.gitconfig", "[user]\n\tname = Somebody\n");
  mkdir((w / "gitdata").c_str(), 0755);
  REQUIRE(symlink("gitdata", (w / ".git").c_str()) == 0);
  ProcessSpec spec = ShellSpec(w.path(),
                               "cat /proc/self/mountinfo; touch /etc/x /usr/x /sys/x gitdata/x "
                               "keys/x; rm -f .git; chmod 777 .env; echo x >> ~/.gitconfig; ls -A",
                               {"--deny-read", ".env", "--deny-read", "keys", "--read",
                                "keys/public", "--deny-write", "none"});
  Finished usual = RunProcess(spec);
  spec.prepare = PretendNoMountAttributes;
  Finished old = RunProcess(spec);
  unlink((Home() + "/.gitconfig").c_str());
  CHECK(old.err == usual.err);
  CHECK(old.exit_status == usual.exit_status);
  CHECK(absl::EndsWith(old.out, "\n.env\n.git\n.agent-exec.toml\ngitdata\nkeys\nnone\n") ==
        absl::EndsWith(usual.out, "\n.env\n.git\n.agent-exec.toml\ngitdata\nkeys\nnone\n"));
  // A link's own mount has nothing that could be written.
  std::map<std::string, std::string> want = Topmost(ParseMounts(usual.out));
  std::map<std::string, std::string> have = Topmost(ParseMounts(old.out));
  want.erase(w / ".git");
  have.erase(w / ".git");
  for (const auto& [target, options] : want) {
    CAPTURE(target);
    CHECK(have[target] == options);
  }
  CHECK(have.size() == want.size());
}

TEST_CASE("without openat2 nothing changes") {
  TempDir w;
  WriteTestFile(w / ".env", "x");
  for (int answer : {ENOSYS, EPERM}) {
    ProcessSpec spec =
        ShellSpec(w.path(), "cat .env; touch /etc/x; mkdir .git/x; echo x > made; echo fine",
                  {"--deny-read", ".env"});
    spec.prepare = [answer] { PretendOldKernel(answer); };
    Finished run = RunProcess(spec);
    CHECK(run.out == "fine\n");
    CHECK(ReadTestFile(w / "made") == "x\n");
    CHECK(!Exists(w / ".git"));
  }
}

TEST_CASE("a sandbox inside can be made when accepted by name, and opens nothing up") {
  if (getuid() == 0 || !Exists("/usr/bin/unshare")) {
    MESSAGE("SKIP: refused for uid 0, or no unshare here");
    return;
  }
  TempDir w;
  WriteTestFile(w / ".env", "TOKEN=1");
  Finished run = Shell(w.path(),
                       "unshare -Urmpf --mount-proc sh -c 'echo $$; umount .env; umount -l .env; "
                       "umount .git; umount /dev/shm; umount /proc/sys; cat .env; mount -o "
                       "remount,bind,rw .git; mkdir .git/x; mount -o remount,bind,rw /; touch "
                       "/etc/x; ls -A /dev/shm; mkdir m; mount --bind / m; ls m/dev/shm; umount -l "
                       "m; mv .env e; true'",
                       {"--weaken", "nested-sandbox", "--deny-read", ".env"});
  CHECK(run.out == "1\n");
  CHECK(ReadTestFile(w / ".env") == "TOKEN=1");
  // Without the word it cannot.
  CHECK(Shell(w.path(), "unshare -Ur true").exit_status != 0);
}

TEST_CASE("closed standard streams stay closed, and no pin takes their place") {
  TempDir w;
  ProcessSpec spec = ShellSpec(w.path(), "ls /proc/self/fd | tr '\\n' ' ' >&2");
  spec.prepare = [] {
    close(0);
    close(1);
  };
  // The one that ls reads, and the pipe.
  CHECK(absl::StrContains(RunProcess(spec).err, "2 "));
  spec.argv.back() = "test -e /proc/self/fd/1 || echo closed >&2";
  CHECK(RunProcess(spec).err == "closed\n");
}

// Scripts by hand.

HostFacts Facts() {
  HostFacts facts = GatherFacts();
  facts.open_files.clear();
  facts.terminal_path.clear();
  return facts;
}

Plan HandMadePlan(const std::string& workspace, const std::string& text) {
  Plan plan;
  plan.workspace = workspace;
  plan.command = {"/bin/sh", {"sh", "-c", text}, workspace};
  plan.origins = {Origin{}, {Origin::Kind::kFile, "policy.toml", 12, 3}};
  const auto add = [&plan](MountKind kind, const std::string& target, Access access) {
    MountOp op;
    op.kind = kind;
    op.target = target;
    if (kind == MountKind::kBind) op.source = target;
    op.access = access;
    op.mode = 01777;
    op.origin = 1;
    plan.mounts.push_back(op);
  };
  add(MountKind::kBind, "/", Access::kRead);
  add(MountKind::kDev, "/dev", Access::kRead);
  add(MountKind::kProc, "/proc", Access::kRead);
  add(MountKind::kTmpfs, "/var/tmp", Access::kWrite);
  add(MountKind::kBind, workspace, Access::kWrite);
  plan.env = {{"PATH", "/usr/bin:/bin", false, 0}};
  return plan;
}

// In a child that may not allocate once the first step is done.
Finished RunPlan(const Plan& plan, std::function<void()> prepare = nullptr) {
  absl::StatusOr<Rendered> rendered = FindBackend("native")->render(plan, Facts());
  REQUIRE(rendered.ok());
  RunOptions options;
  options.exec_is_command = true;
  options.places = {"", "policy.toml:12:3"};
  ProcessSpec spec = ScriptSpec(rendered->script, options);
  spec.prepare = std::move(prepare);
  return RunProcess(spec);
}

TEST_CASE("nothing allocates while a sandbox is made") {
  TempDir w;
  Plan plan = HandMadePlan(w.path(), "echo fine; touch /etc/x; exit 3");
  plan.placeholders = {{w / ".git", Node::kDirectory, false, w.path(), 0}};
  Finished run = RunPlan(plan);
  CHECK(run.Ending() == "exit 3");
  CHECK(run.out == "fine\n");
  CHECK(!Exists(w / ".git"));
}

TEST_CASE("in place the launched process is the command, and all else holds") {
  TempDir w;
  Plan plan = HandMadePlan(
      w.path(),
      "echo $$ $PPID > ids; touch /etc/x 2>/dev/null && echo etc; mkdir .git/x 2>/dev/null && echo "
      "git; grep -E '^(CapPrm|CapBnd|NoNewPrivs|Seccomp:)' /proc/self/status; cat "
      "/proc/net/route | wc -l; echo x > /proc/sys/kernel/core_pattern; stat -c %u .; exit 3");
  plan.in_place = true;
  plan.placeholders = {{w / ".git", Node::kDirectory, false, w.path(), 0}};
  MountOp git;
  git.source = git.target = w / ".git";
  plan.mounts.push_back(git);
  absl::StatusOr<Rendered> rendered = FindBackend("native")->render(plan, Facts());
  REQUIRE(rendered.ok());
  Process process(ScriptSpec(rendered->script));
  pid_t pid = process.pid();
  Finished run = process.Wait();
  CHECK(run.Ending() == "exit 3");
  CHECK(ReadTestFile(w / "ids") == absl::StrCat(pid, " ", getpid(), "\n"));
  CHECK(run.out == absl::StrCat("CapPrm:\t0000000000000000\nCapBnd:\t0000000000000000\n"
                                "NoNewPrivs:\t1\nSeccomp:\t2\n1\n",
                                getuid(), "\n"));
  CHECK(Eventually([&] { return !Exists(w / ".git"); }));
}

TEST_CASE("in place no signal reaches a process of the host") {
  if (GatherFacts().landlock_abi < 6) {
    MESSAGE("SKIP: needs Landlock of ABI 6");
    return;
  }
  TempDir w;
  Probe(w);
  Plan plan = HandMadePlan(w.path(), absl::StrCat("./probe kill ", getpid(), "; ./probe kill $$"));
  plan.in_place = true;
  CHECK(RunPlan(plan).out == "Operation not permitted\nok\n");
}

TEST_CASE("a source that is gone, or has become a link, is refused with its place") {
  TempDir w;
  mkdir((w / "real").c_str(), 0755);
  REQUIRE(symlink("real", (w / "link").c_str()) == 0);
  struct Case {
    std::string path;
    const char* error;
  };
  for (const Case& c : {Case{w / "none", "No such file or directory"},
                        Case{w / "link", "Too many levels of symbolic links"}}) {
    for (bool in_place : {false, true}) {
      Plan plan = HandMadePlan(w.path(), "echo ran");
      plan.in_place = in_place;
      // Held open from the start, and covered where it stands.
      MountOp op;
      op.source = op.target = c.path;
      op.origin = 1;
      plan.mounts.push_back(op);
      plan.placeholders = {{w / ".git", Node::kDirectory, false, w.path(), 0}};
      Finished run = RunPlan(plan);
      CHECK(run.Ending() == "exit 125");
      CHECK(run.out == "");
      CHECK(run.err == absl::StrCat("agent-exec: cannot bind '", c.path, "': ", c.error,
                                    " (policy.toml:12:3)\n"));
      CHECK(Eventually([&] { return !Exists(w / ".git"); }));
    }
  }
}

TEST_CASE("a procfs that the host does not allow is refused with a hint") {
  if (getuid() != 0) return;
  TempDir w;
  Plan plan = HandMadePlan(w.path(), "echo ran");
  // As container engines do: the kernel then allows no procfs that shows more.
  Finished run = RunPlan(plan, [] {
    unshare(CLONE_NEWNS);
    mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    mount("tmpfs", "/proc/acpi", "tmpfs", MS_RDONLY, nullptr);
  });
  CHECK(run.Ending() == "exit 125");
  CHECK(run.err ==
        "agent-exec: cannot mount procfs on '/proc': Operation not permitted\n"
        "  hint: a container whose own /proc is covered in part allows no new one\n");
}

TEST_SUITE_END();

}  // namespace
}  // namespace agent_exec
