#include "policy/origin.h"

#include "absl/strings/str_cat.h"
#include "base/quote.h"

namespace agent_exec {

std::string FormatOrigin(const Origin& origin) {
  // Not quoted: places stand in parentheses and people paste them into an editor. A file's name may
  // hold anything, though.
  std::string place = EscapeControls(origin.name);
  if (origin.line > 0) absl::StrAppend(&place, ":", origin.line);
  if (origin.line > 0 && origin.column > 0) absl::StrAppend(&place, ":", origin.column);
  return place;
}

}  // namespace agent_exec
