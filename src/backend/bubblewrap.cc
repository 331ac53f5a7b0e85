#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backend/bwrap_args.h"
#include "backend/bwrap_limits.h"
#include "backend/rows.h"
#include "base/quote.h"
#include "base/status.h"
#include "seccomp/filter.h"

// The system's bubblewrap, executed in place: the process that the caller started becomes bwrap,
// and nothing of ours is left. All words but "--args FD" and the command travel in a memory file,
// since every local user can read an argument list in /proc.

namespace agent_exec {
namespace {

// bubblewrap.c, MAX_ARGS: the words after the program's name and those of --args together.
constexpr int64_t kMaxWords = 9000;
// Descriptors that bubblewrap opens itself: procfs, namespaces, event and signal descriptors,
// mountinfo, the root it leaves.
constexpr int64_t kOwnDescriptors = 16;

constexpr const char* kInstallHint =
    "install it: 'apt-get install bubblewrap', 'dnf install bubblewrap', 'apk add bubblewrap' or "
    "'pacman -S bubblewrap'";

// Options that every plan needs and that some version in use lacks.
constexpr const char* kNeededOptions[] = {
    "args",         "cap-drop", "chdir",      "die-with-parent", "perms",
    "proc",         "dev",      "remount-ro", "ro-bind-data",    "ro-bind-try",
    "seccomp",      "setenv",   "symlink",    "tmpfs",           "unshare-cgroup-try",
    "unshare-user",
};

constexpr Feature kFeatures[] = {
    Feature::kMounts,      Feature::kMasks,        Feature::kPlaceholders, Feature::kLinks,
    Feature::kPids,        Feature::kIpc,          Feature::kNetworkNone,  Feature::kNetworkHost,
    Feature::kFilter,      Feature::kNoPrivileges, Feature::kFileSize,     Feature::kOpenFiles,
    Feature::kEnvironment, Feature::kDescriptors,
};

// Features are unknown when they could not be listed; bubblewrap then refuses the option itself.
bool Knows(const Tool& tool, absl::string_view option) {
  return tool.features.empty() ||
         std::binary_search(tool.features.begin(), tool.features.end(), option);
}

Diagnostic Unavailable(const HostFacts& facts) {
  if (facts.os != Os::kLinux) return {"bubblewrap runs on Linux only", "", ""};
  const Tool& tool = facts.bwrap;
  if (tool.path.empty()) {
    return {tool.problem.empty() ? "not installed" : tool.problem, "",
            tool.hint.empty() ? kInstallHint : tool.hint};
  }
  std::vector<std::string> lacking;
  for (const char* option : kNeededOptions) {
    if (!Knows(tool, option)) lacking.push_back(absl::StrCat("--", option));
  }
  if (!lacking.empty()) {
    return {absl::StrCat(QuoteForMessage(tool.path), " ",
                         tool.version.empty() ? "" : absl::StrCat("(", tool.version, ") "),
                         "has no ", absl::StrJoin(lacking, ", ")),
            "", "version 0.7 or newer has all that is needed"};
  }
  if (!facts.user_namespaces) {
    return {
        absl::StrCat("this host refuses user namespaces: ", facts.user_namespaces_problem.empty()
                                                                ? "reason unknown"
                                                                : facts.user_namespaces_problem),
        "",
        "as root: 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0' on Ubuntu, "
        "'sysctl -w user.max_user_namespaces=10000' elsewhere; a container must be started with "
        "them allowed"};
  }
  return {};
}

// The place of the first rule in the text that most mounts come from: where to change something
// when there are too many. A list of files has a place for each of them, so texts are counted, not
// places.
std::string BusiestPlace(const Plan& plan) {
  absl::btree_map<absl::string_view, std::pair<int, OriginId>>
      texts;  // name → mounts, first origin
  const std::pair<int, OriginId>* busiest = nullptr;
  for (const MountOp& op : plan.mounts) {
    if (op.origin >= plan.origins.size()) continue;
    auto [it, is_new] = texts.try_emplace(plan.origins[op.origin].name, 0, op.origin);
    ++it->second.first;
  }
  for (const auto& [name, text] : texts) {
    if (busiest == nullptr || text.first > busiest->first) busiest = &text;
  }
  return busiest == nullptr ? "" : FormatOrigin(plan.origins[busiest->second]);
}

absl::Status TooMany(const Plan& plan, absl::string_view message) {
  return ErrorAt(absl::StatusCode::kResourceExhausted, message, BusiestPlace(plan),
                 "name a directory in place of the many paths in it");
}

// The words of --args, and what bubblewrap counts beside them: "--args FD --" and the command.
absl::Status CheckWordCount(const Plan& plan, size_t words) {
  int64_t count = static_cast<int64_t>(words + plan.command.argv.size()) + 3;
  if (count <= kMaxWords) return absl::OkStatus();
  return TooMany(plan, absl::StrCat("bubblewrap takes at most ", kMaxWords,
                                    " arguments, and this policy needs ", count));
}

absl::Status CheckDescriptors(const Plan& plan, const HostFacts& facts, int highest) {
  int64_t needed = highest + 1 + kOwnDescriptors;
  if (facts.max_open_files > 0 && needed > static_cast<int64_t>(facts.max_open_files)) {
    return TooMany(plan,
                   absl::StrCat("bubblewrap needs ", needed,
                                " descriptors for this policy, and the limit on open files is ",
                                facts.max_open_files));
  }
  if (plan.open_files > 0 && needed > plan.open_files) {
    return TooMany(plan, absl::StrCat("bubblewrap needs ", needed,
                                      " descriptors for this policy, and limits.open-files is ",
                                      plan.open_files));
  }
  return absl::OkStatus();
}

// RLIMIT_FSIZE holds for bubblewrap as well, which copies the data files.
absl::Status CheckFileSize(const Plan& plan, const std::vector<PassBlob>& passed) {
  if (plan.file_size_bytes == 0) return absl::OkStatus();
  for (const PassBlob& pass : passed) {
    auto size = static_cast<int64_t>(plan.blobs[pass.blob].size());
    if (size <= plan.file_size_bytes) continue;
    return ErrorAt(absl::StatusCode::kResourceExhausted,
                   absl::StrCat("limits.file-size is ", plan.file_size_bytes,
                                " bytes, and the sandbox itself needs a file of ", size),
                   "", "a limit of 64KiB is enough for it");
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const Plan& plan, const HostFacts& facts) {
  if (!plan.placeholders.empty() && !Knows(facts.bwrap, "info-fd")) {
    return ErrorAt(absl::StatusCode::kFailedPrecondition,
                   absl::StrCat(QuoteForMessage(facts.bwrap.path),
                                " has no --info-fd, which placeholders for missing names need"),
                   "", "version 0.7 or newer has it");
  }
  for (const MountOp& op : plan.mounts) {
    if (op.kind != MountKind::kTmpfs || op.size_bytes == 0 || Knows(facts.bwrap, "size")) continue;
    return ErrorAt(absl::StatusCode::kFailedPrecondition,
                   absl::StrCat(QuoteForMessage(facts.bwrap.path),
                                " has no --size, which the size of a temporary directory needs"),
                   FormatOrigin(plan.origins[op.origin]), "version 0.7 or newer has it");
  }
  return absl::OkStatus();
}

// There is no supervisor here that could tell a directory, which may become setgid, from a file.
FilterOptions FilterFor(const Plan& plan, const HostFacts& facts) {
  FilterOptions options;
  options.arch = facts.arch;
  options.setgid_chmod = SetgidChmod::kRefuse;
  options.ignore_chown = plan.ignore_chown;
  options.nested_sandbox = plan.nested_sandbox;
  return options;
}

std::string JoinWithNuls(const std::vector<std::string>& words) {
  size_t size = 0;
  for (const std::string& word : words) size += word.size() + 1;
  std::string bytes;
  bytes.reserve(size);
  for (const std::string& word : words) bytes.append(word).push_back('\0');
  return bytes;
}

// The command as typed. Bubblewrap looks a bare name up in PATH, as was done for the plan; without
// a PATH the C library's idea of one would decide instead.
std::vector<std::string> CommandWords(const Plan& plan) {
  std::vector<std::string> words = plan.command.argv;
  bool has_path = std::any_of(plan.env.begin(), plan.env.end(),
                              [](const EnvVar& variable) { return variable.name == "PATH"; });
  if (!has_path && !absl::StrContains(words[0], '/')) words[0] = plan.command.path;
  return words;
}

std::vector<std::string> WrapperEnvironment(const Plan& plan) {
  std::vector<std::string> env = EnvironmentFor(plan, kBubblewrap.name);
  env.erase(std::remove_if(env.begin(), env.end(),
                           [](const std::string& variable) {
                             return ActsOnWrapper(variable.substr(0, variable.find('=')));
                           }),
            env.end());
  return env;
}

// Numbers for what bubblewrap reads and writes beside the mounts.
struct Channels {
  int args = 0;
  int filter = 0;
  int info = 0;  // 0 when there are no placeholders
};

Script MakeScript(const Plan& plan, const HostFacts& facts, const Channels& channels,
                  const BwrapArgs& args, std::string filter, std::vector<std::string> command) {
  Script script;
  for (const LastingDir& dir : plan.lasting_dirs)
    script.steps.emplace_back(MakeLastingDir{dir.path});
  for (const Placeholder& placeholder : plan.placeholders) {
    script.steps.emplace_back(MakePlaceholder{placeholder});
  }
  if (channels.info != 0) script.steps.emplace_back(StartSweeper{channels.info});
  // Bubblewrap follows its mount targets, so it cannot do this, but binds what it finds
  // recursively. After the sweeper, which must not be left in a namespace of ours.
  for (const HeldLink& link : plan.held_links) script.steps.emplace_back(HoldLink{link});

  script.blobs = {JoinWithNuls(args.words), std::move(filter)};
  script.steps.emplace_back(PassBlob{channels.args, 0, "bwrap-args"});
  script.steps.emplace_back(PassBlob{channels.filter, 1, kFilterBlobName});
  std::vector<int> keep = plan.keep_fds;
  keep.insert(keep.end(), {channels.args, channels.filter});
  if (channels.info != 0) keep.push_back(channels.info);
  for (const PassBlob& pass : args.blobs) {
    keep.push_back(pass.fd);
    script.steps.emplace_back(PassBlob{pass.fd, static_cast<int>(script.blobs.size()), pass.name});
    script.blobs.push_back(plan.blobs[pass.blob]);
  }
  for (const PassNull& pass : args.nulls) {
    keep.push_back(pass.fd);
    script.steps.emplace_back(pass);
  }
  // After the descriptors, whose numbers may lie above the new limit's reach.
  AppendLimits(plan, &script);
  std::sort(keep.begin(), keep.end());
  script.steps.emplace_back(CloseOthers{std::move(keep)});

  std::vector<std::string> argv = {facts.bwrap.path, "--args", absl::StrCat(channels.args), "--"};
  std::move(command.begin(), command.end(), std::back_inserter(argv));
  script.steps.emplace_back(Exec{facts.bwrap.path, std::move(argv), WrapperEnvironment(plan)});
  return script;
}

absl::StatusOr<Rendered> Render(const Plan& plan, const HostFacts& facts) {
  AE_RETURN_IF_ERROR(CheckOptions(plan, facts));
  DescriptorNumbers numbers(plan.keep_fds);
  Channels channels;
  channels.args = numbers.Next();
  channels.filter = numbers.Next();
  if (!plan.placeholders.empty()) channels.info = numbers.Next();
  BwrapArgs args = MakeBwrapArgs(plan, facts, &numbers);
  args.words.insert(args.words.end(), {"--seccomp", absl::StrCat(channels.filter)});

  Rendered rendered;
  std::vector<std::string> command = CommandWords(plan);
  rendered.printed_argv.reserve(args.words.size() + command.size() + 2);
  rendered.printed_argv.push_back(facts.bwrap.path);
  rendered.printed_argv.insert(rendered.printed_argv.end(), args.words.begin(), args.words.end());
  rendered.printed_argv.emplace_back("--");
  rendered.printed_argv.insert(rendered.printed_argv.end(), command.begin(), command.end());
  if (channels.info != 0) {
    args.words.insert(args.words.end(), {"--info-fd", absl::StrCat(channels.info)});
  }

  AE_RETURN_IF_ERROR(CheckWordCount(plan, args.words.size()));
  AE_RETURN_IF_ERROR(CheckDescriptors(plan, facts, numbers.highest()));
  AE_RETURN_IF_ERROR(CheckFileSize(plan, args.blobs));

  rendered.script = MakeScript(plan, facts, channels, args, FilterBytes(FilterFor(plan, facts)),
                               std::move(command));
  rendered.enforced = EnforcedOf(kFeatures, plan);
  for (const BackendLimit& limit : BwrapLimits()) {
    if (limit.applies(plan, facts)) rendered.limits.push_back(limit);
  }
  rendered.model = ProcessModel::kInPlace;
  return rendered;
}

}  // namespace

const Backend kBubblewrap = {
    "bwrap",
    "the system's bubblewrap: user, mount, pid, ipc, uts, cgroup and network namespaces, and the "
    "filter",
    kFeatures,
    BwrapLimits(),
    /*in_auto=*/true,
    Unavailable,
    Render,
};

}  // namespace agent_exec
