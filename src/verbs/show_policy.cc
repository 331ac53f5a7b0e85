#include "verbs/show_policy.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "policy/setting.h"

namespace agent_exec {
namespace {

using Values = std::vector<std::pair<std::string, Origin>>;

bool IsList(const Setting& setting) {
  return setting.type == ValueType::kStringList || setting.type == ValueType::kIntegerList ||
         setting.type == ValueType::kPathRuleList;
}

void AppendComment(const Origin& origin, std::string* out) {
  const std::string place = FormatOrigin(origin);
  absl::StrAppend(out, place.empty() ? "" : "  # ", place, "\n");
}

void AppendList(absl::string_view name, const Values& values, std::string* out) {
  absl::StrAppend(out, name, " = [\n");
  for (const auto& [text, origin] : values) {
    absl::StrAppend(out, "  ", text, ",");
    AppendComment(origin, out);
  }
  out->append("]\n");
}

// NAME of "NAME = VALUE". A quoted name may hold anything, so its end is sought from the front.
absl::string_view NameOf(absl::string_view text) {
  if (text.substr(0, 1) != "\"") return text.substr(0, text.find(' '));
  size_t i = 1;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return text.substr(0, i + 1);
}

// The members of a map. Of those with the same name the last one holds, and TOML takes none twice.
void AppendMap(absl::string_view name, const Values& values, std::string* out) {
  for (size_t i = 0; i < values.size(); ++i) {
    bool is_last = true;
    for (size_t j = i + 1; j < values.size() && is_last; ++j) {
      is_last = NameOf(values[j].first) != NameOf(values[i].first);
    }
    if (!is_last) continue;
    absl::StrAppend(out, name, ".", values[i].first);
    AppendComment(values[i].second, out);
  }
}

void AppendSetting(const Setting& setting, absl::string_view name, const Values& values,
                   std::string* out) {
  if (setting.type == ValueType::kStringMap) return AppendMap(name, values, out);
  if (IsList(setting)) return AppendList(name, values, out);
  for (const auto& [text, origin] : values) {
    absl::StrAppend(out, name, " = ", text);
    AppendComment(origin, out);
  }
}

// "filesystem" of "filesystem.deny-read", "" of "mode".
absl::string_view TableOf(absl::string_view key) {
  size_t dot = key.rfind('.');
  return dot == absl::string_view::npos ? "" : key.substr(0, dot);
}

}  // namespace

std::string FormatPolicy(const Policy& policy) {
  // The tables in the order in which the settings name them first; the top level has no header and
  // must come before any.
  std::vector<absl::string_view> tables = {""};
  std::vector<std::string> texts = {"version = 1\n"};
  for (const Setting& setting : Settings()) {
    absl::string_view key = setting.key;
    if (key.empty()) continue;
    Values values = setting.show(setting, policy);
    if (values.empty()) continue;
    absl::string_view table = TableOf(key);
    size_t i = 0;
    while (i < tables.size() && tables[i] != table) ++i;
    if (i == tables.size()) {
      tables.push_back(table);
      texts.push_back(absl::StrCat("\n[", table, "]\n"));
    }
    AppendSetting(setting, table.empty() ? key : key.substr(table.size() + 1), values, &texts[i]);
  }
  std::string out;
  for (const std::string& text : texts) out += text;
  return out;
}

}  // namespace agent_exec
