#include "verbs/report.h"

#include <string>

#include "absl/strings/match.h"
#include "support/doctest.h"
#include "support/facts.h"
#include "support/json.h"
#include "support/plans.h"
#include "support/status.h"

namespace agent_exec {
namespace {

using namespace testing;

Json Report(const Policy& policy, const Plan& plan) {
  const Backend& backend = *FindBackend(plan.confined ? "bwrap" : "none");
  REQUIRE_OK_AND_ASSIGN(Rendered rendered, backend.render(plan, DebianUser()));
  const std::string line = FormatStartReport(policy, plan, backend, rendered);
  CHECK_EQ(line.find('\n'), line.size() - 1);
  std::optional<Json> json = ParseJson(line.substr(0, line.size() - 1));
  REQUIRE(json.has_value());
  return *json;
}

TEST_SUITE("verbs/report") {
  TEST_CASE("one line says what is enforced, what is not, and by which policy") {
    Policy policy;
    policy.mode.value = Mode::kWorkspaceWrite;
    policy.weaken = {{Weakening::kInheritEnvironment, {}}};
    Plan plan = SmallPlan();
    plan.globs = {{"**/.env", 2, 3}};
    Json json = Report(policy, plan);
    CHECK_EQ(json.Find("event")->text, "start");
    CHECK_EQ(json.Find("version")->text, "0.1.0");
    CHECK_EQ(json.Find("mode")->text, "workspace-write");
    CHECK_EQ(json.Find("backend")->text, "bwrap");
    CHECK_EQ(json.Find("workspace")->text, "/w");
    CHECK_EQ(json.Find("weakened")->items[0].text, "inherit-environment");
    CHECK_EQ(json.Find("policy-hash")->text.size(), 64);
    CHECK(json.Find("gaps")->items.empty());
    CHECK_EQ(json.Find("limits")->items[0].Find("code")->text, "signal-status");
    CHECK_EQ(json.Find("globs")->items[0].Find("matches")->text, "3");
    bool filter = false;
    for (const Json& feature : json.Find("enforced")->items) {
      filter = filter || feature.text == FeatureName(Feature::kFilter);
    }
    CHECK(filter);
  }

  TEST_CASE("gaps that were accepted are listed with their rule and the name that accepts them") {
    Plan plan = SmallPlan();
    const Backend& none = *FindBackend("none");
    REQUIRE_OK_AND_ASSIGN(Rendered rendered, none.render(plan, DebianUser()));
    std::optional<Json> json = ParseJson(FormatStartReport(Policy{}, plan, none, rendered));
    REQUIRE(json.has_value());
    const Json& gap = json->Find("gaps")->items[0];
    CHECK_EQ(gap.Find("feature")->text, FeatureName(Feature::kMounts));
    CHECK_EQ(gap.Find("weakening")->text, "run-unsandboxed");
    CHECK_EQ(gap.Find("origin")->text, "built-in workspace-write:7:3");
  }

  TEST_CASE("neither the command line nor a value of the environment is in it") {
    Plan plan = SmallPlan();
    plan.command.argv = {"make", "s3cr3t"};
    plan.env.push_back({"TOKEN", "s3cr3t", true, 0});
    const Backend& backend = *FindBackend("bwrap");
    REQUIRE_OK_AND_ASSIGN(Rendered rendered, backend.render(plan, DebianUser()));
    CHECK_FALSE(absl::StrContains(FormatStartReport(Policy{}, plan, backend, rendered), "s3cr3t"));
  }
}

}  // namespace
}  // namespace agent_exec
