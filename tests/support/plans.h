#pragma once

// A small plan, made by hand, for tests of what comes after planning.

#include <string>
#include <vector>

#include "plan/plan.h"

namespace agent_exec::testing {

inline MountOp Bind(std::string path, Access access) {
  MountOp op;
  op.source = path;
  op.target = std::move(path);
  op.access = access;
  return op;
}

inline MountOp Tmpfs(std::string target, uint32_t mode, Access access) {
  MountOp op;
  op.kind = MountKind::kTmpfs;
  op.target = std::move(target);
  op.mode = mode;
  op.access = access;
  return op;
}

inline MountOp Mask(std::string target, Node node) {
  MountOp op;
  op.kind = MountKind::kMask;
  op.target = std::move(target);
  op.node = node;
  op.access = Access::kNone;
  return op;
}

inline MountOp Special(MountKind kind, std::string target) {
  MountOp op;
  op.kind = kind;
  op.target = std::move(target);
  return op;
}

// `make -j2` in a writable /w, with a private /tmp, no network, one denied file and one denied
// directory.
inline Plan SmallPlan() {
  Plan plan;
  plan.workspace = "/w";
  plan.command = {"/usr/bin/make", {"make", "-j2"}, "/w"};
  plan.origins = {Origin{},
                  {Origin::Kind::kBuiltin, "built-in workspace-write", 7, 3},
                  {Origin::Kind::kFile, "policy.toml", 12, 3}};
  plan.mounts = {Bind("/", Access::kRead),
                 Special(MountKind::kDev, "/dev"),
                 Special(MountKind::kProc, "/proc"),
                 Tmpfs("/run", 0755, Access::kRead),
                 Tmpfs("/tmp", 01777, Access::kWrite),
                 Bind("/w", Access::kWrite),
                 Tmpfs("/dev/shm", 01777, Access::kWrite),
                 Mask("/w/.env", Node::kFile),
                 Mask("/w/keys", Node::kDirectory)};
  plan.mounts[4].size_bytes = 1 << 20;
  plan.mounts[7].origin = 2;
  plan.mounts[8].origin = 2;
  plan.env = {{"AGENT_EXEC", "0.1.0", false, 0},
              {"HOME", "/home/u", true, 1},
              {"PATH", "/usr/bin:/bin", true, 1},
              {"PWD", "/w", false, 0}};
  plan.needs = {{Feature::kMounts, 1}, {Feature::kNetworkNone, 1}, {Feature::kFilter, 0}};
  return plan;
}

}  // namespace agent_exec::testing
