#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "policy/policy.h"
#include "policy/setting.h"

// What the rows of the settings table point to: how a value of each type is checked, stored and
// shown. Only settings.cc includes this.

namespace agent_exec {

using Shown = std::vector<std::pair<std::string, Origin>>;

// The value as the index of its word in setting.choices. Errors: "expected a, b or c, got 'x'".
absl::StatusOr<int> ParseChoice(const Setting& setting, absl::string_view text);
// The word with this index, as a TOML string.
std::string ShowChoice(const Setting& setting, int index);
// kSize and kInteger within the row's bounds. Errors: "expected …, got 'x'".
absl::StatusOr<int64_t> ParseNumber(const Setting& setting, absl::string_view text);
std::string ShowNumber(const Setting& setting, int64_t value);
absl::Status CheckNotEmpty(absl::string_view text);
std::string ShowString(absl::string_view text);

// An enum whose values stand in the order of the row's choices.
template <auto Field>
absl::Status ApplyChoice(const Setting& setting, const RawValue& value, const Origin& origin,
                         Policy* policy) {
  const absl::StatusOr<int> index = ParseChoice(setting, value.text);
  if (!index.ok()) return index.status();
  auto& field = policy->*Field;
  field.value = static_cast<decltype(field.value)>(*index);
  field.origin = origin;
  return absl::OkStatus();
}
template <auto Field>
Shown ShowChoiceOf(const Setting& setting, const Policy& policy) {
  const auto& field = policy.*Field;
  return {{ShowChoice(setting, static_cast<int>(field.value)), field.origin}};
}

template <std::optional<Sourced<std::string>> Policy::* Field>
absl::Status ApplyText(const Setting&, const RawValue& value, const Origin& origin,
                       Policy* policy) {
  if (absl::Status status = CheckNotEmpty(value.text); !status.ok()) return status;
  policy->*Field = Sourced<std::string>{value.text, origin};
  return absl::OkStatus();
}
template <std::optional<Sourced<std::string>> Policy::* Field>
Shown ShowText(const Setting&, const Policy& policy) {
  const auto& field = policy.*Field;
  if (!field.has_value()) return {};
  return {{ShowString(field->value), field->origin}};
}

template <std::vector<Sourced<std::string>> Policy::* Field>
absl::Status AppendText(const Setting&, const RawValue& value, const Origin& origin,
                        Policy* policy) {
  if (absl::Status status = CheckNotEmpty(value.text); !status.ok()) return status;
  (policy->*Field).push_back({value.text, origin});
  return absl::OkStatus();
}
template <std::vector<Sourced<std::string>> Policy::* Field>
Shown ShowTexts(const Setting&, const Policy& policy) {
  Shown shown;
  for (const Sourced<std::string>& element : policy.*Field) {
    shown.emplace_back(ShowString(element.value), element.origin);
  }
  return shown;
}

template <std::optional<Sourced<int64_t>> Limits::* Field>
absl::Status ApplyLimit(const Setting& setting, const RawValue& value, const Origin& origin,
                        Policy* policy) {
  const absl::StatusOr<int64_t> number = ParseNumber(setting, value.text);
  if (!number.ok()) return number.status();
  policy->limits.*Field = Sourced<int64_t>{*number, origin};
  return absl::OkStatus();
}
template <std::optional<Sourced<int64_t>> Limits::* Field>
Shown ShowLimit(const Setting& setting, const Policy& policy) {
  const auto& field = policy.limits.*Field;
  if (!field.has_value()) return {};
  return {{ShowNumber(setting, field->value), field->origin}};
}

absl::Status AppendPathRule(Want want, Missing missing, const RawValue& value, const Origin& origin,
                            Policy* policy);
template <Want kWant, Missing kMissing = Missing::kDefault>
absl::Status ApplyPathRule(const Setting&, const RawValue& value, const Origin& origin,
                           Policy* policy) {
  return AppendPathRule(kWant, kMissing, value, origin, policy);
}
Shown ShowPathRules(Want want, const Policy& policy);
template <Want kWant>
Shown ShowPathRule(const Setting&, const Policy& policy) {
  return ShowPathRules(kWant, policy);
}

absl::Status AppendEnvRule(EnvRule::Kind kind, const RawValue& value, const Origin& origin,
                           Policy* policy);
template <EnvRule::Kind kKind>
absl::Status ApplyEnvRule(const Setting&, const RawValue& value, const Origin& origin,
                          Policy* policy) {
  return AppendEnvRule(kKind, value, origin, policy);
}
Shown ShowEnvRules(EnvRule::Kind kind, const Policy& policy);
template <EnvRule::Kind kKind>
Shown ShowEnvRule(const Setting&, const Policy& policy) {
  return ShowEnvRules(kKind, policy);
}

absl::Status ApplyBackend(const Setting& setting, const RawValue& value, const Origin& origin,
                          Policy* policy);
Shown ShowBackend(const Setting& setting, const Policy& policy);
absl::Status ApplyKeepFd(const Setting& setting, const RawValue& value, const Origin& origin,
                         Policy* policy);
Shown ShowKeepFds(const Setting& setting, const Policy& policy);
absl::Status ApplyWeaken(const Setting& setting, const RawValue& value, const Origin& origin,
                         Policy* policy);
Shown ShowWeaken(const Setting& setting, const Policy& policy);
absl::Status ApplyPlatforms(const Setting& setting, const RawValue& value, const Origin& origin,
                            Policy* policy);
Shown ShowPlatforms(const Setting& setting, const Policy& policy);
absl::Status ApplyReport(const Setting& setting, const RawValue& value, const Origin& origin,
                         Policy* policy);
// --quiet and --verbose undo each other, so that the later one of a file and a command line holds.
absl::Status ApplyQuiet(const Setting& setting, const RawValue& value, const Origin& origin,
                        Policy* policy);
absl::Status ApplyVerbose(const Setting& setting, const RawValue& value, const Origin& origin,
                          Policy* policy);
template <Sourced<bool> Policy::* Field>
absl::Status ApplyBool(const Setting&, const RawValue& value, const Origin& origin,
                       Policy* policy) {
  policy->*Field = {value.text == "true", origin};
  return absl::OkStatus();
}
template <Sourced<bool> Policy::* Field>
Shown ShowBool(const Setting&, const Policy& policy) {
  const Sourced<bool>& field = policy.*Field;
  return {{field.value ? "true" : "false", field.origin}};
}
Shown ShowNothing(const Setting& setting, const Policy& policy);

}  // namespace agent_exec
