#include <utility>

#include "absl/strings/match.h"
#include "base/path.h"
#include "plan/access_map.h"
#include "plan/git_config.h"
#include "plan/home.h"

// The caller's git configuration, without what could run a program or name a credential.

namespace agent_exec {
namespace {

// A file that git reads patterns from and nothing else.
void ShowPatternFile(absl::string_view value, Planning* planning) {
  const std::string& home = planning->anchors.home;
  if (absl::StartsWith(value, "~/")) {
    Show(Join(home, value.substr(2)), planning);
  } else if (IsAbsolute(value) && !HasNul(value)) {
    Show(value, planning);
  }
}

void AddSanitized(const std::string& path, Planning* planning) {
  const std::string* text = planning->ReadConfig(path);
  if (text == nullptr) return;
  GitConfig config = ParseGitConfig(*text);
  std::string harmless = HarmlessGitConfig(config);
  if (harmless.empty()) return;
  for (const GitConfigEntry& entry : config.entries) {
    if (entry.section != "core" || !entry.subsection.empty()) continue;
    if (entry.key == "excludesfile" || entry.key == "attributesfile")
      ShowPatternFile(entry.value, planning);
  }
  Entry entry;
  entry.rank = Rank::kInside;
  entry.op.kind = MountKind::kData;
  entry.op.target = path;
  entry.op.node = Node::kFile;
  entry.op.mode = 0444;
  entry.op.blob = static_cast<int>(planning->plan.blobs.size());
  entry.op.purpose = Purpose::kGit;
  entry.op.origin = planning->origins.Implied("git configuration of the home");
  planning->plan.blobs.push_back(std::move(harmless));
  planning->entries.push_back(std::move(entry));
}

// core.excludesFile as git would find it: the repository's own word beats the caller's. "" when
// nobody says.
std::string ConfiguredExcludes(absl::string_view work_tree, Planning* planning) {
  const std::string& home = planning->anchors.home;
  std::vector<std::string> files;
  if (!home.empty()) files = {Join(home, ".config/git/config"), Join(home, ".gitconfig")};
  files.push_back(Join(work_tree, ".git/config"));
  std::string configured;
  for (const std::string& file : files) {
    const std::string* text = planning->ReadConfig(file);
    if (text == nullptr) continue;
    for (const GitConfigEntry& entry : ParseGitConfig(*text).entries) {
      if (entry.section == "core" && entry.subsection.empty() && entry.key == "excludesfile") {
        configured = entry.value;
      }
    }
  }
  return configured;
}

}  // namespace

std::string CallerGitExcludes(absl::string_view work_tree, const std::vector<MountOp>& mounts,
                              Planning* planning) {
  const std::string& home = planning->anchors.home;
  std::string path = ConfiguredExcludes(work_tree, planning);
  if (path.empty() && !home.empty()) path = Join(home, ".config/git/ignore");
  if (absl::StartsWith(path, "~/") && !home.empty()) path = Join(home, path.substr(2));
  if (!IsAbsolute(path) || HasNul(path)) return "";
  // A configuration can name any file that the caller can read; only what the command sees anyway
  // is copied for it.
  FoundPath found = planning->paths.Follow(path);
  if (found.error != 0) return "";
  Decision decision = AccessMap(mounts).Lookup(found.path);
  bool is_visible = decision.backing == Backing::kHost && decision.backing_path == found.path;
  if (!is_visible ||
      (!home.empty() && IsUnder(found.path, home) && !MayShow(found.path, *planning)))
    return "";
  const std::string* text = planning->ReadConfig(found.path);
  return text == nullptr ? "" : *text;
}

void ShowGitConfiguration(Planning* planning) {
  const std::string& home = planning->anchors.home;
  if (home.empty()) return;
  AddSanitized(Join(home, ".gitconfig"), planning);
  AddSanitized(Join(home, ".config/git/config"), planning);
  for (absl::string_view name : {".config/git/ignore", ".config/git/attributes"})
    Show(Join(home, name), planning);
}

}  // namespace agent_exec
