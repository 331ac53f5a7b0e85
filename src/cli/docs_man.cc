#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/text.h"
#include "cli/docs.h"
#include "cli/help.h"
#include "cli/key_tables.h"
#include "cli/parse.h"
#include "policy/setting.h"

// mdoc(7). Lines of prose stay below 80 bytes and a sentence begins on a line of its own, as mandoc
// -Tlint wants it.

namespace agent_exec {
namespace {

constexpr int kWidth = 78;

// One word or phrase of plain text: nothing in it is a macro or an escape.
std::string Escape(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else {
      out += c;
    }
  }
  return out;
}

// Plain text as lines of prose.
std::string Prose(absl::string_view text) {
  std::string sentences;
  for (size_t i = 0; i < text.size(); ++i) {
    sentences += text[i];
    const bool ends = i > 0 && i + 2 < text.size() &&
                      (text[i] == '.' || text[i] == '?' || text[i] == '!') && text[i + 1] == ' ' &&
                      absl::ascii_isupper(static_cast<unsigned char>(text[i + 2]));
    if (!ends) continue;
    sentences += '\n';
    ++i;
  }
  std::string out;
  for (const absl::string_view sentence : absl::StrSplit(sentences, '\n')) {
    for (const absl::string_view line : absl::StrSplit(WrapText(sentence, kWidth, 0), '\n')) {
      // At the start of a line these two would begin a macro.
      const bool is_control = !line.empty() && (line[0] == '.' || line[0] == '\'');
      absl::StrAppend(&out, is_control ? "\\&" : "", Escape(line), "\n");
    }
  }
  return out;
}

// "none|host" → "Cm none | host".
std::string ChoiceMacro(absl::string_view choices) {
  return absl::StrCat("Cm ", absl::StrJoin(SplitChoices(choices), " | "));
}

std::string FlagMacro(char letter, absl::string_view flag) {
  const std::string front =
      letter == 0 ? "" : absl::StrCat("Fl ", absl::string_view(&letter, 1), " , ");
  return absl::StrCat(front, "Fl -", flag);
}

std::string OptionItem(const Setting& row) {
  std::string item = absl::StrCat(".It ", FlagMacro(row.short_flag, row.flag));
  if (row.type == ValueType::kEnum) {
    absl::StrAppend(&item, " ", ChoiceMacro(row.choices));
  } else if (const std::string argument = FlagArgument(row); !argument.empty()) {
    absl::StrAppend(&item, " Ar ", Escape(argument));
  }
  absl::StrAppend(&item, "\n", Prose(row.man));
  if (*row.key != '\0') absl::StrAppend(&item, "Policy key:\n.Ic ", row.key, " .\n");
  return item;
}

// What stands to the right of "key =" in a policy.
std::string KeyValue(const Setting& row) {
  switch (row.type) {
    case ValueType::kBool:
      return "Cm true | false";
    case ValueType::kEnum:
      return ChoiceMacro(row.choices);
    case ValueType::kString:
    case ValueType::kPath:
      return "Ar string";
    case ValueType::kInteger:
      return "Ar integer";
    case ValueType::kSize:
      return "Ar size";
    case ValueType::kDuration:
      return "Ar duration";
    case ValueType::kStringList:
      return "Ar array of strings";
    case ValueType::kIntegerList:
      return "Ar array of integers";
    case ValueType::kPathRuleList:
      return "Ar array of path rules";
    case ValueType::kStringMap:
      return "Ar table of strings";
  }
  return "";
}

absl::string_view WorkspaceSentence(Tighten tighten) {
  switch (tighten) {
    case Tighten::kNever:
      return "The workspace's own file cannot set it.";
    case Tighten::kAppend:
      return "The workspace's own file can add to it.";
    case Tighten::kEarlier:
      return "The workspace's own file can only choose a value that stands further left.";
    case Tighten::kLower:
      return "The workspace's own file can only lower it.";
    case Tighten::kSubset:
      return "The workspace's own file can only leave out values.";
  }
  return "";
}

std::string KeyItem(const Setting& row) {
  std::string item =
      absl::StrCat(".It Ic ", KeyWithinTable(row), " No = ", KeyValue(row), "\n", Prose(row.man));
  absl::StrAppend(&item, Prose(WorkspaceSentence(row.tighten)));
  if (*row.flag != '\0') absl::StrAppend(&item, "Option:\n.Fl -", row.flag, " .\n");
  return item;
}

constexpr absl::string_view kBeginList = ".Bl -tag -width Ds\n";
constexpr absl::string_view kEndList = ".El\n";

}  // namespace

std::string ManOptions() {
  std::string out;
  std::optional<Group> group;
  for (const Setting* row : OptionRows()) {
    if (group != row->group) {
      if (group.has_value()) absl::StrAppend(&out, kEndList);
      group = row->group;
      absl::StrAppend(&out, ".Ss ", GroupTitle(*group), "\n", kBeginList);
    }
    absl::StrAppend(&out, OptionItem(*row));
  }
  absl::StrAppend(&out, kEndList, ".Ss Instead of running it\n", kBeginList);
  for (const VerbRow& row : Verbs()) {
    absl::StrAppend(&out, ".It ", FlagMacro(row.short_flag, row.flag));
    if (*row.choices != '\0') absl::StrAppend(&out, " Ns Op = Ns ", ChoiceMacro(row.choices));
    absl::StrAppend(&out, "\n", Prose(row.man));
  }
  absl::StrAppend(&out, kEndList);
  return out;
}

std::string ManKeys() {
  std::string out;
  for (const KeyTable& table : KeyTables()) {
    const std::string title =
        table.name.empty() ? "Above all tables" : absl::StrCat("Table ", table.name);
    absl::StrAppend(&out, ".Ss ", title, "\n", kBeginList);
    for (const Setting* row : table.rows) absl::StrAppend(&out, KeyItem(*row));
    absl::StrAppend(&out, kEndList);
  }
  return out;
}

std::string ManWeakenings() {
  std::string out;
  for (const WeakeningName& row : WeakeningNames()) {
    absl::StrAppend(&out, ".It Cm ", row.name, "\n", Prose(absl::StrCat(row.help, ".")));
  }
  return out;
}

std::string ManBackends(const std::vector<BackendDoc>& backends) {
  std::string out;
  for (const BackendDoc& backend : backends) {
    absl::StrAppend(&out, ".It Cm ", backend.name, "\n", Prose(absl::StrCat(backend.summary, ".")));
    if (backend.limits.empty()) continue;
    absl::StrAppend(&out, ".Pp\nIts limits:\n.Bl -bullet -compact\n");
    for (const std::string& limit : backend.limits) absl::StrAppend(&out, ".It\n", Prose(limit));
    absl::StrAppend(&out, kEndList);
  }
  return out;
}

}  // namespace agent_exec
