#include "policy/setting_values.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/quote.h"
#include "base/status.h"
#include "base/text.h"

namespace agent_exec {
namespace {

absl::Status Expected(absl::string_view what, absl::string_view got) {
  return absl::InvalidArgumentError(
      absl::StrCat("expected ", what, ", got ", QuoteForMessage(got)));
}

// "a, b or c"
std::string JoinChoices(absl::string_view choices) {
  const std::vector<absl::string_view> words = SplitChoices(choices);
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  }
  return text;
}

// A bare key where TOML allows one.
std::string ShowKey(absl::string_view name) {
  const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  return bare ? std::string(name) : TomlQuote(name);
}

absl::Status CheckEnvName(absl::string_view name) {
  if (name.empty() || absl::StrContains(name, "=")) {
    return Expected("the name of a variable", name);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int> ParseChoice(const Setting& setting, absl::string_view text) {
  const std::vector<absl::string_view> words = SplitChoices(setting.choices);
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) return Expected(JoinChoices(setting.choices), text);
  return static_cast<int>(found - words.begin());
}

std::string ShowChoice(const Setting& setting, int index) {
  const std::vector<absl::string_view> words = SplitChoices(setting.choices);
  return ShowString(words[static_cast<size_t>(index)]);
}

absl::StatusOr<int64_t> ParseNumber(const Setting& setting, absl::string_view text) {
  if (setting.type == ValueType::kInteger) return ParseCount(text, setting.min, setting.max);
  AE_ASSIGN_OR_RETURN(const int64_t bytes, ParseSizeBytes(text));
  if (bytes < setting.min || bytes > setting.max) {
    return Expected(absl::StrCat("a size from ", FormatSizeBytes(setting.min), " to ",
                                 FormatSizeBytes(setting.max)),
                    text);
  }
  return bytes;
}

std::string ShowNumber(const Setting& setting, int64_t value) {
  return setting.type == ValueType::kInteger ? absl::StrCat(value)
                                             : ShowString(FormatSizeBytes(value));
}

absl::Status CheckNotEmpty(absl::string_view text) {
  return text.empty() ? absl::InvalidArgumentError("expected something, got an empty string")
                      : absl::OkStatus();
}

std::string ShowString(absl::string_view text) { return TomlQuote(text); }

absl::Status AppendEnvRule(EnvRule::Kind kind, const RawValue& value, const Origin& origin,
                           Policy* policy) {
  if (kind != EnvRule::Kind::kSet) {
    AE_RETURN_IF_ERROR(CheckEnvName(value.text));
    policy->env.push_back({kind, value.text, "", origin});
    return absl::OkStatus();
  }
  for (const auto& [attribute, name] : value.attributes) {
    if (attribute != "name") continue;
    AE_RETURN_IF_ERROR(CheckEnvName(name));
    policy->env.push_back({kind, name, value.text, origin});
    return absl::OkStatus();
  }
  return Expected("NAME=VALUE", value.text);
}

Shown ShowEnvRules(EnvRule::Kind kind, const Policy& policy) {
  Shown shown;
  for (const EnvRule& rule : policy.env) {
    if (rule.kind != kind) continue;
    shown.emplace_back(kind == EnvRule::Kind::kSet
                           ? absl::StrCat(ShowKey(rule.name), " = ", TomlQuote(rule.value))
                           : TomlQuote(rule.name),
                       rule.origin);
  }
  return shown;
}

absl::Status ApplyBackend(const Setting&, const RawValue& value, const Origin& origin,
                          Policy* policy) {
  const bool is_name =
      !value.text.empty() && std::all_of(value.text.begin(), value.text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
      });
  if (!is_name) return Expected("the name of a backend", value.text);
  policy->backend = {value.text, origin};
  return absl::OkStatus();
}

Shown ShowBackend(const Setting&, const Policy& policy) {
  return {{ShowString(policy.backend.value), policy.backend.origin}};
}

absl::Status ApplyKeepFd(const Setting& setting, const RawValue& value, const Origin& origin,
                         Policy* policy) {
  AE_ASSIGN_OR_RETURN(const int64_t number, ParseCount(value.text, setting.min, setting.max));
  const int fd = static_cast<int>(number);
  std::vector<Sourced<int>>& fds = policy->keep_fds;
  const auto place = std::lower_bound(
      fds.begin(), fds.end(), fd, [](const Sourced<int>& kept, int n) { return kept.value < n; });
  if (place == fds.end() || place->value != fd) fds.insert(place, {fd, origin});
  return absl::OkStatus();
}

Shown ShowKeepFds(const Setting&, const Policy& policy) {
  Shown shown;
  for (const Sourced<int>& fd : policy.keep_fds) {
    shown.emplace_back(absl::StrCat(fd.value), fd.origin);
  }
  return shown;
}

absl::Status ApplyWeaken(const Setting& setting, const RawValue& value, const Origin& origin,
                         Policy* policy) {
  for (const WeakeningName& row : WeakeningNames()) {
    if (value.text != row.name) continue;
    if (!IsWeakened(*policy, row.weakening)) policy->weaken.push_back({row.weakening, origin});
    return absl::OkStatus();
  }
  return Expected(JoinChoices(setting.choices), value.text);
}

Shown ShowWeaken(const Setting&, const Policy& policy) {
  Shown shown;
  for (const Sourced<Weakening>& accepted : policy.weaken) {
    for (const WeakeningName& row : WeakeningNames()) {
      if (row.weakening == accepted.value)
        shown.emplace_back(ShowString(row.name), accepted.origin);
    }
  }
  return shown;
}

absl::Status ApplyPlatforms(const Setting& setting, const RawValue& value, const Origin& origin,
                            Policy* policy) {
  std::vector<std::string> platforms;
  for (const auto& [attribute, name] : value.attributes) {
    AE_RETURN_IF_ERROR(ParseChoice(setting, name).status());
    if (std::find(platforms.begin(), platforms.end(), name) == platforms.end()) {
      platforms.push_back(name);
    }
  }
  if (platforms.empty()) return absl::InvalidArgumentError("expected at least one platform");
  policy->platforms = Sourced<std::vector<std::string>>{std::move(platforms), origin};
  return absl::OkStatus();
}

Shown ShowPlatforms(const Setting&, const Policy& policy) {
  Shown shown;
  if (!policy.platforms.has_value()) return shown;
  for (const std::string& platform : policy.platforms->value) {
    shown.emplace_back(ShowString(platform), policy.platforms->origin);
  }
  return shown;
}

absl::Status ApplyReport(const Setting&, const RawValue& value, const Origin& origin,
                         Policy* policy) {
  constexpr absl::string_view kFdPrefix = "fd:";
  constexpr int64_t kMaxFd = 1048575;
  AE_RETURN_IF_ERROR(CheckNotEmpty(value.text));
  if (absl::StartsWith(value.text, kFdPrefix)) {
    AE_RETURN_IF_ERROR(
        ParseCount(absl::string_view(value.text).substr(kFdPrefix.size()), 1, kMaxFd).status());
  }
  policy->report = Sourced<std::string>{value.text, origin};
  return absl::OkStatus();
}

absl::Status ApplyQuiet(const Setting&, const RawValue& value, const Origin& origin,
                        Policy* policy) {
  policy->quiet = {value.text == "true", origin};
  if (policy->quiet.value) policy->verbose = {false, origin};
  return absl::OkStatus();
}

absl::Status ApplyVerbose(const Setting&, const RawValue& value, const Origin& origin,
                          Policy* policy) {
  policy->verbose = {value.text == "true", origin};
  if (policy->verbose.value) policy->quiet = {false, origin};
  return absl::OkStatus();
}

Shown ShowNothing(const Setting&, const Policy&) { return {}; }

}  // namespace agent_exec
