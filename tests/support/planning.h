#pragma once

// Plans from short texts, and back to text.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "host/facts.h"
#include "plan/plan.h"
#include "policy/policy.h"
#include "support/fake_file_view.h"

namespace agent_exec::testing {

// A policy with these path rules, one a line: "read /", "write .", "deny-read .env", "deny-read
// !keys", "deny-write .git missing=allow kind=file". Line N has the origin "p:N:1". Everything else
// is as in workspace-write, without environment rules but for "allow HOME", "allow PATH" and "allow
// TMPDIR".
Policy PolicyOf(absl::string_view rules);

// Who runs what where in the tests: user 1000 with the home /home/u, in /w, with a PATH of
// /usr/bin.
HostFacts FactsOf();

// The part of the host that every plan looks at: /usr/bin/make, /etc/passwd, /proc, /dev, /tmp,
// /var/tmp, /run, /root, the home and an empty workspace /w of user 1000.
extern const char kHost[];

// The mount list, one op a line, in order:
//   ro bind /            rw bind /w           rw bind /tmp <- /cache/tmp
//   ro tmpfs /run 755    rw tmpfs /tmp 1777   rw tmpfs /tmp 1777 1048576
//   mask file /w/.env    mask dir /w/keys     data /home/u/.gitconfig = TEXT
//   link /bin -> usr/bin proc /proc           dev /dev
// Pins end in " (pin)", placeholders' mounts in " (placeholder)".
std::string FormatMounts(const Plan& plan);
// The same without the part that is alike in most plans: the root, /proc, /dev, /dev/shm, /tmp,
// /var/tmp, /run, /home, /root and the private home.
std::string FormatOwnMounts(const Plan& plan);
// "dir /w/.git", "file /w/.npmrc in /w", "dir /w/a writable".
std::string FormatPlaceholders(const Plan& plan);
// "hard-link: MESSAGE", sorted.
std::string FormatNotices(const Plan& plan);

// ResolvePlan of `make` with FactsOf and no policy file.
absl::StatusOr<Plan> PlanOf(const Policy& policy, FileView& files);
absl::StatusOr<Plan> PlanOf(absl::string_view rules, absl::string_view tree);

}  // namespace agent_exec::testing
