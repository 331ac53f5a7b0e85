#include "policy/origin.h"

#include "support/doctest.h"

namespace agent_exec {
namespace {

TEST_SUITE("policy/origin") {
  TEST_CASE("a place has the line and column of its text, where it has one") {
    struct Case {
      Origin origin;
      const char* text;
    };
    const Case kCases[] = {
        {{Origin::Kind::kFile, "policy.toml", 12, 3}, "policy.toml:12:3"},
        {{Origin::Kind::kFile, "policy.toml", 12, 0}, "policy.toml:12"},
        {{Origin::Kind::kFile, "policy.toml", 0, 0}, "policy.toml"},
        {{Origin::Kind::kFlag, "--deny-read"}, "--deny-read"},
        {{Origin::Kind::kBuiltin, "built-in install", 2, 15}, "built-in install:2:15"},
        {{Origin::Kind::kImplied, "private home"}, "private home"},
    };
    for (const Case& c : kCases) CHECK_EQ(FormatOrigin(c.origin), std::string(c.text));
  }

  TEST_CASE("a file name with control characters stays on one line") {
    CHECK_EQ(FormatOrigin({Origin::Kind::kFile, "a\n\x1b[31mb", 1, 2}),
             std::string("a\\n\\x1b[31mb:1:2"));
  }
}

}  // namespace
}  // namespace agent_exec
