#include "cli/parse.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/quote.h"
#include "base/status.h"
#include "base/text.h"

// getopt_long is not used. It takes a unique prefix for the whole ("--net" for "--network"), so
// that a new option changes what an old command line means; it moves options past the command
// unless told otherwise, and the environment can tell it; it prints its own messages. What is left
// of it is the loop below.

namespace agent_exec {
namespace {

constexpr VerbRow kVerbs[] = {
    {Verb::kPrint, "print", 0, "argv|json|script", "show what would be run, without running it",
     "Dry run: prints the wrapped invocation and exits 0. Nothing is started, and nothing is made "
     "on the host. "
     "'argv', the default, is one shell command, expanded and runnable, after comments that say "
     "what it lacks. "
     "'json' is the same as one object. 'script' is every step in order, exactly as it would be "
     "carried out."},
    {Verb::kShowPolicy, "show-policy", 0, "", "show the merged policy, each line with its origin",
     "Prints the policy that all layers together give, as TOML. A comment on each line says where "
     "it comes from. No "
     "command is needed."},
    {Verb::kPrintSchema, "print-schema", 0, "", "print the JSON schema of policy files",
     "Prints a JSON schema by which editors and validators can check policy files."},
    {Verb::kVersion, "version", 0, "", "print the version", "Prints the version."},
    {Verb::kHelp, "help", 'h', "", "print this list", "Prints the list of options."},
};

constexpr Setting kPolicyRow = {
    .flag = "policy",
    .metavar = "FILE",
    .type = ValueType::kPath,
    .merge = Merge::kAppend,
    .completion = Completion::kFile,
    .group = Group::kPolicy,
    .help = "read a policy file; repeatable, later ones win",
    .man =
        "Reads FILE as a further layer, above those that are found by their place and below the "
        "other options. It is "
        "trusted as the caller is, so it may loosen. Repeatable: of two files that set the same "
        "value the later one "
        "wins.",
};

const VerbRow* FindVerb(absl::string_view flag) {
  for (const VerbRow& row : kVerbs) {
    if (flag == row.flag) return &row;
  }
  return nullptr;
}

const VerbRow* FindShortVerb(char letter) {
  for (const VerbRow& row : kVerbs) {
    if (letter == row.short_flag) return &row;
  }
  return nullptr;
}

const Setting* FindShortSetting(char letter) {
  for (const Setting& row : Settings()) {
    if (letter == row.short_flag) return &row;
  }
  return nullptr;
}

absl::string_view NearestOption(absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const Setting* row : OptionRows()) names.push_back(row->flag);
  for (const VerbRow& row : kVerbs) names.push_back(row.flag);
  return NearestName(name, names);
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& argv) : argv_(argv) {
    invocation_.flags.kind = LayerKind::kFlags;
    invocation_.flags.name = "command line";
  }

  absl::StatusOr<Invocation> Parse() {
    for (next_ = 1; next_ < argv_.size();) {
      const absl::string_view word = argv_[next_];
      if (!absl::StartsWith(word, "-")) break;
      ++next_;
      if (word == "--") break;
      AE_RETURN_IF_ERROR(ParseOption(word));
      if (invocation_.verb == Verb::kHelp || invocation_.verb == Verb::kVersion)
        return std::move(invocation_);
    }
    if (next_ < argv_.size()) invocation_.command.assign(argv_.begin() + next_, argv_.end());
    const bool needs_command = invocation_.verb == Verb::kRun || invocation_.verb == Verb::kPrint;
    if (needs_command && invocation_.command.empty()) {
      return ErrorAt(absl::StatusCode::kInvalidArgument, "no command to run", "command line",
                     "usage: agent-exec [OPTION...] [--] COMMAND [ARG...]; agent-exec --help lists "
                     "the options");
    }
    return std::move(invocation_);
  }

 private:
  using Value = std::optional<absl::string_view>;

  absl::Status ParseOption(absl::string_view word) {
    if (word.find_first_of(" \t\n") != absl::string_view::npos) {
      // The kernel passes all that follows the interpreter on a #! line as one argument. Read as an
      // option with a long value it could swallow a rule; skipped, it would run the script again,
      // without end.
      return Error(absl::StrCat("option ", QuoteForMessage(word), " holds a space"),
                   "on a #! line write '#!/usr/bin/env -S agent-exec OPTION... --'; a value with a "
                   "space needs a word of its own");
    }
    if (!absl::StartsWith(word, "--")) return ParseLetters(word);
    absl::string_view name = word.substr(2);
    Value value;
    if (const size_t equals = name.find('='); equals != absl::string_view::npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    }
    if (const VerbRow* verb = FindVerb(name)) return TakeVerb(*verb, value);
    if (name == kPolicyRow.flag) return TakePolicy(value);
    if (const Setting* row = FindSettingByFlag(name)) return TakeSetting(*row, value);
    const absl::string_view nearest = NearestOption(name);
    return Error(absl::StrCat("unknown option ", QuoteForMessage(absl::StrCat("--", name))),
                 nearest.empty() ? "agent-exec --help lists the options"
                                 : absl::StrCat("did you mean '--", nearest, "'?"));
  }

  // "-qv": each letter is an option of its own, without a value.
  absl::Status ParseLetters(absl::string_view word) {
    if (word == "-") return Error("unknown option '-'", "agent-exec --help lists the options");
    for (const char letter : word.substr(1)) {
      if (const VerbRow* verb = FindShortVerb(letter)) {
        AE_RETURN_IF_ERROR(TakeVerb(*verb, std::nullopt));
      } else if (const Setting* row = FindShortSetting(letter)) {
        AE_RETURN_IF_ERROR(TakeSetting(*row, std::nullopt));
      } else {
        return Error(absl::StrCat("unknown option ", QuoteForMessage(absl::StrCat(
                                                         "-", absl::string_view(&letter, 1)))),
                     "agent-exec --help lists the options");
      }
    }
    return absl::OkStatus();
  }

  absl::Status TakeVerb(const VerbRow& row, Value value) {
    if (verb_ != nullptr && verb_ != &row) {
      return Error(absl::StrCat("'--", verb_->flag, "' and '--", row.flag, "' exclude each other"));
    }
    verb_ = &row;
    invocation_.verb = row.verb;
    if (!value.has_value()) return absl::OkStatus();
    const std::vector<absl::string_view> choices = SplitChoices(row.choices);
    if (choices.empty()) return Unwanted(row.flag);
    for (size_t i = 0; i < choices.size(); ++i) {
      if (choices[i] != *value) continue;
      invocation_.print_form = static_cast<PrintForm>(i);
      return absl::OkStatus();
    }
    return Error(absl::StrCat("bad value ", QuoteForMessage(*value), " of '--", row.flag,
                              "': expected one of ", row.choices));
  }

  absl::Status TakePolicy(Value value) {
    AE_ASSIGN_OR_RETURN(const absl::string_view file, NeedValue(kPolicyRow, value));
    const Origin origin = {Origin::Kind::kFlag, "--policy"};
    if (file.empty()) {
      return ErrorAt(absl::StatusCode::kInvalidArgument,
                     "bad value '' of '--policy': expected a file", origin.name);
    }
    invocation_.policy_files.push_back({std::string(file), origin});
    return absl::OkStatus();
  }

  absl::Status TakeSetting(const Setting& row, Value value) {
    if (row.type == ValueType::kBool) {
      if (value.has_value()) return Unwanted(row.flag);
      value = "";
    }
    AE_ASSIGN_OR_RETURN(const absl::string_view argument, NeedValue(row, value));
    AE_ASSIGN_OR_RETURN(Assignment assignment, AssignmentFromFlag(row.flag, argument));
    if (assignment.setting->flag_form == FlagForm::kAssigned)
      invocation_.wipe.emplace_back(argument);
    invocation_.flags.assignments.push_back(std::move(assignment));
    return absl::OkStatus();
  }

  // The value of "--flag=VALUE", else the next word.
  absl::StatusOr<absl::string_view> NeedValue(const Setting& row, Value value) {
    if (value.has_value()) return *value;
    if (next_ < argv_.size() && !absl::StartsWith(argv_[next_], "-")) return argv_[next_++];
    // A word that begins with '-' is far more often the next option behind a forgotten value than a
    // value, and taken for one, "--deny-read --quiet" would hide a file that nobody has.
    std::string hint = absl::StrCat("write '--", row.flag, "=", row.metavar, "'");
    if (next_ < argv_.size()) absl::StrAppend(&hint, "; so too for a value that begins with '-'");
    return ErrorAt(absl::StatusCode::kInvalidArgument,
                   absl::StrCat("option '--", row.flag, "' needs a value"),
                   absl::StrCat("argument ", next_ - 1), hint);
  }

  absl::Status Unwanted(absl::string_view flag) {
    return Error(absl::StrCat("option '--", flag, "' takes no value"));
  }

  // About the word that was read last.
  absl::Status Error(absl::string_view message, absl::string_view hint = "") {
    return ErrorAt(absl::StatusCode::kInvalidArgument, message,
                   absl::StrCat("argument ", next_ - 1), hint);
  }

  const std::vector<std::string>& argv_;
  size_t next_ = 0;                // the word to be read next
  const VerbRow* verb_ = nullptr;  // the one given so far
  Invocation invocation_;
};

}  // namespace

absl::Span<const VerbRow> Verbs() { return kVerbs; }

std::vector<const Setting*> OptionRows() {
  std::vector<const Setting*> rows;
  for (const Setting& row : Settings()) {
    if (*row.flag != '\0') rows.push_back(&row);
  }
  const auto after_group = std::find_if(
      rows.begin(), rows.end(), [](const Setting* row) { return row->group != kPolicyRow.group; });
  rows.insert(after_group, &kPolicyRow);
  return rows;
}

absl::StatusOr<Invocation> ParseCommandLine(const std::vector<std::string>& argv) {
  return Parser(argv).Parse();
}

ErrorFormat WantedErrorFormat(const std::vector<std::string>& argv) {
  ErrorFormat wanted = ErrorFormat::kText;
  // The line may be wrong in any way, so where its options end cannot be told; "--" is the one sure
  // sign.
  for (size_t i = 1; i < argv.size() && argv[i] != "--"; ++i) {
    const bool apart = argv[i] == "--error-format" && i + 1 < argv.size();
    if (argv[i] == "--error-format=json" || (apart && argv[i + 1] == "json"))
      wanted = ErrorFormat::kJson;
    if (argv[i] == "--error-format=text" || (apart && argv[i + 1] == "text"))
      wanted = ErrorFormat::kText;
  }
  return wanted;
}

}  // namespace agent_exec
