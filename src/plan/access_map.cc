#include "plan/access_map.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/path.h"

namespace agent_exec {
namespace {

Decision DecisionOf(const MountOp& op, int index, absl::string_view path) {
  Decision decision;
  decision.access = op.access;
  decision.op = index;
  decision.origin = op.origin;
  switch (op.kind) {
    case MountKind::kBind:
      decision.backing = Backing::kHost;
      decision.backing_path = op.source;
      if (path.size() != op.target.size()) {
        // A source or target that is "/" brings its own slash.
        absl::string_view below = RelativeTo(path, op.target);
        decision.backing_path =
            op.source == "/" ? absl::StrCat("/", below) : absl::StrCat(op.source, "/", below);
      }
      break;
    case MountKind::kTmpfs:
    case MountKind::kSymlink:
      decision.backing = Backing::kTmpfs;
      break;
    case MountKind::kProc:
    case MountKind::kDev:
      decision.backing = Backing::kKernel;
      break;
    case MountKind::kMask:
      decision.backing = Backing::kMasked;
      decision.access = Access::kNone;
      break;
    case MountKind::kData:
      decision.backing = Backing::kData;
      break;
  }
  return decision;
}

}  // namespace

AccessMap::AccessMap(const std::vector<MountOp>& mounts) : mounts_(mounts) {
  by_target_.resize(mounts.size());
  for (size_t i = 0; i < mounts.size(); ++i) by_target_[i] = static_cast<int>(i);
  std::sort(by_target_.begin(), by_target_.end(),
            [&](int a, int b) { return mounts[a].target < mounts[b].target; });
}

Decision AccessMap::Lookup(absl::string_view path) const {
  absl::string_view at = path;
  while (true) {
    auto it = std::lower_bound(by_target_.begin(), by_target_.end(), at,
                               [&](int i, absl::string_view p) { return mounts_[i].target < p; });
    if (it != by_target_.end() && mounts_[*it].target == at) {
      return DecisionOf(mounts_[*it], *it, path);
    }
    if (at.size() <= 1) return Decision{};
    at = Dirname(at);
  }
}

bool AccessMap::UniformBelow(absl::string_view dir) const {
  std::string prefix = dir == "/" ? "/" : absl::StrCat(dir, "/");
  auto it = std::upper_bound(by_target_.begin(), by_target_.end(), prefix,
                             [&](const std::string& p, int i) { return p < mounts_[i].target; });
  return it == by_target_.end() || !absl::StartsWith(mounts_[*it].target, prefix);
}

}  // namespace agent_exec
