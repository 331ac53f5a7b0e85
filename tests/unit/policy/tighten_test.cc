#include "policy/tighten.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "support/doctest.h"
#include "support/policies.h"
#include "support/status.h"

// What the workspace's policy file may set: a table generated over all rows of the settings table.

namespace agent_exec {
namespace {

using testing::LayerText;
using testing::MergeTexts;

// A value that the row accepts, as TOML.
std::string Sample(const Setting& row) {
  const std::vector<absl::string_view> words = SplitChoices(row.choices);
  const std::string word = words.empty() ? "x" : std::string(words.front());
  switch (row.type) {
    case ValueType::kBool:
      return "true";
    case ValueType::kEnum:
    case ValueType::kString:
    case ValueType::kPath:
      return absl::StrCat("\"", word, "\"");
    case ValueType::kInteger:
    case ValueType::kSize:
    case ValueType::kDuration:
      return absl::StrCat(row.min);
    case ValueType::kIntegerList:
      return absl::StrCat("[", row.min, "]");
    case ValueType::kStringList:
    case ValueType::kPathRuleList:
      return absl::StrCat("[\"", word, "\"]");
    case ValueType::kStringMap:
      return "{ X = \"1\" }";
  }
  return "";
}

// One workspace value behind one user value ("" for none), at the top of the file and in a profile.
void CheckOne(const Setting& row, const std::string& user, const std::string& workspace,
              bool fits) {
  CAPTURE(row.key);
  CAPTURE(user);
  CAPTURE(workspace);
  const std::string user_text = user.empty() ? "" : absl::StrCat(row.key, " = ", user, "\n");
  const std::string line = absl::StrCat(row.key, " = ", workspace, "\n");
  const absl::Status plain =
      MergeTexts({{LayerKind::kUser, "u.toml", user_text}, {LayerKind::kWorkspace, "w.toml", line}})
          .status();
  const absl::Status in_profile =
      MergeTexts({{LayerKind::kUser, "u.toml", user_text},
                  {LayerKind::kWorkspace, "w.toml", absl::StrCat("[profile.p]\n", line)}},
                 {{"profile", "p"}})
          .status();
  if (fits) {
    CHECK_OK(plain);
    CHECK_OK(in_profile);
    return;
  }
  const std::string column = absl::StrCat(":", std::string(row.key).size() + 4);
  for (const auto& [status, place] :
       {std::pair(plain, "w.toml:1"), std::pair(in_profile, "w.toml:2")}) {
    CHECK_ERROR(status, kInvalidArgument, "the workspace's policy file may only tighten");
    const Diagnostic diagnostic = ToDiagnostic(status);
    CHECK(absl::StrContains(diagnostic.message, SettingName(row)));
    CHECK(absl::StartsWith(diagnostic.place, place));
    CHECK_FALSE(diagnostic.hint.empty());
    // A list's place is that of the element, behind the bracket; that of a map, of the value.
    if (row.type == ValueType::kEnum || row.type == ValueType::kInteger) {
      CHECK_EQ(diagnostic.place, absl::StrCat(place, column));
    }
  }
  // The same value is the user's to set.
  CHECK_OK(MergeTexts({{LayerKind::kUser, "u.toml", line}}).status());
}

void CheckRow(const Setting& row) {
  const std::vector<absl::string_view> words = SplitChoices(row.choices);
  switch (row.tighten) {
    case Tighten::kNever:
      // Chosen profiles are looked up before anything else, and none is called "x".
      if (absl::string_view(row.key) != "use-profiles") CheckOne(row, "", Sample(row), false);
      return;
    case Tighten::kAppend:
      CheckOne(row, "", Sample(row), true);
      CheckOne(row, Sample(row), "[\"y\", \"z\"]", true);
      if (row.type == ValueType::kPathRuleList) CheckOne(row, Sample(row), "[\"!x\"]", false);
      return;
    case Tighten::kEarlier:
      for (size_t now = 0; now < words.size(); ++now) {
        for (size_t wanted = 0; wanted < words.size(); ++wanted) {
          CheckOne(row, absl::StrCat("\"", words[now], "\""),
                   absl::StrCat("\"", words[wanted], "\""), wanted <= now);
        }
      }
      return;
    case Tighten::kLower:
      CheckOne(row, "", absl::StrCat(row.min + 2), true);
      CheckOne(row, absl::StrCat(row.min + 1), absl::StrCat(row.min), true);
      CheckOne(row, absl::StrCat(row.min + 1), absl::StrCat(row.min + 1), true);
      CheckOne(row, absl::StrCat(row.min + 1), absl::StrCat(row.min + 2), false);
      return;
    case Tighten::kSubset:
      CheckOne(row, "", absl::StrCat("[\"", words[0], "\"]"), true);
      CheckOne(row, absl::StrCat("[\"", words[0], "\", \"", words[1], "\"]"),
               absl::StrCat("[\"", words[1], "\"]"), true);
      CheckOne(row, absl::StrCat("[\"", words[0], "\"]"), absl::StrCat("[\"", words[1], "\"]"),
               false);
      return;
  }
}

std::string RowsThat(Tighten tighten) {
  std::string keys;
  for (const Setting& row : Settings()) {
    if (row.tighten == tighten && row.key[0] != '\0') absl::StrAppend(&keys, row.key, " ");
  }
  return keys;
}

TEST_SUITE("policy/tighten") {
  TEST_CASE("for every row the workspace can tighten and cannot loosen") {
    for (const Setting& row : Settings()) {
      if (row.key[0] != '\0') CheckRow(row);
    }
  }

  TEST_CASE("what the workspace may do with each setting is this list") {
    CHECK_EQ(
        RowsThat(Tighten::kNever),
        std::string("use-profiles weaken workspace chdir filesystem.read filesystem.write "
                    "env.allow env.set env.file backend in-place keep-background keep-fd report "
                    "error-format quiet verbose "));
    CHECK_EQ(RowsThat(Tighten::kAppend),
             std::string("filesystem.deny-read filesystem.deny-write env.deny "));
    CHECK_EQ(
        RowsThat(Tighten::kEarlier),
        std::string("mode filesystem.home filesystem.tmp filesystem.git "
                    "filesystem.nested-repositories filesystem.denied network.mode root-chown "));
    CHECK_EQ(RowsThat(Tighten::kLower),
             std::string("limits.tmp-size limits.file-size limits.open-files "));
    CHECK_EQ(RowsThat(Tighten::kSubset), std::string("platforms.enabled "));
  }

  TEST_CASE("a refusal says what it is held against and what would be allowed") {
    CHECK_DIAGNOSTIC(
        MergeTexts({{LayerKind::kUser, "u", "filesystem.home = \"workspace\""},
                    {LayerKind::kWorkspace, "w", "\nfilesystem.home = \"read\""}}),
        kInvalidArgument,
        "'filesystem.home' = 'read' is looser than 'workspace' (u:1:19): the workspace's policy "
        "file may only tighten",
        "w:2:19", "allowed here: hidden, private, workspace");
    CHECK_DIAGNOSTIC(MergeTexts({{LayerKind::kUser, "u", "limits.tmp-size = \"64MiB\""},
                                 {LayerKind::kWorkspace, "w", "limits.tmp-size = \"1GiB\""}}),
                     kInvalidArgument,
                     "'limits.tmp-size' = '1GiB' is more than 64MiB (u:1:19): the workspace's "
                     "policy file may only tighten",
                     "w:1:19", "allowed here: at most 64MiB");
    CHECK_DIAGNOSTIC(
        MergeTexts({{LayerKind::kWorkspace, "w", "filesystem.deny-write = [\"a\", \"!.git\"]"}}),
        kInvalidArgument,
        "'filesystem.deny-write' is loosened by '!.git': the workspace's policy file may only "
        "tighten",
        "w:1:31", "allowed here: entries without '!'");
    CHECK_DIAGNOSTIC(
        MergeTexts({{LayerKind::kUser, "u", "platforms.enabled = [\"linux\"]"},
                    {LayerKind::kWorkspace, "w", "platforms.enabled = [\"macos\"]"}}),
        kInvalidArgument,
        "'platforms.enabled' adds 'macos' to the list (u:1:21): the workspace's policy "
        "file may only tighten",
        "w:1:21", "allowed here: some of \"linux\"");
  }

  TEST_CASE("a built-in value binds the workspace like any other") {
    CHECK_ERROR(MergeTexts({{LayerKind::kWorkspace, "w", "network.mode = \"host\""}}),
                kInvalidArgument, "looser than 'none' (built-in workspace-write:2:8)");
    CHECK_ERROR(MergeTexts({{LayerKind::kWorkspace, "w", "mode = \"danger-full-access\""}}),
                kInvalidArgument, "looser than 'workspace-write' (default)");
  }

  TEST_CASE("a mode on the command line does not bind, and is not bound by, the workspace's") {
    REQUIRE_OK_AND_ASSIGN(const Policy stricter,
                          MergeTexts({{LayerKind::kWorkspace, "w", "mode = \"workspace-write\""}},
                                     {{"mode", "read-only"}}));
    CHECK_EQ(stricter.mode.value, Mode::kReadOnly);
    REQUIRE_OK_AND_ASSIGN(const Policy looser,
                          MergeTexts({{LayerKind::kWorkspace, "w", "mode = \"read-only\""}},
                                     {{"mode", "workspace-write"}}));
    CHECK_EQ(looser.mode.value, Mode::kWorkspaceWrite);
  }

  TEST_CASE("the user's own later layers are not bound by what the workspace tightened") {
    REQUIRE_OK_AND_ASSIGN(const Policy policy,
                          MergeTexts({{LayerKind::kWorkspace, "w", "filesystem.home = \"hidden\""},
                                      {LayerKind::kGiven, "g", "filesystem.home = \"read\""}}));
    CHECK_EQ(policy.home.value, HomeMode::kRead);
  }
}

}  // namespace
}  // namespace agent_exec
