#include "app/env_files.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "support/doctest.h"
#include "support/facts.h"
#include "support/status.h"
#include "support/text_files.h"

namespace agent_exec {
namespace {

using namespace testing;

std::string Parsed(absl::string_view text) {
  absl::StatusOr<std::vector<EnvRule>> rules = ParseEnvFile(text, "x.env");
  if (!rules.ok()) return DescribeStatus(rules.status());
  std::string out;
  for (const EnvRule& rule : *rules) {
    CHECK(rule.kind == EnvRule::Kind::kSet);
    absl::StrAppend(&out, rule.origin.line, ":", rule.name, "=[", rule.value, "] ");
  }
  return out;
}

TEST_SUITE("app/env_files") {
  TEST_CASE("each line sets a variable to exactly what stands behind the first '='") {
    struct Row {
      const char* text;
      const char* parsed;
    };
    const Row rows[] = {
        {"A=1\nB=two words \n", "1:A=[1] 2:B=[two words ] "},
        {"A=\"q\" $HOME #x", "1:A=[\"q\" $HOME #x] "},
        {"A=b=c\nE=\n", "1:A=[b=c] 2:E=[] "},
        {"# comment\n\n  \t\nA=1", "4:A=[1] "},
        {"\xef\xbb\xbf"
         "A=1\r\nB=2\r\n",
         "1:A=[1] 2:B=[2] "},
        {"", ""},
        {"a.b=x", "1:a.b=[x] "},
    };
    for (const Row& row : rows) CHECK_EQ(Parsed(row.text), row.parsed);
  }

  TEST_CASE("a line that sets nothing is an error with its place and without its content") {
    CHECK_EQ(Parsed("A=1\nhunter2\n"),
             "INVALID_ARGUMENT: no '=' in a line of an environment file | x.env:2:1 | each line is "
             "NAME=VALUE");
    CHECK_EQ(Parsed("=x"),
             "INVALID_ARGUMENT: no name before the '=' in an environment file | x.env:1:1 | each "
             "line is NAME=VALUE");
    CHECK_EQ(Parsed("export A=x"),
             "INVALID_ARGUMENT: the name 'export A' holds a space | x.env:1:1 | each line is "
             "NAME=VALUE");
    CHECK_EQ(Parsed(absl::string_view("A=\0", 3)),
             "INVALID_ARGUMENT: a NUL byte in an environment file | x.env:1:1 | each line is "
             "NAME=VALUE");
  }

  TEST_CASE("a flag's file stands in the current directory, a policy's in the workspace") {
    TextFiles files;
    files.Add("/w/sub/a.env", "FROM=cwd\n");
    files.Add("/w/a.env", "FROM=workspace\n");
    HostFacts facts = DebianUser();
    facts.cwd = "/w/sub";
    Policy by_flag;
    by_flag.env_files = {{"a.env", {Origin::Kind::kFlag, "--env-file"}}};
    REQUIRE_OK(ApplyEnvFiles("/w", facts, files, &by_flag));
    CHECK_EQ(by_flag.env[0].value, "cwd");
    Policy by_file;
    by_file.env_files = {{"a.env", {Origin::Kind::kFile, "policy.toml", 3, 9}}};
    REQUIRE_OK(ApplyEnvFiles("/w", facts, files, &by_file));
    CHECK_EQ(by_file.env[0].value, "workspace");
  }

  TEST_CASE("a variable that is set by name wins over files, a later file over an earlier one") {
    TextFiles files;
    files.Add("/w/1.env", "A=1\n");
    files.Add("/w/2.env", "A=2\n");
    Policy policy;
    policy.env = {{EnvRule::Kind::kSet, "A", "named", {}}};
    policy.env_files = {{"/w/1.env", {}}, {"/w/2.env", {}}};
    REQUIRE_OK(ApplyEnvFiles("/w", DebianUser(), files, &policy));
    REQUIRE_EQ(policy.env.size(), 3);
    CHECK_EQ(policy.env[0].value, "1");
    CHECK_EQ(policy.env[1].value, "2");
    CHECK_EQ(policy.env[2].value, "named");
  }

  TEST_CASE("a file that cannot be read is an error with the place of the setting") {
    TextFiles files;
    Policy policy;
    policy.env_files = {{"none.env", {Origin::Kind::kFlag, "--env-file"}}};
    CHECK_DIAGNOSTIC(ApplyEnvFiles("/w", DebianUser(), files, &policy), kNotFound,
                     "cannot read environment file 'none.env': No such file or directory",
                     "--env-file", "");
  }
}

}  // namespace
}  // namespace agent_exec
