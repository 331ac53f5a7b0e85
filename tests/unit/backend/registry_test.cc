#include <string>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "backend/backend.h"
#include "support/doctest.h"
#include "support/facts.h"
#include "support/plans.h"
#include "support/status.h"

namespace agent_exec {
namespace {

using namespace testing;

Sourced<std::string> Wish(const char* name) { return {name, {Origin::Kind::kFlag, "--backend"}}; }

const Sourced<Weakening> kUnsandboxed[] = {
    {Weakening::kRunUnsandboxed, {Origin::Kind::kFlag, "--weaken"}}};

TEST_SUITE("backend/registry") {
  TEST_CASE("auto takes the first backend that enforces all that is needed") {
    REQUIRE_OK_AND_ASSIGN(Choice native, ChooseBackend(Wish("auto"), SmallPlan(), NativeUser()));
    CHECK_EQ(std::string(native.backend->name), "native");
    CHECK(native.rendered.gaps.empty());
    REQUIRE_OK_AND_ASSIGN(Choice choice, ChooseBackend(Wish("auto"), SmallPlan(), DebianUser()));
    CHECK_EQ(std::string(choice.backend->name), "bwrap");
    CHECK(choice.rendered.gaps.empty());
  }

  TEST_CASE("auto never runs a plan that confines without confinement") {
    CHECK_DIAGNOSTIC(
        ChooseBackend(Wish("auto"), SmallPlan(), WithoutBubblewrap()), kFailedPrecondition,
        "no backend can enforce this policy: native: this kernel has no open_tree, "
        "move_mount and fsopen, or refuses them; bwrap: not installed",
        "", "native: Linux 5.2 and newer have them; bwrap: apt-get install bubblewrap");
  }

  TEST_CASE("a plan that confines nothing takes 'none', whatever was wished for") {
    Plan plan = SmallPlan();
    plan.confined = false;
    plan.mounts.clear();
    plan.needs = {{Feature::kEnvironment, 0}, {Feature::kDescriptors, 0}};
    for (const char* name : {"auto", "bwrap", "none"}) {
      REQUIRE_OK_AND_ASSIGN(Choice choice, ChooseBackend(Wish(name), plan, WithoutBubblewrap()));
      CHECK_EQ(std::string(choice.backend->name), "none");
      const auto& steps = choice.rendered.script.steps;
      REQUIRE_EQ(steps.size(), 3);
      CHECK(std::holds_alternative<CloseOthers>(steps[0]));
      CHECK_EQ(std::get<ChangeDir>(steps[1]).path, "/w");
      CHECK_EQ(std::get<Exec>(steps[2]).path, "/usr/bin/make");
      CHECK_EQ(absl::StrJoin(std::get<Exec>(steps[2]).argv, " "), "make -j2");
      CHECK_EQ(std::get<Exec>(steps[2]).env[1], "AGENT_EXEC_BACKEND=none");
    }
  }

  TEST_CASE("'none' is refused for a plan that confines, unless the loss is accepted by name") {
    CHECK_DIAGNOSTIC(ChooseBackend(Wish("none"), SmallPlan(), DebianUser()), kFailedPrecondition,
                     "cannot use the backend that was asked for: none: mounts is not enforced: the "
                     "backend 'none' confines nothing",
                     "built-in workspace-write:7:3", "'--weaken run-unsandboxed' accepts that");
    REQUIRE_OK_AND_ASSIGN(Choice choice,
                          ChooseBackend(Wish("none"), SmallPlan(), DebianUser(), kUnsandboxed));
    CHECK_EQ(choice.rendered.gaps.size(), 3);
  }

  TEST_CASE("run-unsandboxed lets auto go without confinement only where nothing can enforce") {
    REQUIRE_OK_AND_ASSIGN(Choice kept,
                          ChooseBackend(Wish("auto"), SmallPlan(), DebianUser(), kUnsandboxed));
    CHECK_EQ(std::string(kept.backend->name), "bwrap");
    REQUIRE_OK_AND_ASSIGN(
        Choice lost, ChooseBackend(Wish("auto"), SmallPlan(), WithoutBubblewrap(), kUnsandboxed));
    CHECK_EQ(std::string(lost.backend->name), "none");
    // Who names a backend does not want another.
    CHECK_ERROR(ChooseBackend(Wish("bwrap"), SmallPlan(), WithoutBubblewrap(), kUnsandboxed),
                kFailedPrecondition, "bwrap: not installed");
  }

  TEST_CASE("an unknown backend is an error with the nearest name") {
    CHECK_DIAGNOSTIC(ChooseBackend(Wish("bwarp"), SmallPlan(), DebianUser()), kInvalidArgument,
                     "unknown backend 'bwarp': one of auto, native, bwrap, none", "--backend",
                     "did you mean 'bwrap'?");
    Plan unconfined = SmallPlan();
    unconfined.confined = false;
    CHECK_ERROR(ChooseBackend(Wish("docker"), unconfined, DebianUser()), kInvalidArgument,
                "unknown backend 'docker'");
  }

  TEST_CASE("an error of rendering keeps its place and its hint") {
    Plan plan = SmallPlan();
    plan.open_files = 16;
    absl::Status status = ChooseBackend(Wish("bwrap"), plan, DebianUser()).status();
    CHECK_ERROR(status, kResourceExhausted, "bwrap: bubblewrap needs 22 descriptors");
    CHECK_FALSE(ToDiagnostic(status).hint.empty());
  }

  TEST_CASE("what a renderer declares enforced is what its backend can enforce") {
    for (const Backend& backend : Backends()) {
      REQUIRE_OK_AND_ASSIGN(Rendered rendered, backend.render(SmallPlan(), DebianUser()));
      for (Feature feature : rendered.enforced) {
        bool listed = false;
        for (Feature offered : backend.features) listed = listed || offered == feature;
        CHECK(listed);
      }
      CHECK(std::is_sorted(rendered.enforced.begin(), rendered.enforced.end()));
    }
  }
}

}  // namespace
}  // namespace agent_exec
