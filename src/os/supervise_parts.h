#pragma once

#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

#include "os/supervise.h"

// What the files of the supervisor share, and nobody else.

namespace agent_exec::raw {

// S and I talk over a socket pair that keeps messages apart.

// From S to I.
enum class OrderKind : int32_t {
  kGo,            // the maps are written (number 0), or why not (an errno)
  kPass,          // a signal has come to S
  kContinue,      // let the command run on
  kLeaveSession,  // the command's group shall be as orphaned as that of S
};
struct Order {
  OrderKind kind = OrderKind::kGo;
  int32_t number = 0;
};

// From C or I to S.
enum class EventKind : int32_t {
  kStarted,         // by C itself: the kernel adds its number as S sees it. 1: it has the terminal
  kStopped,         // C stopped, by this signal
  kContinued,       // C runs again, and not by an order
  kTerminalWanted,  // C's group got this signal because one of it wants the terminal
  kEnded,           // C's wait status
};
struct Event {
  EventKind kind = EventKind::kStarted;
  int32_t number = 0;
  int32_t by_terminal = 0;  // kEnded: the terminal sent C's group the signal that C died by
};

// The terminal as S sees it. Its own group is that of S; the command has another.
struct Terminal {
  int fd = -1;             // -1: the session has none
  bool is_lent = false;    // the command's side has it
  bool has_saved = false;  // the settings from when the group of S had it
  struct termios saved;
};

// Opens the terminal of the session, if it has one, and remembers its settings. Cost: one open
// where there is none.
void OpenTerminal(Terminal* terminal, const Compiled& script);
// Shall the command have the terminal from the start? In: the caller's mask.
bool LendsAtStart(const Terminal& terminal, const sigset_t& caller_mask);
// Does the group of S have the terminal now?
bool HasTerminal(const Terminal& terminal);
// The group of S has it again: remembers the settings if that has not been possible yet.
void RememberSettings(Terminal* terminal);
// Makes the command's group the foreground one, if that of S is. Returns whether it is now.
bool LendTerminal(Terminal* terminal, pid_t group);
void TakeTerminalBack(Terminal* terminal);
// After all inside are gone: the terminal returns to the group of S if it was left with one of
// theirs; and gets its settings back if that was not the command's own group, or the command died
// by a signal.
void PutTerminalRight(Terminal* terminal, pid_t command_group, bool died_by_signal);

// S itself.
struct Supervisor {
  Compiled* script = nullptr;
  Terminal terminal;
  pid_t init = -1;
  int init_fd = -1;  // a pidfd
  int channel = -1;
  int signal_fd = -1;
  pid_t command = 0;            // known only where there is a terminal
  bool wants_terminal = false;  // to be lent when the group of S has it again
  int stopped_by = 0;           // the signal by which the command has stopped; 0: it runs
  bool has_ended = false;       // the command
  int status = 0;
  bool by_terminal = false;
};
// Returns 0 or an errno.
int Send(const Supervisor& s, OrderKind kind, int number);
// Watches over the run and ends as the command does.
[[noreturn]] void Supervise(Supervisor* s);
// The signals by which S stops with the command.
inline constexpr int kStopSignals[] = {SIGTSTP, SIGTTIN, SIGTTOU};

// What I and C need of what S knew when it forked.
struct InitSide {
  Split split;
  sigset_t caller_mask;
  struct sigaction caller_child;  // what the caller does about SIGCHLD
  int channel = -1;
  int terminal_fd = -1;
  bool lend_at_start = false;
};
extern InitSide g_init_side;

// In I, first of all: dies with S from here on, and has the maps. Ends set-up on failure.
void BecomeInit();
// Errors: an errno. Opens a file of /proc for one write.
int WriteProcFile(const char* path, const char* text);

}  // namespace agent_exec::raw
