#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status.h"
#include "base/text.h"
#include "policy/merge.h"
#include "policy/setting.h"

namespace agent_exec {
namespace {

// The origin that was read later; files are taken to be in the order of their mention.
const Origin& Later(const Origin& first, const Origin& second) {
  const bool first_is_flag = first.kind == Origin::Kind::kFlag;
  return first_is_flag && second.kind != Origin::Kind::kFlag ? first : second;
}

absl::Status NotEnforced(const Policy& policy, absl::string_view subject, const Origin& origin) {
  const Origin& place = Later(policy.mode.origin, origin);
  const std::string other = place == origin ? "" : absl::StrCat(" (", FormatOrigin(origin), ")");
  return ErrorAt(absl::StatusCode::kInvalidArgument,
                 absl::StrCat("mode 'danger-full-access' confines nothing, so ", subject, other,
                              " would not be enforced"),
                 FormatOrigin(place),
                 "choose another mode, or accept it by weaken = [\"run-unsandboxed\"]");
}

// Nothing is confined in this mode, and its own profile asks for nothing else: a rule that confines
// is one that somebody asked for and that would be ignored.
absl::Status CheckDangerMode(const Policy& policy) {
  if (policy.mode.value != Mode::kDangerFullAccess) return absl::OkStatus();
  if (IsWeakened(policy, Weakening::kRunUnsandboxed)) return absl::OkStatus();
  for (const PathRule& rule : policy.paths) {
    if (rule.takes_back) continue;
    if (rule.want == Want::kDenyRead) {
      return NotEnforced(policy, "'filesystem.deny-read'", rule.origin);
    }
    if (rule.want == Want::kDenyWrite) {
      return NotEnforced(policy, "'filesystem.deny-write'", rule.origin);
    }
  }
  for (const Setting& setting : Settings()) {
    if (setting.type != ValueType::kEnum || setting.tighten != Tighten::kEarlier) continue;
    if (absl::string_view(setting.key) == "mode") continue;
    // How a denied path looks does not matter where none is.
    if (absl::string_view(setting.key) == "filesystem.denied") continue;
    const auto shown = setting.show(setting, policy);
    const std::string value = ScalarText(setting, policy);
    if (shown.empty() || value == SplitChoices(setting.choices).back()) continue;
    return NotEnforced(policy, absl::StrCat(SettingName(setting), " = '", value, "'"),
                       shown.front().second);
  }
  if (policy.limits.tmp_size_bytes.has_value()) {
    return NotEnforced(policy, "'limits.tmp-size'", policy.limits.tmp_size_bytes->origin);
  }
  return absl::OkStatus();
}

// The command could write into, or close, a report that it shares a descriptor with.
absl::Status CheckReportDescriptor(const Policy& policy) {
  if (!policy.report.has_value()) return absl::OkStatus();
  for (const Sourced<int>& fd : policy.keep_fds) {
    if (policy.report->value != absl::StrCat("fd:", fd.value)) continue;
    return ErrorAt(
        absl::StatusCode::kInvalidArgument,
        absl::StrCat("descriptor ", fd.value, " is both the report's and kept for the command"),
        FormatOrigin(Later(policy.report->origin, fd.origin)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidatePolicy(const Policy& policy) {
  AE_RETURN_IF_ERROR(CheckReportDescriptor(policy));
  return CheckDangerMode(policy);
}

}  // namespace agent_exec
