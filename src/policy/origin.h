#pragma once

#include <string>

namespace agent_exec {

// Where a value came from. Every value of a Policy and every op of a Plan has one.
struct Origin {
  enum class Kind {
    kBuiltin,  // a built-in profile; name is "built-in workspace-write", line and column are those
               // of its TOML text
    kFile,     // a policy file; name is the path as it was given
    kFlag,     // the command line; name is the flag, "--deny-read"
    kImplied,  // follows from the design, not from a text; name says what from: "private home"
  };
  Kind kind = Kind::kImplied;
  std::string name;
  int line = 0;    // 1-based; 0 when the kind has none
  int column = 0;  // 1-based, in bytes
  bool operator==(const Origin&) const = default;
};

// "policy.toml:12:3", "--deny-read", "built-in workspace-write:7:1", "private home". Safe to print.
std::string FormatOrigin(const Origin& origin);

// A value and where it came from.
template <typename T>
struct Sourced {
  T value{};
  Origin origin;
};

}  // namespace agent_exec
