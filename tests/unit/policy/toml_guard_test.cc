#include "policy/toml_guard.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "policy/toml_source.h"
#include "support/doctest.h"
#include "support/status.h"

namespace agent_exec {
namespace {

std::string Repeat(absl::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) absl::StrAppend(&out, text);
  return out;
}

struct Case {
  const char* text;
  const char* place;
  const char* message;
};

void CheckRefused(const Case& c) {
  CAPTURE(c.text);
  CHECK_DIAGNOSTIC(GuardToml(c.text, "p"), kInvalidArgument, c.message, c.place, "");
}

TEST_SUITE("policy/toml_guard") {
  TEST_CASE("well-formed texts pass") {
    for (const char* text : {
             "",
             "\n",
             "\r\n",
             "# comment",
             " \t# comment\n",
             "a=1",
             "a = 1 # c",
             "a-b_C9 = true",
             "1 = 2",
             "-1 = 2",
             "\"a b\" = 1",
             "'a.b' = 1",
             "\"\" = 1",
             "a.b . 'c' = 1",
             "\"\\u00e9\\U0001F600\\n\\\"\" = 1",
             "[a]",
             "[ a . b ]",
             "[[a]]\nb = 1",
             "[\"x y\".z]",
             "a = \"\"",
             "a = ''",
             "a = \"é\"",
             "a = 'C:\\x'",
             "a = \"\\b\\t\\n\\f\\r\\\"\\\\\"",
             "a = \"\"\"\"\"\"",
             "a = \"\"\"x\ny\\\n  z\"\"\"",
             "a = \"\"\"x\\   \n z\"\"\"",
             "a = \"\"\"a\"b\"\"c\"\"\"\"\"",
             "a = ''''''",
             "a = '''x''y\nz'''''",
             "a = \"\"\"x\r\ny\"\"\"",
             "a = [ ]",
             "a = [1,2,]",
             "a = [ # c\n 1, # d\n\n 2 ]",
             "a = [[1], ['x']]",
             "a = {}",
             "a = { b = 1, c.d = [\n1\n] }",
             "a = { b = { c = {} } }",
             "a = 0",
             "a = -0",
             "a = +1_000",
             "a = 0xDEAD_beef",
             "a = 0o17",
             "a = 0b1_0",
             "a = 1.5",
             "a = 1e9",
             "a = -1.0E-3",
             "a = 1_0.0_1",
             "a = inf",
             "a = -nan",
             "a = 1979-05-27",
             "a = 07:32:00",
             "a = 07:32:00.123",
             "a = 1979-05-27T07:32:00Z",
             "a = 1979-05-27t07:32:00.5+01:00",
             "a = false\r\nb = true\r\n",
         }) {
      CHECK_MESSAGE(GuardToml(text, "p").ok(), text, ": ", GuardToml(text, "p").ToString());
    }
  }

  TEST_CASE("what makes the parser abort or never return is refused") {
    for (const Case& c : {
             Case{"[~", "p:1:2", "expected a key, found '~'"},
             Case{"é=1", "p:1:1", "a key with 'é' must be quoted"},
             Case{"[", "p:1:2", "expected a key, found the end of the file"},
             Case{"[a", "p:1:3", "expected ']', found the end of the file"},
             Case{"a", "p:1:2", "expected '=', found the end of the file"},
             Case{"a=", "p:1:3", "expected a value, found the end of the file"},
             Case{"a = 1979-05-27T:0732:00Z", "p:1:5",
                  "expected a value, found '1979-05-27T:0732:00Z': a string needs quotes"},
         }) {
      CheckRefused(c);
    }
  }

  TEST_CASE("malformed keys, headers and lines are refused where they go wrong") {
    for (const Case& c : {
             Case{"= 1", "p:1:1", "expected a key, found '='"},
             Case{"a. = 1", "p:1:4", "expected a key, found '='"},
             Case{"a b = 1", "p:1:3", "expected '=', found 'b'"},
             Case{"\n  a\n= 1", "p:2:4", "expected '=', found the end of the line"},
             Case{"a = 1 b = 2", "p:1:7", "expected the end of the line, found 'b'"},
             Case{"\"\"\"a\"\"\" = 1", "p:1:1", "a multi-line string cannot be a key"},
             Case{"\"a\nb\" = 1", "p:1:1", "this string is not closed on its line"},
             Case{"[]", "p:1:2", "expected a key, found ']'"},
             Case{"[a.]", "p:1:4", "expected a key, found ']'"},
             Case{"[ [a]]", "p:1:3", "expected a key, found '['"},
             Case{"[[a] ]", "p:1:5", "expected ']]', found ' '"},
             Case{"[a]]", "p:1:4", "expected the end of the line, found ']'"},
             Case{"[a] b = 1", "p:1:5", "expected the end of the line, found 'b'"},
             Case{"\xef\xbb\xbf", "p:1:1", "a key with '\xef\xbb\xbf' must be quoted"},
         }) {
      CheckRefused(c);
    }
  }

  TEST_CASE("malformed values are refused where they go wrong") {
    for (const Case& c : {
             Case{"a = b", "p:1:5", "expected a value, found 'b': a string needs quotes"},
             Case{"a = True", "p:1:5", "expected a value, found 'True': a string needs quotes"},
             Case{"a = ~/x", "p:1:5", "expected a value, found '~'"},
             Case{"a = \n1", "p:1:5", "expected a value, found the end of the line"},
             Case{"a = \"x", "p:1:5", "this string is not closed on its line"},
             Case{"a = 'x\n'", "p:1:5", "this string is not closed on its line"},
             Case{"a = \"\"\"x\"\"", "p:1:5", "this multi-line string is not closed"},
             Case{"a = '''x''", "p:1:5", "this multi-line string is not closed"},
             Case{"a = \"\"\"x\"\"\"\"\"\"", "p:1:14", "expected the end of the line, found '\"'"},
             Case{"a = \"\\x41\"", "p:1:6", "unknown escape, a backslash before 'x'"},
             Case{"a = \"\\u12G4\"", "p:1:10", "expected a hexadecimal digit, found 'G'"},
             Case{"a = \"\\uD800\"", "p:1:6", "this escape names no character"},
             Case{"a = \"\\U00110000\"", "p:1:6", "this escape names no character"},
             Case{"a = \"\"\"x\\ y\"\"\"", "p:1:9", "unknown escape, a backslash before ' '"},
             Case{"a = [1", "p:1:7", "expected ']', found the end of the file"},
             Case{"a = [1 2]", "p:1:8", "expected ',' or ']', found '2'"},
             Case{"a = [,]", "p:1:6", "expected a value, found ','"},
             Case{"a = {b = 1,}", "p:1:12", "expected a key, found '}'"},
             Case{"a = {b = 1\n}", "p:1:11", "expected ',' or '}', found the end of the line"},
             Case{"a = {b}", "p:1:7", "expected '=', found '}'"},
         }) {
      CheckRefused(c);
    }
  }

  TEST_CASE("numbers and dates have TOML's form or are refused") {
    for (const char* value :
         {"01",
          "+",
          "-",
          "1_",
          "_1",
          "1__0",
          "0x",
          "0xG",
          "0b2",
          "0o8",
          "+0x1",
          "1.",
          ".1",
          "1.e1",
          "1e",
          "1e+",
          "1_.0",
          "0X1",
          "infinity",
          "+true",
          "1979-5-27",
          "1979-05-27T07:32",
          "1979-05-27T07:32:00+1",
          "7:32:00",
          "07:32",
          "07:32:00.",
          "1-2",
          "1:2",
          "--1",
          "1979-05-27Z",
          "1111111111111111111111111111111111111111111111111111111111111111111"}) {
      const std::string text = absl::StrCat("a = ", value);
      CAPTURE(text);
      CHECK_ERROR(GuardToml(text, "p"), kInvalidArgument, "expected a value");
    }
  }

  TEST_CASE("bytes that are not UTF-8 and control characters are refused, in comments too") {
    using namespace std::string_literals;
    struct ByteCase {
      std::string text;
      const char* place;
    };
    for (const ByteCase& c : {
             ByteCase{"# \xff"s, "p:1:3"},
             ByteCase{"a = '\xc0\xaf'"s, "p:1:6"},
             ByteCase{"a = '\xed\xa0\x80'"s, "p:1:6"},
             ByteCase{"a = '\xf4\x90\x80\x80'"s, "p:1:6"},
             ByteCase{"a = '\xe0\x80\x80'"s, "p:1:6"},
             ByteCase{"a = '\xf0\x80\x80\x80'"s, "p:1:6"},
             ByteCase{"a = '\xe2\x82"s, "p:1:6"},
             ByteCase{"a = '\x80'"s, "p:1:6"},
         }) {
      CAPTURE(c.place);
      CHECK_DIAGNOSTIC(GuardToml(c.text, "p"), kInvalidArgument, "this is not valid UTF-8", c.place,
                       "");
    }
    CHECK_ERROR(GuardToml("a = 1\0"s, "p"), kInvalidArgument, "control character '\\x00'");
    CHECK_ERROR(GuardToml("# \x1b[31m", "p"), kInvalidArgument, "control character '\\x1b'");
    CHECK_ERROR(GuardToml("a = '\x7f'", "p"), kInvalidArgument, "control character '\\x7f'");
    CHECK_ERROR(GuardToml("a = 1\rb = 2", "p"), kInvalidArgument, "carriage return");
    CHECK_ERROR(GuardToml("a = \"x\ty\x0b\"", "p"), kInvalidArgument, "control character");
  }

  TEST_CASE("columns count bytes") {
    CHECK_DIAGNOSTIC(GuardToml("a = 'é' x", "p"), kInvalidArgument,
                     "expected the end of the line, found 'x'", "p:1:10", "");
  }

  TEST_CASE("nesting is limited in arrays, inline tables, dotted keys and headers") {
    const int max = kMaxPolicyNesting;
    CHECK_OK(GuardToml(absl::StrCat("a = ", Repeat("[", max), Repeat("]", max)), "p"));
    CHECK_ERROR(GuardToml(absl::StrCat("a = ", Repeat("[", max + 1)), "p"), kInvalidArgument,
                "nested deeper than 64 levels");
    CHECK_OK(GuardToml(absl::StrCat("a = ", Repeat("{a=", max), "1", Repeat("}", max)), "p"));
    CHECK_ERROR(GuardToml(absl::StrCat("a = ", Repeat("{a=", max + 1)), "p"), kInvalidArgument,
                "nested deeper");
    CHECK_ERROR(GuardToml(absl::StrCat("a = ", Repeat("[{a=", max)), "p"), kInvalidArgument,
                "nested deeper");
    CHECK_OK(GuardToml(absl::StrCat(Repeat("a.", max - 1), "a = 1"), "p"));
    CHECK_ERROR(GuardToml(absl::StrCat(Repeat("a.", max), "a = 1"), "p"), kInvalidArgument,
                "nested deeper");
    CHECK_ERROR(GuardToml(absl::StrCat("[", Repeat("a.", max), "a]"), "p"), kInvalidArgument,
                "nested deeper");
  }

  TEST_CASE("size and number of keys are limited") {
    CHECK_OK(GuardToml(std::string(kMaxPolicyBytes, '#'), "p"));
    CHECK_DIAGNOSTIC(GuardToml(std::string(kMaxPolicyBytes + 1, '#'), "p"), kInvalidArgument,
                     "a policy has at most 1048576 bytes, this one has 1048577", "p", "");
    CHECK_OK(GuardToml(Repeat("a=1\n", kMaxPolicyKeys), "p"));
    CHECK_DIAGNOSTIC(GuardToml(Repeat("a=1\n", kMaxPolicyKeys + 1), "p"), kInvalidArgument,
                     "more than 10000 keys", "p:10001:1", "");
  }
}

}  // namespace
}  // namespace agent_exec
