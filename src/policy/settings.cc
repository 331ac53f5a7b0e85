#include <cstdint>
#include <limits>

#include "policy/setting.h"
#include "policy/setting_values.h"

// THE settings table. A new setting is a row here and a field in Policy; a new value type is a pair
// of functions in setting_values.h.

namespace agent_exec {
namespace {

constexpr int64_t kMaxBytes = std::numeric_limits<int64_t>::max();
constexpr int64_t kMaxDescriptor = 1048575;  // the kernel's fs.nr_open, less one

constexpr Setting kSettings[] = {
    // Policy.
    {
        .key = "mode",
        .flag = "mode",
        .metavar = "MODE",
        .type = ValueType::kEnum,
        .choices = "read-only|workspace-write|danger-full-access",
        .tighten = Tighten::kEarlier,
        .completion = Completion::kChoices,
        .group = Group::kPolicy,
        .help = "base profile (default: workspace-write)",
        .man = "The built-in profile that everything else is added to. read-only: the host can be "
               "read, nothing on it can be written. workspace-write (the default): the workspace "
               "can be written, but for protected names such as .git, .env and node_modules. "
               "danger-full-access: nothing is confined; the environment is still cleaned and "
               "descriptors are still closed. In every mode but the last, homes, /run and other "
               "people's temporary files are hidden, /tmp is private and there is no network, "
               "unless other settings say so.",
        .apply = ApplyChoice<&Policy::mode>,
        .show = ShowChoiceOf<&Policy::mode>,
    },
    {
        .key = "use-profiles",
        .flag = "profile",
        .metavar = "NAME",
        .type = ValueType::kStringList,
        .merge = Merge::kAppend,
        .completion = Completion::kProfileName,
        .group = Group::kPolicy,
        .help = "apply [profile.NAME] of the policy files, or a built-in one",
        .man = "Applies the settings of [profile.NAME] after all policy files and before the other "
               "flags. Built in are install (dependency directories become writable), build (.next "
               "becomes writable) and agent (no .env file can be read). When several policy files "
               "define a profile of this name, each adds its part. Profiles apply in the order "
               "they are asked for, each after those that it extends; one that was applied is not "
               "applied again.",
        .apply = AppendText<&Policy::profiles>,
        .show = ShowTexts<&Policy::profiles>,
    },
    {
        .key = "platforms.enabled",
        .metavar = "PLATFORM",
        .type = ValueType::kStringList,
        .choices = "linux|macos",
        .tighten = Tighten::kSubset,
        .completion = Completion::kChoices,
        .group = Group::kPolicy,
        .help = "platforms on which this policy may be used (default: all)",
        .man = "The platforms for which this policy was written. On any other the launcher refuses "
               "to start the command (status 125), unless run-unsandboxed is accepted by weaken. A "
               "later list replaces an earlier one. Without this setting the policy is for all "
               "platforms.",
        .apply = ApplyPlatforms,
        .show = ShowPlatforms,
    },
    {
        .key = "weaken",
        .flag = "weaken",
        .metavar = "NAME",
        .type = ValueType::kStringList,
        .choices = "inherit-environment|nested-sandbox|run-unsandboxed",
        .merge = Merge::kAppend,
        .completion = Completion::kChoices,
        .group = Group::kPolicy,
        .help = "Reduces security: accept a named loss of it",
        .man =
            "Reduces security: accepts the named loss of it, for this run or this policy. "
            "Nothing else in a policy can do so; looking for 'weaken' audits a policy. "
            "inherit-environment: the command gets all of the caller's environment, secrets "
            "included. nested-sandbox: user namespaces and mounts are open to programs that make "
            "a sandbox of their own (browsers, bubblewrap, podman, nix); what surrounds them "
            "stays closed, but more of the kernel is within reach, and a program that makes a "
            "mount namespace can rename protected names such as .git. Refused for uid 0. "
            "run-unsandboxed: the command runs with no confinement where the policy cannot be "
            "enforced, instead of being refused.",
        .apply = ApplyWeaken,
        .show = ShowWeaken,
    },
    // Filesystem.
    {
        .key = "workspace",
        .flag = "workspace",
        .metavar = "DIR",
        .type = ValueType::kPath,
        .completion = Completion::kDirectory,
        .group = Group::kFilesystem,
        .help = "workspace root (default: the current directory)",
        .man = "The directory in which relative path rules stand, and which workspace-write makes "
               "writable. Default: the current directory. It is never widened by where the command "
               "starts. A workspace that is /, the home or above it is refused.",
        .apply = ApplyText<&Policy::workspace>,
        .show = ShowText<&Policy::workspace>,
    },
    {
        .key = "chdir",
        .flag = "chdir",
        .metavar = "DIR",
        .type = ValueType::kPath,
        .completion = Completion::kDirectory,
        .group = Group::kFilesystem,
        .help = "where the command starts (default: the current directory)",
        .man = "The directory in which the command starts. Default: the current directory. One "
               "that does not exist or that the policy hides is refused.",
        .apply = ApplyText<&Policy::chdir>,
        .show = ShowText<&Policy::chdir>,
    },
    {
        .key = "filesystem.read",
        .flag = "read",
        .metavar = "PATH",
        .type = ValueType::kPathRuleList,
        .merge = Merge::kAppend,
        .completion = Completion::kPath,
        .group = Group::kFilesystem,
        .help = "make PATH visible, read-only",
        .man = "Paths that can be read. A path is absolute ('/x'), in the home ('~/x') or relative "
               "to the workspace root; it may hold *, ?, [...] and {a,b} within a name and ** "
               "across names, and covers everything below it. The deepest path wins; on the same "
               "path deny-read wins over deny-write, deny-write over write, write over read. A "
               "path below a hidden or private directory shows the host's. One that does not exist "
               "is an error, unless it is written { path = \"...\", missing = \"allow\" }. An "
               "entry that begins with '!' takes back earlier entries of this list for what it "
               "matches; '\\!' is a literal '!'.",
        .apply = ApplyPathRule<Want::kRead>,
        .show = ShowPathRule<Want::kRead>,
    },
    {
        .key = "filesystem.write",
        .flag = "write",
        .metavar = "PATH",
        .type = ValueType::kPathRuleList,
        .merge = Merge::kAppend,
        .completion = Completion::kPath,
        .group = Group::kFilesystem,
        .help = "make PATH writable",
        .man = "Paths that can be written, and read. Written as in filesystem.read. Writing below "
               "a protected path needs a deeper entry here or a '!' entry in "
               "filesystem.deny-write.",
        .apply = ApplyPathRule<Want::kWrite>,
        .show = ShowPathRule<Want::kWrite>,
    },
    {
        .key = "filesystem.deny-read",
        .flag = "deny-read",
        .metavar = "PATH",
        .type = ValueType::kPathRuleList,
        .merge = Merge::kAppend,
        .tighten = Tighten::kAppend,
        .completion = Completion::kPath,
        .group = Group::kFilesystem,
        .help = "deny PATH, contents and all below it",
        .man = "Paths that can neither be read nor written: programs see permission denied "
               "(filesystem.denied). Written as in filesystem.read. A pattern with wildcards is "
               "expanded when the launcher starts; names that appear later are not covered by it.",
        .apply = ApplyPathRule<Want::kDenyRead>,
        .show = ShowPathRule<Want::kDenyRead>,
    },
    {
        .key = "filesystem.deny-write",
        .flag = "deny-write",
        .metavar = "PATH",
        .type = ValueType::kPathRuleList,
        .merge = Merge::kAppend,
        .tighten = Tighten::kAppend,
        .completion = Completion::kPath,
        .group = Group::kFilesystem,
        .help = "protect PATH from changes, and from being created",
        .man = "Paths inside writable ones that cannot be changed, removed, renamed or replaced. "
               "Written as in filesystem.read. A path without wildcards that does not exist cannot "
               "be created either; with missing = \"allow\" it is protected only if it exists "
               "(--deny-write-existing), with missing = \"block\" it is never created. What stands "
               "in for a missing name meanwhile is an empty directory, or an empty file for names "
               "that tools read as files; kind = \"file\" or \"dir\" decides where that guess is "
               "wrong. A pattern with wildcards blocks nothing that is missing.",
        .apply = ApplyPathRule<Want::kDenyWrite>,
        .show = ShowPathRule<Want::kDenyWrite>,
    },
    {
        .flag = "deny-write-existing",
        .metavar = "PATH",
        .type = ValueType::kPathRuleList,
        .merge = Merge::kAppend,
        .tighten = Tighten::kAppend,
        .completion = Completion::kPath,
        .group = Group::kFilesystem,
        .help = "as --deny-write, but PATH may be created if it is missing",
        .man = "An entry { path = PATH, missing = \"allow\" } of filesystem.deny-write: PATH is "
               "protected if it exists, and can be created if it does not.",
        .apply = ApplyPathRule<Want::kDenyWrite, Missing::kAllow>,
        .show = ShowNothing,
    },
    {
        .key = "filesystem.home",
        .flag = "home",
        .metavar = "FORM",
        .type = ValueType::kEnum,
        .choices = "hidden|private|workspace|read",
        .tighten = Tighten::kEarlier,
        .completion = Completion::kChoices,
        .group = Group::kFilesystem,
        .help = "what the command's home is (default: private)",
        .man = "What stands at the home directory. hidden: an empty directory that cannot be "
               "written. private (the default): an empty, writable one that is gone after the run, "
               "in which the toolchains named by PATH and harmless configuration are visible "
               "read-only. workspace: the same, but one that lasts for each user and workspace, so "
               "that caches stay warm. read: the real home, read-only, credentials denied. Other "
               "people's homes are hidden in all four.",
        .apply = ApplyChoice<&Policy::home>,
        .show = ShowChoiceOf<&Policy::home>,
    },
    {
        .key = "filesystem.tmp",
        .flag = "tmp",
        .metavar = "FORM",
        .type = ValueType::kEnum,
        .choices = "private|workspace|host",
        .tighten = Tighten::kEarlier,
        .completion = Completion::kChoices,
        .group = Group::kFilesystem,
        .help = "what /tmp and /var/tmp are (default: private)",
        .man = "What stands at /tmp and /var/tmp. private (the default): empty directories that "
               "are gone after the run. workspace: directories that last for each user and "
               "workspace, so that one command can leave a file for the next. host: those of the "
               "host, writable.",
        .apply = ApplyChoice<&Policy::tmp>,
        .show = ShowChoiceOf<&Policy::tmp>,
    },
    {
        .key = "filesystem.git",
        .flag = "git",
        .metavar = "ACCESS",
        .type = ValueType::kEnum,
        .choices = "read-only|full",
        .tighten = Tighten::kEarlier,
        .completion = Completion::kChoices,
        .group = Group::kFilesystem,
        .help = "what git may do to the repository (default: read-only)",
        .man = "What the command may do to git directories in the workspace. read-only (the "
               "default of workspace-write): git can look, but not commit; hooks and "
               "configuration, which the host's git would obey later, cannot be planted. full: "
               "takes back the built-in protection of .git, at the root and in nested "
               "repositories. A deny-write rule of your own for .git holds all the same.",
        .apply = ApplyChoice<&Policy::git>,
        .show = ShowChoiceOf<&Policy::git>,
    },
    {
        .key = "filesystem.nested-repositories",
        .flag = "nested-repositories",
        .metavar = "HOW",
        .type = ValueType::kEnum,
        .choices = "protect|ignore",
        .tighten = Tighten::kEarlier,
        .completion = Completion::kChoices,
        .group = Group::kFilesystem,
        .help = "protect the .git of repositories below the workspace root, or not",
        .man = "protect (the default of workspace-write): the git directories of repositories, "
               "submodules and worktrees below the workspace root are write-protected as its own "
               "is. They are found by git's own records and by a walk that is bounded and leaves "
               "out dependency directories; where the bound is met, that is reported. A walk "
               "without a bound is the rule \"**/.git\" in filesystem.deny-write. ignore: they are "
               "ordinary directories.",
        .apply = ApplyChoice<&Policy::nested_repositories>,
        .show = ShowChoiceOf<&Policy::nested_repositories>,
    },
    {
        .key = "filesystem.denied",
        .flag = "denied",
        .metavar = "FORM",
        .type = ValueType::kEnum,
        .choices = "error|empty",
        .tighten = Tighten::kEarlier,
        .completion = Completion::kChoices,
        .group = Group::kFilesystem,
        .help = "what a denied path looks like (default: error)",
        .man = "error (the default): opening a denied path fails with permission denied, so that a "
               "program can tell. empty: it reads as an empty file or directory, for programs that "
               "cannot bear the error.",
        .apply = ApplyChoice<&Policy::denied>,
        .show = ShowChoiceOf<&Policy::denied>,
    },
    // Network.
    {
        .key = "network.mode",
        .flag = "network",
        .metavar = "MODE",
        .type = ValueType::kEnum,
        .choices = "none|host",
        .tighten = Tighten::kEarlier,
        .completion = Completion::kChoices,
        .group = Group::kNetwork,
        .help = "what network the command has (default: none)",
        .man = "none (the default): a loopback interface of the command's own, with all ports free "
               "for test servers, and no way out. host: the host's network, its loopback included.",
        .apply = ApplyChoice<&Policy::network>,
        .show = ShowChoiceOf<&Policy::network>,
    },
    // Environment.
    {
        .key = "env.allow",
        .flag = "env",
        .metavar = "NAME",
        .type = ValueType::kStringList,
        .merge = Merge::kAppend,
        .completion = Completion::kEnvName,
        .group = Group::kEnvironment,
        .help = "pass the variable NAME on",
        .man = "Variables that the command gets from the caller; all others are dropped. A name "
               "may hold * and ?. Variables by which the dynamic loader, an interpreter or git "
               "runs other code (LD_PRELOAD, BASH_ENV, NODE_OPTIONS, GIT_SSH_COMMAND and their "
               "like) pass only when an entry names them exactly. The built-in list has what "
               "programs need to work: PATH, HOME, TERM, the locale, certificate bundles, "
               "toolchain homes.",
        .apply = ApplyEnvRule<EnvRule::Kind::kAllow>,
        .show = ShowEnvRule<EnvRule::Kind::kAllow>,
    },
    {
        .key = "env.set",
        .flag = "env",
        .flag_form = FlagForm::kAssigned,
        .metavar = "NAME=VALUE",
        .type = ValueType::kStringMap,
        .merge = Merge::kAppend,
        .completion = Completion::kEnvName,
        .group = Group::kEnvironment,
        .help = "set the variable NAME",
        .man = "Variables that are set, whatever the caller has: set = { CI = \"1\" }, or a table "
               "[env.set]. No value is put on the command line of the command or of a wrapper, and "
               "what was typed as NAME=VALUE is wiped from the launcher's own.",
        .apply = ApplyEnvRule<EnvRule::Kind::kSet>,
        .show = ShowEnvRule<EnvRule::Kind::kSet>,
    },
    {
        .key = "env.deny",
        .flag = "env-deny",
        .metavar = "GLOB",
        .type = ValueType::kStringList,
        .merge = Merge::kAppend,
        .tighten = Tighten::kAppend,
        .completion = Completion::kEnvName,
        .group = Group::kEnvironment,
        .help = "drop the variables that GLOB matches",
        .man = "Variables that are dropped although something allows them. A name may hold * and "
               "?.",
        .apply = ApplyEnvRule<EnvRule::Kind::kDeny>,
        .show = ShowEnvRule<EnvRule::Kind::kDeny>,
    },
    {
        .key = "env.file",
        .flag = "env-file",
        .metavar = "FILE",
        .type = ValueType::kStringList,
        .merge = Merge::kAppend,
        .completion = Completion::kFile,
        .group = Group::kEnvironment,
        .help = "set variables from the NAME=VALUE lines of FILE",
        .man = "Files whose NAME=VALUE lines are set as by env.set. Blank lines and lines that "
               "begin with # are skipped; nothing is expanded or unquoted.",
        .apply = AppendText<&Policy::env_files>,
        .show = ShowTexts<&Policy::env_files>,
    },
    // Limits.
    {
        .key = "limits.tmp-size",
        .flag = "limit",
        .flag_form = FlagForm::kKeyed,
        .metavar = "SIZE",
        .type = ValueType::kSize,
        .min = 65536,
        .max = kMaxBytes,
        .tighten = Tighten::kLower,
        .group = Group::kLimits,
        .help = "size of each private temporary directory",
        .man = "How much each private temporary directory, and /dev/shm, can hold: a number of "
               "bytes or a size such as \"64MiB\" (kB, MB, GB, TB by 1000; KiB, MiB, GiB, TiB by "
               "1024). What is written there counts as memory.",
        .apply = ApplyLimit<&Limits::tmp_size_bytes>,
        .show = ShowLimit<&Limits::tmp_size_bytes>,
    },
    {
        .key = "limits.file-size",
        .flag = "limit",
        .flag_form = FlagForm::kKeyed,
        .metavar = "SIZE",
        .type = ValueType::kSize,
        .min = 1,
        .max = kMaxBytes,
        .tighten = Tighten::kLower,
        .group = Group::kLimits,
        .help = "size of each file that is written",
        .man = "How large a file can become by writing to it (RLIMIT_FSIZE). A write beyond that "
               "fails with \"file too large\" and signals SIGXFSZ.",
        .apply = ApplyLimit<&Limits::file_size_bytes>,
        .show = ShowLimit<&Limits::file_size_bytes>,
    },
    {
        .key = "limits.open-files",
        .flag = "limit",
        .flag_form = FlagForm::kKeyed,
        .metavar = "N",
        .type = ValueType::kInteger,
        .min = 16,
        .max = kMaxDescriptor + 1,
        .tighten = Tighten::kLower,
        .group = Group::kLimits,
        .help = "open files of each process",
        .man = "How many descriptors each process can have (RLIMIT_NOFILE).",
        .apply = ApplyLimit<&Limits::open_files>,
        .show = ShowLimit<&Limits::open_files>,
    },
    // Launch.
    {
        .key = "backend",
        .flag = "backend",
        .metavar = "NAME",
        .type = ValueType::kString,
        .choices = "auto|bwrap",
        .completion = Completion::kChoices,
        .group = Group::kLaunch,
        .help = "what builds the sandbox (default: auto)",
        .man = "auto (the default): the first backend that enforces everything the policy asks for "
               "on this host; when none does, the launcher refuses and says why for each. Any "
               "other name: that backend or none.",
        .apply = ApplyBackend,
        .show = ShowBackend,
    },
    {
        .key = "in-place",
        .flag = "in-place",
        .type = ValueType::kBool,
        .group = Group::kLaunch,
        .help = "no supervisor: the launched process becomes the command",
        .man = "The process that the caller started becomes the command itself: same process, "
               "parent, group and session, and nothing of the launcher stays. There is no PID "
               "namespace then, so the command sees the host's processes in /proc, and what it "
               "leaves in the background outlives it.",
        .apply = ApplyBool<&Policy::in_place>,
        .show = ShowBool<&Policy::in_place>,
    },
    {
        .key = "keep-background",
        .flag = "keep-background",
        .type = ValueType::kBool,
        .group = Group::kLaunch,
        .help = "what the command leaves running goes on; the launcher waits for it",
        .man = "What the command leaves running in the background goes on when the command has "
               "ended, and the launcher waits for it. Otherwise it is ended with the command.",
        .apply = ApplyBool<&Policy::keep_background>,
        .show = ShowBool<&Policy::keep_background>,
    },
    {
        .key = "root-chown",
        .flag = "root-chown",
        .metavar = "HOW",
        .type = ValueType::kEnum,
        .choices = "refuse|ignore",
        .tighten = Tighten::kEarlier,
        .completion = Completion::kChoices,
        .group = Group::kLaunch,
        .help = "what a command of root's gets for chown (default: ignore)",
        .man = "What a change of ownership meets when the command runs as uid 0, which keeps no "
               "capability for it. ignore (the default): it succeeds without effect, so that tar, "
               "cp -a, rsync and package managers work. refuse: it fails (EPERM), as it does for "
               "everybody else.",
        .apply = ApplyChoice<&Policy::root_chown>,
        .show = ShowChoiceOf<&Policy::root_chown>,
    },
    {
        .key = "keep-fd",
        .flag = "keep-fd",
        .metavar = "N",
        .type = ValueType::kIntegerList,
        .min = 3,
        .max = kMaxDescriptor,
        .merge = Merge::kAppend,
        .group = Group::kLaunch,
        .help = "leave descriptor N open for the command",
        .man = "Descriptors that the command inherits beside standard input, output and error; all "
               "others are closed. A descriptor of a directory, or of a socket, reaches what the "
               "sandbox hides: keep only what the command is meant to have.",
        .apply = ApplyKeepFd,
        .show = ShowKeepFds,
    },
    // Output.
    {
        .key = "report",
        .flag = "report",
        .metavar = "FILE|fd:N",
        .type = ValueType::kString,
        .completion = Completion::kFile,
        .group = Group::kOutput,
        .help = "write what is enforced to FILE or descriptor N, as JSON lines",
        .man = "Where the report goes: a file, or a descriptor as fd:N. One JSON object is written "
               "before the command starts (backend, what is enforced, gaps, a hash of the policy), "
               "and one when it has ended where a supervisor stays.",
        .apply = ApplyReport,
        .show = ShowText<&Policy::report>,
    },
    {
        .key = "error-format",
        .flag = "error-format",
        .metavar = "FORMAT",
        .type = ValueType::kEnum,
        .choices = "text|json",
        .completion = Completion::kChoices,
        .group = Group::kOutput,
        .help = "how the launcher's own messages look (default: text)",
        .man = "text (the default): one line, and one for a hint. json: one object per message, "
               "with error, place, hint and status.",
        .apply = ApplyChoice<&Policy::error_format>,
        .show = ShowChoiceOf<&Policy::error_format>,
    },
    {
        .key = "quiet",
        .flag = "quiet",
        .short_flag = 'q',
        .type = ValueType::kBool,
        .group = Group::kOutput,
        .help = "no notices, only errors",
        .man = "Leaves out every message that is not the reason for a refusal. Undoes an earlier "
               "verbose.",
        .apply = ApplyQuiet,
        .show = ShowBool<&Policy::quiet>,
    },
    {
        .key = "verbose",
        .flag = "verbose",
        .short_flag = 'v',
        .type = ValueType::kBool,
        .group = Group::kOutput,
        .help = "say what was decided before the command starts",
        .man = "Says on standard error which backend was chosen and what is enforced. Undoes an "
               "earlier quiet.",
        .apply = ApplyVerbose,
        .show = ShowBool<&Policy::verbose>,
    },
};

}  // namespace

absl::Span<const Setting> Settings() { return kSettings; }

}  // namespace agent_exec
