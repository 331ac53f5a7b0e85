#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/status.h"
#include "plan/resolve.h"
#include "plan/settle.h"

namespace agent_exec {
namespace {

absl::Status Broken(absl::string_view invariant, absl::string_view subject) {
  return absl::InternalError(
      absl::StrCat("broken plan: ", invariant, ": ", QuoteForMessage(subject)));
}

template <typename T, typename Less>
bool IsSortedUnique(const std::vector<T>& list, Less less) {
  return std::adjacent_find(list.begin(), list.end(),
                            [&](const T& a, const T& b) { return !less(a, b); }) == list.end();
}

absl::Status CheckOp(const Plan& plan, const MountOp& op) {
  if (!IsClean(op.target)) return Broken("target not clean", op.target);
  if (op.origin >= plan.origins.size()) return Broken("origin out of range", op.target);
  switch (op.kind) {
    case MountKind::kBind:
      if (!IsClean(op.source)) return Broken("source not clean", op.source);
      if (op.access == Access::kNone) return Broken("bind without access", op.target);
      break;
    case MountKind::kSymlink:
      if (op.source.empty() || HasNul(op.source)) return Broken("link without text", op.target);
      break;
    case MountKind::kData:
      if (op.blob < 0 || op.blob >= static_cast<int>(plan.blobs.size())) {
        return Broken("blob out of range", op.target);
      }
      break;
    case MountKind::kMask:
      if (op.target == "/") return Broken("mask on the root", op.target);
      if (op.access != Access::kNone) return Broken("mask with access", op.target);
      break;
    case MountKind::kTmpfs:
      if (op.access == Access::kNone) return Broken("file system without access", op.target);
      break;
    case MountKind::kProc:
    case MountKind::kDev:
      break;
  }
  return absl::OkStatus();
}

absl::Status CheckMounts(const Plan& plan) {
  if (plan.mounts.empty() || plan.mounts.front().target != "/")
    return Broken("no root", plan.workspace);
  for (const MountOp& op : plan.mounts) AE_RETURN_IF_ERROR(CheckOp(plan, op));
  // Strictly rising in this order means ancestors first and unique targets.
  for (size_t i = 1; i < plan.mounts.size(); ++i) {
    if (!PathLess(plan.mounts[i - 1].target, plan.mounts[i].target)) {
      return Broken("mounts out of order", plan.mounts[i].target);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPlaceholders(const Plan& plan) {
  for (size_t i = 0; i < plan.placeholders.size(); ++i) {
    const Placeholder& placeholder = plan.placeholders[i];
    if (!IsClean(placeholder.path)) return Broken("placeholder not clean", placeholder.path);
    if (placeholder.root.empty() || placeholder.path == placeholder.root ||
        !IsUnder(placeholder.path, placeholder.root)) {
      return Broken("placeholder outside its root", placeholder.path);
    }
    if (placeholder.writable && placeholder.node != Node::kDirectory) {
      return Broken("writable placeholder that is a file", placeholder.path);
    }
    if (i > 0 && !PathLess(plan.placeholders[i - 1].path, placeholder.path)) {
      return Broken("placeholders out of order", placeholder.path);
    }
    // A mount must stand on it, or it would be there to be filled.
    bool is_covered = std::any_of(plan.mounts.begin(), plan.mounts.end(), [&](const MountOp& op) {
      return op.target == placeholder.path && op.kind == MountKind::kBind &&
             (op.access == Access::kWrite) == placeholder.writable;
    });
    if (!is_covered) return Broken("placeholder without a mount", placeholder.path);
  }
  return absl::OkStatus();
}

absl::Status CheckLists(const Plan& plan) {
  auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
  if (!IsSortedUnique(plan.held_links, by_path))
    return Broken("links out of order", plan.workspace);
  if (!IsSortedUnique(plan.lasting_dirs, by_path))
    return Broken("lasting directories out of order", plan.workspace);
  for (const HeldLink& link : plan.held_links) {
    if (!IsClean(link.path)) return Broken("link not clean", link.path);
  }
  for (const LastingDir& lasting : plan.lasting_dirs) {
    if (!IsClean(lasting.path)) return Broken("lasting directory not clean", lasting.path);
  }
  if (!IsSortedUnique(plan.needs,
                      [](const Need& a, const Need& b) { return a.feature < b.feature; })) {
    return Broken("needs out of order", plan.workspace);
  }
  if (!IsSortedUnique(plan.keep_fds, [](int a, int b) { return a < b; }) ||
      (!plan.keep_fds.empty() && plan.keep_fds.front() < 3)) {
    return Broken("descriptors out of order", plan.workspace);
  }
  for (const Need& need : plan.needs) {
    if (need.origin >= plan.origins.size())
      return Broken("origin out of range", FeatureName(need.feature));
  }
  return absl::OkStatus();
}

absl::Status CheckEnvironment(const Plan& plan) {
  if (!IsSortedUnique(plan.env, [](const EnvVar& a, const EnvVar& b) { return a.name < b.name; })) {
    return Broken("variables out of order", plan.workspace);
  }
  for (const EnvVar& variable : plan.env) {
    if (variable.name.empty() || variable.name.find('=') != std::string::npos ||
        HasNul(variable.name) || HasNul(variable.value)) {
      return Broken("variable that cannot be passed", variable.name);
    }
    if (variable.origin >= plan.origins.size()) return Broken("origin out of range", variable.name);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPlan(const Plan& plan) {
  if (plan.origins.empty() || !(plan.origins.front() == Origin{}))
    return Broken("no first origin", plan.workspace);
  if (!IsClean(plan.workspace)) return Broken("workspace not clean", plan.workspace);
  if (!IsClean(plan.command.cwd)) return Broken("directory not clean", plan.command.cwd);
  if (plan.command.argv.empty() || !IsAbsolute(plan.command.path))
    return Broken("no command", plan.command.path);
  for (const std::string& word : plan.command.argv) {
    if (HasNul(word)) return Broken("argument with a NUL byte", word);
  }
  AE_RETURN_IF_ERROR(CheckEnvironment(plan));
  AE_RETURN_IF_ERROR(CheckLists(plan));
  if (!plan.confined) {
    return plan.mounts.empty() ? absl::OkStatus()
                               : Broken("mounts without confinement", plan.workspace);
  }
  AE_RETURN_IF_ERROR(CheckMounts(plan));
  return CheckPlaceholders(plan);
}

}  // namespace agent_exec
