#include "kernel/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <vector>

#include "support/doctest.h"

namespace agent_exec {
namespace {

constexpr int kDeadlineMs = 10000;
constexpr int kQuietMs = 150;

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

[[noreturn]] void Lead(const ProcessSpec& spec, const char* name) {
  setsid();
  int terminal = open(name, O_RDWR);  // the leader's first: it becomes the session's
  if (terminal < 0) _exit(99);
  for (int fd = 0; fd < 3; ++fd) dup2(terminal, fd);
  if (terminal > 2) close(terminal);
  if (!spec.cwd.empty() && chdir(spec.cwd.c_str()) != 0) _exit(98);
  if (spec.prepare) spec.prepare();
  if (spec.body) {
    spec.body();
    _exit(0);
  }
  execve(spec.argv[0].c_str(), Pointers(spec.argv).data(), Pointers(spec.env).data());
  _exit(97);
}

}  // namespace

TerminalSession::TerminalSession(const ProcessSpec& spec) {
  master_ = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0) abort();
  const std::string name = ptsname(master_);
  Resize(24, 80);
  fflush(nullptr);
  pid_ = fork();
  if (pid_ < 0) abort();
  if (pid_ == 0) {
    close(master_);
    Lead(spec, name.c_str());
  }
}

TerminalSession::~TerminalSession() {
  if (master_ >= 0) close(master_);
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

void TerminalSession::Type(const std::string& keys) {
  CHECK(write(master_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
}

bool TerminalSession::Read(int timeout_ms) {
  pollfd wait = {master_, POLLIN, 0};
  if (poll(&wait, 1, timeout_ms) <= 0) return false;
  char buffer[4096];
  ssize_t got = read(master_, buffer, sizeof(buffer));
  if (got <= 0) return false;
  output_.append(buffer, static_cast<size_t>(got));
  return true;
}

bool TerminalSession::Expect(const std::string& text) {
  int64_t end = NowMs() + kDeadlineMs;
  for (;;) {
    size_t at = output_.find(text, seen_);
    if (at != std::string::npos) {
      seen_ = at + text.size();
      return true;
    }
    int64_t left = end - NowMs();
    if (left <= 0 || !Read(static_cast<int>(left))) {
      MESSAGE("waited for " << text << " in: " << output_);
      return false;
    }
  }
}

bool TerminalSession::Shows(const std::string& text) {
  while (Read(kQuietMs)) {
  }
  return output_.find(text, seen_) != std::string::npos;
}

std::string TerminalSession::Ending() {
  int64_t end = NowMs() + kDeadlineMs;
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (NowMs() > end) {
      MESSAGE("no end of: " << output_);
      return "timed out";
    }
    if (!Read(5)) usleep(1000);
  }
  pid_ = -1;
  while (Read(0)) {
  }
  Finished finished;
  if (WIFEXITED(status)) finished.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
  return finished.Ending();
}

void TerminalSession::Resize(int lines, int columns) {
  winsize size = {};
  size.ws_row = static_cast<unsigned short>(lines);
  size.ws_col = static_cast<unsigned short>(columns);
  CHECK(ioctl(master_, TIOCSWINSZ, &size) == 0);
}

void TerminalSession::HangUp() {
  close(master_);
  master_ = -1;
}

termios TerminalSession::Settings() const {
  termios settings = {};
  CHECK(tcgetattr(master_, &settings) == 0);
  return settings;
}

pid_t TerminalSession::Foreground() const { return tcgetpgrp(master_); }

bool TerminalSession::IsCooked() const {
  constexpr tcflag_t kWanted = ECHO | ICANON | ISIG;
  return (Settings().c_lflag & kWanted) == kWanted;
}

}  // namespace agent_exec
