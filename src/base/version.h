#pragma once

namespace agent_exec {

// The same as in meson.build, which checks it.
inline constexpr char kVersion[] = "0.1.0";

}  // namespace agent_exec
