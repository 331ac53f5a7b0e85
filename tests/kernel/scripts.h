#pragma once

// Scripts made by hand for the tests of RunScript.

#include <fcntl.h>
#include <sys/stat.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernel/guard.h"
#include "os/run.h"
#include "support/subprocess.h"

namespace agent_exec {

inline constexpr int kArgsFd = 10;
inline constexpr int kInfoFd = 11;

// Runs a script in a child, with every allocation after the first act fatal.
inline ProcessSpec ScriptSpec(Script script, RunOptions options = {}) {
  ProcessSpec spec;
  spec.body = [script = std::move(script), options = std::move(options)] {
    SetArmedHookForTest(ForbidAllocation);
    RunScript(script, options);
  };
  return spec;
}

inline Script ShellScript(const std::string& text) {
  Script script;
  script.steps = {Exec{"/bin/sh", {"sh", "-c", text}, {"PATH=/usr/bin:/bin"}}};
  return script;
}

inline void InsertBeforeExec(Script* script, Step step) {
  script->steps.insert(script->steps.end() - 1, std::move(step));
}

struct Wanted {
  std::string name;  // below the root
  Node node = Node::kDirectory;
  bool writable = false;
};

// What the bubblewrap backend renders, cut down to what placeholders need.
inline Script SandboxScript(const std::string& root, const std::vector<Wanted>& wanted,
                            const std::string& command) {
  Script script;
  std::vector<std::string> words = {
      "--unshare-user", "--unshare-pid", "--die-with-parent", "--bind", "/", "/", "--proc", "/proc",
      "--dev",          "/dev"};
  for (const Wanted& want : wanted) {
    std::string path = root + "/" + want.name;
    script.steps.emplace_back(MakePlaceholder{{path, want.node, want.writable, root, 0}});
    words.insert(words.end(), {want.writable ? "--bind" : "--ro-bind", path, path});
  }
  words.insert(words.end(), {"--chdir", root, "--info-fd", absl::StrCat(kInfoFd)});
  std::string blob;
  for (const std::string& word : words) blob.append(word).push_back('\0');
  script.blobs = {blob};
  script.steps.emplace_back(StartSweeper{kInfoFd});
  script.steps.emplace_back(PassBlob{kArgsFd, 0, "bwrap-args"});
  script.steps.emplace_back(CloseOthers{{kArgsFd, kInfoFd}});
  script.steps.emplace_back(
      Exec{"/usr/bin/bwrap",
           {"bwrap", "--args", absl::StrCat(kArgsFd), "--", "/bin/sh", "-c", command},
           {"PATH=/usr/bin:/bin"}});
  return script;
}

}  // namespace agent_exec
