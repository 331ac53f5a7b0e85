#include "plan/settle.h"

#include <algorithm>
#include <utility>

#include "base/path.h"
#include "plan/access_map.h"

namespace agent_exec {
namespace {

// What is at a path before a claim is applied.
struct Present {
  Backing backing = Backing::kTmpfs;
  Access access = Access::kNone;
  // Host-backed by the very same path. Inside a lasting directory another file than the one that a
  // rule names is at its path, so neither protection nor a mask has anything to do there.
  bool own = false;
};

Present After(const MountOp& op) {
  Present present;
  present.access = op.access;
  switch (op.kind) {
    case MountKind::kBind:
      present.backing = Backing::kHost;
      present.own = op.source == op.target;
      break;
    case MountKind::kTmpfs:
    case MountKind::kSymlink:
      present.backing = Backing::kTmpfs;
      break;
    case MountKind::kProc:
    case MountKind::kDev:
      present.backing = Backing::kKernel;
      break;
    case MountKind::kMask:
      present.backing = Backing::kMasked;
      break;
    case MountKind::kData:
      present.backing = Backing::kData;
      break;
  }
  return present;
}

bool Applies(Rank rank, const Present& present, bool anything_chosen) {
  switch (rank) {
    case Rank::kLink:
      return present.backing == Backing::kTmpfs;
    case Rank::kHide:
    case Rank::kSecret:
      return present.own;
    case Rank::kInside:
    case Rank::kExpose:
      return present.backing == Backing::kTmpfs ||
             (present.backing == Backing::kHost && !present.own);
    case Rank::kSystem:
    case Rank::kPrivate:
    case Rank::kRead:
    case Rank::kWrite:
      return true;
    case Rank::kDenyWrite:
      return present.own && present.access == Access::kWrite;
    case Rank::kDenyRead:
    case Rank::kSocket:
      return present.own || present.backing == Backing::kKernel ||
             present.backing == Backing::kData;
    case Rank::kPin:
      return !anything_chosen && present.own && present.access == Access::kWrite;
  }
  return false;
}

class Settler {
 public:
  explicit Settler(const std::vector<Entry>& entries) : entries_(entries) {}

  Settled Run() {
    std::vector<int> order(entries_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      const Entry& left = entries_[a];
      const Entry& right = entries_[b];
      if (left.op.target == right.op.target) {
        if (left.rank != right.rank) return left.rank < right.rank;
        return left.pinned && !right.pinned;
      }
      return PathLess(left.op.target, right.op.target);
    });
    out_.mounts.reserve(order.size());
    for (size_t begin = 0; begin < order.size();) {
      size_t end = begin + 1;
      while (end < order.size() && Target(order[end]) == Target(order[begin])) ++end;
      Decide(order.data() + begin, order.data() + end);
      begin = end;
    }
    return std::move(out_);
  }

 private:
  const std::string& Target(int entry) const { return entries_[entry].op.target; }

  // Decides one path, given every claim on it, weakest first.
  void Decide(const int* begin, const int* end) {
    const std::string& target = Target(*begin);
    while (!open_.empty() && !IsUnder(target, out_.mounts[open_.back()].target)) open_.pop_back();
    const Present inherited = open_.empty() ? Present{} : After(out_.mounts[open_.back()]);
    Present present = inherited;
    int chosen = -1;
    for (const int* it = begin; it != end; ++it) {
      const Entry& entry = entries_[*it];
      if (it != begin && entries_[it[-1]].rank == entry.rank) continue;
      if (!Applies(entry.rank, present, chosen >= 0)) continue;
      chosen = *it;
      present = After(entry.op);
    }
    RecordShadowed(begin, end, chosen);
    if (chosen < 0 || IsRedundant(entries_[chosen], inherited)) return;
    Emit(chosen);
  }

  static bool IsRedundant(const Entry& entry, const Present& inherited) {
    const MountOp& op = entry.op;
    return entry.rank != Rank::kPin && op.kind == MountKind::kBind && op.source == op.target &&
           inherited.own && inherited.access == op.access;
  }

  void Emit(int chosen) {
    const Entry& entry = entries_[chosen];
    MountOp op = entry.op;
    // A root that is denied is an empty one: there is nothing above it to refuse the look-up, and
    // what other rules show below it must be reached.
    if (op.kind == MountKind::kMask && op.target == "/") {
      op.kind = MountKind::kTmpfs;
      op.access = Access::kRead;
      op.mode = 0755;
    }
    if (entry.rank == Rank::kDenyWrite || entry.pinned) out_.guards.push_back(chosen);
    if (entry.missing) AddPlaceholder(entry);
    open_.push_back(static_cast<int>(out_.mounts.size()));
    out_.mounts.push_back(std::move(op));
  }

  void AddPlaceholder(const Entry& entry) {
    Placeholder placeholder;
    placeholder.path = entry.op.target;
    placeholder.node = entry.op.node;
    placeholder.writable = entry.rank == Rank::kPin;
    placeholder.origin = entry.op.origin;
    // Pins and placeholders lie inside a writable root; they are none themselves.
    for (size_t i = open_.size(); i-- > 0;) {
      const MountOp& above = out_.mounts[open_[i]];
      if (above.purpose == Purpose::kPin || above.purpose == Purpose::kPlaceholder) continue;
      placeholder.root = above.target;
      break;
    }
    out_.placeholders.push_back(std::move(placeholder));
  }

  void RecordShadowed(const int* begin, const int* end, int chosen) {
    OriginId winner = chosen >= 0      ? entries_[chosen].op.origin
                      : !open_.empty() ? out_.mounts[open_.back()].origin
                                       : 0;
    for (const int* it = begin; it != end; ++it) {
      const MountOp& op = entries_[*it].op;
      if (*it == chosen || op.purpose != Purpose::kRule || op.origin == winner) continue;
      out_.shadowed.push_back({op.target, op.origin, winner});
    }
  }

  const std::vector<Entry>& entries_;
  Settled out_;
  std::vector<int> open_;  // the mounts that cover the present path, outermost first
};

}  // namespace

bool PathLess(absl::string_view a, absl::string_view b) {
  size_t common = std::min(a.size(), b.size());
  for (size_t i = 0; i < common; ++i) {
    if (a[i] == b[i]) continue;
    if (a[i] == '/') return true;
    if (b[i] == '/') return false;
    return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[i]);
  }
  return a.size() < b.size();
}

Settled Settle(const std::vector<Entry>& entries) { return Settler(entries).Run(); }

}  // namespace agent_exec
