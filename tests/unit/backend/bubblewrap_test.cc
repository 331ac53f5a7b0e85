#include <algorithm>
#include <set>
#include <string>
#include <variant>
#include <vector>

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
#include "support/read_back.h"
#include "support/status.h"

namespace agent_exec {
namespace {

using namespace testing;

const Backend& Bwrap() { return *FindBackend("bwrap"); }

Rendered MustRender(const Plan& plan, const HostFacts& facts = DebianUser()) {
  REQUIRE_OK_AND_ASSIGN(Rendered rendered, Bwrap().render(plan, facts));
  return rendered;
}

// The expanded words of the options, joined by spaces.
std::string Words(const Plan& plan, const HostFacts& facts = DebianUser()) {
  return absl::StrJoin(MustRender(plan, facts).printed_argv, " ");
}

const Exec& ExecOf(const Rendered& rendered) {
  return std::get<Exec>(rendered.script.steps.back());
}

template <typename T>
std::vector<T> StepsOf(const Rendered& rendered) {
  std::vector<T> found;
  for (const Step& step : rendered.script.steps) {
    if (const T* one = std::get_if<T>(&step)) found.push_back(*one);
  }
  return found;
}

std::vector<std::string> LimitCodes(const Plan& plan, const HostFacts& facts) {
  std::vector<std::string> codes;
  for (const BackendLimit& limit : MustRender(plan, facts).limits) codes.push_back(limit.code);
  return codes;
}

bool Contains(const std::vector<std::string>& all, absl::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// A plan whose mounts are as wild as the invariants of a Plan allow.
Plan WildPlan(Random* random) {
  static const char* const kNames[] = {"a",         "b",        "--bind", "-x",
                                       "new\nline", "\xff\xfe", "sp ace", "c"};
  Plan plan = SmallPlan();
  plan.denied = random->OneIn(3) ? DeniedForm::kEmpty : DeniedForm::kError;
  plan.mounts.clear();
  plan.blobs = {"first", "second"};
  if (random->OneIn(2)) plan.keep_fds = {3, 5, 6, 11};
  std::set<std::string> targets = {"/"};
  for (size_t n = random->Below(12); n > 0; --n) {
    std::string path;
    for (size_t depth = 1 + random->Below(3); depth > 0; --depth) {
      absl::StrAppend(&path, "/", random->Pick(kNames));
    }
    targets.insert(path);
  }
  // Sorted by bytes, an ancestor stands before all that is below it.
  std::string special = random->OneIn(2) ? "/proc" : "";
  if (!special.empty()) targets.insert(special);
  for (const std::string& target : targets) {
    MountOp op;
    if (target == special) {
      op = Special(MountKind::kProc, target);
    } else {
      switch (random->Below(7)) {
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
          if (random->OneIn(4)) op.source = "/srv/elsewhere";
      }
    }
    plan.mounts.push_back(op);
  }
  return plan;
}

TEST_SUITE("backend/bubblewrap") {
  TEST_CASE("what is read back from the rendered words decides every path as the plan does") {
    Random random(1);
    for (int round = 0; round < 2000; ++round) {
      Plan plan = WildPlan(&random);
      Rendered rendered = MustRender(plan, random.OneIn(2) ? DebianRoot() : DebianUser());
      ReadBack back = ReadBackBubblewrap(rendered.script);
      REQUIRE_EQ(back.error, "");
      AccessMap planned(plan.mounts);
      AccessMap read(back.mounts);
      std::vector<std::string> paths = {"/", "/nowhere", "/a/b/c/d", "/proc/1"};
      for (const MountOp& op : plan.mounts) {
        paths.push_back(op.target);
        paths.push_back(Join(op.target, "x"));
        paths.push_back(absl::StrCat(op.target, "x"));
      }
      for (const std::string& path : paths) {
        Decision want = planned.Lookup(path);
        Decision have = read.Lookup(path);
        INFO("round ", round, " path ", path);
        CHECK(want.backing == have.backing);
        CHECK_EQ(want.backing_path, have.backing_path);
        if (want.backing != Backing::kKernel) CHECK(want.access == have.access);
      }
    }
  }

  TEST_CASE("the same holds for plans that random policies give") {
    Random random(2);
    for (int round = 0; round < 2000; ++round) {
      Plan plan = testing::MakeRandomPlan(&random);
      ReadBack back = ReadBackBubblewrap(MustRender(plan, DebianUser()).script);
      REQUIRE_EQ(back.error, "");
      AccessMap planned(plan.mounts);
      AccessMap read(back.mounts);
      for (const MountOp& op : plan.mounts) {
        for (const std::string& path : {op.target, Join(op.target, "a"), Join(op.target, "a/b")}) {
          Decision want = planned.Lookup(path);
          Decision have = read.Lookup(path);
          INFO("round ", round, " path ", path);
          CHECK(want.backing == have.backing);
          CHECK_EQ(want.backing_path, have.backing_path);
          if (want.backing != Backing::kKernel) CHECK(want.access == have.access);
        }
      }
    }
  }

  TEST_CASE("each mount becomes the words that make it, and file systems are sealed last") {
    CHECK_EQ(Words(SmallPlan()),
             "/usr/bin/bwrap --unshare-user --unshare-pid --unshare-ipc --unshare-uts "
             "--unshare-cgroup-try --unshare-net --die-with-parent --cap-drop ALL "
             "--ro-bind / / --dev /dev --proc /proc --ro-bind /proc/sys /proc/sys --perms 755 "
             "--tmpfs /run "
             "--perms 1777 --size 1048576 --tmpfs /tmp --bind /w /w "
             "--perms 1777 --tmpfs /dev/shm --perms 000 --ro-bind-data 5 /w/.env "
             "--perms 000 --tmpfs /w/keys "
             "--remount-ro /dev --remount-ro /run --remount-ro /w/keys "
             "--chdir /w --seccomp 4 -- make -j2");
  }

  TEST_CASE("a link and a data file are made as such") {
    Plan plan = SmallPlan();
    MountOp link = Special(MountKind::kSymlink, "/bin");
    link.source = "usr/bin";
    MountOp data = Special(MountKind::kData, "/home/u/.gitconfig");
    data.blob = 0;
    data.mode = 0444;
    plan.blobs = {"[user]\n"};
    plan.mounts = {link, data};
    CHECK(absl::StrContains(
        Words(plan), "--symlink usr/bin /bin --perms 444 --ro-bind-data 5 /home/u/.gitconfig"));
    Rendered rendered = MustRender(plan);
    PassBlob last = StepsOf<PassBlob>(rendered).back();
    CHECK_EQ(last.fd, 5);
    CHECK_EQ(rendered.script.blobs[last.blob], "[user]\n");
  }

  TEST_CASE("a denied directory with something allowed below can be passed through, not listed") {
    Plan plan = SmallPlan();
    plan.mounts.push_back(Bind("/w/keys/public", Access::kRead));
    CHECK(absl::StrContains(Words(plan), "--perms 111 --tmpfs /w/keys --ro-bind /w/keys/public"));
  }

  TEST_CASE("denied = empty makes what can be read, and is empty") {
    Plan plan = SmallPlan();
    plan.denied = DeniedForm::kEmpty;
    CHECK(absl::StrContains(Words(plan), "--perms 444 --ro-bind-data 5 /w/.env"));
    CHECK(absl::StrContains(Words(plan), "--perms 555 --tmpfs /w/keys"));
  }

  TEST_CASE("the network is unshared unless the policy gives the host's") {
    Plan plan = SmallPlan();
    CHECK(absl::StrContains(Words(plan), " --unshare-net "));
    plan.network = NetworkMode::kHost;
    CHECK_FALSE(absl::StrContains(Words(plan), "--unshare-net"));
  }

  TEST_CASE("/proc/sys is read-only, and for uid 0 all else that it owns below /proc") {
    ReadBack root = ReadBackBubblewrap(MustRender(SmallPlan(), DebianRoot()).script);
    CHECK_EQ(absl::StrJoin(root.proc_covers, " "),
             "sys bus fs irq acpi driver asound scsi ide cpu dynamic_debug sysrq-trigger");
    ReadBack user = ReadBackBubblewrap(MustRender(SmallPlan(), DebianUser()).script);
    CHECK_EQ(absl::StrJoin(user.proc_covers, " "), "sys");
  }

  TEST_CASE("nothing of the policy and no value is in an argument list") {
    Rendered rendered = MustRender(SmallPlan());
    CHECK_EQ(absl::StrJoin(ExecOf(rendered).argv, " "), "/usr/bin/bwrap --args 3 -- make -j2");
    CHECK_EQ(ExecOf(rendered).path, "/usr/bin/bwrap");
    CHECK_EQ(ReadBackBubblewrap(rendered.script).cap_drop, "ALL");
    CHECK_EQ(ReadBackBubblewrap(rendered.script).chdir, "/w");
  }

  TEST_CASE("the command keeps its own words, whatever they look like") {
    Plan plan = SmallPlan();
    plan.command.argv = {"--version", "", "--", "--args", "7"};
    ReadBack back = ReadBackBubblewrap(MustRender(plan).script);
    CHECK_EQ(back.error, "");
    CHECK(back.command == plan.command.argv);
  }

  TEST_CASE("a bare name without a PATH to find it in is replaced by the file that was found") {
    Plan plan = SmallPlan();
    plan.env.erase(plan.env.begin() + 2);
    CHECK_EQ(ReadBackBubblewrap(MustRender(plan).script).command[0], "/usr/bin/make");
    plan.command.argv[0] = "./make";
    CHECK_EQ(ReadBackBubblewrap(MustRender(plan).script).command[0], "./make");
  }

  TEST_CASE("the environment is the planned one with the backend's name, sorted") {
    CHECK_EQ(absl::StrJoin(ExecOf(MustRender(SmallPlan())).env, " "),
             "AGENT_EXEC=0.1.0 AGENT_EXEC_BACKEND=bwrap HOME=/home/u PATH=/usr/bin:/bin PWD=/w");
    Plan nested = SmallPlan();
    nested.env.insert(nested.env.begin() + 1, EnvVar{"AGENT_EXEC_BACKEND", "outer", true, 0});
    CHECK_EQ(ExecOf(MustRender(nested)).env[1], "AGENT_EXEC_BACKEND=bwrap");
    CHECK_EQ(ExecOf(MustRender(nested)).env.size(), 5);
  }

  TEST_CASE("what would act on bubblewrap itself reaches the command alone") {
    for (const char* name : {"LD_PRELOAD", "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "GCONV_PATH",
                             "LOCPATH", "MALLOC_PERTURB_", "NLSPATH"}) {
      Plan plan = SmallPlan();
      plan.env.push_back({name, "v=1", true, 0});
      std::sort(plan.env.begin(), plan.env.end(),
                [](const EnvVar& a, const EnvVar& b) { return a.name < b.name; });
      Rendered rendered = MustRender(plan);
      CHECK_FALSE(Contains(ExecOf(rendered).env, absl::StrCat(name, "=v=1")));
      ReadBack back = ReadBackBubblewrap(rendered.script);
      REQUIRE_EQ(back.set_env.size(), 1);
      CHECK_EQ(back.set_env[0].first, name);
      CHECK_EQ(back.set_env[0].second, "v=1");
    }
  }

  TEST_CASE("descriptor numbers go around the kept ones, and only listed ones stay open") {
    Plan plan = SmallPlan();
    plan.keep_fds = {4, 5, 7};
    Rendered rendered = MustRender(plan);
    std::vector<PassBlob> blobs = StepsOf<PassBlob>(rendered);
    CHECK_EQ(blobs[0].fd, 3);
    CHECK_EQ(blobs[1].fd, 6);
    CHECK_EQ(StepsOf<PassNull>(rendered)[0].fd, 8);
    CHECK(StepsOf<CloseOthers>(rendered)[0].keep == std::vector<int>{3, 4, 5, 6, 7, 8});
  }

  TEST_CASE("the filter travels as the kernel's struct sock_filter") {
    Rendered rendered = MustRender(SmallPlan());
    PassBlob filter = StepsOf<PassBlob>(rendered)[1];
    CHECK_EQ(filter.name, kFilterBlobName);
    CHECK_EQ(ReadBackBubblewrap(rendered.script).seccomp_fd, filter.fd);
    const std::string& bytes = rendered.script.blobs[filter.blob];
    REQUIRE(bytes.size() >= 8);
    CHECK_EQ(bytes.size() % 8, 0);
    // BPF_LD | BPF_W | BPF_ABS at the architecture: every filter begins by telling which ABI
    // called.
    CHECK_EQ(static_cast<unsigned char>(bytes[0]), 0x20);
    CHECK_EQ(static_cast<unsigned char>(bytes[4]), 4);
  }

  TEST_CASE("the filter is that of a run without a supervisor, for the plan and the machine") {
    Plan plan = SmallPlan();
    const auto filter = [&plan](const HostFacts& facts) {
      Rendered rendered = MustRender(plan, facts);
      return rendered.script.blobs[StepsOf<PassBlob>(rendered)[1].blob];
    };
    const auto serialized_size = [](FilterOptions options) {
      return AssembleFilter(options).size() * 8;
    };
    FilterOptions user;
    CHECK_EQ(filter(DebianUser()).size(), serialized_size(user));
    FilterOptions root;
    root.ignore_chown = true;
    plan.ignore_chown = true;
    CHECK_EQ(filter(DebianRoot()).size(), serialized_size(root));
    plan.ignore_chown = false;
    FilterOptions nested;
    nested.nested_sandbox = true;
    plan.nested_sandbox = true;
    CHECK_EQ(filter(DebianUser()).size(), serialized_size(nested));
    plan.nested_sandbox = false;
    HostFacts arm = DebianUser();
    arm.arch = Arch::kAarch64;
    CHECK_NE(filter(arm), filter(DebianUser()));
  }

  TEST_CASE(
      "placeholders are made first, then the sweeper starts, and descriptors are closed last") {
    Plan plan = SmallPlan();
    plan.lasting_dirs = {{"/home/u/.cache/agent-exec/x/tmp", 0}};
    plan.placeholders = {{"/w/a", Node::kDirectory, true, "/w", 0},
                         {"/w/a/.git", Node::kDirectory, false, "/w", 0}};
    plan.file_size_bytes = 1 << 20;
    Rendered rendered = MustRender(plan);
    const std::vector<Step>& steps = rendered.script.steps;
    REQUIRE(steps.size() > 6);
    CHECK(std::holds_alternative<MakeLastingDir>(steps[0]));
    CHECK_EQ(std::get<MakePlaceholder>(steps[1]).placeholder.path, "/w/a");
    CHECK_EQ(std::get<MakePlaceholder>(steps[2]).placeholder.path, "/w/a/.git");
    CHECK_EQ(std::get<StartSweeper>(steps[3]).info_fd, ReadBackBubblewrap(rendered.script).info_fd);
    CHECK(std::holds_alternative<SetLimit>(steps[steps.size() - 3]));
    CHECK(std::holds_alternative<CloseOthers>(steps[steps.size() - 2]));
    CHECK(std::holds_alternative<Exec>(steps.back()));
    // Printed, there is nobody to read it.
    CHECK_FALSE(Contains(rendered.printed_argv, "--info-fd"));
  }

  TEST_CASE("links are held by the launcher, after the sweeper was left outside") {
    Plan plan = SmallPlan();
    plan.placeholders = {{"/w/a", Node::kDirectory, false, "/w", 0}};
    plan.held_links = {{"/w/.git", "gitdata", 0}};
    plan.needs.push_back({Feature::kLinks, 0});
    Rendered rendered = MustRender(plan);
    REQUIRE(std::holds_alternative<StartSweeper>(rendered.script.steps[1]));
    REQUIRE(std::holds_alternative<HoldLink>(rendered.script.steps[2]));
    CHECK_EQ(std::get<HoldLink>(rendered.script.steps[2]).link.path, "/w/.git");
    CHECK(std::find(rendered.enforced.begin(), rendered.enforced.end(), Feature::kLinks) !=
          rendered.enforced.end());
  }

  TEST_CASE("without placeholders there is no sweeper and no --info-fd") {
    Rendered rendered = MustRender(SmallPlan());
    CHECK(StepsOf<StartSweeper>(rendered).empty());
    CHECK_EQ(ReadBackBubblewrap(rendered.script).info_fd, -1);
  }

  TEST_CASE(
      "more words than bubblewrap takes are an error with the number, the bound and the rule") {
    Plan plan = SmallPlan();
    HostFacts facts = DebianUser();
    facts.max_open_files = 100000;
    while (plan.mounts.size() < 1800) {
      plan.mounts.push_back(Mask(absl::StrCat("/w/d/", plan.mounts.size()), Node::kFile));
      plan.mounts.back().origin = 2;
    }
    CHECK_DIAGNOSTIC(Bwrap().render(plan, facts), kResourceExhausted,
                     "bubblewrap takes at most 9000 arguments, and this policy needs 9015",
                     "policy.toml:12:3", "name a directory in place of the many paths in it");
  }

  TEST_CASE("exactly as many words as bubblewrap takes are fine, the command's own counted") {
    Plan plan = SmallPlan();
    HostFacts facts = DebianUser();
    facts.max_open_files = 100000;
    while (plan.mounts.size() < 1790) {
      plan.mounts.push_back(Mask(absl::StrCat("/w/d/", plan.mounts.size()), Node::kFile));
    }
    Rendered rendered = MustRender(plan, facts);
    // The printed words lack "--args FD" and have the program's name.
    size_t words = rendered.printed_argv.size() - 1 + 2;
    plan.command.argv.resize(plan.command.argv.size() + 9000 - words, "x");
    CHECK_OK(Bwrap().render(plan, facts));
    plan.command.argv.push_back("x");
    CHECK_ERROR(Bwrap().render(plan, facts), kResourceExhausted, "needs 9001");
  }

  TEST_CASE("more descriptors than may be open are an error with the number and the bound") {
    Plan plan = SmallPlan();
    for (int i = 0; i < 1100; ++i) {
      plan.mounts.push_back(Mask(absl::StrCat("/w/d/", i), Node::kFile));
      plan.mounts.back().origin = 2;
    }
    CHECK_DIAGNOSTIC(Bwrap().render(plan, DebianUser()), kResourceExhausted,
                     "bubblewrap needs 1122 descriptors for this policy, and the limit on open "
                     "files is 1024",
                     "policy.toml:12:3", "name a directory in place of the many paths in it");
    plan.mounts.resize(30);
    plan.open_files = 40;
    CHECK_ERROR(Bwrap().render(plan, DebianUser()), kResourceExhausted, "limits.open-files is 40");
  }

  TEST_CASE("a file size limit that the sandbox's own files exceed is an error") {
    Plan plan = SmallPlan();
    plan.blobs = {std::string(5000, 'x')};
    plan.mounts.push_back(Special(MountKind::kData, "/home/u/.gitconfig"));
    plan.mounts.back().blob = 0;
    plan.file_size_bytes = 4096;
    CHECK_ERROR(Bwrap().render(plan, DebianUser()), kResourceExhausted,
                "the sandbox itself needs a file of 5000");
    plan.file_size_bytes = 5000;
    CHECK_OK(Bwrap().render(plan, DebianUser()));
  }

  TEST_CASE("it says why it cannot run and what mends it") {
    struct Row {
      HostFacts facts;
      const char* message;
      const char* hint;
    };
    const Row rows[] = {
        {DebianUser(), "", ""},
        {WithoutBubblewrap(), "not installed", "apt-get install bubblewrap"},
        {WithOldBubblewrap(), "'/usr/bin/bwrap' (0.3.1) has no --perms", "version 0.7 or newer"},
        {WithoutUserNamespaces(),
         "this host refuses user namespaces: unshare: Operation not permitted", "sysctl"},
        {Mac(), "bubblewrap runs on Linux only", ""},
    };
    for (const Row& row : rows) {
      Diagnostic diagnostic = Bwrap().unavailable(row.facts);
      CHECK_EQ(diagnostic.message, row.message);
      CHECK(absl::StrContains(diagnostic.hint, row.hint));
    }
  }

  TEST_CASE("an option that only this plan needs is missed only by this plan") {
    HostFacts facts = DebianUser();
    const auto forget = [&facts](absl::string_view option) {
      auto& features = facts.bwrap.features;
      features.erase(std::remove(features.begin(), features.end(), option), features.end());
    };
    forget("info-fd");
    forget("size");
    CHECK_ERROR(Bwrap().render(SmallPlan(), facts), kFailedPrecondition, "has no --size");
    Plan plan = SmallPlan();
    plan.mounts[4].size_bytes = 0;
    CHECK_OK(Bwrap().render(plan, facts));
    plan.placeholders = {{"/w/.git", Node::kDirectory, false, "/w", 0}};
    CHECK_ERROR(Bwrap().render(plan, facts), kFailedPrecondition, "has no --info-fd");
  }

  TEST_CASE("limits are reported when they can be felt") {
    Plan plan = SmallPlan();
    const std::vector<std::string> always = LimitCodes(plan, DebianUser());
    CHECK_EQ(absl::StrJoin(always, " "),
             "signal-status no-signal-forwarding setup-failure-status background-ends child-signal "
             "stdio-reopen host-replacement unfound-sockets loopback-only no-setgid");
    CHECK(Contains(LimitCodes(plan, DebianRoot()), "single-id-map"));
    plan.ignore_chown = true;
    CHECK(Contains(LimitCodes(plan, DebianRoot()), "root-chown"));
    plan.nested_sandbox = true;
    CHECK(Contains(LimitCodes(plan, DebianUser()), "no-nested-proc"));
    CHECK(Contains(LimitCodes(plan, DebianUser()), "nested-renames"));
    plan.network = NetworkMode::kHost;
    CHECK_FALSE(Contains(LimitCodes(plan, DebianUser()), "loopback-only"));
    CHECK(Contains(LimitCodes(plan, DebianUser()), "host-abstract-sockets"));
    plan.globs = {{"**/.env", 2, 3}};
    CHECK(Contains(LimitCodes(plan, DebianUser()), "new-names"));
    plan.placeholders = {{"/w/.git", Node::kDirectory, false, "/w", 0}};
    CHECK(Contains(LimitCodes(plan, DebianUser()), "placeholder-leftovers"));
    plan.env.pop_back();
    CHECK(Contains(LimitCodes(plan, DebianUser()), "pwd-variable"));
    HostFacts terminal = DebianUser();
    terminal.stdin_is_tty = true;
    CHECK(Contains(LimitCodes(plan, terminal), "terminal-name"));
    terminal.stdout_is_tty = true;
    CHECK_FALSE(Contains(LimitCodes(plan, terminal), "terminal-name"));
  }

  TEST_CASE("every limit that can apply is in the table that the documentation reads") {
    std::set<std::string> codes;
    for (const BackendLimit& limit : Bwrap().limits) {
      CHECK(codes.insert(limit.code).second);
      CHECK_FALSE(absl::StrContains(limit.text, '\n'));
      CHECK_FALSE(absl::EndsWith(limit.text, "."));
    }
    CHECK_EQ(codes.size(), 19);
  }
}

}  // namespace
}  // namespace agent_exec
