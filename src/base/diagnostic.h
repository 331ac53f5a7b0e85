#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace agent_exec {

// What a person is told when something is refused.
struct Diagnostic {
  std::string message;  // "cannot bind '/srv/x': No such file or directory": lower case, one line,
                        // no full stop
  std::string place;    // "policy.toml:12:3", "--read", "built-in workspace-write:7"; empty when
                        // there is none
  std::string hint;     // "did you mean 'filesystem.read'?"; empty when there is none
};

// Packs a diagnostic into a status and takes it out again. A status from elsewhere unpacks to its
// message alone.
//   In: code is not kOk; no field holds a newline; subjects inside it were quoted by
//   QuoteForMessage (base/quote.h).
absl::Status ToStatus(absl::StatusCode code, const Diagnostic& diagnostic);
Diagnostic ToDiagnostic(const absl::Status& status);

// Shorthands for the two ways most messages are made.
absl::Status ErrorAt(absl::StatusCode code, absl::string_view message, absl::string_view place,
                     absl::string_view hint = "");
// "cannot ACT 'SUBJECT': STRERROR". The code follows from errno (ENOENT: NotFound, EACCES and
// EPERM: PermissionDenied, else FailedPrecondition).
absl::Status ErrnoStatus(int error_number, absl::string_view act, absl::string_view subject,
                         absl::string_view place = "");
// strerror for the errors that kernels give, without locale and without allocation, in the words of
// glibc on every system; "error N" for others, in a buffer that the thread's next such call
// overwrites.
const char* ErrnoText(int error_number);

// "agent-exec: MESSAGE (PLACE)\n  hint: HINT\n". The newlines shown are the only control bytes,
// whatever the fields hold.
std::string FormatText(const Diagnostic& diagnostic);
// The same as one line of JSON: {"error":…,"place":…,"hint":…,"status":125}. Empty fields are left
// out; the newline at the end is there.
std::string FormatJson(const Diagnostic& diagnostic, int exit_status);

}  // namespace agent_exec
