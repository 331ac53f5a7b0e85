#include "plan/environment.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/status.h"
#include "base/version.h"
#include "plan/home.h"
#include "policy/env_hooks.h"

namespace agent_exec {
namespace {

// As many pairs as git takes from an environment that people write by hand; more is a mistake.
constexpr int kMaxGitPairs = 1000;

// `*` and `?`, over the whole name.
bool NameMatches(absl::string_view pattern, absl::string_view name) {
  size_t p = 0, n = 0;
  size_t star = absl::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// Rules out most pairs at a glance: there are a hundred rules for each variable.
bool MayMatch(absl::string_view pattern, absl::string_view name) {
  return pattern[0] == name[0] || pattern[0] == '*' || pattern[0] == '?';
}

bool IsOurs(absl::string_view name) {
  return name == "AGENT_EXEC" || absl::StartsWith(name, "AGENT_EXEC_");
}

class EnvironmentPass {
 public:
  EnvironmentPass(const AccessMap* map, Planning* planning) : map_(map), planning_(*planning) {}

  absl::Status Run(const std::vector<std::pair<std::string, std::string>>& git_config) {
    AE_RETURN_IF_ERROR(CheckRules());
    for (const std::string& pair : planning_.facts.env) PassVariable(pair);
    for (const EnvRule& rule : planning_.policy.env) {
      if (rule.kind == EnvRule::Kind::kSet)
        Set(rule.name, rule.value, planning_.origins.Add(rule.origin));
    }
    SetOurs();
    AddGitConfig(git_config);
    AddGoFlags();
    for (auto& [name, variable] : variables_) planning_.plan.env.push_back(std::move(variable));
    return absl::OkStatus();
  }

 private:
  absl::Status CheckRules() const {
    for (const EnvRule& rule : planning_.policy.env) {
      if (rule.name.empty() || absl::StrContains(rule.name, '=') || HasNul(rule.name)) {
        return ErrorAt(
            absl::StatusCode::kInvalidArgument,
            absl::StrCat("expected the name of a variable, got ", QuoteForMessage(rule.name)),
            FormatOrigin(rule.origin));
      }
      if (rule.kind != EnvRule::Kind::kSet) continue;
      if (HasNul(rule.value)) {
        return ErrorAt(
            absl::StatusCode::kInvalidArgument,
            absl::StrCat("cannot set ", QuoteForMessage(rule.name), ": the value holds a NUL byte"),
            FormatOrigin(rule.origin));
      }
      if (IsOurs(rule.name)) {
        return ErrorAt(absl::StatusCode::kInvalidArgument,
                       absl::StrCat("cannot set ", QuoteForMessage(rule.name),
                                    ": the launcher tells the command by it"),
                       FormatOrigin(rule.origin));
      }
    }
    return absl::OkStatus();
  }

  bool IsDenied(absl::string_view name) const {
    return std::any_of(planning_.policy.env.begin(), planning_.policy.env.end(),
                       [&](const EnvRule& rule) {
                         return rule.kind == EnvRule::Kind::kDeny && NameMatches(rule.name, name);
                       });
  }

  void PassVariable(absl::string_view pair) {
    size_t equals = pair.find('=');
    if (equals == absl::string_view::npos || equals == 0) return;
    absl::string_view name = pair.substr(0, equals);
    // The first of a name counts, as for getenv; an outer sandbox's word about itself is not true
    // of this one.
    if (variables_.find(name) != variables_.end() || IsOurs(name) || IsDenied(name)) return;
    for (const EnvRule& rule : planning_.policy.env) {
      if (rule.kind != EnvRule::Kind::kAllow || !MayMatch(rule.name, name)) continue;
      if (rule.name != name && (!NameMatches(rule.name, name) || IsEnvHook(name))) continue;
      Put(name, pair.substr(equals + 1), true, planning_.origins.Add(rule.origin));
      return;
    }
    for (const Sourced<Weakening>& weaken : planning_.policy.weaken) {
      if (weaken.value != Weakening::kInheritEnvironment || IsEnvHook(name)) continue;
      Put(name, pair.substr(equals + 1), true, planning_.origins.Add(weaken.origin));
      return;
    }
  }

  void Put(absl::string_view name, absl::string_view value, bool passed, OriginId origin) {
    EnvVar& variable = variables_[std::string(name)];
    variable = {std::string(name), std::string(value), passed, origin};
  }
  void Set(absl::string_view name, absl::string_view value, OriginId origin) {
    Put(name, value, false, origin);
  }

  const EnvVar* Find(absl::string_view name) const {
    auto it = variables_.find(name);
    return it == variables_.end() ? nullptr : &it->second;
  }

  void SetOurs() {
    OriginId origin = planning_.origins.Implied("what the launcher tells");
    Set("AGENT_EXEC", kVersion, origin);
    Set("AGENT_EXEC_NETWORK",
        planning_.policy.network.value == NetworkMode::kNone && map_ != nullptr ? "none" : "host",
        origin);
    Set("PWD", planning_.anchors.cwd, origin);
    if (map_ == nullptr) return;
    SetHome();
    SetTmpdir();
  }

  void SetHome() {
    const EnvVar* present = Find("HOME");
    if (present != nullptr && !present->passed) return;  // the policy's word
    std::string fresh = FreshHome(planning_);
    if (fresh.empty()) return;
    Decision decision = map_->Lookup(fresh);
    if (decision.op < 0 || planning_.plan.mounts[decision.op].target != fresh) {
      variables_.erase("HOME");
      return;
    }
    Set("HOME", fresh, planning_.origins.Add(planning_.policy.home.origin));
  }

  // A path that exists inside and can be written.
  bool IsWritableInside(absl::string_view path) {
    if (!IsAbsolute(path) || HasNul(path)) return false;
    FoundPath found = planning_.paths.Follow(path);
    if (found.error != 0) return false;
    Decision decision = map_->Lookup(found.path);
    if (decision.access != Access::kWrite) return false;
    // An empty file system holds nothing but its own root.
    return decision.backing_path == found.path ||
           planning_.plan.mounts[decision.op].target == found.path;
  }

  void SetTmpdir() {
    const EnvVar* present = Find("TMPDIR");
    if (present != nullptr && (!present->passed || IsWritableInside(present->value))) return;
    if (present == nullptr && IsDenied("TMPDIR")) return;
    if (IsWritableInside("/tmp")) {
      Set("TMPDIR", "/tmp", planning_.origins.Implied("private temporary files"));
    } else {
      variables_.erase("TMPDIR");
    }
  }

  // git reads GIT_CONFIG_COUNT pairs; ours come after those that are there.
  void AddGitConfig(const std::vector<std::pair<std::string, std::string>>& pairs) {
    if (pairs.empty()) return;
    int count = 0;
    const EnvVar* present = Find("GIT_CONFIG_COUNT");
    if (present != nullptr && !present->value.empty()) {
      // A count that git itself refuses is left for git to refuse.
      if (!absl::SimpleAtoi(present->value, &count) || count < 0 || count > kMaxGitPairs) return;
    }
    OriginId origin = planning_.origins.Implied("git in the workspace");
    for (const auto& [key, value] : pairs) {
      Set(absl::StrCat("GIT_CONFIG_KEY_", count), key, origin);
      Set(absl::StrCat("GIT_CONFIG_VALUE_", count), value, origin);
      ++count;
    }
    Set("GIT_CONFIG_COUNT", absl::StrCat(count), origin);
  }

  // go takes any directory named .git for a repository, asks git about it, and fails when git knows
  // none: an empty one that only holds the name must not stop a build that would have stamped
  // nothing.
  void AddGoFlags() {
    const std::vector<Placeholder>& placeholders = planning_.plan.placeholders;
    auto held =
        std::find_if(placeholders.begin(), placeholders.end(), [](const Placeholder& placeholder) {
          return placeholder.node == Node::kDirectory && Basename(placeholder.path) == ".git";
        });
    if (held == placeholders.end() || IsDenied("GOFLAGS")) return;
    constexpr absl::string_view kFlag = "-buildvcs=false";
    const EnvVar* present = Find("GOFLAGS");
    if (present == nullptr || present->value.empty()) {
      Set("GOFLAGS", kFlag, held->origin);
    } else if (!absl::StrContains(present->value, "-buildvcs")) {
      Set("GOFLAGS", absl::StrCat(present->value, " ", kFlag), held->origin);
    }
  }

  const AccessMap* map_;
  Planning& planning_;
  absl::btree_map<std::string, EnvVar> variables_;
};

}  // namespace

absl::Status PlanEnvironment(const AccessMap* map,
                             const std::vector<std::pair<std::string, std::string>>& git_config,
                             Planning* planning) {
  return EnvironmentPass(map, planning).Run(git_config);
}

absl::string_view PlannedVariable(const Plan& plan, absl::string_view name) {
  auto it = std::lower_bound(
      plan.env.begin(), plan.env.end(), name,
      [](const EnvVar& variable, absl::string_view n) { return variable.name < n; });
  return it != plan.env.end() && it->name == name ? absl::string_view(it->value)
                                                  : absl::string_view();
}

}  // namespace agent_exec
