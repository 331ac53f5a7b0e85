#include "support/read_back.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/path.h"

namespace agent_exec::testing {
namespace {

class Reader {
 public:
  explicit Reader(const Script& script) : script_(script) {}

  ReadBack Read() {
    const Exec* exec = nullptr;
    for (const Step& step : script_.steps) {
      if (const auto* blob = std::get_if<PassBlob>(&step)) blobs_[blob->fd] = blob->blob;
      if (const auto* null = std::get_if<PassNull>(&step)) nulls_.insert(null->fd);
      if (const auto* the_exec = std::get_if<Exec>(&step)) exec = the_exec;
    }
    if (exec == nullptr) return Fail("no exec");
    std::vector<std::string> words(exec->argv.begin() + 1, exec->argv.end());
    if (words.size() < 3 || words[0] != "--args" || words[2] != "--") {
      return Fail("argv is not bwrap --args FD -- COMMAND");
    }
    out_.command.assign(words.begin() + 3, words.end());
    auto args = blobs_.find(std::atoi(words[1].c_str()));
    if (args == blobs_.end()) return Fail("--args names no blob");
    const std::string& bytes = script_.blobs[args->second];
    if (bytes.empty() || bytes.back() != '\0') return Fail("--args is not NUL-terminated");
    words_ = absl::StrSplit(bytes.substr(0, bytes.size() - 1), '\0');
    while (at_ < words_.size() && out_.error.empty()) Option(Next());
    return out_;
  }

 private:
  ReadBack Fail(std::string error) {
    out_.error = std::move(error);
    return out_;
  }

  std::string Next() {
    if (at_ < words_.size()) return words_[at_++];
    out_.error = "a value is missing at the end";
    return "";
  }

  // What --perms and --size said to the option that follows them.
  uint32_t TakeMode(uint32_t fallback) {
    uint32_t mode = has_mode_ ? mode_ : fallback;
    has_mode_ = false;
    return mode;
  }

  void Option(const std::string& option) {
    static const std::set<std::string> kFlags = {
        "--unshare-user", "--unshare-pid",        "--unshare-ipc",    "--unshare-uts",
        "--unshare-net",  "--unshare-cgroup-try", "--die-with-parent"};
    const bool takes_mode = option == "--tmpfs" || option == "--ro-bind-data" || option == "--size";
    if (has_mode_ && !takes_mode) {
      out_.error = absl::StrCat("--perms before ", option);
    } else if (size_ != 0 && option != "--tmpfs") {
      out_.error = absl::StrCat("--size before ", option);
    } else if (kFlags.count(option) != 0) {
      out_.flags.push_back(option);
    } else if (option == "--cap-drop") {
      out_.cap_drop = Next();
    } else if (option == "--chdir") {
      out_.chdir = Next();
    } else if (option == "--seccomp") {
      out_.seccomp_fd = std::atoi(Next().c_str());
    } else if (option == "--info-fd") {
      out_.info_fd = std::atoi(Next().c_str());
    } else if (option == "--setenv") {
      std::string name = Next();
      out_.set_env.emplace_back(name, Next());
    } else if (option == "--perms") {
      mode_ = static_cast<uint32_t>(std::strtoul(Next().c_str(), nullptr, 8));
      has_mode_ = true;
    } else if (option == "--size") {
      size_ = std::strtoll(Next().c_str(), nullptr, 10);
      if (size_ <= 0) out_.error = "--size of nothing";
    } else {
      MountOption(option);
    }
  }

  void MountOption(const std::string& option) {
    MountOp op;
    if (option == "--bind" || option == "--ro-bind" || option == "--ro-bind-try") {
      op.source = Next();
      op.target = Next();
      op.access = option == "--bind" ? Access::kWrite : Access::kRead;
      if (IsProcCover(op)) {
        out_.proc_covers.emplace_back(Basename(op.target));
        return;
      }
      if (option == "--ro-bind-try") out_.error = "--ro-bind-try outside /proc";
    } else if (option == "--tmpfs") {
      op.kind = MountKind::kTmpfs;
      op.access = Access::kWrite;
      op.mode = TakeMode(0755);
      op.size_bytes = size_;
      size_ = 0;
      op.target = Next();
    } else if (option == "--proc" || option == "--dev") {
      op.kind = option == "--proc" ? MountKind::kProc : MountKind::kDev;
      op.access = Access::kWrite;
      op.target = Next();
    } else if (option == "--symlink") {
      op.kind = MountKind::kSymlink;
      op.source = Next();
      op.target = Next();
      op.node = Node::kFile;
    } else if (option == "--ro-bind-data") {
      FromDescriptor(&op);
    } else if (option == "--remount-ro") {
      RemountReadOnly(Next());
      return;
    } else {
      out_.error = absl::StrCat("unknown option ", option);
      return;
    }
    Mount(std::move(op));
  }

  void FromDescriptor(MountOp* op) {
    op->mode = TakeMode(0600);
    op->node = Node::kFile;
    int fd = std::atoi(Next().c_str());
    op->target = Next();
    if (!used_.insert(fd).second) out_.error = absl::StrCat("descriptor ", fd, " is used twice");
    if (nulls_.count(fd) != 0) {
      op->kind = MountKind::kMask;
      op->access = op->mode == 0 ? Access::kNone : Access::kRead;
    } else if (blobs_.count(fd) != 0) {
      op->kind = MountKind::kData;
      op->blob = blobs_[fd];
    } else {
      out_.error = absl::StrCat("descriptor ", fd, " is not open");
    }
  }

  bool IsProcCover(const MountOp& op) const {
    for (const MountOp& other : out_.mounts) {
      if (other.kind != MountKind::kProc || other.target == op.target) continue;
      if (!IsUnder(op.target, other.target) || op.access != Access::kRead) continue;
      return op.source == Join("/proc", RelativeTo(op.target, other.target));
    }
    return false;
  }

  // A mount hides whatever was mounted at its target and below before.
  void Mount(MountOp op) {
    if (!IsClean(op.target)) out_.error = absl::StrCat("unclean target ", op.target);
    auto& mounts = out_.mounts;
    mounts.erase(
        std::remove_if(mounts.begin(), mounts.end(),
                       [&op](const MountOp& other) { return IsUnder(other.target, op.target); }),
        mounts.end());
    mounts.push_back(std::move(op));
  }

  void RemountReadOnly(const std::string& target) {
    for (MountOp& op : out_.mounts) {
      if (op.target != target) continue;
      if (op.kind != MountKind::kTmpfs) {
        op.access = Access::kRead;
        return;
      }
      const bool is_mask = op.mode == 0 || op.mode == 0111 || op.mode == 0555;
      op.kind = is_mask ? MountKind::kMask : MountKind::kTmpfs;
      op.access = is_mask && op.mode != 0555 ? Access::kNone : Access::kRead;
      return;
    }
    out_.error = absl::StrCat("--remount-ro ", target, " of what is no mount");
  }

  const Script& script_;
  ReadBack out_;
  std::vector<std::string> words_;
  size_t at_ = 0;
  std::map<int, int> blobs_;
  std::set<int> nulls_;
  std::set<int> used_;
  uint32_t mode_ = 0;
  bool has_mode_ = false;
  int64_t size_ = 0;
};

}  // namespace

ReadBack ReadBackBubblewrap(const Script& script) { return Reader(script).Read(); }

}  // namespace agent_exec::testing
