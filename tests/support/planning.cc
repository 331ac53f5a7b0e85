#include "support/planning.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "plan/resolve.h"

namespace agent_exec::testing {
namespace {

std::string Octal(uint32_t mode) {
  std::string digits;
  for (; mode > 0; mode >>= 3) digits.insert(digits.begin(), static_cast<char>('0' + (mode & 7)));
  return digits.empty() ? "0" : digits;
}

std::string FormatOp(const Plan& plan, const MountOp& op) {
  std::string access = op.access == Access::kWrite ? "rw" : "ro";
  std::string suffix = op.purpose == Purpose::kPin           ? " (pin)"
                       : op.purpose == Purpose::kPlaceholder ? " (placeholder)"
                                                             : "";
  switch (op.kind) {
    case MountKind::kBind:
      return absl::StrCat(access, " bind ", op.target, op.source == op.target ? "" : " <- ",
                          op.source == op.target ? "" : op.source, suffix);
    case MountKind::kTmpfs:
      return absl::StrCat(access, " tmpfs ", op.target, " ", Octal(op.mode),
                          op.size_bytes > 0 ? absl::StrCat(" ", op.size_bytes) : "");
    case MountKind::kProc:
      return absl::StrCat("proc ", op.target);
    case MountKind::kDev:
      return absl::StrCat("dev ", op.target);
    case MountKind::kMask:
      return absl::StrCat("mask ", op.node == Node::kDirectory ? "dir " : "file ", op.target);
    case MountKind::kData:
      return absl::StrCat("data ", op.target, " = ", plan.blobs[op.blob]);
    case MountKind::kSymlink:
      return absl::StrCat("link ", op.target, " -> ", op.source);
  }
  return "?";
}

void ReadRule(absl::string_view line, int number, Policy* policy) {
  std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  PathRule rule;
  rule.want = words[0] == "read"        ? Want::kRead
              : words[0] == "write"     ? Want::kWrite
              : words[0] == "deny-read" ? Want::kDenyRead
                                        : Want::kDenyWrite;
  absl::string_view pattern = words[1];
  rule.takes_back = absl::ConsumePrefix(&pattern, "!");
  rule.pattern = std::string(pattern);
  for (absl::string_view word : words) {
    if (word == "missing=allow") rule.missing = Missing::kAllow;
    if (word == "missing=block") rule.missing = Missing::kBlock;
    if (word == "kind=file") rule.kind = NodeHint::kFile;
    if (word == "kind=dir") rule.kind = NodeHint::kDirectory;
  }
  rule.origin = {Origin::Kind::kFile, "p", number, 1};
  policy->paths.push_back(std::move(rule));
}

}  // namespace

const char kHost[] = R"(
  /usr/bin/make mode=0755
  /usr/bin/sh mode=0755
  /etc/passwd = root:x:0:0::/root:/bin/sh\nu:x:1000:1000::/home/u:/bin/sh\nnobody:x:65534:65534::/nonexistent:/bin/false\n
  /proc/net/unix
  /dev/
  /tmp/ mode=01777
  /var/tmp/ mode=01777
  /run/
  /root/ mode=0700
  /home/u/ uid=1000
  /w/ uid=1000
)";

Policy PolicyOf(absl::string_view rules) {
  Policy policy;
  policy.mode.value = Mode::kWorkspaceWrite;
  policy.home.value = HomeMode::kPrivate;
  policy.tmp.value = TmpMode::kPrivate;
  policy.git.value = GitMode::kReadOnly;
  policy.nested_repositories.value = NestedRepositories::kProtect;
  policy.network.value = NetworkMode::kNone;
  policy.backend.value = "auto";
  int number = 0;
  for (absl::string_view line : absl::StrSplit(rules, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (!line.empty()) ReadRule(line, ++number, &policy);
  }
  for (const char* name : {"HOME", "PATH", "TMPDIR"}) {
    policy.env.push_back(
        {EnvRule::Kind::kAllow, name, "", {Origin::Kind::kBuiltin, "built-in", 1, 1}});
  }
  return policy;
}

HostFacts FactsOf() {
  HostFacts facts;
  facts.uid = 1000;
  facts.gid = 1000;
  facts.cwd = "/w";
  facts.env = {"HOME=/home/u", "PATH=/usr/bin"};
  facts.self_path = "/usr/bin/agent-exec";
  return facts;
}

std::string FormatMounts(const Plan& plan) {
  std::string out;
  for (const MountOp& op : plan.mounts) absl::StrAppend(&out, FormatOp(plan, op), "\n");
  return out;
}

std::string FormatOwnMounts(const Plan& plan) {
  static const char* const kUsual[] = {"ro bind /",
                                       "ro tmpfs / 755",
                                       "proc /proc",
                                       "dev /dev",
                                       "rw tmpfs /dev/shm 1777",
                                       "rw tmpfs /tmp 1777",
                                       "rw tmpfs /var/tmp 1777",
                                       "ro tmpfs /run 755",
                                       "ro tmpfs /home 755",
                                       "ro tmpfs /root 700",
                                       "rw tmpfs /home/u 700"};
  std::string out;
  for (const MountOp& op : plan.mounts) {
    std::string line = FormatOp(plan, op);
    if (std::find(std::begin(kUsual), std::end(kUsual), line) == std::end(kUsual))
      absl::StrAppend(&out, line, "\n");
  }
  return out;
}

std::string FormatPlaceholders(const Plan& plan) {
  std::string out;
  for (const Placeholder& placeholder : plan.placeholders) {
    absl::StrAppend(&out, placeholder.node == Node::kDirectory ? "dir " : "file ", placeholder.path,
                    " in ", placeholder.root, placeholder.writable ? " writable" : "", "\n");
  }
  return out;
}

std::string FormatNotices(const Plan& plan) {
  std::vector<std::string> lines;
  for (const Notice& notice : plan.notices)
    lines.push_back(absl::StrCat(notice.code, ": ", notice.message, "\n"));
  std::sort(lines.begin(), lines.end());
  std::string out;
  for (const std::string& line : lines) out += line;
  return out;
}

absl::StatusOr<Plan> PlanOf(const Policy& policy, FileView& files) {
  return ResolvePlan(policy, FactsOf(), files, {"make"}, {});
}

absl::StatusOr<Plan> PlanOf(absl::string_view rules, absl::string_view tree) {
  FakeFileView files(absl::StrCat(kHost, tree));
  return PlanOf(PolicyOf(rules), files);
}

}  // namespace agent_exec::testing
