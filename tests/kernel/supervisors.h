#pragma once

// What the tests of the supervisor start: a supervisor by itself, and the launcher.

#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "support/doctest.h"
#include "support/subprocess.h"

namespace agent_exec {

struct SupervisorProgram {
  std::string name;
  std::vector<std::string> words;  // what stands before options and "--"
};

inline std::string Probe() {
  const char* path = getenv("AGENT_EXEC_SUPERVISE_PROBE");
  REQUIRE_MESSAGE(path != nullptr,
                  "AGENT_EXEC_SUPERVISE_PROBE names the program of supervise_probe.cc");
  return path;
}

inline std::vector<SupervisorProgram> SupervisorPrograms() {
  std::vector<SupervisorProgram> programs = {{"by itself", {Probe()}}};
  const char* launcher = getenv("AGENT_EXEC");
  if (launcher != nullptr) {
    programs.push_back({"launcher", {launcher, "--backend", "native"}});
  }
  return programs;
}

// A workspace with the probe in it, where a sandboxed command can execute it.
class ProbedDir : public TempDir {
 public:
  ProbedDir() { WriteTestFile(*this / "probe", ReadTestFile(Probe()), 0755); }
};

// PROGRAM OPTIONS -- COMMAND in a directory.
inline ProcessSpec SupervisedSpec(const SupervisorProgram& program, const std::string& cwd,
                                  std::vector<std::string> command,
                                  const std::vector<std::string>& options = {}) {
  ProcessSpec spec;
  spec.argv = program.words;
  spec.argv.insert(spec.argv.end(), options.begin(), options.end());
  spec.argv.push_back("--");
  spec.argv.insert(spec.argv.end(), command.begin(), command.end());
  spec.env = {"PATH=/usr/local/bin:/usr/bin:/bin", std::string("HOME=") + getenv("HOME"),
              "LANG=C.UTF-8", "TERM=dumb"};
  spec.cwd = cwd;
  return spec;
}

inline ProcessSpec SupervisedShell(const SupervisorProgram& program, const std::string& cwd,
                                   const std::string& text,
                                   const std::vector<std::string>& options = {}) {
  return SupervisedSpec(program, cwd, {"/bin/sh", "-c", text}, options);
}

}  // namespace agent_exec
