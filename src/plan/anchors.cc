#include "plan/anchors.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/diagnostic.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/status.h"
#include "plan/planning.h"

namespace agent_exec {
namespace {

constexpr size_t kMaxPasswdBytes = 1 << 20;

// Directories that are somebody's "home" in /etc/passwd only because the field must not be empty.
// Hiding one would hide the system. `below` counts what is inside too.
struct SystemDir {
  absl::string_view path;
  bool below;
};
constexpr SystemDir kSystemDirs[] = {
    {"/", false},         {"/bin", true},      {"/boot", true},     {"/dev", true},
    {"/etc", true},       {"/home", false},    {"/lib", true},      {"/lib64", true},
    {"/mnt", false},      {"/nix", true},      {"/opt", false},     {"/proc", true},
    {"/run", true},       {"/sbin", true},     {"/srv", false},     {"/sys", true},
    {"/tmp", false},      {"/usr", true},      {"/var", false},     {"/var/cache", false},
    {"/var/empty", true}, {"/var/lib", false}, {"/var/tmp", false}, {"/nonexistent", true},
};

bool IsSystemDir(absl::string_view path) {
  return std::any_of(std::begin(kSystemDirs), std::end(kSystemDirs), [&](const SystemDir& dir) {
    return path == dir.path || (dir.below && IsUnder(path, dir.path));
  });
}

class AnchorPass {
 public:
  AnchorPass(const Policy& policy, const HostFacts& facts, PathResolver* paths, FileView* files)
      : policy_(policy), facts_(facts), paths_(*paths), files_(*files) {}

  absl::StatusOr<Anchors> Run() {
    FindHome();
    AE_RETURN_IF_ERROR(FindWorkspace());
    AE_RETURN_IF_ERROR(FindCwd());
    ReadPasswd();
    FindCacheDir();
    if (policy_.mode.value != Mode::kDangerFullAccess) AE_RETURN_IF_ERROR(CheckWorkspace());
    return std::move(out_);
  }

 private:
  // "" unless the text names a directory that can be somebody's home.
  std::string UsableHome(absl::string_view text, bool keep_links) {
    if (!IsAbsolute(text) || HasNul(text)) return "";
    FoundPath found = paths_.Follow(text);
    if (!found.is_directory() || IsSystemDir(found.path)) return "";
    if (keep_links) KeepLinks(found);
    return std::move(found.path);
  }

  void KeepLinks(const FoundPath& found) {
    for (const PathLink& link : found.links) {
      if (std::find(out_.links.begin(), out_.links.end(), link) == out_.links.end())
        out_.links.push_back(link);
    }
  }

  void FindHome() { out_.home = UsableHome(CallerVariable(facts_, "HOME"), true); }

  // An absolute path from a setting, which may be relative to the current directory or in the home.
  absl::StatusOr<std::string> FromSetting(const Sourced<std::string>& setting,
                                          const char* flag) const {
    absl::string_view text = setting.value;
    if (HasNul(text) || text.empty()) {
      return ErrorAt(absl::StatusCode::kInvalidArgument, absl::StrCat(flag, " expects a directory"),
                     FormatOrigin(setting.origin));
    }
    if (text == "~" || absl::StartsWith(text, "~/")) {
      if (out_.home.empty()) {
        return ErrorAt(
            absl::StatusCode::kFailedPrecondition,
            absl::StrCat("cannot resolve ", QuoteForMessage(text), ": there is no home directory"),
            FormatOrigin(setting.origin), "set HOME, or write the path out");
      }
      return absl::StrCat(out_.home, text.substr(1));
    }
    if (IsAbsolute(text)) return std::string(text);
    if (facts_.cwd.empty()) return DeletedCwd(flag);
    return Join(facts_.cwd, text);
  }

  static absl::Status DeletedCwd(const char* flag) {
    return ErrorAt(
        absl::StatusCode::kFailedPrecondition,
        "cannot start in the current directory: it was deleted", "",
        absl::StrCat("change to another directory, or give ", flag, " an absolute path"));
  }

  absl::StatusOr<std::string> DirectoryFor(const std::optional<Sourced<std::string>>& setting,
                                           const char* flag, const char* act) {
    if (!setting.has_value()) {
      if (facts_.cwd.empty()) return DeletedCwd(flag);
      return facts_.cwd;
    }
    AE_ASSIGN_OR_RETURN(std::string path, FromSetting(*setting, flag));
    FoundPath found = paths_.Follow(path);
    int error = found.error != 0 ? found.error : found.is_directory() ? 0 : ENOTDIR;
    if (error != 0) return ErrnoStatus(error, act, setting->value, FormatOrigin(setting->origin));
    KeepLinks(found);
    return std::move(found.path);
  }

  absl::Status FindWorkspace() {
    AE_ASSIGN_OR_RETURN(out_.workspace,
                        DirectoryFor(policy_.workspace, "--workspace", "use the workspace"));
    return absl::OkStatus();
  }

  absl::Status FindCwd() {
    AE_ASSIGN_OR_RETURN(out_.cwd, DirectoryFor(policy_.chdir, "--chdir", "start in"));
    return absl::OkStatus();
  }

  // No workspace is so large that it holds the caller's own start-up files.
  absl::Status CheckWorkspace() const {
    const std::string& workspace = out_.workspace;
    const char* problem = nullptr;
    if (workspace == "/") {
      problem = "it is the whole system";
    } else if (workspace == out_.home || workspace == out_.passwd_home) {
      problem = "it is the home directory";
    } else if ((!out_.home.empty() && IsUnder(out_.home, workspace)) ||
               (!out_.passwd_home.empty() && IsUnder(out_.passwd_home, workspace))) {
      problem = "the home directory lies in it";
    }
    if (problem == nullptr) return absl::OkStatus();
    return ErrorAt(
        absl::StatusCode::kInvalidArgument,
        absl::StrCat("cannot use the workspace ", QuoteForMessage(workspace), ": ", problem),
        policy_.workspace.has_value() ? FormatOrigin(policy_.workspace->origin) : "",
        "go to a project directory, or name one with --workspace");
  }

  void ReadPasswd() {
    std::string text;
    NodeInfo info;
    // Without the file /home and /root are hidden all the same.
    if (files_.Read("/etc/passwd", kMaxPasswdBytes, &text, &info) != 0) return;
    for (absl::string_view line : absl::StrSplit(text, '\n')) ReadPasswdLine(line);
    std::sort(out_.other_homes.begin(), out_.other_homes.end());
    out_.other_homes.erase(std::unique(out_.other_homes.begin(), out_.other_homes.end()),
                           out_.other_homes.end());
  }

  // name:password:uid:gid:comment:home:shell
  void ReadPasswdLine(absl::string_view line) {
    std::vector<absl::string_view> fields = absl::StrSplit(line, ':');
    uint32_t uid = 0;
    if (fields.size() < 6 || !absl::SimpleAtoi(fields[2], &uid)) return;
    absl::string_view home = fields[5];
    if (uid == facts_.uid) {
      if (out_.passwd_home.empty()) out_.passwd_home = UsableHome(home, false);
      return;
    }
    constexpr uint32_t kFirstPerson =
        1000;  // below are services, whose homes hold what programs need
    constexpr uint32_t kNobody = 65534;
    if ((uid < kFirstPerson && uid != 0) || uid == kNobody) return;
    // Hidden as a whole; a look at each would cost a call for every person.
    if (!IsAbsolute(home) || IsUnder(home, "/home") || IsUnder(home, "/root")) return;
    std::string canonical = UsableHome(home, false);
    if (canonical.empty() || IsUnder(out_.workspace, canonical) || canonical == out_.home) return;
    out_.other_homes.push_back(std::move(canonical));
  }

  void FindCacheDir() {
    if (policy_.tmp.value != TmpMode::kWorkspace && policy_.home.value != HomeMode::kWorkspace)
      return;
    absl::string_view configured = CallerVariable(facts_, "XDG_CACHE_HOME");
    if (IsAbsolute(configured)) {
      out_.cache_dir = paths_.Follow(configured).path;
    } else if (!out_.home.empty()) {
      out_.cache_dir = paths_.Follow(Join(out_.home, ".cache")).path;
    }
  }

  const Policy& policy_;
  const HostFacts& facts_;
  PathResolver& paths_;
  FileView& files_;
  Anchors out_;
};

}  // namespace

absl::StatusOr<Anchors> FindAnchors(const Policy& policy, const HostFacts& facts,
                                    PathResolver* paths, FileView* files) {
  return AnchorPass(policy, facts, paths, files).Run();
}

absl::StatusOr<Anchors> ResolveAnchors(const Policy& policy, const HostFacts& facts,
                                       FileView& files) {
  PathResolver paths(&files);
  return FindAnchors(policy, facts, &paths, &files);
}

}  // namespace agent_exec
