#include "verbs/names.h"

#include <string>

namespace agent_exec {

const char* MountKindName(MountKind kind) {
  switch (kind) {
    case MountKind::kBind:
      return "bind";
    case MountKind::kTmpfs:
      return "tmpfs";
    case MountKind::kProc:
      return "proc";
    case MountKind::kDev:
      return "dev";
    case MountKind::kMask:
      return "mask";
    case MountKind::kData:
      return "data";
    case MountKind::kSymlink:
      return "symlink";
  }
  return "";
}

const char* PurposeName(Purpose purpose) {
  switch (purpose) {
    case Purpose::kRule:
      return "rule";
    case Purpose::kSystem:
      return "system";
    case Purpose::kHome:
      return "home";
    case Purpose::kTemporary:
      return "temporary";
    case Purpose::kPin:
      return "pin";
    case Purpose::kPlaceholder:
      return "placeholder";
    case Purpose::kSocket:
      return "socket";
    case Purpose::kGit:
      return "git";
  }
  return "";
}

const char* AccessName(Access access) {
  switch (access) {
    case Access::kNone:
      return "none";
    case Access::kRead:
      return "read";
    case Access::kWrite:
      return "write";
  }
  return "";
}

const char* NodeName(Node node) { return node == Node::kFile ? "file" : "directory"; }

const char* ProcessModelName(ProcessModel model) {
  return model == ProcessModel::kInPlace ? "in-place" : "supervised";
}

const char* ModeName(Mode mode) {
  switch (mode) {
    case Mode::kReadOnly:
      return "read-only";
    case Mode::kWorkspaceWrite:
      return "workspace-write";
    case Mode::kDangerFullAccess:
      return "danger-full-access";
  }
  return "";
}

const char* NetworkName(NetworkMode network) {
  return network == NetworkMode::kNone ? "none" : "host";
}

std::string OriginText(const Plan& plan, OriginId origin) {
  return origin < plan.origins.size() ? FormatOrigin(plan.origins[origin]) : "";
}

}  // namespace agent_exec
