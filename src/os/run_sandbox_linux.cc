#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "os/machine.h"
#include "os/mounts.h"
#include "os/raw.h"
#include "os/run.h"
#include "os/supervise.h"

namespace agent_exec {
namespace {

// Descriptors that the set-up of mounts uses besides those it holds.
constexpr rlim_t kWorkingDescriptors = 16;

// What is made has the modes that the script says, and the pins are held all at once.
void PrepareForMounts(Machine* machine) {
  machine->umask = umask(0);
  machine->umask_changed = true;
  struct rlimit* limit = &machine->open_files;
  const Compiled& script = *machine->script;
  rlim_t needed = script.slots.size() + script.keep_fds.size() + kWorkingDescriptors +
                  2 * script.placeholders.size();
  if (getrlimit(RLIMIT_NOFILE, limit) != 0) return;
  if (limit->rlim_cur >= needed + 3) return;
  struct rlimit raised = {limit->rlim_max, limit->rlim_max};
  machine->open_files_changed = setrlimit(RLIMIT_NOFILE, &raised) == 0;
}

void EndMounts(Machine* machine) {
  raw::EndMounts(&machine->mounts);
  if (machine->umask_changed) (void)umask(machine->umask);
  if (machine->open_files_changed) (void)setrlimit(RLIMIT_NOFILE, &machine->open_files);
  machine->umask_changed = machine->open_files_changed = false;
}

void MakeNamespaces(Machine* machine, const Act& act) {
  const NamespacesAct& wanted = machine->script->namespaces;
  int error = 0;
  if (wanted.pid) {
    HoldSignals(machine);
    raw::Split split;
    split.script = machine->script;
    split.options = machine->options;
    split.uid_map = wanted.uid_map;
    split.gid_map = wanted.gid_map;
    split.map_by_parent = wanted.by_parent;
    split.deny_setgroups = wanted.deny_setgroups;
    split.own_network = wanted.net;
    split.keep_background = wanted.keep_background;
    split.caller_mask = &machine->caller_mask;
    split.failed = act.failed;
    split.maps_failed = act.refused;
    error = raw::SplitSupervisor(split);
    if (error != 0) Fail(machine, act.failed, error, kStatusRefused);
    machine->is_supervised = true;
  } else {
    bool maps_failed = false;
    error = raw::EnterInPlace(wanted, &maps_failed);
    if (error != 0) Fail(machine, maps_failed ? act.refused : act.failed, error, kStatusRefused);
  }
  machine->has_own_mounts = true;
  machine->owns_root = true;
  PrepareForMounts(machine);
  error = raw::StartMounts(&machine->mounts);
  if (error != 0) Fail(machine, act.failed, error, kStatusRefused);
}

// The steps that mount. Returns 0 or an errno.
int CarryOutMount(Machine* machine, const Act& act) {
  raw::MountState* state = &machine->mounts;
  const auto slot = [machine, &act] { return &machine->script->slots[act.index]; };
  switch (act.kind) {
    case ActKind::kPinTree:
      slot()->read_only = act.read_only;
      slot()->devices = act.devices;
      return raw::PinTree(state, act.text, slot());
    case ActKind::kNewTmpfs:
      return raw::NewTmpfs(act.mode, act.value, slot());
    case ActKind::kEnterRoot:
      return raw::EnterRoot(state, slot());
    case ActKind::kMakeMountPoint:
      return raw::MakeMountPoint(act.text, act.is_directory);
    case ActKind::kAttach:
      return raw::Attach(state, slot(), act.text);
    case ActKind::kCoverTree:
      return raw::CoverTree(state, act.text, act.read_only, act.optional);
    case ActKind::kOpenStore:
      return raw::OpenStore(state, act.mode, act.mode2);
    case ActKind::kAttachMask:
      return raw::AttachMask(state, act.text, act.is_directory);
    case ActKind::kAttachData:
      return raw::AttachData(state, act.text, act.data, act.size, act.mode);
    case ActKind::kCloseStore:
      return raw::CloseStore(state);
    case ActKind::kMountProc:
      return raw::MountProc(act.text);
    case ActKind::kMountDevpts:
      return raw::MountDevpts(act.text);
    case ActKind::kMakeSymlink:
      return raw::MakeLink(act.text, act.data);
    case ActKind::kSetReadOnly:
      return raw::SetReadOnly(state, act.text);
    default:
      return ENOSYS;  // not reached: all others are carried out elsewhere
  }
}

int StartCommand(Machine* machine) {
  int error = raw::SplitInit();
  // It has given the command the caller's mask.
  if (error == 0) machine->signals_held = false;
  return error;
}

}  // namespace

int CarryOutSandbox(Machine* machine, const Act& act) {
  switch (act.kind) {
    case ActKind::kEnterNamespaces:
      MakeNamespaces(machine, act);
      return 0;
    case ActKind::kLoopbackUp:
      return raw::LoopbackUp();
    case ActKind::kDropPrivileges:
      EndMounts(machine);
      return raw::DropPrivileges();
    case ActKind::kForkCommand:
      return StartCommand(machine);
    case ActKind::kRestrictLandlock:
      return raw::RestrictLandlock(machine->script->landlock);
    case ActKind::kInstallFilter:
      return raw::InstallFilter(act.data, act.size);
    default:
      return CarryOutMount(machine, act);
  }
}

}  // namespace agent_exec
