#include "app/decide.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "app/env_files.h"
#include "app/exit_codes.h"
#include "app/layers.h"
#include "app/messages.h"
#include "app/paths.h"
#include "base/diagnostic.h"
#include "base/quote.h"
#include "base/status.h"
#include "cli/docs.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "plan/resolve.h"
#include "policy/merge.h"
#include "verbs/print.h"
#include "verbs/report.h"
#include "verbs/show_policy.h"

namespace agent_exec {
namespace {

// The story of one invocation. Every step takes what the ones before it found out.
class Run {
 public:
  Run(const Inputs& inputs, FileView& files)
      : inputs_(inputs), files_(files), error_format_(WantedErrorFormat(inputs.argv)) {}

  Outcome Decide() {
    absl::StatusOr<Outcome> outcome = Proceed();
    if (outcome.ok()) return *std::move(outcome);
    int exit_status = CommandExitStatus(outcome.status());
    Diagnostic diagnostic = ToDiagnostic(outcome.status());
    return Text{"",
                error_format_ == ErrorFormat::kJson ? FormatJson(diagnostic, exit_status)
                                                    : FormatText(diagnostic),
                exit_status};
  }

 private:
  absl::StatusOr<Outcome> Proceed() {
    AE_ASSIGN_OR_RETURN(invocation_, ParseCommandLine(inputs_.argv));
    switch (invocation_.verb) {
      case Verb::kHelp:
        return Outcome(Text{HelpText(), "", 0});
      case Verb::kVersion:
        return Outcome(Text{VersionText(), "", 0});
      case Verb::kPrintSchema:
        return Outcome(Text{SchemaJson(), "", 0});
      default:
        break;
    }

    AE_ASSIGN_OR_RETURN(LoadedLayers loaded, LoadLayers(invocation_, inputs_.facts, files_));
    AE_ASSIGN_OR_RETURN(Policy policy, MergeLayers(loaded.layers));
    error_format_ = policy.error_format.value;
    if (invocation_.verb == Verb::kShowPolicy) return Outcome(Text{FormatPolicy(policy), "", 0});

    AE_RETURN_IF_ERROR(CheckPlatform(policy));
    // The hash in the report is that of the policy as it is shown, so without what env files hold.
    const Policy shown = policy;
    AE_ASSIGN_OR_RETURN(std::vector<std::string> env_files,
                        ApplyEnvFiles(loaded.workspace, inputs_.facts, files_, &policy));
    // Like policy files, they decide about the next run: the command must not write them.
    std::vector<std::string> own_files = loaded.looked_at;
    own_files.insert(own_files.end(), env_files.begin(), env_files.end());
    AE_ASSIGN_OR_RETURN(Plan plan,
                        ResolvePlan(policy, inputs_.facts, files_, invocation_.command, own_files));
    AE_RETURN_IF_ERROR(CheckOwnPaths(policy, env_files, plan));
    absl::StatusOr<Choice> chosen = ChooseBackend(Wish(policy), plan, inputs_.facts, policy.weaken);
    // An accepted way without confinement is no reason not to look for a better one.
    const bool is_settled = chosen.ok() && (!plan.confined || chosen->rendered.gaps.empty());
    if (!is_settled && !inputs_.facts.knows_wrappers) return Outcome(NeedsWrappers{});
    if (!chosen.ok()) return Inside(chosen.status());
    Choice choice = *std::move(chosen);
    const bool left_open = plan.confined && !choice.rendered.gaps.empty();
    Plan open_plan;
    if (left_open) {
      AE_ASSIGN_OR_RETURN(open_plan, LeaveOpen(policy, own_files, &choice.rendered));
    }
    if (invocation_.verb == Verb::kPrint) {
      return Outcome(Text{FormatPrint(invocation_.print_form, left_open ? open_plan : plan,
                                      *choice.backend, choice.rendered),
                          "", 0});
    }
    return Outcome(Start(shown, plan, std::move(choice)));
  }

  // Inside a sandbox of ours nothing that a backend needs is allowed: what the backends say about
  // kernels and packages would send people the wrong way. The variable only chooses the words.
  absl::Status Inside(const absl::Status& refusal) const {
    absl::string_view version = EnvValue(inputs_.facts, "AGENT_EXEC");
    if (version.empty()) return refusal;
    return ToStatus(
        refusal.code(),
        {absl::StrCat("already inside a sandbox of agent-exec ", EscapeControls(version),
                      ", which allows no other in it"),
         "AGENT_EXEC",
         "run the command as it is: the surrounding policy holds it; or start the outer "
         "launcher with --weaken nested-sandbox"});
  }

  // The one weakening that accepts gaps gives up all confinement. What is then started is what
  // danger-full-access starts: an environment that was planned for the sandbox would speak of
  // places that are not there. The gaps stay those of the policy.
  absl::StatusOr<Plan> LeaveOpen(const Policy& policy, const std::vector<std::string>& policy_files,
                                 Rendered* rendered) {
    Policy open = policy;
    open.mode.value = Mode::kDangerFullAccess;
    AE_ASSIGN_OR_RETURN(
        Plan plan, ResolvePlan(open, inputs_.facts, files_, invocation_.command, policy_files));
    AE_RETURN_IF_ERROR(CheckPlan(plan));
    AE_ASSIGN_OR_RETURN(Choice choice, ChooseBackend(policy.backend, plan, inputs_.facts));
    rendered->script = std::move(choice.rendered.script);
    rendered->printed_argv = std::move(choice.rendered.printed_argv);
    rendered->executes_command = choice.rendered.executes_command;
    return plan;
  }

  // A policy that was not written for this platform is not applied to it.
  absl::Status CheckPlatform(const Policy& policy) {
    if (!policy.platforms.has_value()) return absl::OkStatus();
    const char* here = inputs_.facts.os == Os::kLinux ? "linux" : "macos";
    for (const std::string& name : policy.platforms->value) {
      if (name == here) return absl::OkStatus();
    }
    if (IsWeakened(policy, Weakening::kRunUnsandboxed)) {
      foreign_platform_ = true;
      return absl::OkStatus();
    }
    return ErrorAt(absl::StatusCode::kFailedPrecondition,
                   absl::StrCat("this policy is not enabled on '", here, "'"),
                   FormatOrigin(policy.platforms->origin),
                   absl::StrCat("add '", here,
                                "' to platforms.enabled once the policy fits it; "
                                "'--weaken run-unsandboxed' runs the command without a sandbox"));
  }

  // What the launcher reads and writes by names that an earlier command may have prepared.
  absl::Status CheckOwnPaths(const Policy& policy, const std::vector<std::string>& env_files,
                             const Plan& plan) {
    for (size_t i = 0; i < env_files.size(); ++i) {
      AE_RETURN_IF_ERROR(
          OutOfReach(env_files[i], plan, files_, "read environment file", policy.env_files[i])
              .status());
    }
    if (!policy.report.has_value()) return absl::OkStatus();
    report_target_ = policy.report->value;
    if (absl::StartsWith(report_target_, "fd:")) return absl::OkStatus();
    AE_ASSIGN_OR_RETURN(std::string path,
                        FromUser(report_target_, inputs_.facts, policy.report->origin));
    AE_ASSIGN_OR_RETURN(report_target_,
                        OutOfReach(path, plan, files_, "write the report", *policy.report));
    return absl::OkStatus();
  }

  Sourced<std::string> Wish(const Policy& policy) const {
    if (foreign_platform_) return {"none", policy.platforms->origin};
    return policy.backend;
  }

  Launch Start(const Policy& policy, const Plan& plan, Choice choice) {
    Launch launch;
    launch.err = FormatMessages(policy, plan, *choice.backend, choice.rendered);
    if (policy.report.has_value()) {
      launch.report_target = report_target_;
      launch.report_line = FormatStartReport(policy, plan, *choice.backend, choice.rendered);
    }
    launch.rendered = std::move(choice.rendered);
    launch.error_format = error_format_;
    for (const Origin& origin : plan.origins) launch.places.push_back(FormatOrigin(origin));
    launch.wipe = std::move(invocation_.wipe);
    return launch;
  }

  const Inputs& inputs_;
  FileView& files_;
  ErrorFormat error_format_;
  std::string report_target_;  // canonical, or "fd:N"
  Invocation invocation_;
  bool foreign_platform_ = false;  // and that was accepted
};

}  // namespace

Outcome Decide(const Inputs& inputs, FileView& files) { return Run(inputs, files).Decide(); }

}  // namespace agent_exec
