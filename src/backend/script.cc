#include "backend/script.h"

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "abi/linux_landlock.h"
#include "absl/strings/str_cat.h"
#include "base/quote.h"
#include "seccomp/filter.h"

namespace agent_exec {
namespace {

// A word that stands for exactly these bytes, on one line: bare where nothing in it could be taken
// for something else, else in single quotes with escapes.
std::string Word(absl::string_view bytes) {
  std::string quoted = ShellQuote(bytes);
  return quoted == bytes ? quoted : QuoteForMessage(bytes);
}

std::string Numbers(const std::vector<int>& numbers) {
  std::string text;
  for (int number : numbers) absl::StrAppend(&text, " ", number);
  return text;
}

// The words of a NUL-separated blob, a line for each option with its values.
void AppendWords(absl::string_view blob, std::string* out) {
  bool first = true;
  while (!blob.empty()) {
    absl::string_view word = blob.substr(0, blob.find('\0'));
    blob.remove_prefix(std::min(blob.size(), word.size() + 1));
    absl::StrAppend(out, first || word.substr(0, 2) == "--" ? "\n  " : " ", Word(word));
    first = false;
  }
}

void AppendFilter(absl::string_view blob, std::string* out) {
  const auto byte = [&blob](size_t i) { return static_cast<uint8_t>(blob[i]); };
  std::vector<SockFilter> program;
  for (size_t i = 0; i + 8 <= blob.size(); i += 8) {
    uint32_t k = byte(i + 4) | uint32_t{byte(i + 5)} << 8 | uint32_t{byte(i + 6)} << 16 |
                 uint32_t{byte(i + 7)} << 24;
    program.push_back(
        {static_cast<uint16_t>(byte(i) | byte(i + 1) << 8), byte(i + 2), byte(i + 3), k});
  }
  std::string text = Disassemble(program);
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    absl::StrAppend(out, "\n  ", text.substr(0, end));
    text.erase(0, end + 1);
  }
}

// The contents of a blob, below the line of its step.
void AppendBlob(absl::string_view blob, absl::string_view name, std::string* out) {
  if (name == kFilterBlobName) return AppendFilter(blob, out);
  if (!blob.empty() && blob.back() == '\0') return AppendWords(blob, out);
  while (!blob.empty()) {
    // A line of text each, its newline shown.
    size_t end = std::min(blob.find('\n'), blob.size() - 1) + 1;
    absl::StrAppend(out, "\n  ", QuoteForMessage(blob.substr(0, end)));
    blob.remove_prefix(end);
  }
}

std::string OctalMode(uint32_t mode) {
  std::string digits;
  for (int shift = 9; shift >= 0; shift -= 3) {
    digits.push_back(static_cast<char>('0' + (mode >> shift & 7)));
  }
  return digits;
}

const char* NodeWord(Node node) { return node == Node::kDirectory ? "directory " : "file "; }

// " read-file read-dir", in the order of the bits.
std::string FileRightsText(uint64_t rights) {
  std::string text;
  for (const std::string& name : LandlockRightNames(rights)) absl::StrAppend(&text, " ", name);
  return text;
}

std::string ScopesText(uint64_t scoped) {
  std::string text;
  for (const std::string& name : LandlockScopeNames(scoped)) {
    absl::StrAppend(&text, " scope-", name);
  }
  return text;
}

struct Formatter {
  const Script& script;
  std::string* out;

  void AppendMap(absl::string_view kind, absl::string_view map) const {
    while (!map.empty()) {
      absl::string_view line = map.substr(0, map.find('\n'));
      map.remove_prefix(std::min(map.size(), line.size() + 1));
      absl::StrAppend(out, "\n  ", kind, " ", line);
    }
  }

  void operator()(const MakeLastingDir& step) const {
    absl::StrAppend(out, "make-lasting-dir ", Word(step.path));
  }
  void operator()(const MakePlaceholder& step) const {
    const Placeholder& placeholder = step.placeholder;
    absl::StrAppend(out, "make-placeholder ",
                    placeholder.node == Node::kDirectory ? "directory " : "file ",
                    Word(placeholder.path), " beneath ", Word(placeholder.root));
  }
  void operator()(const StartSweeper& step) const {
    absl::StrAppend(out, "start-sweeper");
    if (step.info_fd >= 0) absl::StrAppend(out, " info-fd ", step.info_fd);
  }
  void operator()(const HoldLink& step) const {
    absl::StrAppend(out, "hold-link ", Word(step.link.path), " to ", Word(step.link.text));
  }
  void operator()(const PassBlob& step) const {
    const std::string& blob = script.blobs[step.blob];
    absl::StrAppend(out, "pass-blob ", step.fd, " ", Word(step.name), " of ", blob.size(),
                    " bytes");
    AppendBlob(blob, step.name, out);
  }
  void operator()(const PassNull& step) const { absl::StrAppend(out, "pass-null ", step.fd); }
  void operator()(const SetLimit& step) const {
    absl::StrAppend(out, "set-limit ",
                    step.resource == Resource::kFileSize ? "file-size " : "open-files ",
                    step.value);
  }
  void operator()(const CloseOthers& step) const {
    absl::StrAppend(out, "close-others but", Numbers({0, 1, 2}), Numbers(step.keep));
  }
  void operator()(const ChangeDir& step) const {
    absl::StrAppend(out, "change-dir ", Word(step.path));
  }
  void operator()(const EnterNamespaces& step) const {
    absl::StrAppend(out, "enter-namespaces user mount ipc uts cgroup", step.net ? " net" : "",
                    step.pid ? " pid" : "", step.keep_background ? " keep-background" : "",
                    "\n  ids written by ", step.ids.by_parent ? "the parent" : "itself",
                    step.ids.deny_setgroups ? ", setgroups denied" : "");
    AppendMap("uid", step.ids.uid_map);
    AppendMap("gid", step.ids.gid_map);
  }
  void operator()(const PinTree& step) const {
    absl::StrAppend(out, "pin-tree ", step.slot, " ", Word(step.path),
                    step.writable ? " writable" : "", step.devices ? " devices" : "");
  }
  void operator()(const NewTmpfs& step) const {
    absl::StrAppend(out, "new-tmpfs ", step.slot, " mode ", OctalMode(step.mode));
    if (step.size_bytes > 0) absl::StrAppend(out, " size ", step.size_bytes);
  }
  void operator()(const EnterRoot& step) const { absl::StrAppend(out, "enter-root ", step.slot); }
  void operator()(const MakeMountPoint& step) const {
    absl::StrAppend(out, "make-mount-point ", NodeWord(step.node), Word(step.path));
  }
  void operator()(const Attach& step) const {
    absl::StrAppend(out, "attach ", step.slot, " ", Word(step.target));
  }
  void operator()(const CoverTree& step) const {
    absl::StrAppend(out, "cover-tree ", Word(step.path), step.read_only ? " read-only" : "",
                    step.optional ? " optional" : "");
  }
  void operator()(const OpenStore& step) const {
    absl::StrAppend(out, "open-store file ", OctalMode(step.file_mode), " directory ",
                    OctalMode(step.directory_mode));
  }
  void operator()(const AttachMask& step) const {
    absl::StrAppend(out, "attach-mask ", NodeWord(step.node), Word(step.target));
  }
  void operator()(const AttachData& step) const {
    const std::string& blob = script.blobs[step.blob];
    absl::StrAppend(out, "attach-data ", Word(step.target), " mode ", OctalMode(step.mode), " of ",
                    blob.size(), " bytes");
    AppendBlob(blob, "", out);
  }
  void operator()(const CloseStore&) const { *out += "close-store"; }
  void operator()(const MountProc& step) const {
    absl::StrAppend(out, "mount-proc ", Word(step.target));
  }
  void operator()(const MountDevpts& step) const {
    absl::StrAppend(out, "mount-devpts ", Word(step.target));
  }
  void operator()(const MakeSymlink& step) const {
    absl::StrAppend(out, "make-symlink ", Word(step.path), " to ", Word(step.text));
  }
  void operator()(const SetReadOnly& step) const {
    absl::StrAppend(out, "set-read-only ", Word(step.target));
  }
  void operator()(const LoopbackUp&) const { *out += "loopback-up"; }
  void operator()(const DropPrivileges&) const { *out += "drop-privileges"; }
  void operator()(const ForkCommand&) const { *out += "fork-command"; }
  void operator()(const RestrictLandlock& step) const {
    absl::StrAppend(out, "restrict-landlock", FileRightsText(step.handled_fs),
                    ScopesText(step.scoped));
    for (const LandlockRule& rule : step.rules) {
      absl::StrAppend(out, "\n  ", rule.entries ? "in " : "");
      if (rule.path.empty()) {
        absl::StrAppend(out, "descriptor ", rule.fd);
      } else {
        *out += Word(rule.path);
      }
      *out += FileRightsText(rule.rights);
    }
  }
  void operator()(const InstallFilter& step) const {
    const std::string& blob = script.blobs[step.blob];
    absl::StrAppend(out, "install-filter of ", blob.size(), " bytes");
    AppendFilter(blob, out);
  }
  void operator()(const Exec& step) const {
    absl::StrAppend(out, "exec ", Word(step.path), "\n  argv");
    for (const std::string& word : step.argv) absl::StrAppend(out, " ", Word(word));
    for (const std::string& variable : step.env) absl::StrAppend(out, "\n  env ", Word(variable));
  }
};

}  // namespace

std::vector<std::string> LandlockRightNames(uint64_t rights) {
  static constexpr const char* kNames[] = {
      "execute",   "write-file", "read-file", "read-dir",  "remove-dir", "remove-file",
      "make-char", "make-dir",   "make-reg",  "make-sock", "make-fifo",  "make-block",
      "make-sym",  "refer",      "truncate",  "ioctl-dev",
  };
  std::vector<std::string> names;
  for (int bit = 0; bit < 64; ++bit) {
    if ((rights >> bit & 1) == 0) continue;
    names.push_back(bit < 16 ? kNames[bit] : absl::StrCat("bit-", bit));
  }
  return names;
}

std::vector<std::string> LandlockScopeNames(uint64_t scoped) {
  std::vector<std::string> names;
  if ((scoped & kLandlockScopeAbstractUnixSocket) != 0) names.emplace_back("abstract-sockets");
  if ((scoped & kLandlockScopeSignal) != 0) names.emplace_back("signals");
  return names;
}

std::string FormatScript(const Script& script) {
  std::string out;
  for (const Step& step : script.steps) {
    std::visit(Formatter{script, &out}, step);
    out.push_back('\n');
  }
  return out;
}

}  // namespace agent_exec
