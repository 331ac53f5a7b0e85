#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "plan/plan.h"

namespace agent_exec {

enum class Backing {
  kHost,    // the host's file; see backing_path
  kTmpfs,   // an empty file system of the sandbox
  kKernel,  // /proc, /dev
  kMasked,  // denied
  kData,    // a file of ours
};

struct Decision {
  Access access = Access::kNone;
  Backing backing = Backing::kTmpfs;
  std::string backing_path;  // kHost: the path on the host
  int op = -1;               // index into Plan::mounts
  OriginId origin = 0;
  bool operator==(const Decision&) const = default;
};

// The meaning of a mount list. Every backend, --why and the tests derive from this one function.
class AccessMap {
 public:
  // In: mounts ancestors first, unique targets. The map keeps a reference to them.
  explicit AccessMap(const std::vector<MountOp>& mounts);
  // In: clean and canonical (symlinks are the caller's). The deepest target that is the path or
  // above it decides.
  //   Cost: one binary search per component.
  Decision Lookup(absl::string_view path) const;
  // Is what this directory's own mount says true of everything below it, because no mount lies
  // strictly below?
  bool UniformBelow(absl::string_view dir) const;

 private:
  const std::vector<MountOp>& mounts_;
  std::vector<int> by_target_;  // indices sorted by target bytes
};

}  // namespace agent_exec
