#include "cli/parse.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "base/text.h"
#include "doctest/doctest.h"

namespace agent_exec {
namespace {

using Words = std::vector<std::string>;

const char* VerbName(Verb verb) {
  for (const VerbRow& row : Verbs()) {
    if (row.verb == verb) return row.flag;
  }
  return "run";
}

std::string FormatAssignment(const Assignment& assignment) {
  std::string out(assignment.setting->key);
  for (const auto& [name, text] : assignment.value.attributes)
    absl::StrAppend(&out, "{", name, "=", text, "}");
  return absl::StrCat(out, "=", assignment.value.text, " from ", FormatOrigin(assignment.origin));
}

// "print json; mode=read-only from --mode; policy a.toml; command make|-j2", or the diagnostic as
// text.
std::string Parse(Words words) {
  words.insert(words.begin(), "agent-exec");
  const absl::StatusOr<Invocation> invocation = ParseCommandLine(words);
  if (!invocation.ok()) return FormatText(ToDiagnostic(invocation.status()));
  Words parts = {VerbName(invocation->verb)};
  if (invocation->verb == Verb::kPrint) {
    absl::StrAppend(&parts[0], " ",
                    SplitChoices("argv|json|script")[static_cast<size_t>(invocation->print_form)]);
  }
  for (const Assignment& assignment : invocation->flags.assignments)
    parts.push_back(FormatAssignment(assignment));
  for (const auto& file : invocation->policy_files)
    parts.push_back(absl::StrCat("policy ", file.value));
  if (!invocation->command.empty())
    parts.push_back(absl::StrCat("command ", absl::StrJoin(invocation->command, "|")));
  for (const std::string& text : invocation->wipe) parts.push_back(absl::StrCat("wipe ", text));
  return absl::StrJoin(parts, "; ");
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("cli/parse") {
  TEST_CASE("options stop at the first word that is not one, or after --") {
    const std::pair<Words, std::string> cases[] = {
        {{"make"}, "run; command make"},
        {{"--", "make"}, "run; command make"},
        {{"make", "--mode", "x", "-q", "--"}, "run; command make|--mode|x|-q|--"},
        {{"--", "--mode", "--"}, "run; command --mode|--"},
        {{"--quiet", "make", "--quiet"}, "run; quiet=true from --quiet; command make|--quiet"},
        {{"--", ""}, "run; command "},
        {{""}, "run; command "},
    };
    for (const auto& [words, expected] : cases) CHECK(Parse(words) == expected);
  }

  TEST_CASE("a value stands in the same word after = or in the next word") {
    const std::pair<Words, std::string> cases[] = {
        {{"--mode", "read-only", "x"}, "run; mode=read-only from --mode; command x"},
        {{"--mode=read-only", "x"}, "run; mode=read-only from --mode; command x"},
        {{"--read=/a=b", "x"}, "run; filesystem.read=/a=b from --read; command x"},
        {{"--read", "/a b", "x"}, "run; filesystem.read=/a b from --read; command x"},
        {{"--read=-dash", "x"}, "run; filesystem.read=-dash from --read; command x"},
    };
    for (const auto& [words, expected] : cases) CHECK(Parse(words) == expected);
  }

  TEST_CASE("settings keep the order in which they were given") {
    CHECK(Parse({"--mode", "read-only", "--deny-read", "a", "--mode=workspace-write", "--deny-read",
                 "b", "x"}) ==
          "run; mode=read-only from --mode; filesystem.deny-read=a from --deny-read; "
          "mode=workspace-write from --mode; filesystem.deny-read=b from --deny-read; command x");
    CHECK(Parse({"--policy", "a", "--policy=b", "x"}) == "run; policy a; policy b; command x");
  }

  TEST_CASE("a flag that rows share goes to the row that its argument is for") {
    CHECK(Parse({"--env", "A", "x"}) == "run; env.allow=A from --env; command x");
    CHECK(Parse({"--env", "A=b=c", "x"}) ==
          "run; env.set{name=A}=b=c from --env; command x; wipe A=b=c");
    CHECK(Parse({"--env=A=", "x"}) == "run; env.set{name=A}= from --env; command x; wipe A=");
    CHECK(Parse({"--limit", "open-files=64", "x"}) ==
          "run; limits.open-files=64 from --limit; command x");
  }

  TEST_CASE("letters can be bundled") {
    CHECK(Parse({"-q", "x"}) == "run; quiet=true from --quiet; command x");
    CHECK(Parse({"-qv", "x"}) ==
          "run; quiet=true from --quiet; verbose=true from --verbose; command x");
    CHECK(Parse({"-qh"}) == "help; quiet=true from --quiet");
  }

  TEST_CASE("verbs take the place of a run") {
    const std::pair<Words, std::string> cases[] = {
        {{"--print", "x"}, "print argv; command x"},
        {{"--print=json", "x"}, "print json; command x"},
        {{"--print=script", "--", "x"}, "print script; command x"},
        {{"--print", "--print=json", "x"}, "print json; command x"},
        {{"--print=json", "--print", "x"}, "print json; command x"},
        {{"--show-policy"}, "show-policy"},
        {{"--show-policy", "x"}, "show-policy; command x"},
        {{"--print-schema"}, "print-schema"},
        {{"-h"}, "help"},
    };
    for (const auto& [words, expected] : cases) CHECK(Parse(words) == expected);
  }

  TEST_CASE("the first --help or --version is answered whatever follows") {
    CHECK(Parse({"--help", "--nonsense"}) == "help");
    CHECK(Parse({"--version", "--help"}) == "version");
    CHECK(Contains(Parse({"--nonsense", "--help"}), "unknown option"));
  }

  TEST_CASE("a bad line is refused with its place and a way out") {
    const std::pair<Words, std::string> cases[] = {
        {{},
         "agent-exec: no command to run (command line)\n"
         "  hint: usage: agent-exec [OPTION...] [--] COMMAND [ARG...]; agent-exec --help lists the "
         "options\n"},
        {{"--mod", "read-only", "x"},
         "agent-exec: unknown option '--mod' (argument 1)\n  hint: did you mean '--mode'?\n"},
        {{"-q", "--show-polcy"},
         "agent-exec: unknown option '--show-polcy' (argument 2)\n  hint: did you mean "
         "'--show-policy'?\n"},
        {{"--poliy=x", "x"},
         "agent-exec: unknown option '--poliy' (argument 1)\n  hint: did you mean '--policy'?\n"},
        {{"--frobnicate", "x"},
         "agent-exec: unknown option '--frobnicate' (argument 1)\n  hint: agent-exec --help lists "
         "the options\n"},
        {{"-x", "x"},
         "agent-exec: unknown option '-x' (argument 1)\n  hint: agent-exec --help lists the "
         "options\n"},
        {{"-qx", "x"},
         "agent-exec: unknown option '-x' (argument 1)\n  hint: agent-exec --help lists the "
         "options\n"},
        {{"-", "x"},
         "agent-exec: unknown option '-' (argument 1)\n  hint: agent-exec --help lists the "
         "options\n"},
        {{"--=x", "x"},
         "agent-exec: unknown option '--' (argument 1)\n  hint: agent-exec --help lists the "
         "options\n"},
        {{"--mode"},
         "agent-exec: option '--mode' needs a value (argument 1)\n  hint: write '--mode=MODE'\n"},
        {{"--mode", "--", "x"},
         "agent-exec: option '--mode' needs a value (argument 1)\n"
         "  hint: write '--mode=MODE'; so too for a value that begins with '-'\n"},
        {{"--quiet=yes", "x"}, "agent-exec: option '--quiet' takes no value (argument 1)\n"},
        {{"--help=x"}, "agent-exec: option '--help' takes no value (argument 1)\n"},
        {{"--print=yaml", "x"},
         "agent-exec: bad value 'yaml' of '--print': expected one of argv|json|script (argument "
         "1)\n"},
        {{"--print=", "x"},
         "agent-exec: bad value '' of '--print': expected one of argv|json|script (argument 1)\n"},
        {{"--print", "--show-policy"},
         "agent-exec: '--print' and '--show-policy' exclude each other (argument 2)\n"},
        {{"--policy", "", "x"},
         "agent-exec: bad value '' of '--policy': expected a file (--policy)\n"},
        {{"\x1b[31m"}, "run; command \x1b[31m"},
    };
    for (const auto& [words, expected] : cases) CHECK(Parse(words) == expected);
  }

  TEST_CASE(
      "a word that begins with - and holds a space is refused, since a #! line arrives as one") {
    for (const char* word : {"-- /bin/sh", "--mode read-only --", "--deny-read=secret --quiet",
                             "-q -v", "--read=/a b", "-\tx"}) {
      const std::string text = Parse({word, "script"});
      CHECK(Contains(text, "holds a space (argument 1)\n"));
      CHECK(Contains(text, "#!/usr/bin/env -S agent-exec"));
    }
  }

  TEST_CASE("an option behind a forgotten value is not taken for the value") {
    CHECK(Contains(Parse({"--deny-read", "--quiet", "x"}), "option '--deny-read' needs a value"));
    CHECK(Contains(Parse({"--policy", "-q", "x"}), "option '--policy' needs a value"));
  }

  TEST_CASE("no option can be abbreviated") {
    std::set<std::string> names;
    for (const Setting* row : OptionRows()) names.insert(row->flag);
    for (const VerbRow& row : Verbs()) names.insert(row.flag);
    for (const std::string& name : names) {
      for (size_t length = 1; length < name.size(); ++length) {
        const std::string prefix = name.substr(0, length);
        if (names.count(prefix) > 0) continue;
        CHECK_MESSAGE(Contains(Parse({absl::StrCat("--", prefix), "x"}), "unknown option"), prefix);
      }
    }
  }

  TEST_CASE("a bad value is refused in the words of its row, with the flag as the place") {
    for (const Setting* row : OptionRows()) {
      if (row->type == ValueType::kBool) continue;
      const std::string text = Parse({absl::StrCat("--", row->flag), "", "x"});
      CHECK_MESSAGE(Contains(text, absl::StrCat("(--", row->flag, ")\n")), row->flag, ": ", text);
    }
    CHECK(
        Contains(Parse({"--mode=wide", "x"}),
                 "bad value of 'mode': expected read-only, workspace-write or danger-full-access"));
  }

  TEST_CASE("every verb and every letter stands once") {
    std::set<std::string> flags;
    std::set<char> letters;
    for (const VerbRow& row : Verbs()) {
      CHECK(flags.insert(row.flag).second);
      CHECK(FindSettingByFlag(row.flag) == nullptr);
      CHECK((row.short_flag == 0 || letters.insert(row.short_flag).second));
    }
    for (const Setting* row : OptionRows()) {
      // Bundled letters leave no room for a value.
      if (row->short_flag == 0) continue;
      CHECK(row->type == ValueType::kBool);
      CHECK(letters.insert(row->short_flag).second);
    }
  }

  TEST_CASE("rows of one group stand together") {
    std::vector<Group> groups;
    for (const Setting* row : OptionRows()) {
      if (groups.empty() || groups.back() != row->group) groups.push_back(row->group);
    }
    CHECK(std::set<Group>(groups.begin(), groups.end()).size() == groups.size());
  }

  TEST_CASE("the wanted error format is found on a line that is wrong elsewhere") {
    const std::pair<Words, ErrorFormat> cases[] = {
        {{"agent-exec", "x"}, ErrorFormat::kText},
        {{"agent-exec", "--nonsense", "--error-format", "json"}, ErrorFormat::kJson},
        {{"agent-exec", "--error-format=json", "--nonsense"}, ErrorFormat::kJson},
        {{"agent-exec", "--error-format=json", "--error-format=text"}, ErrorFormat::kText},
        {{"agent-exec", "--", "--error-format=json"}, ErrorFormat::kText},
        {{"agent-exec", "--error-format"}, ErrorFormat::kText},
        {{"agent-exec", "--error-format=yaml"}, ErrorFormat::kText},
        {{}, ErrorFormat::kText},
    };
    for (const auto& [words, expected] : cases) CHECK(WantedErrorFormat(words) == expected);
  }
}

}  // namespace agent_exec
