#include <algorithm>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "abi/linux_landlock.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backend/backend.h"
#include "base/path.h"
#include "plan/access_map.h"
#include "seccomp/filter.h"
#include "support/doctest.h"
#include "support/facts.h"
#include "support/plans.h"
#include "support/random.h"
#include "support/random_plan.h"
#include "support/read_back_native.h"
#include "support/status.h"

namespace agent_exec {
namespace {

using namespace testing;

const Backend& Native() { return *FindBackend("native"); }

Rendered MustRender(const Plan& plan, const HostFacts& facts = NativeUser()) {
  REQUIRE_OK_AND_ASSIGN(Rendered rendered, Native().render(plan, facts));
  return rendered;
}

template <typename T>
std::vector<T> StepsOf(const Rendered& rendered) {
  std::vector<T> found;
  for (const Step& step : rendered.script.steps) {
    if (const T* one = std::get_if<T>(&step)) found.push_back(*one);
  }
  return found;
}

template <typename T>
size_t PlaceOf(const Rendered& rendered) {
  for (size_t i = 0; i < rendered.script.steps.size(); ++i) {
    if (std::holds_alternative<T>(rendered.script.steps[i])) return i;
  }
  return std::string::npos;
}

// The mounting steps as text, from the first pin to the last seal.
std::string MountText(const Plan& plan, const HostFacts& facts = NativeUser()) {
  std::string text = FormatScript(MustRender(plan, facts).script);
  size_t begin = text.find("\npin-tree") + 1;
  return text.substr(begin, text.find("change-dir") - begin);
}

std::vector<std::string> LimitCodes(const Plan& plan, const HostFacts& facts) {
  std::vector<std::string> codes;
  for (const BackendLimit& limit : MustRender(plan, facts).limits) codes.push_back(limit.code);
  return codes;
}

bool Contains(const std::vector<std::string>& all, absl::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// A plan whose mounts are as wild as the invariants of a Plan allow: what is below a file, or below
// a link, cannot be.
Plan WildPlan(Random* random) {
  static const char* const kNames[] = {"a", "b", "--x", "new\nline", "\xff\xfe", "sp ace", "c"};
  Plan plan = SmallPlan();
  plan.denied = random->OneIn(3) ? DeniedForm::kEmpty : DeniedForm::kError;
  plan.in_place = random->OneIn(4);
  plan.mounts.clear();
  plan.blobs = {"first", "second"};
  std::set<std::string> targets;
  if (!random->OneIn(5)) targets.insert("/");
  for (size_t n = random->Below(12); n > 0; --n) {
    std::string path;
    for (size_t depth = 1 + random->Below(3); depth > 0; --depth) {
      absl::StrAppend(&path, "/", random->Pick(kNames));
    }
    targets.insert(path);
  }
  if (random->OneIn(2)) targets.insert("/proc");
  if (random->OneIn(2)) targets.insert("/dev");
  std::string leaf = "//";
  for (const std::string& target : targets) {
    if (IsUnder(target, leaf)) continue;
    MountOp op;
    switch (random->Below(8)) {
      case 0:
        op = Tmpfs(target, random->OneIn(2) ? 0755 : 01777, Access::kWrite);
        if (random->OneIn(2)) op.size_bytes = 4096;
        break;
      case 1:
        op = Tmpfs(target, 0700, Access::kRead);
        break;
      case 2:
        op = Mask(target, Node::kDirectory);
        break;
      case 3:
        op = Mask(target, Node::kFile);
        break;
      case 4:
        op = Special(MountKind::kData, target);
        op.blob = static_cast<int>(random->Below(2));
        op.node = Node::kFile;
        op.mode = 0444;
        break;
      default:
        op = Bind(target, random->OneIn(2) ? Access::kWrite : Access::kRead);
        if (random->OneIn(4) && op.access == Access::kWrite) op.source = "/srv/elsewhere";
    }
    if (target == "/")
      op = random->OneIn(2) ? Bind("/", Access::kRead) : Tmpfs("/", 0755, Access::kRead);
    if (target == "/proc") op = Special(MountKind::kProc, target);
    if (target == "/dev") op = Special(MountKind::kDev, target);
    if (op.node == Node::kFile) leaf = target;
    plan.mounts.push_back(op);
  }
  return plan;
}

void CheckDecisions(const Plan& plan, const Script& script) {
  ReadBackTree back = ReadBackNative(script);
  REQUIRE_EQ(back.error, "");
  AccessMap planned(plan.mounts);
  AccessMap read(back.mounts);
  std::vector<std::string> paths = {"/nowhere", "/a/b/c/d", "/proc/1"};
  for (const MountOp& op : plan.mounts) {
    paths.push_back(op.target);
    paths.push_back(Join(op.target, "x"));
    paths.push_back(absl::StrCat(op.target, "x"));
  }
  for (const std::string& path : paths) {
    Decision want = planned.Lookup(path);
    Decision have = read.Lookup(path);
    INFO("path ", path, "\n", FormatScript(script));
    // Nothing planned is an empty, read-only file system.
    if (want.op < 0) {
      CHECK(have.backing == Backing::kTmpfs);
      CHECK(have.access == Access::kRead);
      continue;
    }
    // The host's procfs in place of a new one.
    if (want.backing == Backing::kKernel && plan.in_place) continue;
    CHECK(want.backing == have.backing);
    CHECK_EQ(want.backing_path, have.backing_path);
    if (want.backing != Backing::kKernel && want.backing != Backing::kData) {
      CHECK(want.access == have.access);
    }
  }
}

TEST_SUITE("backend/native") {
  TEST_CASE("the steps, carried out, decide every path as the plan does") {
    Random random(11);
    for (int round = 0; round < 2000; ++round) {
      INFO("round ", round);
      Plan plan = WildPlan(&random);
      HostFacts facts = random.OneIn(2) ? NativeRoot() : NativeUser();
      if (random.OneIn(2)) facts.hard_max_open_files = 64;
      CheckDecisions(plan, MustRender(plan, facts).script);
    }
  }

  TEST_CASE("the same holds for plans that random policies give") {
    Random random(12);
    for (int round = 0; round < 2000; ++round) {
      INFO("round ", round);
      Plan plan = testing::MakeRandomPlan(&random);
      HostFacts facts = NativeUser();
      if (random.OneIn(2)) facts.hard_max_open_files = 64;
      CheckDecisions(plan, MustRender(plan, facts).script);
    }
  }

  TEST_CASE("each mount becomes the steps that make it, pins first and seals last") {
    CHECK_EQ(MountText(SmallPlan()), R"(pin-tree 0 /
pin-tree 1 /dev/null devices
pin-tree 2 /dev/zero devices
pin-tree 3 /dev/full devices
pin-tree 4 /dev/random devices
pin-tree 5 /dev/urandom devices
pin-tree 6 /dev/tty devices
pin-tree 7 /w writable
enter-root 0
open-store file 0000 directory 0000
new-tmpfs 8 mode 0755
attach 8 /dev
make-mount-point file /dev/null
attach 1 /dev/null
make-mount-point file /dev/zero
attach 2 /dev/zero
make-mount-point file /dev/full
attach 3 /dev/full
make-mount-point file /dev/random
attach 4 /dev/random
make-mount-point file /dev/urandom
attach 5 /dev/urandom
make-mount-point file /dev/tty
attach 6 /dev/tty
make-mount-point directory /dev/pts
mount-devpts /dev/pts
make-symlink /dev/ptmx to pts/ptmx
make-symlink /dev/fd to /proc/self/fd
make-symlink /dev/stdin to /proc/self/fd/0
make-symlink /dev/stdout to /proc/self/fd/1
make-symlink /dev/stderr to /proc/self/fd/2
mount-proc /proc
loopback-up
cover-tree /proc/sys read-only
new-tmpfs 9 mode 0755
attach 9 /run
new-tmpfs 10 mode 1777 size 1048576
attach 10 /tmp
attach 7 /w
make-mount-point directory /dev/shm
new-tmpfs 11 mode 1777
attach 11 /dev/shm
attach-mask file /w/.env
attach-mask directory /w/keys
close-store
set-read-only /dev
set-read-only /run
)");
  }

  TEST_CASE("everything is pinned first, unless there are not descriptors enough for that") {
    Plan plan = SmallPlan();
    for (int i = 0; i < 2000; ++i) {
      plan.mounts.push_back(Bind(absl::StrCat("/w/d", i), Access::kRead));
    }
    Rendered all = MustRender(plan);
    CHECK_EQ(StepsOf<PinTree>(all).size(), 2008);
    HostFacts few = NativeUser();
    few.hard_max_open_files = 2048;
    Rendered rendered = MustRender(plan, few);
    CHECK(ReadBackNative(rendered.script).most_held <= 10);
    CHECK_EQ(StepsOf<CoverTree>(rendered).size(), 2001);
    CHECK(absl::StrContains(MountText(plan, few), "\ncover-tree /w/d0 read-only\n"));
    // Writable below read-only must be told before the whole is read-only.
    few.hard_max_open_files = 64;
    plan = SmallPlan();
    plan.mounts.push_back(Bind("/usr/x", Access::kWrite));
    CHECK(absl::StrContains(MountText(plan, few), "\npin-tree 8 /usr/x writable\nenter-root 0\n"));
    // A pin within a writable root is a mount of its own, with the rights it has.
    plan.mounts.back() = Bind("/w/dir", Access::kWrite);
    CHECK(absl::StrContains(MountText(plan, few), "\ncover-tree /w/dir\n"));
  }

  TEST_CASE("what a lasting directory does not show is pinned, and finds its place in it") {
    Plan plan = SmallPlan();
    MountOp home = Bind("/home/u", Access::kWrite);
    home.source = "/home/u/.cache/agent-exec/x/home";
    plan.mounts = {Bind("/", Access::kRead), home, Bind("/home/u/.cargo", Access::kRead)};
    const std::string text = MountText(plan);
    CHECK(absl::StrContains(text, "pin-tree 1 /home/u/.cache/agent-exec/x/home writable\n"));
    CHECK(absl::StrContains(text, "pin-tree 2 /home/u/.cargo\n"));
    CHECK(absl::StrContains(text,
                            "make-mount-point directory /home/u/.cargo\n"
                            "attach 2 /home/u/.cargo\n"));
  }

  TEST_CASE("a denied directory with something allowed below can be passed through, not listed") {
    Plan plan = SmallPlan();
    plan.mounts.push_back(Bind("/w/keys/public", Access::kRead));
    const std::string text = MountText(plan);
    CHECK(absl::StrContains(text,
                            " mode 0111\nattach 13 /w/keys\n"
                            "make-mount-point directory /w/keys/public\n"));
    CHECK(absl::StrContains(text, "set-read-only /w/keys\n"));
    CHECK_FALSE(absl::StrContains(text, "attach-mask directory"));
  }

  TEST_CASE("denied = empty makes what can be read, and is empty") {
    Plan plan = SmallPlan();
    plan.denied = DeniedForm::kEmpty;
    CHECK(absl::StrContains(MountText(plan), "open-store file 0444 directory 0555\n"));
  }

  TEST_CASE("/proc/sys is read-only, and for uid 0 all else that it owns below /proc") {
    const auto covers = [](const HostFacts& facts) {
      return absl::StrJoin(ReadBackNative(MustRender(SmallPlan(), facts).script).covers, " ");
    };
    CHECK_EQ(covers(NativeUser()), "/proc/sys");
    CHECK_EQ(covers(NativeRoot()),
             "/proc/sys /proc/bus /proc/fs /proc/irq /proc/acpi /proc/driver /proc/asound "
             "/proc/scsi /proc/ide /proc/cpu /proc/dynamic_debug /proc/sysrq-trigger");
  }

  TEST_CASE("/dev has what programs take for granted, and the caller's terminal where it has one") {
    ReadBackTree plain = ReadBackNative(MustRender(SmallPlan()).script);
    CHECK_EQ(absl::StrJoin(plain.devices, " "),
             "/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty");
    CHECK_EQ(plain.links.size(), 5);
    HostFacts facts = NativeUser();
    facts.stdin_is_tty = true;
    facts.terminal_path = "/dev/pts/3";
    ReadBackTree terminal = ReadBackNative(MustRender(SmallPlan(), facts).script);
    CHECK_EQ(terminal.devices.back(), "/dev/console");
    Plan plan = SmallPlan();
    plan.mounts.erase(plan.mounts.begin() + 6);
    CHECK(absl::StrContains(MountText(plan), " mode 1777\nattach 9 /dev/shm\n"));
  }

  TEST_CASE("the order: host, namespaces, mounts, privileges, process, limits, layers, command") {
    Plan plan = SmallPlan();
    plan.lasting_dirs = {{"/home/u/.cache/agent-exec/x/tmp", 0}};
    plan.placeholders = {{"/w/a", Node::kDirectory, false, "/w", 0}};
    plan.held_links = {{"/w/.git", "gitdata", 0}};
    plan.file_size_bytes = 1 << 20;
    Rendered rendered = MustRender(plan);
    const std::vector<size_t> places = {
        PlaceOf<MakeLastingDir>(rendered),   PlaceOf<MakePlaceholder>(rendered),
        PlaceOf<EnterNamespaces>(rendered),  PlaceOf<PinTree>(rendered),
        PlaceOf<EnterRoot>(rendered),        PlaceOf<AttachMask>(rendered),
        PlaceOf<HoldLink>(rendered),         PlaceOf<SetReadOnly>(rendered),
        PlaceOf<ChangeDir>(rendered),        PlaceOf<DropPrivileges>(rendered),
        PlaceOf<ForkCommand>(rendered),      PlaceOf<SetLimit>(rendered),
        PlaceOf<RestrictLandlock>(rendered), PlaceOf<CloseOthers>(rendered),
        PlaceOf<InstallFilter>(rendered),    PlaceOf<Exec>(rendered)};
    CHECK(std::is_sorted(places.begin(), places.end()));
    CHECK_EQ(places.back(), rendered.script.steps.size() - 1);
    CHECK_EQ(PlaceOf<StartSweeper>(rendered), std::string::npos);
    CHECK(rendered.model == ProcessModel::kSupervised);
    CHECK(rendered.executes_command);
  }

  TEST_CASE("in place there is no init, the host's procfs stands in, and a sweeper cleans up") {
    Plan plan = SmallPlan();
    plan.in_place = true;
    plan.placeholders = {{"/w/a", Node::kDirectory, false, "/w", 0}};
    Rendered rendered = MustRender(plan);
    CHECK_FALSE(StepsOf<EnterNamespaces>(rendered)[0].pid);
    CHECK(StepsOf<ForkCommand>(rendered).empty());
    CHECK(StepsOf<MountProc>(rendered).empty());
    CHECK_EQ(StepsOf<StartSweeper>(rendered)[0].info_fd, -1);
    CHECK(absl::StrContains(MountText(plan), "pin-tree 1 /dev/null devices"));
    CHECK(absl::StrContains(MountText(plan), " /proc writable\n"));
    CHECK(rendered.model == ProcessModel::kInPlace);
    CHECK(std::find(rendered.enforced.begin(), rendered.enforced.end(), Feature::kPids) ==
          rendered.enforced.end());
    CHECK(Contains(LimitCodes(plan, NativeUser()), "host-processes"));
  }

  TEST_CASE("root keeps all ids where it may map them, everybody else its own") {
    const auto ids = [](const HostFacts& facts) {
      return StepsOf<EnterNamespaces>(MustRender(SmallPlan(), facts))[0].ids;
    };
    CHECK(ids(NativeUser()) == IdMap{"1000 1000 1\n", "1000 1000 1\n", true, false});
    CHECK(ids(NativeRoot()) == IdMap{"0 0 4294967295\n", "0 0 4294967295\n", false, true});
    HostFacts bound = NativeRoot();
    bound.full_gid_map.clear();
    CHECK(ids(bound) == IdMap{"0 0 1\n", "0 0 1\n", true, false});
    CHECK(Contains(LimitCodes(SmallPlan(), bound), "single-id-map"));
    CHECK_FALSE(Contains(LimitCodes(SmallPlan(), NativeRoot()), "single-id-map"));
  }

  TEST_CASE("the network is a namespace with a loopback of its own, unless it is the host's") {
    Plan plan = SmallPlan();
    CHECK(StepsOf<EnterNamespaces>(MustRender(plan))[0].net);
    CHECK_EQ(StepsOf<LoopbackUp>(MustRender(plan)).size(), 1);
    plan.network = NetworkMode::kHost;
    CHECK_FALSE(StepsOf<EnterNamespaces>(MustRender(plan))[0].net);
    CHECK(StepsOf<LoopbackUp>(MustRender(plan)).empty());
    CHECK(Contains(LimitCodes(plan, NativeUser()), "host-abstract-sockets"));
    HostFacts scopes = NativeUser();
    scopes.landlock_abi = 6;
    CHECK_FALSE(Contains(LimitCodes(plan, scopes), "host-abstract-sockets"));
  }

  TEST_CASE("Landlock handles what its ABI knows, and is left out below the second") {
    const auto handled = [](int abi) -> uint64_t {
      HostFacts facts = NativeUser();
      facts.landlock_abi = abi;
      auto steps = StepsOf<RestrictLandlock>(MustRender(SmallPlan(), facts));
      return steps.empty() ? 0 : steps[0].handled_fs | steps[0].scoped << 32;
    };
    CHECK_EQ(handled(0), 0);
    CHECK_EQ(handled(1), 0);
    CHECK_EQ(handled(2), 0x3fff);
    CHECK_EQ(handled(3), 0x7fff);
    CHECK_EQ(handled(4), 0x7fff);
    CHECK_EQ(handled(5), 0xffff);
    CHECK_EQ(handled(6), 0x30000ffff);
    CHECK_EQ(handled(9), 0x30000ffff);
    HostFacts none = NativeUser();
    none.landlock_abi = 1;
    CHECK(Contains(LimitCodes(SmallPlan(), none), "no-second-layer"));
    CHECK_FALSE(Contains(LimitCodes(SmallPlan(), NativeUser()), "no-second-layer"));
  }

  TEST_CASE("a Landlock rule stands wherever more is allowed than above, and nowhere else") {
    HostFacts facts = NativeUser();
    facts.landlock_abi = 5;
    const RestrictLandlock step = StepsOf<RestrictLandlock>(MustRender(SmallPlan(), facts))[0];
    std::string text;
    for (const LandlockRule& rule : step.rules) {
      absl::StrAppend(&text, rule.entries ? "in " : "", rule.path, " ", absl::Hex(rule.rights),
                      "\n");
    }
    CHECK_EQ(text,
             "/ 8\n"
             "in / d\n"
             "/dev c00e\n"
             "/proc 400f\n"
             "/tmp 7fff\n"
             "/w 7fff\n"
             "/dev/shm 7fff\n");
  }

  TEST_CASE(
      "for sandboxes inside there is a whole procfs that no path leads to, and no file layer") {
    Plan plan = SmallPlan();
    plan.nested_sandbox = true;
    plan.mounts.erase(plan.mounts.begin() + 6);
    HostFacts facts = NativeUser();
    facts.landlock_abi = 6;
    // What is mounted on the directory above comes after it.
    CHECK(absl::StrContains(MountText(plan, facts),
                            "make-mount-point directory /dev/shm/proc\nmount-proc /dev/shm/proc\n"
                            "make-mount-point directory /dev/shm\n"
                            "new-tmpfs 9 mode 1777\nattach 9 /dev/shm\n"));
    const RestrictLandlock step = StepsOf<RestrictLandlock>(MustRender(plan, facts))[0];
    CHECK_EQ(step.handled_fs, 0);
    CHECK_EQ(step.scoped, 3);
    CHECK(step.rules.empty());
    CHECK(Contains(LimitCodes(plan, facts), "nested-second-layer"));
    CHECK(Contains(LimitCodes(plan, facts), "nested-renames"));
    facts.landlock_abi = 5;
    CHECK(StepsOf<RestrictLandlock>(MustRender(plan, facts)).empty());
    plan.in_place = true;
    CHECK(absl::StrContains(MountText(plan, facts), " /proc writable\npin-tree 2 /dev/null"));
  }

  TEST_CASE("what the command holds it can open again for what it holds it for") {
    struct Case {
      OpenFile file;
      uint64_t rights;
    };
    const Case cases[] = {
        {{0, false, false, true, false, false}, kLandlockReadFile},
        {{1, false, false, false, true, false}, kLandlockWriteFile | kLandlockTruncate},
        {{1, false, false, false, true, true}, kLandlockWriteFile},
        {{2, false, false, true, true, true}, kLandlockReadFile | kLandlockWriteFile},
        {{2, true, false, false, true, false},
         kLandlockWriteFile | kLandlockTruncate | kLandlockIoctlDev},
        {{0, true, true, true, false, false}, kLandlockFileRights & ~kLandlockExecute},
        {{7, false, false, true, false, false}, kLandlockReadFile},
        {{8, false, false, true, false, false}, 0},  // not kept
    };
    Plan plan = SmallPlan();
    plan.keep_fds = {7};
    for (const Case& c : cases) {
      HostFacts facts = NativeUser();
      facts.landlock_abi = 5;
      facts.open_files = {c.file};
      const auto rules = StepsOf<RestrictLandlock>(MustRender(plan, facts))[0].rules;
      CAPTURE(c.file.fd);
      CHECK_EQ(rules.back().path.empty(), c.rights != 0);
      if (c.rights != 0) CHECK_EQ(rules.back().rights, c.rights);
      if (c.rights != 0) CHECK_EQ(rules.back().fd, c.file.fd);
    }
  }

  TEST_CASE("files on the standard streams are a limit, said for what the kernel can do") {
    HostFacts facts = NativeUser();
    facts.open_files = {{1, false, false, false, true, true}};
    const auto has = [&facts](int abi, const char* code) {
      facts.landlock_abi = abi;
      return Contains(LimitCodes(SmallPlan(), facts), code);
    };
    CHECK(has(1, "stdio-reopen"));
    CHECK_FALSE(has(2, "stdio-reopen"));
    CHECK(has(2, "stdio-truncate"));
    CHECK_FALSE(has(3, "stdio-truncate"));
    CHECK(has(3, "stdio-rights"));
    facts.open_files[0].is_device = true;
    CHECK_FALSE(has(3, "stdio-rights"));
  }

  TEST_CASE("the filter is last, and that of the caller, the machine and the process model") {
    const auto filter = [](const Plan& plan, const HostFacts& facts) {
      Rendered rendered = MustRender(plan, facts);
      return rendered.script.blobs[StepsOf<InstallFilter>(rendered)[0].blob];
    };
    Plan in_place = SmallPlan();
    in_place.in_place = true;
    HostFacts arm = NativeUser();
    arm.arch = Arch::kAarch64;
    const std::string user = filter(SmallPlan(), NativeUser());
    CHECK_EQ(user.size(), AssembleFilter(FilterOptions{}).size() * 8);
    Plan ignoring = SmallPlan();
    ignoring.ignore_chown = true;
    CHECK_NE(user, filter(ignoring, NativeUser()));
    Plan nested = SmallPlan();
    nested.nested_sandbox = true;
    CHECK_NE(user, filter(nested, NativeUser()));
    CHECK_NE(user, filter(in_place, NativeUser()));
    CHECK_NE(user, filter(SmallPlan(), arm));
  }

  TEST_CASE("a host that cannot is told apart, with what would mend it") {
    struct Case {
      HostFacts facts;
      const char* message;
    };
    HostFacts bwrap_only = NativeUser();
    bwrap_only.user_namespaces_for_bwrap_only = true;
    HostFacts none = NativeUser();
    none.user_namespaces = false;
    none.user_namespaces_problem = "unshare: Operation not permitted";
    const Case cases[] = {
        {Mac(), "runs on Linux only"},
        {DebianUser(), "this kernel has no open_tree, move_mount and fsopen, or refuses them"},
        {bwrap_only, "this host refuses user namespaces: to all programs but bubblewrap"},
        {none, "this host refuses user namespaces: unshare: Operation not permitted"},
        {NativeUser(), ""},
    };
    for (const Case& c : cases) CHECK_EQ(Native().unavailable(c.facts).message, c.message);
  }

  TEST_CASE("the command is executed as it was found, as typed, with the planned environment") {
    const Exec exec = StepsOf<Exec>(MustRender(SmallPlan()))[0];
    CHECK_EQ(exec.path, "/usr/bin/make");
    CHECK_EQ(absl::StrJoin(exec.argv, " "), "make -j2");
    CHECK_EQ(absl::StrJoin(exec.env, " "),
             "AGENT_EXEC=0.1.0 AGENT_EXEC_BACKEND=native HOME=/home/u PATH=/usr/bin:/bin PWD=/w");
  }
}

}  // namespace
}  // namespace agent_exec
