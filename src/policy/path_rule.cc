#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/glob.h"
#include "base/quote.h"
#include "base/status.h"
#include "policy/setting_values.h"

// The entries of the four path lists.

namespace agent_exec {
namespace {

absl::Status Bad(absl::string_view message) { return absl::InvalidArgumentError(message); }

// Folds "//" and "/./" and drops a leading "./" and a trailing "/". A ".." stays an error: which
// directory it leads to depends on symlinks that are only known, and can be changed, when the rule
// is resolved.
absl::StatusOr<std::string> NormalizePattern(absl::string_view pattern) {
  const bool is_absolute = absl::StartsWith(pattern, "/");
  std::string clean;
  for (absl::string_view name : absl::StrSplit(pattern, '/')) {
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      return Bad(absl::StrCat("expected a path without '..', got ", QuoteForMessage(pattern),
                              ": write it from the workspace root, from '~/' or from '/'"));
    }
    absl::StrAppend(&clean, clean.empty() && !is_absolute ? "" : "/", name);
  }
  if (clean.empty()) return std::string(is_absolute ? "/" : ".");
  return clean;
}

absl::Status CheckPattern(absl::string_view pattern) {
  if (absl::StartsWith(pattern, "~") && pattern != "~" && !absl::StartsWith(pattern, "~/")) {
    return Bad(absl::StrCat("expected '~/…' for the own home, got ", QuoteForMessage(pattern),
                            ": other users' homes are written out ('\\~' is a literal '~')"));
  }
  if (!Glob::HasMagic(pattern) && !absl::StrContains(pattern, "\\")) return absl::OkStatus();
  // The anchor does not matter here: what is checked is the pattern's own form.
  absl::string_view relative = pattern;
  while (absl::StartsWith(relative, "/")) relative.remove_prefix(1);
  if (absl::StartsWith(relative, "~/")) relative.remove_prefix(2);
  return Glob::Compile("/", relative).status();
}

absl::Status SetAttribute(absl::string_view name, absl::string_view value, PathRule* rule) {
  if (name == "missing") {
    if (value == "allow") {
      rule->missing = Missing::kAllow;
    } else if (value == "block" && rule->want == Want::kDenyWrite) {
      rule->missing = Missing::kBlock;
    } else {
      const bool can_block = rule->want == Want::kDenyWrite;
      return Bad(absl::StrCat("expected missing = ", can_block ? "'allow' or 'block'" : "'allow'",
                              ", got ", QuoteForMessage(value)));
    }
    return absl::OkStatus();
  }
  if (name == "kind") {
    if (value == "file") {
      rule->kind = NodeHint::kFile;
    } else if (value == "dir") {
      rule->kind = NodeHint::kDirectory;
    } else {
      return Bad(absl::StrCat("expected kind = 'file' or 'dir', got ", QuoteForMessage(value)));
    }
    return absl::OkStatus();
  }
  return Bad(absl::StrCat("expected path, missing or kind, got ", QuoteForMessage(name)));
}

}  // namespace

absl::Status AppendPathRule(Want want, Missing missing, const RawValue& value, const Origin& origin,
                            Policy* policy) {
  PathRule rule;
  rule.want = want;
  rule.missing = missing;
  rule.origin = origin;
  absl::string_view pattern = value.text;
  if (absl::StartsWith(pattern, "!")) {
    rule.takes_back = true;
    pattern.remove_prefix(1);
    if (!value.attributes.empty()) {
      return Bad("an entry that takes back ('!…') has nothing but a path");
    }
  }
  if (pattern.empty()) return Bad("expected a path, got an empty string");
  AE_ASSIGN_OR_RETURN(rule.pattern, NormalizePattern(pattern));
  AE_RETURN_IF_ERROR(CheckPattern(rule.pattern));
  for (const auto& [name, text] : value.attributes) {
    AE_RETURN_IF_ERROR(SetAttribute(name, text, &rule));
  }
  if (rule.missing == Missing::kBlock && Glob::HasMagic(rule.pattern)) {
    return Bad(absl::StrCat("expected a path without wildcards beside missing = 'block', got ",
                            QuoteForMessage(rule.pattern)));
  }
  policy->paths.push_back(std::move(rule));
  return absl::OkStatus();
}

Shown ShowPathRules(Want want, const Policy& policy) {
  Shown shown;
  for (const PathRule& rule : policy.paths) {
    if (rule.want != want) continue;
    std::string text = TomlQuote(absl::StrCat(rule.takes_back ? "!" : "", rule.pattern));
    std::string attributes;
    if (rule.missing != Missing::kDefault && !rule.takes_back) {
      absl::StrAppend(&attributes,
                      ", missing = ", rule.missing == Missing::kAllow ? "\"allow\"" : "\"block\"");
    }
    if (rule.kind != NodeHint::kAuto) {
      absl::StrAppend(&attributes,
                      ", kind = ", rule.kind == NodeHint::kFile ? "\"file\"" : "\"dir\"");
    }
    if (!attributes.empty()) text = absl::StrCat("{ path = ", text, attributes, " }");
    shown.emplace_back(std::move(text), rule.origin);
  }
  return shown;
}

}  // namespace agent_exec
