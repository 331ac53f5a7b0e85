#include "support/random_plan.h"

#include "absl/strings/str_cat.h"
#include "support/planning.h"

namespace agent_exec::testing {
namespace {

constexpr const char* kNames[] = {"a", "b", "c", ".git", ".env", "a-b", "x.toml"};
constexpr const char* kRoots[] = {"", "", "", "/srv/", "~/", "/tmp/"};
constexpr const char* kTreeRoots[] = {"/w/", "/w/", "/w/", "/srv/", "/home/u/", "/tmp/"};
constexpr const char* kWants[] = {"read", "write", "deny-read", "deny-write"};
constexpr const char* kLinkTexts[] = {"a",         "../a", "b/c",  "/srv/a", "/w/b",
                                      "/home/u/a", "..",   "gone", "."};

std::string RandomPath(Random* random) {
  std::string path = random->Pick(kNames);
  for (size_t n = random->Below(3); n > 0; --n) absl::StrAppend(&path, "/", random->Pick(kNames));
  return path;
}

}  // namespace

std::string RandomRule(Random* random, const char* want) {
  std::string path = RandomPath(random);
  if (random->OneIn(3)) {
    constexpr const char* kPatterns[] = {"*", "**/.env", "*/c", "**/a", "a*", "{a,b}/c", ".*"};
    path = random->Pick(kPatterns);
  }
  bool grants = want[0] != 'd';
  constexpr const char* kMissing[] = {"", " missing=allow", " missing=block"};
  const char* missing = grants ? " missing=allow" : want[5] == 'w' ? random->Pick(kMissing) : "";
  return absl::StrCat(want, " ", random->OneIn(12) ? "!" : "", random->Pick(kRoots), path, missing);
}

RandomCase MakeRandomCase(Random* random) {
  RandomCase out;
  out.tree = "/srv/ uid=1000\n";
  for (size_t n = 2 + random->Below(12); n > 0; --n) {
    std::string path = absl::StrCat(random->Pick(kTreeRoots), RandomPath(random));
    switch (random->Below(8)) {
      case 0:
        absl::StrAppend(&out.tree, path, " -> ", random->Pick(kLinkTexts), "\n");
        break;
      case 1:
        absl::StrAppend(&out.tree, path, " socket\n");
        break;
      case 2:
      case 3:
        absl::StrAppend(&out.tree, path, " = s uid=1000\n");
        break;
      default:
        absl::StrAppend(&out.tree, path, "/ uid=1000\n");
        break;
    }
  }
  out.rules = random->OneIn(5) ? "read /usr\nread ." : "read /";
  if (!random->OneIn(4)) out.rules += "\nwrite .";
  for (size_t n = random->Below(7); n > 0; --n) {
    absl::StrAppend(&out.rules, "\n", RandomRule(random, random->Pick(kWants)));
  }
  return out;
}

Plan MakeRandomPlan(Random* random) {
  while (true) {
    RandomCase c = MakeRandomCase(random);
    absl::StatusOr<Plan> plan = PlanOf(c.rules, c.tree);
    if (plan.ok()) return *std::move(plan);
  }
}

}  // namespace agent_exec::testing
