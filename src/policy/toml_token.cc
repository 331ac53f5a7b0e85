#include "policy/toml_token.h"

#include <cstddef>

namespace agent_exec {
namespace {

// What follows consumes a piece of a number or date from the front of `token`, or says that it is
// not there.

using Consume = absl::string_view*;

bool TakeByte(absl::string_view bytes, Consume token) {
  if (token->empty() || bytes.find(token->front()) == absl::string_view::npos) return false;
  token->remove_prefix(1);
  return true;
}

// Digits below `base`, with single underscores between them.
bool TakeDigits(int base, Consume token) {
  size_t end = 0;
  auto is_digit = [&](size_t i) {
    return i < token->size() && TomlHexDigit((*token)[i]) >= 0 && TomlHexDigit((*token)[i]) < base;
  };
  while (is_digit(end) || (end > 0 && end < token->size() && (*token)[end] == '_' &&
                           is_digit(end - 1) && is_digit(end + 1))) {
    ++end;
  }
  token->remove_prefix(end);
  return end > 0;
}

// Exactly that many plain digits.
bool TakeFixedDigits(size_t count, Consume token) {
  if (token->size() < count) return false;
  for (size_t i = 0; i < count; ++i) {
    if ((*token)[i] < '0' || (*token)[i] > '9') return false;
  }
  token->remove_prefix(count);
  return true;
}

// "0", or digits that do not begin with it.
bool TakeWhole(Consume token) {
  if (TakeByte("0", token)) return true;
  return TakeDigits(10, token);
}

bool IsPrefixedInteger(absl::string_view token) {
  if (!TakeByte("0", &token) || token.empty()) return false;
  const int base = token[0] == 'x' ? 16 : token[0] == 'o' ? 8 : token[0] == 'b' ? 2 : 0;
  token.remove_prefix(1);
  return base != 0 && TakeDigits(base, &token) && token.empty();
}

bool IsDecimal(absl::string_view token) {
  TakeByte("+-", &token);
  if (token == "inf" || token == "nan") return true;
  if (!TakeWhole(&token)) return false;
  if (TakeByte(".", &token) && !TakeDigits(10, &token)) return false;
  if (TakeByte("eE", &token)) {
    TakeByte("+-", &token);
    if (!TakeDigits(10, &token)) return false;
  }
  return token.empty();
}

bool TakeHoursMinutes(Consume token) {
  return TakeFixedDigits(2, token) && TakeByte(":", token) && TakeFixedDigits(2, token);
}

bool TakeTime(Consume token) {
  if (!TakeHoursMinutes(token) || !TakeByte(":", token) || !TakeFixedDigits(2, token)) return false;
  if (!TakeByte(".", token)) return true;
  if (!TakeFixedDigits(1, token)) return false;
  while (TakeFixedDigits(1, token)) {
  }
  return true;
}

// Dates, times and both. Whether there is such a day is the parser's to say.
bool IsDateOrTime(absl::string_view token) {
  absl::string_view time = token;
  if (TakeTime(&time) && time.empty()) return true;
  if (!TakeFixedDigits(4, &token) || !TakeByte("-", &token) || !TakeFixedDigits(2, &token) ||
      !TakeByte("-", &token) || !TakeFixedDigits(2, &token)) {
    return false;
  }
  if (token.empty()) return true;
  if (!TakeByte("Tt", &token) || !TakeTime(&token)) return false;
  if (TakeByte("+-", &token)) return TakeHoursMinutes(&token) && token.empty();
  TakeByte("Zz", &token);
  return token.empty();
}

}  // namespace

int TomlHexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsTomlToken(absl::string_view token) {
  return token == "true" || token == "false" || IsDecimal(token) || IsPrefixedInteger(token) ||
         IsDateOrTime(token);
}

}  // namespace agent_exec
