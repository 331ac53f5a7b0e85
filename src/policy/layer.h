#pragma once

#include <string>
#include <vector>

#include "policy/setting.h"

namespace agent_exec {

// How far a layer is trusted, lowest first; this is the order of merging.
enum class LayerKind {
  kBuiltin,    // the profile of the mode
  kSystem,     // /etc/agent-exec/policy.toml
  kUser,       // $XDG_CONFIG_HOME/agent-exec/policy.toml
  kWorkspace,  // <workspace>/.agent-exec.toml: may only tighten
  kGiven,      // --policy FILE
  kFlags,
};

// [profile.NAME] of one layer.
struct NamedProfile {
  std::string name;
  std::vector<Sourced<std::string>> extends;  // names of profiles that apply before it
  std::vector<Assignment> assignments;
  Origin origin;
};

// One text, parsed: what it sets, in the order it was written.
struct Layer {
  LayerKind kind = LayerKind::kFlags;
  std::string name;  // the file as the user knows it; "command line"
  // `use-profiles` and --profile are among them: merging reads those first.
  std::vector<Assignment> assignments;
  std::vector<NamedProfile> profiles;  // sorted by name
};

}  // namespace agent_exec
