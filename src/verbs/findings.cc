#include "verbs/findings.h"

#include <algorithm>

#include "verbs/names.h"

namespace agent_exec {
namespace {

bool Enforces(const Rendered& rendered, Feature feature) {
  return std::find(rendered.enforced.begin(), rendered.enforced.end(), feature) !=
         rendered.enforced.end();
}

// Members that hold nothing are left out where they are the exception rather than the rule.
void WriteText(const char* key, absl::string_view value, JsonWriter* json) {
  if (!value.empty()) json->Key(key).String(value);
}

void WriteGaps(const Plan& plan, const Rendered& rendered, JsonWriter* json) {
  json->Key("gaps").BeginArray();
  for (const Gap& gap : rendered.gaps) {
    json->BeginObject().Key("feature").String(FeatureName(gap.feature));
    WriteText("subject", gap.subject, json);
    json->Key("reason").String(gap.reason);
    WriteText("weakening", gap.weakening, json);
    WriteText("origin", OriginText(plan, gap.origin), json);
    json->EndObject();
  }
  json->EndArray();
}

void WriteLimits(const Rendered& rendered, JsonWriter* json) {
  json->Key("limits").BeginArray();
  for (const BackendLimit& limit : rendered.limits) {
    json->BeginObject().Key("code").String(limit.code).Key("text").String(limit.text).EndObject();
  }
  json->EndArray();
}

void WriteGlobs(const Plan& plan, JsonWriter* json) {
  json->Key("globs").BeginArray();
  for (const GlobCount& glob : plan.globs) {
    json->BeginObject().Key("pattern").String(glob.pattern).Key("matches").Int(glob.matches);
    WriteText("origin", OriginText(plan, glob.origin), json);
    json->EndObject();
  }
  json->EndArray();
}

void WriteNotices(const Plan& plan, JsonWriter* json) {
  json->Key("notices").BeginArray();
  for (const Notice& notice : plan.notices) {
    json->BeginObject().Key("code").String(notice.code).Key("message").String(notice.message);
    WriteText("origin", OriginText(plan, notice.origin), json);
    json->EndObject();
  }
  json->EndArray();
}

}  // namespace

void WriteFindings(const Plan& plan, const Backend& backend, const Rendered& rendered,
                   JsonWriter* json) {
  json->Key("backend").String(backend.name);
  json->Key("process-model").String(ProcessModelName(rendered.model));
  // What is, not what the policy asked for: the gaps say where the two differ.
  json->Key("confined").Bool(Enforces(rendered, Feature::kMounts));
  json->Key("workspace").String(plan.workspace);
  json->Key("network").String(NetworkName(
      Enforces(rendered, Feature::kNetworkNone) ? NetworkMode::kNone : NetworkMode::kHost));
  json->Key("enforced").BeginArray();
  for (Feature feature : rendered.enforced) json->String(FeatureName(feature));
  json->EndArray();
  WriteGaps(plan, rendered, json);
  WriteLimits(rendered, json);
  WriteGlobs(plan, json);
  WriteNotices(plan, json);
}

}  // namespace agent_exec
