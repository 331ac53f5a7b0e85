#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policy/layer.h"
#include "policy/policy.h"

namespace agent_exec {

// A built-in profile: TOML text in the source, the same language as any policy file.
struct BuiltinProfile {
  const char* name;  // "workspace-write", "install"
  const char* text;
};

// What the base profiles of all modes share: the lowest layer of all.
const BuiltinProfile& BuiltinCommon();
// The base profile of a mode, merged on top of BuiltinCommon.
const BuiltinProfile& BuiltinForMode(Mode mode);
// Those that --profile can name: install, build, agent.
absl::Span<const BuiltinProfile> NamedBuiltins();

// Reads a built-in text, ten times faster than ParseToml, which matters since every start does it.
// The texts keep to what this knows: tables of one name, one assignment to a line, booleans, basic
// strings without escapes, arrays of these and of inline tables of these, no comments. A test holds
// it to give what ParseToml gives for each of them.
//   Returns: a layer named "built-in NAME".
//   Errors:  Internal: the text does not keep to that, or a key is none.
absl::StatusOr<Layer> ReadBuiltin(const BuiltinProfile& profile);

}  // namespace agent_exec
