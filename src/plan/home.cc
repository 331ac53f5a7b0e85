#include "plan/home.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "base/path.h"
#include "base/status.h"
#include "plan/access_map.h"
#include "plan/home_tables.h"
#include "plan/system.h"

namespace agent_exec {
namespace {

bool IsHidden(HomeMode mode) { return mode == HomeMode::kHidden; }

void HideOthers(Planning* planning) {
  OriginId origin = planning->origins.Implied("homes of other people");
  struct Base {
    absl::string_view path;
    uint32_t mode;
  };
  for (const Base& base : {Base{"/home", 0755}, Base{"/root", 0700}}) {
    FoundPath found = planning->paths.Follow(base.path);
    if (!found.is_directory()) continue;
    AddTmpfs(found.path, Rank::kHide, Access::kRead, base.mode, Purpose::kHome, origin, planning);
  }
  for (const std::string& home : planning->anchors.other_homes) {
    AddTmpfs(home, Rank::kHide, Access::kRead, 0755, Purpose::kHome, origin, planning);
  }
}

absl::Status AddOwnHome(const std::string& home, Planning* planning) {
  OriginId origin = planning->origins.Add(planning->policy.home.origin);
  switch (planning->policy.home.value) {
    case HomeMode::kHidden:
      AddTmpfs(home, Rank::kPrivate, Access::kRead, 0700, Purpose::kHome, origin, planning);
      return absl::OkStatus();
    case HomeMode::kPrivate:
      AddTmpfs(home, Rank::kPrivate, Access::kWrite, 0700, Purpose::kHome, origin, planning);
      return absl::OkStatus();
    case HomeMode::kRead: {
      FoundPath found = planning->paths.Follow(home);
      AddBind(found, Rank::kExpose, Access::kRead, Purpose::kHome, origin, planning);
      return absl::OkStatus();
    }
    case HomeMode::kWorkspace: {
      Entry entry;
      AE_ASSIGN_OR_RETURN(entry.op.source,
                          AddLastingDir("home", planning->policy.home.origin, planning));
      entry.rank = Rank::kPrivate;
      entry.op.kind = MountKind::kBind;
      entry.op.target = home;
      entry.op.access = Access::kWrite;
      entry.op.purpose = Purpose::kHome;
      entry.op.origin = origin;
      planning->entries.push_back(std::move(entry));
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

bool IsSecret(absl::string_view path, absl::string_view home) {
  if (home.empty() || !IsUnder(path, home)) return false;
  absl::string_view relative = RelativeTo(path, home);
  for (const Secret& secret : Secrets()) {
    absl::string_view name = secret.path;
    if (relative.substr(0, name.size()) == name &&
        (relative.size() == name.size() || relative[name.size()] == '/')) {
      return true;
    }
  }
  return false;
}

bool HoldsHome(absl::string_view path, absl::string_view home) {
  return !home.empty() && IsUnder(home, path);
}

// Is a path, relative to the home, one of these or below one?
bool IsBelowOne(absl::string_view path, const std::vector<absl::string_view>& roots) {
  return std::any_of(roots.begin(), roots.end(), [&](absl::string_view root) {
    return root.empty() || (absl::StartsWith(path, root) &&
                            (path.size() == root.size() || path[root.size()] == '/'));
  });
}

void MaskSecretsOf(const std::string& home, const std::vector<MountOp>& mounts,
                   Planning* planning) {
  AccessMap map(mounts);
  // Most homes are hidden but for a few parts, so most secrets need no further look.
  std::vector<absl::string_view> shown;
  if (map.Lookup(home).backing == Backing::kHost) shown.emplace_back("");
  for (const MountOp& op : mounts) {
    bool shows = op.kind == MountKind::kBind || op.kind == MountKind::kSymlink;
    if (shows && IsUnder(op.target, home)) shown.push_back(RelativeTo(op.target, home));
  }
  OriginId origin = planning->origins.Implied("credentials in the home");
  for (const Secret& secret : Secrets()) {
    if (!IsBelowOne(secret.path, shown)) continue;
    std::string named = Join(home, secret.path);
    Decision decision = map.Lookup(named);
    // Below a link that is shown again, the host's file may be visible under another path.
    bool is_linked = decision.op >= 0 && mounts[decision.op].kind == MountKind::kSymlink;
    if (decision.backing != Backing::kHost && !is_linked) continue;
    FoundPath found = planning->paths.Follow(named);
    if (found.error != 0) continue;
    AddMask(found.path, NodeOf(found.info), Rank::kSecret, Purpose::kHome, origin, planning);
  }
}

}  // namespace

absl::Status AddHomes(Planning* planning) {
  const Anchors& anchors = planning->anchors;
  HideOthers(planning);
  AddLinks(anchors.links, Purpose::kSystem,
           planning->origins.Implied("the names that directories were given by"), planning);
  if (!anchors.passwd_home.empty() && anchors.passwd_home != anchors.home) {
    AddTmpfs(anchors.passwd_home, Rank::kHide, Access::kRead, 0700, Purpose::kHome,
             planning->origins.Add(planning->policy.home.origin), planning);
  }
  HomeMode mode = planning->policy.home.value;
  std::string fresh = FreshHome(*planning);
  if (!fresh.empty()) {
    AddTmpfs(fresh, Rank::kInside, IsHidden(mode) ? Access::kRead : Access::kWrite, 0700,
             Purpose::kHome, planning->origins.Add(planning->policy.home.origin), planning);
  } else {
    AE_RETURN_IF_ERROR(AddOwnHome(anchors.home, planning));
  }
  if (mode == HomeMode::kPrivate || mode == HomeMode::kWorkspace) {
    ShowTools(planning);
    ShowGitConfiguration(planning);
  }
  return absl::OkStatus();
}

std::string FreshHome(const Planning& planning) {
  if (!planning.anchors.home.empty()) return "";
  // With the host's own /tmp inside there is nothing there to mount on, but /run is always ours.
  return planning.policy.tmp.value == TmpMode::kHost ? "/run/agent-exec/home" : "/tmp/home";
}

void MaskSecrets(const std::vector<MountOp>& mounts, Planning* planning) {
  const Anchors& anchors = planning->anchors;
  if (!anchors.home.empty()) MaskSecretsOf(anchors.home, mounts, planning);
  if (!anchors.passwd_home.empty() && anchors.passwd_home != anchors.home) {
    MaskSecretsOf(anchors.passwd_home, mounts, planning);
  }
  if (!anchors.cache_dir.empty()) {
    // What other workspaces keep is not this command's.
    FoundPath found = planning->paths.Follow(Join(anchors.cache_dir, "agent-exec"));
    if (found.error == 0) {
      AddMask(found.path, NodeOf(found.info), Rank::kSecret, Purpose::kHome,
              planning->origins.Implied("lasting directories of other workspaces"), planning);
    }
  }
}

bool MayShow(absl::string_view path, const Planning& planning) {
  const Anchors& anchors = planning.anchors;
  if (HoldsHome(path, anchors.home) || HoldsHome(path, anchors.passwd_home)) return false;
  bool is_in_home = (!anchors.home.empty() && IsUnder(path, anchors.home)) ||
                    (!anchors.passwd_home.empty() && IsUnder(path, anchors.passwd_home));
  return is_in_home && !IsSecret(path, anchors.home) && !IsSecret(path, anchors.passwd_home);
}

bool Show(absl::string_view path, Planning* planning) {
  FoundPath found = planning->paths.Follow(path);
  if (found.error != 0 || LedThroughWritable(found, *planning)) return false;
  if (!MayShow(found.path, *planning)) {
    // A link out of the home shows what it leads to by whatever else shows that; the link itself
    // does no harm.
    AddLinks(found.links, Purpose::kHome, planning->origins.Implied("tools in the home"), planning);
    return false;
  }
  for (const std::string& root : planning->writable_roots) {
    if (IsUnder(found.path, root)) return false;  // shown, and perhaps made by the command
  }
  AddBind(found, Rank::kExpose, Access::kRead, Purpose::kHome,
          planning->origins.Implied("tools in the home"), planning);
  return true;
}

}  // namespace agent_exec
