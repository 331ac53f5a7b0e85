#pragma once

// A strict JSON reader for tests: what it refuses is not JSON.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace agent_exec::testing {

struct Json {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  std::string text;         // kString: decoded to UTF-8; kNumber, kBool: as written
  std::vector<Json> items;  // kArray
  std::vector<std::pair<std::string, Json>> members;  // kObject, in the order of the text

  // The member of that name; nullptr when there is none.
  const Json* Find(absl::string_view key) const {
    for (const auto& [name, value] : members) {
      if (absl::string_view(name) == key) return &value;
    }
    return nullptr;
  }
};

// Source: RFC 8259. Invalid UTF-8, a member that occurs twice and anything behind the value are
// refused.
std::optional<Json> ParseJson(absl::string_view text);

// Is the text UTF-8 without overlong forms and surrogates?
bool IsUtf8(absl::string_view text);

}  // namespace agent_exec::testing
