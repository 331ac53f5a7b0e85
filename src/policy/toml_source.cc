#include "policy/toml_source.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/quote.h"
#include "base/status.h"
#include "base/text.h"
#include "policy/byte_columns.h"
#include "policy/toml_guard.h"

// With NDEBUG the parser turns its assertions into promises to the optimizer. Here they hold in
// every build, and one that fails ends the launcher before anything was started.
#undef NDEBUG
#define TOML_ASSERT(expr) ((expr) ? static_cast<void>(0) : __builtin_trap())
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// Without these the parser reads floats by a string stream, which costs 170 kB of locales.
#if defined(__GLIBCXX__) || (defined(_LIBCPP_VERSION) && _LIBCPP_VERSION >= 200000)
#define TOML_FLOAT_CHARCONV 1
#define TOML_INT_CHARCONV 1
#endif
#include <toml++/toml.hpp>

namespace agent_exec {
namespace {

absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }
std::string_view ToStd(absl::string_view text) { return {text.data(), text.size()}; }

const char* TypeName(const toml::node& node) {
  // In the order of toml::node_type.
  constexpr const char* kNames[] = {"nothing", "a table",   "an array", "a string", "an integer",
                                    "a float", "a boolean", "a date",   "a time",   "a date"};
  static_assert(static_cast<size_t>(toml::node_type::date_time) + 1 == std::size(kNames));
  return kNames[static_cast<size_t>(node.type())];
}

// What one key of the text was found to be. Collected from the parser's tables, which are sorted by
// key, and then handled in the order of the text.
struct Finding {
  enum class Kind { kSetting, kUnknown, kWrongType, kProfile, kExtends };
  Kind kind = Kind::kSetting;
  toml::source_position position;    // of the value; of the key where that is the fault
  const Setting* setting = nullptr;  // kSetting
  const toml::node* node = nullptr;  // the value
  int profile = -1;                  // index into Layer::profiles; -1 at the top
  std::string key;                   // but for kSetting: as written, with dots
  const char* expected = "";         // kWrongType
};

class Reader {
 public:
  Reader(absl::string_view text, absl::string_view name, LayerKind kind) : columns_(text) {
    layer_.kind = kind;
    layer_.name = std::string(name);
    origin_kind_ = kind == LayerKind::kBuiltin ? Origin::Kind::kBuiltin : Origin::Kind::kFile;
  }

  absl::Status Read(const toml::table& root);
  absl::Status ParseFailure(const toml::parse_error& error);
  Layer TakeLayer() { return std::move(layer_); }

 private:
  void CollectTable(const toml::table& table, const std::string& prefix, int profile);
  void CollectKey(const toml::key& key, const toml::node& node, const std::string& prefix,
                  int profile);
  void CollectRootKey(const toml::key& key, const toml::node& node);
  void CollectProfiles(const toml::node& node);
  void AddKey(Finding::Kind kind, toml::source_position position, const toml::node& node,
              std::string key, const char* expected = "");

  absl::Status Handle(const Finding& finding);
  absl::Status HandleSetting(const Finding& finding);
  absl::Status HandleExtends(const Finding& finding);
  absl::Status UnknownKey(const Finding& finding);
  absl::Status WrongType(const Finding& finding, const toml::node& found);
  absl::Status DeliverList(const Finding& finding, const toml::array& array);
  absl::Status DeliverMap(const Finding& finding, const toml::table& table);
  absl::Status DeliverPathRule(const Finding& finding, const toml::node& element);
  absl::Status DeliverScalar(const Finding& finding, const toml::node& node);
  absl::Status Deliver(const Finding& finding, RawValue value, toml::source_position position);

  Origin OriginAt(toml::source_position position) {
    return {origin_kind_, layer_.name, static_cast<int>(position.line),
            columns_.InBytes(position.line, position.column)};
  }
  absl::Status ErrorHere(toml::source_position position, absl::string_view message,
                         absl::string_view hint = "") {
    return ErrorAt(absl::StatusCode::kInvalidArgument, message, FormatOrigin(OriginAt(position)),
                   hint);
  }

  Layer layer_;
  Origin::Kind origin_kind_;
  ByteColumns columns_;
  std::vector<Finding> findings_;
  Policy scratch_;  // takes the values for their check
};

void Reader::AddKey(Finding::Kind kind, toml::source_position position, const toml::node& node,
                    std::string key, const char* expected) {
  Finding finding;
  finding.kind = kind;
  finding.position = position;
  finding.node = &node;
  finding.key = std::move(key);
  finding.expected = expected;
  findings_.push_back(std::move(finding));
}

void Reader::CollectTable(const toml::table& table, const std::string& prefix, int profile) {
  for (const auto& [key, node] : table) CollectKey(key, node, prefix, profile);
}

void Reader::CollectKey(const toml::key& key, const toml::node& node, const std::string& prefix,
                        int profile) {
  const absl::string_view name = ToAbsl(key.str());
  std::string dotted = prefix.empty() ? std::string(name) : absl::StrCat(prefix, ".", name);
  // A quoted key may hold dots of its own, and is then none of ours.
  const bool is_plain = !absl::StrContains(name, ".");
  if (const Setting* setting = is_plain ? FindSettingByKey(dotted) : nullptr) {
    Finding finding;
    finding.position = node.source().begin;
    finding.setting = setting;
    finding.node = &node;
    finding.profile = profile;
    findings_.push_back(std::move(finding));
  } else if (is_plain && IsTableOfSettings(dotted)) {
    if (const toml::table* table = node.as_table()) {
      CollectTable(*table, dotted, profile);
    } else {
      AddKey(Finding::Kind::kWrongType, node.source().begin, node, dotted, "a table");
    }
  } else {
    if (profile >= 0) {
      dotted =
          absl::StrCat("profile.", layer_.profiles[static_cast<size_t>(profile)].name, ".", dotted);
    }
    AddKey(Finding::Kind::kUnknown, key.source().begin, node, std::move(dotted));
  }
}

void Reader::CollectRootKey(const toml::key& key, const toml::node& node) {
  if (key == "profile") {
    CollectProfiles(node);
  } else if (key == "version") {
    const toml::value<int64_t>* version = node.as_integer();
    if (version == nullptr || version->get() != 1) {
      AddKey(Finding::Kind::kWrongType, node.source().begin, node, "version", "1");
    }
  } else {
    CollectKey(key, node, "", -1);
  }
}

void Reader::CollectProfiles(const toml::node& node) {
  const toml::table* profiles = node.as_table();
  if (profiles == nullptr) {
    AddKey(Finding::Kind::kWrongType, node.source().begin, node, "profile",
           "tables [profile.NAME]");
    return;
  }
  for (const auto& [name, body] : *profiles) {
    const toml::table* table = body.as_table();
    std::string key = absl::StrCat("profile.", ToAbsl(name.str()));
    if (table == nullptr || name.str().empty()) {
      AddKey(Finding::Kind::kWrongType, body.source().begin, body, std::move(key),
             "a table with a name");
      continue;
    }
    const int index = static_cast<int>(layer_.profiles.size());
    NamedProfile profile;
    profile.name = std::string(name.str());
    layer_.profiles.push_back(std::move(profile));
    AddKey(Finding::Kind::kProfile, name.source().begin, body, key);
    findings_.back().profile = index;
    for (const auto& [inner, value] : *table) {
      if (inner != "extends") {
        CollectKey(inner, value, "", index);
        continue;
      }
      AddKey(Finding::Kind::kExtends, value.source().begin, value, absl::StrCat(key, ".extends"));
      findings_.back().profile = index;
    }
  }
}

absl::Status Reader::Read(const toml::table& root) {
  for (const auto& [key, node] : root) CollectRootKey(key, node);
  std::stable_sort(findings_.begin(), findings_.end(),
                   [](const Finding& a, const Finding& b) { return a.position < b.position; });
  for (const Finding& finding : findings_) AE_RETURN_IF_ERROR(Handle(finding));
  return absl::OkStatus();
}

absl::Status Reader::Handle(const Finding& finding) {
  switch (finding.kind) {
    case Finding::Kind::kSetting:
      return HandleSetting(finding);
    case Finding::Kind::kProfile:
      layer_.profiles[static_cast<size_t>(finding.profile)].origin = OriginAt(finding.position);
      return absl::OkStatus();
    case Finding::Kind::kExtends:
      return HandleExtends(finding);
    case Finding::Kind::kUnknown:
      return UnknownKey(finding);
    case Finding::Kind::kWrongType:
      return WrongType(finding, *finding.node);
  }
  return absl::InternalError("a finding of no kind");
}

absl::Status Reader::UnknownKey(const Finding& finding) {
  const std::string nearest = NearestKey(finding.key);
  return ErrorHere(
      finding.position, absl::StrCat("unknown key ", QuoteForMessage(finding.key)),
      nearest.empty() ? "" : absl::StrCat("did you mean ", QuoteForMessage(nearest), "?"));
}

absl::Status Reader::WrongType(const Finding& finding, const toml::node& found) {
  const std::string name =
      finding.setting != nullptr ? SettingName(*finding.setting) : QuoteForMessage(finding.key);
  const char* expected =
      finding.setting != nullptr ? ExpectedToml(finding.setting->type) : finding.expected;
  std::string got = TypeName(found);
  std::string hint;
  if (finding.key == "version" && found.is_integer()) {
    got = absl::StrCat(found.as_integer()->get());
    hint = "this file was written for another version of agent-exec";
  }
  if (finding.key == "profile") hint = "profiles are chosen by use-profiles = [\"NAME\"]";
  if (finding.setting != nullptr && found.is_string() && found.source().begin == finding.position &&
      absl::StrContains(expected, "array of strings")) {
    hint = "a list of one is written in brackets too: [\"…\"]";
  }
  return ErrorHere(found.source().begin,
                   absl::StrCat("bad value of ", name, ": expected ", expected, ", found ", got),
                   hint);
}

absl::Status Reader::HandleExtends(const Finding& finding) {
  NamedProfile& profile = layer_.profiles[static_cast<size_t>(finding.profile)];
  const auto add = [&](const toml::node& node) -> absl::Status {
    const toml::value<std::string>* name = node.as_string();
    if (name == nullptr || name->get().empty()) {
      return ErrorHere(node.source().begin,
                       absl::StrCat("bad value of ", QuoteForMessage(finding.key),
                                    ": expected the name of a profile or an array of them, found ",
                                    name == nullptr ? TypeName(node) : "an empty string"));
    }
    profile.extends.push_back({name->get(), OriginAt(node.source().begin)});
    return absl::OkStatus();
  };
  const toml::array* array = finding.node->as_array();
  if (array == nullptr) return add(*finding.node);
  for (const toml::node& element : *array) AE_RETURN_IF_ERROR(add(element));
  return absl::OkStatus();
}

absl::Status Reader::HandleSetting(const Finding& finding) {
  const toml::node& node = *finding.node;
  // Which profiles apply must be known before any of them does.
  if (finding.profile >= 0 && absl::string_view(finding.setting->key) == "use-profiles") {
    return ErrorHere(finding.position, "'use-profiles' cannot stand in a profile",
                     "a profile applies others by extends = \"NAME\"");
  }
  switch (finding.setting->type) {
    case ValueType::kStringList:
    case ValueType::kIntegerList:
    case ValueType::kPathRuleList:
      return node.is_array() ? DeliverList(finding, *node.as_array()) : WrongType(finding, node);
    case ValueType::kStringMap:
      return node.is_table() ? DeliverMap(finding, *node.as_table()) : WrongType(finding, node);
    default:
      return DeliverScalar(finding, node);
  }
}

absl::Status Reader::DeliverList(const Finding& finding, const toml::array& array) {
  const Setting& setting = *finding.setting;
  RawValue whole;
  for (const toml::node& element : array) {
    if (setting.merge == Merge::kReplace) {
      const toml::value<std::string>* text = element.as_string();
      if (text == nullptr) return WrongType(finding, element);
      whole.attributes.emplace_back("", text->get());
    } else if (setting.type == ValueType::kPathRuleList) {
      AE_RETURN_IF_ERROR(DeliverPathRule(finding, element));
    } else {
      const bool fits =
          setting.type == ValueType::kIntegerList ? element.is_integer() : element.is_string();
      if (!fits) return WrongType(finding, element);
      AE_RETURN_IF_ERROR(DeliverScalar(finding, element));
    }
  }
  if (setting.merge != Merge::kReplace) return absl::OkStatus();
  return Deliver(finding, std::move(whole), finding.position);
}

absl::Status Reader::DeliverPathRule(const Finding& finding, const toml::node& element) {
  RawValue value;
  const toml::table* table = element.as_table();
  if (table == nullptr) {
    if (!element.is_string()) return WrongType(finding, element);
    value.text = element.as_string()->get();
    return Deliver(finding, std::move(value), element.source().begin);
  }
  static constexpr absl::string_view kNames[] = {"path", "missing", "kind"};
  for (const auto& [key, node] : *table) {
    const absl::string_view name = ToAbsl(key.str());
    if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) {
      const absl::string_view nearest = NearestName(name, kNames);
      return ErrorHere(key.source().begin,
                       absl::StrCat("unknown key ", QuoteForMessage(name), " in an entry of ",
                                    SettingName(*finding.setting)),
                       nearest.empty() ? "entries have path, missing and kind"
                                       : absl::StrCat("did you mean '", nearest, "'?"));
    }
    const toml::value<std::string>* text = node.as_string();
    if (text == nullptr) {
      return ErrorHere(
          node.source().begin,
          absl::StrCat("bad value of '", name, "' in an entry of ", SettingName(*finding.setting),
                       ": expected a string, found ", TypeName(node)));
    }
    if (name == "path") {
      value.text = text->get();
    } else {
      value.attributes.emplace_back(std::string(name), text->get());
    }
  }
  return Deliver(finding, std::move(value), element.source().begin);
}

absl::Status Reader::DeliverMap(const Finding& finding, const toml::table& table) {
  // In the order of the text, not in that of the names.
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.second->source().begin < b.second->source().begin;
  });
  for (const auto& [key, node] : entries) {
    if (!node->is_string()) return WrongType(finding, *node);
    RawValue value;
    value.text = node->as_string()->get();
    value.attributes.emplace_back("name", std::string(key->str()));
    AE_RETURN_IF_ERROR(Deliver(finding, std::move(value), node->source().begin));
  }
  return absl::OkStatus();
}

absl::Status Reader::DeliverScalar(const Finding& finding, const toml::node& node) {
  RawValue value;
  const ValueType type = finding.setting->type;
  const bool takes_integer = type == ValueType::kInteger || type == ValueType::kSize ||
                             type == ValueType::kDuration || type == ValueType::kIntegerList;
  const bool takes_string =
      type != ValueType::kInteger && type != ValueType::kBool && type != ValueType::kIntegerList;
  if (node.is_boolean() && type == ValueType::kBool) {
    value.text = node.as_boolean()->get() ? "true" : "false";
  } else if (node.is_integer() && takes_integer) {
    value.text = absl::StrCat(node.as_integer()->get());
  } else if (node.is_string() && takes_string) {
    value.text = node.as_string()->get();
  } else {
    return WrongType(finding, node);
  }
  return Deliver(finding, std::move(value), node.source().begin);
}

absl::Status Reader::Deliver(const Finding& finding, RawValue value,
                             toml::source_position position) {
  std::vector<Assignment>& assignments =
      finding.profile < 0 ? layer_.assignments
                          : layer_.profiles[static_cast<size_t>(finding.profile)].assignments;
  assignments.push_back({finding.setting, std::move(value), OriginAt(position)});
  return ApplyAssignment(assignments.back(), &scratch_);
}

absl::Status Reader::ParseFailure(const toml::parse_error& error) {
  // "Error while parsing array: …": what it was parsing is plain from the place.
  absl::string_view message = ToAbsl(error.description());
  const size_t colon = message.find(": ");
  if (absl::StartsWith(message, "Error while parsing ") && colon != absl::string_view::npos) {
    message.remove_prefix(colon + 2);
  }
  return ErrorHere(error.source().begin, EscapeControls(message));
}

}  // namespace

absl::StatusOr<Layer> ParseToml(absl::string_view text, absl::string_view name, LayerKind kind) {
  // A byte order mark is no part of the text, and editors count columns without it.
  absl::ConsumePrefix(&text, "\xEF\xBB\xBF");
  AE_RETURN_IF_ERROR(GuardToml(text, name));
  Reader reader(text, name, kind);
  const toml::parse_result parsed = toml::parse(ToStd(text));
  if (!parsed) return reader.ParseFailure(parsed.error());
  AE_RETURN_IF_ERROR(reader.Read(parsed.table()));
  return reader.TakeLayer();
}

}  // namespace agent_exec
