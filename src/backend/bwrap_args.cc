#include "backend/bwrap_args.h"

#include <initializer_list>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backend/proc_covers.h"
#include "plan/access_map.h"

namespace agent_exec {
namespace {

std::string Octal(uint32_t mode) {
  std::string digits;
  for (int shift = mode > 0777 ? 9 : 6; shift >= 0; shift -= 3) {
    digits.push_back(static_cast<char>('0' + (mode >> shift & 7)));
  }
  return digits;
}

// Makes the words of the mount list.
class MountWords {
 public:
  MountWords(const Plan& plan, const HostFacts& facts, DescriptorNumbers* numbers, BwrapArgs* out)
      : plan_(plan), facts_(facts), map_(plan.mounts), numbers_(numbers), out_(out) {}

  void Make() {
    for (const MountOp& op : plan_.mounts) Append(op);
    // Only now: a file system that is read-only takes no more mount points.
    for (absl::string_view target : read_only_later_) Add({"--remount-ro", target});
  }

 private:
  void Add(std::initializer_list<absl::string_view> words) {
    for (absl::string_view word : words) out_->words.emplace_back(word);
  }

  void Append(const MountOp& op) {
    switch (op.kind) {
      case MountKind::kBind:
        Add({op.access == Access::kWrite ? "--bind" : "--ro-bind", op.source, op.target});
        return;
      case MountKind::kTmpfs:
        AppendTmpfs(op.target, op.mode, op.size_bytes);
        if (op.access != Access::kWrite) read_only_later_.push_back(op.target);
        return;
      case MountKind::kProc:
        AppendProc(op.target);
        return;
      case MountKind::kDev:
        Add({"--dev", op.target});
        read_only_later_.push_back(op.target);
        return;
      case MountKind::kMask:
        AppendMask(op);
        return;
      case MountKind::kData: {
        PassBlob pass{numbers_->Next(), op.blob, absl::StrCat("data:", op.target)};
        Add({"--perms", Octal(op.mode), "--ro-bind-data", absl::StrCat(pass.fd), op.target});
        out_->blobs.push_back(std::move(pass));
        return;
      }
      case MountKind::kSymlink:
        Add({"--symlink", op.source, op.target});
        return;
    }
  }

  void AppendTmpfs(absl::string_view target, uint32_t mode, int64_t size_bytes) {
    Add({"--perms", Octal(mode)});
    if (size_bytes > 0) Add({"--size", absl::StrCat(size_bytes)});
    Add({"--tmpfs", target});
  }

  void AppendMask(const MountOp& op) {
    const bool readable = plan_.denied == DeniedForm::kEmpty;
    if (op.node == Node::kDirectory) {
      // One that holds something allowed must let through to it, but not be listed.
      uint32_t mode = readable ? 0555 : map_.UniformBelow(op.target) ? 0 : 0111;
      AppendTmpfs(op.target, mode, 0);
      read_only_later_.push_back(op.target);
      return;
    }
    PassNull pass{numbers_->Next()};
    Add({"--perms", Octal(readable ? 0444 : 0), "--ro-bind-data", absl::StrCat(pass.fd),
         op.target});
    out_->nulls.push_back(pass);
  }

  void AppendProc(absl::string_view target) {
    Add({"--proc", target});
    // The host's own procfs stands in for the new one: what lies below these names is the same in
    // both, since none of it belongs to a process.
    for (const ProcCover& cover : kProcCovers) {
      if (cover.root_only && facts_.uid != 0) continue;
      Add({cover.always ? "--ro-bind" : "--ro-bind-try", absl::StrCat("/proc/", cover.name),
           absl::StrCat(target, "/", cover.name)});
    }
  }

  const Plan& plan_;
  const HostFacts& facts_;
  const AccessMap map_;
  DescriptorNumbers* numbers_;
  BwrapArgs* out_;
  std::vector<absl::string_view> read_only_later_;
};

}  // namespace

int DescriptorNumbers::Next() {
  ++last_;
  while (keep_index_ < keep_.size() && keep_[keep_index_] <= last_) {
    if (keep_[keep_index_] == last_) ++last_;
    ++keep_index_;
  }
  return last_;
}

BwrapArgs MakeBwrapArgs(const Plan& plan, const HostFacts& facts, DescriptorNumbers* numbers) {
  BwrapArgs out;
  out.words.reserve(32 + 6 * plan.mounts.size());
  for (const char* word : {"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
                           "--unshare-cgroup-try"}) {
    out.words.emplace_back(word);
  }
  if (plan.network == NetworkMode::kNone) out.words.emplace_back("--unshare-net");
  // Without --new-session: the terminal stays the command's, and the filter refuses the two ioctls
  // by which it could type into it.
  //
  // Bubblewrap leaves uid 0 all capabilities of the user namespace unless told otherwise; with them
  // it would unmount what covers the denied paths.
  for (const char* word : {"--die-with-parent", "--cap-drop", "ALL"}) out.words.emplace_back(word);
  MountWords(plan, facts, numbers, &out).Make();
  out.words.emplace_back("--chdir");
  out.words.push_back(plan.command.cwd);
  for (const EnvVar& variable : plan.env) {
    if (!ActsOnWrapper(variable.name)) continue;
    out.words.emplace_back("--setenv");
    out.words.push_back(variable.name);
    out.words.push_back(variable.value);
  }
  return out;
}

bool ActsOnWrapper(absl::string_view name) {
  // ld.so(8), mallopt(3), iconv(3), locale(7), gettext and resolver of glibc, and of musl.
  for (absl::string_view prefix : {"LD_", "GLIBC_", "MALLOC_", "GCONV_", "LIBC_", "MUSL_"}) {
    if (absl::StartsWith(name, prefix)) return true;
  }
  for (absl::string_view exact :
       {"GETCONF_DIR", "LOCPATH", "NLSPATH", "OUTPUT_CHARSET", "TEXTDOMAINDIR", "HOSTALIASES",
        "LOCALDOMAIN", "RES_OPTIONS", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"}) {
    if (name == exact) return true;
  }
  return false;
}

}  // namespace agent_exec
