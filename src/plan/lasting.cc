#include "plan/lasting.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/diagnostic.h"
#include "base/path.h"
#include "base/quote.h"

namespace agent_exec {
namespace {

// The first component of a mount point in a lasting directory that is not what a mount can stand
// on; "" when all are good or missing.
std::string Obstacle(const MountOp& lasting, const MountOp& op, FileView* files) {
  std::string at = lasting.source;
  std::vector<absl::string_view> names = absl::StrSplit(RelativeTo(op.target, lasting.target), '/');
  for (size_t i = 0; i < names.size(); ++i) {
    at = Join(at, names[i]);
    NodeInfo info;
    if (files->Lstat(at, &info) != 0) return "";
    bool wants_directory = i + 1 < names.size() || op.node == Node::kDirectory;
    if (info.type != (wants_directory ? NodeType::kDirectory : NodeType::kFile)) return at;
  }
  return "";
}

}  // namespace

absl::StatusOr<bool> CheckLastingMountPoints(const std::vector<MountOp>& mounts,
                                             Planning* planning) {
  bool changed = false;
  const MountOp* lasting =
      nullptr;  // the last one; they are not nested in each other's claims deeper than one level
  std::vector<const MountOp*> open;
  for (const MountOp& op : mounts) {
    while (!open.empty() && !IsUnder(op.target, open.back()->target)) open.pop_back();
    lasting = open.empty() ? nullptr : open.back();
    open.push_back(&op);
    if (lasting == nullptr || lasting->kind != MountKind::kBind ||
        lasting->source == lasting->target)
      continue;
    std::string obstacle = Obstacle(*lasting, op, &planning->files);
    if (obstacle.empty()) continue;
    std::string what =
        absl::StrCat("cannot mount on ", QuoteForMessage(op.target), ": ",
                     QuoteForMessage(obstacle), " was left there by an earlier command");
    bool is_optional = op.purpose == Purpose::kHome || op.purpose == Purpose::kGit;
    if (!is_optional) {
      return ErrorAt(absl::StatusCode::kFailedPrecondition, what, PlaceOf(op.origin, *planning),
                     absl::StrCat("remove ", QuoteForMessage(obstacle)));
    }
    planning->plan.notices.push_back({"lasting-obstacle", what, op.origin});
    std::vector<Entry>& entries = planning->entries;
    entries.erase(std::remove_if(entries.begin(), entries.end(),
                                 [&](const Entry& entry) { return entry.op.target == op.target; }),
                  entries.end());
    changed = true;
  }
  return changed;
}

}  // namespace agent_exec
