// Whole runs of the launcher on hosts made up in text. A case is a directory:
//
//   cmd          the command line, a word on each line, without the program's name
//   host         a named host of support/facts.h ("debian-user"), then lines of "fact = value" or
//   of a FakeFileView tree, on
//                top of kHost (support/planning.h). Facts: cwd, self, env (adds NAME=VALUE), tty
//                (stdin, stdout or stderr)
//   policy.toml  appears as /w/policy.toml, if there is one
// and what comes out, accepted by AGENT_EXEC_ACCEPT=1:
//   argv         of a start: what is executed, an option with its values on each line, descriptors
//   and environment report       of a start: the first object of --report, a member on each line
//   error        else: the exit status and what is said

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "app/decide.h"
#include "base/json.h"
#include "base/quote.h"
#include "support/doctest.h"
#include "support/facts.h"
#include "support/fake_file_view.h"
#include "support/golden.h"
#include "support/json.h"
#include "support/planning.h"

namespace agent_exec {
namespace {

using namespace testing;

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

std::vector<std::string> Lines(const std::string& text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

HostFacts NamedHost(const std::string& name) {
  if (name == "debian-user") return DebianUser();
  if (name == "debian-root") return DebianRoot();
  if (name == "native-user") return NativeUser();
  if (name == "native-root") return NativeRoot();
  if (name == "without-bubblewrap") return WithoutBubblewrap();
  if (name == "with-old-bubblewrap") return WithOldBubblewrap();
  if (name == "without-user-namespaces") return WithoutUserNamespaces();
  if (name == "mac") return Mac();
  FAIL("no host is called ", name);
  return HostFacts{};
}

// Takes a "fact = value" line; false for a line of the tree.
bool SetFact(const std::string& line, HostFacts* facts) {
  size_t at = line.find(" = ");
  if (absl::StartsWith(line, "/") || at == std::string::npos) return false;
  std::string name = line.substr(0, at);
  std::string value = line.substr(at + 3);
  if (name == "cwd") {
    facts->cwd = value;
  } else if (name == "self") {
    facts->self_path = value;
  } else if (name == "env") {
    facts->env.push_back(value);
  } else if (name == "tty") {
    facts->stdin_is_tty = facts->stdin_is_tty || value == "stdin";
    facts->stdout_is_tty = facts->stdout_is_tty || value == "stdout";
    facts->stderr_is_tty = facts->stderr_is_tty || value == "stderr";
  } else {
    FAIL("no fact is called ", name);
  }
  return true;
}

// One object, a member on each line. The hash is another one with each change of a built-in
// profile, which the other files show better.
std::string ShowReport(const std::string& line) {
  std::optional<Json> json = ParseJson(line.substr(0, line.size() - 1));
  REQUIRE(json.has_value());
  std::string out;
  for (const auto& [name, value] : json->members) {
    if (name == "policy-hash") {
      CHECK_EQ(value.text.size(), 64);
      continue;
    }
    absl::StrAppend(&out, name, ":");
    if (value.kind != Json::Kind::kArray) absl::StrAppend(&out, " ", value.text);
    for (const Json& item : value.items) {
      absl::StrAppend(&out, item.members.empty() ? " " : "\n ", item.text);
      // What a limit means is the table's business.
      for (const auto& [key, member] : item.members) {
        if (name != "limits" || key != "text") absl::StrAppend(&out, " ", key, "=", member.text);
      }
    }
    out += "\n";
  }
  return out;
}

std::string ShowStart(const Rendered& rendered) {
  std::string out;
  bool joins = false;  // --perms and --size belong to the option that follows them
  for (const std::string& word : rendered.printed_argv) {
    const bool breaks = !out.empty() && !joins && absl::StartsWith(word, "--");
    if (absl::StartsWith(word, "--")) joins = word == "--perms" || word == "--size";
    absl::StrAppend(&out, breaks ? "\n" : out.empty() ? "" : " ", EscapeControls(ShellQuote(word)));
  }
  out += "\n\n";
  // The rest of the steps, without the words again and the filter, which has golden files of its
  // own.
  std::string script = FormatScript(rendered.script);
  bool skipping = false;
  for (const std::string& line : Lines(script)) {
    if (!absl::StartsWith(line, " ")) {
      skipping = absl::StartsWith(line, "install-filter") ||
                 (absl::StartsWith(line, "pass-blob") && !absl::StrContains(line, " data:"));
      if (skipping) {
        absl::StrAppend(&out, line.substr(0, line.find(" of ")), "\n");
        continue;
      }
    }
    if (!skipping) absl::StrAppend(&out, line, "\n");
  }
  return out;
}

void RunCase(const std::filesystem::path& directory) {
  const std::string name = directory.filename().string();
  INFO("case ", name);
  std::vector<std::string> host = Lines(ReadAll(directory / "host"));
  REQUIRE_FALSE(host.empty());
  HostFacts facts = NamedHost(host[0]);
  FakeFileView files(kHost, facts.uid);
  if (std::filesystem::exists(directory / "policy.toml")) {
    std::string text = absl::StrReplaceAll(ReadAll(directory / "policy.toml"), {{"\n", "\\n"}});
    files.Add(absl::StrCat("/w/policy.toml = ", text, " uid=", facts.uid));
  }
  for (size_t i = 1; i < host.size(); ++i) {
    if (!SetFact(host[i], &facts)) files.Add(host[i]);
  }
  std::sort(facts.env.begin(), facts.env.end());
  std::vector<std::string> argv = {"agent-exec", "--report", "fd:9"};
  for (const std::string& word : Lines(ReadAll(directory / "cmd"))) argv.push_back(word);

  Outcome outcome = Decide({argv, facts}, files);
  if (const Text* text = std::get_if<Text>(&outcome)) {
    CHECK_EQ(GoldenDifference(name + "/error", absl::StrCat("status ", text->exit_status, "\n",
                                                            text->out, text->err)),
             "");
    return;
  }
  const Launch& launch = std::get<Launch>(outcome);
  CHECK_EQ(GoldenDifference(name + "/argv", launch.err + ShowStart(launch.rendered)), "");
  CHECK_EQ(GoldenDifference(name + "/report", ShowReport(launch.report_line)), "");
}

TEST_SUITE("golden/cases") {
  TEST_CASE("every case gives what was accepted") {
    std::vector<std::filesystem::path> cases;
    for (const auto& entry : std::filesystem::directory_iterator(AGENT_EXEC_GOLDEN_DIR)) {
      if (std::filesystem::exists(entry.path() / "cmd")) cases.push_back(entry.path());
    }
    std::sort(cases.begin(), cases.end());
    CHECK(cases.size() >= 15);
    for (const auto& directory : cases) RunCase(directory);
  }
}

}  // namespace
}  // namespace agent_exec
