#include "plan/git_config.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace agent_exec {
namespace {

class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text) {
    if (absl::StartsWith(text_, "\xef\xbb\xbf")) at_ = 3;
  }

  GitConfig Run() {
    while (at_ < text_.size()) {
      if (!ReadItem()) {
        out_.well_formed = false;
        break;
      }
    }
    return std::move(out_);
  }

 private:
  // The next byte with "\r\n" read as "\n", -1 at the end.
  int Next() {
    if (at_ >= text_.size()) return -1;
    char c = text_[at_++];
    if (c == '\r' && at_ < text_.size() && text_[at_] == '\n') {
      ++at_;
      return '\n';
    }
    return static_cast<unsigned char>(c);
  }

  int Peek() const { return at_ < text_.size() ? static_cast<unsigned char>(text_[at_]) : -1; }

  void SkipLine() {
    int c;
    do {
      c = Next();
    } while (c != '\n' && c != -1);
  }

  bool ReadItem() {
    int c = Next();
    if (c == '#' || c == ';') {
      SkipLine();
      return true;
    }
    if (c == '[') return ReadSection();
    if (c == -1 || absl::ascii_isspace(static_cast<unsigned char>(c))) return true;
    if (!absl::ascii_isalpha(static_cast<unsigned char>(c)) || section_.empty()) return false;
    return ReadVariable(static_cast<char>(c));
  }

  bool ReadSection() {
    section_.clear();
    subsection_.clear();
    std::string name;
    while (true) {
      int c = Next();
      if (c == ']') break;
      if (c == ' ' || c == '\t') {
        if (!ReadQuotedSubsection()) return false;
        break;
      }
      bool is_name =
          c != -1 && (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.');
      if (!is_name) return false;
      name.push_back(absl::ascii_tolower(static_cast<unsigned char>(c)));
    }
    // The old form [section.subsection] folds case.
    size_t dot = name.find('.');
    if (dot != std::string::npos && subsection_.empty()) {
      subsection_ = name.substr(dot + 1);
      name.resize(dot);
    }
    section_ = std::move(name);
    return !section_.empty();
  }

  // The rest of [section "subsection"].
  bool ReadQuotedSubsection() {
    int c;
    do {
      c = Next();
    } while (c == ' ' || c == '\t');
    if (c != '"') return false;
    while (true) {
      c = Next();
      if (c == '"') break;
      if (c == '\\') c = Next();
      if (c == -1 || c == '\n') return false;
      subsection_.push_back(static_cast<char>(c));
    }
    return Next() == ']';
  }

  bool ReadVariable(char first) {
    GitConfigEntry entry;
    entry.section = section_;
    entry.subsection = subsection_;
    entry.key.push_back(absl::ascii_tolower(static_cast<unsigned char>(first)));
    while (Peek() != -1 &&
           (absl::ascii_isalnum(static_cast<unsigned char>(Peek())) || Peek() == '-')) {
      entry.key.push_back(absl::ascii_tolower(static_cast<unsigned char>(Next())));
    }
    int c;
    do {
      c = Next();
    } while (c == ' ' || c == '\t');
    if (c == '=') {
      entry.has_value = true;
      if (!ReadValue(&entry.value)) return false;
    } else if (c != '\n' && c != -1) {
      return false;
    }
    out_.entries.push_back(std::move(entry));
    return true;
  }

  // Up to the end of the logical line: quotes may start and end within it, a comment ends it,
  // blanks around it are dropped.
  bool ReadValue(std::string* value) {
    bool is_quoted = false;
    size_t keep = 0;  // bytes that trailing blanks do not reach
    while (true) {
      int c = Next();
      if (c == '\n' || c == -1) {
        value->resize(keep);
        return !is_quoted;
      }
      if (!is_quoted && (c == '#' || c == ';')) {
        SkipLine();
        value->resize(keep);
        return true;
      }
      if (!is_quoted && absl::ascii_isspace(static_cast<unsigned char>(c))) {
        if (!value->empty()) value->push_back(static_cast<char>(c));
        continue;
      }
      if (c == '"') {
        is_quoted = !is_quoted;
        // Blanks before a quote that follows are inside the value.
        keep = value->size();
        continue;
      }
      if (c == '\\') {
        c = Next();
        if (c == '\n') continue;
        static constexpr absl::string_view kFrom = "tbn\\\"";
        static constexpr absl::string_view kTo = "\t\b\n\\\"";
        size_t which = c == -1 ? absl::string_view::npos : kFrom.find(static_cast<char>(c));
        if (which == absl::string_view::npos) return false;
        c = kTo[which];
      }
      value->push_back(static_cast<char>(c));
      keep = value->size();
    }
  }

  absl::string_view text_;
  size_t at_ = 0;
  std::string section_;
  std::string subsection_;
  GitConfig out_;
};

struct Harmless {
  absl::string_view section;
  absl::string_view key;  // "*": every key
};

// What is missing is missing on purpose: core.sshCommand, core.hooksPath, core.fsmonitor,
// core.editor and core.pager run programs; url.*, http.*, remote.* and credential.* lead to servers
// and tokens; include names other files; gpg and commit.gpgSign need keys that are not there;
// commit.template and the like name files that are not.
constexpr Harmless kHarmless[] = {
    {"advice", "*"},
    {"author", "email"},
    {"author", "name"},
    {"branch", "autosetupmerge"},
    {"branch", "autosetuprebase"},
    {"branch", "sort"},
    {"color", "*"},
    {"column", "*"},
    {"commit", "cleanup"},
    {"commit", "status"},
    {"commit", "verbose"},
    {"committer", "email"},
    {"committer", "name"},
    {"core", "abbrev"},
    {"core", "attributesfile"},
    {"core", "autocrlf"},
    {"core", "commentchar"},
    {"core", "eol"},
    {"core", "excludesfile"},
    {"core", "precomposeunicode"},
    {"core", "quotepath"},
    {"core", "safecrlf"},
    {"core", "whitespace"},
    {"diff", "algorithm"},
    {"diff", "colormoved"},
    {"diff", "context"},
    {"diff", "mnemonicprefix"},
    {"diff", "noprefix"},
    {"diff", "renames"},
    {"diff", "submodule"},
    {"fetch", "prune"},
    {"format", "pretty"},
    {"grep", "linenumber"},
    {"grep", "patterntype"},
    {"help", "autocorrect"},
    {"init", "defaultbranch"},
    {"log", "abbrevcommit"},
    {"log", "date"},
    {"log", "decorate"},
    {"log", "follow"},
    {"log", "showroot"},
    {"merge", "conflictstyle"},
    {"merge", "ff"},
    {"merge", "renames"},
    {"pull", "ff"},
    {"pull", "rebase"},
    {"push", "autosetupremote"},
    {"push", "default"},
    {"push", "followtags"},
    {"rebase", "autosquash"},
    {"rebase", "autostash"},
    {"rebase", "updaterefs"},
    {"rerere", "enabled"},
    {"safe", "directory"},
    {"status", "branch"},
    {"status", "short"},
    {"status", "showuntrackedfiles"},
    {"status", "submodulesummary"},
    {"submodule", "recurse"},
    {"tag", "sort"},
    {"user", "email"},
    {"user", "name"},
    {"user", "useconfigonly"},
};

bool IsHarmless(const GitConfigEntry& entry) {
  // Newlines and their like have no business in these, and quoting has no form for most of them.
  for (char c : entry.value) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c)) && c != '\t') return false;
  }
  for (char c : entry.subsection) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) return false;
  }
  if (entry.section == "alias" && entry.subsection.empty())
    return !absl::StartsWith(entry.value, "!");
  // Large file storage: its filters run inside, and a checkout without them shows every such file
  // as changed.
  if (entry.section == "filter" && entry.subsection == "lfs") {
    return entry.key == "required" ||
           ((entry.key == "clean" || entry.key == "smudge" || entry.key == "process") &&
            absl::StartsWith(entry.value, "git-lfs ") &&
            entry.value.find_first_of(";&|$`<>()") == std::string::npos);
  }
  // [color "status"] and [color "diff"] hold colours; no other section of the table has a
  // subsection.
  if (!entry.subsection.empty() && entry.section != "color") return false;
  return std::any_of(std::begin(kHarmless), std::end(kHarmless), [&](const Harmless& row) {
    return row.section == entry.section && (row.key == "*" || row.key == entry.key);
  });
}

std::string Quote(absl::string_view value) {
  std::string out = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') out.push_back('\\');
    if (c == '\t') {
      out += "\\t";
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
  return out;
}

}  // namespace

GitConfig ParseGitConfig(absl::string_view text) { return Parser(text).Run(); }

std::string HarmlessGitConfig(const GitConfig& config) {
  std::string out;
  std::string header;
  for (const GitConfigEntry& entry : config.entries) {
    if (!IsHarmless(entry)) continue;
    std::string wanted = entry.subsection.empty() ? absl::StrCat("[", entry.section, "]\n")
                                                  : absl::StrCat("[", entry.section, " ",
                                                                 Quote(entry.subsection), "]\n");
    if (wanted != header) {
      out += wanted;
      header = std::move(wanted);
    }
    absl::StrAppend(&out, "\t", entry.key);
    if (entry.has_value) absl::StrAppend(&out, " = ", Quote(entry.value));
    out.push_back('\n');
  }
  return out;
}

}  // namespace agent_exec
