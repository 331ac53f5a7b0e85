#pragma once

#include <cstddef>

namespace agent_exec::glob_ops {

// The ops of a Choice::Kind::kProgram. Escapes and classes are resolved when the pattern is
// compiled, so that the matcher has nothing to parse and cannot disagree with the checks.
inline constexpr char kByte = 'b';  // and the byte
inline constexpr char kAnyByte = '?';
inline constexpr char kAnyRun = '*';      // never two in a row
inline constexpr char kClass = '[';       // and a bitmap of the 128 ASCII characters
inline constexpr char kOtherClass = '^';  // the same, negated: bytes over 127 match
inline constexpr size_t kBitmapBytes = 16;

}  // namespace agent_exec::glob_ops
