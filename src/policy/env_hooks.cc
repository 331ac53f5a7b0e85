#include "policy/env_hooks.h"

#include "absl/strings/match.h"

namespace agent_exec {
namespace {

constexpr EnvHook kEnvHooks[] = {
    {"BASHOPTS", "bash"},
    {"BASH_ENV", "bash"},
    {"BASH_FUNC_*", "bash (exported functions)"},
    {"BUN_OPTIONS", "bun"},
    {"CARGO_BUILD_RUSTC*", "cargo"},
    {"CARGO_TARGET_*_LINKER", "cargo"},
    {"CARGO_TARGET_*_RUNNER", "cargo"},
    {"CLASSPATH", "java"},
    {"COMPlus_*", ".NET"},
    {"CORECLR_*", ".NET (profilers)"},
    {"COR_*", ".NET (profilers)"},
    {"DOTNET_ADDITIONAL_DEPS", ".NET"},
    {"DOTNET_SHARED_STORE", ".NET"},
    {"DOTNET_STARTUP_HOOKS", ".NET"},
    {"DYLD_*", "the dynamic loader of macOS"},
    {"ELIXIR_ERL_OPTIONS", "elixir"},
    {"EMACSLOADPATH", "emacs"},
    {"ENV", "sh"},
    {"ERL_*", "erlang"},
    {"EXINIT", "vi"},
    {"FPATH", "zsh and ksh"},
    {"GCONV_PATH", "the C library (iconv modules)"},
    {"GETCONF_DIR", "getconf"},
    {"GIO_EXTRA_MODULES", "GLib"},
    {"GIO_MODULE_DIR", "GLib"},
    {"GIT_ASKPASS", "git"},
    {"GIT_CONFIG*", "git"},
    {"GIT_EDITOR", "git"},
    {"GIT_EXEC_PATH", "git"},
    {"GIT_EXTERNAL_DIFF", "git"},
    {"GIT_PAGER", "git"},
    {"GIT_PROXY_COMMAND", "git"},
    {"GIT_SEQUENCE_EDITOR", "git"},
    {"GIT_SSH*", "git"},
    {"GIT_TEMPLATE_DIR", "git (hooks of new repositories)"},
    {"GLIBC_TUNABLES", "the C library"},
    {"GNUMAKEFLAGS", "make"},
    {"GOENV", "go"},
    {"GOFLAGS", "go"},
    {"GRADLE_OPTS", "gradle"},
    {"GTK_MODULES", "GTK"},
    {"GTK_PATH", "GTK"},
    {"GUILE_*", "guile"},
    {"HOSTALIASES", "the resolver"},
    {"JAVA_OPTS", "java launchers"},
    {"JAVA_TOOL_OPTIONS", "java"},
    {"JDK_*_OPTIONS", "java"},
    {"JULIA_LOAD_PATH", "julia"},
    {"KSHRC", "ksh"},
    {"LD_*", "the dynamic loader"},
    {"LESSCLOSE", "less"},
    {"LESSOPEN", "less"},
    {"LOCPATH", "the C library"},
    {"LUA_CPATH*", "lua"},
    {"LUA_INIT*", "lua"},
    {"LUA_PATH*", "lua"},
    {"MAKEFILES", "make"},
    {"MAKEFLAGS", "make"},
    {"MALLOC_*", "the C library"},
    {"MANPAGER", "man"},
    {"MAVEN_OPTS", "maven"},
    {"MFLAGS", "make"},
    {"NLSPATH", "the C library"},
    {"NODE_OPTIONS", "node"},
    {"NODE_PATH", "node"},
    {"NODE_REPL_EXTERNAL_MODULE", "node"},
    {"NPM_CONFIG_*", "npm"},
    {"OCAMLRUNPARAM", "ocaml"},
    {"OPENSSL_CONF", "OpenSSL"},
    {"OPENSSL_ENGINES", "OpenSSL"},
    {"OPENSSL_MODULES", "OpenSSL"},
    {"PERL5DB", "perl"},
    {"PERL5LIB", "perl"},
    {"PERL5OPT", "perl"},
    {"PERLIO", "perl"},
    {"PERLLIB", "perl"},
    {"PHPRC", "php"},
    {"PHP_INI_SCAN_DIR", "php"},
    {"PROMPT_COMMAND", "bash"},
    {"PS4", "sh (expanded when it traces)"},
    {"PSModulePath", "PowerShell"},
    {"PYTHON*", "python"},
    {"QT_PLUGIN_PATH", "Qt"},
    {"RESOLV_HOST_CONF", "the resolver"},
    {"RES_OPTIONS", "the resolver"},
    {"RUBYLIB", "ruby"},
    {"RUBYOPT", "ruby"},
    {"RUSTC*", "cargo"},
    {"RUSTDOC*", "cargo"},
    {"RUSTFLAGS", "rustc (linker)"},
    {"R_ENVIRON*", "R"},
    {"R_PROFILE*", "R"},
    {"SBT_OPTS", "sbt"},
    {"SHELLOPTS", "bash"},
    {"SSH_ASKPASS*", "ssh"},
    {"SSLKEYLOGFILE", "TLS libraries (session keys)"},
    {"SUDO_ASKPASS", "sudo"},
    {"SUDO_EDITOR", "sudo"},
    {"TCLLIBPATH", "tcl"},
    {"VIMINIT", "vim"},
    {"ZDOTDIR", "zsh"},
    {"_JAVA_OPTIONS", "java"},
    {"npm_config_*", "npm"},
};

// One '*' at most, anywhere.
bool Matches(absl::string_view pattern, absl::string_view name) {
  const size_t star = pattern.find('*');
  if (star == absl::string_view::npos) return name == pattern;
  const absl::string_view tail = pattern.substr(star + 1);
  return name.size() + 1 >= pattern.size() && absl::StartsWith(name, pattern.substr(0, star)) &&
         absl::EndsWith(name, tail);
}

}  // namespace

absl::Span<const EnvHook> EnvHooks() { return kEnvHooks; }

bool IsEnvHook(absl::string_view name) {
  for (const EnvHook& hook : kEnvHooks) {
    if (Matches(hook.name, name)) return true;
  }
  return false;
}

}  // namespace agent_exec
