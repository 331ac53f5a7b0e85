#include "verbs/show_policy.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "policy/merge.h"
#include "policy/toml_source.h"
#include "support/doctest.h"
#include "support/status.h"

namespace agent_exec {
namespace {

using namespace testing;

// What a text sets, and nothing else: no built-in profile below it.
Policy Applied(const std::string& text) {
  REQUIRE_OK_AND_ASSIGN(Layer layer, ParseToml(text, "p.toml", LayerKind::kGiven));
  Policy policy;
  policy.backend.value = "auto";  // which the built-in profiles say
  for (const Assignment& assignment : layer.assignments) {
    REQUIRE_OK(assignment.setting->apply(*assignment.setting, assignment.value, assignment.origin,
                                         &policy));
  }
  return policy;
}

// A policy's values without their origins.
std::string Values(const Policy& policy) {
  std::string out;
  for (const Setting& setting : Settings()) {
    for (const auto& [text, origin] : setting.show(setting, policy)) {
      out += std::string(setting.key) + " " + text + "\n";
    }
  }
  return out;
}

TEST_SUITE("verbs/show_policy") {
  TEST_CASE("each value stands with its origin, the top level first, a list's elements each") {
    Policy policy = Applied(
        "version = 1\n"
        "mode = \"read-only\"\n"
        "[filesystem]\n"
        "deny-read = [\"~/.ssh\",\n  { path = \"x\", missing = \"allow\" }]\n"
        "home = \"hidden\"\n"
        "[env]\n"
        "allow = [\"PATH\"]\n"
        "set = { CI = \"1\", \"a.b\" = \"x # y\" }\n");
    const std::string text = FormatPolicy(policy);
    for (const char* part : {
             "version = 1\nmode = \"read-only\"  # p.toml:2:",
             "\n[filesystem]\n",
             "deny-read = [\n  \"~/.ssh\",  # p.toml:4:",
             "home = \"hidden\"  # p.toml:6:",
             "\n[env]\nallow = [\n  \"PATH\",  # p.toml:8:",
             "set.CI = \"1\"  # p.toml:9:",
             "set.\"a.b\" = \"x # y\"  # p.toml:9:",
         }) {
      INFO(text);
      CHECK(absl::StrContains(text, part));
    }
  }

  TEST_CASE("read back, it sets the same values") {
    const std::vector<std::string> texts = {
        "version = 1\n",
        "version = 1\nmode = \"danger-full-access\"\nweaken = [\"run-unsandboxed\"]\n",
        "version = 1\nworkspace = \"/w\\\"x\\u0007\"\nchdir = \"~\"\n"
        "[filesystem]\nread = [\"/\", \"!/srv\"]\nwrite = [\".\", \"a\\\\*b\"]\n"
        "deny-write = [{ path = \".npmrc\", kind = \"file\", missing = \"block\" }]\n"
        "git = \"full\"\ndenied = \"empty\"\ntmp = \"host\"\n"
        "[network]\nmode = \"host\"\n"
        "[env]\nallow = [\"LC_*\"]\ndeny = [\"*TOKEN\"]\nset = { X = \"\", Y = \"line\\nbreak\" }\n"
        "[limits]\ntmp-size = \"64MiB\"\nopen-files = 256\n"
        "[platforms]\nenabled = [\"linux\", \"macos\"]\n",
    };
    for (const std::string& text : texts) {
      Policy policy = Applied(text);
      INFO(FormatPolicy(policy));
      CHECK_EQ(Values(Applied(FormatPolicy(policy))), Values(policy));
    }
  }

  TEST_CASE("a merged policy with its built-in profile reads back too") {
    for (const char* mode : {"read-only", "workspace-write", "danger-full-access"}) {
      REQUIRE_OK_AND_ASSIGN(
          Layer layer, ParseToml(std::string("version = 1\nmode = \"") + mode + "\"\n", "p.toml",
                                 LayerKind::kGiven));
      REQUIRE_OK_AND_ASSIGN(Policy policy, MergeLayers({layer}));
      INFO(FormatPolicy(policy));
      CHECK_EQ(Values(Applied(FormatPolicy(policy))), Values(policy));
      CHECK(absl::StrContains(FormatPolicy(policy), "  # built-in"));
    }
  }

  TEST_CASE("of a variable that is set twice the last one is shown, since TOML takes none twice") {
    Policy policy = Applied("version = 1\n[env]\nset = { A = \"1\" }\n");
    policy.env.push_back({EnvRule::Kind::kSet, "A", "2", {Origin::Kind::kFlag, "--env"}});
    const std::string text = FormatPolicy(policy);
    CHECK(absl::StrContains(text, "set.A = \"2\"  # --env\n"));
    CHECK_FALSE(absl::StrContains(text, "set.A = \"1\""));
  }
}

}  // namespace
}  // namespace agent_exec
