#include "app/layers.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "app/paths.h"
#include "app/trust.h"
#include "base/diagnostic.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/status.h"
#include "host/placeholder_mark.h"
#include "policy/merge.h"
#include "policy/toml_source.h"

namespace agent_exec {
namespace {

constexpr absl::string_view kSystemPolicy = "/etc/agent-exec/policy.toml";
constexpr absl::string_view kUserPolicy = "agent-exec/policy.toml";
constexpr absl::string_view kWorkspacePolicy = ".agent-exec.toml";

// $XDG_CONFIG_HOME/agent-exec/policy.toml; "" without a usable directory.
//   Source: XDG Base Directory Specification: a relative value is ignored.
std::string UserPolicyPath(const HostFacts& facts) {
  absl::string_view config = EnvValue(facts, "XDG_CONFIG_HOME");
  if (IsAbsolute(config)) return Join(config, kUserPolicy);
  absl::string_view home = EnvValue(facts, "HOME");
  if (!IsAbsolute(home) || home == "/") return "";
  return Join(Join(home, ".config"), kUserPolicy);
}

// What the flags, else what the other layers say about the workspace.
//   Errors: as MergeLayers.
absl::StatusOr<Sourced<std::string>> WorkspaceSetting(const std::vector<Layer>& layers) {
  const auto sets_it = [](const Assignment& assignment) {
    return absl::string_view(assignment.setting->key) == "workspace";
  };
  const auto& flags = layers.back().assignments;
  auto last = std::find_if(flags.rbegin(), flags.rend(), sets_it);
  if (last != flags.rend()) return Sourced<std::string>{last->value.text, last->origin};
  for (const Layer& layer : layers) {
    bool found = std::any_of(layer.assignments.begin(), layer.assignments.end(), sets_it);
    for (const NamedProfile& profile : layer.profiles) {
      found = found || std::any_of(profile.assignments.begin(), profile.assignments.end(), sets_it);
    }
    if (!found) continue;
    // Which profiles count is not for this function to say.
    AE_ASSIGN_OR_RETURN(Policy policy, MergeLayers(layers));
    if (policy.workspace.has_value()) return *policy.workspace;
    break;
  }
  return Sourced<std::string>{};
}

class Loader {
 public:
  Loader(const Invocation& invocation, const HostFacts& facts, FileView& files)
      : invocation_(invocation), facts_(facts), files_(files) {}

  absl::StatusOr<LoadedLayers> Load() {
    AE_RETURN_IF_ERROR(LoadIfPresent(LayerKind::kSystem, std::string(kSystemPolicy)));
    if (std::string path = UserPolicyPath(facts_); !path.empty()) {
      AE_RETURN_IF_ERROR(LoadIfPresent(LayerKind::kUser, path));
    }
    const size_t before_given = loaded_.layers.size();
    for (const Sourced<std::string>& file : invocation_.policy_files) {
      AE_RETURN_IF_ERROR(LoadGiven(file));
    }
    loaded_.layers.push_back(invocation_.flags);

    // Last, since all others decide where it lies; it has no say in that itself.
    AE_ASSIGN_OR_RETURN(loaded_.workspace, Workspace());
    if (!loaded_.workspace.empty()) {
      AE_RETURN_IF_ERROR(
          LoadIfPresent(LayerKind::kWorkspace, Join(loaded_.workspace, kWorkspacePolicy)));
      if (loaded_.layers.back().kind == LayerKind::kWorkspace) {
        std::rotate(loaded_.layers.begin() + before_given, loaded_.layers.end() - 1,
                    loaded_.layers.end());
      }
    }
    std::sort(loaded_.looked_at.begin(), loaded_.looked_at.end());
    loaded_.looked_at.erase(std::unique(loaded_.looked_at.begin(), loaded_.looked_at.end()),
                            loaded_.looked_at.end());
    return std::move(loaded_);
  }

 private:
  // The canonical workspace; "" when the current directory, which it would be, is gone: planning
  // refuses that, but a policy can be shown without it.
  absl::StatusOr<std::string> Workspace() {
    AE_ASSIGN_OR_RETURN(Sourced<std::string> setting, WorkspaceSetting(loaded_.layers));
    if (setting.value.empty()) return facts_.cwd;
    AE_ASSIGN_OR_RETURN(std::string path, FromUser(setting.value, facts_, setting.origin));
    std::string real_path;
    NodeInfo info;
    if (int error = files_.Resolve(path, &real_path, &info); error != 0) {
      return ErrnoStatus(error, "use workspace", setting.value, FormatOrigin(setting.origin));
    }
    return real_path;
  }

  absl::Status LoadGiven(const Sourced<std::string>& file) {
    AE_ASSIGN_OR_RETURN(std::string path, FromUser(file.value, facts_, file.origin));
    int error = 0;
    AE_RETURN_IF_ERROR(Load(LayerKind::kGiven, path, file.value, &error));
    if (error == 0) return absl::OkStatus();
    return ErrnoStatus(error, "read policy file", file.value, FormatOrigin(file.origin));
  }

  absl::Status LoadIfPresent(LayerKind kind, const std::string& path) {
    int error = 0;
    AE_RETURN_IF_ERROR(Load(kind, path, path, &error));
    if (error == 0 || error == ENOENT || error == ENOTDIR) return absl::OkStatus();
    // A rule that cannot be read would be a rule that is not enforced.
    return ErrnoStatus(error, "read policy file", path);
  }

  // Reads one file, once, and parses what was read. `*error` is the errno of a file that cannot be
  // opened for a reason that has nothing to do with trust.
  absl::Status Load(LayerKind kind, const std::string& path, const std::string& name, int* error) {
    const std::string directory(Dirname(path));
    loaded_.looked_at.push_back(path);
    std::string bytes;
    NodeInfo info;
    *error = files_.ReadBeneath(directory, Basename(path), kMaxPolicyBytes, &bytes, &info);
    const std::string subject = absl::StrCat("policy file ", QuoteForMessage(name));
    switch (*error) {
      case 0:
        break;
      case EXDEV:
      case ELOOP:
        return ErrorAt(absl::StatusCode::kPermissionDenied,
                       absl::StrCat(subject, " is a symlink that leaves its directory"), "",
                       "put a copy in its place, or name the file itself by --policy");
      case EINVAL:
      case EISDIR:
        // Another run holds the name so that its command cannot make a policy there, or has just
        // let go of it.
        if (int now = files_.Lstat(path, &info);
            now == ENOENT ||
            (now == 0 && (LooksLikePlaceholder(info) || MayBecomePlaceholder(info)))) {
          *error = ENOENT;
          return absl::OkStatus();
        }
        return ErrorAt(absl::StatusCode::kPermissionDenied,
                       absl::StrCat(subject, " is not a regular file"), "");
      case EFBIG:
        return ErrorAt(absl::StatusCode::kResourceExhausted,
                       absl::StrCat(subject, " is larger than ", kMaxPolicyBytes, " bytes"), "");
      default:
        return absl::OkStatus();
    }
    AE_RETURN_IF_ERROR(CheckTrust(info, name, facts_.uid, kind == LayerKind::kWorkspace, files_));
    AE_ASSIGN_OR_RETURN(Layer layer, ParseToml(bytes, name, kind));
    loaded_.layers.push_back(std::move(layer));
    return absl::OkStatus();
  }

  const Invocation& invocation_;
  const HostFacts& facts_;
  FileView& files_;
  LoadedLayers loaded_;
};

}  // namespace

absl::StatusOr<LoadedLayers> LoadLayers(const Invocation& invocation, const HostFacts& facts,
                                        FileView& files) {
  return Loader(invocation, facts, files).Load();
}

}  // namespace agent_exec
