#include "cli/help.h"

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/parse.h"

namespace agent_exec {
namespace {

constexpr int kWidth = 80;
constexpr int kHelpColumn = 28;

// "  -q, --quiet", with room for the letter in every line so that long names stand below each
// other.
std::string Spelling(char letter, absl::string_view flag) {
  const std::string front =
      letter == 0 ? "      " : absl::StrCat("  -", absl::string_view(&letter, 1), ", ");
  return absl::StrCat(front, "--", flag);
}

void AppendEntry(const std::string& spelling, absl::string_view help, std::string* out) {
  std::string text = WrapText(help, kWidth, kHelpColumn);
  if (spelling.size() + 2 > kHelpColumn) {
    absl::StrAppend(out, spelling, "\n", text, "\n");
  } else {
    text.replace(0, spelling.size(), spelling);
    absl::StrAppend(out, text, "\n");
  }
}

}  // namespace

absl::string_view GroupTitle(Group group) {
  switch (group) {
    case Group::kPolicy:
      return "Policy";
    case Group::kFilesystem:
      return "Filesystem";
    case Group::kNetwork:
      return "Network";
    case Group::kEnvironment:
      return "Environment";
    case Group::kLimits:
      return "Limits";
    case Group::kLaunch:
      return "Launch";
    case Group::kOutput:
      return "Output";
  }
  return "";
}

std::string FlagArgument(const Setting& setting) {
  if (setting.type == ValueType::kBool) return "";
  if (setting.type == ValueType::kEnum) return setting.choices;
  if (setting.flag_form != FlagForm::kKeyed) return setting.metavar;
  const absl::string_view key = setting.key;
  return absl::StrCat(key.substr(key.rfind('.') + 1), "=", setting.metavar);
}

std::string HelpText() {
  std::string out =
      "Runs a command in a sandbox: it gets the files, variables and network that a\n"
      "policy allows, and nothing else of this host.\n"
      "\n"
      "usage: agent-exec [OPTION...] [--] COMMAND [ARG...]\n";
  std::optional<Group> group;
  for (const Setting* row : OptionRows()) {
    if (group != row->group) {
      group = row->group;
      absl::StrAppend(&out, "\n", GroupTitle(*group), ":\n");
    }
    std::string spelling = Spelling(row->short_flag, row->flag);
    if (const std::string argument = FlagArgument(*row); !argument.empty())
      absl::StrAppend(&spelling, " ", argument);
    AppendEntry(spelling, row->help, &out);
  }
  absl::StrAppend(&out, "\nInstead of running it:\n");
  for (const VerbRow& row : Verbs()) {
    std::string spelling = Spelling(row.short_flag, row.flag);
    if (*row.choices != '\0') absl::StrAppend(&spelling, "[=", row.choices, "]");
    AppendEntry(spelling, row.help, &out);
  }
  absl::StrAppend(&out,
                  "\n"
                  "The exit status is the command's own; 125: refused or failed, nothing was run;\n"
                  "126: not executable; 127: not found. More in agent-exec(1) and\n"
                  "agent-exec.toml(5).\n");
  return out;
}

std::string VersionText() { return absl::StrCat("agent-exec ", kVersion, "\n"); }

}  // namespace agent_exec
