#include "policy/setting.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "support/doctest.h"
#include "support/policies.h"
#include "support/status.h"

namespace agent_exec {
namespace {

using testing::Flag;
using testing::MergeTexts;
using testing::ShowWritten;

bool IsEmpty(const char* text) { return text[0] == '\0'; }

bool IsKebab(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

TEST_SUITE("policy/setting") {
  TEST_CASE("every row can be set, applied, shown and explained") {
    for (const Setting& row : Settings()) {
      CAPTURE(SettingName(row));
      CHECK_FALSE((IsEmpty(row.key) && IsEmpty(row.flag)));
      CHECK(IsKebab(row.key));
      CHECK(IsKebab(row.flag));
      CHECK(row.apply != nullptr);
      CHECK(row.show != nullptr);
      CHECK_EQ(IsEmpty(row.metavar), row.type == ValueType::kBool);
      CHECK_FALSE(IsEmpty(row.help));
      CHECK_FALSE(absl::EndsWith(row.help, "."));
      CHECK_FALSE(absl::StrContains(row.help, "\n"));
      CHECK(absl::EndsWith(row.man, "."));
      CHECK(std::string(row.man).size() > 40);
    }
  }

  TEST_CASE("keys are unique; a shared flag has one row for each form but kKeyed") {
    std::vector<std::string> keys;
    std::vector<std::pair<std::string, FlagForm>> flags;
    std::string letters;
    for (const Setting& row : Settings()) {
      CAPTURE(SettingName(row));
      if (!IsEmpty(row.key)) {
        CHECK(std::find(keys.begin(), keys.end(), row.key) == keys.end());
        keys.push_back(row.key);
      }
      if (row.short_flag != 0) {
        CHECK(letters.find(row.short_flag) == std::string::npos);
        letters.push_back(row.short_flag);
      }
      if (IsEmpty(row.flag) || row.flag_form == FlagForm::kKeyed) continue;
      const std::pair<std::string, FlagForm> flag(row.flag, row.flag_form);
      CHECK(std::find(flags.begin(), flags.end(), flag) == flags.end());
      flags.push_back(flag);
    }
  }

  TEST_CASE("no key is also a table of keys") {
    for (const Setting& row : Settings()) {
      for (const Setting& other : Settings()) {
        if (IsEmpty(row.key)) continue;
        CHECK_MESSAGE(!absl::StartsWith(other.key, absl::StrCat(row.key, ".")), row.key);
      }
    }
  }

  TEST_CASE("types have what they need") {
    for (const Setting& row : Settings()) {
      CAPTURE(SettingName(row));
      const bool is_number = row.type == ValueType::kInteger || row.type == ValueType::kSize ||
                             row.type == ValueType::kIntegerList ||
                             row.type == ValueType::kDuration;
      CHECK_EQ(row.max > row.min, is_number);
      const bool is_list = row.type == ValueType::kIntegerList ||
                           row.type == ValueType::kPathRuleList ||
                           row.type == ValueType::kStringMap;
      if (is_list) CHECK_EQ(row.merge, Merge::kAppend);
      if (row.type == ValueType::kEnum) CHECK(SplitChoices(row.choices).size() >= 2);
      if (row.tighten == Tighten::kEarlier) CHECK_EQ(row.type, ValueType::kEnum);
      if (row.tighten == Tighten::kAppend) CHECK_EQ(row.merge, Merge::kAppend);
      if (row.tighten == Tighten::kSubset) CHECK_EQ(row.merge, Merge::kReplace);
    }
  }

  TEST_CASE("the words of an enum stand for its values") {
    Policy policy;
    const auto set = [&](const char* key, const char* word) {
      return ApplyAssignment({FindSettingByKey(key), {word, {}}, {}}, &policy);
    };
    REQUIRE_OK(set("mode", "read-only"));
    CHECK_EQ(policy.mode.value, Mode::kReadOnly);
    REQUIRE_OK(set("mode", "workspace-write"));
    CHECK_EQ(policy.mode.value, Mode::kWorkspaceWrite);
    REQUIRE_OK(set("mode", "danger-full-access"));
    CHECK_EQ(policy.mode.value, Mode::kDangerFullAccess);
    REQUIRE_OK(set("filesystem.home", "hidden"));
    CHECK_EQ(policy.home.value, HomeMode::kHidden);
    REQUIRE_OK(set("filesystem.home", "private"));
    CHECK_EQ(policy.home.value, HomeMode::kPrivate);
    REQUIRE_OK(set("filesystem.home", "workspace"));
    CHECK_EQ(policy.home.value, HomeMode::kWorkspace);
    REQUIRE_OK(set("filesystem.home", "read"));
    CHECK_EQ(policy.home.value, HomeMode::kRead);
    REQUIRE_OK(set("filesystem.tmp", "private"));
    CHECK_EQ(policy.tmp.value, TmpMode::kPrivate);
    REQUIRE_OK(set("filesystem.tmp", "workspace"));
    CHECK_EQ(policy.tmp.value, TmpMode::kWorkspace);
    REQUIRE_OK(set("filesystem.tmp", "host"));
    CHECK_EQ(policy.tmp.value, TmpMode::kHost);
    REQUIRE_OK(set("filesystem.git", "read-only"));
    CHECK_EQ(policy.git.value, GitMode::kReadOnly);
    REQUIRE_OK(set("filesystem.git", "full"));
    CHECK_EQ(policy.git.value, GitMode::kFull);
    REQUIRE_OK(set("filesystem.nested-repositories", "protect"));
    CHECK_EQ(policy.nested_repositories.value, NestedRepositories::kProtect);
    REQUIRE_OK(set("filesystem.nested-repositories", "ignore"));
    CHECK_EQ(policy.nested_repositories.value, NestedRepositories::kIgnore);
    REQUIRE_OK(set("filesystem.denied", "error"));
    CHECK_EQ(policy.denied.value, DeniedForm::kError);
    REQUIRE_OK(set("filesystem.denied", "empty"));
    CHECK_EQ(policy.denied.value, DeniedForm::kEmpty);
    REQUIRE_OK(set("network.mode", "none"));
    CHECK_EQ(policy.network.value, NetworkMode::kNone);
    REQUIRE_OK(set("network.mode", "host"));
    CHECK_EQ(policy.network.value, NetworkMode::kHost);
    REQUIRE_OK(set("error-format", "text"));
    CHECK_EQ(policy.error_format.value, ErrorFormat::kText);
    REQUIRE_OK(set("error-format", "json"));
    CHECK_EQ(policy.error_format.value, ErrorFormat::kJson);
  }

  TEST_CASE("every flag sets the key that its row names") {
    const struct {
      const char* flag;
      const char* argument;
      const char* key;
      const char* shown;
    } kCases[] = {
        {"mode", "read-only", "mode", "\"read-only\" (--mode)"},
        {"workspace", "/w", "workspace", "\"/w\" (--workspace)"},
        {"chdir", "a", "chdir", "\"a\" (--chdir)"},
        {"profile", "install", "use-profiles", "\"install\" (--profile)"},
        {"read", "/a", "filesystem.read", "\"/a\" (--read)"},
        {"write", "!/a", "filesystem.write", "\"!/a\" (--write)"},
        {"deny-read", "**/x", "filesystem.deny-read", "\"**/x\" (--deny-read)"},
        {"deny-write", "a", "filesystem.deny-write", "\"a\" (--deny-write)"},
        {"home", "read", "filesystem.home", "\"read\" (--home)"},
        {"tmp", "host", "filesystem.tmp", "\"host\" (--tmp)"},
        {"nested-repositories", "ignore", "filesystem.nested-repositories",
         "\"ignore\" (--nested-repositories)"},
        {"denied", "empty", "filesystem.denied", "\"empty\" (--denied)"},
        {"network", "host", "network.mode", "\"host\" (--network)"},
        {"env", "A_*", "env.allow", "\"A_*\" (--env)"},
        {"env", "A=b=c", "env.set", "A = \"b=c\" (--env)"},
        {"env", "A=", "env.set", "A = \"\" (--env)"},
        {"env", "a b=\"", "env.set", "\"a b\" = \"\\\"\" (--env)"},
        {"env-deny", "A?", "env.deny", "\"A?\" (--env-deny)"},
        {"env-file", "f", "env.file", "\"f\" (--env-file)"},
        {"limit", "tmp-size=64MiB", "limits.tmp-size", "\"64MiB\" (--limit)"},
        {"limit", "file-size=1", "limits.file-size", "\"1\" (--limit)"},
        {"limit", "open-files=64", "limits.open-files", "64 (--limit)"},
        {"backend", "bwrap", "backend", "\"bwrap\" (--backend)"},
        {"in-place", "", "in-place", "true (--in-place)"},
        {"keep-background", "", "keep-background", "true (--keep-background)"},
        {"root-chown", "refuse", "root-chown", "\"refuse\" (--root-chown)"},
        {"keep-fd", "7", "keep-fd", "7 (--keep-fd)"},
        {"weaken", "inherit-environment", "weaken", "\"inherit-environment\" (--weaken)"},
        {"report", "fd:3", "report", "\"fd:3\" (--report)"},
        {"error-format", "json", "error-format", "\"json\" (--error-format)"},
        {"quiet", "", "quiet", "true (--quiet)"},
        {"verbose", "", "verbose", "true (--verbose)"},
    };
    for (const auto& c : kCases) {
      CAPTURE(c.flag);
      REQUIRE_OK_AND_ASSIGN(const Policy policy, MergeTexts({}, {{c.flag, c.argument}}));
      CHECK_EQ(ShowWritten(c.key, policy), std::string(c.shown));
    }
  }

  TEST_CASE("a bad argument of a flag is refused, and says what was expected") {
    const struct {
      const char* flag;
      const char* argument;
      const char* message;
      const char* hint;
    } kCases[] = {
        {"mod", "x", "unknown option '--mod'", "did you mean '--mode'?"},
        {"", "x", "unknown option '--'", ""},
        {"mode", "x",
         "bad value of 'mode': expected read-only, workspace-write or danger-full-access, got 'x'",
         ""},
        {"limit", "tmp-size", "bad value of '--limit': expected KEY=VALUE, got 'tmp-size'", ""},
        {"limit", "tmp-sise=1MiB", "unknown key 'tmp-sise' of '--limit'",
         "did you mean 'tmp-size'?"},
        {"limit", "=1MiB", "unknown key '' of '--limit'", ""},
        {"limit", "open-files=1",
         "bad value of 'limits.open-files': expected a number from 16 to 1048576, got '1'", ""},
        {"limit", "tmp-size=1kB",
         "bad value of 'limits.tmp-size': expected a size from 64KiB to 9223372036854775807, got "
         "'1kB'",
         ""},
        {"env", "", "bad value of 'env.allow': expected the name of a variable, got ''", ""},
        {"env", "=x", "bad value of 'env.set': expected the name of a variable, got ''", ""},
        {"env-deny", "A=1", "bad value of 'env.deny': expected the name of a variable, got 'A=1'",
         ""},
        {"env-file", "", "bad value of 'env.file': expected something, got an empty string", ""},
        {"workspace", "", "bad value of 'workspace': expected something, got an empty string", ""},
        {"keep-fd", "2", "bad value of 'keep-fd': expected a number from 3 to 1048575, got '2'",
         ""},
        {"keep-fd", "x", "bad value of 'keep-fd': expected a number from 3 to 1048575, got 'x'",
         ""},
        {"weaken", "all",
         "bad value of 'weaken': expected inherit-environment, nested-sandbox or run-unsandboxed, "
         "got "
         "'all'",
         ""},
        {"report", "fd:", "bad value of 'report': expected a number from 1 to 1048575, got ''", ""},
        {"report", "fd:0", "bad value of 'report': expected a number from 1 to 1048575, got '0'",
         ""},
        {"backend", "../bwrap",
         "bad value of 'backend': expected the name of a backend, got "
         "'../bwrap'",
         ""},
        {"deny-write-existing", "",
         "bad value of '--deny-write-existing': expected a path, got an empty string", ""},
    };
    for (const auto& c : kCases) {
      CAPTURE(c.argument);
      CHECK_DIAGNOSTIC(AssignmentFromFlag(c.flag, c.argument), kInvalidArgument, c.message,
                       absl::StrCat("--", c.flag), c.hint);
    }
  }

  TEST_CASE("no message repeats the value of a variable") {
    const absl::StatusOr<Assignment> bad =
        AssignmentFromFlag("env", absl::string_view("TOKEN=hunter2\0x", 15));
    CHECK_FALSE(bad.ok());
    CHECK_FALSE(absl::StrContains(bad.status().message(), "hunter2"));
  }

  TEST_CASE("the later of --quiet and --verbose holds") {
    REQUIRE_OK_AND_ASSIGN(const Policy policy,
                          MergeTexts({{LayerKind::kUser, "p", "quiet = true"}}, {{"verbose", ""}}));
    CHECK(policy.verbose.value);
    CHECK_FALSE(policy.quiet.value);
    CHECK_EQ(FormatOrigin(policy.quiet.origin), std::string("--verbose"));
    REQUIRE_OK_AND_ASSIGN(const Policy silent, MergeTexts({}, {{"verbose", ""}, {"quiet", ""}}));
    CHECK(silent.quiet.value);
    CHECK_FALSE(silent.verbose.value);
  }

  TEST_CASE("kept descriptors are sorted and unique, weakenings unique") {
    REQUIRE_OK_AND_ASSIGN(const Policy policy, MergeTexts({}, {{"keep-fd", "9"},
                                                               {"keep-fd", "3"},
                                                               {"keep-fd", "9"},
                                                               {"weaken", "run-unsandboxed"},
                                                               {"weaken", "run-unsandboxed"}}));
    CHECK_EQ(ShowWritten("keep-fd", policy), std::string("3 (--keep-fd)\n9 (--keep-fd)"));
    CHECK_EQ(policy.weaken.size(), 1);
  }

  TEST_CASE("rows are found by key and by flag") {
    CHECK_EQ(std::string(FindSettingByKey("filesystem.deny-read")->flag), std::string("deny-read"));
    CHECK(FindSettingByKey("filesystem") == nullptr);
    CHECK(FindSettingByKey("") == nullptr);
    CHECK(FindSettingByFlag("") == nullptr);
    CHECK(FindSettingByFlag("deny-rea") == nullptr);
    CHECK_EQ(std::string(FindSettingByFlag("env")->key), std::string("env.allow"));
  }

  TEST_CASE("what a policy shows can be written into a file and gives the same policy") {
    const std::vector<Flag> flags = {
        {"read", "!/a"},
        {"write", "/b\"\\*"},
        {"deny-write-existing", "c"},
        {"env", "A=\x01\"x"},
        {"env", "B"},
        {"limit", "tmp-size=3MiB"},
        {"limit", "open-files=99"},
        {"keep-fd", "5"},
        {"weaken", "run-unsandboxed"},
        {"home", "workspace"},
        {"report", "r.json"},
        {"quiet", ""},
    };
    REQUIRE_OK_AND_ASSIGN(const Policy policy, MergeTexts({}, flags));
    std::string text;
    for (const Setting& row : Settings()) {
      if (IsEmpty(row.key)) continue;
      std::string values;
      for (const auto& [value, origin] : row.show(row, policy)) {
        if (origin.kind != Origin::Kind::kFlag) continue;
        absl::StrAppend(&values, values.empty() ? "" : ", ", value);
      }
      if (values.empty()) continue;
      const bool is_map = row.type == ValueType::kStringMap;
      const bool is_list = !is_map && row.merge == Merge::kAppend;
      absl::StrAppend(&text, row.key, " = ",
                      is_map    ? "{ "
                      : is_list ? "["
                                : "",
                      values,
                      is_map    ? " }"
                      : is_list ? "]"
                                : "",
                      "\n");
    }
    REQUIRE_OK_AND_ASSIGN(const Policy again, MergeTexts({{LayerKind::kUser, "p", text}}));
    for (const Setting& row : Settings()) {
      const auto before = row.show(row, policy);
      const auto after = row.show(row, again);
      REQUIRE_EQ(before.size(), after.size());
      for (size_t i = 0; i < before.size(); ++i) CHECK_EQ(before[i].first, after[i].first);
    }
  }
}

}  // namespace
}  // namespace agent_exec
