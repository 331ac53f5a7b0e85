#include "backend/native_mounts.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backend/proc_covers.h"
#include "base/path.h"
#include "plan/access_map.h"

namespace agent_exec {
namespace {

// The devices that programs take for granted, and links beside them.
constexpr const char* kDevices[] = {"null", "zero", "full", "random", "urandom", "tty"};
constexpr struct {
  const char* name;
  const char* text;
} kDeviceLinks[] = {{"ptmx", "pts/ptmx"},
                    {"fd", "/proc/self/fd"},
                    {"stdin", "/proc/self/fd/0"},
                    {"stdout", "/proc/self/fd/1"},
                    {"stderr", "/proc/self/fd/2"}};

// Descriptors that are open besides the inherited ones and the pins: placeholders, channels, and
// what mounting itself opens. The limit need not be met exactly.
constexpr uint64_t kOtherDescriptors = 128;

// Makes the steps that mount.
class Mounts {
 public:
  Mounts(const Plan& plan, const HostFacts& facts, Script* script)
      : plan_(plan), facts_(facts), map_(plan.mounts), script_(*script) {}

  void Make() {
    ChooseHow();
    const bool has_root = !plan_.mounts.empty() && plan_.mounts[0].target == "/";
    for (size_t i = 0; i < plan_.mounts.size(); ++i) Pin(i);
    MakeRoot(has_root);
    const bool needs_store =
        std::any_of(plan_.mounts.begin(), plan_.mounts.end(), [](const MountOp& op) {
          return op.kind == MountKind::kMask || op.kind == MountKind::kData;
        });
    const bool readable = plan_.denied == DeniedForm::kEmpty;
    if (needs_store) Add(OpenStore{readable ? 0444u : 0u, readable ? 0555u : 0u});
    for (size_t i = has_root ? 1 : 0; i < plan_.mounts.size(); ++i) Append(i);
    if (needs_store) script_.blobs = plan_.blobs;
    if (needs_store) Add(CloseStore{});
    if (!has_loopback_) AddLoopback();
    for (const HeldLink& link : plan_.held_links) Add(HoldLink{link});
    for (const std::string& target : read_only_later_) Add(SetReadOnly{target});
  }

 private:
  // How each op is carried out, besides what its kind says.
  struct How {
    int above = -1;         // the op that its target lies in; -1 for none
    int slot = -1;          // of its pin
    int first_device = -1;  // kDev: the slot of the first device; the others follow
    int console = -1;       // kDev: the slot of the terminal
    int visible_proc = -1;  // kDev: the slot of a procfs for sandboxes inside
  };

  template <typename AnyStep>
  void Add(AnyStep step) {
    script_.steps.emplace_back(std::move(step));
  }

  void ChooseHow() {
    how_.resize(plan_.mounts.size());
    for (size_t i = 0; i < plan_.mounts.size(); ++i) {
      const std::string& target = plan_.mounts[i].target;
      if (target != "/") how_[i].above = map_.Lookup(Dirname(target)).op;
    }
    const uint64_t pins = plan_.mounts.size() + std::size(kDevices) + 1;
    pins_all_ = pins + facts_.open_fds.size() + kOtherDescriptors <= facts_.hard_max_open_files;
  }

  // May it be cloned later, where it will be seen at its target anyway, only with other rights or
  // as part of another mount? Nothing is held open for it then, but the kernel looks at all mounts
  // that stand beside it already when it clones: with thousands of them a pin is cheaper by far.
  bool CoversItself(size_t i) const {
    const MountOp& op = plan_.mounts[i];
    if (pins_all_ || how_[i].above < 0 || op.source != op.target) return false;
    const MountOp& above = plan_.mounts[how_[i].above];
    return above.kind == MountKind::kBind && above.source == above.target &&
           (op.access != Access::kWrite || above.access == Access::kWrite);
  }

  // Does its target lie in a file system of ours, where a mount point must be made?
  bool NeedsMountPoint(size_t i) const {
    if (how_[i].above < 0) return true;
    const MountOp& above = plan_.mounts[how_[i].above];
    switch (above.kind) {
      case MountKind::kTmpfs:
      case MountKind::kMask:
      case MountKind::kDev:
        return true;
      case MountKind::kBind:
        // A lasting directory of ours.
        return above.source != above.target && above.access == Access::kWrite;
      default:
        return false;
    }
  }

  void Pin(size_t i) {
    const MountOp& op = plan_.mounts[i];
    How& how = how_[i];
    if (op.kind == MountKind::kBind && !CoversItself(i)) {
      how.slot = slots_++;
      Add(PinTree{how.slot, op.source, op.access == Access::kWrite, false, op.origin});
    }
    if (op.kind == MountKind::kProc && plan_.in_place) {
      // A new one needs a PID namespace: the host's stands in, with what covers it there.
      how.slot = slots_++;
      Add(PinTree{how.slot, "/proc", true, false, op.origin});
    }
    if (op.kind != MountKind::kDev) return;
    if (plan_.nested_sandbox && plan_.in_place) {
      how.visible_proc = slots_++;
      Add(PinTree{how.visible_proc, "/proc", true, false, op.origin});
    }
    how.first_device = slots_;
    // Read-only: a device can be written all the same, but uid 0, which owns these, cannot change
    // their modes.
    for (const char* name : kDevices) {
      Add(PinTree{slots_++, absl::StrCat("/dev/", name), false, true, op.origin});
    }
    if (facts_.terminal_path.empty()) return;
    how.console = slots_++;
    Add(PinTree{how.console, facts_.terminal_path, false, true, op.origin});
  }

  void MakeRoot(bool has_root) {
    if (has_root && plan_.mounts[0].kind == MountKind::kBind) {
      Add(EnterRoot{how_[0].slot});
      return;
    }
    const MountOp* op = has_root ? &plan_.mounts[0] : nullptr;
    const bool is_tmpfs = op != nullptr && op->kind == MountKind::kTmpfs;
    Add(NewTmpfs{slots_, is_tmpfs ? op->mode : 0755, is_tmpfs ? op->size_bytes : 0,
                 op != nullptr ? op->origin : OriginId{0}});
    Add(EnterRoot{slots_++});
    if (!is_tmpfs || op->access != Access::kWrite) read_only_later_.emplace_back("/");
  }

  void AddMountPoint(absl::string_view path, Node node) {
    Add(MakeMountPoint{std::string(path), node});
  }

  void AttachTmpfs(const std::string& target, uint32_t mode, int64_t size_bytes, OriginId origin) {
    Add(NewTmpfs{slots_, mode, size_bytes, origin});
    Add(Attach{slots_++, target, origin});
  }

  void Append(size_t i) {
    const MountOp& op = plan_.mounts[i];
    if (op.kind == MountKind::kSymlink) {
      Add(MakeSymlink{op.target, op.source, op.origin});
      return;
    }
    if (NeedsMountPoint(i)) AddMountPoint(op.target, op.node);
    switch (op.kind) {
      case MountKind::kBind:
        if (how_[i].slot >= 0) {
          Add(Attach{how_[i].slot, op.target, op.origin});
        } else {
          Add(CoverTree{op.target, op.access != Access::kWrite, false, op.origin});
        }
        return;
      case MountKind::kTmpfs:
        AttachTmpfs(op.target, op.mode, op.size_bytes, op.origin);
        if (op.access != Access::kWrite) read_only_later_.push_back(op.target);
        return;
      case MountKind::kProc:
        AppendProc(i);
        return;
      case MountKind::kDev:
        AppendDev(i);
        return;
      case MountKind::kMask:
        AppendMask(op);
        return;
      case MountKind::kData:
        Add(AttachData{op.target, op.blob, op.mode, op.origin});
        return;
      case MountKind::kSymlink:
        return;
    }
  }

  void AppendMask(const MountOp& op) {
    if (op.node == Node::kFile || map_.UniformBelow(op.target)) {
      Add(AttachMask{op.target, op.node, op.origin});
      return;
    }
    // One that holds something allowed must let through to it, but not be listed.
    AttachTmpfs(op.target, plan_.denied == DeniedForm::kEmpty ? 0555 : 0111, 0, op.origin);
    read_only_later_.push_back(op.target);
  }

  void AppendProc(size_t i) {
    const MountOp& op = plan_.mounts[i];
    if (how_[i].slot >= 0) {
      Add(Attach{how_[i].slot, op.target, op.origin});
    } else {
      Add(MountProc{op.target});
    }
    AddLoopback();
    for (const ProcCover& cover : kProcCovers) {
      if (cover.root_only && facts_.uid != 0) continue;
      Add(CoverTree{absl::StrCat(op.target, "/", cover.name), true, !cover.always, op.origin});
    }
  }

  void AddLoopback() {
    has_loopback_ = true;
    if (plan_.network == NetworkMode::kNone) Add(LoopbackUp{});
  }

  void AppendDev(size_t i) {
    const MountOp& op = plan_.mounts[i];
    const auto name_in = [&op](absl::string_view name) {
      return absl::StrCat(op.target, "/", name);
    };
    AttachTmpfs(op.target, 0755, 0, op.origin);
    const auto attach_device = [&](int slot, absl::string_view name) {
      AddMountPoint(name_in(name), Node::kFile);
      Add(Attach{slot, name_in(name), op.origin});
    };
    int slot = how_[i].first_device;
    for (const char* name : kDevices) attach_device(slot++, name);
    // Where programs look for the name of a terminal that is not among those of the new devpts.
    if (how_[i].console >= 0) attach_device(how_[i].console, "console");
    AddMountPoint(name_in("pts"), Node::kDirectory);
    Add(MountDevpts{name_in("pts")});
    for (const auto& link : kDeviceLinks)
      Add(MakeSymlink{name_in(link.name), link.text, op.origin});
    const std::string shm = name_in("shm");
    if (plan_.nested_sandbox) AddVisibleProc(shm, how_[i].visible_proc);
    if (!HasMountAt(plan_, shm)) {
      AddMountPoint(shm, Node::kDirectory);
      AttachTmpfs(shm, 01777, 0, op.origin);
    }
    read_only_later_.push_back(op.target);
  }

  // A procfs without covers, so that the kernel allows sandboxes inside to mount one: it asks for
  // one that is visible as a whole somewhere in the namespace. No path leads to it: the file system
  // that comes to stand on the directory above hides it, by a mount that is locked for all who
  // could make namespaces of their own.
  void AddVisibleProc(const std::string& hidden, int slot) {
    const std::string target = absl::StrCat(hidden, "/proc");
    AddMountPoint(target, Node::kDirectory);
    if (slot >= 0) {
      Add(Attach{slot, target, 0});
    } else {
      Add(MountProc{target});
    }
  }

  const Plan& plan_;
  const HostFacts& facts_;
  const AccessMap map_;
  Script& script_;
  std::vector<How> how_;
  bool pins_all_ = false;
  int slots_ = 0;
  bool has_loopback_ = false;
  std::vector<std::string> read_only_later_;
};

}  // namespace

void AppendNativeMounts(const Plan& plan, const HostFacts& facts, Script* script) {
  Mounts(plan, facts, script).Make();
}

bool HasMountAt(const Plan& plan, absl::string_view target) {
  return std::any_of(plan.mounts.begin(), plan.mounts.end(),
                     [target](const MountOp& op) { return op.target == target; });
}

}  // namespace agent_exec
