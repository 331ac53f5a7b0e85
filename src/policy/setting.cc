#include "policy/setting.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/status.h"
#include "base/text.h"

namespace agent_exec {
namespace {

absl::Status Invalid(absl::string_view message, const Origin& origin, absl::string_view hint = "") {
  return ErrorAt(absl::StatusCode::kInvalidArgument, message, FormatOrigin(origin), hint);
}

std::string DidYouMean(absl::string_view word, absl::Span<const absl::string_view> candidates) {
  const absl::string_view nearest = NearestName(word, candidates);
  return nearest.empty() ? "" : absl::StrCat("did you mean ", QuoteForMessage(nearest), "?");
}

absl::string_view LastPart(absl::string_view key) {
  const size_t dot = key.rfind('.');
  return dot == absl::string_view::npos ? key : key.substr(dot + 1);
}

absl::Status UnknownFlag(absl::string_view flag, const Origin& origin) {
  std::vector<std::string> names;
  for (const Setting& setting : Settings()) {
    if (setting.flag[0] != '\0') names.push_back(absl::StrCat("--", setting.flag));
  }
  const std::vector<absl::string_view> candidates(names.begin(), names.end());
  const std::string word = absl::StrCat("--", flag);
  return Invalid(absl::StrCat("unknown option ", QuoteForMessage(word)), origin,
                 DidYouMean(word, candidates));
}

// Finds the row that KEY of "KEY=VALUE" names and leaves VALUE in `argument`.
absl::StatusOr<const Setting*> FindKeyedRow(absl::string_view flag, const Origin& origin,
                                            absl::string_view* argument) {
  const size_t equals = argument->find('=');
  if (equals == absl::string_view::npos) {
    return Invalid(absl::StrCat("bad value of '--", flag, "': expected KEY=VALUE, got ",
                                QuoteForMessage(*argument)),
                   origin);
  }
  const absl::string_view key = argument->substr(0, equals);
  std::vector<absl::string_view> keys;
  for (const Setting& setting : Settings()) {
    if (flag != setting.flag || setting.flag_form != FlagForm::kKeyed) continue;
    keys.push_back(LastPart(setting.key));
    if (key != keys.back()) continue;
    argument->remove_prefix(equals + 1);
    return &setting;
  }
  return Invalid(absl::StrCat("unknown key ", QuoteForMessage(key), " of '--", flag, "'"), origin,
                 DidYouMean(key, keys));
}

// The row among those of a flag that this argument belongs to.
absl::StatusOr<const Setting*> ChooseRow(absl::string_view flag, const Origin& origin,
                                         absl::string_view* argument) {
  const Setting* first = FindSettingByFlag(flag);
  if (first == nullptr) return UnknownFlag(flag, origin);
  if (first->flag_form == FlagForm::kKeyed) return FindKeyedRow(flag, origin, argument);
  const FlagForm form = absl::StrContains(*argument, "=") ? FlagForm::kAssigned : FlagForm::kValue;
  for (const Setting& setting : Settings()) {
    if (flag == setting.flag && setting.flag_form == form) return &setting;
  }
  return first;
}

}  // namespace

const Setting* FindSettingByKey(absl::string_view dotted_key) {
  if (dotted_key.empty()) return nullptr;
  for (const Setting& setting : Settings()) {
    if (dotted_key == setting.key) return &setting;
  }
  return nullptr;
}

const Setting* FindSettingByFlag(absl::string_view flag) {
  if (flag.empty()) return nullptr;
  for (const Setting& setting : Settings()) {
    if (flag == setting.flag) return &setting;
  }
  return nullptr;
}

std::string SettingName(const Setting& setting) {
  return setting.key[0] != '\0' ? absl::StrCat("'", setting.key, "'")
                                : absl::StrCat("'--", setting.flag, "'");
}

bool IsTableOfSettings(absl::string_view dotted_key) {
  const std::string prefix = absl::StrCat(dotted_key, ".");
  for (const Setting& setting : Settings()) {
    if (absl::StartsWith(setting.key, prefix)) return true;
  }
  return false;
}

std::string NearestKey(absl::string_view dotted_key) {
  // Inside a profile the same keys are known, behind its name.
  absl::string_view word = dotted_key;
  std::string prefix;
  if (absl::ConsumePrefix(&word, "profile.")) {
    const size_t dot = word.find('.');
    if (dot != absl::string_view::npos) word.remove_prefix(dot + 1);
    prefix = std::string(absl::StripSuffix(dotted_key, word));
  }
  std::vector<absl::string_view> candidates(StructuralKeys().begin(), StructuralKeys().end());
  if (!prefix.empty()) candidates = {"extends"};
  for (const Setting& setting : Settings()) {
    const absl::string_view key = setting.key;
    candidates.push_back(key);
    const size_t dot = key.rfind('.');
    if (dot == absl::string_view::npos) continue;
    candidates.push_back(key.substr(0, dot));
    // The words of a name are often remembered without its table: "deny-read" at the top of a file.
    if (key.substr(dot + 1) == word) return absl::StrCat(prefix, key);
  }
  const absl::string_view nearest = NearestName(word, candidates);
  return nearest.empty() ? "" : absl::StrCat(prefix, nearest);
}

const char* ExpectedToml(ValueType type) {
  switch (type) {
    case ValueType::kBool:
      return "true or false";
    case ValueType::kEnum:
    case ValueType::kString:
    case ValueType::kPath:
      return "a string";
    case ValueType::kInteger:
      return "an integer";
    case ValueType::kSize:
      return "a string such as \"64MiB\" or an integer (bytes)";
    case ValueType::kDuration:
      return "a string such as \"10min\" or an integer (seconds)";
    case ValueType::kStringList:
      return "an array of strings";
    case ValueType::kIntegerList:
      return "an array of integers";
    case ValueType::kPathRuleList:
      return "an array of strings or { path = … } tables";
    case ValueType::kStringMap:
      return "a table of strings";
  }
  return "";
}

absl::Span<const absl::string_view> StructuralKeys() {
  static constexpr absl::string_view kKeys[] = {"version", "profile"};
  return kKeys;
}

absl::Status ApplyAssignment(const Assignment& assignment, Policy* policy) {
  const Setting& setting = *assignment.setting;
  bool has_nul = HasNul(assignment.value.text);
  for (const auto& [name, text] : assignment.value.attributes) {
    has_nul = has_nul || HasNul(name) || HasNul(text);
  }
  // Every value ends up in a C string sooner or later, and a rule must not mean less there than
  // here.
  absl::Status status = has_nul
                            ? absl::InvalidArgumentError("it holds a NUL character")
                            : setting.apply(setting, assignment.value, assignment.origin, policy);
  if (status.ok()) return status;
  return Invalid(
      absl::StrCat("bad value of ", SettingName(setting), ": ", ToDiagnostic(status).message),
      assignment.origin);
}

absl::StatusOr<Assignment> AssignmentFromFlag(absl::string_view flag, absl::string_view argument) {
  const Origin origin{Origin::Kind::kFlag, absl::StrCat("--", flag)};
  AE_ASSIGN_OR_RETURN(const Setting* setting, ChooseRow(flag, origin, &argument));
  Assignment assignment{setting, {}, origin};
  RawValue& value = assignment.value;
  value.text = std::string(argument);
  if (setting->type == ValueType::kBool) value.text = "true";
  if (setting->type == ValueType::kStringMap) {
    const size_t equals = argument.find('=');
    if (equals != absl::string_view::npos) {
      value.attributes.emplace_back("name", std::string(argument.substr(0, equals)));
      value.text = std::string(argument.substr(equals + 1));
    }
  }
  Policy scratch;
  AE_RETURN_IF_ERROR(ApplyAssignment(assignment, &scratch));
  return assignment;
}

std::string ScalarText(const Setting& setting, const Policy& policy) {
  const auto shown = setting.show(setting, policy);
  if (shown.empty()) return "";
  // The words of an enum, sizes, numbers and booleans need no escapes, and nothing else is asked
  // for as text.
  absl::string_view text = shown.front().first;
  if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

}  // namespace agent_exec
