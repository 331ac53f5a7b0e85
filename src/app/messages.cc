#include "app/messages.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "base/quote.h"
#include "verbs/names.h"

namespace agent_exec {
namespace {

class Messages {
 public:
  explicit Messages(ErrorFormat format) : format_(format) {}

  // In: code: stable, for programs; place: "" when there is none.
  void Add(absl::string_view code, absl::string_view message, absl::string_view place) {
    if (format_ == ErrorFormat::kText) {
      absl::StrAppend(&out_, "agent-exec: ", message);
      if (!place.empty()) absl::StrAppend(&out_, " (", place, ")");
      out_ += '\n';
      return;
    }
    JsonWriter json;
    json.BeginObject().Key("notice").String(code).Key("message").String(message);
    if (!place.empty()) json.Key("place").String(place);
    json.EndObject();
    absl::StrAppend(&out_, json.Take(), "\n");
  }

  std::string Take() { return std::move(out_); }

 private:
  ErrorFormat format_;
  std::string out_;
};

// Is the command left alone although the policy confines it? Then who accepted that.
const Sourced<Weakening>* AcceptedUnsandboxed(const Policy& policy) {
  for (const Sourced<Weakening>& accepted : policy.weaken) {
    if (accepted.value == Weakening::kRunUnsandboxed) return &accepted;
  }
  return nullptr;
}

void AddConfinement(const Policy& policy, const Plan& plan, const Rendered& rendered,
                    Messages* messages) {
  if (!plan.confined) {
    messages->Add("unconfined", "nothing is confined", FormatOrigin(policy.mode.origin));
  } else if (!rendered.gaps.empty()) {
    const Sourced<Weakening>* accepted = AcceptedUnsandboxed(policy);
    messages->Add("unconfined", "warning: nothing is confined, although the policy asks for it",
                  accepted == nullptr ? "" : FormatOrigin(accepted->origin));
  }
}

}  // namespace

std::string FormatMessages(const Policy& policy, const Plan& plan, const Backend& backend,
                           const Rendered& rendered) {
  if (policy.quiet.value) return "";
  Messages messages(policy.error_format.value);
  AddConfinement(policy, plan, rendered, &messages);
  for (const Notice& notice : plan.notices) {
    messages.Add(notice.code, notice.message, OriginText(plan, notice.origin));
  }
  if (policy.verbose.value) {
    messages.Add("backend",
                 absl::StrCat("backend ", backend.name, ", ", ProcessModelName(rendered.model),
                              ", workspace ", QuoteForMessage(plan.workspace)),
                 FormatOrigin(policy.backend.origin));
    for (const BackendLimit& limit : rendered.limits) {
      messages.Add(limit.code, absl::StrCat("limit: ", limit.text), "");
    }
  }
  return messages.Take();
}

}  // namespace agent_exec
