#include "policy/merge.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "base/quote.h"
#include "base/status.h"
#include "base/text.h"
#include "policy/builtin.h"
#include "policy/tighten.h"

namespace agent_exec {
namespace {

absl::Status Invalid(absl::string_view message, const Origin& origin, absl::string_view hint = "") {
  return ErrorAt(absl::StatusCode::kInvalidArgument, message, FormatOrigin(origin), hint);
}

// Assignments that apply together, and whether they come from where the command itself may have
// written.
struct Part {
  LayerKind kind;
  const std::vector<Assignment>* assignments;
};

const BuiltinProfile* FindNamedBuiltin(absl::string_view name) {
  for (const BuiltinProfile& profile : NamedBuiltins()) {
    if (name == profile.name) return &profile;
  }
  return nullptr;
}

// Puts the profiles that were asked for into order.
class ProfileResolver {
 public:
  explicit ProfileResolver(const std::vector<Layer>& layers) : layers_(layers) {
    // Parts point into the layers, which therefore must not move.
    builtins_.reserve(NamedBuiltins().size());
  }

  // Adds the parts of one profile, after those of the profiles it extends.
  absl::Status Add(const std::string& name, const Origin& asked_by);
  const std::vector<Part>& parts() const { return parts_; }

 private:
  absl::Status AddExtended(const std::string& name);
  absl::Status Unknown(absl::string_view name, const Origin& asked_by) const;
  bool Contains(const std::vector<std::string>& names, absl::string_view name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  const std::vector<Layer>& layers_;
  std::vector<Layer> builtins_;
  std::vector<Part> parts_;
  std::vector<std::string> done_;
  std::vector<std::string> open_;  // the chain of extends that is being followed
};

const NamedProfile* FindProfile(const Layer& layer, absl::string_view name) {
  for (const NamedProfile& profile : layer.profiles) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

absl::Status ProfileResolver::Unknown(absl::string_view name, const Origin& asked_by) const {
  std::vector<absl::string_view> names;
  for (const BuiltinProfile& profile : NamedBuiltins()) names.push_back(profile.name);
  for (const Layer& layer : layers_) {
    for (const NamedProfile& profile : layer.profiles) {
      if (std::find(names.begin(), names.end(), profile.name) == names.end()) {
        names.push_back(profile.name);
      }
    }
  }
  const absl::string_view nearest = NearestName(name, names);
  return Invalid(absl::StrCat("unknown profile ", QuoteForMessage(name)), asked_by,
                 nearest.empty() ? absl::StrCat("there are: ", absl::StrJoin(names, ", "))
                                 : absl::StrCat("did you mean ", QuoteForMessage(nearest), "?"));
}

absl::Status ProfileResolver::Add(const std::string& name, const Origin& asked_by) {
  if (Contains(open_, name)) {
    return Invalid(absl::StrCat("profile ", QuoteForMessage(name), " extends itself: ",
                                absl::StrJoin(open_, " extends "), " extends ", name),
                   asked_by);
  }
  if (Contains(done_, name)) return absl::OkStatus();
  const BuiltinProfile* builtin = FindNamedBuiltin(name);
  bool is_known = builtin != nullptr;
  for (const Layer& layer : layers_) is_known = is_known || FindProfile(layer, name) != nullptr;
  if (!is_known) return Unknown(name, asked_by);

  open_.push_back(name);
  AE_RETURN_IF_ERROR(AddExtended(name));
  open_.pop_back();
  done_.push_back(name);
  if (builtin != nullptr) {
    AE_ASSIGN_OR_RETURN(Layer layer, ReadBuiltin(*builtin));
    builtins_.push_back(std::move(layer));
    parts_.push_back({LayerKind::kBuiltin, &builtins_.back().assignments});
  }
  for (const Layer& layer : layers_) {
    const NamedProfile* profile = FindProfile(layer, name);
    if (profile != nullptr) parts_.push_back({layer.kind, &profile->assignments});
  }
  return absl::OkStatus();
}

absl::Status ProfileResolver::AddExtended(const std::string& name) {
  for (const Layer& layer : layers_) {
    const NamedProfile* profile = FindProfile(layer, name);
    if (profile == nullptr) continue;
    for (const Sourced<std::string>& base : profile->extends) {
      // A profile may loosen, so the workspace may not pull one in.
      if (layer.kind == LayerKind::kWorkspace) {
        return Invalid(absl::StrCat("'extends' cannot be set by the workspace's policy file, which "
                                    "may only tighten"),
                       base.origin, kSetElsewhereHint);
      }
      AE_RETURN_IF_ERROR(Add(base.value, base.origin));
    }
  }
  return absl::OkStatus();
}

bool IsRow(const Assignment& assignment, absl::string_view key) {
  return key == assignment.setting->key;
}

// The profiles that layers ask for, resolved.
absl::Status ResolveProfiles(const std::vector<Layer>& layers, ProfileResolver* resolver) {
  for (const Layer& layer : layers) {
    for (const Assignment& assignment : layer.assignments) {
      if (!IsRow(assignment, "use-profiles")) continue;
      if (layer.kind == LayerKind::kWorkspace) return CheckTightens(assignment, Policy());
      AE_RETURN_IF_ERROR(resolver->Add(assignment.value.text, assignment.origin));
    }
  }
  return absl::OkStatus();
}

// The mode after all parts, without applying anything else.
absl::StatusOr<Mode> FindMode(const std::vector<Part>& parts) {
  Policy policy;
  policy.mode.value = Mode::kWorkspaceWrite;
  for (const Part& part : parts) {
    for (const Assignment& assignment : *part.assignments) {
      if (!IsRow(assignment, "mode")) continue;
      AE_RETURN_IF_ERROR(ApplyAssignment(assignment, &policy));
    }
  }
  return policy.mode.value;
}

// What `git = "full"` means for the built-in protection. Written down as entries, so that
// everything behind sees one list.
void TakeBackGitProtection(const Origin& git_origin, Policy* policy) {
  std::vector<PathRule>& paths = policy->paths;
  // Right behind the built-in rule: one for .git that somebody wrote stands after this entry and
  // holds.
  auto last_builtin = std::find_if(paths.rbegin(), paths.rend(), [](const PathRule& rule) {
    return rule.want == Want::kDenyWrite && rule.pattern == ".git" && !rule.takes_back &&
           rule.origin.kind == Origin::Kind::kBuiltin;
  });
  if (last_builtin != paths.rend()) {
    PathRule rule;
    rule.want = Want::kDenyWrite;
    rule.pattern = ".git";
    rule.takes_back = true;
    rule.origin = git_origin;
    paths.insert(last_builtin.base(), std::move(rule));
  }
  if (policy->nested_repositories.origin.kind == Origin::Kind::kBuiltin) {
    policy->nested_repositories = {NestedRepositories::kIgnore, git_origin};
  }
}

absl::Status ApplyPart(const Part& part, Policy* policy) {
  for (const Assignment& assignment : *part.assignments) {
    if (part.kind == LayerKind::kWorkspace) {
      AE_RETURN_IF_ERROR(CheckTightens(assignment, *policy));
    }
    AE_RETURN_IF_ERROR(ApplyAssignment(assignment, policy));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Policy> MergeLayers(const std::vector<Layer>& layers) {
  ProfileResolver profiles(layers);
  AE_RETURN_IF_ERROR(ResolveProfiles(layers, &profiles));
  std::vector<Part> parts;
  for (const Layer& layer : layers) {
    if (layer.kind != LayerKind::kFlags) parts.push_back({layer.kind, &layer.assignments});
  }
  parts.insert(parts.end(), profiles.parts().begin(), profiles.parts().end());
  for (const Layer& layer : layers) {
    if (layer.kind == LayerKind::kFlags) parts.push_back({layer.kind, &layer.assignments});
  }

  AE_ASSIGN_OR_RETURN(const Mode mode, FindMode(parts));
  AE_ASSIGN_OR_RETURN(const Layer common, ReadBuiltin(BuiltinCommon()));
  AE_ASSIGN_OR_RETURN(const Layer base, ReadBuiltin(BuiltinForMode(mode)));
  Policy policy;
  policy.env.reserve(common.assignments.size());
  policy.paths.reserve(64);
  // Not the effective mode: what the workspace's file says is held against what was said before it.
  policy.mode = {Mode::kWorkspaceWrite, {Origin::Kind::kImplied, "default"}};
  AE_RETURN_IF_ERROR(ApplyPart({LayerKind::kBuiltin, &common.assignments}, &policy));
  AE_RETURN_IF_ERROR(ApplyPart({LayerKind::kBuiltin, &base.assignments}, &policy));
  for (const Part& part : parts) AE_RETURN_IF_ERROR(ApplyPart(part, &policy));
  if (policy.git.value == GitMode::kFull) TakeBackGitProtection(policy.git.origin, &policy);
  AE_RETURN_IF_ERROR(ValidatePolicy(policy));
  return policy;
}

}  // namespace agent_exec
