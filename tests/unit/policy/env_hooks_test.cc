#include "policy/env_hooks.h"

#include <string>

#include "policy/builtin.h"
#include "support/doctest.h"
#include "support/status.h"

namespace agent_exec {
namespace {

TEST_SUITE("policy/env_hooks") {
  TEST_CASE("variables that run code in other programs are hooks") {
    for (const char* name : {"LD_PRELOAD",       "LD_LIBRARY_PATH",
                             "LD_AUDIT",         "DYLD_INSERT_LIBRARIES",
                             "BASH_ENV",         "ENV",
                             "BASH_FUNC_ls%%",   "NODE_OPTIONS",
                             "PYTHONSTARTUP",    "PYTHONPATH",
                             "PERL5OPT",         "PERL5LIB",
                             "RUBYOPT",          "JAVA_TOOL_OPTIONS",
                             "_JAVA_OPTIONS",    "JDK_JAVA_OPTIONS",
                             "GIT_CONFIG",       "GIT_CONFIG_COUNT",
                             "GIT_CONFIG_KEY_0", "GIT_SSH",
                             "GIT_SSH_COMMAND",  "GIT_EXTERNAL_DIFF",
                             "RUSTC_WRAPPER",    "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER",
                             "LESSOPEN",         "MAKEFLAGS",
                             "GCONV_PATH",       "npm_config_script_shell",
                             "LUA_INIT_5_4"}) {
      CHECK_MESSAGE(IsEnvHook(name), name);
    }
  }

  TEST_CASE("variables that only resemble a hook are none") {
    for (const char* name :
         {"LDFLAGS", "LD", "ENVIRONMENT", "PATH", "HOME", "GIT_AUTHOR_NAME", "GIT_DIR", "JAVA_HOME",
          "NODE_ENV", "XLD_PRELOAD", "ld_preload", "", "CARGO_TARGET_DIR", "CARGO_TARGET__RUNNE"}) {
      CHECK_MESSAGE(!IsEnvHook(name), name);
    }
  }

  TEST_CASE("the table is sorted, unique, and has at most one wildcard to a name") {
    std::string previous;
    for (const EnvHook& hook : EnvHooks()) {
      const std::string name = hook.name;
      CHECK_MESSAGE(previous < name, name);
      CHECK_MESSAGE(name.find('*') == name.rfind('*'), name);
      CHECK_MESSAGE(name != "*", name);
      CHECK_MESSAGE(std::string(hook.what) != "", name);
      previous = name;
    }
  }

  TEST_CASE("the built-in environment passes no hook") {
    REQUIRE_OK_AND_ASSIGN(const Layer layer, ReadBuiltin(BuiltinCommon()));
    for (const Assignment& assignment : layer.assignments) {
      if (absl::string_view(assignment.setting->key) != "env.allow") continue;
      CHECK_MESSAGE(!IsEnvHook(assignment.value.text), assignment.value.text);
    }
  }
}

}  // namespace
}  // namespace agent_exec
