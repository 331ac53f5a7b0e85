#include "cli/key_tables.h"

namespace agent_exec {

std::vector<KeyTable> KeyTables() {
  std::vector<KeyTable> tables = {{"", {}}};
  for (const Setting& row : Settings()) {
    const absl::string_view key = row.key;
    if (key.empty()) continue;
    const size_t dot = key.find('.');
    const absl::string_view name = dot == absl::string_view::npos ? "" : key.substr(0, dot);
    KeyTable* table = nullptr;
    for (KeyTable& known : tables) {
      if (known.name == name) table = &known;
    }
    if (table == nullptr) table = &tables.emplace_back(KeyTable{name, {}});
    table->rows.push_back(&row);
  }
  return tables;
}

absl::string_view KeyWithinTable(const Setting& row) {
  const absl::string_view key = row.key;
  const size_t dot = key.find('.');
  return dot == absl::string_view::npos ? key : key.substr(dot + 1);
}

}  // namespace agent_exec
