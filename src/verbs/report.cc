#include "verbs/report.h"

#include "base/json.h"
#include "base/sha256.h"
#include "base/version.h"
#include "verbs/findings.h"
#include "verbs/names.h"
#include "verbs/show_policy.h"

namespace agent_exec {

std::string FormatStartReport(const Policy& policy, const Plan& plan, const Backend& backend,
                              const Rendered& rendered) {
  JsonWriter json;
  json.BeginObject().Key("event").String("start").Key("version").String(kVersion);
  json.Key("mode").String(ModeName(policy.mode.value));
  json.Key("policy-hash").String(Sha256Hex(FormatPolicy(policy)));
  json.Key("weakened").BeginArray();
  for (const Sourced<Weakening>& accepted : policy.weaken) {
    for (const WeakeningName& row : WeakeningNames()) {
      if (row.weakening == accepted.value) json.String(row.name);
    }
  }
  json.EndArray();
  WriteFindings(plan, backend, rendered, &json);
  json.EndObject();
  return json.Take() + "\n";
}

}  // namespace agent_exec
