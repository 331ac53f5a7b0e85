#include "plan/sockets.h"

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_split.h"
#include "base/diagnostic.h"
#include "base/path.h"
#include "plan/access_map.h"

namespace agent_exec {
namespace {

constexpr char kSocketList[] = "/proc/net/unix";
constexpr size_t kMaxListBytes = 64 << 20;

}  // namespace

std::vector<std::string> SocketPaths(absl::string_view proc_net_unix) {
  std::vector<std::string> paths;
  for (absl::string_view line : absl::StrSplit(proc_net_unix, '\n')) {
    // Seven columns of numbers come before the path, which may hold blanks itself.
    size_t slash = line.find(" /");
    if (slash == absl::string_view::npos || HasNul(line)) continue;
    absl::string_view path = line.substr(slash + 1);
    // A listener and each of its connections have a line of the same path.
    if (!paths.empty() && paths.back() == path) continue;
    paths.emplace_back(path);
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

absl::Status MaskSockets(const std::vector<MountOp>& mounts, Planning* planning) {
  std::string text;
  NodeInfo info;
  int error = planning->files.Read(kSocketList, kMaxListBytes, &text, &info);
  if (error == ENOENT) return absl::OkStatus();  // a kernel without Unix sockets
  if (error != 0) return ErrnoStatus(error, "read", kSocketList);
  AccessMap map(mounts);
  OriginId origin = planning->origins.Implied("sockets of the host");
  for (const std::string& named : SocketPaths(text)) {
    std::string clean = Clean(named);
    // The directory may be reached through links; asked for once, it is remembered for all of its
    // sockets.
    FoundPath directory = planning->paths.Follow(Dirname(clean));
    if (!directory.is_directory()) continue;
    std::string path = Join(directory.path, Basename(clean));
    Decision decision = map.Lookup(path);
    if (decision.backing != Backing::kHost || decision.backing_path != path) continue;
    if (planning->files.Lstat(path, &info) != 0 || info.type != NodeType::kSocket) continue;
    AddMask(path, Node::kFile, Rank::kSocket, Purpose::kSocket, origin, planning);
  }
  return absl::OkStatus();
}

}  // namespace agent_exec
