#include <string>
#include <vector>

#include "policy/merge.h"
#include "support/doctest.h"
#include "support/policies.h"
#include "support/status.h"

namespace agent_exec {
namespace {

using testing::Flag;
using testing::MergeTexts;

constexpr char kHint[] = "choose another mode, or accept it by weaken = [\"run-unsandboxed\"]";

TEST_SUITE("policy/validate") {
  TEST_CASE("a rule that danger-full-access would ignore is refused, with both places") {
    const struct {
      const char* text;
      const char* subject;
      const char* place;
    } kCases[] = {
        {"filesystem.deny-read = [\"a\"]", "'filesystem.deny-read'", "u:1:25"},
        {"filesystem.deny-write = [\"a\"]", "'filesystem.deny-write'", "u:1:26"},
        {"filesystem.home = \"private\"", "'filesystem.home' = 'private'", "u:1:19"},
        {"filesystem.tmp = \"private\"", "'filesystem.tmp' = 'private'", "u:1:18"},
        {"filesystem.git = \"read-only\"", "'filesystem.git' = 'read-only'", "u:1:18"},
        {"network.mode = \"none\"", "'network.mode' = 'none'", "u:1:16"},
        {"limits.tmp-size = \"1MiB\"", "'limits.tmp-size'", "u:1:19"},
    };
    for (const auto& c : kCases) {
      CAPTURE(c.text);
      CHECK_DIAGNOSTIC(
          MergeTexts({{LayerKind::kUser, "u", c.text}}, {{"mode", "danger-full-access"}}),
          kInvalidArgument,
          absl::StrCat("mode 'danger-full-access' confines nothing, so ", c.subject, " (", c.place,
                       ") would not be enforced"),
          "--mode", kHint);
      CHECK_OK(MergeTexts({{LayerKind::kUser, "u", c.text}},
                          {{"mode", "danger-full-access"}, {"weaken", "run-unsandboxed"}}));
      CHECK_OK(MergeTexts({{LayerKind::kUser, "u", c.text}}));
    }
  }

  TEST_CASE("the rules of a built-in profile count as asked for") {
    CHECK_ERROR(MergeTexts({}, {{"mode", "danger-full-access"}, {"profile", "agent"}}),
                kInvalidArgument, "'filesystem.deny-read' (built-in agent:2:14) would not be");
  }

  TEST_CASE("what confines nothing, and what is enforced in every mode, may stand beside it") {
    CHECK_OK(MergeTexts({{LayerKind::kUser, "u",
                          "mode = \"danger-full-access\"\n"
                          "[filesystem]\nread = [\"/x\"]\nwrite = [\"y\"]\ndenied = \"error\"\n"
                          "[env]\ndeny = [\"A\"]\n[limits]\nopen-files = 64\n"}},
                        {{"profile", "install"}}));
  }

  TEST_CASE("the place is that of the later value") {
    CHECK_DIAGNOSTIC(MergeTexts({{LayerKind::kUser, "u", "mode = \"danger-full-access\""}},
                                {{"network", "none"}}),
                     kInvalidArgument,
                     "mode 'danger-full-access' confines nothing, so 'network.mode' = 'none' would "
                     "not be enforced",
                     "--network", kHint);
  }

  TEST_CASE("a report does not share its descriptor with the command") {
    CHECK_DIAGNOSTIC(MergeTexts({}, {{"report", "fd:5"}, {"keep-fd", "5"}}), kInvalidArgument,
                     "descriptor 5 is both the report's and kept for the command", "--keep-fd", "");
    CHECK_OK(MergeTexts({}, {{"report", "fd:5"}, {"keep-fd", "6"}}));
    CHECK_OK(MergeTexts({}, {{"report", "fd:55"}, {"keep-fd", "5"}}));
  }
}

}  // namespace
}  // namespace agent_exec
