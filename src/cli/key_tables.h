#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "policy/setting.h"

namespace agent_exec {

// The rows that have a key, by the table of a policy file in which they stand.
struct KeyTable {
  absl::string_view name;  // "filesystem"; "" for the keys above all tables
  std::vector<const Setting*> rows;
};

// The keys above all tables first, the tables in the order of their first rows.
std::vector<KeyTable> KeyTables();
// "filesystem.deny-read" → "deny-read": the key within its table.
absl::string_view KeyWithinTable(const Setting& row);

}  // namespace agent_exec
