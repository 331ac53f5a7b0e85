#pragma once

// Checks of absl::Status and absl::StatusOr for doctest. Each shows the status when it fails.
//
//   CHECK_OK(Write(path));
//   REQUIRE_OK_AND_ASSIGN(const Glob glob, Glob::Compile("/w", "*.c"));
//   CHECK_ERROR(Glob::Compile("/w", "["), kInvalidArgument, "unclosed '['");
//   CHECK_DIAGNOSTIC(status, kNotFound, "cannot open 'x': Is a directory", "a.toml:1:2", "");
//
// CHECK_ERROR wants a part of the message, CHECK_DIAGNOSTIC all of each field.

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status.h"
#include "support/doctest.h"

namespace agent_exec::testing {

inline absl::Status StatusOf(const absl::Status& status) { return status; }
template <typename T>
absl::Status StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

// "NOT_FOUND: MESSAGE | PLACE | HINT", "OK".
inline std::string DescribeStatus(const absl::Status& status) {
  if (status.ok()) return "OK";
  const Diagnostic diagnostic = ToDiagnostic(status);
  return absl::StrCat(absl::StatusCodeToString(status.code()), ": ", diagnostic.message, " | ",
                      diagnostic.place, " | ", diagnostic.hint);
}

}  // namespace agent_exec::testing

#define AE_OK_IMPL(check, expr)                                                \
  do {                                                                         \
    const absl::Status ae_test_status = ::agent_exec::testing::StatusOf(expr); \
    check(ae_test_status.ok(), #expr, ": ",                                    \
          ::agent_exec::testing::DescribeStatus(ae_test_status));              \
  } while (false)

#define CHECK_OK(expr) AE_OK_IMPL(CHECK_MESSAGE, expr)
#define REQUIRE_OK(expr) AE_OK_IMPL(REQUIRE_MESSAGE, expr)

// Ends the test case unless the value is there.
#define REQUIRE_OK_AND_ASSIGN(lhs, expr) \
  REQUIRE_OK_AND_ASSIGN_IMPL(AE_CONCAT(ae_test_or_, __LINE__), lhs, expr)
#define REQUIRE_OK_AND_ASSIGN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                               \
  REQUIRE_OK(tmp.status());                        \
  lhs = *std::move(tmp)

// The code, and a part of the message.
#define CHECK_ERROR(expr, code_name, part)                                                       \
  do {                                                                                           \
    const absl::Status ae_test_status = ::agent_exec::testing::StatusOf(expr);                   \
    CHECK_MESSAGE((ae_test_status.code() == absl::StatusCode::code_name &&                       \
                   absl::StrContains(::agent_exec::ToDiagnostic(ae_test_status).message, part)), \
                  #expr, ": ", ::agent_exec::testing::DescribeStatus(ae_test_status));           \
  } while (false)

// The code and every field of the diagnostic.
#define CHECK_DIAGNOSTIC(expr, code_name, message_text, place_text, hint_text)       \
  do {                                                                               \
    const absl::Status ae_test_status = ::agent_exec::testing::StatusOf(expr);       \
    const ::agent_exec::Diagnostic ae_test_diagnostic =                              \
        ::agent_exec::ToDiagnostic(ae_test_status);                                  \
    CHECK_MESSAGE(ae_test_status.code() == absl::StatusCode::code_name, #expr, ": ", \
                  ::agent_exec::testing::DescribeStatus(ae_test_status));            \
    CHECK_EQ(ae_test_diagnostic.message, std::string(message_text));                 \
    CHECK_EQ(ae_test_diagnostic.place, std::string(place_text));                     \
    CHECK_EQ(ae_test_diagnostic.hint, std::string(hint_text));                       \
  } while (false)
