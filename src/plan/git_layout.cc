#include "plan/git_layout.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/status.h"
#include "plan/git_config.h"

namespace agent_exec {
namespace {

constexpr size_t kMaxPointerBytes = 64 << 10;
constexpr int kMaxIncludeDepth = 10;  // as git's own
constexpr size_t kMaxWorktrees = 256;

// Directories of dependencies and of build output: large, and remade from outside the repository.
// Sorted.
constexpr absl::string_view kLeftOut[] = {
    ".cache", ".eggs",  ".git",        ".gradle",       ".mypy_cache", ".next",
    ".nox",   ".nuxt",  ".pnpm-store", ".pytest_cache", ".svelte-kit", ".terraform",
    ".tox",   ".turbo", ".venv",       ".yarn",         "__pycache__", "bower_components",
    "build",  "dist",   "env",         "node_modules",  "out",         "site-packages",
    "target", "venv",
};

class GitPass {
 public:
  explicit GitPass(Planning* planning) : planning_(*planning) {}

  absl::Status Run() {
    if (planning_.policy.git.value == GitMode::kFull || !IsAnythingWritable())
      return absl::OkStatus();
    FindOrigin();
    const std::string& workspace = planning_.anchors.workspace;
    if (is_top_protected_) AE_RETURN_IF_ERROR(ProtectRepository(workspace, true));
    if (planning_.policy.nested_repositories.value == NestedRepositories::kProtect) {
      origin_ = planning_.origins.Add(planning_.policy.nested_repositories.origin);
      AE_RETURN_IF_ERROR(ProtectNested(workspace));
    }
    return absl::OkStatus();
  }

 private:
  bool IsAnythingWritable() const {
    return std::any_of(planning_.entries.begin(), planning_.entries.end(),
                       [](const Entry& entry) { return entry.rank == Rank::kWrite; });
  }

  // The rule that all of this follows from: the one that protects .git, else the setting. A user
  // who takes that rule back by name means the workspace's own repository.
  void FindOrigin() {
    origin_ = planning_.origins.Add(planning_.policy.git.origin);
    for (const PathRule& rule : planning_.policy.paths) {
      if (rule.want != Want::kDenyWrite || rule.pattern != ".git") continue;
      is_top_protected_ = !rule.takes_back;
      if (is_top_protected_) origin_ = planning_.origins.Add(rule.origin);
    }
  }

  absl::Status Protect(const std::string& path, bool pinned, bool blocks, NodeHint kind) {
    Guard guard;
    guard.path = path;
    guard.pinned = pinned;
    guard.blocks = blocks;
    guard.kind = kind;
    guard.purpose = Purpose::kGit;
    guard.origin = origin_;
    return AddGuard(guard, &planning_);
  }

  // DIRECTORY/.git and what it leads to. is_top: the workspace's own, of which every name is held;
  // nested ones are found by a walk, as glob matches are, and get no pins.
  absl::Status ProtectRepository(const std::string& directory, bool is_top) {
    std::string dot_git = Join(directory, ".git");
    FoundPath found = planning_.paths.Follow(dot_git);
    if (found.error != 0) return absl::OkStatus();
    AE_RETURN_IF_ERROR(Protect(dot_git, is_top, false, NodeHint::kAuto));
    std::string git_dir = found.path;
    if (found.info.type == NodeType::kFile) {
      std::string pointed = ReadPointer(found.path, "gitdir:", Dirname(found.path));
      if (pointed.empty() || !IsGitDir(pointed)) return absl::OkStatus();
      git_dir = pointed;
      AE_RETURN_IF_ERROR(Protect(git_dir, is_top, false, NodeHint::kDirectory));
    }
    std::string common = ReadPointer(Join(git_dir, "commondir"), "", git_dir);
    if (!common.empty() && IsGitDir(common)) {
      AE_RETURN_IF_ERROR(Protect(common, is_top, false, NodeHint::kDirectory));
    } else {
      common = git_dir;
    }
    AE_RETURN_IF_ERROR(FollowConfig(Join(common, "config"), directory, is_top, 0));
    AE_RETURN_IF_ERROR(FollowConfig(Join(git_dir, "config.worktree"), directory, is_top, 0));
    return is_top ? ProtectLinkedWorktrees(common) : absl::OkStatus();
  }

  // A file of one line that names a path, relative to a directory.
  std::string ReadPointer(const std::string& file, absl::string_view prefix,
                          absl::string_view base) {
    std::string text;
    NodeInfo info;
    if (planning_.files.Read(file, kMaxPointerBytes, &text, &info) != 0) return "";
    absl::string_view line = text;
    if (!absl::ConsumePrefix(&line, prefix)) return "";
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('\n')));
    if (line.empty() || HasNul(line)) return "";
    return Join(base, line);
  }

  bool IsGitDir(const std::string& path) {
    return planning_.paths.Follow(Join(path, "HEAD")).error == 0;
  }

  // Hooks and included files that lie in the workspace are as dangerous as those below .git.
  absl::Status FollowConfig(const std::string& file, const std::string& work_tree, bool is_top,
                            int depth) {
    const std::string* text = planning_.ReadConfig(file);
    if (text == nullptr) return absl::OkStatus();
    for (const GitConfigEntry& entry : ParseGitConfig(*text).entries) {
      if (entry.value.empty() || HasNul(entry.value)) continue;
      bool is_hooks =
          entry.section == "core" && entry.subsection.empty() && entry.key == "hookspath";
      bool is_monitor =
          entry.section == "core" && entry.subsection.empty() && entry.key == "fsmonitor";
      bool is_include =
          (entry.section == "include" || entry.section == "includeif") && entry.key == "path";
      if (is_hooks) {
        std::string path = FromConfig(entry.value, work_tree);
        if (!path.empty()) AE_RETURN_IF_ERROR(Protect(path, is_top, is_top, NodeHint::kDirectory));
      } else if (is_monitor && absl::StrContains(entry.value, '/')) {
        // A program, unless it is a boolean. Named without a slash it is looked up in PATH.
        std::string path = FromConfig(entry.value, work_tree);
        if (!path.empty()) AE_RETURN_IF_ERROR(Protect(path, is_top, is_top, NodeHint::kFile));
      } else if (is_include && depth < kMaxIncludeDepth) {
        std::string path = FromConfig(entry.value, Dirname(file));
        if (path.empty()) continue;
        AE_RETURN_IF_ERROR(Protect(path, is_top, is_top, NodeHint::kFile));
        AE_RETURN_IF_ERROR(FollowConfig(path, work_tree, is_top, depth + 1));
      }
    }
    return absl::OkStatus();
  }

  std::string FromConfig(absl::string_view value, absl::string_view base) const {
    if (absl::StartsWith(value, "~/")) {
      const std::string& home = planning_.anchors.home;
      return home.empty() ? "" : Join(home, value.substr(2));
    }
    if (absl::StartsWith(value, "~") || absl::StartsWith(value, "%(prefix)")) return "";
    return Join(base, value);
  }

  // The .git files of worktrees that were added elsewhere, when that is inside a writable root.
  absl::Status ProtectLinkedWorktrees(const std::string& common) {
    std::string records = Join(common, "worktrees");
    std::vector<DirEntry> entries;
    if (planning_.files.ListDir(records, &entries) != 0) return absl::OkStatus();
    std::sort(entries.begin(), entries.end(),
              [](const DirEntry& a, const DirEntry& b) { return a.name < b.name; });
    if (entries.size() > kMaxWorktrees) {
      entries.resize(kMaxWorktrees);
      is_partial_ = true;
    }
    for (const DirEntry& entry : entries) {
      std::string record = Join(records, entry.name);
      std::string file = ReadPointer(Join(record, "gitdir"), "", record);
      if (!file.empty()) AE_RETURN_IF_ERROR(Protect(file, true, false, NodeHint::kFile));
    }
    return absl::OkStatus();
  }

  // Level by level: a repository is more likely near the top, and a deep tree must not use up the
  // budget.
  absl::Status ProtectNested(const std::string& workspace) {
    std::vector<std::string> level = {workspace};
    int seen = 0;
    std::vector<std::string> repositories;
    while (!level.empty()) {
      std::vector<std::string> next;
      for (const std::string& directory : level) LookInto(directory, &seen, &repositories, &next);
      std::sort(next.begin(), next.end());
      level = std::move(next);
    }
    std::sort(repositories.begin(), repositories.end());
    for (const std::string& repository : repositories) {
      if (repository == workspace) continue;
      // What a nested repository says may come from the command itself: nonsense must not keep the
      // next run from starting.
      (void)ProtectRepository(repository, false);
    }
    if (is_partial_) {
      planning_.plan.notices.push_back(
          {"nested-repositories-partial",
           absl::StrCat("did not look everywhere in ", QuoteForMessage(workspace),
                        " for nested repositories to protect (at most ", kMaxNestedWalkEntries,
                        " entries)"),
           origin_});
    }
    return absl::OkStatus();
  }

  void LookInto(const std::string& directory, int* seen, std::vector<std::string>* repositories,
                std::vector<std::string>* next) {
    if (*seen >= kMaxNestedWalkEntries) {
      is_partial_ = true;
      return;
    }
    std::vector<DirEntry> entries;
    if (int error = planning_.files.ListDir(directory, &entries); error != 0) {
      // What is closed to the caller is closed to the command, unless it may open it up.
      NodeInfo info;
      bool is_closed = error == EACCES && planning_.files.Lstat(directory, &info) == 0 &&
                       info.uid != planning_.facts.uid && (info.mode & 0011) == 0;
      if (error != ENOENT && error != ENOTDIR && !is_closed) is_partial_ = true;
      return;
    }
    for (DirEntry& entry : entries) {
      if (++*seen > kMaxNestedWalkEntries) {
        is_partial_ = true;
        return;
      }
      if (entry.name == ".git") repositories->push_back(directory);
      if (entry.type != NodeType::kDirectory && entry.type != NodeType::kUnknown) continue;
      if (std::binary_search(std::begin(kLeftOut), std::end(kLeftOut), entry.name)) continue;
      std::string path = Join(directory, entry.name);
      if (entry.type == NodeType::kUnknown) {
        NodeInfo info;
        if (planning_.files.Lstat(path, &info) != 0 || info.type != NodeType::kDirectory) continue;
      }
      next->push_back(std::move(path));
    }
  }

  Planning& planning_;
  OriginId origin_ = 0;
  bool is_top_protected_ = true;
  bool is_partial_ = false;
};

}  // namespace

absl::Status AddGitProtection(Planning* planning) { return GitPass(planning).Run(); }

std::string GitWorkTree(absl::string_view directory, Planning* planning) {
  std::vector<absl::string_view> ancestors = AncestorsAndSelf(directory);
  for (auto it = ancestors.rbegin(); it != ancestors.rend(); ++it) {
    FoundPath git = planning->paths.Follow(Join(*it, ".git"));
    if (git.error == 0 && !IsPlaceholder(git, planning)) return std::string(*it);
  }
  return "";
}

}  // namespace agent_exec
