#include "base/glob.h"

#include <algorithm>

#include "base/glob_ops.h"
#include "base/path.h"

namespace agent_exec {
namespace {

using namespace glob_ops;  // NOLINT(google-build-using-namespace): seven names

// Takes the last name off the end of "a/b/c".
absl::string_view PopName(absl::string_view* names) {
  const size_t slash = names->rfind('/');
  const absl::string_view name =
      slash == absl::string_view::npos ? *names : names->substr(slash + 1);
  *names = names->substr(0, slash == absl::string_view::npos ? 0 : slash);
  return name;
}

// Takes the first name off the front.
absl::string_view ShiftName(absl::string_view* names) {
  const absl::string_view name = names->substr(0, names->find('/'));
  names->remove_prefix(std::min(name.size() + 1, names->size()));
  return name;
}

// Does the op at `op`, which is not kAnyRun, accept this byte? Moves `op` behind it in any case.
bool StepOp(absl::string_view program, size_t* op, char c) {
  const char code = program[(*op)++];
  if (code == kAnyByte) return true;
  if (code == kByte) return program[(*op)++] == c;
  const size_t bitmap = *op;
  *op += kBitmapBytes;
  const auto byte = static_cast<uint8_t>(c);
  const bool listed = byte < 0x80 && (program[bitmap + byte / 8] >> (byte % 8) & 1) != 0;
  return listed == (code == kClass);
}

// Only the last `*` met is ever tried again: what an earlier one matched can only have been too
// short, never wrong. So the cost is the product of the two lengths.
bool RunProgram(absl::string_view program, absl::string_view name) {
  size_t op = 0;
  size_t at = 0;
  size_t retry_op = absl::string_view::npos;
  size_t retry_at = 0;
  while (true) {
    if (op < program.size() && program[op] == kAnyRun) {
      retry_op = ++op;
      retry_at = at;
      if (op == program.size()) return true;
    } else if (op == program.size() && at == name.size()) {
      return true;
    } else if (op == program.size() || at == name.size() || !StepOp(program, &op, name[at++])) {
      if (retry_op == absl::string_view::npos || retry_at == name.size()) return false;
      op = retry_op;
      at = ++retry_at;
    }
  }
}

}  // namespace

bool Glob::HasMagic(absl::string_view pattern) {
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      ++i;
    } else if (absl::string_view("*?[{").find(pattern[i]) != absl::string_view::npos) {
      return true;
    }
  }
  return false;
}

std::string Glob::Unescape(absl::string_view pattern) {
  std::string out;
  out.reserve(pattern.size());
  for (size_t i = 0; i < pattern.size(); ++i) {
    // A backslash with nothing behind it takes no meaning away and stands for itself.
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    out += pattern[i];
  }
  return out;
}

bool Glob::MatchesName(const Step& step, absl::string_view name) const {
  for (size_t i = step.first; i < step.last; ++i) {
    const Choice& choice = choices_[i];
    const absl::string_view text = choice.text;
    switch (choice.kind) {
      case Choice::Kind::kLiteral:
        if (name == text) return true;
        break;
      case Choice::Kind::kAffixes:
        if (name.size() >= text.size() &&
            name.substr(0, choice.split) == text.substr(0, choice.split) &&
            name.substr(name.size() - (text.size() - choice.split)) == text.substr(choice.split)) {
          return true;
        }
        break;
      case Choice::Kind::kProgram:
        if (RunProgram(text, name)) return true;
        break;
    }
  }
  return false;
}

bool Glob::MatchesNames(const Step* begin, const Step* end, absl::string_view names) const {
  // What stands before the first `**` and behind the last one can lie in one place only.
  for (; begin != end && !begin->any_depth; ++begin) {
    if (names.empty() || !MatchesName(*begin, ShiftName(&names))) return false;
  }
  if (begin == end) return names.empty();
  for (; !end[-1].any_depth; --end) {
    if (names.empty() || !MatchesName(end[-1], PopName(&names))) return false;
  }
  // Each run between two `**` goes to the first place that fits: that leaves the most for the runs
  // after it.
  while (++begin != end) {
    while (true) {
      absl::string_view rest = names;
      const Step* step = begin;
      while (!step->any_depth && !rest.empty() && MatchesName(*step, ShiftName(&rest))) ++step;
      if (step->any_depth) {
        begin = step;
        names = rest;
        break;
      }
      if (names.empty()) return false;
      ShiftName(&names);
    }
  }
  return true;
}

bool Glob::Matches(absl::string_view clean_path) const {
  if (!IsUnder(clean_path, anchor_)) return false;
  return MatchesNames(steps_.data(), steps_.data() + steps_.size(),
                      RelativeTo(clean_path, anchor_));
}

bool Glob::CanMatchBelow(absl::string_view clean_dir) const {
  // Every pattern has a component, and something that it matches.
  if (IsUnder(anchor_, clean_dir)) return true;
  if (!IsUnder(clean_dir, anchor_)) return false;
  absl::string_view names = RelativeTo(clean_dir, anchor_);
  for (const Step& step : steps_) {
    if (step.any_depth || names.empty()) return true;
    if (!MatchesName(step, ShiftName(&names))) return false;
  }
  return false;
}

}  // namespace agent_exec
