#include "policy/policy.h"

#include <string>

#include "absl/strings/match.h"
#include "policy/setting.h"
#include "support/doctest.h"

namespace agent_exec {
namespace {

TEST_SUITE("policy/policy") {
  TEST_CASE("every weakening says that it reduces security, and they stand in the order of names") {
    std::string previous;
    for (const WeakeningName& row : WeakeningNames()) {
      CHECK_MESSAGE(absl::StartsWith(row.help, "Reduces security: "), row.name);
      CHECK_MESSAGE(previous < row.name, row.name);
      previous = row.name;
    }
  }

  TEST_CASE("the row 'weaken' offers and explains every weakening") {
    const Setting* weaken = FindSettingByKey("weaken");
    REQUIRE(weaken != nullptr);
    std::string choices;
    for (const WeakeningName& row : WeakeningNames()) {
      choices += (choices.empty() ? "" : "|") + std::string(row.name);
      CHECK_MESSAGE(absl::StrContains(weaken->man, row.name), row.name);
    }
    CHECK_EQ(choices, std::string(weaken->choices));
    CHECK(absl::StartsWith(weaken->help, "Reduces security:"));
  }

  TEST_CASE("a weakening holds when it was accepted") {
    Policy policy;
    CHECK_FALSE(IsWeakened(policy, Weakening::kRunUnsandboxed));
    policy.weaken.push_back({Weakening::kRunUnsandboxed, {}});
    CHECK(IsWeakened(policy, Weakening::kRunUnsandboxed));
    CHECK_FALSE(IsWeakened(policy, Weakening::kInheritEnvironment));
  }
}

}  // namespace
}  // namespace agent_exec
