#include "policy/merge.h"

#include <string>
#include <vector>

#include "support/doctest.h"
#include "support/policies.h"
#include "support/status.h"

namespace agent_exec {
namespace {

using testing::MergeTexts;
using testing::ShowKeyOf;
using testing::ShowWritten;

constexpr LayerKind kSystem = LayerKind::kSystem;
constexpr LayerKind kUser = LayerKind::kUser;
constexpr LayerKind kWorkspace = LayerKind::kWorkspace;
constexpr LayerKind kGiven = LayerKind::kGiven;

TEST_SUITE("policy/merge") {
  TEST_CASE("without any layer the policy is that of workspace-write") {
    REQUIRE_OK_AND_ASSIGN(const Policy policy, MergeLayers({}));
    CHECK_EQ(ShowKeyOf("mode", policy), std::string("\"workspace-write\" (default)"));
    CHECK_EQ(ShowKeyOf("network.mode", policy),
             std::string("\"none\" (built-in workspace-write:2:8)"));
    CHECK_FALSE(policy.platforms.has_value());
    CHECK_FALSE(policy.workspace.has_value());
  }

  TEST_CASE("a scalar of a later layer replaces, from the system to the flags") {
    const std::vector<testing::LayerText> all = {
        {kSystem, "s", "filesystem.home = \"hidden\""},
        {kUser, "u", "filesystem.home = \"read\""},
        {kWorkspace, "w", "filesystem.home = \"workspace\""},
        {kGiven, "g", "filesystem.home = \"private\""},
        {kGiven, "h", "filesystem.home = \"read\""},
    };
    const char* const kShown[] = {
        "\"hidden\" (s:1:19)",  "\"read\" (u:1:19)", "\"workspace\" (w:1:19)",
        "\"private\" (g:1:19)", "\"read\" (h:1:19)",
    };
    for (size_t count = 1; count <= all.size(); ++count) {
      REQUIRE_OK_AND_ASSIGN(const Policy policy, MergeTexts({all.begin(), all.begin() + count}));
      CHECK_EQ(ShowKeyOf("filesystem.home", policy), std::string(kShown[count - 1]));
    }
    REQUIRE_OK_AND_ASSIGN(const Policy policy, MergeTexts(all, {{"home", "hidden"}}));
    CHECK_EQ(ShowKeyOf("filesystem.home", policy), std::string("\"hidden\" (--home)"));
  }

  TEST_CASE("list elements are appended in layer order") {
    REQUIRE_OK_AND_ASSIGN(const Policy policy,
                          MergeTexts({{kSystem, "s", "filesystem.deny-read = [\"a\"]"},
                                      {kUser, "u", "filesystem.deny-read = [\"b\", \"!a\"]"},
                                      {kWorkspace, "w", "filesystem.deny-read = [\"c\"]"},
                                      {kGiven, "g", "filesystem.deny-read = [\"d\"]"}},
                                     {{"deny-read", "e"}}));
    CHECK_EQ(ShowKeyOf("filesystem.deny-read", policy),
             std::string("\"a\" (s:1:25)\n\"b\" (u:1:25)\n\"!a\" (u:1:30)\n\"c\" (w:1:25)\n"
                         "\"d\" (g:1:25)\n\"e\" (--deny-read)"));
  }

  TEST_CASE("a list that replaces is that of the last layer") {
    REQUIRE_OK_AND_ASSIGN(const Policy policy,
                          MergeTexts({{kSystem, "s", "platforms.enabled = [\"linux\", \"macos\"]"},
                                      {kUser, "u", "platforms.enabled = [\"linux\"]"}}));
    CHECK_EQ(ShowKeyOf("platforms.enabled", policy), std::string("\"linux\" (u:1:21)"));
  }

  TEST_CASE("the mode decides the lowest layer, wherever it is set") {
    REQUIRE_OK_AND_ASSIGN(const Policy by_file, MergeTexts({{kUser, "u", "mode = \"read-only\""}}));
    CHECK_EQ(ShowKeyOf("filesystem.write", by_file), std::string());
    CHECK_EQ(ShowKeyOf("mode", by_file), std::string("\"read-only\" (u:1:8)"));

    REQUIRE_OK_AND_ASSIGN(const Policy by_flag, MergeTexts({{kUser, "u", "mode = \"read-only\""}},
                                                           {{"mode", "workspace-write"}}));
    CHECK_EQ(by_flag.network.origin.name, std::string("built-in workspace-write"));

    REQUIRE_OK_AND_ASSIGN(
        const Policy by_profile,
        MergeTexts({{kUser, "u", "[profile.look]\nmode = \"read-only\""}}, {{"profile", "look"}}));
    CHECK_EQ(by_profile.network.origin.name, std::string("built-in read-only"));
    CHECK_EQ(ShowKeyOf("mode", by_profile), std::string("\"read-only\" (u:2:8)"));
  }

  TEST_CASE("profiles apply after the files and before the flags, in the order asked for") {
    const std::vector<testing::LayerText> texts = {
        {kUser, "u",
         "use-profiles = [\"b\"]\n"
         "[profile.a]\nfilesystem.home = \"read\"\n"
         "[profile.b]\nfilesystem.home = \"workspace\"\nfilesystem.tmp = \"workspace\""},
        {kGiven, "g", "filesystem.home = \"hidden\"\nfilesystem.tmp = \"host\""},
    };
    REQUIRE_OK_AND_ASSIGN(const Policy one, MergeTexts(texts));
    CHECK_EQ(ShowKeyOf("filesystem.home", one), std::string("\"workspace\" (u:5:19)"));
    CHECK_EQ(ShowKeyOf("filesystem.tmp", one), std::string("\"workspace\" (u:6:18)"));
    REQUIRE_OK_AND_ASSIGN(const Policy two, MergeTexts(texts, {{"profile", "a"}}));
    CHECK_EQ(ShowKeyOf("filesystem.home", two), std::string("\"read\" (u:3:19)"));
    CHECK_EQ(ShowKeyOf("use-profiles", two), std::string("\"b\" (u:1:17)\n\"a\" (--profile)"));
    REQUIRE_OK_AND_ASSIGN(const Policy three,
                          MergeTexts(texts, {{"home", "private"}, {"profile", "a"}}));
    CHECK_EQ(ShowKeyOf("filesystem.home", three), std::string("\"private\" (--home)"));
  }

  TEST_CASE("a profile applies after those that it extends, each once") {
    REQUIRE_OK_AND_ASSIGN(
        const Policy policy,
        MergeTexts({{kUser, "u",
                     "[profile.base]\nfilesystem.deny-read = [\"base\"]\n"
                     "[profile.left]\nextends = \"base\"\nfilesystem.deny-read = [\"left\"]\n"
                     "[profile.top]\nextends = [\"left\", \"base\"]\nfilesystem.deny-read = "
                     "[\"top\"]\n"}},
                   {{"profile", "top"}, {"profile", "left"}}));
    CHECK_EQ(ShowKeyOf("filesystem.deny-read", policy),
             std::string("\"base\" (u:2:25)\n\"left\" (u:5:25)\n\"top\" (u:8:25)"));
  }

  TEST_CASE("a profile of several layers applies in their order, a built-in one first") {
    REQUIRE_OK_AND_ASSIGN(
        const Policy policy,
        MergeTexts({{kSystem, "s", "[profile.install.filesystem]\ndeny-write = [\"a\"]"},
                    {kUser, "u", "[profile.install.filesystem]\ndeny-write = [\"b\"]"}},
                   {{"profile", "install"}}));
    const std::string shown = ShowKeyOf("filesystem.deny-write", policy);
    CHECK_MESSAGE(absl::EndsWith(shown,
                                 "\"!node_modules\" (built-in install:2:15)\n"
                                 "\"a\" (s:2:15)\n\"b\" (u:2:15)"),
                  shown);
  }

  TEST_CASE("profiles that cannot be resolved are refused") {
    const std::vector<testing::LayerText> texts = {
        {kUser, "u",
         "[profile.a]\nextends = \"b\"\n[profile.b]\nextends = \"a\"\n"
         "[profile.self]\nextends = \"self\"\n[profile.lost]\nextends = \"nowhere\""}};
    CHECK_DIAGNOSTIC(MergeTexts(texts, {{"profile", "instal"}}), kInvalidArgument,
                     "unknown profile 'instal'", "--profile", "did you mean 'install'?");
    CHECK_DIAGNOSTIC(MergeTexts(texts, {{"profile", "xyzzy"}}), kInvalidArgument,
                     "unknown profile 'xyzzy'", "--profile",
                     "there are: agent, build, install, a, b, lost, self");
    CHECK_DIAGNOSTIC(MergeTexts(texts, {{"profile", "lost"}}), kInvalidArgument,
                     "unknown profile 'nowhere'", "u:8:11",
                     "there are: agent, build, install, a, b, lost, self");
    CHECK_DIAGNOSTIC(MergeTexts(texts, {{"profile", "a"}}), kInvalidArgument,
                     "profile 'a' extends itself: a extends b extends a", "u:4:11", "");
    CHECK_DIAGNOSTIC(MergeTexts(texts, {{"profile", "self"}}), kInvalidArgument,
                     "profile 'self' extends itself: self extends self", "u:6:11", "");
  }

  TEST_CASE("the workspace cannot choose a profile, by use-profiles or by extends") {
    CHECK_DIAGNOSTIC(MergeTexts({{kWorkspace, "w", "use-profiles = [\"install\"]"}}),
                     kInvalidArgument,
                     "'use-profiles' cannot be set here: the workspace's policy file may only "
                     "tighten",
                     "w:1:17", "set it in your own policy file, or on the command line");
    CHECK_ERROR(MergeTexts({{kUser, "u", "[profile.x]"},
                            {kWorkspace, "w", "[profile.x]\nextends = \"install\""}},
                           {{"profile", "x"}}),
                kInvalidArgument, "'extends' cannot be set by the workspace's policy file");
  }

  TEST_CASE("git = full takes back the built-in protection, and only that") {
    REQUIRE_OK_AND_ASSIGN(const Policy policy, MergeTexts({{kUser, "u", ""}}, {{"git", "full"}}));
    CHECK_EQ(ShowWritten("filesystem.deny-write", policy), std::string("\"!.git\" (--git)"));
    CHECK_EQ(ShowKeyOf("filesystem.nested-repositories", policy),
             std::string("\"ignore\" (--git)"));

    REQUIRE_OK_AND_ASSIGN(
        const Policy own,
        MergeTexts({{kUser, "u",
                     "[filesystem]\ndeny-write = [\".git\"]\nnested-repositories = \"protect\""}},
                   {{"git", "full"}}));
    CHECK_EQ(ShowWritten("filesystem.deny-write", own),
             std::string("\"!.git\" (--git)\n\".git\" (u:2:15)"));
    CHECK_EQ(own.nested_repositories.value, NestedRepositories::kProtect);
  }

  TEST_CASE("a value that its row refuses is refused wherever it comes from") {
    Layer flags;
    flags.assignments.push_back(
        {FindSettingByKey("mode"), {"x", {}}, {Origin::Kind::kFlag, "--mode"}});
    CHECK_ERROR(MergeLayers({flags}), kInvalidArgument, "bad value of 'mode'");
    flags.assignments = {
        {FindSettingByKey("keep-fd"), {"1", {}}, {Origin::Kind::kFlag, "--keep-fd"}}};
    CHECK_ERROR(MergeLayers({flags}), kInvalidArgument, "bad value of 'keep-fd'");
  }
}

}  // namespace
}  // namespace agent_exec
