#pragma once

// Hosts by name, for tests that ask what happens on them.

#include <string>
#include <vector>

#include "host/facts.h"

namespace agent_exec::testing {

// Debian 12 with bubblewrap 0.8, below a filter that knows no mount calls, so that nothing but
// bubblewrap can be taken: user 1000 of "/home/u", started in "/w".
inline HostFacts DebianUser() {
  HostFacts facts;
  facts.uid = 1000;
  facts.gid = 1000;
  facts.cwd = "/w";
  facts.env = {"HOME=/home/u", "LANG=C.UTF-8",         "PATH=/usr/local/bin:/usr/bin:/bin",
               "PWD=/w",       "SECRET_TOKEN=hunter2", "TERM=xterm",
               "USER=u"};
  facts.self_path = "/usr/local/bin/agent-exec";
  facts.knows_wrappers = true;
  facts.bwrap.path = "/usr/bin/bwrap";
  facts.bwrap.version = "0.8.0";
  facts.bwrap.features = {"add-seccomp-fd",
                          "args",
                          "as-pid-1",
                          "assert-userns-disabled",
                          "bind",
                          "bind-data",
                          "bind-fd",
                          "bind-try",
                          "block-fd",
                          "cap-add",
                          "cap-drop",
                          "chdir",
                          "chmod",
                          "clearenv",
                          "dev",
                          "dev-bind",
                          "dev-bind-try",
                          "die-with-parent",
                          "dir",
                          "disable-userns",
                          "exec-label",
                          "file",
                          "file-label",
                          "gid",
                          "help",
                          "hostname",
                          "info-fd",
                          "json-status-fd",
                          "lock-file",
                          "mqueue",
                          "new-session",
                          "perms",
                          "pidns",
                          "proc",
                          "remount-ro",
                          "ro-bind",
                          "ro-bind-data",
                          "ro-bind-fd",
                          "ro-bind-try",
                          "seccomp",
                          "setenv",
                          "share-net",
                          "size",
                          "symlink",
                          "sync-fd",
                          "tmpfs",
                          "uid",
                          "unsetenv",
                          "unshare-all",
                          "unshare-cgroup",
                          "unshare-cgroup-try",
                          "unshare-ipc",
                          "unshare-net",
                          "unshare-pid",
                          "unshare-user",
                          "unshare-user-try",
                          "unshare-uts",
                          "userns",
                          "userns-block-fd",
                          "userns2",
                          "version"};
  facts.user_namespaces = true;
  facts.max_open_files = 1024;
  facts.hard_max_open_files = 1048576;
  return facts;
}

// The same host, root.
inline HostFacts DebianRoot() {
  HostFacts facts = DebianUser();
  facts.uid = 0;
  facts.gid = 0;
  facts.env = {"HOME=/root", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
               "USER=root"};
  return facts;
}

// Debian 12 as it is: the launcher can make the sandbox itself, with Landlock of ABI 2.
inline HostFacts NativeUser() {
  HostFacts facts = DebianUser();
  facts.mount_calls = true;
  facts.landlock_abi = 2;
  return facts;
}

// The same host, root.
inline HostFacts NativeRoot() {
  HostFacts facts = DebianRoot();
  facts.mount_calls = true;
  facts.landlock_abi = 2;
  facts.full_uid_map = "0 0 4294967295\n";
  facts.full_gid_map = "0 0 4294967295\n";
  return facts;
}

// A host on which bubblewrap was never installed.
inline HostFacts WithoutBubblewrap() {
  HostFacts facts = DebianUser();
  facts.bwrap = Tool{};
  facts.bwrap.problem = "not installed";
  facts.bwrap.hint = "apt-get install bubblewrap";
  return facts;
}

// Debian 10's bubblewrap 0.3, which knows neither --perms nor --size.
inline HostFacts WithOldBubblewrap() {
  HostFacts facts = DebianUser();
  facts.bwrap.version = "0.3.1";
  std::vector<std::string> known;
  for (const std::string& feature : facts.bwrap.features) {
    if (feature != "perms" && feature != "size" && feature != "chmod") known.push_back(feature);
  }
  facts.bwrap.features = known;
  return facts;
}

// A container that refuses user namespaces.
inline HostFacts WithoutUserNamespaces() {
  HostFacts facts = NativeUser();
  facts.user_namespaces = false;
  facts.user_namespaces_problem = "unshare: Operation not permitted";
  return facts;
}

inline HostFacts Mac() {
  HostFacts facts = DebianUser();
  facts.os = Os::kMacos;
  facts.arch = Arch::kAarch64;
  facts.bwrap = Tool{};
  facts.user_namespaces = false;
  return facts;
}

}  // namespace agent_exec::testing
