#include "plan/resolve.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/status.h"
#include "host/placeholder_mark.h"
#include "plan/access_map.h"
#include "plan/anchors.h"
#include "plan/command.h"
#include "plan/environment.h"
#include "plan/git_layout.h"
#include "plan/home.h"
#include "plan/lasting.h"
#include "plan/planning.h"
#include "plan/rules.h"
#include "plan/settle.h"
#include "plan/sockets.h"
#include "plan/system.h"

namespace agent_exec {
namespace {

constexpr size_t kMaxMounts = 100000;
constexpr char kGitExcludesPath[] = "/run/agent-exec/git-excludes";

using GitConfigPairs = std::vector<std::pair<std::string, std::string>>;

// What the next run obeys or executes must not be this run's to write.
absl::Status AddOwnFiles(const std::vector<std::string>& policy_files, Planning* planning) {
  Guard guard;
  guard.pinned = true;
  guard.kind = NodeHint::kFile;
  guard.purpose = Purpose::kSystem;
  guard.blocks = true;
  guard.origin = planning->origins.Implied("policy file");
  for (const std::string& path : policy_files) {
    guard.path = path;
    AE_RETURN_IF_ERROR(AddGuard(guard, planning));
  }
  if (planning->facts.self_path.empty()) return absl::OkStatus();
  guard.path = planning->facts.self_path;
  guard.blocks = false;
  guard.origin = planning->origins.Implied("the launcher itself");
  return AddGuard(guard, planning);
}

bool IsWritableHost(const Decision& decision, absl::string_view path) {
  return decision.backing == Backing::kHost && decision.access == Access::kWrite &&
         decision.backing_path == path;
}

// Claims a mount for every directory above a protected name that could be renamed: a mount protects
// an object, and with its parent gone elsewhere the name could be built anew.
void AddPinsAbove(absl::string_view path, OriginId origin, const AccessMap& map,
                  const std::vector<MountOp>& mounts, Planning* planning) {
  std::vector<absl::string_view> ancestors = AncestorsAndSelf(path);
  ancestors.pop_back();
  for (absl::string_view ancestor : ancestors) {
    Decision decision = map.Lookup(ancestor);
    if (!IsWritableHost(decision, ancestor) || mounts[decision.op].target == ancestor) continue;
    Entry entry;
    entry.rank = Rank::kPin;
    entry.op.kind = MountKind::kBind;
    entry.op.source = std::string(ancestor);
    entry.op.target = std::string(ancestor);
    entry.op.access = Access::kWrite;
    entry.op.purpose = Purpose::kPin;
    entry.op.origin = origin;
    // Another run's placeholder counts as missing, here by its mark alone: a directory that was
    // there before serves as well, and is not removed.
    FoundPath found = planning->paths.Follow(ancestor);
    entry.missing = found.missing() || (found.is_directory() && LooksLikePlaceholder(found.info));
    planning->entries.push_back(std::move(entry));
  }
}

void AddPins(const Settled& settled, Planning* planning) {
  AccessMap map(settled.mounts);
  for (int i : settled.guards) {
    // A copy: the list of entries grows.
    const Entry guard = planning->entries[i];
    if (guard.pinned) AddPinsAbove(guard.op.target, guard.op.origin, map, settled.mounts, planning);
  }
  for (const LinkCandidate& candidate : planning->links) {
    if (!candidate.pinned || !IsWritableHost(map.Lookup(candidate.link.path), candidate.link.path))
      continue;
    AddPinsAbove(candidate.link.path, candidate.link.origin, map, settled.mounts, planning);
  }
}

void HoldLinks(Planning* planning) {
  Plan& plan = planning->plan;
  AccessMap map(plan.mounts);
  for (const LinkCandidate& candidate : planning->links) {
    if (IsWritableHost(map.Lookup(candidate.link.path), candidate.link.path)) {
      plan.held_links.push_back(candidate.link);
    }
  }
  auto by_path = [](const HeldLink& a, const HeldLink& b) { return a.path < b.path; };
  auto same_path = [](const HeldLink& a, const HeldLink& b) { return a.path == b.path; };
  std::stable_sort(plan.held_links.begin(), plan.held_links.end(), by_path);
  plan.held_links.erase(std::unique(plan.held_links.begin(), plan.held_links.end(), same_path),
                        plan.held_links.end());
}

// A line of an excludes file for exactly one path. Escaping every byte that could mean something is
// always allowed.
std::string ExcludeLine(absl::string_view relative) {
  std::string line = "/";
  for (char c : relative) {
    if (c == '\\' || c == '*' || c == '?' || c == '[' || c == ' ' || c == '#' || c == '!')
      line.push_back('\\');
    line.push_back(c);
  }
  line.push_back('\n');
  return line;
}

// Placeholders that are files would show up in `git status`; empty directories do not.
void AddGitExcludes(const Settled& settled, Planning* planning, GitConfigPairs* pairs) {
  std::string lines;
  std::string work_tree;
  for (const Placeholder& placeholder : settled.placeholders) {
    if (placeholder.node != Node::kFile) continue;
    if (work_tree.empty()) work_tree = GitWorkTree(planning->anchors.workspace, planning);
    if (work_tree.empty()) return;
    // A line cannot hold a line break.
    if (!IsUnder(placeholder.path, work_tree) || placeholder.path.find('\n') != std::string::npos)
      continue;
    lines += ExcludeLine(RelativeTo(placeholder.path, work_tree));
  }
  if (lines.empty()) return;
  // Where a rule shows the host's /run there is no place for a file of ours.
  if (AccessMap(settled.mounts).Lookup(kGitExcludesPath).backing != Backing::kTmpfs) return;
  // core.excludesFile holds one file, so the caller's patterns go into ours.
  std::string text = CallerGitExcludes(work_tree, settled.mounts, planning);
  if (!text.empty() && text.back() != '\n') text.push_back('\n');
  Entry entry;
  entry.rank = Rank::kInside;
  entry.op.kind = MountKind::kData;
  entry.op.target = kGitExcludesPath;
  entry.op.node = Node::kFile;
  entry.op.mode = 0444;
  entry.op.blob = static_cast<int>(planning->plan.blobs.size());
  entry.op.purpose = Purpose::kGit;
  entry.op.origin = planning->origins.Implied("placeholders");
  planning->plan.blobs.push_back(text + lines);
  planning->entries.push_back(std::move(entry));
  pairs->emplace_back("core.excludesFile", kGitExcludesPath);
}

// git refuses repositories of another owner; which one the caller means is what --workspace says.
void AddSafeDirectory(Planning* planning, GitConfigPairs* pairs) {
  const std::string& workspace = planning->anchors.workspace;
  FoundPath found = planning->paths.Follow(workspace);
  if (found.error != 0) return;
  bool is_foreign = found.info.uid != planning->facts.uid;
  FoundPath git = planning->paths.Follow(Join(workspace, ".git"));
  if (git.error == 0) is_foreign = is_foreign || git.info.uid != planning->facts.uid;
  if (is_foreign) pairs->emplace_back("safe.directory", workspace);
}

void NoteHardLinks(Planning* planning) {
  AccessMap map(planning->plan.mounts);
  for (const HardLinked& file : planning->hard_links) {
    Decision decision = map.Lookup(file.path);
    if (decision.backing != Backing::kMasked ||
        planning->plan.mounts[decision.op].target != file.path)
      continue;
    planning->plan.notices.push_back(
        {"hard-link",
         absl::StrCat(QuoteForMessage(file.path), " has ", file.links,
                      " hard links: it may be readable by another name"),
         file.origin});
  }
}

// Every claim of the policy and the design, settled into the mount list.
absl::Status PlanMounts(const std::vector<std::string>& policy_files, Planning* planning,
                        GitConfigPairs* git_config) {
  std::vector<LedAstray> led_astray;
  AE_RETURN_IF_ERROR(AddRules(planning, &led_astray));
  AE_RETURN_IF_ERROR(AddSystem(planning));
  AE_RETURN_IF_ERROR(AddHomes(planning));
  if (!led_astray.empty()) {
    AE_RETURN_IF_ERROR(JudgeLedAstray(led_astray, Settle(planning->entries).mounts, planning));
  }
  AE_RETURN_IF_ERROR(AddGitProtection(planning));
  AE_RETURN_IF_ERROR(AddOwnFiles(policy_files, planning));
  // Before other people's paths are looked at, which must not be able to stop a start.
  if (const PathResolver::Trouble& trouble = planning->paths.trouble(); trouble.error != 0) {
    return ErrnoStatus(trouble.error, "look at", trouble.path);
  }

  Settled settled = Settle(planning->entries);
  AddPins(settled, planning);
  AddGitExcludes(settled, planning, git_config);
  MaskSecrets(settled.mounts, planning);
  AE_RETURN_IF_ERROR(MaskSockets(settled.mounts, planning));
  settled = Settle(planning->entries);
  if (!planning->plan.lasting_dirs.empty()) {
    AE_ASSIGN_OR_RETURN(bool changed, CheckLastingMountPoints(settled.mounts, planning));
    if (changed) settled = Settle(planning->entries);
  }
  AddSafeDirectory(planning, git_config);

  Plan& plan = planning->plan;
  plan.mounts = std::move(settled.mounts);
  plan.placeholders = std::move(settled.placeholders);
  plan.shadowed = std::move(settled.shadowed);
  std::sort(plan.lasting_dirs.begin(), plan.lasting_dirs.end(),
            [](const LastingDir& a, const LastingDir& b) { return a.path < b.path; });
  HoldLinks(planning);
  NoteHardLinks(planning);
  if (plan.mounts.size() <= kMaxMounts) return absl::OkStatus();
  return ErrorAt(absl::StatusCode::kResourceExhausted,
                 absl::StrCat("cannot make ", plan.mounts.size(), " mounts: at most ", kMaxMounts),
                 "");
}

void AddNeeds(Planning* planning) {
  Plan& plan = planning->plan;
  const Policy& policy = planning->policy;
  OriginId mode = planning->origins.Add(policy.mode.origin);
  auto need = [&](Feature feature, OriginId origin) { plan.needs.push_back({feature, origin}); };
  if (plan.confined) {
    need(Feature::kMounts, mode);
    for (const MountOp& op : plan.mounts) {
      if (op.kind != MountKind::kMask) continue;
      need(Feature::kMasks, op.origin);
      break;
    }
    if (!plan.placeholders.empty()) need(Feature::kPlaceholders, plan.placeholders.front().origin);
    if (!plan.held_links.empty()) need(Feature::kLinks, plan.held_links.front().origin);
    // In place the host's processes stay in sight: whoever asked for that knows it.
    if (!plan.in_place) need(Feature::kPids, mode);
    need(Feature::kIpc, mode);
    need(policy.network.value == NetworkMode::kNone ? Feature::kNetworkNone : Feature::kNetworkHost,
         planning->origins.Add(policy.network.origin));
    need(Feature::kFilter, mode);
    need(Feature::kNoPrivileges, mode);
  }
  if (policy.limits.file_size_bytes.has_value()) {
    plan.file_size_bytes = policy.limits.file_size_bytes->value;
    need(Feature::kFileSize, planning->origins.Add(policy.limits.file_size_bytes->origin));
  }
  if (policy.limits.open_files.has_value()) {
    plan.open_files = policy.limits.open_files->value;
    need(Feature::kOpenFiles, planning->origins.Add(policy.limits.open_files->origin));
  }
  if (plan.keep_background) {
    need(Feature::kBackground, planning->origins.Add(policy.keep_background.origin));
  }
  need(Feature::kEnvironment, mode);
  need(Feature::kDescriptors, mode);
}

// How the command's processes stand to the launcher and to each other.
absl::Status PlanProcesses(const Policy& policy, const HostFacts& facts, Plan* plan) {
  plan->in_place = policy.in_place.value;
  plan->keep_background = policy.keep_background.value;
  if (plan->in_place && plan->keep_background) {
    return ErrorAt(absl::StatusCode::kInvalidArgument,
                   "'keep-background' needs the supervisor that 'in-place' goes without",
                   FormatOrigin(policy.keep_background.origin), "leave one of them out");
  }
  plan->ignore_chown = facts.uid == 0 && policy.root_chown.value == RootChown::kIgnore;
  for (const Sourced<Weakening>& accepted : policy.weaken) {
    if (accepted.value != Weakening::kNestedSandbox) continue;
    // Uid 0 owns /proc/sys: a procfs mounted inside, without our covers, would open it.
    if (facts.uid == 0) {
      return ErrorAt(absl::StatusCode::kFailedPrecondition,
                     "'nested-sandbox' is refused for uid 0, which could then write to the "
                     "kernel's settings in a /proc of its own",
                     FormatOrigin(accepted.origin), "run the launcher as an ordinary user");
    }
    plan->nested_sandbox = true;
  }
  return absl::OkStatus();
}

// An open directory of the host leads anywhere by "..", past every mount of the sandbox.
absl::Status CheckDirectoryDescriptors(const Policy& policy, const HostFacts& facts) {
  constexpr const char* kStreams[] = {"standard input", "standard output", "standard error"};
  const auto is_directory = [&facts](int fd) {
    return std::binary_search(facts.directory_fds.begin(), facts.directory_fds.end(), fd);
  };
  for (int fd = 0; fd < 3; ++fd) {
    if (!is_directory(fd)) continue;
    return ErrorAt(
        absl::StatusCode::kFailedPrecondition,
        absl::StrCat(kStreams[fd], " is a directory, by which the command could leave the sandbox"),
        "", "name a file, or /dev/null");
  }
  for (const Sourced<int>& fd : policy.keep_fds) {
    if (!is_directory(fd.value)) continue;
    return ErrorAt(absl::StatusCode::kFailedPrecondition,
                   absl::StrCat("descriptor ", fd.value,
                                " is a directory, by which the command could leave the sandbox"),
                   FormatOrigin(fd.origin), "show the directory by --read or --write");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Plan> ResolvePlan(const Policy& policy, const HostFacts& facts, FileView& files,
                                 const std::vector<std::string>& argv,
                                 const std::vector<std::string>& policy_files) {
  Planning planning(policy, facts, &files);
  Plan& plan = planning.plan;
  AE_ASSIGN_OR_RETURN(planning.anchors, FindAnchors(policy, facts, &planning.paths, &files));
  plan.confined = policy.mode.value != Mode::kDangerFullAccess;
  plan.workspace = planning.anchors.workspace;
  plan.network = plan.confined ? policy.network.value : NetworkMode::kHost;
  plan.denied = policy.denied.value;
  for (const Sourced<int>& fd : policy.keep_fds) plan.keep_fds.push_back(fd.value);

  GitConfigPairs git_config;
  if (plan.confined) AE_RETURN_IF_ERROR(CheckDirectoryDescriptors(policy, facts));
  if (plan.confined) AE_RETURN_IF_ERROR(PlanProcesses(policy, facts, &plan));
  if (plan.confined) AE_RETURN_IF_ERROR(PlanMounts(policy_files, &planning, &git_config));
  std::optional<AccessMap> map;
  if (plan.confined) map.emplace(plan.mounts);
  const AccessMap* visible = map.has_value() ? &*map : nullptr;
  AE_RETURN_IF_ERROR(PlanEnvironment(visible, git_config, &planning));
  AE_RETURN_IF_ERROR(PlanCommand(argv, visible, &planning));
  AddNeeds(&planning);

  if (planning.origins.full()) {
    return ErrorAt(absl::StatusCode::kResourceExhausted, "cannot keep apart more than 65535 rules",
                   "");
  }
  AE_RETURN_IF_ERROR(CheckPlan(plan));
  return std::move(plan);
}

}  // namespace agent_exec
