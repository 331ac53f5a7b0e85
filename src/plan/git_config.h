#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace agent_exec {

struct GitConfigEntry {
  std::string section;     // lower case: "core", "branch"
  std::string subsection;  // as written: [branch "Main"]; lower case when written [branch.main]
  std::string key;         // lower case
  std::string value;       // unquoted; "" for a key without "="
  bool has_value = false;  // false: the key alone, which git reads as true
  bool operator==(const GitConfigEntry&) const = default;
};

struct GitConfig {
  std::vector<GitConfigEntry> entries;  // in file order
  bool well_formed =
      true;  // false: git would refuse the file; entries holds what came before the fault
};

// Reads one configuration file. Includes are entries like others.
//   In:     any bytes.
//   Source: git-config(1), SYNTAX.
GitConfig ParseGitConfig(absl::string_view text);

// A configuration that holds the entries of an allowlist: who the user is and how git should look
// and behave, nothing that runs a program, names a credential, a server or another file to include.
//   Returns: text that ParseGitConfig reads back as these entries; "" when there are none.
std::string HarmlessGitConfig(const GitConfig& config);

}  // namespace agent_exec
