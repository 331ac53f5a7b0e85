#pragma once

#include "absl/strings/string_view.h"
#include "backend/backend.h"
#include "plan/plan.h"
#include "policy/policy.h"

// The words by which programs know our values: in --print=json, in reports.

namespace agent_exec {

const char* MountKindName(MountKind kind);         // "tmpfs"
const char* PurposeName(Purpose purpose);          // "placeholder"
const char* AccessName(Access access);             // "none", "read", "write"
const char* NodeName(Node node);                   // "file", "directory"
const char* ProcessModelName(ProcessModel model);  // "in-place"
const char* ModeName(Mode mode);                   // "workspace-write"
const char* NetworkName(NetworkMode network);      // "none"
// FormatOrigin of an id; "" for the origin that nothing has.
std::string OriginText(const Plan& plan, OriginId origin);

}  // namespace agent_exec
