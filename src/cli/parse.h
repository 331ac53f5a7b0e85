#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policy/layer.h"

namespace agent_exec {

// What the launcher does instead of, or with, starting a command.
enum class Verb { kRun, kPrint, kShowPolicy, kPrintSchema, kVersion, kHelp };
enum class PrintForm { kArgv, kJson, kScript };  // in the order of the verb's choices

// One verb, for parsing and for the documentation.
struct VerbRow {
  Verb verb;
  const char* flag;     // "print"
  char short_flag;      // 'h'; 0 when there is none
  const char* choices;  // of an optional "=VALUE": "argv|json|script"; "" when it takes none
  const char* help;     // one line, lower case, no full stop
  const char* man;      // the paragraph for the man page
};
absl::Span<const VerbRow> Verbs();

// The rows of everything that is typed with dashes and is no verb: those of the settings table that
// have a flag, and
// --policy, which names a layer instead of setting a value. Grouped and ordered as the
// documentation prints them.
std::vector<const Setting*> OptionRows();

struct Invocation {
  Verb verb = Verb::kRun;
  PrintForm print_form = PrintForm::kArgv;
  Layer flags;  // kFlags: every setting given by a flag, in order
  std::vector<Sourced<std::string>> policy_files;  // --policy, in order
  std::vector<std::string> command;                // after the options, without "--"
  std::vector<std::string> wipe;                   // the NAME=VALUE texts of --env, as typed
};

// Reads the command line by the settings table: long options whole, "--flag VALUE" or
// "--flag=VALUE", short ones bundled; options stop at the first word that is not one, or after
// "--". The first --help or --version ends the reading.
//   In:      argv with the program's name first.
//   Errors:  InvalidArgument with the flag or "argument N" as the place: unknown option (nearest
//   name), missing or unwanted
//            value, a value in a word of its own that begins with '-', a bad value (as the row
//            words it), a word that begins with '-' and holds a space (a #! line passed as one
//            argument), two verbs, no command where one is needed.
absl::StatusOr<Invocation> ParseCommandLine(const std::vector<std::string>& argv);

// The form that errors of this very command line are to be shown in. Looks for --error-format alone
// and bears anything.
ErrorFormat WantedErrorFormat(const std::vector<std::string>& argv);

}  // namespace agent_exec
