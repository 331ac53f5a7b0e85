// Runs the tests that need the real kernel: as whoever starts them and, started by root, as an
// unprivileged user too.
//
// Environment: AGENT_EXEC is the path of the launcher, where a suite starts it.
// Exit status: 0, 1, or 77 with the reason where this host cannot run the suite.

#define DOCTEST_CONFIG_IMPLEMENT
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <string>

#include "doctest/doctest.h"
#include "kernel/guard.h"
#include "os/gather.h"
#include "support/subprocess.h"

namespace {

constexpr int kSkip = 77;
// Nobody's: not in any passwd file, so nothing on the host belongs to it.
constexpr uid_t kSpareId = 61234;

bool g_armed = false;

}  // namespace

// After the first act of a script nothing may allocate: a filter may forbid it, and a failure must
// stay reportable.
void* operator new(size_t size) {
  if (g_armed) {
    (void)!write(2, "test: allocation after the first act\n", 37);
    _exit(96);
  }
  void* memory = malloc(size == 0 ? 1 : size);
  if (memory == nullptr) abort();
  return memory;
}
void operator delete(void* memory) noexcept { free(memory); }
void operator delete(void* memory, size_t) noexcept { free(memory); }

namespace agent_exec {

void ForbidAllocation() { g_armed = true; }

namespace {

// Why suites that start a sandbox cannot run here; "" when they can.
std::string WhyNoSandbox() {
  HostFacts facts = GatherFacts();
  const char* backend = getenv("AGENT_EXEC_TEST_BACKEND");
  if (backend != nullptr && strcmp(backend, "native") == 0) {
    if (!facts.mount_calls) return "no mount calls: Linux 5.2 and newer have them";
  } else if (facts.bwrap.path.empty()) {
    return "bubblewrap: " + facts.bwrap.problem;
  }
  if (!facts.user_namespaces) return "user namespaces: " + facts.user_namespaces_problem;
  return "";
}

int RunHere(int argc, char** argv, bool wants_sandbox) {
  if (wants_sandbox) {
    std::string reason = WhyNoSandbox();
    if (!reason.empty()) {
      printf("SKIP (uid %u): %s\n", geteuid(), reason.c_str());
      return kSkip;
    }
  }
  doctest::Context context(argc, argv);
  return context.run();
}

std::string Environment(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

// Copies a program, and lets the variable name the copy.
void CopyProgram(const std::string& built, const std::string& path, const char* variable) {
  if (built.empty()) return;
  WriteTestFile(path, ReadTestFile(built), 0755);
  setenv(variable, path.c_str(), 1);
}

// A directory of its own below /tmp, as the given user, and the tests in it.
int RunAs(uid_t id, int argc, char** argv, bool wants_sandbox) {
  char name[] = "/tmp/agent-exec-kernel-XXXXXX";
  if (mkdtemp(name) == nullptr || chown(name, id, id) != 0 || chdir(name) != 0) {
    perror("test: temporary directory");
    return 1;
  }
  chmod(name, 0755);
  // The build directory may be closed to the spare user.
  static const std::string launcher = Environment("AGENT_EXEC");
  static const std::string probe = Environment("AGENT_EXEC_NATIVE_PROBE");
  CopyProgram(launcher, std::string(name) + "/agent-exec", "AGENT_EXEC");
  static const std::string supervisor = Environment("AGENT_EXEC_SUPERVISE_PROBE");
  CopyProgram(probe, std::string(name) + "/native_probe", "AGENT_EXEC_NATIVE_PROBE");
  CopyProgram(supervisor, std::string(name) + "/supervise_probe", "AGENT_EXEC_SUPERVISE_PROBE");
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    if (id != geteuid()) {
      if (setgroups(0, nullptr) != 0 || setresgid(id, id, id) != 0 || setresuid(id, id, id) != 0) {
        perror("test: setresuid");
        _exit(1);
      }
      // The change of ids has closed /proc/self, as no exec came with it.
      prctl(PR_SET_DUMPABLE, 1);
    }
    std::string home = std::string(name) + "/home";
    mkdir(home.c_str(), 0755);
    setenv("HOME", home.c_str(), 1);
    int status = RunHere(argc, argv, wants_sandbox);
    fflush(stdout);
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  RemoveTree(name);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

// All suites but these two start one.
bool WantsSandbox(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (strstr(argv[i], "kernel/file_view") != nullptr) return false;
    if (strstr(argv[i], "kernel/gather") != nullptr) return false;
  }
  return true;
}

}  // namespace
}  // namespace agent_exec

int main(int argc, char** argv) {
  bool wants_sandbox = agent_exec::WantsSandbox(argc, argv);
  int status = agent_exec::RunAs(geteuid(), argc, argv, wants_sandbox);
  if (geteuid() != 0 || (status != 0 && status != kSkip)) return status;
  int as_user = agent_exec::RunAs(kSpareId, argc, argv, wants_sandbox);
  return as_user != 0 ? as_user : status;
}
