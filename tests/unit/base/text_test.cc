#include "base/text.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/random.h"
#include "support/status.h"

namespace agent_exec {
namespace {

using testing::Random;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kYearMs = int64_t{365} * 24 * 3600 * 1000;

TEST_SUITE("base/text") {
  TEST_CASE("the nearest name is the one that a slip of the keyboard turns into the word") {
    const std::vector<absl::string_view> names = {
        "read", "write", "deny-read", "filesystem.deny-read", "network", "ro"};
    const struct {
      const char* word;
      const char* nearest;
    } cases[] = {
        {"raed", "read"},   // a swap is one slip
        {"reed", "read"},   // replaced
        {"rea", "read"},    // left out
        {"rread", "read"},  // doubled
        {"READ", "read"},   // the same in another case
        {"deny_read", "deny-read"},
        {"deny-raed", "deny-read"},
        {"filesytem.deny_raed", "filesystem.deny-read"},
        {"netwrok", "network"},
        {"read", "read"},
        {"dear", ""},  // too far for so short a word
        {"rm", "ro"},
        {"x", ""},
        {"", ""},
        {"something", ""},
    };
    for (const auto& c : cases) {
      CAPTURE(c.word);
      CHECK_EQ(NearestName(c.word, names), c.nearest);
    }
  }

  TEST_CASE("the first of several equally near names is taken, the nearer one before it") {
    CHECK_EQ(NearestName("abcx", {"abcd", "abce"}), "abcd");
    CHECK_EQ(NearestName("abcdefgx", {"abcdefyy", "abcdefgh"}), "abcdefgh");
    CHECK_EQ(NearestName("abcd", {}), "");
  }

  TEST_CASE("words longer than any name are not compared") {
    const std::string longest(64, 'a');
    CHECK_EQ(NearestName(longest, {longest}), longest);
    const std::string longer(65, 'a');
    CHECK_EQ(NearestName(longer, {longest, longer}), "");
    CHECK_EQ(NearestName(std::string(1 << 20, 'a'), {longest}), "");
  }

  TEST_CASE("text is wrapped at spaces and the indent counts") {
    const struct {
      const char* text;
      int width, indent;
      const char* wrapped;
    } cases[] = {
        {"", 10, 2, ""},
        {"one", 10, 2, "  one"},
        {"one two three", 9, 0, "one two\nthree"},
        {"one two three", 9, 2, "  one two\n  three"},
        {"one two three", 8, 2, "  one\n  two\n  three"},
        {"one  two ", 20, 0, "one two"},
        {"a toolongword b", 6, 1, " a\n toolongword\n b"},
        {"first\n\nsecond one", 20, 2, "  first\n\n  second one"},
        {"a b", 0, 0, "a\nb"},
        {"\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9 x", 5, 0, "\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\nx"},
    };
    for (const auto& c : cases) {
      CAPTURE(c.text);
      CHECK_EQ(WrapText(c.text, c.width, c.indent), c.wrapped);
    }
  }

  TEST_CASE("wrapping loses no word and makes no line too wide that could be narrower") {
    Random random(8);
    for (int i = 0; i < 1000; ++i) {
      const std::string text = random.Text("ab c", 40);
      const int width = 4 + static_cast<int>(random.Below(12));
      const std::string wrapped = WrapText(text, width, 2);
      CAPTURE(text);
      CAPTURE(wrapped);
      const auto words = [](absl::string_view line) {
        std::string out;
        for (const char c : line) {
          if (c != ' ' && c != '\n')
            out += c;
          else if (!out.empty() && out.back() != ' ')
            out += ' ';
        }
        while (!out.empty() && out.back() == ' ') out.pop_back();
        return out;
      };
      CHECK_EQ(words(wrapped), words(text));
      for (size_t at = 0; at < wrapped.size();) {
        const std::string line = wrapped.substr(at, wrapped.find('\n', at) - at);
        CHECK_EQ(line.substr(0, 2), "  ");
        const bool one_word = line.find(' ', 2) == std::string::npos;
        CHECK((static_cast<int>(line.size()) <= width || one_word));
        at += line.size() + 1;
      }
    }
  }

  TEST_CASE("choices are what stands between the bars") {
    CHECK(SplitChoices("").empty());
    CHECK(SplitChoices("a") == std::vector<absl::string_view>{"a"});
    CHECK(SplitChoices("a|b-c||") == std::vector<absl::string_view>{"a", "b-c", "", ""});
  }

  TEST_CASE("a duration is numbers with units, larger units first; a bare number is seconds") {
    const struct {
      const char* text;
      int64_t ms;
    } cases[] = {
        {"1ms", 1},
        {"500ms", 500},
        {"2s", 2000},
        {"10min", 600'000},
        {"10m", 600'000},
        {"1h30m", 5'400'000},
        {"1d", 86'400'000},
        {"365d", kYearMs},
        {"90", 90'000},
        {"1d2h3min4s5ms", 93'784'005},
        {"0h1ms", 1},
        {"007s", 7000},
        {"31536000", kYearMs},
    };
    for (const auto& c : cases) {
      CAPTURE(c.text);
      REQUIRE_OK_AND_ASSIGN(const int64_t ms, ParseDurationMs(c.text));
      CHECK_EQ(ms, c.ms);
    }
  }

  TEST_CASE("what is not a duration is refused with what was expected") {
    for (const char* text : {"",
                             "0",
                             "0s",
                             "s",
                             "-1s",
                             "+1s",
                             "1.5s",
                             "1 s",
                             " 1s",
                             "1s ",
                             "1sec",
                             "1M",
                             "1H",
                             "366d",
                             "365d1ms",
                             "30m1h",
                             "1m1m",
                             "1m1min",
                             "1m30",
                             "1h30m ",
                             "99999999999999999999s",
                             "9223372036854775807d",
                             "31536001",
                             "1s\n"}) {
      CAPTURE(text);
      CHECK_ERROR(ParseDurationMs(text), kInvalidArgument, "expected a duration such as '10min'");
    }
    CHECK_ERROR(ParseDurationMs("1\x1b"), kInvalidArgument, "got '1\\x1b'");
  }

  TEST_CASE("a size is a number and a unit of 1000 or 1024") {
    const struct {
      const char* text;
      int64_t bytes;
    } cases[] = {
        {"0", 0},
        {"512", 512},
        {"7B", 7},
        {"1kB", 1000},
        {"10MB", 10'000'000},
        {"1GB", 1'000'000'000},
        {"2TB", 2'000'000'000'000},
        {"1K", 1024},
        {"1KiB", 1024},
        {"64MiB", 67'108'864},
        {"64M", 67'108'864},
        {"4GiB", 4'294'967'296},
        {"4G", 4'294'967'296},
        {"1TiB", 1'099'511'627'776},
        {"1T", 1'099'511'627'776},
        {"9223372036854775807", kMax},
        {"8388607TiB", 8388607 * int64_t{1'099'511'627'776}},
    };
    for (const auto& c : cases) {
      CAPTURE(c.text);
      REQUIRE_OK_AND_ASSIGN(const int64_t bytes, ParseSizeBytes(c.text));
      CHECK_EQ(bytes, c.bytes);
    }
  }

  TEST_CASE("what is not a size, or does not fit, is refused with what was expected") {
    for (const char* text : {"", "B", "-1", "1.5G", "1 GiB", "1KB", "1k", "1m", "1gib", "1MiBx",
                             "1PiB", "8388608TiB", "9223372036854775808", "0x10"}) {
      CAPTURE(text);
      CHECK_ERROR(ParseSizeBytes(text), kInvalidArgument, "expected a size such as '64MiB'");
    }
  }

  TEST_CASE("a count is decimal digits within its bounds, which the message names") {
    REQUIRE_OK_AND_ASSIGN(const int64_t low, ParseCount("3", 3, 1024));
    CHECK_EQ(low, 3);
    REQUIRE_OK_AND_ASSIGN(const int64_t high, ParseCount("1024", 3, 1024));
    CHECK_EQ(high, 1024);
    REQUIRE_OK_AND_ASSIGN(const int64_t max, ParseCount("9223372036854775807", 0, kMax));
    CHECK_EQ(max, kMax);
    for (const char* text : {"", "2", "1025", "-3", "+3", "3 ", " 3", "0x3", "3.0", "1e2",
                             "9223372036854775808", "18446744073709551619"}) {
      CAPTURE(text);
      CHECK_ERROR(ParseCount(text, 3, 1024), kInvalidArgument,
                  "expected a number from 3 to 1024, got '");
    }
  }

  TEST_CASE("durations and sizes are written in the units that people use") {
    CHECK_EQ(FormatDurationMs(0), "0s");
    CHECK_EQ(FormatDurationMs(1), "1ms");
    CHECK_EQ(FormatDurationMs(600'000), "10min");
    CHECK_EQ(FormatDurationMs(5'400'000), "1h30min");
    CHECK_EQ(FormatDurationMs(93'784'005), "1d2h3min4s5ms");
    CHECK_EQ(FormatSizeBytes(0), "0");
    CHECK_EQ(FormatSizeBytes(512), "512");
    CHECK_EQ(FormatSizeBytes(1000), "1kB");
    CHECK_EQ(FormatSizeBytes(1024), "1KiB");
    CHECK_EQ(FormatSizeBytes(67'108'864), "64MiB");
    CHECK_EQ(FormatSizeBytes(4'294'967'296), "4GiB");
    CHECK_EQ(FormatSizeBytes(10'000'000), "10MB");
    CHECK_EQ(FormatSizeBytes(1'234'567), "1234567");
  }

  TEST_CASE("what is written is read back as the same number") {
    Random random(9);
    for (int i = 0; i < 3000; ++i) {
      int64_t value = 1;
      for (size_t n = random.Below(12); n > 0; --n) {
        static constexpr int64_t kFactors[] = {2, 10, 1000, 1024, 60, 7};
        const int64_t factor = random.Pick(kFactors);
        if (value <= kMax / factor) value *= factor;
      }
      REQUIRE_OK_AND_ASSIGN(const int64_t bytes, ParseSizeBytes(FormatSizeBytes(value)));
      CHECK_EQ(bytes, value);
      const int64_t ms = 1 + value % kYearMs;
      REQUIRE_OK_AND_ASSIGN(const int64_t again, ParseDurationMs(FormatDurationMs(ms)));
      CHECK_EQ(again, ms);
    }
  }
}

}  // namespace
}  // namespace agent_exec
