#include "base/diagnostic.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "support/json.h"
#include "support/random.h"
#include "support/status.h"

namespace agent_exec {
namespace {

using testing::HostileText;
using testing::IsUtf8;
using testing::Json;
using testing::ParseJson;
using testing::Random;

absl::Status Passed(absl::Status status) {
  AE_RETURN_IF_ERROR(status);
  return absl::InternalError("passed");
}

absl::StatusOr<int> Doubled(absl::StatusOr<int> value) {
  AE_ASSIGN_OR_RETURN(const int n, value);
  return 2 * n;
}

TEST_SUITE("base/diagnostic") {
  TEST_CASE("a diagnostic comes out of a status as it went in") {
    for (const Diagnostic& d :
         std::vector<Diagnostic>{{"cannot bind '/x'", "policy.toml:1:2", "did you mean 'y'?"},
                                 {"message", "place", ""},
                                 {"message", "", "hint"},
                                 {"message", "", ""},
                                 {"", "place", "hint"},
                                 {"at x", "hint: x", "  at y"}}) {
      const absl::Status status = ToStatus(absl::StatusCode::kNotFound, d);
      CHECK_DIAGNOSTIC(status, kNotFound, d.message, d.place, d.hint);
    }
  }

  TEST_CASE("a status from elsewhere unpacks to its message alone, however many lines it has") {
    for (const char* text : {"one", "", "one\ntwo", "one\n  at a\ntwo", "\n", "one\n  hint: a\n",
                             "one\n  hint: a\n  at b"}) {
      CAPTURE(text);
      CHECK_DIAGNOSTIC(absl::InternalError(text), kInternal, text, "", "");
    }
  }

  TEST_CASE("a newline in one field cannot forge another") {
    const absl::Status status = ToStatus(absl::StatusCode::kInvalidArgument,
                                         {"a\n  at forged:1", "b\n  hint: forged", "c\nd"});
    CHECK_DIAGNOSTIC(status, kInvalidArgument, "a\\n  at forged:1", "b\\n  hint: forged", "c\\nd");
  }

  TEST_CASE("an error of ours has the act, the subject in quotes, the cause and the place") {
    CHECK_DIAGNOSTIC(ErrnoStatus(ENOENT, "bind", "/srv/x", "policy.toml:12:3"), kNotFound,
                     "cannot bind '/srv/x': No such file or directory", "policy.toml:12:3", "");
    CHECK_DIAGNOSTIC(ErrnoStatus(EIO, "read", "a\nb"), kFailedPrecondition,
                     "cannot read 'a\\nb': Input/output error", "", "");
    CHECK_DIAGNOSTIC(ErrorAt(absl::StatusCode::kInvalidArgument, "unknown key 'x'", "p:1:1", "h"),
                     kInvalidArgument, "unknown key 'x'", "p:1:1", "h");
  }

  TEST_CASE("the code follows from errno") {
    CHECK(absl::IsNotFound(ErrnoStatus(ENOENT, "a", "b")));
    CHECK(absl::IsPermissionDenied(ErrnoStatus(EACCES, "a", "b")));
    CHECK(absl::IsPermissionDenied(ErrnoStatus(EPERM, "a", "b")));
    CHECK(absl::IsFailedPrecondition(ErrnoStatus(ENOTDIR, "a", "b")));
    CHECK(absl::IsFailedPrecondition(ErrnoStatus(EBUSY, "a", "b")));
  }

  TEST_CASE("errno texts are those of glibc, and an unknown number is shown as one") {
    CHECK_EQ(std::string(ErrnoText(ENOENT)), "No such file or directory");
    CHECK_EQ(std::string(ErrnoText(ELOOP)), "Too many levels of symbolic links");
    CHECK_EQ(std::string(ErrnoText(EOPNOTSUPP)), "Operation not supported");
    CHECK_EQ(std::string(ErrnoText(524)), "error 524");
    CHECK_EQ(std::string(ErrnoText(-1)), "error -1");
    CHECK_EQ(std::string(ErrnoText(-2147483647 - 1)), "error -2147483648");
    CHECK_EQ(std::string(ErrnoText(99999)), "error 99999");
#ifdef __GLIBC__
    for (int number = 0; number < 256; ++number) {
      const std::string glibc = std::strerror(number);
      const bool unknown = glibc.rfind("Unknown error", 0) == 0;
      CHECK_EQ(std::string(ErrnoText(number)), unknown ? "error " + std::to_string(number) : glibc);
    }
#endif
  }

  TEST_CASE("text output is one line, and one more for a hint") {
    CHECK_EQ(FormatText({"cannot bind '/x': Is a directory", "policy.toml:12:3", ""}),
             "agent-exec: cannot bind '/x': Is a directory (policy.toml:12:3)\n");
    CHECK_EQ(FormatText({"m", "", "try this"}), "agent-exec: m\n  hint: try this\n");
    CHECK_EQ(FormatText({"m", "p", "h"}), "agent-exec: m (p)\n  hint: h\n");
    CHECK_EQ(FormatText({"m", "", ""}), "agent-exec: m\n");
  }

  TEST_CASE("JSON output is one line without the fields that are empty") {
    CHECK_EQ(FormatJson({"m", "p", "h"}, 125),
             "{\"error\":\"m\",\"place\":\"p\",\"hint\":\"h\",\"status\":125}\n");
    CHECK_EQ(FormatJson({"it's \"x\"", "", ""}, 127),
             "{\"error\":\"it's \\\"x\\\"\",\"status\":127}\n");
  }

  TEST_CASE("no control byte of a field gets out, in either form") {
    Random random(10);
    for (int i = 0; i < 2000; ++i) {
      const Diagnostic d = {HostileText(&random, 6) + "m", HostileText(&random, 3),
                            HostileText(&random, 3)};
      const std::string text = FormatText(d);
      const std::string json = FormatJson(d, 125);
      CHECK(IsUtf8(text));
      const size_t lines = d.hint.empty() ? 1 : 2;
      size_t controls = 0;
      for (const char c : text) controls += static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
      CHECK_EQ(controls, lines);
      CHECK_EQ(json.find('\n'), json.size() - 1);
      const std::optional<Json> parsed = ParseJson(json);
      REQUIRE(parsed.has_value());
      CHECK_EQ(parsed->Find("place") == nullptr, d.place.empty());
      CHECK_EQ(parsed->Find("status")->text, "125");
    }
  }

  TEST_CASE("the status macros pass errors on and values through") {
    CHECK_ERROR(Passed(absl::NotFoundError("x")), kNotFound, "x");
    CHECK_ERROR(Passed(absl::OkStatus()), kInternal, "passed");
    CHECK_ERROR(Doubled(absl::NotFoundError("x")), kNotFound, "x");
    REQUIRE_OK_AND_ASSIGN(const int n, Doubled(21));
    CHECK_EQ(n, 42);
  }
}

}  // namespace
}  // namespace agent_exec
