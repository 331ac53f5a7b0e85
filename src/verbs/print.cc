#include "verbs/print.h"

#include "verbs/print_forms.h"

namespace agent_exec {

std::string FormatPrint(PrintForm form, const Plan& plan, const Backend& backend,
                        const Rendered& rendered) {
  switch (form) {
    case PrintForm::kArgv:
      return FormatShell(plan, backend, rendered);
    case PrintForm::kJson:
      return FormatRunJson(plan, backend, rendered);
    case PrintForm::kScript:
      return FormatScript(rendered.script);
  }
  return "";
}

}  // namespace agent_exec
