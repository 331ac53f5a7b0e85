#include "policy/builtin.h"

#include <iterator>

// The texts are parsed at every start, so they are short: what a list is for stands in comments
// here, not in the TOML.
// --show-policy prints them entry by entry.

namespace agent_exec {
namespace {

// The environment holds what programs need to work and nothing that can be a secret: proxy and
// package index addresses (GOPROXY, PIP_INDEX_URL, HTTP_PROXY) often hold a password, so they are
// for the user to name.
constexpr BuiltinProfile kCommon = {"common", R"(backend = "auto"
error-format = "text"
in-place = false
keep-background = false
root-chown = "ignore"
quiet = false
verbose = false
[filesystem]
denied = "error"
[env]
allow = [
"PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "OLDPWD", "TMPDIR", "TZ", "LANG", "LANGUAGE",
"LC_*", "TERM", "TERMINFO", "TERMINFO_DIRS", "TERM_PROGRAM", "COLORTERM", "NO_COLOR",
"FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LS_COLORS", "COLUMNS", "LINES", "CI", "EDITOR",
"VISUAL", "PAGER", "LESS", "MANPATH", "DEBIAN_FRONTEND", "SOURCE_DATE_EPOCH", "XDG_CACHE_HOME",
"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR",
"NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH",
"AWS_CA_BUNDLE", "CARGO_HTTP_CAINFO", "PIP_CERT", "NIX_SSL_CERT_FILE", "CC", "CXX", "CFLAGS",
"CXXFLAGS", "CPPFLAGS", "LDFLAGS", "PKG_CONFIG_PATH", "NODE_ENV", "JAVA_HOME", "JDK_HOME",
"MAVEN_HOME", "M2_HOME", "GRADLE_HOME", "GRADLE_USER_HOME", "SDKMAN_DIR", "ANDROID_HOME",
"ANDROID_SDK_ROOT", "GOPATH", "GOROOT", "GOMODCACHE", "GOCACHE", "GOTOOLCHAIN", "CARGO_HOME",
"RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "CARGO_TARGET_DIR", "NVM_DIR", "NVM_BIN", "FNM_DIR",
"VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR", "COREPACK_HOME", "PYENV_ROOT",
"PYENV_VERSION", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "UV_CACHE_DIR", "PIPX_HOME",
"RBENV_ROOT", "RBENV_VERSION", "GEM_HOME", "DOTNET_ROOT", "NUGET_PACKAGES", "OPAM_SWITCH_PREFIX",
"STACK_ROOT", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "HOMEBREW_PREFIX",
]
)"};

// Both confined modes protect the same names: whoever adds "--write ." to read-only has not asked
// for hooks in .git. Files that a program of the host obeys when the user next opens the directory,
// what other people's sessions hold, and what was built or installed with more rights than this
// command has.
#define AE_CONFINED                                                         \
  "[network]\n"                                                             \
  "mode = \"none\"\n"                                                       \
  "[filesystem]\n"                                                          \
  "home = \"private\"\n"                                                    \
  "tmp = \"private\"\n"                                                     \
  "git = \"read-only\"\n"                                                   \
  "nested-repositories = \"protect\"\n"                                     \
  "read = [\"/\", \".\"]\n"                                                 \
  "deny-write = [\n"                                                        \
  "{ path = \".git\", missing = \"block\" },\n"                             \
  "{ path = \".agent-exec.toml\", kind = \"dir\", missing = \"block\" },\n" \
  "{ path = \"data/agent-sessions\", missing = \"allow\" },\n"              \
  "{ path = \".env\", missing = \"allow\" },\n"                             \
  "{ path = \".env.*\", missing = \"allow\" },\n"                           \
  "{ path = \"node_modules\", missing = \"allow\" },\n"                     \
  "{ path = \".next\", missing = \"allow\" },\n"                            \
  "{ path = \".envrc\", missing = \"allow\" },\n"                           \
  "{ path = \".vscode\", missing = \"allow\" },\n"                          \
  "{ path = \".idea\", missing = \"allow\" },\n"                            \
  "{ path = \".mcp.json\", missing = \"allow\" },\n"                        \
  "{ path = \".claude\", missing = \"allow\" },\n"                          \
  "{ path = \".codex\", missing = \"allow\" },\n"                           \
  "{ path = \".cursor\", missing = \"allow\" },\n"                          \
  "{ path = \".husky\", missing = \"allow\" },\n"                           \
  "]\n"

// In the order of Mode. None sets `mode`: it is the mode that chooses one of them.
constexpr BuiltinProfile kModes[] = {
    {"read-only", AE_CONFINED},
    {"workspace-write", AE_CONFINED R"(write = [
".",
{ path = "node_modules/.cache", missing = "allow" },
{ path = "node_modules/.vite*", missing = "allow" },
]
)"},
    {"danger-full-access", R"([network]
mode = "host"
[filesystem]
home = "read"
tmp = "host"
git = "full"
nested-repositories = "ignore"
)"},
};

#undef AE_CONFINED

// Sorted by name.
constexpr BuiltinProfile kNamed[] = {
    {"agent", R"([filesystem]
deny-read = ["**/.env*", "!**/.env.example"]
)"},
    {"build", R"([filesystem]
deny-write = ["!.next"]
)"},
    {"install", R"([filesystem]
deny-write = ["!node_modules"]
)"},
};

}  // namespace

const BuiltinProfile& BuiltinCommon() { return kCommon; }

const BuiltinProfile& BuiltinForMode(Mode mode) {
  static_assert(std::size(kModes) == static_cast<size_t>(Mode::kDangerFullAccess) + 1);
  return kModes[static_cast<size_t>(mode)];
}

absl::Span<const BuiltinProfile> NamedBuiltins() { return kNamed; }

}  // namespace agent_exec
