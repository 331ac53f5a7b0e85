#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

// Starting real processes from tests, with a time limit, and temporary directories.

namespace agent_exec {

// How a process ended and what it wrote.
struct Finished {
  int exit_status = -1;  // -1 when it did not exit by itself
  int signal = 0;        // the one it died by
  bool timed_out = false;
  std::string out;
  std::string err;
  // "exit 0", "signal 9", "timed out": what a test compares or shows.
  std::string Ending() const;
};

struct ProcessSpec {
  std::vector<std::string> argv;  // argv[0] is the path of the program, unless `body` is given
  std::vector<std::string> env;   // "NAME=VALUE", complete
  std::string cwd;                // "" for the test's own
  std::string input;              // what standard input gives, then it ends
  int timeout_ms = 30000;
  bool own_group = false;  // a process group of its own
  // Runs in the child just before the exec: descriptors, limits, signals. May be empty.
  std::function<void()> prepare;
  // Runs in the child in place of the exec; returning exits with 0. May be empty.
  std::function<void()> body;
};

// A process that runs while the test goes on. Killed and reaped when the test has left it.
class Process {
 public:
  explicit Process(const ProcessSpec& spec);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();
  pid_t pid() const { return pid_; }
  // Collects its output and waits for its end. The output's end is not waited for longer than the
  // process and a moment: what is left in the background may hold it.
  Finished Wait();
  void Signal(int signal);

 private:
  pid_t pid_ = -1;
  int timeout_ms_;
  int out_fd_ = -1;
  int err_fd_ = -1;
};

Finished RunProcess(const ProcessSpec& spec);

// A fresh directory, removed with all that is in it. In the working directory of the test.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

bool WriteTestFile(const std::string& path, const std::string& content, mode_t mode = 0644);
std::string ReadTestFile(const std::string& path);  // "" when it cannot be read
bool Exists(const std::string& path);               // a symlink counts whatever it leads to
std::vector<std::string> NamesIn(const std::string& directory);  // sorted
void RemoveTree(const std::string& path);
// Asks again every millisecond until it is true, for at most five seconds.
bool Eventually(const std::function<bool()>& condition);

}  // namespace agent_exec
