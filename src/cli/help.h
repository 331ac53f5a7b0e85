#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "policy/setting.h"

namespace agent_exec {

// What --help prints: the options of the settings table and the verbs by group, at most 80 columns
// wide.
std::string HelpText();
// What --version prints: "agent-exec 0.1.0".
std::string VersionText();

// The heading of a group, for all documentation: "Filesystem".
absl::string_view GroupTitle(Group group);
// The argument of a row's flag as documentation spells it: "PATH", "NAME=VALUE", "tmp-size=SIZE",
// "none|host"; "" when it takes none.
std::string FlagArgument(const Setting& setting);

}  // namespace agent_exec
