// agent-exec: gather what is given and what is there, decide, act. All decisions are in
// app/decide.h, all acts in os/run.h.

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/decide.h"
#include "app/exit_codes.h"
#include "base/diagnostic.h"
#include "os/compile.h"
#include "os/gather.h"
#include "os/kernel_file_view.h"
#include "os/run.h"

namespace agent_exec {
namespace {

static_assert(kStatusRefused == kExitRefused && kStatusNotExecutable == kExitNotExecutable &&
              kStatusNotFound == kExitNotFound);

// Errors go nowhere but into the result: on standard error there is nobody left to tell.
bool Write(int fd, const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    ssize_t count = write(fd, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    written += static_cast<size_t>(count);
  }
  return true;
}

// A guess at what will be asked: a wrong one only costs time. A lone --help, --version or the like
// starts nothing, so nothing about backends need be known.
GatherScope ScopeFor(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (strstr(argv[i], "bwrap") != nullptr) return GatherScope::kAll;
  }
  if (argc != 2) return GatherScope::kKernel;
  for (const char* verb : {"--help", "-h", "--version", "-V", "--print-schema", "--show-policy"}) {
    if (strcmp(argv[1], verb) == 0) return GatherScope::kProcess;
  }
  return GatherScope::kKernel;
}

// Overwrites what was typed as NAME=VALUE: every local user can read an argument list. Both "--env
// NAME=VALUE" and
// "--env=NAME=VALUE" end in it.
void Wipe(const std::vector<std::string>& texts, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    size_t size = strlen(argv[i]);
    for (const std::string& text : texts) {
      if (text.empty() || size < text.size()) continue;
      char* tail = argv[i] + size - text.size();
      if (memcmp(tail, text.data(), text.size()) == 0) memset(tail, 'x', text.size());
    }
  }
}

int Show(const Text& text) {
  (void)Write(STDERR_FILENO, text.err);
  if (Write(STDOUT_FILENO, text.out)) return text.exit_status;
  Diagnostic diagnostic;
  diagnostic.message = std::string("cannot write to standard output: ") + ErrnoText(errno);
  (void)Write(STDERR_FILENO, FormatText(diagnostic));
  return kExitRefused;
}

[[noreturn]] void Start(const Launch& launch, int argc, char** argv) {
  RunOptions options;
  options.report_target = launch.report_target;
  options.report_line = launch.report_line;
  options.error_format = launch.error_format;
  options.places = launch.places;
  options.exec_is_command = launch.rendered.executes_command;
  // The kernel lays the arguments out one after the other.
  if (argc > 0) {
    options.argument_memory = argv[0];
    options.argument_bytes =
        static_cast<size_t>(argv[argc - 1] + strlen(argv[argc - 1]) + 1 - argv[0]);
  }
  (void)Write(STDERR_FILENO, launch.err);
  RunScript(launch.rendered.script, options);
}

int Main(int argc, char** argv) {
  Inputs inputs;
  inputs.facts = GatherFacts(ScopeFor(argc, argv));
  inputs.argv.assign(argv, argv + argc);
  // A process may be started with no argument at all, not even its name.
  if (inputs.argv.empty()) inputs.argv.emplace_back("agent-exec");
  KernelFileView files;
  Outcome outcome = Decide(inputs, files);
  if (std::holds_alternative<NeedsWrappers>(outcome)) {
    GatherWrappers(&inputs.facts);
    outcome = Decide(inputs, files);
  }
  if (const Text* text = std::get_if<Text>(&outcome)) return Show(*text);
  const Launch& launch = std::get<Launch>(outcome);
  Wipe(launch.wipe, argc, argv);
  Start(launch, argc, argv);
}

}  // namespace
}  // namespace agent_exec

int main(int argc, char** argv) { return agent_exec::Main(argc, argv); }
