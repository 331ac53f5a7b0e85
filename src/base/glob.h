#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace agent_exec {

// One anchored pattern, matched against whole clean paths.
//
// `*` `?` `[…]` (with `!` or `^` negation and ranges) and `{a,b}` stay inside one component, `**`
// as a whole component crosses any number of them, zero included. `\` takes a metacharacter's
// meaning away. A wildcard matches a leading dot. Bytes are compared as they are; `?` and `[…]`
// stand for one byte. The anchor (the directory a relative pattern stands in) is literal whatever
// it contains.
//
// What would quietly mean something else than its writer thought is an error: `**` that is only
// part of a component, a character class by name (`[[:alpha:]]`), a range that is empty or not
// ASCII.
class Glob {
 public:
  // In:      anchor clean; pattern relative to it ("**/.env", "a/*.pem"), without a leading "!".
  // Errors:  InvalidArgument with what is wrong and where in the pattern: unclosed [ or {, trailing
  // backslash, empty
  //          component, "." or ".." component, NUL, more than 64 alternatives after brace
  //          expansion, over 4,096 bytes, and those above.
  static absl::StatusOr<Glob> Compile(absl::string_view anchor, absl::string_view pattern);
  // Does the text hold an unescaped metacharacter?
  static bool HasMagic(absl::string_view pattern);
  // "a\*b" → "a*b". In: no magic.
  static std::string Unescape(absl::string_view pattern);

  // Is this path itself matched? What lies below a match is the caller's matter.
  //   Cost: no allocation; bytes of the pattern times bytes of the path at worst.
  bool Matches(absl::string_view clean_path) const;
  // Can the pattern match something strictly below this directory? False prunes a walk.
  bool CanMatchBelow(absl::string_view clean_dir) const;
  // The deepest literal directory that holds every match: where a walk starts. Matches are strictly
  // below it, except for a pattern of nothing but `**`, which matches its anchor too.
  const std::string& walk_root() const { return walk_root_; }

 private:
  friend class GlobCompiler;

  // What one brace alternative of a component asks of a name.
  struct Choice {
    enum class Kind : uint8_t {
      kLiteral,  // the name is `text`
      kAffixes,  // one `*`: the name starts with the first `split` bytes of `text` and ends with
                 // the rest
      kProgram,  // `text` is a sequence of ops (glob.cc)
    };
    Kind kind = Kind::kLiteral;
    size_t split = 0;
    std::string text;
  };
  // One component of the pattern: `**`, or a range of choices_ of which one must match the name.
  struct Step {
    bool any_depth = false;
    uint16_t first = 0;
    uint16_t last = 0;  // one past the end
  };

  bool MatchesName(const Step& step, absl::string_view name) const;
  bool MatchesNames(const Step* begin, const Step* end, absl::string_view names) const;

  std::string anchor_;
  std::string walk_root_;
  std::vector<Choice> choices_;
  std::vector<Step> steps_;
};

}  // namespace agent_exec
