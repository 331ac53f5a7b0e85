#include "base/diagnostic.h"

#include <cerrno>
#include <charconv>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/json.h"
#include "base/quote.h"

namespace agent_exec {
namespace {

// A packed status reads well where nobody unpacks it, in a debugger or a failing test:
//   MESSAGE
//     at PLACE
//     hint: HINT
// Fields hold no newline, so these two separators are found without doubt.
constexpr absl::string_view kPlaceMark = "\n  at ";
constexpr absl::string_view kHintMark = "\n  hint: ";

struct ErrnoRow {
  int number;
  const char* text;
};

// The texts of glibc, which people search for; musl has others. The first part is what every system
// has.
constexpr ErrnoRow kErrnoTexts[] = {
    {0, "Success"},
    {EPERM, "Operation not permitted"},
    {ENOENT, "No such file or directory"},
    {ESRCH, "No such process"},
    {EINTR, "Interrupted system call"},
    {EIO, "Input/output error"},
    {ENXIO, "No such device or address"},
    {E2BIG, "Argument list too long"},
    {ENOEXEC, "Exec format error"},
    {EBADF, "Bad file descriptor"},
    {ECHILD, "No child processes"},
    {EAGAIN, "Resource temporarily unavailable"},
    {ENOMEM, "Cannot allocate memory"},
    {EACCES, "Permission denied"},
    {EFAULT, "Bad address"},
    {ENOTBLK, "Block device required"},
    {EBUSY, "Device or resource busy"},
    {EEXIST, "File exists"},
    {EXDEV, "Invalid cross-device link"},
    {ENODEV, "No such device"},
    {ENOTDIR, "Not a directory"},
    {EISDIR, "Is a directory"},
    {EINVAL, "Invalid argument"},
    {ENFILE, "Too many open files in system"},
    {EMFILE, "Too many open files"},
    {ENOTTY, "Inappropriate ioctl for device"},
    {ETXTBSY, "Text file busy"},
    {EFBIG, "File too large"},
    {ENOSPC, "No space left on device"},
    {ESPIPE, "Illegal seek"},
    {EROFS, "Read-only file system"},
    {EMLINK, "Too many links"},
    {EPIPE, "Broken pipe"},
    {EDOM, "Numerical argument out of domain"},
    {ERANGE, "Numerical result out of range"},
    {EDEADLK, "Resource deadlock avoided"},
    {ENAMETOOLONG, "File name too long"},
    {ENOLCK, "No locks available"},
    {ENOSYS, "Function not implemented"},
    {ENOTEMPTY, "Directory not empty"},
    {ELOOP, "Too many levels of symbolic links"},
    {ENOMSG, "No message of desired type"},
    {EIDRM, "Identifier removed"},
    {ENOSTR, "Device not a stream"},
    {ENODATA, "No data available"},
    {ETIME, "Timer expired"},
    {ENOSR, "Out of streams resources"},
    {EREMOTE, "Object is remote"},
    {ENOLINK, "Link has been severed"},
    {EPROTO, "Protocol error"},
    {EMULTIHOP, "Multihop attempted"},
    {EBADMSG, "Bad message"},
    {EOVERFLOW, "Value too large for defined data type"},
    {EILSEQ, "Invalid or incomplete multibyte or wide character"},
    {EUSERS, "Too many users"},
    {ENOTSOCK, "Socket operation on non-socket"},
    {EDESTADDRREQ, "Destination address required"},
    {EMSGSIZE, "Message too long"},
    {EPROTOTYPE, "Protocol wrong type for socket"},
    {ENOPROTOOPT, "Protocol not available"},
    {EPROTONOSUPPORT, "Protocol not supported"},
    {ESOCKTNOSUPPORT, "Socket type not supported"},
    {ENOTSUP, "Operation not supported"},
    {EPFNOSUPPORT, "Protocol family not supported"},
    {EAFNOSUPPORT, "Address family not supported by protocol"},
    {EADDRINUSE, "Address already in use"},
    {EADDRNOTAVAIL, "Cannot assign requested address"},
    {ENETDOWN, "Network is down"},
    {ENETUNREACH, "Network is unreachable"},
    {ENETRESET, "Network dropped connection on reset"},
    {ECONNABORTED, "Software caused connection abort"},
    {ECONNRESET, "Connection reset by peer"},
    {ENOBUFS, "No buffer space available"},
    {EISCONN, "Transport endpoint is already connected"},
    {ENOTCONN, "Transport endpoint is not connected"},
    {ESHUTDOWN, "Cannot send after transport endpoint shutdown"},
    {ETOOMANYREFS, "Too many references: cannot splice"},
    {ETIMEDOUT, "Connection timed out"},
    {ECONNREFUSED, "Connection refused"},
    {EHOSTDOWN, "Host is down"},
    {EHOSTUNREACH, "No route to host"},
    {EALREADY, "Operation already in progress"},
    {EINPROGRESS, "Operation now in progress"},
    {ESTALE, "Stale file handle"},
    {EDQUOT, "Disk quota exceeded"},
    {ECANCELED, "Operation canceled"},
    {EOWNERDEAD, "Owner died"},
    {ENOTRECOVERABLE, "State not recoverable"},
#if EOPNOTSUPP != ENOTSUP
    {EOPNOTSUPP, "Operation not supported"},
#endif
#ifdef __linux__
    {ECHRNG, "Channel number out of range"},
    {EL2NSYNC, "Level 2 not synchronized"},
    {EL3HLT, "Level 3 halted"},
    {EL3RST, "Level 3 reset"},
    {ELNRNG, "Link number out of range"},
    {EUNATCH, "Protocol driver not attached"},
    {ENOCSI, "No CSI structure available"},
    {EL2HLT, "Level 2 halted"},
    {EBADE, "Invalid exchange"},
    {EBADR, "Invalid request descriptor"},
    {EXFULL, "Exchange full"},
    {ENOANO, "No anode"},
    {EBADRQC, "Invalid request code"},
    {EBADSLT, "Invalid slot"},
    {EBFONT, "Bad font file format"},
    {ENONET, "Machine is not on the network"},
    {ENOPKG, "Package not installed"},
    {EADV, "Advertise error"},
    {ESRMNT, "Srmount error"},
    {ECOMM, "Communication error on send"},
    {EDOTDOT, "RFS specific error"},
    {ENOTUNIQ, "Name not unique on network"},
    {EBADFD, "File descriptor in bad state"},
    {EREMCHG, "Remote address changed"},
    {ELIBACC, "Can not access a needed shared library"},
    {ELIBBAD, "Accessing a corrupted shared library"},
    {ELIBSCN, ".lib section in a.out corrupted"},
    {ELIBMAX, "Attempting to link in too many shared libraries"},
    {ELIBEXEC, "Cannot exec a shared library directly"},
    {ERESTART, "Interrupted system call should be restarted"},
    {ESTRPIPE, "Streams pipe error"},
    {EUCLEAN, "Structure needs cleaning"},
    {ENOTNAM, "Not a XENIX named type file"},
    {ENAVAIL, "No XENIX semaphores available"},
    {EISNAM, "Is a named type file"},
    {EREMOTEIO, "Remote I/O error"},
    {ENOMEDIUM, "No medium found"},
    {EMEDIUMTYPE, "Wrong medium type"},
    {ENOKEY, "Required key not available"},
    {EKEYEXPIRED, "Key has expired"},
    {EKEYREVOKED, "Key has been revoked"},
    {EKEYREJECTED, "Key was rejected by service"},
    {ERFKILL, "Operation not possible due to RF-kill"},
    {EHWPOISON, "Memory page has hardware error"},
#endif
};

bool ConsumePrefix(absl::string_view* text, absl::string_view prefix) {
  if (text->substr(0, prefix.size()) != prefix) return false;
  text->remove_prefix(prefix.size());
  return true;
}

}  // namespace

absl::Status ToStatus(absl::StatusCode code, const Diagnostic& diagnostic) {
  // A newline that slipped into a field would forge the next one, so the contract is not trusted
  // here.
  std::string packed = EscapeControls(diagnostic.message);
  if (!diagnostic.place.empty()) {
    absl::StrAppend(&packed, kPlaceMark, EscapeControls(diagnostic.place));
  }
  if (!diagnostic.hint.empty()) {
    absl::StrAppend(&packed, kHintMark, EscapeControls(diagnostic.hint));
  }
  return absl::Status(code, packed);
}

Diagnostic ToDiagnostic(const absl::Status& status) {
  const absl::string_view whole = status.message();
  const size_t end = whole.find('\n');
  Diagnostic diagnostic;
  diagnostic.message = std::string(whole.substr(0, end));
  absl::string_view rest = end == absl::string_view::npos ? "" : whole.substr(end);
  if (ConsumePrefix(&rest, kPlaceMark)) {
    const absl::string_view place = rest.substr(0, rest.find('\n'));
    diagnostic.place = std::string(place);
    rest.remove_prefix(place.size());
  }
  if (ConsumePrefix(&rest, kHintMark)) {
    const absl::string_view hint = rest.substr(0, rest.find('\n'));
    diagnostic.hint = std::string(hint);
    rest.remove_prefix(hint.size());
  }
  // Something is left: not packed by us, only a message of several lines.
  if (!rest.empty()) return {std::string(whole), "", ""};
  return diagnostic;
}

absl::Status ErrorAt(absl::StatusCode code, absl::string_view message, absl::string_view place,
                     absl::string_view hint) {
  return ToStatus(code, {std::string(message), std::string(place), std::string(hint)});
}

absl::Status ErrnoStatus(int error_number, absl::string_view act, absl::string_view subject,
                         absl::string_view place) {
  absl::StatusCode code = absl::StatusCode::kFailedPrecondition;
  if (error_number == ENOENT) code = absl::StatusCode::kNotFound;
  if (error_number == EACCES || error_number == EPERM) code = absl::StatusCode::kPermissionDenied;
  return ToStatus(code, {absl::StrCat("cannot ", act, " ", QuoteForMessage(subject), ": ",
                                      ErrnoText(error_number)),
                         std::string(place), ""});
}

const char* ErrnoText(int error_number) {
  for (const ErrnoRow& row : kErrnoTexts) {
    if (row.number == error_number) return row.text;
  }
  // One buffer per thread, overwritten by the next unknown number.
  thread_local char unknown[24] = "error ";
  char* const digits = unknown + 6;
  *std::to_chars(digits, unknown + sizeof(unknown) - 1, error_number).ptr = '\0';
  return unknown;
}

std::string FormatText(const Diagnostic& diagnostic) {
  std::string text = absl::StrCat("agent-exec: ", EscapeControls(diagnostic.message));
  if (!diagnostic.place.empty()) {
    absl::StrAppend(&text, " (", EscapeControls(diagnostic.place), ")");
  }
  text += '\n';
  if (!diagnostic.hint.empty()) {
    absl::StrAppend(&text, "  hint: ", EscapeControls(diagnostic.hint), "\n");
  }
  return text;
}

std::string FormatJson(const Diagnostic& diagnostic, int exit_status) {
  JsonWriter json;
  json.BeginObject();
  if (!diagnostic.message.empty()) json.Key("error").String(diagnostic.message);
  if (!diagnostic.place.empty()) json.Key("place").String(diagnostic.place);
  if (!diagnostic.hint.empty()) json.Key("hint").String(diagnostic.hint);
  json.Key("status").Int(exit_status).EndObject();
  return json.Take() + '\n';
}

}  // namespace agent_exec
