#include "app/env_files.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "app/paths.h"
#include "base/diagnostic.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/status.h"

namespace agent_exec {
namespace {

constexpr size_t kMaxEnvFileBytes = 1 << 20;

}  // namespace

absl::StatusOr<std::vector<EnvRule>> ParseEnvFile(absl::string_view text, absl::string_view name) {
  std::vector<EnvRule> rules;
  if (absl::StartsWith(text, "\xef\xbb\xbf")) text.remove_prefix(3);
  for (int number = 1; !text.empty(); ++number) {
    absl::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (absl::EndsWith(line, "\r")) line.remove_suffix(1);
    if (absl::StartsWith(line, "#") || line.find_first_not_of(" \t") == absl::string_view::npos) {
      continue;
    }
    const Origin origin = {Origin::Kind::kFile, std::string(name), number, 1};
    const auto error = [&origin](absl::string_view message) {
      // Not the line itself: it may hold a secret.
      return ErrorAt(absl::StatusCode::kInvalidArgument, message, FormatOrigin(origin),
                     "each line is NAME=VALUE");
    };
    const size_t equals = line.find('=');
    if (equals == absl::string_view::npos) return error("no '=' in a line of an environment file");
    if (equals == 0) return error("no name before the '=' in an environment file");
    absl::string_view variable = line.substr(0, equals);
    if (variable.find_first_of(" \t") != absl::string_view::npos) {
      return error(absl::StrCat("the name ", QuoteForMessage(variable), " holds a space"));
    }
    if (HasNul(line)) return error("a NUL byte in an environment file");
    rules.push_back(
        {EnvRule::Kind::kSet, std::string(variable), std::string(line.substr(equals + 1)), origin});
  }
  return rules;
}

absl::StatusOr<std::vector<std::string>> ApplyEnvFiles(absl::string_view workspace,
                                                       const HostFacts& facts, FileView& files,
                                                       Policy* policy) {
  std::vector<EnvRule> rules;
  std::vector<std::string> paths;
  for (const Sourced<std::string>& file : policy->env_files) {
    const bool in_workspace = file.origin.kind != Origin::Kind::kFlag && !workspace.empty() &&
                              !IsAbsolute(file.value) && !absl::StartsWith(file.value, "~");
    std::string path;
    if (in_workspace) {
      path = Join(workspace, file.value);
    } else {
      AE_ASSIGN_OR_RETURN(path, FromUser(file.value, facts, file.origin));
    }
    std::string bytes;
    NodeInfo info;
    if (int error = files.Read(path, kMaxEnvFileBytes, &bytes, &info); error != 0) {
      return ErrnoStatus(error, "read environment file", file.value, FormatOrigin(file.origin));
    }
    AE_ASSIGN_OR_RETURN(std::vector<EnvRule> more, ParseEnvFile(bytes, file.value));
    std::move(more.begin(), more.end(), std::back_inserter(rules));
    paths.push_back(std::move(path));
  }
  policy->env.insert(policy->env.begin(), std::make_move_iterator(rules.begin()),
                     std::make_move_iterator(rules.end()));
  return paths;
}

}  // namespace agent_exec
