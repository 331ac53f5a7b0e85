#include <unistd.h>

#include "base/diagnostic.h"
#include "os/compile.h"
#include "os/run.h"

namespace agent_exec {

void SetArmedHookForTest(void (*)()) {}

void RunScript(const Script&, const RunOptions& options) {
  Diagnostic diagnostic{"cannot start a command on this system: no backend for it is built in", "",
                        ""};
  std::string text = options.error_format == ErrorFormat::kJson
                         ? FormatJson(diagnostic, kStatusRefused)
                         : FormatText(diagnostic);
  (void)!write(STDERR_FILENO, text.data(), text.size());
  _exit(kStatusRefused);
}

}  // namespace agent_exec
