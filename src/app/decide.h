#pragma once

#include <string>
#include <variant>
#include <vector>

#include "backend/backend.h"
#include "host/facts.h"
#include "host/file_view.h"
#include "policy/policy.h"

// The program as a function: what to do, decided from values.

namespace agent_exec {

struct Inputs {
  std::vector<std::string> argv;
  HostFacts facts;
};

// Nothing is started: print and exit.
struct Text {
  std::string out;  // to stdout
  std::string err;  // to stderr
  int exit_status = 0;
};

// The command is started.
struct Launch {
  Rendered rendered;
  std::string err;            // to stderr before the start: notices and warnings; usually ""
  std::string report_target;  // a path or "fd:N"; "" for none
  std::string report_line;    // one JSON object and a newline
  ErrorFormat error_format = ErrorFormat::kText;
  std::vector<std::string>
      places;  // FormatOrigin of every origin of the plan, by id, for messages about steps
  std::vector<std::string> wipe;  // texts typed as NAME=VALUE, to be wiped from the argument memory
};

// No backend that could be judged by the facts as they are will do, and the wrappers were not
// looked for: to be called again with facts that know them.
struct NeedsWrappers {};

using Outcome = std::variant<Text, Launch, NeedsWrappers>;

// argv → Invocation → layers → Policy → Plan → backend → Outcome.
Outcome Decide(const Inputs& inputs, FileView& files);

}  // namespace agent_exec
