#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace agent_exec {

// The SHA-256 of some bytes as 64 lower-case hexadecimal digits. For names and fingerprints that
// people compare, not for secrets: its running time depends on the length alone, but nothing here
// wipes memory.
//   Source: FIPS 180-4.
std::string Sha256Hex(absl::string_view bytes);

}  // namespace agent_exec
