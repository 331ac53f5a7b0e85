#pragma once

// Starting the launcher as people do.

#include <stdlib.h>

#include <string>
#include <utility>
#include <vector>

#include "support/doctest.h"
#include "support/subprocess.h"

namespace agent_exec {

inline constexpr char kHello[] = "hello";

inline std::string Launcher() {
  const char* path = getenv("AGENT_EXEC");
  REQUIRE_MESSAGE(path != nullptr, "AGENT_EXEC names the launcher");
  return path;
}

inline std::string Home() { return getenv("HOME"); }

// The backend that the suite is run for; "" for the launcher's own choice.
inline std::string TestBackend() {
  const char* name = getenv("AGENT_EXEC_TEST_BACKEND");
  return name == nullptr ? "" : name;
}

// agent-exec ARGS... in a workspace.
inline ProcessSpec LaunchSpec(const std::string& cwd, std::vector<std::string> args) {
  ProcessSpec spec;
  spec.argv = {Launcher()};
  if (!TestBackend().empty() && !args.empty()) {
    spec.argv.insert(spec.argv.end(), {"--backend", TestBackend()});
  }
  spec.argv.insert(spec.argv.end(), args.begin(), args.end());
  spec.env = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + Home(), "SECRET_TOKEN=hunter2",
              "LANG=C.UTF-8", "TERM=dumb"};
  spec.cwd = cwd;
  return spec;
}

// The same with a shell's text as the command.
inline ProcessSpec ShellSpec(const std::string& cwd, const std::string& text,
                             std::vector<std::string> options = {}) {
  options.insert(options.end(), {"--", "/bin/sh", "-c", text});
  return LaunchSpec(cwd, std::move(options));
}

inline Finished Launch(const std::string& cwd, std::vector<std::string> args) {
  return RunProcess(LaunchSpec(cwd, std::move(args)));
}

inline Finished Shell(const std::string& cwd, const std::string& text,
                      std::vector<std::string> options = {}) {
  return RunProcess(ShellSpec(cwd, text, std::move(options)));
}

// The command lines of all processes that may be read, one after the other.
inline std::string AllCommandLines() {
  std::string all;
  for (const std::string& name : NamesIn("/proc")) {
    if (name[0] < '0' || name[0] > '9' || name == std::to_string(getpid())) continue;
    all += ReadTestFile("/proc/" + name + "/cmdline");
  }
  return all;
}

}  // namespace agent_exec
