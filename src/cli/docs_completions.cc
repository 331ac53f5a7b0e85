#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "base/text.h"
#include "cli/docs.h"
#include "cli/parse.h"
#include "policy/builtin.h"
#include "policy/setting.h"

namespace agent_exec {
namespace {

// One flag as completions see it: rows that share it are one.
struct Flag {
  absl::string_view name;
  char letter = 0;
  absl::string_view help;
  absl::string_view metavar;
  enum class Value { kNone, kNeeded, kOptional } value = Value::kNone;
  Completion completion = Completion::kNone;
  std::vector<std::string> words;     // for kChoices
  std::vector<std::string> prefixes;  // "tmp-size": a word that goes on with '=' and a value
  bool repeatable = false;
};

std::vector<std::string> ChoiceWords(absl::string_view choices) {
  std::vector<std::string> words;
  for (const absl::string_view choice : SplitChoices(choices)) words.emplace_back(choice);
  return words;
}

void AddRow(const Setting& row, Flag* flag) {
  if (row.type != ValueType::kBool) flag->value = Flag::Value::kNeeded;
  if (row.merge == Merge::kAppend || row.flag_form != FlagForm::kValue) flag->repeatable = true;
  if (row.flag_form == FlagForm::kKeyed) {
    const absl::string_view key = row.key;
    flag->prefixes.emplace_back(key.substr(key.rfind('.') + 1));
    return;
  }
  if (row.completion == Completion::kNone) return;
  flag->completion = row.completion;
  flag->words = ChoiceWords(row.choices);
  if (row.completion == Completion::kProfileName) {
    for (const BuiltinProfile& profile : NamedBuiltins()) flag->words.emplace_back(profile.name);
  }
}

std::vector<Flag> Flags() {
  std::vector<Flag> flags;
  for (const Setting* row : OptionRows()) {
    Flag* flag = nullptr;
    for (Flag& known : flags) {
      if (known.name == row->flag) flag = &known;
    }
    if (flag == nullptr) {
      flag = &flags.emplace_back();
      flag->name = row->flag;
      flag->letter = row->short_flag;
      flag->help = row->help;
      flag->metavar = row->metavar;
    }
    AddRow(*row, flag);
  }
  for (const VerbRow& row : Verbs()) {
    Flag& flag = flags.emplace_back();
    flag.name = row.flag;
    flag.letter = row.short_flag;
    flag.help = row.help;
    if (*row.choices == '\0') continue;
    flag.value = Flag::Value::kOptional;
    flag.completion = Completion::kChoices;
    flag.words = ChoiceWords(row.choices);
  }
  return flags;
}

constexpr absl::string_view kMade =
    "# Made from the settings table; see how to change the code in README.md. Edits are lost.\n";

// --- bash ----------------------------------------------------------------------------------------

std::string BashValues(const Flag& flag) {
  std::string words = absl::StrJoin(flag.words, " ");
  for (const std::string& prefix : flag.prefixes)
    absl::StrAppend(&words, words.empty() ? "" : " ", prefix, "=");
  switch (flag.completion) {
    case Completion::kFile:
    case Completion::kPath:
      return "_agent_exec_files -f";
    case Completion::kDirectory:
      return "_agent_exec_files -d";
    case Completion::kEnvName:
      return "_agent_exec_add -e";
    case Completion::kNone:
    case Completion::kChoices:
    case Completion::kProfileName:
      return absl::StrCat("_agent_exec_add -W '", words, "'");
  }
  return "";
}

constexpr absl::string_view kBashHelpers = R"sh(
# Candidates by compgen, without what readline keeps: it breaks words at "=" and ":".
_agent_exec_add() {
    local candidate kept=
    if [[ $value == *[=:]* && $COMP_WORDBREAKS == *[=:]* ]]; then
        kept=${value%"${value##*[=:]}"}
    fi
    while IFS= read -r candidate; do
        COMPREPLY+=("$before${candidate#"$kept"}")
    done < <(compgen "$@" -- "$value")
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

_agent_exec_files() {
    compopt -o filenames 2>/dev/null
    _agent_exec_add "$@"
}

# What the shell knows about the command that begins at word $1.
_agent_exec_command() {
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$1"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif ((COMP_CWORD == $1)); then
        value=${COMP_WORDS[COMP_CWORD]} before=
        _agent_exec_add -c
        [[ $value != */* ]] || _agent_exec_files -f
    else
        value=${COMP_WORDS[COMP_CWORD]} before=
        _agent_exec_files -f
    fi
}
)sh";

// The walk over the words is the launcher's own: the first word that is no option begins the
// command.
constexpr absl::string_view kBashMain = R"sh(
_agent_exec() {
    local -a words=() starts=()
    local i n=0 word glue= option= value= before=
    COMPREPLY=()
    # bash has cut words at '=' and ':'; they are joined again.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((n > 0)) && [[ -n $glue || $word =~ ^[=:]+$ ]]; then
            words[n - 1]+=$word
            glue=
            [[ ! $word =~ ^[=:]+$ ]] || glue=1
        else
            words[n]=$word
            starts[n]=$i
            n=$((n + 1))
        fi
    done
    for ((i = 1; i < n - 1; i++)); do
        word=${words[i]}
        if [[ -n $option ]]; then
            option=
        elif [[ $word == -- ]]; then
            _agent_exec_command "${starts[i + 1]}"
            return
        elif [[ $word != -* ]]; then
            _agent_exec_command "${starts[i]}"
            return
        elif _agent_exec_needs_value "$word"; then
            option=$word
        fi
    done
    value=${words[n - 1]}
    if [[ -n $option ]]; then
        _agent_exec_value "$option"
    elif [[ $value == --*=* ]]; then
        option=${value%%=*}
        [[ $COMP_WORDBREAKS == *=* ]] || before=$option=
        value=${value#*=}
        _agent_exec_value "$option"
    elif [[ $value == -* ]]; then
        _agent_exec_add -W "$_agent_exec_options"
    else
        _agent_exec_command "${starts[n - 1]}"
    fi
}

complete -F _agent_exec agent-exec
)sh";

}  // namespace

std::string BashCompletion() {
  std::string options, needed, values;
  for (const Flag& flag : Flags()) {
    absl::StrAppend(&options, options.empty() ? "" : " ", "--", flag.name);
    if (flag.value == Flag::Value::kOptional) {
      for (const std::string& word : flag.words)
        absl::StrAppend(&options, " --", flag.name, "=", word);
    }
    if (flag.value == Flag::Value::kNeeded)
      absl::StrAppend(&needed, needed.empty() ? "" : " | ", "--", flag.name);
    if (flag.value != Flag::Value::kNone) {
      absl::StrAppend(&values, "        --", flag.name, ") ", BashValues(flag), " ;;\n");
    }
  }
  return absl::StrCat(
      "# bash completion for agent-exec\n", kMade, "\n_agent_exec_options='",
      WrapText(options, 90, 4), "'\n", kBashHelpers,
      "\n_agent_exec_needs_value() {\n    case $1 in\n",
      absl::StrReplaceAll(WrapText(needed, 90, 8), {{"\n", " \\\n"}}),
      ") return 0 ;;\n    esac\n    return 1\n}\n\n_agent_exec_value() {\n    case $1 in\n", values,
      "    esac\n}\n", kBashMain);
}

// --- zsh -----------------------------------------------------------------------------------------

namespace {

// Inside a single-quoted specification of _arguments.
std::string ZshText(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}, {"'", "'\\''"}});
}

std::string ZshAction(const Flag& flag) {
  switch (flag.completion) {
    case Completion::kFile:
    case Completion::kPath:
      return "_files";
    case Completion::kDirectory:
      return "_files -/";
    case Completion::kEnvName:
      return "_parameters -g \"*export*\"";
    case Completion::kChoices:
    case Completion::kProfileName:
      return absl::StrCat("(", absl::StrJoin(flag.words, " "), ")");
    case Completion::kNone:
      break;
  }
  return flag.prefixes.empty() ? ""
                               : absl::StrCat("compadd -S = ", absl::StrJoin(flag.prefixes, " "));
}

std::string ZshSpec(const Flag& flag) {
  const std::string description = absl::StrCat("[", ZshText(flag.help), "]");
  const absl::string_view star = flag.repeatable ? "*" : "";
  switch (flag.value) {
    case Flag::Value::kNone:
      if (flag.letter == 0) return absl::StrCat("'--", flag.name, description, "'");
      return absl::StrCat("'(-", absl::string_view(&flag.letter, 1), " --", flag.name, ")'{-",
                          absl::string_view(&flag.letter, 1), ",--", flag.name, "}'", description,
                          "'");
    case Flag::Value::kNeeded:
      return absl::StrCat("'", star, "--", flag.name, "=", description, ":", ZshText(flag.metavar),
                          ":", ZshAction(flag), "'");
    case Flag::Value::kOptional:
      return absl::StrCat("'--", flag.name, "=-", description, "::form:", ZshAction(flag), "'");
  }
  return "";
}

}  // namespace

std::string ZshCompletion() {
  std::string out = absl::StrCat("#compdef agent-exec\n", kMade, R"zsh(
# The command's own completion. _arguments leaves a '--' in front of it.
_agent_exec_command() {
  if [[ $words[1] == -- ]]; then
    shift words
    (( CURRENT-- ))
  fi
  _normal
}

_agent_exec() {
  local curcontext=$curcontext state line
  typeset -A opt_args

  # -S and -A: no options after '--', none after the command has begun.
  _arguments -s -S -A '-*' \
)zsh");
  for (const Flag& flag : Flags()) absl::StrAppend(&out, "    ", ZshSpec(flag), " \\\n");
  absl::StrAppend(&out, R"zsh(    '(-)1:command: _command_names -e' \
    '*::arguments:_agent_exec_command'
}

_agent_exec "$@"
)zsh");
  return out;
}

// --- fish ----------------------------------------------------------------------------------------

namespace {

std::string FishQuote(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string FishValues(const Flag& flag) {
  switch (flag.completion) {
    case Completion::kFile:
    case Completion::kPath:
      return " -r -F";
    case Completion::kDirectory:
      return " -x -a '(__fish_complete_directories)'";
    case Completion::kEnvName:
      return " -x -a '(set -xn)'";
    case Completion::kNone:
    case Completion::kChoices:
    case Completion::kProfileName:
      break;
  }
  std::string words = absl::StrJoin(flag.words, " ");
  for (const std::string& prefix : flag.prefixes)
    absl::StrAppend(&words, words.empty() ? "" : " ", prefix, "=");
  return words.empty() ? " -x" : absl::StrCat(" -x -a ", FishQuote(words));
}

constexpr absl::string_view kFishHelpers = R"fish(
# The command and its arguments, the word under the cursor last; fails while there are only options.
function __fish_agent_exec_command
    set -l tokens (commandline -opc) (commandline -ct)
    set -e tokens[1]
    argparse -s $__fish_agent_exec_options -- $tokens 2>/dev/null
    or return 1
    test (count $argv) -gt 1
    or contains -- -- $tokens[1..-2]
    or return 1
    string join0 -- $argv
end

function __fish_agent_exec_in_options
    not __fish_agent_exec_command >/dev/null
end

function __fish_agent_exec_complete_command
    set -l words (__fish_agent_exec_command | string split0)
    set -l last (commandline -ct)
    if test (count $words) -gt 1
        complete -C (string join ' ' -- (string escape -- $words[1..-2]) "$last")
    else if not string match -q -- '-*' "$last"
        complete -C "$last"
    end
end
)fish";

}  // namespace

std::string FishCompletion() {
  std::string options, lines;
  for (const Flag& flag : Flags()) {
    absl::StrAppend(&options, options.empty() ? "" : " ",
                    flag.letter == 0 ? "" : absl::StrCat(absl::string_view(&flag.letter, 1), "/"),
                    flag.name,
                    flag.value == Flag::Value::kNeeded     ? "="
                    : flag.value == Flag::Value::kOptional ? "=?"
                                                           : "");
    absl::StrAppend(&lines, "complete -c agent-exec -n __fish_agent_exec_in_options");
    if (flag.letter != 0) absl::StrAppend(&lines, " -s ", absl::string_view(&flag.letter, 1));
    absl::StrAppend(&lines, " -l ", flag.name,
                    flag.value == Flag::Value::kNeeded ? FishValues(flag) : "", " -d ",
                    FishQuote(flag.help), "\n");
    if (flag.value != Flag::Value::kOptional) continue;
    for (const std::string& word : flag.words) {
      absl::StrAppend(&lines, "complete -c agent-exec -n __fish_agent_exec_in_options -f -a --",
                      flag.name, "=", word, "\n");
    }
  }
  return absl::StrCat("# fish completion for agent-exec\n", kMade,
                      "\nset -g __fish_agent_exec_options ", options, "\n", kFishHelpers,
                      "\ncomplete -c agent-exec -f\n", lines,
                      "complete -c agent-exec -a '(__fish_agent_exec_complete_command)'\n");
}

}  // namespace agent_exec
