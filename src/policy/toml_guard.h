#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace agent_exec {

// Checks the form of a TOML text before the parser sees it. toml++ built without exceptions
// asserts, or never returns, on some malformed texts, so nothing malformed may reach it: whatever
// passes here is well formed but for keys defined twice, numbers out of range and days that do not
// exist, which that parser reports properly.
//
//   In:      any bytes, a byte order mark already taken off; name is what messages call the text.
//   Errors:  InvalidArgument with "name:line:col" (bytes): over kMaxPolicyBytes, kMaxPolicyNesting
//   or kMaxPolicyKeys;
//            invalid UTF-8; a control character; a malformed key, header or value.
//   Cost:    one pass over the bytes, no allocation.
//   Source:  TOML 1.0.0.
absl::Status GuardToml(absl::string_view text, absl::string_view name);

}  // namespace agent_exec
