#include "plan/access_map.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "plan/resolve.h"
#include "plan/settle.h"
#include "support/doctest.h"
#include "support/planning.h"
#include "support/random_plan.h"
#include "support/status.h"

namespace agent_exec::testing {
namespace {

// The longest target that is the path or above it, by looking at all of them.
int NaiveOp(const std::vector<MountOp>& mounts, absl::string_view path) {
  int best = -1;
  for (size_t i = 0; i < mounts.size(); ++i) {
    if (!IsUnder(path, mounts[i].target)) continue;
    if (best < 0 || mounts[i].target.size() > mounts[best].target.size())
      best = static_cast<int>(i);
  }
  return best;
}

int Rank(Access access) { return static_cast<int>(access); }

}  // namespace

TEST_SUITE("plan/access_map") {
  TEST_CASE("the deepest target decides, and says what is behind the path") {
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf("read /\nwrite .\ndeny-read .env\ndeny-write d",
                                                  "/w/.env\n/w/d/\n/etc/hosts"));
    const AccessMap map(plan.mounts);
    struct Case {
      const char* path;
      Access access;
      Backing backing;
      const char* backing_path;
    };
    const Case cases[] = {
        {"/", Access::kRead, Backing::kHost, "/"},
        {"/etc/hosts", Access::kRead, Backing::kHost, "/etc/hosts"},
        {"/w", Access::kWrite, Backing::kHost, "/w"},
        {"/w/a/b", Access::kWrite, Backing::kHost, "/w/a/b"},
        {"/w/d/x", Access::kRead, Backing::kHost, "/w/d/x"},
        {"/wx", Access::kRead, Backing::kHost, "/wx"},
        {"/w/.env", Access::kNone, Backing::kMasked, ""},
        {"/w/.env2", Access::kWrite, Backing::kHost, "/w/.env2"},
        {"/tmp/x", Access::kWrite, Backing::kTmpfs, ""},
        {"/run/docker.sock", Access::kRead, Backing::kTmpfs, ""},
        {"/home/v", Access::kRead, Backing::kTmpfs, ""},
        {"/home/u/x", Access::kWrite, Backing::kTmpfs, ""},
        {"/proc/1/environ", Access::kRead, Backing::kKernel, ""},
    };
    for (const Case& c : cases) {
      CAPTURE(std::string(c.path));
      const Decision decision = map.Lookup(c.path);
      CHECK(decision.access == c.access);
      CHECK(decision.backing == c.backing);
      CHECK_EQ(decision.backing_path, c.backing_path);
    }
    CHECK_FALSE(map.UniformBelow("/w"));
    CHECK(map.UniformBelow("/w/d"));
    CHECK(map.UniformBelow("/etc"));
    CHECK_FALSE(map.UniformBelow("/"));
  }

  TEST_CASE("a path of a lasting directory is backed by another path of the host") {
    std::vector<MountOp> mounts(2);
    mounts[0].source = mounts[0].target = "/";
    mounts[1].source = "/home/u/.cache/x/tmp";
    mounts[1].target = "/tmp";
    const AccessMap map(mounts);
    CHECK_EQ(map.Lookup("/tmp/a/b").backing_path, "/home/u/.cache/x/tmp/a/b");
    CHECK_EQ(map.Lookup("/tmp").backing_path, "/home/u/.cache/x/tmp");
    CHECK_EQ(map.Lookup("/tmpx").backing_path, "/tmpx");
  }

  TEST_CASE(
      "property: a look-up is the longest prefix, and every plan of every policy holds its "
      "invariants") {
    Random random(1);
    int plans = 0;
    for (int i = 0; i < 2000; ++i) {
      RandomCase c = MakeRandomCase(&random);
      CAPTURE(c.rules);
      CAPTURE(c.tree);
      FakeFileView files(absl::StrCat(kHost, c.tree));
      absl::StatusOr<Plan> plan = PlanOf(PolicyOf(c.rules), files);
      if (!plan.ok()) {
        CHECK(plan.status().code() != absl::StatusCode::kInternal);
        continue;
      }
      ++plans;
      CHECK_OK(CheckPlan(*plan));
      const AccessMap map(plan->mounts);
      for (const std::string& path : files.Paths()) {
        CHECK_EQ(map.Lookup(path).op, NaiveOp(plan->mounts, path));
      }
      for (size_t j = 1; j < plan->mounts.size(); ++j) {
        // Nothing is mounted twice the same way: each mount says something that the one above it
        // does not.
        const MountOp& op = plan->mounts[j];
        if (op.kind != MountKind::kBind || op.purpose == Purpose::kPin) continue;
        std::vector<MountOp> without = plan->mounts;
        without.erase(without.begin() + static_cast<long>(j));
        Decision before = map.Lookup(op.target);
        Decision after = AccessMap(without).Lookup(op.target);
        CHECK((before.access != after.access || before.backing_path != after.backing_path));
      }
    }
    CHECK(plans > 1000);
  }

  TEST_CASE("property: one more deny never opens anything") {
    Random random(2);
    int compared = 0;
    for (int i = 0; i < 2000; ++i) {
      RandomCase c = MakeRandomCase(&random);
      std::string deny = RandomRule(&random, random.OneIn(2) ? "deny-read" : "deny-write");
      if (deny.find('!') != std::string::npos) continue;  // that takes back
      CAPTURE(c.rules);
      CAPTURE(c.tree);
      CAPTURE(deny);
      FakeFileView files(absl::StrCat(kHost, c.tree));
      absl::StatusOr<Plan> before = PlanOf(PolicyOf(c.rules), files);
      absl::StatusOr<Plan> after = PlanOf(PolicyOf(absl::StrCat(c.rules, "\n", deny)), files);
      if (!before.ok() || !after.ok()) continue;
      ++compared;
      const AccessMap old_map(before->mounts);
      const AccessMap new_map(after->mounts);
      for (const std::string& path : files.Paths()) {
        CAPTURE(path);
        const Decision was = old_map.Lookup(path);
        const Decision is = new_map.Lookup(path);
        CHECK(Rank(is.access) <= Rank(was.access));
        // No path of the host comes into sight.
        if (is.backing == Backing::kHost) CHECK_EQ(was.backing_path, is.backing_path);
      }
    }
    CHECK(compared > 800);
  }

  TEST_CASE(
      "property: what a rule denies is not readable, what it protects is not writable, whatever "
      "else is said") {
    Random random(3);
    for (int i = 0; i < 2000; ++i) {
      RandomCase c = MakeRandomCase(&random);
      CAPTURE(c.rules);
      CAPTURE(c.tree);
      FakeFileView files(absl::StrCat(kHost, c.tree));
      Policy policy = PolicyOf(c.rules);
      absl::StatusOr<Plan> plan = PlanOf(policy, files);
      if (!plan.ok()) continue;
      const AccessMap map(plan->mounts);
      for (const PathRule& rule : policy.paths) {
        if (rule.takes_back || rule.pattern.find_first_of("*?[{") != std::string::npos) continue;
        if (rule.want != Want::kDenyRead && rule.want != Want::kDenyWrite) continue;
        bool is_taken_back = false;
        for (const PathRule& other : policy.paths)
          is_taken_back = is_taken_back || other.takes_back;
        if (is_taken_back) continue;
        std::string path;
        NodeInfo info;
        if (files.Resolve(Join("/w", rule.pattern), &path, &info) != 0) continue;
        CAPTURE(path);
        const Decision decision = map.Lookup(path);
        if (rule.want == Want::kDenyRead) {
          CHECK(decision.backing != Backing::kHost);
        } else {
          CHECK((decision.backing != Backing::kHost || decision.access != Access::kWrite));
        }
      }
    }
  }
}

TEST_SUITE("plan/settle") {
  TEST_CASE("a directory is followed by what is below it, then by its siblings") {
    CHECK(PathLess("/", "/a"));
    CHECK(PathLess("/a", "/a/b"));
    CHECK(PathLess("/a/b", "/a-b"));
    CHECK(PathLess("/a/z", "/a!"));
    CHECK_FALSE(PathLess("/a-b", "/a/b"));
    CHECK_FALSE(PathLess("/a", "/a"));
  }
}

}  // namespace agent_exec::testing
