#include "app/layers.h"

#include <cerrno>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "support/doctest.h"
#include "support/facts.h"
#include "support/status.h"
#include "support/text_files.h"

namespace agent_exec {
namespace {

using namespace testing;

const char kEmptyPolicy[] = "version = 1\n";

Invocation Parse(std::vector<std::string> words) {
  words.insert(words.begin(), "agent-exec");
  words.push_back("true");
  REQUIRE_OK_AND_ASSIGN(Invocation invocation, ParseCommandLine(words));
  return invocation;
}

// The names of the layers in order, or the error.
std::string Layers(const std::vector<std::string>& words, TextFiles& files,
                   const HostFacts& facts = DebianUser()) {
  absl::StatusOr<LoadedLayers> loaded = LoadLayers(Parse(words), facts, files);
  if (!loaded.ok()) return DescribeStatus(loaded.status());
  std::vector<std::string> names;
  for (const Layer& layer : loaded->layers) names.push_back(layer.name);
  return absl::StrJoin(names, ", ");
}

TextFiles EmptyHost() {
  TextFiles files;
  files.AddDirectory("/w/sub");
  files.AddDirectory("/etc");
  files.AddDirectory("/home/u");
  return files;
}

TEST_SUITE("app/layers") {
  TEST_CASE("the layers come in order of trust, those given last but for the flags") {
    TextFiles files = EmptyHost();
    files.Add("/etc/agent-exec/policy.toml", kEmptyPolicy, 0);
    files.Add("/home/u/.config/agent-exec/policy.toml", kEmptyPolicy);
    files.Add("/w/.agent-exec.toml", kEmptyPolicy);
    files.Add("/w/a.toml", kEmptyPolicy);
    files.Add("/w/b.toml", kEmptyPolicy);
    CHECK_EQ(Layers({"--policy", "b.toml", "--policy=/w/a.toml"}, files),
             "/etc/agent-exec/policy.toml, /home/u/.config/agent-exec/policy.toml, "
             "/w/.agent-exec.toml, b.toml, /w/a.toml, command line");
  }

  TEST_CASE("without any policy file there are the flags") {
    TextFiles files = EmptyHost();
    CHECK_EQ(Layers({}, files), "command line");
  }

  TEST_CASE("all places are protected, present or missing") {
    TextFiles files = EmptyHost();
    files.Add("/w/sub/p.toml", kEmptyPolicy);
    REQUIRE_OK_AND_ASSIGN(LoadedLayers loaded,
                          LoadLayers(Parse({"--policy", "sub/p.toml"}), DebianUser(), files));
    CHECK_EQ(absl::StrJoin(loaded.looked_at, " "),
             "/etc/agent-exec/policy.toml /home/u/.config/agent-exec/policy.toml "
             "/w/.agent-exec.toml /w/sub/p.toml");
  }

  TEST_CASE("XDG_CONFIG_HOME decides where the user's policy is, unless it is relative") {
    TextFiles files = EmptyHost();
    files.Add("/cfg/agent-exec/policy.toml", kEmptyPolicy);
    files.Add("/home/u/.config/agent-exec/policy.toml", kEmptyPolicy);
    HostFacts facts = DebianUser();
    facts.env.push_back("XDG_CONFIG_HOME=/cfg");
    CHECK_EQ(Layers({}, files, facts), "/cfg/agent-exec/policy.toml, command line");
    facts.env.back() = "XDG_CONFIG_HOME=cfg";
    CHECK_EQ(Layers({}, files, facts), "/home/u/.config/agent-exec/policy.toml, command line");
    facts.env = {"HOME=/"};
    CHECK_EQ(Layers({}, files, facts), "command line");
  }

  TEST_CASE("the workspace is what the flags say, else the other layers, else where one stands") {
    TextFiles files = EmptyHost();
    files.Add("/w/.agent-exec.toml", kEmptyPolicy);
    files.Add("/w/sub/.agent-exec.toml", kEmptyPolicy);
    files.Add("/w/p.toml", "version = 1\nworkspace = \"/w/sub\"\n");
    CHECK_EQ(Layers({}, files), "/w/.agent-exec.toml, command line");
    CHECK_EQ(Layers({"--workspace", "sub"}, files), "/w/sub/.agent-exec.toml, command line");
    CHECK_EQ(Layers({"--policy", "p.toml"}, files),
             "/w/sub/.agent-exec.toml, p.toml, command line");
    CHECK_EQ(Layers({"--policy", "p.toml", "--workspace", "/w"}, files),
             "/w/.agent-exec.toml, p.toml, command line");
    CHECK_EQ(Layers({"--workspace", "/gone"}, files),
             "NOT_FOUND: cannot use workspace '/gone': No such file or directory | --workspace | ");
  }

  TEST_CASE("without a current directory the standard places are still read") {
    TextFiles files = EmptyHost();
    files.Add("/etc/agent-exec/policy.toml", kEmptyPolicy, 0);
    HostFacts facts = DebianUser();
    facts.cwd = "";
    CHECK_EQ(Layers({}, files, facts), "/etc/agent-exec/policy.toml, command line");
    CHECK_EQ(Layers({"--policy", "p.toml"}, files, facts),
             "FAILED_PRECONDITION: cannot tell where 'p.toml' is: there is no current directory | "
             "--policy | ");
  }

  TEST_CASE("a policy file that is asked for must be there") {
    TextFiles files = EmptyHost();
    CHECK_EQ(Layers({"--policy", "none.toml"}, files),
             "NOT_FOUND: cannot read policy file 'none.toml': No such file or directory | --policy "
             "| ");
  }

  TEST_CASE("a file that cannot be read or trusted refuses, wherever it lies") {
    struct Row {
      const char* path;
      int error;
      uint32_t uid;
      uint32_t mode;
      const char* described;
    };
    const char* const kUser = "/home/u/.config/agent-exec/policy.toml";
    const Row rows[] = {
        {kUser, EACCES, 1000, 0644,
         "PERMISSION_DENIED: cannot read policy file '/home/u/.config/agent-exec/policy.toml': "
         "Permission denied |  | "},
        {kUser, EXDEV, 1000, 0644,
         "PERMISSION_DENIED: policy file '/home/u/.config/agent-exec/policy.toml' is a symlink "
         "that "
         "leaves its directory |  | put a copy in its place, or name the file itself by --policy"},
        {kUser, EINVAL, 1000, 0644,
         "PERMISSION_DENIED: policy file '/home/u/.config/agent-exec/policy.toml' is not a regular "
         "file |  | "},
        {kUser, EFBIG, 1000, 0644,
         "RESOURCE_EXHAUSTED: policy file '/home/u/.config/agent-exec/policy.toml' is larger than "
         "1048576 bytes |  | "},
        {"/etc/agent-exec/policy.toml", 0, 0, 0666,
         "PERMISSION_DENIED: policy file '/etc/agent-exec/policy.toml' can be written by everybody "
         "|  | chmod go-w /etc/agent-exec/policy.toml"},
        {"/etc/agent-exec/policy.toml", 0, 1001, 0644,
         "PERMISSION_DENIED: policy file '/etc/agent-exec/policy.toml' belongs to user 1001, "
         "neither "
         "to you nor to root |  | read it, then take it over: chown 1000 "
         "/etc/agent-exec/policy.toml"},
        {"/w/.agent-exec.toml", 0, 1001, 0644, "/w/.agent-exec.toml, command line"},
        {"/w/.agent-exec.toml", ENOTDIR, 1000, 0644, "command line"},
    };
    for (const Row& row : rows) {
      TextFiles files = EmptyHost();
      files.Add(row.path, kEmptyPolicy, row.uid, row.mode).error = row.error;
      CHECK_EQ(Layers({}, files), row.described);
    }
  }

  TEST_CASE("the name of a policy that another run holds counts as missing") {
    TextFiles files = EmptyHost();
    TextFiles::File& held = files.Add("/w/.agent-exec.toml", "", 1000, 0555);
    held.error = EINVAL;  // as reading a directory fails
    held.info.type = NodeType::kDirectory;
    CHECK_EQ(Layers({}, files), "command line");
    held.info.mode = 0755;  // one of the user's own making
    CHECK_EQ(Layers({}, files),
             "PERMISSION_DENIED: policy file '/w/.agent-exec.toml' is not a regular file |  | ");
  }

  TEST_CASE("an error in a policy names the file as it was given") {
    TextFiles files = EmptyHost();
    files.Add("/w/p.toml", "version = 1\nmood = \"x\"\n");
    CHECK(absl::StrContains(Layers({"--policy", "p.toml"}, files), "| p.toml:2:1 |"));
  }
}

}  // namespace
}  // namespace agent_exec
