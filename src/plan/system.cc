#include "plan/system.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "base/status.h"

namespace agent_exec {
namespace {

// What only root can read and no program needs that root runs here: password hashes, private keys,
// other people's secrets. The kernel lets uid 0 open these without any capability, since it owns
// them.
constexpr absl::string_view kRootOnly[] = {
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/master.passwd",
    "/etc/security/opasswd",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh/ssh_host_dsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/letsencrypt/archive",
    "/etc/letsencrypt/live",
    "/etc/krb5.keytab",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/etc/ppp/chap-secrets",
    "/etc/ppp/pap-secrets",
    "/etc/ipsec.secrets",
    "/etc/ipsec.d/private",
    "/etc/kubernetes",
    "/etc/rancher",
    "/var/backups/gshadow.bak",
    "/var/backups/shadow.bak",
    "/var/lib/docker",
    "/var/lib/containerd",
    "/var/lib/kubelet",
    "/var/spool/cron",
};

// Parts of /run that programs outside a desktop or service session need. NixOS finds its system and
// its graphics drivers by these two; both are links into the store.
constexpr absl::string_view kNeededInRun[] = {"/run/current-system", "/run/opengl-driver"};

class SystemPass {
 public:
  explicit SystemPass(Planning* planning) : planning_(*planning) {}

  absl::Status Run() {
    AddRoot();
    AddKernel();
    AE_RETURN_IF_ERROR(AddTemporary("/tmp", "tmp"));
    AE_RETURN_IF_ERROR(AddTemporary("/var/tmp", "var-tmp"));
    AddRun();
    if (planning_.facts.uid == 0) AddRootOnly();
    return absl::OkStatus();
  }

 private:
  void AddRoot() {
    AddTmpfs("/", Rank::kSystem, Access::kRead, 0755, Purpose::kSystem,
             planning_.origins.Implied("empty root"), &planning_);
  }

  void AddKernel() {
    OriginId origin = planning_.origins.Implied("own /proc and /dev");
    Entry entry;
    entry.rank = Rank::kSystem;
    entry.op.purpose = Purpose::kSystem;
    entry.op.origin = origin;
    entry.op.kind = MountKind::kProc;
    entry.op.target = "/proc";
    planning_.entries.push_back(entry);
    entry.op.kind = MountKind::kDev;
    entry.op.target = "/dev";
    planning_.entries.push_back(std::move(entry));
    AddTmpfs("/dev/shm", Rank::kPrivate, Access::kWrite, 01777, Purpose::kTemporary, origin,
             &planning_);
  }

  absl::Status AddTemporary(absl::string_view name, absl::string_view lasting_name) {
    FoundPath found = planning_.paths.Follow(name);
    if (!found.is_directory()) {
      // A read-only root has no place to mount it.
      if (planning_.shows_root) return absl::OkStatus();
      found.path = std::string(name);
    }
    for (const std::string& made : temporary_) {
      if (made == found.path) return absl::OkStatus();  // /var/tmp is a link to /tmp
    }
    temporary_.push_back(found.path);
    AddLinks(found.links, Purpose::kTemporary, planning_.origins.Implied("private temporary files"),
             &planning_);
    const Sourced<TmpMode>& tmp = planning_.policy.tmp;
    switch (tmp.value) {
      case TmpMode::kPrivate:
        AddTmpfs(found.path, Rank::kPrivate, Access::kWrite, 01777, Purpose::kTemporary,
                 planning_.origins.Add(tmp.origin), &planning_);
        return absl::OkStatus();
      case TmpMode::kHost:
        if (!found.is_directory()) return absl::OkStatus();
        AddBind(found, Rank::kPrivate, Access::kWrite, Purpose::kTemporary,
                planning_.origins.Add(tmp.origin), &planning_);
        // The command can plant links there, like everybody else.
        planning_.writable_roots.push_back(found.path);
        return absl::OkStatus();
      case TmpMode::kWorkspace:
        return AddLastingTemporary(found.path, lasting_name);
    }
    return absl::OkStatus();
  }

  absl::Status AddLastingTemporary(absl::string_view target, absl::string_view name) {
    AE_ASSIGN_OR_RETURN(std::string source,
                        AddLastingDir(name, planning_.policy.tmp.origin, &planning_));
    Entry entry;
    entry.rank = Rank::kPrivate;
    entry.op.kind = MountKind::kBind;
    entry.op.source = std::move(source);
    entry.op.target = std::string(target);
    entry.op.access = Access::kWrite;
    entry.op.purpose = Purpose::kTemporary;
    entry.op.origin = planning_.origins.Add(planning_.policy.tmp.origin);
    planning_.entries.push_back(std::move(entry));
    return absl::OkStatus();
  }

  void AddRun() {
    OriginId origin = planning_.origins.Implied("hidden /run");
    for (absl::string_view name : {"/run", "/var/run"}) {
      FoundPath found = planning_.paths.Follow(name);
      if (!found.is_directory()) continue;
      AddTmpfs(found.path, Rank::kHide, Access::kRead, 0755, Purpose::kSystem, origin, &planning_);
    }
    for (absl::string_view name : kNeededInRun) {
      FoundPath found = planning_.paths.Follow(name);
      if (found.error == 0)
        AddBind(found, Rank::kExpose, Access::kRead, Purpose::kSystem, origin, &planning_);
    }
    if (planning_.policy.network.value == NetworkMode::kHost) AddNameResolution();
  }

  // systemd-resolved, resolvconf and NetworkManager keep resolv.conf in /run and replace it by
  // rename, so it is the directory that is shown: a mount on the file alone would be gone after the
  // first change of network.
  void AddNameResolution() {
    OriginId origin = planning_.origins.Implied("name resolution");
    FoundPath found = planning_.paths.Follow("/etc/resolv.conf");
    if (found.error != 0) return;
    FoundPath directory = planning_.paths.Follow(Dirname(found.path));
    bool is_own_directory = IsUnder(directory.path, "/run") && directory.path != "/run";
    if (is_own_directory && directory.is_directory()) {
      AddLinks(found.links, Purpose::kSystem, origin, &planning_);
      AddBind(directory, Rank::kExpose, Access::kRead, Purpose::kSystem, origin, &planning_);
    } else {
      AddBind(found, Rank::kExpose, Access::kRead, Purpose::kSystem, origin, &planning_);
    }
  }

  void AddRootOnly() {
    OriginId origin = planning_.origins.Implied("files for root alone");
    for (absl::string_view path : kRootOnly) {
      FoundPath found = planning_.paths.Follow(path);
      if (found.error != 0) continue;
      AddMask(found.path, NodeOf(found.info), Rank::kSecret, Purpose::kSystem, origin, &planning_);
    }
  }

  Planning& planning_;
  std::vector<std::string> temporary_;
};

}  // namespace

absl::Status AddSystem(Planning* planning) { return SystemPass(planning).Run(); }

absl::StatusOr<std::string> AddLastingDir(absl::string_view name, const Origin& origin,
                                          Planning* planning) {
  const std::string& cache = planning->anchors.cache_dir;
  if (cache.empty()) {
    return ErrorAt(absl::StatusCode::kFailedPrecondition,
                   absl::StrCat("cannot keep ", QuoteForMessage(name),
                                " between runs: there is no home directory"),
                   FormatOrigin(origin), "set HOME or XDG_CACHE_HOME");
  }
  for (const std::string& root : planning->writable_roots) {
    if (!IsUnder(cache, root)) continue;
    return ErrorAt(
        absl::StatusCode::kFailedPrecondition,
        absl::StrCat("cannot keep ", QuoteForMessage(name), " below ", QuoteForMessage(cache),
                     ": the command can write to ", QuoteForMessage(root)),
        FormatOrigin(origin), "set XDG_CACHE_HOME to a directory outside");
  }
  LastingDir lasting;
  lasting.path = absl::StrCat(cache, "/agent-exec/workspaces/",
                              Sha256Hex(planning->anchors.workspace).substr(0, 32), "/", name);
  lasting.origin = planning->origins.Add(origin);
  std::string path = lasting.path;
  planning->plan.lasting_dirs.push_back(std::move(lasting));
  return path;
}

}  // namespace agent_exec
