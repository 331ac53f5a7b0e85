#include "app/paths.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/path.h"
#include "base/quote.h"
#include "plan/access_map.h"
#include "plan/path_resolver.h"

namespace agent_exec {

absl::string_view EnvValue(const HostFacts& facts, absl::string_view name) {
  for (const std::string& variable : facts.env) {
    if (variable.size() > name.size() && variable[name.size()] == '=' &&
        absl::StartsWith(variable, name)) {
      return absl::string_view(variable).substr(name.size() + 1);
    }
  }
  return "";
}

absl::StatusOr<std::string> FromUser(absl::string_view path, const HostFacts& facts,
                                     const Origin& origin) {
  if (IsAbsolute(path)) return std::string(path);
  absl::string_view base = facts.cwd;
  const char* missing = "there is no current directory";
  if (path == "~" || absl::StartsWith(path, "~/")) {
    base = EnvValue(facts, "HOME");
    if (!IsAbsolute(base)) base = "";
    missing = "HOME is not set to an absolute path";
    path.remove_prefix(path == "~" ? 1 : 2);
  }
  if (base.empty()) {
    return ErrorAt(absl::StatusCode::kFailedPrecondition,
                   absl::StrCat("cannot tell where ", QuoteForMessage(path), " is: ", missing),
                   FormatOrigin(origin));
  }
  return path.empty() ? std::string(base) : Join(base, path);
}

absl::StatusOr<std::string> OutOfReach(absl::string_view path, const Plan& plan, FileView& files,
                                       absl::string_view act, const Sourced<std::string>& subject) {
  FoundPath found = PathResolver(&files).Follow(path);
  if (!plan.confined) return found.path;
  AccessMap map(plan.mounts);
  for (const PathLink& link : found.links) {
    Decision decision = map.Lookup(link.place);
    if (decision.access != Access::kWrite || decision.backing != Backing::kHost) continue;
    return ErrorAt(absl::StatusCode::kFailedPrecondition,
                   absl::StrCat("cannot ", act, " ", QuoteForMessage(subject.value),
                                ": it is reached through the symlink ", QuoteForMessage(link.place),
                                ", which the command can replace"),
                   FormatOrigin(subject.origin), "name the place that it leads to");
  }
  return found.path;
}

}  // namespace agent_exec
