#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/status.h"
#include "os/compiler.h"

// The steps by which this process makes the sandbox itself.

namespace agent_exec {

absl::Status Compiler::CompilePath(ActKind kind, absl::string_view verb, const std::string& path,
                                   OriginId origin, Act* act) {
  if (!IsClean(path)) return Bug(verb);
  act->kind = kind;
  act->text = Keep(path);
  act->failed = Failed(verb, path, Place(origin));
  return absl::OkStatus();
}

absl::Status Compiler::FillSlot(int slot, Act* act) {
  if (slot < 0 || static_cast<size_t>(slot) != out_.slots.size()) return Bug("slot order");
  act->index = slot;
  out_.slots.emplace_back();
  slot_is_full_.push_back(true);
  return absl::OkStatus();
}

absl::Status Compiler::EmptySlot(int slot, Act* act) {
  if (slot < 0 || static_cast<size_t>(slot) >= slot_is_full_.size() || !slot_is_full_[slot]) {
    return Bug("an empty slot");
  }
  act->index = slot;
  slot_is_full_[slot] = false;
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const EnterNamespaces& step, const Script&, Act* act) {
  if (has_namespaces_) return Bug("namespaces twice");
  has_namespaces_ = true;
  act->kind = ActKind::kEnterNamespaces;
  act->failed = FailedTo("make namespaces");
  // The maps are part of it: without them nothing can be done inside.
  act->refused = FailedTo("map the caller's ids");
  NamespacesAct& out = out_.namespaces;
  out.pid = step.pid;
  out.net = step.net;
  out.keep_background = step.keep_background;
  out.uid_map = Keep(step.ids.uid_map);
  out.gid_map = Keep(step.ids.gid_map);
  out.deny_setgroups = step.ids.deny_setgroups;
  out.by_parent = step.ids.by_parent;
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const PinTree& step, const Script&, Act* act) {
  AE_RETURN_IF_ERROR(CompilePath(ActKind::kPinTree, "bind", step.path, step.origin, act));
  act->read_only = !step.writable;
  act->devices = step.devices;
  return FillSlot(step.slot, act);
}

absl::Status Compiler::Compile(const NewTmpfs& step, const Script&, Act* act) {
  act->kind = ActKind::kNewTmpfs;
  act->mode = step.mode;
  act->value = step.size_bytes;
  act->failed = MakeMessage(options_, "cannot make a file system in memory", Place(step.origin), "",
                            kStatusRefused, &out_.texts);
  return FillSlot(step.slot, act);
}

absl::Status Compiler::Compile(const EnterRoot& step, const Script&, Act* act) {
  act->kind = ActKind::kEnterRoot;
  act->failed = FailedTo("enter the new root");
  return EmptySlot(step.slot, act);
}

absl::Status Compiler::Compile(const MakeMountPoint& step, const Script&, Act* act) {
  AE_RETURN_IF_ERROR(
      CompilePath(ActKind::kMakeMountPoint, "make a mount point at", step.path, 0, act));
  act->is_directory = step.node == Node::kDirectory;
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const Attach& step, const Script&, Act* act) {
  AE_RETURN_IF_ERROR(CompilePath(ActKind::kAttach, "mount on", step.target, step.origin, act));
  return EmptySlot(step.slot, act);
}

absl::Status Compiler::Compile(const CoverTree& step, const Script&, Act* act) {
  AE_RETURN_IF_ERROR(CompilePath(ActKind::kCoverTree, "bind", step.path, step.origin, act));
  act->read_only = step.read_only;
  act->optional = step.optional;
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const OpenStore& step, const Script&, Act* act) {
  act->kind = ActKind::kOpenStore;
  act->mode = step.file_mode;
  act->mode2 = step.directory_mode;
  act->failed = FailedTo("make what stands for denied paths");
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const AttachMask& step, const Script&, Act* act) {
  AE_RETURN_IF_ERROR(CompilePath(ActKind::kAttachMask, "deny", step.target, step.origin, act));
  act->is_directory = step.node == Node::kDirectory;
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const AttachData& step, const Script& script, Act* act) {
  AE_RETURN_IF_ERROR(
      CompilePath(ActKind::kAttachData, "mount data on", step.target, step.origin, act));
  act->mode = step.mode;
  return TakeBlob(step.blob, script, act);
}

absl::Status Compiler::Compile(const CloseStore&, const Script&, Act* act) {
  act->kind = ActKind::kCloseStore;
  act->failed = FailedTo("hide what stands for denied paths");
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const MountProc& step, const Script&, Act* act) {
  AE_RETURN_IF_ERROR(CompilePath(ActKind::kMountProc, "mount procfs on", step.target, 0, act));
  act->failed =
      MakeMessage(options_, absl::StrCat("cannot mount procfs on ", QuoteForMessage(step.target)),
                  "", "a container whose own /proc is covered in part allows no new one",
                  kStatusRefused, &out_.texts);
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const MountDevpts& step, const Script&, Act* act) {
  return CompilePath(ActKind::kMountDevpts, "mount devpts on", step.target, 0, act);
}

absl::Status Compiler::Compile(const MakeSymlink& step, const Script&, Act* act) {
  if (step.text.empty() || HasNul(step.text)) return Bug("link text");
  act->data = Keep(step.text);
  return CompilePath(ActKind::kMakeSymlink, "make link", step.path, step.origin, act);
}

absl::Status Compiler::Compile(const SetReadOnly& step, const Script&, Act* act) {
  return CompilePath(ActKind::kSetReadOnly, "make read-only", step.target, 0, act);
}

absl::Status Compiler::Compile(const LoopbackUp&, const Script&, Act* act) {
  act->kind = ActKind::kLoopbackUp;
  act->failed = FailedTo("bring the loopback interface up");
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const DropPrivileges&, const Script&, Act* act) {
  act->kind = ActKind::kDropPrivileges;
  act->failed = FailedTo("drop privileges");
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const ForkCommand&, const Script&, Act* act) {
  if (!has_namespaces_ || !out_.namespaces.pid) return Bug("a fork without an init");
  act->kind = ActKind::kForkCommand;
  act->failed = FailedTo("start a process");
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const RestrictLandlock& step, const Script&, Act* act) {
  if (!out_.landlock.rules.empty()) return Bug("landlock twice");
  act->kind = ActKind::kRestrictLandlock;
  act->failed = FailedTo("restrict the command by Landlock");
  out_.landlock.handled_fs = step.handled_fs;
  out_.landlock.scoped = step.scoped;
  for (const LandlockRule& rule : step.rules) {
    if (rule.path.empty() ? rule.fd < 0 : !IsClean(rule.path)) return Bug("landlock rule");
    LandlockRuleAct& out = out_.landlock.rules.emplace_back();
    if (!rule.path.empty()) out.path = Keep(rule.path);
    out.fd = rule.fd;
    out.entries = rule.entries;
    out.rights = rule.rights & step.handled_fs;
  }
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const InstallFilter& step, const Script& script, Act* act) {
  act->kind = ActKind::kInstallFilter;
  act->failed = FailedTo("install the system call filter");
  AE_RETURN_IF_ERROR(TakeBlob(step.blob, script, act));
  return act->size == 0 || act->size % 8 != 0 ? Bug("filter") : absl::OkStatus();
}

}  // namespace agent_exec
