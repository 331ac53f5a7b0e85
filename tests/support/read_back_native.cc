#include "support/read_back_native.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/path.h"

namespace agent_exec::testing {
namespace {

class Table {
 public:
  explicit Table(const Script& script) : script_(script) {}

  ReadBackTree Read() {
    for (const Step& step : script_.steps) {
      if (!out_.error.empty()) break;
      std::visit(*this, step);
    }
    if (out_.error.empty() && held_ > 0) Fail("a slot is left full");
    if (out_.error.empty() && store_open_) Fail("the store is left open");
    for (auto& [target, op] : mounts_) out_.mounts.push_back(op);
    return std::move(out_);
  }

  void operator()(const EnterNamespaces&) { in_namespaces_ = true; }
  void operator()(const PinTree& step) {
    if (has_root_) return Fail(absl::StrCat("a pin after the root: ", step.path));
    Tree tree;
    tree.op.kind = MountKind::kBind;
    tree.op.source = step.path;
    tree.op.access = step.writable ? Access::kWrite : Access::kRead;
    tree.devices = step.devices;
    Fill(step.slot, std::move(tree));
  }
  void operator()(const NewTmpfs& step) {
    Tree tree;
    tree.op.kind = MountKind::kTmpfs;
    tree.op.mode = step.mode;
    tree.op.size_bytes = step.size_bytes;
    tree.op.access = Access::kWrite;
    Fill(step.slot, std::move(tree));
  }
  void operator()(const EnterRoot& step) {
    if (has_root_) return Fail("two roots");
    has_root_ = true;
    Put("/", Empty(step.slot));
  }
  void operator()(const MakeMountPoint& step) { Make(step.path, step.node); }
  void operator()(const MakeSymlink& step) {
    Make(step.path, Node::kFile);
    if (IsInDev(step.path)) {
      out_.links.push_back(absl::StrCat(step.path, " -> ", step.text));
      return;
    }
    MountOp op;
    op.kind = MountKind::kSymlink;
    op.source = step.text;
    Put(step.path, {op, false});
  }
  void operator()(const Attach& step) { Mount(step.target, Empty(step.slot)); }
  void operator()(const CoverTree& step) {
    const MountOp* above = Covering(step.path);
    if (above == nullptr) return Fail("a cover before the root");
    if (above->kind == MountKind::kProc) {
      if (!step.read_only) return Fail("a writable cover of procfs");
      out_.covers.push_back(step.path);
      return;
    }
    MountOp op = *above;
    if (op.kind != MountKind::kBind) return Fail(absl::StrCat("nothing to cover at ", step.path));
    if (op.target != step.path) {
      op.source = Join(op.source, RelativeTo(step.path, op.target));
    }
    if (step.read_only) op.access = Access::kRead;
    Put(step.path, {op, false});
  }
  void operator()(const OpenStore&) { store_open_ = true; }
  void operator()(const CloseStore&) { store_open_ = false; }
  void operator()(const AttachMask& step) {
    if (!store_open_) return Fail("a mask without a store");
    MountOp op;
    op.kind = MountKind::kMask;
    op.node = step.node;
    op.access = Access::kNone;
    Mount(step.target, {op, false});
  }
  void operator()(const AttachData& step) {
    if (!store_open_) return Fail("data without a store");
    MountOp op;
    op.kind = MountKind::kData;
    op.node = Node::kFile;
    op.mode = step.mode;
    op.blob = step.blob;
    Mount(step.target, {op, false});
  }
  void operator()(const MountProc& step) {
    MountOp op;
    op.kind = MountKind::kProc;
    Mount(step.target, {op, false});
  }
  void operator()(const MountDevpts& step) {
    MountOp* above = Covering(step.target);
    if (above == nullptr || Join(above->target, "pts") != step.target) return Fail("devpts");
    above->kind = MountKind::kDev;
  }
  void operator()(const SetReadOnly& step) {
    auto it = mounts_.find(step.target);
    if (it == mounts_.end()) return Fail(absl::StrCat("not a mount: ", step.target));
    MountOp& op = it->second;
    op.access = Access::kRead;
    // A directory that lets nothing but what is in it be reached stands for a denied one.
    if (op.kind == MountKind::kTmpfs && (op.mode == 0111 || op.mode == 0555)) {
      op.kind = MountKind::kMask;
      op.access = Access::kNone;
    }
    sealed_.insert(step.target);
  }
  void operator()(const DropPrivileges&) { dropped_ = true; }
  template <typename OtherStep>
  void operator()(const OtherStep&) {}

 private:
  struct Tree {
    MountOp op;
    bool devices = false;
  };

  void Fail(std::string error) {
    if (out_.error.empty()) out_.error = std::move(error);
  }

  void Fill(int slot, Tree tree) {
    if (!in_namespaces_) return Fail("a mount of the host's");
    if (!slots_.emplace(slot, std::move(tree)).second) return Fail("a slot filled twice");
    full_.insert(slot);
    out_.most_held = std::max(out_.most_held, ++held_);
  }
  Tree Empty(int slot) {
    if (full_.erase(slot) == 0) Fail("an empty slot");
    --held_;
    return slots_[slot];
  }

  MountOp* Covering(const std::string& path) {
    for (std::string at = path;; at = std::string(Dirname(at))) {
      if (auto it = mounts_.find(at); it != mounts_.end()) return &it->second;
      if (at == "/") return nullptr;
    }
  }

  bool IsInDev(const std::string& path) {
    const MountOp* above = Covering(path);
    return above != nullptr && above->kind == MountKind::kDev;
  }

  static bool IsOurs(const MountOp& op) {
    return op.kind == MountKind::kTmpfs || op.kind == MountKind::kDev ||
           (op.kind == MountKind::kBind && op.source != op.target && op.access == Access::kWrite);
  }

  void Make(const std::string& path, Node node) {
    const MountOp* above = Covering(path);
    if (above == nullptr || !IsOurs(*above)) return Fail(absl::StrCat("made on the host: ", path));
    if (sealed_.count(above->target) > 0) return Fail(absl::StrCat("made in a seal: ", path));
    made_[path] = node;
  }

  void Mount(const std::string& target, Tree tree) {
    const MountOp* above = Covering(target);
    if (above == nullptr) return Fail("a mount before the root");
    if (dropped_) return Fail(absl::StrCat("no privileges to mount ", target));
    if (IsOurs(*above) && made_.count(target) == 0) {
      return Fail(absl::StrCat("no mount point: ", target));
    }
    if (tree.devices) {
      out_.devices.push_back(target);
      return;
    }
    Put(target, std::move(tree));
  }

  void Put(const std::string& target, Tree tree) {
    tree.op.target = target;
    if (mounts_.count(target) > 0) return Fail(absl::StrCat("two mounts on ", target));
    if (auto it = made_.find(target); it != made_.end()) tree.op.node = it->second;
    mounts_[target] = std::move(tree.op);
  }

  const Script& script_;
  ReadBackTree out_;
  std::map<int, Tree> slots_;
  std::set<int> full_;
  int held_ = 0;
  bool in_namespaces_ = false;
  bool has_root_ = false;
  bool dropped_ = false;
  bool store_open_ = false;
  std::map<std::string, MountOp> mounts_;  // by target: sorted by bytes, an ancestor stands first
  std::map<std::string, Node> made_;
  std::set<std::string> sealed_;
};

}  // namespace

ReadBackTree ReadBackNative(const Script& script) { return Table(script).Read(); }

}  // namespace agent_exec::testing
