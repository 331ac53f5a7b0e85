#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "os/compile.h"

// CompileScript as a class, for the files that it is written in.

namespace agent_exec {

class Compiler {
 public:
  explicit Compiler(const RunOptions& options) : options_(options) {}

  absl::StatusOr<Compiled> Run(const Script& script);

 private:
  static absl::Status Bug(absl::string_view what);
  const char* Keep(std::string text);
  std::string Place(OriginId origin) const;
  // "cannot ACT 'SUBJECT'", "cannot ACT".
  Message Failed(absl::string_view act, absl::string_view subject, const std::string& place = "",
                 int exit_status = kStatusRefused);
  Message FailedTo(absl::string_view act);
  absl::Status Reserve(int fd);
  absl::Status TakeBlob(int blob, const Script& script, Act* act);

  absl::Status Compile(const MakeLastingDir& step, const Script&, Act* act);
  absl::Status Compile(const MakePlaceholder& step, const Script&, Act* act);

  // Placeholders that share a directory share its descriptor.
  int ParentOf(const Placeholder& planned);

  absl::Status Compile(const StartSweeper& step, const Script&, Act* act);
  absl::Status Compile(const HoldLink& step, const Script&, Act* act);
  absl::Status Compile(const PassBlob& step, const Script& script, Act* act);
  absl::Status Compile(const PassNull& step, const Script&, Act* act);
  absl::Status Compile(const SetLimit& step, const Script&, Act* act);
  absl::Status Compile(const CloseOthers& step, const Script&, Act* act);
  absl::Status Compile(const ChangeDir& step, const Script&, Act* act);

  // The steps of a sandbox of our own (compile_sandbox.cc).

  // What a step about one path has: the path, and a message "cannot VERB 'PATH'".
  absl::Status CompilePath(ActKind kind, absl::string_view verb, const std::string& path,
                           OriginId origin, Act* act);
  // Each slot is filled once and emptied once, in that order.
  absl::Status FillSlot(int slot, Act* act);
  absl::Status EmptySlot(int slot, Act* act);
  absl::Status Compile(const EnterNamespaces& step, const Script&, Act* act);
  absl::Status Compile(const PinTree& step, const Script&, Act* act);
  absl::Status Compile(const NewTmpfs& step, const Script&, Act* act);
  absl::Status Compile(const EnterRoot& step, const Script&, Act* act);
  absl::Status Compile(const MakeMountPoint& step, const Script&, Act* act);
  absl::Status Compile(const Attach& step, const Script&, Act* act);
  absl::Status Compile(const CoverTree& step, const Script&, Act* act);
  absl::Status Compile(const OpenStore& step, const Script&, Act* act);
  absl::Status Compile(const AttachMask& step, const Script&, Act* act);
  absl::Status Compile(const AttachData& step, const Script& script, Act* act);
  absl::Status Compile(const CloseStore&, const Script&, Act* act);
  absl::Status Compile(const MountProc& step, const Script&, Act* act);
  absl::Status Compile(const MountDevpts& step, const Script&, Act* act);
  absl::Status Compile(const MakeSymlink& step, const Script&, Act* act);
  absl::Status Compile(const SetReadOnly& step, const Script&, Act* act);
  absl::Status Compile(const LoopbackUp&, const Script&, Act* act);
  absl::Status Compile(const DropPrivileges&, const Script&, Act* act);
  absl::Status Compile(const ForkCommand&, const Script&, Act* act);
  absl::Status Compile(const RestrictLandlock& step, const Script&, Act* act);
  absl::Status Compile(const InstallFilter& step, const Script& script, Act* act);

  absl::Status Compile(const Exec& step, const Script&, Act* act);

  const RunOptions& options_;
  Compiled out_;
  std::vector<std::string> paths_;         // of the placeholders
  std::vector<std::string> parent_paths_;  // of the parents
  std::vector<bool> slot_is_full_;
  bool has_namespaces_ = false;
};

}  // namespace agent_exec
