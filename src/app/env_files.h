#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "host/facts.h"
#include "host/file_view.h"
#include "policy/policy.h"

namespace agent_exec {

// The lines of an environment file as rules that set variables. NAME=VALUE; blank lines and lines
// that begin with '#' are skipped, a byte order mark and carriage returns before line ends too;
// nothing is expanded or unquoted.
//   Errors: InvalidArgument with name:line: no '=', an empty name, a name with a space, a NUL.
absl::StatusOr<std::vector<EnvRule>> ParseEnvFile(absl::string_view text, absl::string_view name);

// Reads policy->env_files and puts their variables before the other rules, so that `env.set` and
// --env win over them, and of two files the later one wins. Those named by a flag stand in the
// current directory, those named by a policy file in the workspace.
//   In:      workspace: canonical, or "" when there is none.
//   Errors:  as ParseEnvFile; ErrnoStatus with the place of the setting.
//   Returns: the absolute paths that were read, in the order of policy->env_files.
absl::StatusOr<std::vector<std::string>> ApplyEnvFiles(absl::string_view workspace,
                                                       const HostFacts& facts, FileView& files,
                                                       Policy* policy);

}  // namespace agent_exec
