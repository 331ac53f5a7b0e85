#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "plan/plan.h"

namespace agent_exec {

// How strong a claim on a path is, weakest first. The deepest path wins; on the same path the
// strongest claim that applies.
enum class Rank : uint8_t {
  kLink,     // a symlink shown again; only where the sandbox hides its directory
  kHide,     // an empty directory; only over what the host shows
  kSystem,   // /, /proc, /dev
  kPrivate,  // a private home or temporary directory
  kInside,   // made by us in what the sandbox hides; nothing exists there that it could cover
  kExpose,   // the host's path shown read-only; only inside what the sandbox hides
  kSecret,  // masked without a rule of the user; only over what the host shows. A rule for the same
            // path wins
  kRead,    // rules of the policy, in the order of the design
  kWrite,
  kDenyWrite,  // only where the host's path could be written
  kDenyRead,   // only where something is there to be hidden: the host's path, the kernel's, or ours
  kSocket,     // a socket that a host program listens on; as kDenyRead
  kPin,  // a writable directory bound onto itself so that it cannot be renamed; only where nothing
         // else applies
};

// One claim: the mount that it would make.
struct Entry {
  Rank rank = Rank::kRead;
  MountOp op;
  bool missing = false;  // kDenyWrite, kPin: nothing is there yet, so a placeholder is made first
  bool pinned = false;   // kDenyWrite, kPin: none of its ancestors may be renamed either
};

struct Settled {
  std::vector<MountOp> mounts;
  std::vector<Placeholder> placeholders;
  std::vector<Shadowed> shadowed;
  std::vector<int>
      guards;  // indices of the entries that decide their path and are kDenyWrite or pinned
};

// Claims → the mount list: ancestors first, one mount per target, nothing without effect.
//   In:   of equal claims (path and rank) the first counts.
//   Cost: one sort; each entry is looked at once.
Settled Settle(const std::vector<Entry>& entries);

// Orders paths so that a directory is followed by everything below it, and only then by its
// siblings: '/' sorts before every other byte.
bool PathLess(absl::string_view a, absl::string_view b);

}  // namespace agent_exec
