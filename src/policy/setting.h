#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policy/origin.h"
#include "policy/policy.h"

// THE settings table (settings.cc). One row is one thing a user can set; getopt, TOML, --help, the
// man pages, the completions, the JSON schema and the merge rules are derived from it.

namespace agent_exec {

enum class ValueType {
  kBool,          // TOML boolean; a flag without argument means true
  kEnum,          // TOML string, one of `choices`
  kString,        // TOML string
  kPath,          // TOML string that names a file or directory (completions complete paths)
  kInteger,       // TOML integer within [min, max]
  kSize,          // TOML string ("4GiB") or integer (bytes)
  kDuration,      // TOML string ("10min") or integer (seconds)
  kStringList,    // TOML array of strings; a flag adds one element
  kIntegerList,   // TOML array of integers; a flag adds one element
  kPathRuleList,  // TOML array of strings or of { path =, missing =, kind = }; a flag adds one
                  // element
  kStringMap,     // TOML table of strings; a flag adds one "NAME=VALUE"
};

// One value on its way from a text to the policy: a scalar, or one element of a list or map. Lists
// that append are delivered element by element, so that each has its own origin; a list that
// replaces arrives whole.
struct RawValue {
  std::string text;  // a boolean is "true" or "false", an integer decimal
  // Of a { path = … } entry, what stands beside path; of a map, {"name", NAME}; of a list that
  // replaces, one {"", ELEMENT} for each element.
  std::vector<std::pair<std::string, std::string>> attributes;
};

// How values of several layers become one.
enum class Merge { kReplace, kAppend };

// What the workspace layer may do with this setting, compared with what was merged before it.
enum class Tighten {
  kNever,    // setting it there is an error
  kAppend,   // adding elements is fine; an element that takes back ("!…") is an error
  kEarlier,  // kEnum: only to a choice that stands at or before the present one; `choices` is
             // written strictest first
  kLower,    // numbers: only to a smaller one; a first value is fine
  kSubset,   // kStringList that replaces: only to a subset
};

// How the argument of a row's flag becomes its value. Two rows may share a flag as long as their
// forms differ.
enum class FlagForm {
  kValue,     // the argument is the value; a kBool has none
  kAssigned,  // NAME=VALUE; an argument without '=' belongs to the kValue row of the same flag
  kKeyed,     // KEY=VALUE, where KEY is the last part of this row's key: "--limit tmp-size=64MiB"
};

// What a shell completes the flag's argument with.
enum class Completion { kNone, kChoices, kFile, kDirectory, kPath, kEnvName, kProfileName };

// Which part of --help and the man page lists it.
enum class Group { kPolicy, kFilesystem, kNetwork, kEnvironment, kLimits, kLaunch, kOutput };

struct Setting {
  const char* key = "";   // "filesystem.deny-read"; "" when only a flag sets it
  const char* flag = "";  // "deny-read" without dashes; "" when only a file sets it
  char short_flag = 0;    // 'q'; 0 when there is none
  FlagForm flag_form = FlagForm::kValue;
  const char* metavar = "";  // of the value: "PATH"; "" for kBool
  ValueType type = ValueType::kString;
  // kEnum: all values, strictest first: "read-only|workspace-write|…". Lists of fixed words: all
  // words. kString: words for completions, others are accepted here and judged later. Else "".
  const char* choices = "";
  int64_t min = 0, max = 0;  // kInteger, kIntegerList, kSize (bytes), kDuration (ms)
  Merge merge = Merge::kReplace;
  Tighten tighten = Tighten::kNever;
  Completion completion = Completion::kNone;
  Group group = Group::kPolicy;
  const char* help = "";  // one line for --help, lower case, no full stop
  const char* man = "";   // the paragraph for the man pages, plain text
  // Checks the value and puts it into the policy with its origin. Callers use ApplyAssignment,
  // which adds key and place.
  //   Errors: InvalidArgument whose message says what was expected.
  absl::Status (*apply)(const Setting& setting, const RawValue& value, const Origin& origin,
                        Policy* policy) = nullptr;
  // Present values as TOML text with their origins: one for a scalar, one per element for a list
  // (of a map: "NAME = VALUE"), none when unset.
  std::vector<std::pair<std::string, Origin>> (*show)(const Setting& setting,
                                                      const Policy& policy) = nullptr;
};

// All rows, grouped, in the order the documentation prints them.
absl::Span<const Setting> Settings();
const Setting* FindSettingByKey(absl::string_view dotted_key);  // nullptr when there is none
// In: without dashes. Returns: the first row of a shared flag; nullptr when there is none.
const Setting* FindSettingByFlag(absl::string_view flag);
// "'filesystem.read'"; of a row without key "'--deny-write-existing'".
std::string SettingName(const Setting& setting);
// Is this the name of a TOML table of settings: "filesystem"?
bool IsTableOfSettings(absl::string_view dotted_key);
// The key or table that an unknown key is a typo of, also within "profile.NAME."; "" when there is
// none.
std::string NearestKey(absl::string_view dotted_key);
// What TOML value a type takes, for messages: "an array of strings".
const char* ExpectedToml(ValueType type);
// Keys that a policy file may hold beside the settings: version, [profile.NAME] with extends.
absl::Span<const absl::string_view> StructuralKeys();

// One assignment of one layer, not yet applied.
struct Assignment {
  const Setting* setting = nullptr;
  RawValue value;
  Origin origin;
};

// Puts one assignment into the policy.
//   Errors: InvalidArgument with the place: "bad value of 'filesystem.home': expected …".
absl::Status ApplyAssignment(const Assignment& assignment, Policy* policy);

// One flag of the command line with its argument ("" for a kBool), value checked. Shared flags
// (FlagForm) are told apart here.
//   In:      flag without dashes. Returns: origin {kFlag, "--FLAG"}.
//   Errors:  InvalidArgument: no such flag (nearest name), --limit without "KEY=" or with an
//   unknown KEY, a bad value.
absl::StatusOr<Assignment> AssignmentFromFlag(absl::string_view flag, absl::string_view argument);

// The present value of a scalar row as plain text ("private", "64MiB", "true"), "" when it is
// unset. In: no list, no map.
std::string ScalarText(const Setting& setting, const Policy& policy);

}  // namespace agent_exec
