#include "plan/rules.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/status.h"
#include "plan/access_map.h"
#include "plan/expand.h"

namespace agent_exec {
namespace {

constexpr absl::string_view kKernelDirs[] = {"/proc", "/dev"};

bool IsBelowKernelDir(absl::string_view path, absl::string_view dir) {
  return IsUnder(path, dir) && path != dir;
}

// Is this the directory of a process, which is another one inside?
bool IsProcessDir(absl::string_view path) {
  if (!IsBelowKernelDir(path, "/proc")) return false;
  char first = path[6];
  return (first >= '0' && first <= '9') || absl::StartsWith(path.substr(6), "self") ||
         absl::StartsWith(path.substr(6), "thread-self");
}

class RulePass {
 public:
  RulePass(Planning* planning, std::vector<LedAstray>* led_astray)
      : planning_(*planning), led_astray_(*led_astray) {}

  absl::Status Run() {
    for (const PathRule& rule : planning_.policy.paths) AE_RETURN_IF_ERROR(Read(rule));
    NoteWastedTakeBacks();
    AE_RETURN_IF_ERROR(FindWritableRoots());
    // Patterns first: what they open is writable when the links on the way of the others are
    // judged.
    AE_RETURN_IF_ERROR(AddPatterns());
    for (const Literal& literal : literals_) {
      if (!IsTakenBack(literal)) AE_RETURN_IF_ERROR(AddLiteral(literal));
    }
    return absl::OkStatus();
  }

 private:
  struct Literal {
    const PathRule* rule;
    std::string path;  // absolute, clean; links not followed
    size_t order;
    OriginId origin;
  };
  struct TakeBack {
    const PathRule* rule;
    std::string literal;  // "" when it is a pattern
    int pattern;          // -1 when it is literal
    size_t order;
  };

  absl::StatusOr<std::string> HomeFor(const PathRule& rule) const {
    const Anchors& anchors = planning_.anchors;
    if (!anchors.home.empty()) return anchors.home;
    if (!anchors.passwd_home.empty()) return anchors.passwd_home;
    return ErrorAt(absl::StatusCode::kFailedPrecondition,
                   absl::StrCat("cannot resolve ", QuoteForMessage(rule.pattern),
                                ": there is no home directory"),
                   FormatOrigin(rule.origin), "set HOME, or write the path out");
  }

  absl::Status Read(const PathRule& rule) {
    std::string anchor = planning_.anchors.workspace;
    absl::string_view relative = rule.pattern;
    if (relative == "~" || absl::StartsWith(relative, "~/")) {
      AE_ASSIGN_OR_RETURN(anchor, HomeFor(rule));
      relative.remove_prefix(std::min<size_t>(2, relative.size()));
    } else if (absl::StartsWith(relative, "/")) {
      anchor = "/";
      relative.remove_prefix(1);
    } else if (relative == ".") {
      relative = "";
    }
    size_t order = order_++;
    OriginId origin = planning_.origins.Add(rule.origin);
    bool is_literal = !Glob::HasMagic(relative);
    std::string path;
    if (is_literal) {
      path = relative.empty() ? anchor : Clean(Join(anchor, Glob::Unescape(relative)));
      if (!rule.takes_back) {
        literals_.push_back({&rule, std::move(path), order, origin});
        return absl::OkStatus();
      }
    }
    absl::StatusOr<Glob> glob = Glob::Compile(anchor, relative);
    if (!glob.ok() && !(is_literal && relative.empty())) {
      return ErrorAt(glob.status().code(), glob.status().message(), FormatOrigin(rule.origin));
    }
    if (rule.takes_back) {
      take_backs_.push_back(
          {&rule, std::move(path), glob.ok() ? static_cast<int>(patterns_.size()) : -1, order});
    }
    if (glob.ok()) {
      patterns_.push_back(
          {rule.want, rule.takes_back, *std::move(glob), FormatOrigin(rule.origin), rule.pattern});
      pattern_rules_.push_back({&rule, origin});
    }
    return absl::OkStatus();
  }

  bool Matches(const TakeBack& back, absl::string_view path) const {
    return back.pattern >= 0 ? patterns_[back.pattern].glob.Matches(path) : back.literal == path;
  }

  bool IsTakenBack(const Literal& literal) const {
    return std::any_of(take_backs_.begin(), take_backs_.end(), [&](const TakeBack& back) {
      return back.order > literal.order && back.rule->want == literal.rule->want &&
             Matches(back, literal.path);
    });
  }

  // A "!" on one path that no earlier entry names hides nothing and opens nothing, whatever its
  // writer thought.
  void NoteWastedTakeBacks() {
    for (const TakeBack& back : take_backs_) {
      if (back.literal.empty() || back.rule->origin.kind == Origin::Kind::kBuiltin) continue;
      // git = "full" is an entry "!.git" too, in modes that have nothing for it to take back.
      if (planning_.policy.git.value == GitMode::kFull && back.rule->pattern == ".git") continue;
      bool is_useful = std::any_of(literals_.begin(), literals_.end(), [&](const Literal& literal) {
        return literal.order < back.order && literal.rule->want == back.rule->want &&
               literal.path == back.literal;
      });
      int own = back.pattern >= 0 ? back.pattern : static_cast<int>(patterns_.size());
      for (int i = 0; i < own && !is_useful; ++i) {
        is_useful = !patterns_[i].takes_back && patterns_[i].want == back.rule->want &&
                    patterns_[i].glob.Matches(back.literal);
      }
      if (is_useful) continue;
      planning_.plan.notices.push_back(
          {"takes-back-nothing",
           absl::StrCat(QuoteForMessage(absl::StrCat("!", back.rule->pattern)),
                        " takes back nothing: no earlier entry of its list is for that path"),
           planning_.origins.Add(back.rule->origin)});
    }
  }

  // Canonical roots that rules open, by ways that the command cannot have prepared. Twice, since
  // which links count depends on the roots found before.
  absl::Status FindWritableRoots() {
    planning_.writable_roots = {planning_.anchors.workspace};
    for (int round = 0; round < 2; ++round) {
      std::vector<std::string> roots = {planning_.anchors.workspace};
      for (const Literal& literal : literals_) {
        if (literal.rule->want != Want::kWrite || IsTakenBack(literal)) continue;
        if (literal.path == "/") {
          return ErrorAt(absl::StatusCode::kInvalidArgument,
                         "cannot make '/' writable: that leaves no sandbox",
                         FormatOrigin(literal.rule->origin),
                         "name the directories, or use --mode danger-full-access");
        }
        FoundPath found = planning_.paths.Follow(literal.path);
        if (found.error == 0 && !LedThroughWritable(found, planning_))
          roots.push_back(std::move(found.path));
      }
      planning_.writable_roots = std::move(roots);
    }
    return absl::OkStatus();
  }

  absl::Status AddLiteral(const Literal& literal) {
    switch (literal.rule->want) {
      case Want::kRead:
        return AddGrant(literal, Access::kRead);
      case Want::kWrite:
        return AddGrant(literal, Access::kWrite);
      case Want::kDenyRead:
        return AddDenyRead(*literal.rule, literal.path, literal.origin);
      case Want::kDenyWrite:
        return AddDenyWrite(literal);
    }
    return absl::OkStatus();
  }

  absl::Status AddGrant(const Literal& literal, Access access) {
    FoundPath found = planning_.paths.Follow(literal.path);
    if (found.error != 0) {
      if (found.missing() && literal.rule->missing == Missing::kAllow) return absl::OkStatus();
      absl::Status status = ErrnoStatus(found.error, "bind", literal.path);
      return ErrorAt(
          status.code(), ToDiagnostic(status).message, FormatOrigin(literal.rule->origin),
          found.missing() ? "{ path = \"…\", missing = \"allow\" } takes it as it comes" : "");
    }
    if (LedThroughWritable(found, planning_)) {
      led_astray_.push_back({literal.rule, std::move(found), access, literal.origin});
      return absl::OkStatus();
    }
    return Grant(found, access, literal.origin);
  }

  absl::Status Grant(const FoundPath& found, Access access, OriginId origin) {
    for (absl::string_view dir : kKernelDirs) {
      if (!IsUnder(found.path, dir)) continue;
      bool is_proc = dir == "/proc";
      if (access == Access::kWrite && (is_proc || found.path == dir)) {
        return ErrorAt(absl::StatusCode::kInvalidArgument,
                       absl::StrCat("cannot make ", QuoteForMessage(found.path), " writable: ", dir,
                                    " is made new for each run"),
                       PlaceOf(origin, planning_));
      }
      // Visible as it is: the host's own would show its processes.
      if (is_proc || found.path == dir) return absl::OkStatus();
    }
    if (found.path == "/") planning_.shows_root = true;
    AddBind(found, access == Access::kWrite ? Rank::kWrite : Rank::kRead, access, Purpose::kRule,
            origin, &planning_);
    return absl::OkStatus();
  }

  absl::Status AddDenyRead(const PathRule& rule, const std::string& path, OriginId origin) {
    FoundPath found = planning_.paths.Follow(path);
    // A circle of links cannot be read by anybody.
    if (found.missing() || found.error == ELOOP) return absl::OkStatus();
    if (found.error != 0) return UnreachableStatus(found, "deny", path, origin, &planning_);
    if (IsProcessDir(found.path)) {
      return ErrorAt(absl::StatusCode::kInvalidArgument,
                     absl::StrCat("cannot deny ", QuoteForMessage(path),
                                  ": processes have other numbers inside"),
                     FormatOrigin(rule.origin));
    }
    if (found.info.type != NodeType::kDirectory && found.info.links > 1) {
      planning_.hard_links.push_back({found.path, found.info.links, origin});
    }
    AddMask(found.path, NodeOf(found.info), Rank::kDenyRead, Purpose::kRule, origin, &planning_);
    return absl::OkStatus();
  }

  absl::Status AddDenyWrite(const Literal& literal) {
    for (absl::string_view dir : kKernelDirs) {
      if (IsUnder(literal.path, dir)) {
        return ErrorAt(absl::StatusCode::kInvalidArgument,
                       absl::StrCat("cannot protect ", QuoteForMessage(literal.path), ": ", dir,
                                    " is made new for each run"),
                       FormatOrigin(literal.rule->origin), "deny-read hides it");
      }
    }
    Guard guard;
    guard.path = literal.path;
    guard.pinned = true;
    guard.blocks = literal.rule->missing != Missing::kAllow;
    guard.kind = literal.rule->kind;
    guard.origin = literal.origin;
    return AddGuard(guard, &planning_);
  }

  absl::Status AddPatterns() {
    if (patterns_.empty()) return absl::OkStatus();
    AE_ASSIGN_OR_RETURN(Expansion expansion, ExpandPatterns(patterns_, planning_.facts.uid,
                                                            &planning_.paths, &planning_.files));
    std::vector<int64_t> counts(patterns_.size());
    for (const Match& match : expansion.matches) {
      ++counts[match.pattern];
      AE_RETURN_IF_ERROR(AddMatch(match, expansion.roots[match.root]));
    }
    for (size_t i = 0; i < patterns_.size(); ++i) {
      if (patterns_[i].takes_back) continue;
      planning_.plan.globs.push_back(
          {pattern_rules_[i].rule->pattern, pattern_rules_[i].origin, counts[i]});
    }
    for (const std::string& directory : expansion.other_filesystems) {
      planning_.plan.notices.push_back(
          {"other-file-system",
           absl::StrCat(QuoteForMessage(directory),
                        " is another file system: patterns are not looked for in it"),
           0});
    }
    return absl::OkStatus();
  }

  absl::Status AddMatch(const Match& match, const FoundPath& root) {
    const PathRule& rule = *pattern_rules_[match.pattern].rule;
    OriginId origin = pattern_rules_[match.pattern].origin;
    switch (rule.want) {
      case Want::kRead:
      case Want::kWrite:
        return AddGrantedMatch(match, root, rule, origin);
      case Want::kDenyRead:
        return AddDenyRead(rule, match.path, origin);
      case Want::kDenyWrite: {
        Guard guard;
        guard.path = match.path;
        guard.origin = origin;
        for (const PathLink& link : root.links) {
          planning_.links.push_back({{link.place, link.text, origin}, false});
        }
        return AddGuard(guard, &planning_);
      }
    }
    return absl::OkStatus();
  }

  // What a pattern opens is what lies there. A link that matches, or one on the way that the
  // command can replace, could lead anywhere.
  absl::Status AddGrantedMatch(const Match& match, const FoundPath& root, const PathRule& rule,
                               OriginId origin) {
    FoundPath found = planning_.paths.Follow(match.path);
    if (found.missing()) return absl::OkStatus();
    if (found.error != 0)
      return ErrnoStatus(found.error, "bind", match.path, FormatOrigin(rule.origin));
    if (!found.links.empty() || LedThroughWritable(root, planning_)) {
      planning_.plan.notices.push_back({"link-not-followed",
                                        absl::StrCat("cannot bind ", QuoteForMessage(match.path),
                                                     ": a pattern does not follow symlinks"),
                                        origin});
      return absl::OkStatus();
    }
    if (rule.want == Want::kWrite) planning_.writable_roots.push_back(found.path);
    return Grant(found, rule.want == Want::kWrite ? Access::kWrite : Access::kRead, origin);
  }

  struct PatternRule {
    const PathRule* rule;
    OriginId origin;
  };

  Planning& planning_;
  std::vector<LedAstray>& led_astray_;
  size_t order_ = 0;
  std::vector<Literal> literals_;
  std::vector<TakeBack> take_backs_;
  std::vector<Pattern> patterns_;
  std::vector<PatternRule> pattern_rules_;  // the same indices
};

}  // namespace

absl::Status AddRules(Planning* planning, std::vector<LedAstray>* led_astray) {
  return RulePass(planning, led_astray).Run();
}

absl::Status JudgeLedAstray(const std::vector<LedAstray>& led_astray,
                            const std::vector<MountOp>& mounts, Planning* planning) {
  if (led_astray.empty()) return absl::OkStatus();
  AccessMap map(mounts);
  for (const LedAstray& led : led_astray) {
    Decision present = map.Lookup(led.found.path);
    bool adds_nothing = present.backing == Backing::kHost &&
                        present.backing_path == led.found.path &&
                        (present.access == led.access || present.access == Access::kWrite);
    if (adds_nothing) continue;
    std::string what = absl::StrCat(
        "cannot bind ", QuoteForMessage(led.rule->pattern), ": it is reached through the symlink ",
        QuoteForMessage(led.found.links.front().place), ", which the command can replace");
    if (led.rule->missing == Missing::kAllow || led.rule->origin.kind == Origin::Kind::kBuiltin) {
      planning->plan.notices.push_back({"link-not-followed", std::move(what), led.origin});
      continue;
    }
    return ErrorAt(absl::StatusCode::kInvalidArgument, what, FormatOrigin(led.rule->origin),
                   absl::StrCat("name ", QuoteForMessage(led.found.path), " itself"));
  }
  return absl::OkStatus();
}

}  // namespace agent_exec
