#include "plan/environment.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/version.h"
#include "plan/resolve.h"
#include "support/doctest.h"
#include "support/planning.h"
#include "support/status.h"

namespace agent_exec::testing {
namespace {

EnvRule Rule(EnvRule::Kind kind, const char* name, const char* value = "") {
  return {kind, name, value, {Origin::Kind::kFile, "p", 7, 1}};
}
constexpr EnvRule::Kind kAllow = EnvRule::Kind::kAllow;
constexpr EnvRule::Kind kSet = EnvRule::Kind::kSet;
constexpr EnvRule::Kind kDeny = EnvRule::Kind::kDeny;

// The planned variables but ours, as one line.
absl::StatusOr<std::string> Variables(std::vector<std::string> caller, std::vector<EnvRule> rules,
                                      bool inherit = false) {
  FakeFileView files(kHost);
  Policy policy = PolicyOf("read /\nwrite .");
  policy.env = std::move(rules);
  if (inherit) policy.weaken.push_back({Weakening::kInheritEnvironment, {}});
  HostFacts facts = FactsOf();
  facts.env = std::move(caller);
  facts.env.push_back("HOME=/home/u");
  absl::StatusOr<Plan> plan = ResolvePlan(policy, facts, files, {"make"}, {});
  if (!plan.ok()) return plan.status();
  std::string out;
  for (const EnvVar& variable : plan->env) {
    if (absl::StartsWith(variable.name, "AGENT_EXEC") || variable.name == "PWD" ||
        variable.name == "TMPDIR" || variable.name == "HOME") {
      continue;
    }
    absl::StrAppend(&out, out.empty() ? "" : " ", variable.name, "=", variable.value);
  }
  return out;
}

void CheckVariables(std::vector<std::string> caller, std::vector<EnvRule> rules,
                    const char* expected, bool inherit = false) {
  absl::StatusOr<std::string> got = Variables(std::move(caller), std::move(rules), inherit);
  CHECK_OK(got.status());
  if (got.ok()) CHECK_EQ(*got, std::string(expected));
}

absl::StatusOr<Plan> PlanWith(std::vector<std::string> caller, absl::string_view rules,
                              absl::string_view tree) {
  FakeFileView files(absl::StrCat(kHost, tree));
  HostFacts facts = FactsOf();
  facts.env = std::move(caller);
  return ResolvePlan(PolicyOf(rules), facts, files, {"make"}, {});
}

}  // namespace

TEST_SUITE("plan/environment") {
  TEST_CASE("go is told not to ask git about a .git that only holds the name") {
    REQUIRE_OK_AND_ASSIGN(const Plan held, PlanWith({"HOME=/home/u", "GOFLAGS=-mod=mod"},
                                                    "read /\nwrite .\ndeny-write .git", ""));
    REQUIRE_EQ(held.placeholders.size(), 1);
    std::string flags;
    for (const EnvVar& variable : held.env) {
      if (variable.name == "GOFLAGS") flags = variable.value;
    }
    CHECK_EQ(flags, std::string("-buildvcs=false"));
    REQUIRE_OK_AND_ASSIGN(const Plan free, PlanWith({"HOME=/home/u"}, "read /\nwrite .", ""));
    for (const EnvVar& variable : free.env) CHECK_NE(variable.name, std::string("GOFLAGS"));
  }

  TEST_CASE("only what is allowed passes, sorted, the first of a name") {
    CheckVariables({"B=2", "SECRET=x", "A=1", "B=3", "bad", "=x"},
                   {Rule(kAllow, "A"), Rule(kAllow, "B")}, "A=1 B=2");
    CheckVariables({"LC_ALL=C", "LC_=x", "XLC_A=y"}, {Rule(kAllow, "LC_*")}, "LC_=x LC_ALL=C");
    CheckVariables({"A1=x", "A12=y"}, {Rule(kAllow, "A?")}, "A1=x");
    CheckVariables({"A=x"}, {}, "");
  }

  TEST_CASE("a hook passes only when it is named exactly") {
    const std::vector<std::string> caller = {"LD_PRELOAD=x", "BASH_ENV=y", "GIT_CONFIG_COUNT=0",
                                             "OTHER=z"};
    CheckVariables(caller, {Rule(kAllow, "*")}, "OTHER=z");
    CheckVariables(caller, {Rule(kAllow, "LD_*"), Rule(kAllow, "BASH_ENV")}, "BASH_ENV=y");
    CheckVariables(caller, {}, "OTHER=z", true);
    CheckVariables(caller, {Rule(kAllow, "LD_PRELOAD")}, "LD_PRELOAD=x OTHER=z", true);
  }

  TEST_CASE("deny beats allow and inheritance, set beats all") {
    CheckVariables({"A=1", "AB=2"}, {Rule(kDeny, "A*"), Rule(kAllow, "A"), Rule(kAllow, "AB")}, "");
    CheckVariables({"A=1", "B=2"}, {Rule(kDeny, "A")}, "B=2", true);
    CheckVariables({"A=1"}, {Rule(kSet, "A", "x"), Rule(kDeny, "A")}, "A=x");
    CheckVariables({}, {Rule(kSet, "A", "x"), Rule(kSet, "A", "y")}, "A=y");
    CheckVariables({}, {Rule(kSet, "LD_PRELOAD", "x")}, "LD_PRELOAD=x");
  }

  TEST_CASE("what cannot be a variable is an error with its place") {
    CHECK_DIAGNOSTIC(Variables({}, {Rule(kSet, "", "x")}).status(), kInvalidArgument,
                     "expected the name of a variable, got ''", "p:7:1", "");
    CHECK_ERROR(Variables({}, {Rule(kSet, "A=B", "x")}), kInvalidArgument,
                "expected the name of a variable");
    CHECK_ERROR(Variables({}, {Rule(kAllow, "A=B")}), kInvalidArgument,
                "expected the name of a variable");
    CHECK_ERROR(Variables({}, {Rule(kSet, "AGENT_EXEC", "x")}), kInvalidArgument,
                "the launcher tells the command");
    EnvRule nul = Rule(kSet, "A");
    nul.value = std::string("x\0y", 3);
    CHECK_ERROR(Variables({}, {nul}), kInvalidArgument, "NUL");
  }

  TEST_CASE("the command is told where it is") {
    REQUIRE_OK_AND_ASSIGN(const Plan plan,
                          PlanWith({"PATH=/usr/bin", "HOME=/home/u", "AGENT_EXEC=9", "PWD=/x"},
                                   "read /\nwrite .", ""));
    CHECK_EQ(PlannedVariable(plan, "AGENT_EXEC"), kVersion);
    CHECK_EQ(PlannedVariable(plan, "AGENT_EXEC_NETWORK"), "none");
    CHECK_EQ(PlannedVariable(plan, "PWD"), "/w");
    CHECK_EQ(PlannedVariable(plan, "HOME"), "/home/u");
  }

  TEST_CASE("TMPDIR leads to something that can be written, or is the private /tmp") {
    struct Case {
      const char* caller;
      const char* rules;
      const char* expected;
    };
    const Case cases[] = {
        {"X=1", "read /", "/tmp"},
        {"TMPDIR=/tmp", "read /", "/tmp"},
        {"TMPDIR=/tmp/mine", "read /", "/tmp"},
        {"TMPDIR=/srv/t", "read /", "/tmp"},
        {"TMPDIR=/srv/t", "read /\nwrite /srv/t", "/srv/t"},
        {"TMPDIR=/w/t", "read /\nwrite .", "/w/t"},
        {"TMPDIR=rel", "read /\nwrite .", "/tmp"},
        {"TMPDIR=/tmp/mine", "read /\nwrite /tmp/mine", "/tmp/mine"},
    };
    for (const Case& c : cases) {
      CAPTURE(std::string(c.caller));
      REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanWith({c.caller, "PATH=/usr/bin", "HOME=/home/u"},
                                                      c.rules, "/tmp/mine/\n/srv/t/\n/w/t/"));
      CHECK_EQ(PlannedVariable(plan, "TMPDIR"), c.expected);
    }
  }

  TEST_CASE("git pairs of the caller's that pass come before ours") {
    FakeFileView files(absl::StrCat(kHost, "/w/ uid=5"));
    Policy policy = PolicyOf("read /\nwrite .");
    for (const char* name : {"GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"}) {
      policy.env.push_back(Rule(kAllow, name));
    }
    HostFacts facts = FactsOf();
    facts.env = {"PATH=/usr/bin", "HOME=/home/u", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b",
                 "GIT_CONFIG_VALUE_0=c"};
    REQUIRE_OK_AND_ASSIGN(const Plan plan, ResolvePlan(policy, facts, files, {"make"}, {}));
    CHECK_EQ(PlannedVariable(plan, "GIT_CONFIG_COUNT"), "2");
    CHECK_EQ(PlannedVariable(plan, "GIT_CONFIG_KEY_0"), "a.b");
    CHECK_EQ(PlannedVariable(plan, "GIT_CONFIG_KEY_1"), "safe.directory");
  }
}

}  // namespace agent_exec::testing
