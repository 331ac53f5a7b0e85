#include "base/text.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/quote.h"

namespace agent_exec {
namespace {

// Longer words are not names of ours, and the cost of comparing them would be the writer's to
// choose.
constexpr size_t kMaxNameBytes = 64;

// How many slips of the keyboard are believable for a name of this length.
size_t BelievableSlips(size_t length) { return std::min<size_t>((length + 2) / 4, 3); }

// Upper case and '_' for '-' are how people spell the same name elsewhere, so they cost nothing.
char FoldNameByte(char c) {
  return c == '_' ? '-' : absl::ascii_tolower(static_cast<unsigned char>(c));
}

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
//   In: neither is longer than kMaxNameBytes.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::array<std::array<uint8_t, kMaxNameBytes + 1>, 3> rows;
  uint8_t* before = rows[0].data();  // two rows up
  uint8_t* above = rows[1].data();
  uint8_t* row = rows[2].data();
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<uint8_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    uint8_t* const spare = before;
    before = above;
    above = row;
    row = spare;
    row[0] = static_cast<uint8_t>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = FoldNameByte(a[i - 1]) == FoldNameByte(b[j - 1]);
      int best = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && FoldNameByte(a[i - 1]) == FoldNameByte(b[j - 2]) &&
          FoldNameByte(a[i - 2]) == FoldNameByte(b[j - 1])) {
        best = std::min(best, before[j - 2] + 1);
      }
      row[j] = static_cast<uint8_t>(best);
    }
  }
  return row[b.size()];
}

struct Unit {
  absl::string_view name;
  int64_t size;
};

constexpr int64_t kSecondMs = 1000;
constexpr int64_t kMinuteMs = 60 * kSecondMs;
constexpr int64_t kHourMs = 60 * kMinuteMs;
constexpr int64_t kDayMs = 24 * kHourMs;
constexpr int64_t kMaxDurationMs = 365 * kDayMs;

// Largest first; of two names for one unit the first is the one that is written.
constexpr Unit kDurationUnits[] = {{"d", kDayMs},    {"h", kHourMs},   {"min", kMinuteMs},
                                   {"m", kMinuteMs}, {"s", kSecondMs}, {"ms", 1}};

constexpr int64_t kKib = 1024;
constexpr Unit kSizeUnits[] = {
    {"TiB", kKib * kKib * kKib * kKib},
    {"GiB", kKib * kKib * kKib},
    {"MiB", kKib * kKib},
    {"KiB", kKib},
    {"TB", 1'000'000'000'000},
    {"GB", 1'000'000'000},
    {"MB", 1'000'000},
    {"kB", 1000},
    {"T", kKib * kKib * kKib * kKib},
    {"G", kKib * kKib * kKib},
    {"M", kKib * kKib},
    {"K", kKib},
    {"B", 1},
};

// Takes decimal digits off the front. False when there is none or the number does not fit.
bool ConsumeNumber(absl::string_view* text, int64_t* value) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  size_t digits = 0;
  *value = 0;
  for (; digits < text->size() && absl::ascii_isdigit(static_cast<unsigned char>((*text)[digits]));
       ++digits) {
    const int digit = (*text)[digits] - '0';
    if (*value > (kMax - digit) / 10) return false;
    *value = *value * 10 + digit;
  }
  text->remove_prefix(digits);
  return digits > 0;
}

// Takes letters off the front.
absl::string_view ConsumeLetters(absl::string_view* text) {
  size_t letters = 0;
  while (letters < text->size() &&
         absl::ascii_isalpha(static_cast<unsigned char>((*text)[letters])))
    ++letters;
  const absl::string_view out = text->substr(0, letters);
  text->remove_prefix(letters);
  return out;
}

const Unit* FindUnit(absl::Span<const Unit> units, absl::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

absl::Status Expected(absl::string_view what, absl::string_view got) {
  return absl::InvalidArgumentError(
      absl::StrCat("expected ", what, ", got ", QuoteForMessage(got)));
}

absl::Status BadDuration(absl::string_view text) {
  return Expected("a duration such as '10min', '1h30m' or '500ms' (d, h, min, s, ms; at most 365d)",
                  text);
}

absl::Status BadSize(absl::string_view text) {
  return Expected("a size such as '64MiB', '4GiB' or '512' (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)",
                  text);
}

// Columns of a terminal, one per character: the help text has no wide ones.
size_t Columns(absl::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

absl::string_view NearestName(absl::string_view word,
                              absl::Span<const absl::string_view> candidates) {
  absl::string_view nearest;
  if (word.empty() || word.size() > kMaxNameBytes) return nearest;
  size_t best = kMaxNameBytes;
  for (const absl::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > kMaxNameBytes) continue;
    const size_t longer = std::max(word.size(), candidate.size());
    const size_t limit = BelievableSlips(longer);
    if (longer - std::min(word.size(), candidate.size()) > limit) continue;
    const size_t distance = EditDistance(word, candidate);
    if (distance > limit || distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string WrapText(absl::string_view text, int width, int indent) {
  const size_t margin = indent > 0 ? static_cast<size_t>(indent) : 0;
  std::string out;
  out.reserve(text.size() + text.size() / 4 + margin);
  size_t column = 0;  // 0: nothing on this line yet, its margin neither
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    const absl::string_view word = text.substr(0, end);
    const bool ends_line = end < text.size() && text[end] == '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!word.empty()) {
      const size_t columns = Columns(word);
      if (column > 0 && column + 1 + columns > static_cast<size_t>(std::max(width, 0))) {
        out += '\n';
        column = 0;
      }
      out.append(column == 0 ? margin : 1, ' ');
      column = (column == 0 ? margin : column + 1) + columns;
      out.append(word.data(), word.size());
    }
    if (ends_line) {
      out += '\n';
      column = 0;
    }
  }
  return out;
}

std::vector<absl::string_view> SplitChoices(absl::string_view choices) {
  std::vector<absl::string_view> out;
  if (choices.empty()) return out;
  out.reserve(static_cast<size_t>(std::count(choices.begin(), choices.end(), '|')) + 1);
  while (true) {
    const size_t bar = choices.find('|');
    out.push_back(choices.substr(0, bar));
    if (bar == absl::string_view::npos) return out;
    choices.remove_prefix(bar + 1);
  }
}

absl::StatusOr<int64_t> ParseDurationMs(absl::string_view text) {
  absl::string_view rest = text;
  int64_t total = 0;
  // Each unit must be smaller than the one before it: "30m1h" and "1m1m" are more likely slips than
  // meant.
  int64_t previous = std::numeric_limits<int64_t>::max();
  do {
    int64_t count = 0;
    if (!ConsumeNumber(&rest, &count)) return BadDuration(text);
    absl::string_view name = ConsumeLetters(&rest);
    const bool first = previous == std::numeric_limits<int64_t>::max();
    if (first && name.empty() && rest.empty()) name = "s";
    const Unit* unit = FindUnit(kDurationUnits, name);
    if (unit == nullptr || unit->size >= previous || count > kMaxDurationMs / unit->size) {
      return BadDuration(text);
    }
    previous = unit->size;
    total += count * unit->size;
  } while (!rest.empty());
  if (total < 1 || total > kMaxDurationMs) return BadDuration(text);
  return total;
}

absl::StatusOr<int64_t> ParseSizeBytes(absl::string_view text) {
  absl::string_view rest = text;
  int64_t count = 0;
  if (!ConsumeNumber(&rest, &count)) return BadSize(text);
  const Unit* unit = FindUnit(kSizeUnits, rest.empty() ? "B" : rest);
  if (unit == nullptr || count > std::numeric_limits<int64_t>::max() / unit->size)
    return BadSize(text);
  return count * unit->size;
}

absl::StatusOr<int64_t> ParseCount(absl::string_view text, int64_t min, int64_t max) {
  absl::string_view rest = text;
  int64_t value = 0;
  if (!ConsumeNumber(&rest, &value) || !rest.empty() || value < min || value > max) {
    return Expected(absl::StrCat("a number from ", min, " to ", max), text);
  }
  return value;
}

std::string FormatDurationMs(int64_t ms) {
  assert(ms >= 0);
  if (ms == 0) return "0s";
  std::string out;
  for (const Unit& unit : kDurationUnits) {
    if (ms >= unit.size) absl::StrAppend(&out, ms / unit.size, unit.name);
    ms %= unit.size;
  }
  return out;
}

std::string FormatSizeBytes(int64_t bytes) {
  assert(bytes >= 0);
  // The shortest exact form. The binary units come first in the table, so they win a tie.
  std::string best;
  for (const Unit& unit : kSizeUnits) {
    if (unit.name.size() == 1 || bytes % unit.size != 0 || bytes == 0) continue;
    std::string form = absl::StrCat(bytes / unit.size, unit.name);
    if (best.empty() || form.size() < best.size()) best = std::move(form);
  }
  std::string plain = absl::StrCat(bytes);
  return best.empty() || plain.size() < best.size() ? plain : best;
}

}  // namespace agent_exec
