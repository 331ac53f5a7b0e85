#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/docs.h"
#include "cli/key_tables.h"
#include "policy/setting.h"

namespace agent_exec {
namespace {

class SchemaWriter {
 public:
  std::string Write() {
    json_.BeginObject();
    Text("$schema", "http://json-schema.org/draft-07/schema#");
    Text("title", "agent-exec policy");
    Text("description", "What a command started by agent-exec may do; see agent-exec.toml(5).");
    OpenTable();

    json_.Key("properties").BeginObject();
    json_.Key("version").BeginObject();
    Text("description", "The version of the policy language.");
    json_.Key("const").Int(1).EndObject();
    for (const absl::string_view name : TopNames()) Reference(name, name);
    json_.Key("profile").BeginObject();
    Text("description", "Named sets of settings, chosen by --profile or use-profiles.");
    Text("type", "object");
    json_.Key("additionalProperties").BeginObject();
    Text("$ref", "#/definitions/profile");
    json_.EndObject().EndObject();
    json_.EndObject();
    WriteDefinitions();
    json_.EndObject();
    return json_.Take() + "\n";
  }

 private:
  // What a policy and a profile can hold: settings above all tables, and tables.
  std::vector<absl::string_view> TopNames() const {
    std::vector<absl::string_view> names;
    for (const KeyTable& table : tables_) {
      if (!table.name.empty()) {
        names.push_back(table.name);
      } else {
        for (const Setting* row : table.rows) names.push_back(row->key);
      }
    }
    return names;
  }

  void WriteDefinitions() {
    json_.Key("definitions").BeginObject();
    for (const KeyTable& table : tables_) {
      if (!table.name.empty()) {
        json_.Key(table.name).BeginObject();
        OpenTable();
        json_.Key("properties").BeginObject();
      }
      for (const Setting* row : table.rows) {
        json_.Key(KeyWithinTable(*row)).BeginObject();
        WriteSetting(*row);
        json_.EndObject();
      }
      if (!table.name.empty()) json_.EndObject().EndObject();
    }
    WriteProfile();
    WritePathRule();
    json_.EndObject();
  }

  void WriteProfile() {
    json_.Key("profile").BeginObject();
    OpenTable();
    json_.Key("properties").BeginObject();
    json_.Key("extends").BeginObject();
    Text("description", "Profiles that apply before this one.");
    json_.Key("anyOf").BeginArray();
    BeginType("string").Key("minLength").Int(1).EndObject();
    BeginType("array").Key("items");
    BeginType("string").Key("minLength").Int(1).EndObject().EndObject();
    json_.EndArray().EndObject();
    for (const absl::string_view name : TopNames()) Reference(name, name);
    json_.EndObject().EndObject();
  }

  void WritePathRule() {
    json_.Key("path-rule").BeginObject().Key("anyOf").BeginArray();
    BeginType("string").Key("minLength").Int(1).EndObject();
    json_.BeginObject();
    OpenTable();
    json_.Key("required").BeginArray().String("path").EndArray();
    json_.Key("properties").BeginObject();
    json_.Key("path");
    BeginType("string").Key("minLength").Int(1).EndObject();
    json_.Key("missing").BeginObject();
    Text("description", "What happens when the path does not exist.");
    Choices("allow|block");
    json_.EndObject();
    json_.Key("kind").BeginObject();
    Text("description", "What stands in for a missing path that must not be created.");
    Choices("file|dir");
    json_.EndObject();
    json_.EndObject().EndObject().EndArray().EndObject();
  }

  void WriteSetting(const Setting& row) {
    Text("description", row.man);
    switch (row.type) {
      case ValueType::kBool:
        Text("type", "boolean");
        return;
      case ValueType::kEnum:
        Choices(row.choices);
        return;
      case ValueType::kString:
      case ValueType::kPath:
        Text("type", "string");
        json_.Key("minLength").Int(1);
        return;
      case ValueType::kInteger:
        Text("type", "integer");
        Bounds(row);
        return;
      case ValueType::kSize:
        NumberOrText(row.min, "^[0-9]+(B|kB|MB|GB|TB|[KMGT]|[KMGT]iB)?$");
        return;
      case ValueType::kDuration:
        NumberOrText(1, "^([0-9]+|([0-9]+(ms|s|m|min|h|d))+)$");
        return;
      case ValueType::kStringList:
        BeginItems();
        WriteWord(row);
        json_.EndObject();
        return;
      case ValueType::kIntegerList:
        BeginItems();
        Text("type", "integer");
        Bounds(row);
        json_.EndObject();
        return;
      case ValueType::kPathRuleList:
        BeginItems();
        Text("$ref", "#/definitions/path-rule");
        json_.EndObject();
        return;
      case ValueType::kStringMap:
        Text("type", "object");
        json_.Key("propertyNames").BeginObject();
        Text("pattern", "^[^=]+$");
        json_.EndObject().Key("additionalProperties");
        BeginType("string").EndObject();
        return;
    }
  }

  void WriteWord(const Setting& row) {
    if (*row.choices != '\0') return Choices(row.choices);
    Text("type", "string");
    json_.Key("minLength").Int(1);
  }

  void NumberOrText(int64_t minimum, absl::string_view pattern) {
    json_.Key("anyOf").BeginArray();
    BeginType("integer").Key("minimum").Int(minimum).EndObject();
    BeginType("string");
    Text("pattern", pattern);
    json_.EndObject().EndArray();
  }

  void Bounds(const Setting& row) { json_.Key("minimum").Int(row.min).Key("maximum").Int(row.max); }

  void Choices(absl::string_view choices) {
    json_.Key("enum").BeginArray();
    for (const absl::string_view choice : SplitChoices(choices)) json_.String(choice);
    json_.EndArray();
  }

  // The members that make the open object a table without other names than those that follow.
  void OpenTable() {
    Text("type", "object");
    json_.Key("additionalProperties").Bool(false);
  }

  JsonWriter& BeginType(absl::string_view type) {
    json_.BeginObject();
    Text("type", type);
    return json_;
  }

  void BeginItems() {
    Text("type", "array");
    json_.Key("items").BeginObject();
  }

  void Reference(absl::string_view key, absl::string_view definition) {
    json_.Key(key).BeginObject();
    Text("$ref", std::string("#/definitions/") + std::string(definition));
    json_.EndObject();
  }

  void Text(absl::string_view key, absl::string_view text) { json_.Key(key).String(text); }

  const std::vector<KeyTable> tables_ = KeyTables();
  JsonWriter json_{JsonWriter::Style::kIndented};
};

}  // namespace

std::string SchemaJson() { return SchemaWriter().Write(); }

}  // namespace agent_exec
