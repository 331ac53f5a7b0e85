#include "base/json.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "support/doctest.h"
#include "support/json.h"
#include "support/random.h"

namespace agent_exec {
namespace {

using testing::HostileText;
using testing::Json;
using testing::ParseJson;
using testing::Random;

// Writes a random value and builds what a reader must see.
Json WriteRandom(Random* random, int depth, JsonWriter* writer) {
  Json json;
  const size_t kind = random->Below(depth > 0 ? 6 : 4);
  if (kind == 0) {
    writer->Null();
  } else if (kind == 1) {
    const bool value = random->OneIn(2);
    writer->Bool(value);
    json.kind = Json::Kind::kBool;
    json.text = value ? "true" : "false";
  } else if (kind == 2) {
    const auto value = static_cast<int64_t>(random->Below(2000)) - 1000;
    writer->Int(value);
    json.kind = Json::Kind::kNumber;
    json.text = std::to_string(value);
  } else if (kind == 3) {
    do {
      json.text = HostileText(random, 4);
    } while (!testing::IsUtf8(json.text));
    writer->String(json.text);
    json.kind = Json::Kind::kString;
  } else if (kind == 4) {
    json.kind = Json::Kind::kArray;
    writer->BeginArray();
    for (size_t n = random->Below(4); n > 0; --n) {
      json.items.push_back(WriteRandom(random, depth - 1, writer));
    }
    writer->EndArray();
  } else {
    json.kind = Json::Kind::kObject;
    writer->BeginObject();
    for (size_t n = random->Below(4); n > 0; --n) {
      const std::string key = std::to_string(n) + "\"\n\xc3\xa9";
      writer->Key(key);
      json.members.emplace_back(key, WriteRandom(random, depth - 1, writer));
    }
    writer->EndObject();
  }
  return json;
}

bool Same(const Json& a, const Json& b) {
  if (a.kind != b.kind || a.text != b.text || a.items.size() != b.items.size() ||
      a.members.size() != b.members.size()) {
    return false;
  }
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!Same(a.items[i], b.items[i])) return false;
  }
  for (size_t i = 0; i < a.members.size(); ++i) {
    if (a.members[i].first != b.members[i].first) return false;
    if (!Same(a.members[i].second, b.members[i].second)) return false;
  }
  return true;
}

void WriteSample(JsonWriter* json) {
  json->BeginObject();
  json->Key("a").Int(-1).Key("b").BeginArray().Bool(true).Null().EndArray();
  json->Key("c").BeginObject().EndObject().Key("d").BeginArray().EndArray();
  json->Key("e").BeginArray().BeginArray().String("x").EndArray().BeginObject().EndObject();
  json->EndArray().EndObject();
}

TEST_SUITE("base/json") {
  TEST_CASE("one line has no white space") {
    JsonWriter json;
    WriteSample(&json);
    CHECK_EQ(json.Take(), R"({"a":-1,"b":[true,null],"c":{},"d":[],"e":[["x"],{}]})");
  }

  TEST_CASE("the indented style has one value a line, and empty levels stay closed") {
    JsonWriter json(JsonWriter::Style::kIndented);
    WriteSample(&json);
    CHECK_EQ(json.Take(), R"({
  "a": -1,
  "b": [
    true,
    null
  ],
  "c": {},
  "d": [],
  "e": [
    [
      "x"
    ],
    {}
  ]
})");
  }

  TEST_CASE("a writer whose text was taken begins anew") {
    JsonWriter json;
    CHECK_EQ(json.BeginArray().Int(1).EndArray().Take(), "[1]");
    CHECK_EQ(json.String("x").Take(), "\"x\"");
    CHECK_EQ(json.BeginObject().EndObject().Take(), "{}");
  }

  TEST_CASE("integers keep all of their digits") {
    JsonWriter json;
    json.BeginArray().Int(std::numeric_limits<int64_t>::min());
    json.Int(std::numeric_limits<int64_t>::max()).Int(0).EndArray();
    CHECK_EQ(json.Take(), "[-9223372036854775808,9223372036854775807,0]");
  }

  TEST_CASE("a strict reader gets back what was written, in both styles") {
    for (const auto style : {JsonWriter::Style::kOneLine, JsonWriter::Style::kIndented}) {
      Random random(3);
      for (int i = 0; i < 1000; ++i) {
        JsonWriter writer(style);
        const Json wanted = WriteRandom(&random, 4, &writer);
        const std::string text = writer.Take();
        CAPTURE(text);
        const std::optional<Json> got = ParseJson(text);
        REQUIRE(got.has_value());
        CHECK(Same(*got, wanted));
        if (style == JsonWriter::Style::kOneLine) CHECK_EQ(text.find('\n'), std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace agent_exec
