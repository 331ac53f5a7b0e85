// Fuzzes a policy text: the first byte chooses the layer, the rest is TOML. Crashes where the
// parser does, and where a promise of toml_source.h or merge.h breaks. Build toml++ with assertions
// on (no NDEBUG).

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "base/diagnostic.h"
#include "policy/merge.h"
#include "policy/setting.h"
#include "policy/toml_source.h"

namespace agent_exec {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// A refusal is the policy's fault, is one line, and says where.
void CheckRefusal(const absl::Status& status) {
  if (status.ok()) return;
  Require(absl::IsInvalidArgument(status));
  const Diagnostic diagnostic = ToDiagnostic(status);
  Require(!diagnostic.message.empty());
  for (const std::string& field : {diagnostic.message, diagnostic.place, diagnostic.hint}) {
    for (const char c : field) Require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  }
  Require(absl::StartsWith(diagnostic.place, "p.toml"));
}

void CheckOrigin(const Origin& origin, absl::string_view text) {
  Require(origin.line >= 1 && origin.column >= 1);
  Require(static_cast<size_t>(origin.line) <= text.size() + 1);
  Require(static_cast<size_t>(origin.column) <= text.size() + 1);
}

void CheckPolicyText(absl::string_view text, LayerKind kind) {
  const absl::StatusOr<Layer> layer = ParseToml(text, "p.toml", kind);
  CheckRefusal(layer.status());
  if (!layer.ok()) return;
  for (const Assignment& assignment : layer->assignments) CheckOrigin(assignment.origin, text);
  std::vector<Layer> layers = {*layer};
  Layer flags;
  for (const NamedProfile& profile : layer->profiles) {
    CheckOrigin(profile.origin, text);
    Assignment use;
    use.setting = FindSettingByKey("use-profiles");
    use.value.text = profile.name;
    use.origin = profile.origin;
    use.origin.name = "p.toml";
    flags.assignments.push_back(std::move(use));
  }
  layers.push_back(std::move(flags));
  const absl::StatusOr<Policy> policy = MergeLayers(layers);
  CheckRefusal(policy.status());
  if (!policy.ok()) return;
  for (const Setting& setting : Settings()) {
    for (const auto& [value, origin] : setting.show(setting, *policy)) Require(!value.empty());
  }
}

}  // namespace
}  // namespace agent_exec

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using agent_exec::LayerKind;
  if (size == 0) return 0;
  constexpr LayerKind kKinds[] = {LayerKind::kUser, LayerKind::kWorkspace, LayerKind::kGiven};
  const absl::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  agent_exec::CheckPolicyText(text, kKinds[data[0] % 3]);
  return 0;
}
