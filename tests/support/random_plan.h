#pragma once

// Random policies over random trees, for properties that hold for all of them.

#include <string>

#include "plan/plan.h"
#include "support/random.h"

namespace agent_exec::testing {

struct RandomCase {
  std::string rules;  // for PolicyOf (support/planning.h)
  std::string tree;   // for FakeFileView, on top of kHost
};

// A few directories, files, links and sockets with short names below /w, /srv, /home/u and /tmp, so
// that rules meet; and rules of all kinds about them, a third of them patterns. Always "read /" or
// a read of /w and /usr.
RandomCase MakeRandomCase(Random* random);
// One rule: "deny-read a/*".
std::string RandomRule(Random* random, const char* want);
// A plan made from such a case; cases that the policy rules out are passed over. Confined, with a
// command.
Plan MakeRandomPlan(Random* random);

}  // namespace agent_exec::testing
