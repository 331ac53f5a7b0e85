#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backend/backend.h"
#include "backend/rows.h"
#include "base/quote.h"
#include "base/status.h"
#include "base/text.h"

namespace agent_exec {
namespace {

bool IsAccepted(const Gap& gap, absl::Span<const Sourced<Weakening>> weaken) {
  for (const WeakeningName& row : WeakeningNames()) {
    if (gap.weakening != row.name) continue;
    return std::any_of(weaken.begin(), weaken.end(), [&row](const Sourced<Weakening>& accepted) {
      return accepted.value == row.weakening;
    });
  }
  return false;
}

// A refusal that names the rule behind it: "network-none is not enforced: REASON (PLACE)".
absl::Status GapStatus(const Gap& gap, const Plan& plan) {
  std::string message = absl::StrCat(FeatureName(gap.feature), " is not enforced");
  if (!gap.subject.empty()) absl::StrAppend(&message, " for ", QuoteForMessage(gap.subject));
  absl::StrAppend(&message, ": ", gap.reason);
  std::string place =
      gap.origin < plan.origins.size() ? FormatOrigin(plan.origins[gap.origin]) : "";
  std::string hint =
      gap.weakening.empty() ? "" : absl::StrCat("'--weaken ", gap.weakening, "' accepts that");
  return ErrorAt(absl::StatusCode::kFailedPrecondition, message, place, hint);
}

// Renders the plan, unless the backend cannot run here or leaves something open.
//   Errors: why not; the message does not name the backend.
absl::StatusOr<Choice> Try(const Backend& backend, const Plan& plan, const HostFacts& facts,
                           absl::Span<const Sourced<Weakening>> weaken) {
  if (Diagnostic problem = backend.unavailable(facts); !problem.message.empty()) {
    return ToStatus(absl::StatusCode::kFailedPrecondition, problem);
  }
  Choice choice{&backend, {}};
  AE_ASSIGN_OR_RETURN(choice.rendered, backend.render(plan, facts));
  for (const Need& need : plan.needs) {
    const auto& gaps = choice.rendered.gaps;
    bool enforced = std::find(choice.rendered.enforced.begin(), choice.rendered.enforced.end(),
                              need.feature) != choice.rendered.enforced.end();
    bool declared = std::any_of(gaps.begin(), gaps.end(),
                                [&need](const Gap& gap) { return gap.feature == need.feature; });
    // A need that the renderer forgot is refused like any other.
    if (!enforced && !declared) {
      choice.rendered.gaps.push_back(
          {need.feature, "", "this backend does not know how", "", need.origin});
    }
  }
  for (const Gap& gap : choice.rendered.gaps) {
    if (!IsAccepted(gap, weaken)) return GapStatus(gap, plan);
  }
  return choice;
}

absl::Status UnknownBackend(const Sourced<std::string>& wish) {
  std::vector<absl::string_view> names = {"auto"};
  for (const Backend& backend : Backends()) names.push_back(backend.name);
  absl::string_view nearest = NearestName(wish.value, names);
  return ErrorAt(absl::StatusCode::kInvalidArgument,
                 absl::StrCat("unknown backend ", QuoteForMessage(wish.value), ": one of ",
                              absl::StrJoin(names, ", ")),
                 FormatOrigin(wish.origin),
                 nearest.empty() ? "" : absl::StrCat("did you mean '", nearest, "'?"));
}

// What the attempts said, one after the other, in the words of the first about place and remedy.
absl::Status NoneOf(absl::string_view act,
                    const std::vector<std::pair<const Backend*, absl::Status>>& attempts) {
  std::vector<std::string> reasons;
  Diagnostic all;
  for (const auto& [backend, status] : attempts) {
    Diagnostic one = ToDiagnostic(status);
    bool first = reasons.empty();
    if (first) all.place = one.place;
    // The others' places belong to their own words.
    std::string place = first || one.place.empty() ? "" : absl::StrCat(" (", one.place, ")");
    reasons.push_back(absl::StrCat(backend->name, ": ", one.message, place));
    if (!one.hint.empty()) {
      absl::StrAppend(&all.hint, all.hint.empty() ? "" : "; ",
                      attempts.size() > 1 ? absl::StrCat(backend->name, ": ") : "", one.hint);
    }
  }
  all.message = absl::StrCat(act, ": ", absl::StrJoin(reasons, "; "));
  return ToStatus(attempts.front().second.code(), all);
}

}  // namespace

absl::Span<const Backend> Backends() {
  static const Backend table[] = {kNative, kBubblewrap, kUnconfined};
  return table;
}

const Backend* FindBackend(absl::string_view name) {
  for (const Backend& backend : Backends()) {
    if (name == backend.name) return &backend;
  }
  return nullptr;
}

absl::StatusOr<Choice> ChooseBackend(const Sourced<std::string>& wish, const Plan& plan,
                                     const HostFacts& facts,
                                     absl::Span<const Sourced<Weakening>> weaken) {
  const bool is_auto = wish.value == "auto";
  const Backend* named = is_auto ? nullptr : FindBackend(wish.value);
  if (!is_auto && named == nullptr) return UnknownBackend(wish);
  if (!plan.confined) return Try(*FindBackend(kUnconfined.name), plan, facts, weaken);

  std::vector<std::pair<const Backend*, absl::Status>> attempts;
  for (const Backend& backend : Backends()) {
    if (named != nullptr ? &backend != named : !backend.in_auto) continue;
    absl::StatusOr<Choice> choice = Try(backend, plan, facts, weaken);
    if (choice.ok()) return choice;
    attempts.emplace_back(&backend, std::move(choice).status());
  }
  // Whoever accepted to go without confinement gets that, but only where it cannot be had.
  if (is_auto && std::any_of(weaken.begin(), weaken.end(), [](const Sourced<Weakening>& accepted) {
        return accepted.value == Weakening::kRunUnsandboxed;
      })) {
    return Try(*FindBackend(kUnconfined.name), plan, facts, weaken);
  }
  return NoneOf(named != nullptr ? "cannot use the backend that was asked for"
                                 : "no backend can enforce this policy",
                attempts);
}

std::vector<std::string> EnvironmentFor(const Plan& plan, absl::string_view backend_name) {
  constexpr absl::string_view kOurs = "AGENT_EXEC_BACKEND";
  std::vector<std::string> env;
  env.reserve(plan.env.size() + 1);
  bool placed = false;
  const auto place_ours = [&] {
    if (!placed) env.push_back(absl::StrCat(kOurs, "=", backend_name));
    placed = true;
  };
  for (const EnvVar& variable : plan.env) {
    // Ours wins over one that was passed from an outer run.
    if (variable.name >= kOurs) place_ours();
    if (variable.name != kOurs) env.push_back(absl::StrCat(variable.name, "=", variable.value));
  }
  place_ours();
  return env;
}

std::vector<Feature> EnforcedOf(absl::Span<const Feature> features, const Plan& plan) {
  std::vector<Feature> enforced;
  for (Feature feature : features) {
    switch (feature) {
      case Feature::kPlaceholders:
        if (plan.placeholders.empty()) continue;
        break;
      case Feature::kLinks:
        if (plan.held_links.empty()) continue;
        break;
      case Feature::kPids:
        if (plan.in_place) continue;
        break;
      case Feature::kBackground:
        if (!plan.keep_background || plan.in_place) continue;
        break;
      case Feature::kNetworkNone:
        if (plan.network != NetworkMode::kNone) continue;
        break;
      case Feature::kNetworkHost:
        if (plan.network != NetworkMode::kHost) continue;
        break;
      case Feature::kFileSize:
        if (plan.file_size_bytes == 0) continue;
        break;
      case Feature::kOpenFiles:
        if (plan.open_files == 0) continue;
        break;
      default:
        break;
    }
    enforced.push_back(feature);
  }
  return enforced;
}

std::string FilterBytes(const FilterOptions& options) {
  // All our architectures are little-endian.
  const std::vector<SockFilter> program = AssembleFilter(options);
  std::string bytes;
  bytes.reserve(program.size() * 8);
  for (const SockFilter& in : program) {
    for (int shift : {0, 8}) bytes.push_back(static_cast<char>(in.code >> shift));
    bytes.push_back(static_cast<char>(in.jump_true));
    bytes.push_back(static_cast<char>(in.jump_false));
    for (int shift : {0, 8, 16, 24}) bytes.push_back(static_cast<char>(in.k >> shift));
  }
  return bytes;
}

void AppendLimits(const Plan& plan, Script* script) {
  if (plan.file_size_bytes > 0) {
    script->steps.emplace_back(SetLimit{Resource::kFileSize, plan.file_size_bytes});
  }
  if (plan.open_files > 0)
    script->steps.emplace_back(SetLimit{Resource::kOpenFiles, plan.open_files});
}

}  // namespace agent_exec
