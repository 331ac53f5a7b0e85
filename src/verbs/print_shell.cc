#include <algorithm>
#include <variant>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/version.h"
#include "host/placeholder_mark.h"
#include "verbs/names.h"
#include "verbs/print_forms.h"

namespace agent_exec {
namespace {

// Can `NAME="$NAME"` name it?
bool IsShellName(absl::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool IsPassed(const Plan& plan, absl::string_view name) {
  auto it = std::lower_bound(plan.env.begin(), plan.env.end(), name,
                             [](const EnvVar& variable, absl::string_view wanted) {
                               return absl::string_view(variable.name) < wanted;
                             });
  return it != plan.env.end() && it->name == name && it->passed;
}

// Text that a person can read between quotes.
bool IsPlainText(absl::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](char c) { return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\t'; });
}

std::string Octal(uint32_t mode) {
  std::string digits;
  for (int shift = 6; shift >= 0; shift -= 3) {
    digits.push_back(static_cast<char>('0' + (mode >> shift & 7)));
  }
  return digits;
}

class Shell {
 public:
  Shell(const Plan& plan, const Backend& backend, const Rendered& rendered)
      : plan_(plan), backend_(backend), rendered_(rendered) {}

  std::string Format() {
    for (const Step& step : rendered_.script.steps) std::visit(*this, step);
    if (!has_wrapper_) return WithoutWrapper();
    std::string out = Comments();
    // Limits and the directory are to hold for the command alone, not for the shell.
    const bool in_subshell = !inner_.empty();
    absl::StrAppend(&out, before_, in_subshell ? "(\n" : "", inner_, command_, "\n",
                    in_subshell ? ")\n" : "");
    return out;
  }

  void operator()(const MakeLastingDir& step) {
    absl::StrAppend(&before_, "mkdir -p -m 700 ", ShellQuote(step.path), "\n");
  }
  void operator()(const MakePlaceholder& step) {
    const Placeholder& placeholder = step.placeholder;
    const std::string path = ShellQuote(placeholder.path);
    absl::StrAppend(&before_, "test -e ", path, " || { ");
    if (placeholder.node == Node::kFile) {
      absl::StrAppend(&before_, ": > ", path, " && chmod ", Octal(kPlaceholderFileMode), " ", path);
    } else {
      absl::StrAppend(
          &before_, "mkdir -m ",
          Octal(placeholder.writable ? kPlaceholderParentMode : kPlaceholderDirectoryMode), " ",
          path);
    }
    // With the stamp by which the launcher will know it for a placeholder. Those above it have just
    // lost theirs.
    absl::StrAppend(&before_, " && touch -d @", kPlaceholderTime);
    for (const Placeholder& above : plan_.placeholders) {
      if (IsUnder(placeholder.path, above.path)) {
        absl::StrAppend(&before_, " ", ShellQuote(above.path));
      }
    }
    before_ += "; }\n";
  }
  void operator()(const EnterNamespaces&) { has_wrapper_ = false; }
  void operator()(const PassBlob& step) {
    // The printed words name every blob but their own.
    if (step.name == "bwrap-args") return;
    const std::string& blob = rendered_.script.blobs[step.blob];
    absl::StrAppend(&redirections_, " \\\n  ", step.fd, "< <(",
                    IsPlainText(blob)
                        ? absl::StrCat("printf %s ", ShellQuote(blob))
                        : absl::StrCat("base64 -d <<< '", absl::Base64Escape(blob), "'"),
                    ")");
  }
  void operator()(const PassNull& step) {
    absl::StrAppend(&redirections_, " \\\n  ", step.fd, "< /dev/null");
  }
  void operator()(const SetLimit& step) {
    // bash counts file sizes in KiB.
    const bool files = step.resource == Resource::kOpenFiles;
    absl::StrAppend(&inner_, "ulimit ", files ? "-n " : "-f ",
                    files ? step.value : step.value / 1024, "\n");
  }
  void operator()(const ChangeDir& step) {
    absl::StrAppend(&inner_, "cd ", ShellQuote(step.path), "\n");
  }
  // Nothing that a shell could do, or that the words of a wrapper do not say.
  template <typename OtherStep>
  void operator()(const OtherStep&) {}
  void operator()(const Exec& step) {
    command_ = "env -i";
    for (const std::string& variable : step.env) AppendVariable(variable);
    // env(1) would take a name with '=' for an assignment.
    if (absl::StrContains(rendered_.printed_argv[0], '=')) {
      absl::StrAppend(&command_, " \\\n  sh -c 'exec \"$0\" \"$@\"'");
    }
    bool in_command = false;
    bool joined = false;  // to the option before it, which it completes
    for (const std::string& word : rendered_.printed_argv) {
      const bool breaks = &word == rendered_.printed_argv.data() ||
                          (!in_command && !joined && absl::StartsWith(word, "--"));
      absl::StrAppend(&command_, breaks ? " \\\n  " : " ", ShellQuote(word));
      if (absl::StartsWith(word, "--")) joined = word == "--perms" || word == "--size";
      in_command = in_command || word == "--";
    }
    command_ += redirections_;
  }

 private:
  void AppendVariable(absl::string_view variable) {
    absl::string_view name = variable.substr(0, variable.find('='));
    absl::string_view value = variable.substr(name.size() + 1);
    if (!IsShellName(name)) {
      absl::StrAppend(&command_, " \\\n  ", ShellQuote(variable));
    } else if (IsPassed(plan_, name)) {
      absl::StrAppend(&command_, " \\\n  ", name, "=\"$", name, "\"");
    } else {
      absl::StrAppend(&command_, " \\\n  ", name, "=", ShellQuote(value));
    }
  }

  std::string Comments() const {
    std::string out =
        absl::StrCat("# agent-exec ", kVersion, ", backend ", backend_.name, ", for bash.\n",
                     "# The launcher also closes the descriptors from 3 up that the shell leaves "
                     "open.\n");
    if (!plan_.placeholders.empty()) {
      out +=
          "# The empty placeholders made here stay until the launcher's next run removes them.\n";
    }
    if (!plan_.held_links.empty()) {
      out += "# The launcher also holds these links, which can be replaced here:";
      for (const HeldLink& link : plan_.held_links) {
        absl::StrAppend(&out, " ", EscapeControls(ShellQuote(link.path)));
      }
      out += "\n";
    }
    if (!rendered_.script.blobs.empty()) {
      out +=
          "# Every local user can read this command line in /proc; the launcher passes it in "
          "memory.\n";
    }
    return out;
  }

  // Where the launcher itself makes the sandbox, no command does the same. The one that it will
  // execute is shown, but not so that a shell would run it unconfined.
  std::string WithoutWrapper() const {
    std::string out = absl::StrCat(
        "# agent-exec ", kVersion, ", backend ", backend_.name,
        ": no other program makes the sandbox, so there is no command to run in its place.\n"
        "# --print=script shows all that is done, --backend=bwrap --print=argv a command that does "
        "nearly the same.\n"
        "# Inside is executed:\n");
    absl::string_view command = command_;
    while (!command.empty()) {
      absl::string_view line = command.substr(0, command.find('\n'));
      command.remove_prefix(std::min(command.size(), line.size() + 1));
      absl::StrAppend(&out, "# ", line, "\n");
    }
    return out;
  }

  const Plan& plan_;
  const Backend& backend_;
  const Rendered& rendered_;
  std::string before_;  // lines before the command
  std::string inner_;   // lines that only the command may be affected by
  std::string command_;
  std::string redirections_;  // of the command
  bool has_wrapper_ = true;
};

}  // namespace

std::string FormatShell(const Plan& plan, const Backend& backend, const Rendered& rendered) {
  return Shell(plan, backend, rendered).Format();
}

}  // namespace agent_exec
