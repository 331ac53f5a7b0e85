#pragma once

// Policies from TOML texts, and back to text, for tests of the policy directory and of what reads
// one.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "policy/layer.h"
#include "policy/merge.h"
#include "policy/setting.h"
#include "policy/toml_source.h"
#include "support/status.h"

namespace agent_exec::testing {

struct LayerText {
  LayerKind kind;
  absl::string_view name;
  absl::string_view text;
};

// One flag and its argument, as AssignmentFromFlag takes them.
using Flag = std::pair<absl::string_view, absl::string_view>;

// Parses and merges. In: texts in the order of merging.
inline absl::StatusOr<Policy> MergeTexts(const std::vector<LayerText>& texts,
                                         const std::vector<Flag>& flags = {}) {
  std::vector<Layer> layers;
  for (const LayerText& text : texts) {
    AE_ASSIGN_OR_RETURN(Layer layer, ParseToml(text.text, text.name, text.kind));
    layers.push_back(std::move(layer));
  }
  Layer command_line;
  for (const auto& [flag, argument] : flags) {
    AE_ASSIGN_OR_RETURN(Assignment assignment, AssignmentFromFlag(flag, argument));
    command_line.assignments.push_back(std::move(assignment));
  }
  layers.push_back(std::move(command_line));
  return MergeLayers(layers);
}

// What the row of this key shows: "VALUE (ORIGIN)", one line for each element.
inline std::string ShowKeyOf(absl::string_view key, const Policy& policy) {
  const Setting* setting = FindSettingByKey(key);
  if (setting == nullptr) return absl::StrCat("no such key: ", key);
  std::string out;
  for (const auto& [value, origin] : setting->show(*setting, policy)) {
    absl::StrAppend(&out, out.empty() ? "" : "\n", value, " (", FormatOrigin(origin), ")");
  }
  return out;
}

// The elements of a list that no built-in profile put there.
inline std::string ShowWritten(absl::string_view key, const Policy& policy) {
  const Setting* setting = FindSettingByKey(key);
  if (setting == nullptr) return absl::StrCat("no such key: ", key);
  std::string out;
  for (const auto& [value, origin] : setting->show(*setting, policy)) {
    if (origin.kind == Origin::Kind::kBuiltin) continue;
    absl::StrAppend(&out, out.empty() ? "" : "\n", value, " (", FormatOrigin(origin), ")");
  }
  return out;
}

}  // namespace agent_exec::testing
