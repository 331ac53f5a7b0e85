#include "plan/expand.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/status.h"

namespace agent_exec {
namespace {

bool IsDeny(Want want) { return want == Want::kDenyRead || want == Want::kDenyWrite; }

class Walker {
 public:
  Walker(const std::vector<Pattern>& patterns, uint32_t uid, PathResolver* paths, FileView* files)
      : patterns_(patterns), uid_(uid), paths_(*paths), files_(*files) {}

  absl::StatusOr<Expansion> Run() {
    std::vector<bool> done(patterns_.size());
    for (size_t i = 0; i < patterns_.size(); ++i) {
      if (done[i] || patterns_[i].takes_back) continue;
      std::vector<int> together;
      for (size_t j = i; j < patterns_.size(); ++j) {
        if (patterns_[j].takes_back ||
            patterns_[j].glob.walk_root() != patterns_[i].glob.walk_root())
          continue;
        done[j] = true;
        together.push_back(static_cast<int>(j));
      }
      AE_RETURN_IF_ERROR(WalkRoot(patterns_[i].glob.walk_root(), std::move(together)));
    }
    std::sort(out_.matches.begin(), out_.matches.end(), [&](const Match& a, const Match& b) {
      if (a.path != b.path) return a.path < b.path;
      return a.pattern < b.pattern;
    });
    std::sort(out_.other_filesystems.begin(), out_.other_filesystems.end());
    return std::move(out_);
  }

 private:
  // A directory still to be read. `named` is what the patterns speak of, `real` where that is; they
  // differ when the walk root was reached through a symlink.
  struct Directory {
    std::string real;
    std::string named;
    std::vector<int> active;  // patterns that can match below
  };

  absl::Status WalkRoot(const std::string& named, std::vector<int> active) {
    FoundPath found = paths_.Follow(named);
    if (found.missing() || (found.error == 0 && !found.is_directory())) return absl::OkStatus();
    if (found.error != 0) {
      const Pattern& first = patterns_[active.front()];
      return ErrnoStatus(found.error, "look for matches in", named, first.place);
    }
    device_ = found.info.device;
    out_.roots.push_back(found);
    // Only a pattern of nothing but "**" matches the directory that it stands in.
    Consider(found.path, named, found.info, &active);
    pending_.clear();
    pending_.push_back({found.path, named, std::move(active)});
    bool is_root = true;
    while (!pending_.empty()) {
      Directory directory = std::move(pending_.back());
      pending_.pop_back();
      AE_RETURN_IF_ERROR(WalkDirectory(directory, is_root));
      is_root = false;
    }
    return absl::OkStatus();
  }

  absl::Status WalkDirectory(const Directory& directory, bool is_root) {
    NodeInfo self;
    if (!is_root) {
      int error = files_.Lstat(directory.real, &self);
      if (error == 0 && self.type != NodeType::kDirectory)
        return absl::OkStatus();  // replaced meanwhile
      if (error == 0 && self.device != device_) {
        if (AnyDeny(directory.active)) out_.other_filesystems.push_back(directory.real);
        return absl::OkStatus();
      }
      if (error != 0) return Unreadable(directory, error);
    }
    std::vector<DirEntry> entries;
    if (int error = files_.ListDir(directory.real, &entries); error != 0)
      return Unreadable(directory, error);
    for (const DirEntry& entry : entries) {
      if (++seen_ > kMaxWalkEntries) {
        return OverBudget(patterns_[directory.active.front()], "looks at more than ",
                          kMaxWalkEntries, " entries");
      }
      AE_RETURN_IF_ERROR(VisitEntry(directory, entry));
    }
    return absl::OkStatus();
  }

  absl::Status VisitEntry(const Directory& directory, const DirEntry& entry) {
    std::string named = Join(directory.named, entry.name);
    bool is_match = false;
    bool is_deeper = false;
    for (int i : directory.active) {
      is_match = is_match || patterns_[i].glob.Matches(named);
      is_deeper = is_deeper || patterns_[i].glob.CanMatchBelow(named);
    }
    bool may_be_directory = entry.type == NodeType::kDirectory || entry.type == NodeType::kUnknown;
    if (!is_match && !(is_deeper && may_be_directory)) return absl::OkStatus();
    std::string real = directory.real == directory.named ? named : Join(directory.real, entry.name);
    NodeInfo info;
    info.type = entry.type;
    if (is_match || entry.type == NodeType::kUnknown) {
      int error = files_.Lstat(real, &info);
      if (error == ENOENT || error == ENOTDIR) return absl::OkStatus();
      if (error != 0) return Unreadable(directory, error);
    }
    std::vector<int> active;
    for (int i : directory.active) {
      if (patterns_[i].glob.CanMatchBelow(named)) active.push_back(i);
    }
    if (is_match) {
      Consider(real, named, info, &active);
      if (static_cast<int64_t>(out_.matches.size()) > kMaxMatches) {
        return OverBudget(patterns_[out_.matches.back().pattern], "matches more than ", kMaxMatches,
                          " paths");
      }
    }
    if (info.type == NodeType::kDirectory && !active.empty()) {
      pending_.push_back({std::move(real), std::move(named), std::move(active)});
    }
    return absl::OkStatus();
  }

  // The pattern that a path belongs to after every entry of the list was read in order, or -1.
  int Verdict(Want want, absl::string_view named) const {
    int verdict = -1;
    for (size_t i = 0; i < patterns_.size(); ++i) {
      const Pattern& pattern = patterns_[i];
      if (pattern.want != want || !pattern.glob.Matches(named)) continue;
      if (pattern.takes_back) {
        verdict = -1;
      } else if (verdict < 0) {
        verdict = static_cast<int>(i);
      }
    }
    return verdict;
  }

  // Records what matches here, and stops looking below a directory for what the match covers.
  void Consider(const std::string& real, const std::string& named, const NodeInfo& info,
                std::vector<int>* active) {
    bool covers_denied_writes = false;
    for (Want want : {Want::kRead, Want::kWrite, Want::kDenyRead, Want::kDenyWrite}) {
      int verdict = Verdict(want, named);
      if (verdict < 0) continue;
      // The same place can be reached by two walks only when one root is a symlink into the other;
      // settling drops doubles.
      out_.matches.push_back({real, verdict, static_cast<int>(out_.roots.size()) - 1, info});
      covers_denied_writes = covers_denied_writes || want == Want::kDenyRead;
      if (info.type != NodeType::kDirectory) continue;
      active->erase(
          std::remove_if(active->begin(), active->end(),
                         [&](int i) {
                           return patterns_[i].want == want ||
                                  (covers_denied_writes && patterns_[i].want == Want::kDenyWrite);
                         }),
          active->end());
    }
  }

  bool AnyDeny(const std::vector<int>& active) const {
    return std::any_of(active.begin(), active.end(),
                       [&](int i) { return IsDeny(patterns_[i].want); });
  }

  // A directory that vanished is no loss. One that cannot be read is, if the command could get at
  // what is in it: by name, where it may be searched, or after a chmod, where it is the caller's
  // own.
  absl::Status Unreadable(const Directory& directory, int error) {
    if (error == ENOENT || error == ENOTDIR || error == ELOOP) return absl::OkStatus();
    int deny = -1;
    for (int i : directory.active) {
      if (deny < 0 && IsDeny(patterns_[i].want)) deny = i;
    }
    if (deny < 0) return absl::OkStatus();
    NodeInfo info;
    if (error == EACCES && uid_ != 0 && files_.Lstat(directory.real, &info) == 0 &&
        info.uid != uid_ && (info.mode & 0011) == 0) {
      return absl::OkStatus();
    }
    const Pattern& pattern = patterns_[deny];
    return ErrorAt(absl::StatusCode::kFailedPrecondition,
                   absl::StrCat("cannot look for ", QuoteForMessage(pattern.text), " in ",
                                QuoteForMessage(directory.real), ": ", ErrnoText(error)),
                   pattern.place, "deny the directory itself, or make it readable");
  }

  static absl::Status OverBudget(const Pattern& pattern, absl::string_view what, int64_t limit,
                                 absl::string_view unit) {
    return ErrorAt(absl::StatusCode::kResourceExhausted,
                   absl::StrCat("cannot expand ", QuoteForMessage(pattern.text), ": it ", what,
                                limit, unit, " below ", QuoteForMessage(pattern.glob.walk_root())),
                   pattern.place, "name the directories that matter");
  }

  const std::vector<Pattern>& patterns_;
  const uint32_t uid_;
  PathResolver& paths_;
  FileView& files_;
  Expansion out_;
  std::vector<Directory> pending_;
  uint64_t device_ = 0;
  int64_t seen_ = 0;
};

}  // namespace

absl::StatusOr<Expansion> ExpandPatterns(const std::vector<Pattern>& patterns, uint32_t uid,
                                         PathResolver* paths, FileView* files) {
  return Walker(patterns, uid, paths, files).Run();
}

}  // namespace agent_exec
