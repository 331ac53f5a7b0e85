#include "os/compile.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/status.h"
#include "host/placeholder_mark.h"
#include "os/compiler.h"

namespace agent_exec {
namespace {

// Stands for the errno while a message is made: a word that is in none of the texts, whatever
// escaping does to them.
std::string MarkerFor(const std::string& what, const std::string& place, const std::string& hint) {
  std::string marker = "@errno@";
  while (absl::StrContains(what, marker) || absl::StrContains(place, marker) ||
         absl::StrContains(hint, marker)) {
    marker += '@';
  }
  return marker;
}

}  // namespace

absl::StatusOr<Compiled> Compiler::Run(const Script& script) {
  if (script.steps.empty() || !std::holds_alternative<Exec>(script.steps.back())) {
    return Bug("the script does not end in exec");
  }
  out_.acts.reserve(script.steps.size());
  for (const Step& step : script.steps) {
    Act act;
    AE_RETURN_IF_ERROR(std::visit([&](const auto& s) { return Compile(s, script, &act); }, step));
    out_.acts.push_back(act);
  }
  std::sort(out_.reserved_fds.begin(), out_.reserved_fds.end());
  if (std::adjacent_find(out_.reserved_fds.begin(), out_.reserved_fds.end()) !=
      out_.reserved_fds.end()) {
    return Bug("two steps open one descriptor");
  }
  for (int fd : out_.reserved_fds) out_.keep_fds.push_back(fd);
  std::sort(out_.keep_fds.begin(), out_.keep_fds.end());
  out_.keep_fds.erase(std::unique(out_.keep_fds.begin(), out_.keep_fds.end()), out_.keep_fds.end());
  // A parent and the thing itself for each placeholder, the launcher, the pipe and the sandbox.
  out_.scratch_fds.resize(out_.placeholders.size() + out_.parents.size() + 4);
  return std::move(out_);
}

absl::Status Compiler::Bug(absl::string_view what) {
  return absl::InternalError(absl::StrCat("bad script: ", what));
}

std::string Compiler::Place(OriginId origin) const {
  return origin < options_.places.size() ? options_.places[origin] : "";
}

Message Compiler::Failed(absl::string_view act, absl::string_view subject, const std::string& place,
                         int exit_status) {
  return MakeMessage(options_, absl::StrCat("cannot ", act, " ", QuoteForMessage(subject)), place,
                     "", exit_status, &out_.texts);
}

Message Compiler::FailedTo(absl::string_view act) {
  return MakeMessage(options_, absl::StrCat("cannot ", act), "", "", kStatusRefused, &out_.texts);
}

absl::Status Compiler::Reserve(int fd) {
  if (fd < 3) return Bug("a step opens a standard descriptor");
  out_.reserved_fds.push_back(fd);
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const MakeLastingDir& step, const Script&, Act* act) {
  if (!IsClean(step.path)) return Bug("lasting directory");
  act->kind = ActKind::kMakeLastingDir;
  act->text = Keep(step.path);
  act->failed = Failed("make directory", step.path);
  act->refused = MakeWholeMessage(options_,
                                  absl::StrCat("cannot use directory ", QuoteForMessage(step.path),
                                               ": it belongs to somebody else"),
                                  "", "", kStatusRefused, &out_.texts);
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const MakePlaceholder& step, const Script&, Act* act) {
  const Placeholder& planned = step.placeholder;
  if (!IsClean(planned.path) || !IsClean(planned.root) || planned.path == planned.root ||
      !IsUnder(planned.path, planned.root)) {
    return Bug("placeholder outside of its root");
  }
  PlaceholderSlot slot;
  slot.name = Keep(std::string(Basename(planned.path)));
  slot.is_directory = planned.node == Node::kDirectory;
  slot.writable = planned.writable;
  if (slot.writable && !slot.is_directory) return Bug("a file that is a missing parent");
  slot.mode = !slot.is_directory ? kPlaceholderFileMode
              : slot.writable    ? kPlaceholderParentMode
                                 : kPlaceholderDirectoryMode;
  slot.parent = ParentOf(planned);
  act->kind = ActKind::kMakePlaceholder;
  act->index = static_cast<int>(out_.placeholders.size());
  std::string place = Place(planned.origin);
  act->failed = Failed("make placeholder", planned.path, place);
  act->refused =
      MakeWholeMessage(options_,
                       absl::StrCat("cannot make placeholder ", QuoteForMessage(planned.path),
                                    ": something has come to be there since the policy was read"),
                       place, "start again", kStatusRefused, &out_.texts);
  paths_.push_back(planned.path);
  out_.placeholders.push_back(slot);
  return absl::OkStatus();
}

int Compiler::ParentOf(const Placeholder& planned) {
  std::string directory(Dirname(planned.path));
  for (size_t i = 0; i < parent_paths_.size(); ++i) {
    if (parent_paths_[i] == directory) return static_cast<int>(i);
  }
  PlaceholderParent parent;
  parent.root = Keep(planned.root);
  std::string relative(RelativeTo(directory, planned.root));
  parent.relative = relative.empty() ? "." : Keep(std::move(relative));
  for (size_t i = 0; i < paths_.size(); ++i) {
    if (paths_[i] == directory) parent.placeholder = static_cast<int>(i);
  }
  parent_paths_.push_back(std::move(directory));
  out_.parents.push_back(parent);
  return static_cast<int>(out_.parents.size() - 1);
}

absl::Status Compiler::Compile(const StartSweeper& step, const Script&, Act* act) {
  act->kind = ActKind::kStartSweeper;
  act->fd = step.info_fd;
  act->failed = FailedTo("start the process that removes placeholders");
  return step.info_fd < 0 ? absl::OkStatus() : Reserve(step.info_fd);
}

absl::Status Compiler::Compile(const HoldLink& step, const Script&, Act* act) {
  const HeldLink& held = step.link;
  if (!IsClean(held.path) || HasNul(held.text)) return Bug("held link");
  act->kind = ActKind::kHoldLink;
  act->text = Keep(held.path);
  act->data = Keep(held.text);
  act->size = held.text.size();
  std::string place = Place(held.origin);
  act->failed = Failed("hold link", held.path, place);
  act->refused = MakeWholeMessage(options_,
                                  absl::StrCat("cannot hold link ", QuoteForMessage(held.path),
                                               ": it has been changed since the policy was read"),
                                  place, "start again", kStatusRefused, &out_.texts);
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const PassBlob& step, const Script& script, Act* act) {
  AE_RETURN_IF_ERROR(TakeBlob(step.blob, script, act));
  act->kind = ActKind::kPassBlob;
  act->fd = step.fd;
  act->text = Keep(step.name);
  act->failed = Failed("pass", step.name);
  return Reserve(step.fd);
}

absl::Status Compiler::Compile(const PassNull& step, const Script&, Act* act) {
  act->kind = ActKind::kPassNull;
  act->fd = step.fd;
  act->failed = Failed("pass", "/dev/null");
  return Reserve(step.fd);
}

absl::Status Compiler::Compile(const SetLimit& step, const Script&, Act* act) {
  act->kind = ActKind::kSetLimit;
  bool is_size = step.resource == Resource::kFileSize;
  act->index = is_size ? RLIMIT_FSIZE : RLIMIT_NOFILE;
  act->value = step.value;
  if (step.value < 0) return Bug("negative limit");
  act->failed = Failed("set limit", is_size ? "file-size" : "open-files");
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const CloseOthers& step, const Script&, Act* act) {
  act->kind = ActKind::kCloseOthers;
  for (int fd : step.keep) {
    if (fd >= 3) out_.keep_fds.push_back(fd);
  }
  act->failed = FailedTo("close inherited descriptors");
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const ChangeDir& step, const Script&, Act* act) {
  act->kind = ActKind::kChangeDir;
  act->text = Keep(step.path);
  act->failed = Failed("change directory to", step.path);
  return absl::OkStatus();
}

absl::Status Compiler::TakeBlob(int blob, const Script& script, Act* act) {
  if (blob < 0 || static_cast<size_t>(blob) >= script.blobs.size()) return Bug("blob");
  const std::string& bytes = script.blobs[static_cast<size_t>(blob)];
  act->data = bytes.data();
  act->size = bytes.size();
  return absl::OkStatus();
}

absl::Status Compiler::Compile(const Exec& step, const Script&, Act* act) {
  if (!out_.argv.empty()) return Bug("two execs");
  if (!IsAbsolute(step.path) || HasNul(step.path) || step.argv.empty()) return Bug("exec");
  act->kind = ActKind::kExec;
  act->text = Keep(step.path);
  int status = options_.exec_is_command ? kStatusNotExecutable : kStatusRefused;
  act->failed = Failed("execute", step.path, "", status);
  act->refused = Failed("execute", step.path, "", kStatusNotFound);
  for (const std::string& argument : step.argv) {
    if (HasNul(argument)) return Bug("a NUL in an argument");
    out_.argv.push_back(const_cast<char*>(Keep(argument)));
  }
  out_.argv.push_back(nullptr);
  out_.shell_argv = {const_cast<char*>("/bin/sh"), const_cast<char*>(act->text)};
  out_.shell_argv.insert(out_.shell_argv.end(), out_.argv.begin() + 1, out_.argv.end());
  for (const std::string& variable : step.env) {
    if (HasNul(variable)) return Bug("a NUL in the environment");
    out_.env.push_back(const_cast<char*>(Keep(variable)));
  }
  out_.env.push_back(nullptr);
  return absl::OkStatus();
}

const char* Compiler::Keep(std::string text) {
  return out_.texts.emplace_back(std::move(text)).c_str();
}

Message MakeWholeMessage(const RunOptions& options, const std::string& what,
                         const std::string& place, const std::string& hint, int exit_status,
                         std::deque<std::string>* texts) {
  Diagnostic diagnostic{what, place, hint};
  std::string text = options.error_format == ErrorFormat::kJson
                         ? FormatJson(diagnostic, exit_status)
                         : FormatText(diagnostic);
  return Message{texts->emplace_back(std::move(text)).c_str(), ""};
}

Message MakeMessage(const RunOptions& options, const std::string& what, const std::string& place,
                    const std::string& hint, int exit_status, std::deque<std::string>* texts) {
  std::string marker = MarkerFor(what, place, hint);
  Message message =
      MakeWholeMessage(options, absl::StrCat(what, ": ", marker), place, hint, exit_status, texts);
  std::string& text = texts->back();
  size_t at = text.find(marker);
  if (at == std::string::npos) return message;
  std::string after = text.substr(at + marker.size());
  text.resize(at);
  message.before = text.c_str();
  message.after = texts->emplace_back(std::move(after)).c_str();
  return message;
}

absl::StatusOr<Compiled> CompileScript(const Script& script, const RunOptions& options) {
  return Compiler(options).Run(script);
}

}  // namespace agent_exec
