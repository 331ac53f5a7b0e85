#include "policy/builtin.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "policy/toml_source.h"
#include "support/doctest.h"
#include "support/policies.h"
#include "support/status.h"

namespace agent_exec {
namespace {

using testing::MergeTexts;
using testing::ShowKeyOf;

std::vector<BuiltinProfile> AllBuiltins() {
  std::vector<BuiltinProfile> all = {BuiltinCommon()};
  for (Mode mode : {Mode::kReadOnly, Mode::kWorkspaceWrite, Mode::kDangerFullAccess}) {
    all.push_back(BuiltinForMode(mode));
  }
  all.insert(all.end(), NamedBuiltins().begin(), NamedBuiltins().end());
  return all;
}

std::string Describe(const Layer& layer) {
  std::string out = absl::StrCat(layer.name, "\n");
  for (const Assignment& assignment : layer.assignments) {
    absl::StrAppend(&out, FormatOrigin(assignment.origin), " ", assignment.setting->key, " ",
                    assignment.value.text);
    for (const auto& [name, value] : assignment.value.attributes) {
      absl::StrAppend(&out, " ", name, "=", value);
    }
    absl::StrAppend(&out, "\n");
  }
  return out;
}

// The elements of a row, without their origins.
std::string Values(const char* key, const Policy& policy) {
  const Setting* setting = FindSettingByKey(key);
  std::string out;
  for (const auto& [value, origin] : setting->show(*setting, policy)) {
    absl::StrAppend(&out, out.empty() ? "" : " ", value);
  }
  return out;
}

TEST_SUITE("policy/builtin") {
  TEST_CASE("the reader of built-in texts gives what the TOML parser gives") {
    for (const BuiltinProfile& profile : AllBuiltins()) {
      REQUIRE_OK_AND_ASSIGN(const Layer quick, ReadBuiltin(profile));
      REQUIRE_OK_AND_ASSIGN(
          const Layer thorough,
          ParseToml(profile.text, absl::StrCat("built-in ", profile.name), LayerKind::kBuiltin));
      CHECK_EQ(Describe(quick), Describe(thorough));
      CHECK(thorough.profiles.empty());
    }
  }

  TEST_CASE("the reader refuses what it does not know instead of skipping it") {
    for (const char* text :
         {"mode = 'read-only'\n", "mode = \"read-only\"", "# comment\n", "mood = \"x\"\n",
          "mode = \"a\\n\"\n", "keep-fd = [3]\n", "quiet = \"true\"\n", "mode = true\n",
          "[filesystem]\nread = [\"/\"\n", "[filesystem]\nread = [{ path = \"x\" ]\n",
          "[filesystem\n", "[env]\nallow = [{ path = \"x\" }]\n", "quiet = maybe\n",
          "[platforms]\nenabled = [\"linux\"]\n"}) {
      CHECK_MESSAGE(absl::IsInternal(ReadBuiltin({"x", text}).status()), text);
    }
  }

  TEST_CASE("every enum row has a built-in value in every mode") {
    for (const char* mode : {"read-only", "workspace-write", "danger-full-access"}) {
      REQUIRE_OK_AND_ASSIGN(const Policy policy, MergeTexts({}, {{"mode", mode}}));
      for (const Setting& setting : Settings()) {
        if (setting.type != ValueType::kEnum && setting.type != ValueType::kBool) continue;
        const auto shown = setting.show(setting, policy);
        REQUIRE_EQ(shown.size(), 1);
        if (absl::string_view(setting.key) == "mode") continue;
        CHECK_MESSAGE(shown[0].second.kind == Origin::Kind::kBuiltin, mode, " ", setting.key);
      }
    }
  }

  TEST_CASE("read-only shows the host and writes nothing") {
    REQUIRE_OK_AND_ASSIGN(const Policy policy, MergeTexts({}, {{"mode", "read-only"}}));
    CHECK_EQ(Values("filesystem.read", policy), std::string("\"/\" \".\""));
    CHECK_EQ(Values("filesystem.write", policy), std::string());
    CHECK_EQ(Values("filesystem.home", policy), std::string("\"private\""));
    CHECK_EQ(Values("filesystem.tmp", policy), std::string("\"private\""));
    CHECK_EQ(Values("network.mode", policy), std::string("\"none\""));
  }

  TEST_CASE("workspace-write writes the workspace but for protected names") {
    REQUIRE_OK_AND_ASSIGN(const Policy policy, MergeTexts({}));
    CHECK_EQ(Values("filesystem.read", policy), std::string("\"/\" \".\""));
    CHECK_EQ(Values("filesystem.write", policy),
             std::string("\".\" { path = \"node_modules/.cache\", missing = \"allow\" } "
                         "{ path = \"node_modules/.vite*\", missing = \"allow\" }"));
    std::string protected_names =
        "{ path = \".git\", missing = \"block\" } "
        "{ path = \".agent-exec.toml\", missing = \"block\", kind = \"dir\" }";
    for (const char* name :
         {"data/agent-sessions", ".env", ".env.*", "node_modules", ".next", ".envrc", ".vscode",
          ".idea", ".mcp.json", ".claude", ".codex", ".cursor", ".husky"}) {
      absl::StrAppend(&protected_names, " { path = \"", name, "\", missing = \"allow\" }");
    }
    CHECK_EQ(Values("filesystem.deny-write", policy), protected_names);
    CHECK_EQ(Values("filesystem.nested-repositories", policy), std::string("\"protect\""));
    CHECK_EQ(Values("filesystem.git", policy), std::string("\"read-only\""));
  }

  TEST_CASE("both confined modes protect the same names") {
    REQUIRE_OK_AND_ASSIGN(const Policy read_only, MergeTexts({}, {{"mode", "read-only"}}));
    REQUIRE_OK_AND_ASSIGN(const Policy workspace_write, MergeTexts({}));
    CHECK_EQ(Values("filesystem.deny-write", read_only),
             Values("filesystem.deny-write", workspace_write));
  }

  TEST_CASE("danger-full-access has no path rule and the loosest choices") {
    REQUIRE_OK_AND_ASSIGN(const Policy policy, MergeTexts({}, {{"mode", "danger-full-access"}}));
    CHECK(policy.paths.empty());
    CHECK_EQ(policy.network.value, NetworkMode::kHost);
    CHECK_EQ(policy.tmp.value, TmpMode::kHost);
  }

  TEST_CASE("all modes pass the same environment") {
    REQUIRE_OK_AND_ASSIGN(const Policy base, MergeTexts({}));
    for (const char* mode : {"read-only", "danger-full-access"}) {
      REQUIRE_OK_AND_ASSIGN(const Policy policy, MergeTexts({}, {{"mode", mode}}));
      CHECK_EQ(ShowKeyOf("env.allow", policy), ShowKeyOf("env.allow", base));
    }
    const std::string allowed = absl::StrCat(" ", Values("env.allow", base), " ");
    for (const char* name : {"PATH", "HOME", "TERM", "LC_*", "TZ", "CI", "SSL_CERT_FILE",
                             "JAVA_HOME", "CARGO_HOME", "VIRTUAL_ENV"}) {
      CHECK_MESSAGE(absl::StrContains(allowed, absl::StrCat(" \"", name, "\" ")), name);
    }
    // What often holds a password or a key, or leads to one.
    for (const char* name :
         {"HTTP_PROXY", "GOPROXY", "PIP_INDEX_URL", "SSH_AUTH_SOCK", "KUBECONFIG", "GITHUB_TOKEN",
          "AWS_PROFILE", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "*"}) {
      CHECK_MESSAGE(!absl::StrContains(allowed, absl::StrCat(" \"", name, "\" ")), name);
    }
  }

  TEST_CASE("the named profiles open and close what their names say") {
    struct Case {
      const char* profile;
      const char* key;
      const char* shown;
    };
    const Case kCases[] = {
        {"install", "filesystem.deny-write", "\"!node_modules\" (built-in install:2:15)"},
        {"build", "filesystem.deny-write", "\"!.next\" (built-in build:2:15)"},
        {"agent", "filesystem.deny-read",
         "\"**/.env*\" (built-in agent:2:14)\n\"!**/.env.example\" (built-in agent:2:26)"},
    };
    for (const Case& c : kCases) {
      REQUIRE_OK_AND_ASSIGN(const Policy policy, MergeTexts({}, {{"profile", c.profile}}));
      const std::string shown = ShowKeyOf(c.key, policy);
      CHECK_MESSAGE(absl::EndsWith(shown, c.shown), shown);
    }
  }
}

}  // namespace
}  // namespace agent_exec
