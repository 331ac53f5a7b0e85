#pragma once

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

// What of a home is shown and what never is. Paths are relative to the home.

namespace agent_exec {

struct ToolRoot {
  const char* path;
  const char* reason;
};
// Where version managers and installers put programs: without them nothing on PATH runs. Each is
// one tool's own directory;
// ~/.config, ~/.local/share, ~/.cache and ~/Library are not, and never shown as a whole.
absl::Span<const ToolRoot> ToolRoots();
// Variables by which people move such a root elsewhere in their home.
absl::Span<const absl::string_view> ToolRootVariables();

enum class SecretKind { kSsh, kGpg, kCloud, kToken, kBrowser, kKeyring, kHistory, kMail, kWallet };
struct Secret {
  const char* path;
  SecretKind kind;
};
// Credentials by kind: masked wherever the host's home, or a part of it, is shown.
absl::Span<const Secret> Secrets();

}  // namespace agent_exec
