#include "plan/path_resolver.h"

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/path.h"

namespace agent_exec {
namespace {

// As many as Linux follows in one path.
constexpr int kMaxLinks = 40;

// Puts the components of a path before those that are still to come; the next one stands last.
void PushComponents(absl::string_view path, std::vector<std::string>* pending) {
  size_t end = path.size();
  while (end > 0) {
    size_t slash = path.substr(0, end).rfind('/');
    size_t begin = slash == absl::string_view::npos ? 0 : slash + 1;
    absl::string_view name = path.substr(begin, end - begin);
    if (!name.empty() && name != ".") pending->emplace_back(name);
    if (slash == absl::string_view::npos) break;
    end = slash;
  }
}

// Does this errno leave open what is there?
bool IsTrouble(int error) {
  switch (error) {
    case 0:
    case ENOENT:
    case ENOTDIR:
    case EACCES:  // to the command as well
    case EPERM:
    case ELOOP:
    case ENAMETOOLONG:
    case EINVAL:  // no longer a link
      return false;
    default:
      return true;
  }
}

// The place of a path whose remaining components cannot be followed.
std::string PlaceBelow(absl::string_view stop, const std::vector<std::string>& pending) {
  std::string path(stop);
  for (auto it = pending.rbegin(); it != pending.rend(); ++it) absl::StrAppend(&path, "/", *it);
  return Clean(path);
}

}  // namespace

bool FoundPath::missing() const { return error == ENOENT || error == ENOTDIR; }

const PathResolver::Known& PathResolver::Look(const std::string& path) {
  auto [it, is_new] = known_.try_emplace(path);
  Known& known = it->second;
  if (!is_new) return known;
  known.error = files_.Lstat(path, &known.info);
  if (known.error == 0 && known.info.type == NodeType::kSymlink) {
    known.error = files_.ReadLink(path, &known.text);
  }
  if (trouble_.error == 0 && IsTrouble(known.error)) trouble_ = {path, known.error};
  return known;
}

bool PathResolver::FollowFromKnown(absl::string_view path, FoundPath* found) {
  if (path.size() <= 1 || !IsClean(path)) return false;
  auto parent = known_.find(Dirname(path));
  if (parent == known_.end() || parent->second.error != 0 ||
      parent->second.info.type != NodeType::kDirectory) {
    return false;
  }
  found->path = std::string(path);
  const Known& here = Look(found->path);
  if (here.error == 0 && here.info.type == NodeType::kSymlink) return false;
  found->error = here.error;
  found->info = here.info;
  if (here.error != 0) found->stop = found->path;
  return true;
}

FoundPath PathResolver::Follow(absl::string_view path) {
  FoundPath found;
  if (FollowFromKnown(path, &found)) return found;
  found = FoundPath{};
  std::vector<std::string> pending;
  PushComponents(path, &pending);
  std::string at = "/";
  while (!pending.empty()) {
    std::string name = std::move(pending.back());
    pending.pop_back();
    if (name == "..") {
      at = std::string(Dirname(at));
      continue;
    }
    std::string next = at.size() == 1 ? absl::StrCat("/", name) : absl::StrCat(at, "/", name);
    const Known& here = Look(next);
    int error = here.error;
    if (error == 0 && here.info.type == NodeType::kSymlink) {
      if (found.links.size() < kMaxLinks) {
        PushComponents(here.text, &pending);
        if (IsAbsolute(here.text)) at = "/";
        found.links.push_back({std::move(next), here.text});
        continue;
      }
      error = ELOOP;
    }
    if (error == 0 && here.info.type != NodeType::kDirectory && !pending.empty()) error = ENOTDIR;
    if (error != 0) {
      found.error = error;
      found.path = PlaceBelow(next, pending);
      found.stop = std::move(next);
      return found;
    }
    at = std::move(next);
  }
  const Known& there = Look(at);
  found.error = there.error;
  found.info = there.info;
  if (found.error != 0) found.stop = at;
  found.path = std::move(at);
  return found;
}

}  // namespace agent_exec
