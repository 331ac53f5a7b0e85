#include "plan/command.h"

#include <cerrno>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/diagnostic.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/status.h"
#include "plan/environment.h"

namespace agent_exec {
namespace {

// What execvp of both glibc and musl searches when PATH is not set, but for the current directory.
constexpr absl::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

constexpr absl::StatusCode kCommandNotFound = absl::StatusCode::kUnavailable;
constexpr absl::StatusCode kCommandNotExecutable = absl::StatusCode::kUnimplemented;

// What stands at a path, for execution.
enum class Candidate { kMissing, kHidden, kDirectory, kNotExecutable, kGood };

class CommandPass {
 public:
  CommandPass(const AccessMap* map, Planning* planning) : map_(map), planning_(*planning) {}

  absl::Status Run(const std::vector<std::string>& argv) {
    Command& command = planning_.plan.command;
    command.argv = argv;
    command.cwd = planning_.anchors.cwd;
    AE_RETURN_IF_ERROR(CheckCwd());
    const std::string& name = argv.front();
    if (name.empty() || HasNul(name)) return NotFound(name, "No such file or directory", "");
    if (absl::StrContains(name, '/')) return UsePath(name);
    return Search(name);
  }

 private:
  absl::Status CheckCwd() {
    if (map_ == nullptr || IsVisibleDirectory(planning_.anchors.cwd)) return absl::OkStatus();
    const std::optional<Sourced<std::string>>& chdir = planning_.policy.chdir;
    return ErrorAt(absl::StatusCode::kFailedPrecondition,
                   absl::StrCat("cannot start in ", QuoteForMessage(planning_.anchors.cwd),
                                ": the policy hides it"),
                   chdir.has_value() ? FormatOrigin(chdir->origin) : "",
                   "--chdir names another directory, --read shows this one");
  }

  // Is a directory of the host there inside, or one that was made for the command to write to?
  bool IsVisibleDirectory(const std::string& path) {
    Decision decision = map_->Lookup(path);
    if (decision.access == Access::kNone || decision.op < 0) return false;
    const MountOp& op = planning_.plan.mounts[decision.op];
    switch (decision.backing) {
      case Backing::kHost:
        return op.target == path || planning_.paths.Follow(decision.backing_path).is_directory();
      case Backing::kTmpfs:
        return op.target == path && op.access == Access::kWrite;
      case Backing::kKernel:
        return op.target == path;
      case Backing::kMasked:
      case Backing::kData:
        return false;
    }
    return false;
  }

  // Are the links on the way there inside?
  bool ShowsLinks(const FoundPath& found) const {
    for (const PathLink& link : found.links) {
      Decision decision = map_->Lookup(link.place);
      bool is_shown = decision.backing == Backing::kHost && decision.backing_path == link.place;
      bool is_made = decision.op >= 0 &&
                     planning_.plan.mounts[decision.op].kind == MountKind::kSymlink &&
                     planning_.plan.mounts[decision.op].target == link.place;
      if (!is_shown && !is_made) return false;
    }
    return true;
  }

  // In a lasting directory other files are at the host's paths.
  bool IsGoodInLasting(const std::string& path) {
    if (absl::StrContains(absl::StrCat(path, "/"), "/../")) return false;
    std::string clean = Clean(path);
    Decision decision = map_->Lookup(clean);
    if (decision.backing != Backing::kHost || decision.backing_path == clean) return false;
    FoundPath found = planning_.paths.Follow(decision.backing_path);
    return found.error == 0 && found.info.type == NodeType::kFile && IsExecutable(found.info);
  }

  Candidate Look(const std::string& path, std::string* canonical) {
    if (map_ != nullptr && !planning_.plan.lasting_dirs.empty() && IsGoodInLasting(path)) {
      *canonical = Clean(path);
      return Candidate::kGood;
    }
    FoundPath found = planning_.paths.Follow(path);
    if (found.error != 0)
      return found.error == EACCES ? Candidate::kNotExecutable : Candidate::kMissing;
    *canonical = found.path;
    if (map_ != nullptr) {
      Decision decision = map_->Lookup(found.path);
      bool is_shown = decision.backing == Backing::kHost && decision.backing_path == found.path &&
                      decision.access != Access::kNone && ShowsLinks(found);
      if (!is_shown) return Candidate::kHidden;
    }
    if (found.info.type == NodeType::kDirectory) return Candidate::kDirectory;
    if (found.info.type != NodeType::kFile || !IsExecutable(found.info))
      return Candidate::kNotExecutable;
    return Candidate::kGood;
  }

  // The groups of the caller beyond the first are not known here. A file that only they may execute
  // passes, and the kernel has the last word.
  bool IsExecutable(const NodeInfo& info) const {
    if (planning_.facts.uid == 0) return (info.mode & 0111) != 0;
    return info.uid == planning_.facts.uid ? (info.mode & 0100) != 0 : (info.mode & 0011) != 0;
  }

  absl::Status UsePath(const std::string& name) {
    std::string path = Join(planning_.anchors.cwd, name);
    std::string canonical;
    switch (Look(path, &canonical)) {
      case Candidate::kGood:
        return Take(path, canonical);
      case Candidate::kMissing:
        return NotFound(name, "No such file or directory", "");
      case Candidate::kHidden:
        return NotFound(name, "the policy hides it",
                        absl::StrCat("--read ", ShellQuote(canonical), " shows it"));
      case Candidate::kDirectory:
        return NotExecutable(name, "Is a directory");
      case Candidate::kNotExecutable:
        return NotExecutable(name, "Permission denied");
    }
    return absl::OkStatus();
  }

  absl::Status Search(const std::string& name) {
    bool is_set = false;
    for (const EnvVar& variable : planning_.plan.env) is_set = is_set || variable.name == "PATH";
    absl::string_view list = is_set ? PlannedVariable(planning_.plan, "PATH") : kDefaultPath;
    std::string not_executable;
    std::string hidden;
    for (absl::string_view directory : absl::StrSplit(list, ':')) {
      // An empty entry is the current directory.
      std::string path =
          Join(Join(planning_.anchors.cwd, directory.empty() ? "." : directory), name);
      std::string canonical;
      switch (Look(path, &canonical)) {
        case Candidate::kGood:
          return Take(path, canonical);
        case Candidate::kNotExecutable:
        case Candidate::kDirectory:
          if (not_executable.empty()) not_executable = path;
          break;
        case Candidate::kHidden:
          if (hidden.empty()) hidden = canonical;
          break;
        case Candidate::kMissing:
          break;
      }
    }
    if (!not_executable.empty()) return NotExecutable(not_executable, "Permission denied");
    if (!hidden.empty()) {
      return NotFound(
          name, absl::StrCat("the policy hides ", QuoteForMessage(hidden)),
          absl::StrCat("--read ", ShellQuote(std::string(Dirname(hidden))), " shows it"));
    }
    return NotFound(name, "it is in no directory of PATH", "");
  }

  // The name by which it was found, since programs look at it (a venv's python, busybox); without
  // "..", which the text alone cannot resolve.
  absl::Status Take(const std::string& path, const std::string& canonical) {
    bool has_parent = absl::StrContains(absl::StrCat(path, "/"), "/../");
    planning_.plan.command.path = has_parent ? canonical : Clean(path);
    return absl::OkStatus();
  }

  static absl::Status NotFound(const std::string& name, absl::string_view cause,
                               const std::string& hint) {
    return ErrorAt(kCommandNotFound,
                   absl::StrCat("cannot find the command ", QuoteForMessage(name), ": ", cause), "",
                   hint);
  }
  static absl::Status NotExecutable(const std::string& name, absl::string_view cause) {
    return ErrorAt(kCommandNotExecutable,
                   absl::StrCat("cannot execute ", QuoteForMessage(name), ": ", cause), "");
  }

  const AccessMap* map_;
  Planning& planning_;
};

}  // namespace

absl::Status PlanCommand(const std::vector<std::string>& argv, const AccessMap* map,
                         Planning* planning) {
  return CommandPass(map, planning).Run(argv);
}

int CommandExitStatus(const absl::Status& status) {
  if (status.code() == kCommandNotFound) return 127;
  if (status.code() == kCommandNotExecutable) return 126;
  return 125;
}

}  // namespace agent_exec
