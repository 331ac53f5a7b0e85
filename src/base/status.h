#pragma once

// Status as the currency of everything before the point of no return.
//
// A Status of ours carries a Diagnostic (base/diagnostic.h): the message, the place of the rule
// that caused it and a hint. Its code says which exit class it belongs to:
//   InvalidArgument     the policy or the command line is wrong
//   FailedPrecondition  this host cannot do it, or a gap refuses
//   NotFound            a path or a command that is named does not exist
//   PermissionDenied    the caller may not
//   ResourceExhausted   a limit of ours (size, depth, number)
//   Internal            a bug of ours

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define AE_CONCAT_INNER(a, b) a##b
#define AE_CONCAT(a, b) AE_CONCAT_INNER(a, b)

// Returns from the enclosing function with the status, unless it is ok.
#define AE_RETURN_IF_ERROR(expr)                                            \
  do {                                                                      \
    if (absl::Status ae_status = (expr); !ae_status.ok()) return ae_status; \
  } while (false)

// Assigns the value of a StatusOr, or returns its status from the enclosing function.
#define AE_ASSIGN_OR_RETURN(lhs, expr) \
  AE_ASSIGN_OR_RETURN_IMPL(AE_CONCAT(ae_or_, __LINE__), lhs, expr)
#define AE_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return std::move(tmp).status(); \
  lhs = *std::move(tmp)
