#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "abi/linux_landlock.h"
#include "absl/strings/str_cat.h"
#include "backend/native_limits.h"
#include "backend/native_mounts.h"
#include "backend/rows.h"
#include "base/status.h"
#include "seccomp/filter.h"

// The sandbox that this process builds itself: namespaces, a tree of mounts, no privileges,
// Landlock, the filter. The order of the steps, and why it is so:
//
//   lasting directories, placeholders   on the host, as the caller, before anything is unshared
//   namespaces
//   pins       every source is opened and cloned while all of the host can still be seen: whatever
//              is covered later, and whoever swaps a name meanwhile, a pin stays what was planned
//   root       the new tree takes the place of the old one at once, so that from here on no path,
//              not even a mistaken one, leads out
//   mounts     ancestors first, as the plan has them. What stands on a file system of ours gets a
//              mount point there
//   loopback   while the new /proc/sys is not yet read-only
//   links      on top of the finished tree
//   seals      a file system that is read-only takes no more mount points
//   directory  while a capability still opens a directory that the caller merely stands in
//   privileges go; the init that stays has none either
//   command    is forked
//   limits     for the command alone; what comes before needs its descriptors
//   Landlock   after the last mount, which a Landlocked process may not make
//   filter     last, since it refuses most of the calls above

namespace agent_exec {
namespace {

constexpr Feature kFeatures[] = {
    Feature::kMounts,     Feature::kMasks,        Feature::kPlaceholders, Feature::kLinks,
    Feature::kPids,       Feature::kIpc,          Feature::kNetworkNone,  Feature::kNetworkHost,
    Feature::kFilter,     Feature::kNoPrivileges, Feature::kFileSize,     Feature::kOpenFiles,
    Feature::kBackground, Feature::kEnvironment,  Feature::kDescriptors,
};

constexpr int kLeastLandlockAbi = 2;  // ABI 1 refuses every rename from one directory to another

Diagnostic Unavailable(const HostFacts& facts) {
  if (facts.os != Os::kLinux) return {"runs on Linux only", "", ""};
  if (!facts.mount_calls) {
    return {"this kernel has no open_tree, move_mount and fsopen, or refuses them", "",
            "Linux 5.2 and newer have them"};
  }
  if (facts.user_namespaces && !facts.user_namespaces_for_bwrap_only) return {};
  return {absl::StrCat("this host refuses user namespaces: ",
                       facts.user_namespaces_for_bwrap_only    ? "to all programs but bubblewrap"
                       : facts.user_namespaces_problem.empty() ? "reason unknown"
                                                               : facts.user_namespaces_problem),
          "",
          "as root: 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0' on Ubuntu, "
          "'sysctl -w user.max_user_namespaces=10000' elsewhere; a container must be started with "
          "them allowed"};
}

// A root with the capabilities for it keeps all ids, so that owners read right; all others have
// their own.
IdMap IdsFor(const HostFacts& facts) {
  IdMap ids;
  if (facts.uid == 0 && !facts.full_uid_map.empty() && !facts.full_gid_map.empty()) {
    ids.uid_map = facts.full_uid_map;
    ids.gid_map = facts.full_gid_map;
    ids.deny_setgroups = false;
    ids.by_parent = true;
    return ids;
  }
  ids.uid_map = absl::StrCat(facts.uid, " ", facts.uid, " 1\n");
  ids.gid_map = absl::StrCat(facts.gid, " ", facts.gid, " 1\n");
  return ids;
}

// What a descriptor can be opened again for is what it was opened for.
uint64_t RightsOf(const OpenFile& file) {
  if (file.is_terminal) return kLandlockFileRights & ~kLandlockExecute;
  uint64_t rights = 0;
  if (file.reads) rights |= kLandlockReadFile;
  if (file.writes) rights |= kLandlockWriteFile;
  // A log that is only added to must not be cut off.
  if (file.writes && !file.appends) rights |= kLandlockTruncate;
  if (file.is_device) rights |= kLandlockIoctlDev;
  return rights;
}

// The second layer. Landlock gives a right to an object where any directory above it has it, so
// rules are needed only where more is allowed than above, and what is denied inside is left to the
// mounts.
RestrictLandlock LandlockFor(const Plan& plan, const HostFacts& facts) {
  constexpr uint64_t kRead = kLandlockExecute | kLandlockReadFile | kLandlockReadDir;
  RestrictLandlock step;
  if (facts.landlock_abi >= 6) {
    step.scoped = kLandlockScopeAbstractUnixSocket | kLandlockScopeSignal;
  }
  // Whoever is held to rights on files may mount nothing, as sandboxes inside must.
  if (plan.nested_sandbox) return step;
  step.handled_fs = LandlockRights(facts.landlock_abi);
  const auto add = [&step](std::string path, uint64_t rights, bool entries = false) {
    step.rules.push_back({std::move(path), -1, entries, rights & step.handled_fs});
  };
  // Not the root directory itself: it is an object of the host, and what the host has below it and
  // the sandbox has not could be opened again through a descriptor.
  add("/", kLandlockReadDir);
  add("/", kRead, true);
  for (const MountOp& op : plan.mounts) {
    if (op.kind == MountKind::kDev) {
      add(op.target, kLandlockReadFile | kLandlockReadDir | kLandlockWriteFile | kLandlockTruncate |
                         kLandlockIoctlDev);
      const std::string shm = absl::StrCat(op.target, "/shm");
      if (!HasMountAt(plan, shm)) add(shm, step.handled_fs & ~kLandlockIoctlDev);
    } else if (op.kind == MountKind::kProc) {
      add(op.target, kRead | kLandlockWriteFile | kLandlockTruncate);
    } else if (op.access == Access::kWrite &&
               (op.kind == MountKind::kBind || op.kind == MountKind::kTmpfs)) {
      add(op.target, step.handled_fs & ~kLandlockIoctlDev);
    }
  }
  for (const OpenFile& file : facts.open_files) {
    const bool stays =
        file.fd < 3 || std::binary_search(plan.keep_fds.begin(), plan.keep_fds.end(), file.fd);
    const uint64_t rights = RightsOf(file) & step.handled_fs;
    if (stays && rights != 0) step.rules.push_back({"", file.fd, false, rights});
  }
  return step;
}

FilterOptions FilterFor(const Plan& plan, const HostFacts& facts) {
  FilterOptions options;
  options.arch = facts.arch;
  options.host_pids = plan.in_place;
  options.setgid_chmod = SetgidChmod::kRefuse;
  options.ignore_chown = plan.ignore_chown;
  options.nested_sandbox = plan.nested_sandbox;
  return options;
}

absl::StatusOr<Rendered> Render(const Plan& plan, const HostFacts& facts) {
  Rendered rendered;
  Script& script = rendered.script;
  script.steps.reserve(64 + 2 * plan.mounts.size());
  for (const LastingDir& dir : plan.lasting_dirs) {
    script.steps.emplace_back(MakeLastingDir{dir.path});
  }
  for (const Placeholder& placeholder : plan.placeholders) {
    script.steps.emplace_back(MakePlaceholder{placeholder});
  }
  // Supervised, it is the supervisor that removes them.
  if (plan.in_place && !plan.placeholders.empty()) script.steps.emplace_back(StartSweeper{-1});
  EnterNamespaces namespaces;
  namespaces.pid = !plan.in_place;
  namespaces.net = plan.network == NetworkMode::kNone;
  namespaces.keep_background = plan.keep_background;
  namespaces.ids = IdsFor(facts);
  script.steps.emplace_back(std::move(namespaces));
  AppendNativeMounts(plan, facts, &script);
  script.steps.emplace_back(ChangeDir{plan.command.cwd});
  script.steps.emplace_back(DropPrivileges{});
  if (!plan.in_place) script.steps.emplace_back(ForkCommand{});
  AppendLimits(plan, &script);
  if (facts.landlock_abi >= kLeastLandlockAbi) {
    RestrictLandlock landlock = LandlockFor(plan, facts);
    if ((landlock.handled_fs | landlock.scoped) != 0)
      script.steps.emplace_back(std::move(landlock));
  }
  script.steps.emplace_back(CloseOthers{plan.keep_fds});
  script.steps.emplace_back(InstallFilter{static_cast<int>(script.blobs.size())});
  script.blobs.push_back(FilterBytes(FilterFor(plan, facts)));
  script.steps.emplace_back(
      Exec{plan.command.path, plan.command.argv, EnvironmentFor(plan, kNative.name)});

  rendered.enforced = EnforcedOf(kFeatures, plan);
  for (const BackendLimit& limit : NativeLimits()) {
    if (limit.applies(plan, facts)) rendered.limits.push_back(limit);
  }
  rendered.model = plan.in_place ? ProcessModel::kInPlace : ProcessModel::kSupervised;
  rendered.executes_command = true;
  rendered.printed_argv = plan.command.argv;
  return rendered;
}

}  // namespace

const Backend kNative = {
    "native",
    "its own user, mount, pid, ipc, uts, cgroup and network namespaces, then Landlock, and the "
    "filter",
    kFeatures,
    NativeLimits(),
    /*in_auto=*/true,
    Unavailable,
    Render,
};

}  // namespace agent_exec
