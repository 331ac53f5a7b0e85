#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backend/script.h"
#include "base/diagnostic.h"
#include "host/facts.h"
#include "plan/plan.h"

namespace agent_exec {

enum class ProcessModel { kInPlace, kSupervised };

// A rule of the policy that a backend does not enforce: refuses unless weakened by name.
struct Gap {
  Feature feature;
  std::string subject;    // the path or value it is about; "" when it is about all
  std::string reason;     // "bubblewrap takes at most 9000 arguments"
  std::string weakening;  // the name that accepts it; "" when nothing does
  OriginId origin = 0;
};

// A guarantee that is narrower than the best backend's: reported, never refused.
struct BackendLimit {
  const char* code;  // "signal-status"
  const char* text;  // one line for the report and the man page
  // Can it be felt with this plan on this host?
  bool (*applies)(const Plan& plan, const HostFacts& facts);
};

struct Rendered {
  Script script;
  std::vector<Feature> enforced;  // sorted
  std::vector<Gap> gaps;
  std::vector<BackendLimit> limits;  // those that apply to this plan
  ProcessModel model = ProcessModel::kInPlace;
  // The script's last step is the command itself and no wrapper's: that it cannot be executed is
  // 126 or 127.
  bool executes_command = false;
  // The wrapped invocation with everything expanded, for --print=argv; descriptors named in it are
  // those of the PassBlob and PassNull steps.
  std::vector<std::string> printed_argv;
};

// One way to enforce a plan. Rows of a table, not classes.
struct Backend {
  const char* name;                       // "bwrap"
  const char* summary;                    // one line for the documentation
  absl::Span<const Feature> features;     // what it enforces when it can run at all
  absl::Span<const BackendLimit> limits;  // all that can apply
  bool in_auto;                           // may `auto` choose it for a plan that confines
  // Why it cannot run on this host: "" when it can; message, then hint.
  Diagnostic (*unavailable)(const HostFacts& facts);
  // Pure. Errors: ResourceExhausted and FailedPrecondition, worded for the user.
  absl::StatusOr<Rendered> (*render)(const Plan& plan, const HostFacts& facts);
};

absl::Span<const Backend> Backends();                // in the order `auto` tries them
const Backend* FindBackend(absl::string_view name);  // nullptr when there is none

struct Choice {
  const Backend* backend = nullptr;
  Rendered rendered;
};

// Takes the named backend, or for "auto" the first that can run here and enforces all that the plan
// needs. A plan that does not confine takes "none", whatever was wished for: the wish says how to
// confine.
//   In:      weaken: what the policy accepts; a gap that one of them names does not refuse.
//   Errors:  InvalidArgument (unknown name, with the nearest); FailedPrecondition and
//   ResourceExhausted, saying for each
//            backend that was tried what is missing, with the place of the rule that needs it and
//            what would mend it.
absl::StatusOr<Choice> ChooseBackend(const Sourced<std::string>& wish, const Plan& plan,
                                     const HostFacts& facts,
                                     absl::Span<const Sourced<Weakening>> weaken = {});

}  // namespace agent_exec
