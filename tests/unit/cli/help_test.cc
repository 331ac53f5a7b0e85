#include "cli/help.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/version.h"
#include "cli/parse.h"
#include "doctest/doctest.h"

namespace agent_exec {
namespace {

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("cli/help") {
  TEST_CASE("every option and every verb is listed with its help") {
    const std::string help = HelpText();
    for (const Setting* row : OptionRows()) {
      CHECK_MESSAGE(Contains(help, absl::StrCat("--", row->flag)), row->flag);
      CHECK_MESSAGE(*row->help != '\0', row->flag);
    }
    for (const VerbRow& row : Verbs())
      CHECK_MESSAGE(Contains(help, absl::StrCat("--", row.flag)), row.flag);
  }

  TEST_CASE("no line is wider than 80 columns or ends in a space") {
    for (const absl::string_view line : absl::StrSplit(HelpText(), '\n')) {
      CHECK_MESSAGE(line.size() <= 80, std::string(line));
      CHECK((line.empty() || line.back() != ' '));
    }
  }

  TEST_CASE("letters, arguments and keys of shared flags are spelled out") {
    const std::string help = HelpText();
    CHECK(Contains(help, "\n  -q, --quiet               no notices, only errors\n"));
    CHECK(Contains(help, "\n      --env NAME            pass the variable NAME on\n"));
    CHECK(Contains(help, "\n      --env NAME=VALUE      set the variable NAME\n"));
    CHECK(Contains(help, "\n      --network none|host   "));
    CHECK(Contains(help, "\n      --limit tmp-size=SIZE\n                            size of"));
    CHECK(Contains(help, "--print[=argv|json|script]"));
  }

  TEST_CASE("help lines are short, lower case and without a full stop") {
    for (const Setting* row : OptionRows()) {
      const std::string help = row->help;
      CHECK_MESSAGE(help.back() != '.', help);
      CHECK_MESSAGE(help.size() <= 72, help);
    }
  }

  TEST_CASE("the version is the program's name and the number") {
    CHECK(VersionText() == absl::StrCat("agent-exec ", kVersion, "\n"));
  }
}

}  // namespace agent_exec
