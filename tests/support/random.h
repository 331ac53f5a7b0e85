#pragma once

// Random input for property tests: the same on every machine and library for one seed.

#include <cstdint>
#include <random>
#include <string>

#include "absl/strings/string_view.h"

namespace agent_exec::testing {

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}

  // 0 … bound-1. (std::uniform_int_distribution gives other numbers in each library.)
  size_t Below(size_t bound) { return engine_() % bound; }
  bool OneIn(size_t n) { return Below(n) == 0; }
  template <typename Container>
  auto& Pick(Container& choices) {
    return choices[Below(std::size(choices))];
  }
  // Up to max bytes, each of the alphabet.
  std::string Text(absl::string_view alphabet, size_t max) {
    std::string out(Below(max + 1), '\0');
    for (char& c : out) c = alphabet[Below(alphabet.size())];
    return out;
  }
  // Up to max bytes of any value.
  std::string Bytes(size_t max) {
    std::string out(Below(max + 1), '\0');
    for (char& c : out) c = static_cast<char>(Below(256));
    return out;
  }

 private:
  std::mt19937 engine_;
};

// Bytes that are hard for quoting: the metacharacters of shells, JSON and TOML, terminal controls,
// and UTF-8 whole and broken. Never NUL.
inline std::string HostileText(Random* random, size_t max_pieces) {
  static const char* const kPieces[] = {"a",
                                        "z9",
                                        " ",
                                        "\t",
                                        "\n",
                                        "\r",
                                        "\x1b[31m",
                                        "\x7f",
                                        "'",
                                        "\"",
                                        "\\",
                                        "$",
                                        "`",
                                        "$(id)",
                                        "!",
                                        "#",
                                        "~",
                                        "*",
                                        "?",
                                        "[",
                                        "{a,b}",
                                        "&",
                                        "|",
                                        ";",
                                        "=",
                                        "-",
                                        "%s",
                                        "\x01",
                                        "\xc3\xa9",
                                        "\xe2\x82\xac",
                                        "\xf0\x9f\x98\x80",
                                        "\xc2\x9b",
                                        "\xe2\x80\xae",
                                        "\xe2\x80\xa8",
                                        "\xff",
                                        "\xc3",
                                        "\xe2\x82",
                                        "\xed\xa0\x80",
                                        "\xf4\x90\x80\x80",
                                        "\xc0\xaf",
                                        "\xef\xbb\xbf"};
  std::string out;
  for (size_t n = random->Below(max_pieces + 1); n > 0; --n) {
    if (random->OneIn(4)) {
      out += static_cast<char>(1 + random->Below(255));
    } else {
      out += random->Pick(kPieces);
    }
  }
  return out;
}

}  // namespace agent_exec::testing
