#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/glob.h"
#include "base/glob_ops.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/status.h"

namespace agent_exec {
namespace {

using namespace glob_ops;  // NOLINT(google-build-using-namespace): seven names

constexpr size_t kMaxPatternBytes = 4096;
constexpr size_t kMaxAlternatives = 64;

}  // namespace

// Builds one Glob. Every position in a message is a 1-based byte of the whole pattern.
class GlobCompiler {
 public:
  GlobCompiler(absl::string_view anchor, absl::string_view pattern) : pattern_(pattern) {
    glob_.anchor_ = std::string(anchor);
  }

  absl::StatusOr<Glob> Compile();

 private:
  using Choice = Glob::Choice;
  using Step = Glob::Step;

  // A character of the pattern without its escape: an op of the matcher, or one of the three below.
  struct Token {
    char op = kByte;
    char byte = 0;        // kByte
    uint16_t bitmap = 0;  // kClass, kOtherClass: index into bitmaps_
  };
  static constexpr char kOpen = '{';
  static constexpr char kComma = ',';
  static constexpr char kClose = '}';
  using Tokens = std::vector<Token>;
  using Bitmap = std::array<char, kBitmapBytes>;

  struct OpenBrace {
    size_t at = 0;
    bool has_comma = false;
  };

  absl::Status Bad(absl::string_view what, size_t at) const {
    return absl::InvalidArgumentError(
        absl::StrCat("bad pattern ", QuoteForMessage(pattern_), ": ", what, " at byte ", at + 1));
  }
  // True, with the byte, when at_ is at a character that may stand in a name; moves behind it and
  // its escape.
  bool TakeMember(char* member);
  // From at_ to the next '/' or the end; moves there.
  absl::Status TakeComponent(Tokens* tokens);
  absl::Status TakeBrace(Tokens* tokens, std::vector<OpenBrace>* open);
  absl::Status TakeClass(Tokens* tokens);
  absl::Status TakeClassMembers(size_t begin, Bitmap* bitmap);
  // Adds a step for the component that began at `begin`, one choice for each of its brace
  // alternatives.
  absl::Status AddStep(Tokens component, size_t begin);
  absl::Status AddChoice(const Tokens& tokens, size_t begin);
  void SetWalkRoot();

  absl::string_view pattern_;
  size_t at_ = 0;
  size_t alternatives_ = 1;
  std::vector<Bitmap> bitmaps_;
  Glob glob_;
};

bool GlobCompiler::TakeMember(char* member) {
  const bool escaped = at_ < pattern_.size() && pattern_[at_] == '\\';
  const size_t at = at_ + (escaped ? 1 : 0);
  if (at >= pattern_.size() || pattern_[at] == '/') return false;
  *member = pattern_[at];
  at_ = at + 1;
  return true;
}

absl::Status GlobCompiler::TakeClassMembers(size_t begin, Bitmap* bitmap) {
  const absl::Status unclosed = Bad("unclosed '['", begin);
  for (bool first = true;; first = false) {
    const size_t at = at_;
    const absl::string_view rest = pattern_.substr(at, pattern_.find('/', at) - at);
    if (!first && rest.substr(0, 1) == "]") {
      ++at_;
      return absl::OkStatus();
    }
    for (const absl::string_view name : {"[:", "[.", "[="}) {
      const char close[] = {name[1], ']'};
      if (rest.substr(0, 2) == name &&
          rest.find(absl::string_view(close, 2), 2) != absl::string_view::npos) {
        return Bad("a class by name is not supported: write its range, or '\\[' for the character",
                   at);
      }
    }
    char low = 0;
    if (!TakeMember(&low)) return unclosed;
    char high = low;
    const absl::string_view after = pattern_.substr(at_, 2);
    if (after.size() == 2 && after[0] == '-' && after[1] != ']') {
      ++at_;
      if (!TakeMember(&high)) return unclosed;
    }
    if (((low | high) & 0x80) != 0) {
      return Bad("only ASCII can stand between '[' and ']': write {…,…}", at);
    }
    if (high < low) return Bad("empty range", at);
    for (int c = low; c <= high; ++c) {
      char& bits = (*bitmap)[static_cast<size_t>(c) / 8];
      bits = static_cast<char>(bits | 1 << c % 8);
    }
  }
}

absl::Status GlobCompiler::TakeClass(Tokens* tokens) {
  const size_t begin = at_++;
  Token token;
  token.op = kClass;
  if (at_ < pattern_.size() && (pattern_[at_] == '!' || pattern_[at_] == '^')) {
    token.op = kOtherClass;
    ++at_;
  }
  Bitmap bitmap = {};
  AE_RETURN_IF_ERROR(TakeClassMembers(begin, &bitmap));
  token.bitmap = static_cast<uint16_t>(bitmaps_.size());
  bitmaps_.push_back(bitmap);
  tokens->push_back(token);
  return absl::OkStatus();
}

absl::Status GlobCompiler::TakeBrace(Tokens* tokens, std::vector<OpenBrace>* open) {
  const char c = pattern_[at_];
  // Outside of braces the other two are characters like any other.
  Token token{kByte, c};
  if (c == '{') {
    token.op = kOpen;
    open->push_back({at_});
  } else if (c == ',' && !open->empty()) {
    token.op = kComma;
    open->back().has_comma = true;
  } else if (c == '}' && !open->empty()) {
    token.op = kClose;
    if (!open->back().has_comma) {
      return Bad("braces without ',': write '\\{' for the character", open->back().at);
    }
    open->pop_back();
  }
  ++at_;
  tokens->push_back(token);
  return absl::OkStatus();
}

absl::Status GlobCompiler::TakeComponent(Tokens* tokens) {
  std::vector<OpenBrace> open;
  while (at_ < pattern_.size() && pattern_[at_] != '/') {
    const char c = pattern_[at_];
    if (c == '{' || c == ',' || c == '}') {
      AE_RETURN_IF_ERROR(TakeBrace(tokens, &open));
    } else if (c == '[') {
      AE_RETURN_IF_ERROR(TakeClass(tokens));
    } else if (c == '*' || c == '?') {
      tokens->push_back({c == '*' ? kAnyRun : kAnyByte});
      ++at_;
    } else {
      Token token;
      const size_t at = at_;
      if (!TakeMember(&token.byte)) return Bad("trailing backslash", at);
      tokens->push_back(token);
    }
  }
  if (open.empty()) return absl::OkStatus();
  // A '/' in braces is the likelier slip when a '}' follows.
  if (at_ < pattern_.size() && pattern_.find('}', at_) != absl::string_view::npos) {
    return Bad("'/' inside braces", at_);
  }
  return Bad("unclosed '{'", open.back().at);
}

absl::Status GlobCompiler::AddChoice(const Tokens& tokens, size_t begin) {
  Choice choice;
  std::string program;
  size_t runs = 0;
  bool has_other = false;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    program += token.op;
    if (token.op == kByte) {
      program += token.byte;
      choice.text += token.byte;
    } else if (token.op == kAnyRun) {
      if (i > 0 && tokens[i - 1].op == kAnyRun) {
        return Bad("'**' must be a whole component: write '**/*' to cross directories, else '*'",
                   begin);
      }
      ++runs;
      choice.split = choice.text.size();
    } else {
      has_other = true;
      if (token.op != kAnyByte) program.append(bitmaps_[token.bitmap].data(), kBitmapBytes);
    }
  }
  if (tokens.empty()) return Bad("empty component", begin);
  if (has_other || runs > 1) {
    choice.kind = Choice::Kind::kProgram;
    choice.text = std::move(program);
  } else if (runs == 1) {
    choice.kind = Choice::Kind::kAffixes;
  } else if (choice.text == "." || choice.text == "..") {
    return Bad(absl::StrCat("'", choice.text, "' cannot be a component"), begin);
  }
  glob_.choices_.push_back(std::move(choice));
  return absl::OkStatus();
}

absl::Status GlobCompiler::AddStep(Tokens component, size_t begin) {
  Step step;
  step.first = static_cast<uint16_t>(glob_.choices_.size());
  // Each round writes out the first braces of one text. Braces have at least two alternatives, so
  // the limit on their number also bounds the rounds.
  std::vector<Tokens> texts;
  texts.push_back(std::move(component));
  for (size_t i = 0; i < texts.size(); ++i) {
    while (true) {
      const Tokens text = texts[i];
      const auto is_open = [](const Token& token) { return token.op == kOpen; };
      const auto open = std::find_if(text.begin(), text.end(), is_open);
      if (open == text.end()) break;
      std::vector<Tokens::const_iterator> bounds = {open};
      int depth = 0;
      for (auto it = open;; ++it) {
        depth += it->op == kOpen ? 1 : it->op == kClose ? -1 : 0;
        if ((it->op == kComma && depth == 1) || depth == 0) bounds.push_back(it);
        if (depth == 0) break;
      }
      for (size_t j = 0; j + 1 < bounds.size(); ++j) {
        Tokens expanded(text.begin(), open);
        expanded.insert(expanded.end(), bounds[j] + 1, bounds[j + 1]);
        expanded.insert(expanded.end(), bounds.back() + 1, text.end());
        if (j == 0) {
          texts[i] = std::move(expanded);
        } else {
          texts.push_back(std::move(expanded));
        }
      }
      if (texts.size() * alternatives_ > kMaxAlternatives) {
        return Bad(absl::StrCat("more than ", kMaxAlternatives, " alternatives"), begin);
      }
    }
    AE_RETURN_IF_ERROR(AddChoice(texts[i], begin));
  }
  alternatives_ *= texts.size();
  step.last = static_cast<uint16_t>(glob_.choices_.size());
  glob_.steps_.push_back(step);
  return absl::OkStatus();
}

void GlobCompiler::SetWalkRoot() {
  const std::vector<Step>& steps = glob_.steps_;
  size_t literal = 0;
  while (literal < steps.size() && !steps[literal].any_depth &&
         steps[literal].last == steps[literal].first + 1 &&
         glob_.choices_[steps[literal].first].kind == Choice::Kind::kLiteral) {
    ++literal;
  }
  // When nothing or only `**` follows, the last literal name is itself a match, and its parent
  // holds it.
  const bool matches_itself =
      literal == steps.size() || (literal + 1 == steps.size() && steps[literal].any_depth);
  if (matches_itself && literal > 0) --literal;
  glob_.walk_root_ = glob_.anchor_;
  for (size_t i = 0; i < literal; ++i) {
    glob_.walk_root_ = Join(glob_.walk_root_, glob_.choices_[steps[i].first].text);
  }
}

absl::StatusOr<Glob> GlobCompiler::Compile() {
  if (pattern_.size() > kMaxPatternBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("pattern of ", pattern_.size(), " bytes: at most ", kMaxPatternBytes));
  }
  if (HasNul(pattern_)) return Bad("NUL", pattern_.find('\0'));
  while (true) {
    const size_t begin = at_;
    Tokens component;
    AE_RETURN_IF_ERROR(TakeComponent(&component));
    if (pattern_.substr(begin, at_ - begin) == "**") {
      // Several in a row cross no more than one does.
      if (glob_.steps_.empty() || !glob_.steps_.back().any_depth) glob_.steps_.push_back({true});
    } else {
      AE_RETURN_IF_ERROR(AddStep(std::move(component), begin));
    }
    if (at_ == pattern_.size()) break;
    ++at_;
  }
  SetWalkRoot();
  return std::move(glob_);
}

absl::StatusOr<Glob> Glob::Compile(absl::string_view anchor, absl::string_view pattern) {
  assert(IsClean(anchor));
  return GlobCompiler(anchor, pattern).Compile();
}

}  // namespace agent_exec
