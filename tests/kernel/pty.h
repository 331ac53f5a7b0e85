#pragma once

#include <sys/types.h>
#include <termios.h>

#include <string>

#include "support/subprocess.h"

namespace agent_exec {

// A terminal of 24 lines and 80 columns, and a session on it. Keys are typed and output is waited
// for as a person would; every wait has a deadline.
class TerminalSession {
 public:
  // Starts spec.argv (or spec.body) as the leader of the session, with the terminal as its standard
  // streams.
  explicit TerminalSession(const ProcessSpec& spec);
  // Hangs up and kills the leader.
  ~TerminalSession();
  TerminalSession(const TerminalSession&) = delete;
  TerminalSession& operator=(const TerminalSession&) = delete;

  void Type(const std::string& keys);
  // Reads until the text has come after what was expected last. False, with all output so far shown
  // as a message of the test, when it has not for ten seconds.
  bool Expect(const std::string& text);
  // Has the text come after what was expected last, when nothing more comes for a moment?
  bool Shows(const std::string& text);
  // Waits for the leader's end, reading on. "exit 0", "signal 2", "timed out".
  std::string Ending();
  void Resize(int lines, int columns);
  // The terminal is gone; nothing can be typed or read any more.
  void HangUp();
  termios Settings() const;
  // The foreground group.
  pid_t Foreground() const;
  // Is echo on, and does input come by lines?
  bool IsCooked() const;
  pid_t pid() const { return pid_; }
  const std::string& output() const { return output_; }

 private:
  // Returns false when nothing has come for so long, or nothing will.
  bool Read(int timeout_ms);

  pid_t pid_ = -1;
  int master_ = -1;
  std::string output_;
  size_t seen_ = 0;
};

}  // namespace agent_exec
