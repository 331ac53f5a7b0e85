#include "support/subprocess.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace agent_exec {
namespace {

// How long output is still read after the process has ended.
constexpr int kLingerMs = 300;

int64_t NowMs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// A file without a name that holds the input: no writer is needed, and no order of reading can
// block.
int InputFile(const std::string& input) {
  if (input.empty()) return open("/dev/null", O_RDONLY | O_CLOEXEC);
  FILE* file = tmpfile();
  if (file == nullptr) return -1;
  fwrite(input.data(), 1, input.size(), file);
  fflush(file);
  int fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
  fclose(file);
  lseek(fd, 0, SEEK_SET);
  return fd;
}

bool Drain(int fd, std::string* text) {
  char buffer[65536];
  ssize_t got = read(fd, buffer, sizeof(buffer));
  if (got > 0) text->append(buffer, static_cast<size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

}  // namespace

std::string Finished::Ending() const {
  if (timed_out) return "timed out";
  if (signal != 0) return "signal " + std::to_string(signal);
  return "exit " + std::to_string(exit_status);
}

Process::Process(const ProcessSpec& spec) : timeout_ms_(spec.timeout_ms) {
  int out[2];
  int err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) abort();
  int in = InputFile(spec.input);
  fflush(nullptr);
  pid_ = fork();
  if (pid_ < 0) abort();
  if (pid_ == 0) {
    if (spec.own_group) setpgid(0, 0);
    if (dup2(in, 0) < 0 || dup2(out[1], 1) < 0 || dup2(err[1], 2) < 0) _exit(99);
    if (!spec.cwd.empty() && chdir(spec.cwd.c_str()) != 0) _exit(98);
    // Gone now, not at the exec: a body that executes nothing must not hold them, and numbers from
    // 3 up are the test's.
    for (int fd : {in, out[0], out[1], err[0], err[1]}) {
      if (fd > 2) close(fd);
    }
    if (spec.prepare) spec.prepare();
    if (spec.body) {
      spec.body();
      _exit(0);
    }
    execve(spec.argv[0].c_str(), Pointers(spec.argv).data(), Pointers(spec.env).data());
    fprintf(stderr, "test: cannot execute %s: %s\n", spec.argv[0].c_str(), strerror(errno));
    _exit(97);
  }
  if (spec.own_group) setpgid(pid_, pid_);
  close(in);
  close(out[1]);
  close(err[1]);
  out_fd_ = out[0];
  err_fd_ = err[0];
}

Process::~Process() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (out_fd_ >= 0) close(out_fd_);
  if (err_fd_ >= 0) close(err_fd_);
}

void Process::Signal(int signal) { kill(pid_, signal); }

Finished Process::Wait() {
  Finished finished;
  int64_t deadline = NowMs() + timeout_ms_;
  bool ended = false;
  int status = 0;
  while (!ended || out_fd_ >= 0 || err_fd_ >= 0) {
    if (!ended && waitpid(pid_, &status, WNOHANG) == pid_) {
      ended = true;
      deadline = NowMs() + kLingerMs;
    }
    if (NowMs() > deadline) {
      if (ended) break;
      finished.timed_out = true;
      kill(pid_, SIGKILL);
      waitpid(pid_, &status, 0);
      ended = true;
      break;
    }
    pollfd wait[2] = {{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}};
    if (poll(wait, 2, ended ? 10 : 2) <= 0) continue;
    if (wait[0].revents != 0 && !Drain(out_fd_, &finished.out)) close(out_fd_), out_fd_ = -1;
    if (wait[1].revents != 0 && !Drain(err_fd_, &finished.err)) close(err_fd_), err_fd_ = -1;
  }
  pid_ = -1;
  if (WIFEXITED(status)) finished.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
  return finished;
}

Finished RunProcess(const ProcessSpec& spec) { return Process(spec).Wait(); }

TempDir::TempDir() {
  char name[] = "test-XXXXXX";
  if (mkdtemp(name) == nullptr) {
    perror("test: mkdtemp");
    abort();
  }
  chmod(name, 0755);
  char* real = realpath(name, nullptr);
  path_ = real;
  free(real);
}

TempDir::~TempDir() { RemoveTree(path_); }

bool WriteTestFile(const std::string& path, const std::string& content, mode_t mode) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (fd < 0) return false;
  bool ok = write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size());
  fchmod(fd, mode);
  close(fd);
  return ok;
}

std::string ReadTestFile(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  std::string content;
  while (Drain(fd, &content)) {
  }
  close(fd);
  return content;
}

bool Exists(const std::string& path) {
  struct stat st;
  return lstat(path.c_str(), &st) == 0;
}

std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  DIR* stream = opendir(directory.c_str());
  if (stream == nullptr) return names;
  while (const dirent* entry = readdir(stream)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(stream);
  std::sort(names.begin(), names.end());
  return names;
}

void RemoveTree(const std::string& path) {
  struct stat st;
  if (lstat(path.c_str(), &st) != 0) return;
  if (S_ISDIR(st.st_mode)) {
    chmod(path.c_str(), 0700);
    for (const std::string& name : NamesIn(path)) RemoveTree(path + "/" + name);
    rmdir(path.c_str());
  } else {
    unlink(path.c_str());
  }
}

bool Eventually(const std::function<bool()>& condition) {
  int64_t deadline = NowMs() + 5000;
  while (!condition()) {
    if (NowMs() > deadline) return false;
    usleep(1000);
  }
  return true;
}

}  // namespace agent_exec
