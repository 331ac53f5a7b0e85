#pragma once

#include <cstdint>

// Bits of landlock(7), so that rendering needs no kernel header. Source: linux/landlock.h (the
// user-space ABI). A test compares them with the machine's own headers.

namespace agent_exec {

inline constexpr uint64_t kLandlockExecute = 1 << 0;
inline constexpr uint64_t kLandlockWriteFile = 1 << 1;
inline constexpr uint64_t kLandlockReadFile = 1 << 2;
inline constexpr uint64_t kLandlockReadDir = 1 << 3;
inline constexpr uint64_t kLandlockRefer = 1 << 13;     // ABI 2
inline constexpr uint64_t kLandlockTruncate = 1 << 14;  // ABI 3
inline constexpr uint64_t kLandlockIoctlDev = 1 << 15;  // ABI 5

// Those that a file can have; the others are about what a directory holds.
inline constexpr uint64_t kLandlockFileRights = kLandlockExecute | kLandlockWriteFile |
                                                kLandlockReadFile | kLandlockTruncate |
                                                kLandlockIoctlDev;

// All file system rights that an ABI knows.
inline constexpr uint64_t LandlockRights(int abi) {
  uint64_t rights = (uint64_t{1} << 13) - 1;
  if (abi >= 2) rights |= kLandlockRefer;
  if (abi >= 3) rights |= kLandlockTruncate;
  if (abi >= 5) rights |= kLandlockIoctlDev;
  return rights;
}

inline constexpr uint64_t kLandlockScopeAbstractUnixSocket = 1 << 0;  // ABI 6
inline constexpr uint64_t kLandlockScopeSignal = 1 << 1;

}  // namespace agent_exec
