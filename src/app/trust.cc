#include "app/trust.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/diagnostic.h"
#include "base/quote.h"

namespace agent_exec {
namespace {

constexpr size_t kMaxDatabaseBytes = 16 << 20;

// Lines of a ':'-separated database; "" when it cannot be read.
std::string ReadDatabase(absl::string_view path, FileView& files) {
  std::string bytes;
  NodeInfo info;
  return files.Read(path, kMaxDatabaseBytes, &bytes, &info) == 0 ? bytes : "";
}

}  // namespace

bool IsOnlyMember(uint32_t uid, uint32_t gid, FileView& files) {
  // passwd(5): name:password:uid:gid:…
  std::vector<std::string> names_of_user;
  const std::string passwd = ReadDatabase("/etc/passwd", files);
  for (absl::string_view line : absl::StrSplit(passwd, '\n')) {
    std::vector<absl::string_view> fields = absl::StrSplit(line, ':');
    uint32_t line_uid = 0;
    uint32_t line_gid = 0;
    if (fields.size() < 4 || !absl::SimpleAtoi(fields[2], &line_uid)) continue;
    if (line_uid == uid) {
      names_of_user.emplace_back(fields[0]);
    } else if (absl::SimpleAtoi(fields[3], &line_gid) && line_gid == gid) {
      return false;
    }
  }
  if (names_of_user.empty()) return false;
  // group(5): name:password:gid:member,member
  bool found = false;
  const std::string group = ReadDatabase("/etc/group", files);
  for (absl::string_view line : absl::StrSplit(group, '\n')) {
    std::vector<absl::string_view> fields = absl::StrSplit(line, ':');
    uint32_t line_gid = 0;
    if (fields.size() < 4 || !absl::SimpleAtoi(fields[2], &line_gid) || line_gid != gid) continue;
    found = true;
    for (absl::string_view member : absl::StrSplit(fields[3], ',', absl::SkipWhitespace())) {
      if (std::find(names_of_user.begin(), names_of_user.end(), member) == names_of_user.end()) {
        return false;
      }
    }
  }
  return found;
}

absl::Status CheckTrust(const NodeInfo& info, absl::string_view path, uint32_t caller,
                        bool any_owner, FileView& files) {
  const std::string subject = absl::StrCat("policy file ", QuoteForMessage(path));
  const auto refuse = [](absl::string_view message, absl::string_view hint) {
    return ErrorAt(absl::StatusCode::kPermissionDenied, message, "", hint);
  };
  // What a person can paste into a shell; a name with controls in it they would not.
  const std::string word = EscapeControls(ShellQuote(path));
  if (!any_owner && info.uid != caller && info.uid != 0) {
    return refuse(
        absl::StrCat(subject, " belongs to user ", info.uid, ", neither to you nor to root"),
        absl::StrCat("read it, then take it over: chown ", caller, " ", word));
  }
  if ((info.mode & 0002) != 0) {
    return refuse(absl::StrCat(subject, " can be written by everybody"),
                  absl::StrCat("chmod go-w ", word));
  }
  if ((info.mode & 0020) != 0 && !IsOnlyMember(info.uid, info.gid, files)) {
    return refuse(absl::StrCat(subject, " can be written by group ", info.gid,
                               ", which is not its owner's alone"),
                  absl::StrCat("chmod g-w ", word));
  }
  return absl::OkStatus();
}

}  // namespace agent_exec
