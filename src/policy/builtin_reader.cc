#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "policy/builtin.h"
#include "policy/setting.h"

namespace agent_exec {
namespace {

class BuiltinReader {
 public:
  explicit BuiltinReader(const BuiltinProfile& profile) : text_(profile.text) {
    layer_.kind = LayerKind::kBuiltin;
    layer_.name = absl::StrCat("built-in ", profile.name);
    layer_.assignments.reserve(192);
  }

  absl::StatusOr<Layer> Read() {
    while (pos_ < text_.size()) {
      const bool ok = Peek() == '[' ? ReadHeader() : ReadAssignment();
      if (!ok || !Take('\n')) {
        return absl::InternalError(absl::StrCat(layer_.name, ":", line_, ": not understood"));
      }
    }
    return std::move(layer_);
  }

 private:
  char Peek() const { return pos_ < text_.size() ? text_[pos_] : '\0'; }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++pos_;
    if (c == '\n') {
      ++line_;
      line_start_ = pos_;
    }
    return true;
  }
  void SkipBlanks() {
    while (Take(' ') || Take('\n')) {
    }
  }

  absl::string_view TakeName() {
    const size_t start = pos_;
    while ((Peek() >= 'a' && Peek() <= 'z') || Peek() == '-') ++pos_;
    return text_.substr(start, pos_ - start);
  }

  bool TakeString(absl::string_view* value) {
    if (!Take('"')) return false;
    const size_t end = text_.find_first_of("\"\\\n", pos_);
    if (end == absl::string_view::npos || text_[end] != '"') return false;
    *value = text_.substr(pos_, end - pos_);
    pos_ = end + 1;
    return true;
  }

  bool ReadHeader() {
    if (!Take('[')) return false;
    table_ = absl::StrCat(TakeName(), ".");
    return Take(']');
  }

  bool TakeEquals() {
    SkipBlanks();
    if (!Take('=')) return false;
    SkipBlanks();
    return true;
  }

  bool ReadAssignment() {
    const absl::string_view name = TakeName();
    setting_ = FindSettingByKey(absl::StrCat(table_, name));
    if (setting_ == nullptr || !TakeEquals()) return false;
    if (Peek() != '[') return ReadElement();
    const bool is_list = setting_->merge == Merge::kAppend;
    Take('[');
    SkipBlanks();
    while (!Take(']')) {
      if (!is_list || !ReadElement()) return false;
      Take(',');
      SkipBlanks();
    }
    return true;
  }

  // A string, a boolean or { path = "…", … }.
  bool ReadElement() {
    RawValue value;
    Origin origin{Origin::Kind::kBuiltin, layer_.name, line_,
                  static_cast<int>(pos_ - line_start_) + 1};
    if (Peek() == '"') {
      absl::string_view text;
      if (setting_->type == ValueType::kBool || !TakeString(&text)) return false;
      value.text = std::string(text);
    } else if (Take('{')) {
      if (setting_->type != ValueType::kPathRuleList || !ReadPathRule(&value)) return false;
    } else {
      const absl::string_view word = TakeName();
      if (setting_->type != ValueType::kBool || (word != "true" && word != "false")) return false;
      value.text = std::string(word);
    }
    layer_.assignments.push_back({setting_, std::move(value), std::move(origin)});
    return true;
  }

  bool ReadPathRule(RawValue* value) {
    do {
      SkipBlanks();
      const absl::string_view name = TakeName();
      absl::string_view text;
      if (!TakeEquals() || !TakeString(&text)) return false;
      if (name == "path") {
        value->text = std::string(text);
      } else {
        value->attributes.emplace_back(std::string(name), std::string(text));
      }
    } while (Take(','));
    SkipBlanks();
    return Take('}');
  }

  absl::string_view text_;
  size_t pos_ = 0;
  int line_ = 1;
  size_t line_start_ = 0;
  std::string table_;                 // "filesystem."; "" at the top
  const Setting* setting_ = nullptr;  // of the assignment that is being read
  Layer layer_;
};

}  // namespace

absl::StatusOr<Layer> ReadBuiltin(const BuiltinProfile& profile) {
  return BuiltinReader(profile).Read();
}

}  // namespace agent_exec
