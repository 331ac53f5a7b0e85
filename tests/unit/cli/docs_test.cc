#include "cli/docs.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/key_tables.h"
#include "cli/parse.h"
#include "doctest/doctest.h"
#include "policy/setting.h"

namespace agent_exec {
namespace {

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("cli/docs") {
  TEST_CASE("keys above all tables come first and each table stands once") {
    std::vector<std::string> names;
    size_t rows = 0;
    for (const KeyTable& table : KeyTables()) {
      names.emplace_back(table.name);
      rows += table.rows.size();
      for (const Setting* row : table.rows) {
        CHECK(absl::StrCat(table.name, table.name.empty() ? "" : ".", KeyWithinTable(*row)) ==
              row->key);
      }
    }
    CHECK(names.front().empty());
    CHECK(std::vector<std::string>(names.begin() + 1, names.end()) ==
          std::vector<std::string>{"platforms", "filesystem", "network", "env", "limits"});
    size_t with_key = 0;
    for (const Setting& row : Settings()) with_key += *row.key != '\0';
    CHECK(rows == with_key);
  }

  TEST_CASE("every option is in the list of the man page and in each completion") {
    const std::string man = ManOptions(), bash = BashCompletion(), zsh = ZshCompletion(),
                      fish = FishCompletion();
    std::vector<std::string> flags;
    for (const Setting* row : OptionRows()) flags.emplace_back(row->flag);
    for (const VerbRow& row : Verbs()) flags.emplace_back(row.flag);
    for (const std::string& flag : flags) {
      CHECK_MESSAGE(Contains(man, absl::StrCat("Fl -", flag)), flag);
      CHECK_MESSAGE(Contains(bash, absl::StrCat("--", flag)), flag);
      CHECK_MESSAGE((Contains(zsh, absl::StrCat("--", flag, "[")) ||
                     Contains(zsh, absl::StrCat("--", flag, "=")) ||
                     Contains(zsh, absl::StrCat("--", flag, "}"))),
                    flag);
      CHECK_MESSAGE(Contains(fish, absl::StrCat(" -l ", flag, " ")), flag);
    }
  }

  TEST_CASE("every key is in the list of the man page and in the schema") {
    const std::string man = ManKeys(), schema = SchemaJson();
    for (const KeyTable& table : KeyTables()) {
      for (const Setting* row : table.rows) {
        CHECK_MESSAGE(Contains(man, absl::StrCat(".It Ic ", KeyWithinTable(*row), " No = ")),
                      row->key);
        CHECK_MESSAGE(Contains(schema, absl::StrCat("\"", KeyWithinTable(*row), "\": {")),
                      row->key);
      }
    }
  }

  TEST_CASE("a line of the man page is no macro by accident and a sentence begins a line") {
    for (const std::string& text : {ManOptions(), ManKeys(), ManWeakenings()}) {
      for (const absl::string_view line : absl::StrSplit(text, '\n')) {
        CHECK_MESSAGE(line.size() <= 80, std::string(line));
        CHECK(!absl::StartsWith(line, "'"));
        if (!absl::StartsWith(line, ".")) continue;
        const absl::string_view macro = line.substr(0, 3);
        CHECK_MESSAGE((macro == ".It" || macro == ".Bl" || macro == ".El" || macro == ".Ss" ||
                       macro == ".Ic" || macro == ".Pp" || macro == ".Fl"),
                      std::string(line));
      }
    }
    const std::string backends =
        ManBackends({{"b", "One. 'Two' is quoted. Three \\ four", {".dot first. Next"}}});
    CHECK(backends ==
          ".It Cm b\nOne. 'Two' is quoted.\nThree \\e four.\n.Pp\nIts limits:\n.Bl -bullet "
          "-compact\n.It\n\\&.dot first.\nNext\n.El\n");
  }

  TEST_CASE("every weakening says what it does to security") {
    const std::string man = ManWeakenings();
    for (const WeakeningName& row : WeakeningNames()) {
      CHECK(Contains(man, absl::StrCat(".It Cm ", row.name, "\nReduces security:")));
    }
  }
}

}  // namespace agent_exec
