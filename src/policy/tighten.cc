#include "policy/tighten.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "base/quote.h"
#include "base/text.h"

namespace agent_exec {
namespace {

absl::Status Refuse(const Assignment& assignment, absl::string_view why, absl::string_view hint) {
  return ErrorAt(absl::StatusCode::kInvalidArgument,
                 absl::StrCat(SettingName(*assignment.setting), " ", why,
                              ": the workspace's policy file may only tighten"),
                 FormatOrigin(assignment.origin), hint);
}

std::string Present(const Setting& setting, const Policy& policy, Origin* origin) {
  const auto shown = setting.show(setting, policy);
  if (!shown.empty()) *origin = shown.front().second;
  return ScalarText(setting, policy);
}

absl::Status CheckEarlier(const Assignment& assignment, const Policy& present) {
  Origin origin;
  const std::string now = Present(*assignment.setting, present, &origin);
  const std::vector<absl::string_view> words = SplitChoices(assignment.setting->choices);
  const auto wanted = std::find(words.begin(), words.end(), assignment.value.text);
  const auto limit = std::find(words.begin(), words.end(), now);
  // A word that is none is the row's to refuse.
  if (wanted == words.end() || limit == words.end() || wanted <= limit) return absl::OkStatus();
  return Refuse(assignment,
                absl::StrCat("= ", QuoteForMessage(assignment.value.text), " is looser than '", now,
                             "' (", FormatOrigin(origin), ")"),
                absl::StrCat("allowed here: ", absl::StrJoin(words.begin(), limit + 1, ", ")));
}

absl::StatusOr<int64_t> ParseNumberOf(const Setting& setting, absl::string_view text) {
  switch (setting.type) {
    case ValueType::kSize:
      return ParseSizeBytes(text);
    case ValueType::kDuration:
      return ParseDurationMs(text);
    default:
      return ParseCount(text, setting.min, setting.max);
  }
}

absl::Status CheckLower(const Assignment& assignment, const Policy& present) {
  const Setting& setting = *assignment.setting;
  Origin origin;
  const std::string now = Present(setting, present, &origin);
  if (now.empty()) return absl::OkStatus();
  const absl::StatusOr<int64_t> wanted = ParseNumberOf(setting, assignment.value.text);
  const absl::StatusOr<int64_t> limit = ParseNumberOf(setting, now);
  // A text that is no number is the row's to refuse.
  if (!wanted.ok() || !limit.ok() || *wanted <= *limit) return absl::OkStatus();
  return Refuse(assignment,
                absl::StrCat("= ", QuoteForMessage(assignment.value.text), " is more than ", now,
                             " (", FormatOrigin(origin), ")"),
                absl::StrCat("allowed here: at most ", now));
}

absl::Status CheckSubset(const Assignment& assignment, const Policy& present) {
  const auto now = assignment.setting->show(*assignment.setting, present);
  if (now.empty()) return absl::OkStatus();
  std::vector<std::string> words;
  for (const auto& [word, origin] : now) words.push_back(word);
  for (const auto& [name, element] : assignment.value.attributes) {
    if (std::find(words.begin(), words.end(), TomlQuote(element)) != words.end()) continue;
    return Refuse(assignment,
                  absl::StrCat("adds ", QuoteForMessage(element), " to the list (",
                               FormatOrigin(now.front().second), ")"),
                  absl::StrCat("allowed here: some of ", absl::StrJoin(words, ", ")));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTightens(const Assignment& assignment, const Policy& present) {
  switch (assignment.setting->tighten) {
    case Tighten::kNever:
      return Refuse(assignment, "cannot be set here", kSetElsewhereHint);
    case Tighten::kAppend:
      // Only path lists give '!' a meaning.
      if (assignment.setting->type != ValueType::kPathRuleList ||
          !absl::StartsWith(assignment.value.text, "!")) {
        return absl::OkStatus();
      }
      return Refuse(assignment,
                    absl::StrCat("is loosened by ", QuoteForMessage(assignment.value.text)),
                    "allowed here: entries without '!'");
    case Tighten::kEarlier:
      return CheckEarlier(assignment, present);
    case Tighten::kLower:
      return CheckLower(assignment, present);
    case Tighten::kSubset:
      return CheckSubset(assignment, present);
  }
  return absl::InternalError("a setting without a tightening rule");
}

}  // namespace agent_exec
