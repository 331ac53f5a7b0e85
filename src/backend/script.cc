#include "backend/script.h"

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

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

struct Formatter {
  const Script& script;
  std::string* out;

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
    absl::StrAppend(out, "start-sweeper info-fd ", step.info_fd);
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
  void operator()(const Exec& step) const {
    absl::StrAppend(out, "exec ", Word(step.path), "\n  argv");
    for (const std::string& word : step.argv) absl::StrAppend(out, " ", Word(word));
    for (const std::string& variable : step.env) absl::StrAppend(out, "\n  env ", Word(variable));
  }
};

}  // namespace

std::string FormatScript(const Script& script) {
  std::string out;
  for (const Step& step : script.steps) {
    std::visit(Formatter{script, &out}, step);
    out.push_back('\n');
  }
  return out;
}

}  // namespace agent_exec
