#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "host/facts.h"
#include "host/file_view.h"
#include "plan/path_resolver.h"
#include "plan/plan.h"
#include "plan/resolve.h"
#include "plan/settle.h"
#include "policy/policy.h"

namespace agent_exec {

// Plan::origins with an index: a policy may hold thousands of rules, each with a place of its own.
class OriginTable {
 public:
  explicit OriginTable(Plan* plan);
  OriginId Add(const Origin& origin);
  // Something that follows from the design: "private home".
  OriginId Implied(absl::string_view what);
  // More origins than an id can tell apart.
  bool full() const { return full_; }

 private:
  Plan& plan_;
  // The ids in the order of what they stand for, so that a lookup copies no text.
  struct Less {
    using is_transparent = void;
    const Plan* plan;
    const Origin& Of(OriginId id) const { return plan->origins[id]; }
    static const Origin& Of(const Origin& origin) { return origin; }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      const Origin& left = Of(a);
      const Origin& right = Of(b);
      return std::tie(left.kind, left.line, left.column, left.name) <
             std::tie(right.kind, right.line, right.column, right.name);
    }
  };
  absl::btree_set<OriginId, Less> ids_;
  bool full_ = false;
  OriginId last_ = 0;
};

// A link that must be held if its directory turns out to be writable.
struct LinkCandidate {
  HeldLink link;
  bool pinned = false;
};

// A denied file with other names.
struct HardLinked {
  std::string path;
  uint64_t links = 0;
  OriginId origin = 0;
};

// What the passes share: their input, and the claims that they collect.
struct Planning {
  Planning(const Policy& the_policy, const HostFacts& the_facts, FileView* the_files)
      : policy(the_policy), facts(the_facts), files(*the_files), paths(the_files), origins(&plan) {}

  const Policy& policy;
  const HostFacts& facts;
  FileView& files;
  PathResolver paths;
  Anchors anchors;
  Plan plan;
  OriginTable origins;
  std::vector<Entry> entries;
  std::vector<LinkCandidate> links;
  std::vector<HardLinked> hard_links;
  // Canonical places that this or an earlier run could have written to: a symlink below one is not
  // taken for the user's word. The workspace is always one, whatever today's mode.
  std::vector<std::string> writable_roots;
  bool shows_root = false;  // a rule shows the host's "/"

  // A small configuration file, read once. nullptr when it cannot be read or is too large.
  const std::string* ReadConfig(const std::string& path);

 private:
  struct ConfigFile {
    bool good = false;
    std::string text;
  };
  absl::btree_map<std::string, std::unique_ptr<ConfigFile>> configs_;
};

// The value of a variable of the caller; "" when there is none. The first one counts, as for
// getenv.
absl::string_view CallerVariable(const HostFacts& facts, absl::string_view name);

// What mounts and placeholders tell apart: sockets, devices and FIFOs are mounted like files.
Node NodeOf(const NodeInfo& info);

// Is the path, or a link on the way to it, below a place that the command could have written to?
bool LedThroughWritable(const FoundPath& found, const Planning& planning);

// Claims a host path for reading or writing, and shows the links that led to it.
void AddBind(const FoundPath& found, Rank rank, Access access, Purpose purpose, OriginId origin,
             Planning* planning);
// Shows links again where their directories are hidden.
void AddLinks(const std::vector<PathLink>& links, Purpose purpose, OriginId origin,
              Planning* planning);
void AddTmpfs(absl::string_view target, Rank rank, Access access, uint32_t mode, Purpose purpose,
              OriginId origin, Planning* planning);
void AddMask(absl::string_view target, Node node, Rank rank, Purpose purpose, OriginId origin,
             Planning* planning);

// What a protected name asks for.
struct Guard {
  std::string path;                 // absolute; links on the way are followed, and held
  bool pinned = false;              // a literal path: no ancestor may be renamed
  bool blocks = false;              // must not come into being when missing
  NodeHint kind = NodeHint::kAuto;  // what its placeholder is
  Purpose purpose = Purpose::kRule;
  OriginId origin = 0;
};

// The status for a name that cannot be looked up (EACCES, ENAMETOOLONG …). Ok where the caller may
// not search a directory that is not its own: what it cannot reach, the command cannot either. In
// its own the command may give itself the right.
absl::Status UnreachableStatus(const FoundPath& found, absl::string_view act,
                               absl::string_view path, OriginId origin, Planning* planning);

// Is this what another run of ours keeps a missing name from being created with?
bool IsPlaceholder(const FoundPath& found, Planning* planning);

// Claims protection for a name wherever it could be written.
//   Errors: FailedPrecondition when the name cannot be looked up but the command could make it so.
absl::Status AddGuard(const Guard& guard, Planning* planning);

// Does the built-in table say that tools read this name as a file? What a placeholder for it then
// is.
bool IsFileName(absl::string_view basename);

// The place of an origin, for messages.
std::string PlaceOf(OriginId origin, const Planning& planning);

}  // namespace agent_exec
