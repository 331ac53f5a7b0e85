#include "base/path.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/str_cat.h"

namespace agent_exec {

bool IsAbsolute(absl::string_view path) { return !path.empty() && path[0] == '/'; }

std::string Clean(absl::string_view path) {
  assert(IsAbsolute(path) && !HasNul(path));
  std::string out;
  out.reserve(path.size());
  size_t at = 0;
  while (at < path.size()) {
    const size_t end = std::min(path.find('/', at), path.size());
    const absl::string_view name = path.substr(at, end - at);
    at = end + 1;
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      // Every component in `out` has its '/' before it; with none left, "/.." is "/".
      const size_t slash = out.rfind('/');
      out.resize(slash == std::string::npos ? 0 : slash);
      continue;
    }
    out += '/';
    out.append(name.data(), name.size());
  }
  if (out.empty()) out = "/";
  return out;
}

bool IsClean(absl::string_view path) {
  if (!IsAbsolute(path) || HasNul(path)) return false;
  if (path.size() == 1) return true;
  size_t at = 1;
  while (true) {
    const size_t end = std::min(path.find('/', at), path.size());
    const absl::string_view name = path.substr(at, end - at);
    if (name.empty() || name == "." || name == "..") return false;
    if (end == path.size()) return true;
    at = end + 1;
  }
}

std::string Join(absl::string_view base, absl::string_view relative) {
  if (IsAbsolute(relative)) return std::string(relative);
  if (base.empty() || relative.empty()) return absl::StrCat(base, relative);
  while (!base.empty() && base.back() == '/') base.remove_suffix(1);
  return absl::StrCat(base, "/", relative);
}

absl::string_view Dirname(absl::string_view clean) {
  const size_t slash = clean.rfind('/');
  return clean.substr(0, slash == 0 ? 1 : slash);
}

absl::string_view Basename(absl::string_view clean) { return clean.substr(clean.rfind('/') + 1); }

bool IsUnder(absl::string_view path, absl::string_view root) {
  if (root == "/") return IsAbsolute(path);
  return path.size() >= root.size() && path.substr(0, root.size()) == root &&
         (path.size() == root.size() || path[root.size()] == '/');
}

absl::string_view RelativeTo(absl::string_view path, absl::string_view root) {
  assert(IsUnder(path, root));
  path.remove_prefix(root.size());
  if (IsAbsolute(path)) path.remove_prefix(1);
  return path;
}

std::vector<absl::string_view> AncestorsAndSelf(absl::string_view clean) {
  std::vector<absl::string_view> out;
  out.reserve(static_cast<size_t>(std::count(clean.begin(), clean.end(), '/')) + 1);
  out.push_back(clean.substr(0, 1));
  if (clean.size() <= 1) return out;
  for (size_t slash = clean.find('/', 1); slash != absl::string_view::npos;
       slash = clean.find('/', slash + 1)) {
    out.push_back(clean.substr(0, slash));
  }
  out.push_back(clean);
  return out;
}

bool HasNul(absl::string_view bytes) { return bytes.find('\0') != absl::string_view::npos; }

}  // namespace agent_exec
