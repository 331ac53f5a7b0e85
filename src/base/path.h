#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

// Lexical paths. Paths are bytes: nothing here looks at a file system, and nothing assumes an
// encoding.

namespace agent_exec {

bool IsAbsolute(absl::string_view path);
// Folds "//" and "/./", drops a trailing "/", resolves ".." against the text before it ("/.." is
// "/"). Callers that must follow symlinks before ".." resolve with a FileView instead
// (plan/resolve_path.h).
//   In: absolute, NUL-free. Returns: absolute and clean.
std::string Clean(absl::string_view path);
bool IsClean(absl::string_view path);  // absolute, NUL-free, and equal to its own Clean()
// Base and relative part with exactly one '/' between; an absolute second part is returned as it
// is.
std::string Join(absl::string_view base, absl::string_view relative);
absl::string_view Dirname(absl::string_view clean);   // "/" for "/" and "/x"
absl::string_view Basename(absl::string_view clean);  // "" for "/"
// Is path the same as or below root, with a '/' boundary? Both clean.
bool IsUnder(absl::string_view path, absl::string_view root);
// The part of path below root without a leading '/': "" when they are the same. In: IsUnder(path,
// root).
absl::string_view RelativeTo(absl::string_view path, absl::string_view root);
// "/a/b" → {"/", "/a", "/a/b"}: every ancestor, the path itself last.
std::vector<absl::string_view> AncestorsAndSelf(absl::string_view clean);
bool HasNul(absl::string_view bytes);

}  // namespace agent_exec
