#include "plan/planning.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "base/diagnostic.h"
#include "base/path.h"
#include "host/placeholder_mark.h"

namespace agent_exec {
namespace {

// Names without an extension, or with one that says little, that tools read as files. Sorted.
constexpr absl::string_view kFileNames[] = {
    ".babelrc",       ".bash_profile",  ".bashrc",       ".clang-format", ".clang-tidy",
    ".dockerignore",  ".editorconfig",  ".env",          ".envrc",        ".eslintrc",
    ".gitattributes", ".gitconfig",     ".gitignore",    ".gitmodules",   ".hgrc",
    ".inputrc",       ".mailmap",       ".netrc",        ".node-version", ".npmrc",
    ".nvmrc",         ".prettierrc",    ".profile",      ".pypirc",       ".python-version",
    ".ruby-version",  ".tool-versions", ".yarnrc",       ".zprofile",     ".zshenv",
    ".zshrc",         "Brewfile",       "Containerfile", "Dockerfile",    "GNUmakefile",
    "Gemfile",        "Jenkinsfile",    "Justfile",      "Makefile",      "Pipfile",
    "Procfile",       "Rakefile",       "Vagrantfile",   "justfile",      "makefile",
};

// Sorted.
constexpr absl::string_view kFileExtensions[] = {
    "bash", "cfg",  "cjs",   "conf",  "crt", "cts",        "fish", "gradle", "ini",
    "js",   "json", "json5", "jsonc", "jsx", "key",        "kts",  "lock",   "lua",
    "md",   "mjs",  "mts",   "pem",   "pl",  "properties", "py",   "rb",     "sh",
    "toml", "ts",   "tsx",   "txt",   "xml", "yaml",       "yml",  "zsh",
};

template <size_t kSize>
bool Holds(const absl::string_view (&sorted)[kSize], absl::string_view word) {
  return std::binary_search(std::begin(sorted), std::end(sorted), word);
}

}  // namespace

OriginTable::OriginTable(Plan* plan) : plan_(*plan), ids_(Less{plan}) {
  plan_.origins.emplace_back();
  ids_.insert(OriginId{0});
}

OriginId OriginTable::Add(const Origin& origin) {
  if (plan_.origins.size() > std::numeric_limits<OriginId>::max()) {
    full_ = true;
    return 0;
  }
  // Neighbours mostly share their origin.
  if (plan_.origins[last_] == origin) return last_;
  auto known = ids_.find(origin);
  if (known == ids_.end()) {
    plan_.origins.push_back(origin);
    known = ids_.insert(static_cast<OriginId>(plan_.origins.size() - 1)).first;
  }
  last_ = *known;
  return last_;
}

OriginId OriginTable::Implied(absl::string_view what) {
  return Add({Origin::Kind::kImplied, std::string(what), 0, 0});
}

const std::string* Planning::ReadConfig(const std::string& path) {
  constexpr size_t kMaxConfigBytes = 1 << 20;
  std::unique_ptr<ConfigFile>& config = configs_[path];
  if (config == nullptr) {
    config = std::make_unique<ConfigFile>();
    NodeInfo info;
    config->good = files.Read(path, kMaxConfigBytes, &config->text, &info) == 0;
  }
  return config->good ? &config->text : nullptr;
}

absl::string_view CallerVariable(const HostFacts& facts, absl::string_view name) {
  for (const std::string& pair : facts.env) {
    absl::string_view text = pair;
    if (text.size() > name.size() && text[name.size()] == '=' && absl::StartsWith(text, name)) {
      return text.substr(name.size() + 1);
    }
  }
  return "";
}

Node NodeOf(const NodeInfo& info) {
  return info.type == NodeType::kDirectory ? Node::kDirectory : Node::kFile;
}

bool LedThroughWritable(const FoundPath& found, const Planning& planning) {
  for (const std::string& root : planning.writable_roots) {
    for (const PathLink& link : found.links) {
      if (IsUnder(link.place, root)) return true;
    }
  }
  return false;
}

void AddLinks(const std::vector<PathLink>& links, Purpose purpose, OriginId origin,
              Planning* planning) {
  for (const PathLink& link : links) {
    Entry entry;
    entry.rank = Rank::kLink;
    entry.op.kind = MountKind::kSymlink;
    entry.op.source = link.text;
    entry.op.target = link.place;
    entry.op.node = Node::kFile;
    // Why the link is shown belongs to the rule that it serves; by itself it is none.
    entry.op.purpose = purpose == Purpose::kRule ? Purpose::kSystem : purpose;
    entry.op.origin = origin;
    planning->entries.push_back(std::move(entry));
  }
}

void AddBind(const FoundPath& found, Rank rank, Access access, Purpose purpose, OriginId origin,
             Planning* planning) {
  AddLinks(found.links, purpose, origin, planning);
  Entry entry;
  entry.rank = rank;
  entry.op.kind = MountKind::kBind;
  entry.op.source = found.path;
  entry.op.target = found.path;
  entry.op.access = access;
  entry.op.node = NodeOf(found.info);
  entry.op.purpose = purpose;
  entry.op.origin = origin;
  planning->entries.push_back(std::move(entry));
}

void AddTmpfs(absl::string_view target, Rank rank, Access access, uint32_t mode, Purpose purpose,
              OriginId origin, Planning* planning) {
  Entry entry;
  entry.rank = rank;
  entry.op.kind = MountKind::kTmpfs;
  entry.op.target = std::string(target);
  entry.op.access = access;
  entry.op.mode = mode;
  const std::optional<Sourced<int64_t>>& size = planning->policy.limits.tmp_size_bytes;
  if (access == Access::kWrite && size.has_value()) entry.op.size_bytes = size->value;
  entry.op.purpose = purpose;
  entry.op.origin = origin;
  planning->entries.push_back(std::move(entry));
}

void AddMask(absl::string_view target, Node node, Rank rank, Purpose purpose, OriginId origin,
             Planning* planning) {
  Entry entry;
  entry.rank = rank;
  entry.op.kind = MountKind::kMask;
  entry.op.target = std::string(target);
  entry.op.access = Access::kNone;
  entry.op.node = node;
  entry.op.mode = 0;
  entry.op.purpose = purpose;
  entry.op.origin = origin;
  planning->entries.push_back(std::move(entry));
}

absl::Status UnreachableStatus(const FoundPath& found, absl::string_view act,
                               absl::string_view path, OriginId origin, Planning* planning) {
  std::string directory(Dirname(found.stop));
  NodeInfo info;
  if (found.error == EACCES && planning->files.Lstat(directory, &info) == 0 &&
      info.uid != planning->facts.uid && planning->facts.uid != 0) {
    return absl::OkStatus();
  }
  return ErrnoStatus(found.error, act, path, PlaceOf(origin, *planning));
}

bool IsPlaceholder(const FoundPath& found, Planning* planning) {
  if (found.error != 0) return false;
  if (!LooksLikePlaceholder(found.info) && !MayBecomePlaceholder(found.info)) return false;
  if (found.info.type == NodeType::kFile) return true;
  // The command can give any directory the mark; one with something in it is never ours.
  std::vector<DirEntry> entries;
  int error = planning->files.ListDir(found.path, &entries);
  // Gone since it was looked at: that run has just ended.
  return error == ENOENT || (error == 0 && entries.empty());
}

absl::Status AddGuard(const Guard& guard, Planning* planning) {
  FoundPath found = planning->paths.Follow(guard.path);
  if (found.error != 0 && !found.missing() && found.error != ELOOP) {
    return UnreachableStatus(found, "protect", guard.path, guard.origin, planning);
  }
  // A link whose target is missing is a name that is there: what it leads to must not come into
  // being.
  const bool dangles =
      found.missing() && !found.links.empty() && found.links.front().place == guard.path;
  const bool blocks = guard.blocks || dangles;
  for (PathLink& link : found.links) {
    planning->links.push_back(
        {{std::move(link.place), std::move(link.text), guard.origin}, guard.pinned});
    // Links in a circle lead nowhere; as long as the first stays, so do all.
    if (found.error == ELOOP) return absl::OkStatus();
  }
  Entry entry;
  entry.rank = Rank::kDenyWrite;
  entry.op.kind = MountKind::kBind;
  entry.op.access = Access::kRead;
  entry.op.purpose = guard.purpose;
  entry.op.origin = guard.origin;
  entry.pinned = guard.pinned;
  if (found.error == 0) {
    entry.op.node = NodeOf(found.info);
    // Another run's placeholder goes when that run ends, and a mount on it would go along: this run
    // holds the name itself, or, where the rule speaks of what is there, it has nothing to hold.
    // There the mark must be whole, and the thing a directory, in which nothing can be lost: what
    // merely looks like one is somebody's.
    if (blocks && IsPlaceholder(found, planning)) {
      entry.missing = true;
      entry.op.purpose = Purpose::kPlaceholder;
    } else if (!blocks && found.is_directory() && LooksLikePlaceholder(found.info) &&
               IsPlaceholder(found, planning)) {
      return absl::OkStatus();
    }
  } else if (!blocks) {
    return absl::OkStatus();
  } else if (found.error == ENOTDIR) {
    // Nothing can be made below a file, as long as the file stays one: a mount of its own keeps it
    // in place, writable.
    entry.rank = Rank::kPin;
    entry.op.access = Access::kWrite;
    entry.op.node = Node::kFile;
    entry.op.purpose = Purpose::kPin;
    found.path = found.stop;
  } else {
    entry.missing = true;
    entry.op.purpose = Purpose::kPlaceholder;
    bool is_file = guard.kind == NodeHint::kFile ||
                   (guard.kind == NodeHint::kAuto && IsFileName(Basename(found.path)));
    entry.op.node = is_file ? Node::kFile : Node::kDirectory;
  }
  entry.op.source = found.path;
  entry.op.target = std::move(found.path);
  planning->entries.push_back(std::move(entry));
  return absl::OkStatus();
}

bool IsFileName(absl::string_view basename) {
  if (Holds(kFileNames, basename) || absl::StartsWith(basename, ".env.")) return true;
  size_t dot = basename.rfind('.');
  // ".json" alone is a name, not an extension.
  if (dot == absl::string_view::npos || dot == 0) return false;
  return Holds(kFileExtensions, basename.substr(dot + 1));
}

std::string PlaceOf(OriginId origin, const Planning& planning) {
  return origin == 0 ? "" : FormatOrigin(planning.plan.origins[origin]);
}

}  // namespace agent_exec
