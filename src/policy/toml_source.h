#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "policy/layer.h"

namespace agent_exec {

inline constexpr size_t kMaxPolicyBytes = 1 << 20;
inline constexpr int kMaxPolicyNesting = 64;
inline constexpr int kMaxPolicyKeys =
    10000;  // keys and table headers; what the parser does with them is quadratic

// Parses one policy text. The only user of toml++; the guard before it (toml_guard.h) refuses what
// that parser cannot bear.
//   In:      any bytes; name is what messages call the text.
//   Returns: assignments in the order of the text, not applied: values are checked when layers are
//   merged, and also
//            here against an empty policy, so that a bad value of an unused profile is found.
//   Errors:  InvalidArgument with "name:line:col", the key, what was expected and the nearest name:
//   syntax, unknown key,
//            wrong type, bad value, unsupported version (a text need not have one), size, depth,
//            invalid UTF-8.
//   Source:  TOML 1.0.0.
absl::StatusOr<Layer> ParseToml(absl::string_view text, absl::string_view name, LayerKind kind);

}  // namespace agent_exec
