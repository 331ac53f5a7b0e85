#pragma once

namespace agent_exec {

inline constexpr int kExitDenied = 1;     // a verb that answers: no
inline constexpr int kExitRefused = 125;  // policy, host or set-up: nothing of the command ran
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

}  // namespace agent_exec
