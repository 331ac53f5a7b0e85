#include "plan/system.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plan/resolve.h"
#include "plan/sockets.h"
#include "support/doctest.h"
#include "support/planning.h"
#include "support/status.h"

namespace agent_exec::testing {

TEST_SUITE("plan/system") {
  TEST_CASE("temporary directories are private with a size, or the host's") {
    Policy policy = PolicyOf("read /");
    policy.limits.tmp_size_bytes = Sourced<int64_t>{1 << 20, {}};
    FakeFileView files(kHost);
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf(policy, files));
    for (const char* line :
         {"rw tmpfs /tmp 1777 1048576\n", "rw tmpfs /var/tmp 1777 1048576\n",
          "rw tmpfs /dev/shm 1777 1048576\n", "rw tmpfs /home/u 700 1048576\n"}) {
      CHECK(absl::StrContains(FormatMounts(plan), line));
    }
    policy.tmp.value = TmpMode::kHost;
    REQUIRE_OK_AND_ASSIGN(const Plan host, PlanOf(policy, files));
    CHECK(absl::StrContains(FormatMounts(host), "rw bind /tmp\n"));
    CHECK(absl::StrContains(FormatMounts(host), "rw bind /var/tmp\n"));
  }

  TEST_CASE("temporary directories that are missing or links") {
    FakeFileView files(kHost);
    files.Remove("/var/tmp");
    REQUIRE_OK_AND_ASSIGN(const Plan missing, PlanOf(PolicyOf("read /"), files));
    CHECK_FALSE(absl::StrContains(FormatMounts(missing), "/var/tmp"));
    files.Add("/var/tmp -> /tmp");
    REQUIRE_OK_AND_ASSIGN(const Plan same, PlanOf(PolicyOf("read /"), files));
    CHECK_FALSE(absl::StrContains(FormatMounts(same), "/var/tmp"));
    files.Remove("/tmp");
    files.Add("/tmp -> private/tmp\n/private/tmp/");
    REQUIRE_OK_AND_ASSIGN(const Plan moved, PlanOf(PolicyOf("read /"), files));
    CHECK(absl::StrContains(FormatMounts(moved), "rw tmpfs /private/tmp 1777\n"));
    CHECK_FALSE(absl::StrContains(FormatMounts(moved), " /tmp"));
  }

  TEST_CASE("/run is hidden, and /var/run where it is another directory") {
    FakeFileView files(absl::StrCat(kHost, "/run/docker.sock socket\n/var/run/"));
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf(PolicyOf("read /"), files));
    CHECK(absl::StrContains(FormatMounts(plan), "ro tmpfs /run 755\n"));
    CHECK(absl::StrContains(FormatMounts(plan), "ro tmpfs /var/run 755\n"));
  }

  TEST_CASE("with the host's network the resolver's files in /run are shown") {
    FakeFileView files(absl::StrCat(
        kHost,
        "/etc/resolv.conf -> ../run/systemd/resolve/stub-resolv.conf\n"
        "/run/systemd/resolve/stub-resolv.conf\n"
        "/run/systemd/resolve/io.systemd.Resolve socket\n"
        "/proc/net/unix = 0: 2 0 10000 1 1 5 /run/systemd/resolve/io.systemd.Resolve\\n"));
    Policy policy = PolicyOf("read /");
    REQUIRE_OK_AND_ASSIGN(const Plan none, PlanOf(policy, files));
    CHECK_EQ(FormatOwnMounts(none), "");
    policy.network.value = NetworkMode::kHost;
    REQUIRE_OK_AND_ASSIGN(const Plan host, PlanOf(policy, files));
    CHECK_EQ(FormatOwnMounts(host),
             "ro bind /run/systemd/resolve\nmask file /run/systemd/resolve/io.systemd.Resolve\n");
    files.Remove("/etc/resolv.conf");
    files.Add("/etc/resolv.conf -> /run/resolv.conf\n/run/resolv.conf\n/run/secret");
    REQUIRE_OK_AND_ASSIGN(const Plan file, PlanOf(policy, files));
    CHECK_EQ(FormatOwnMounts(file), "ro bind /run/resolv.conf\n");
  }

  TEST_CASE("the links of NixOS in /run are there") {
    FakeFileView files(absl::StrCat(kHost, "/run/current-system -> /nix/store/x\n/nix/store/x/"));
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf(PolicyOf("read /"), files));
    CHECK_EQ(FormatOwnMounts(plan), "link /run/current-system -> /nix/store/x\n");
  }

  TEST_CASE("what only root can read is masked for root, unless a rule names it") {
    const std::string tree = absl::StrCat(kHost,
                                          "/etc/shadow mode=0640\n/etc/ssh/ssh_host_rsa_key "
                                          "mode=0600\n/etc/ssh/ssh_config\n/etc/ssl/private/");
    HostFacts root = FactsOf();
    root.uid = 0;
    root.env = {"HOME=/root", "PATH=/usr/bin"};
    FakeFileView files(tree, 0);
    REQUIRE_OK_AND_ASSIGN(const Plan plan,
                          ResolvePlan(PolicyOf("read /"), root, files, {"make"}, {}));
    CHECK_EQ(FormatOwnMounts(plan),
             "mask file /etc/shadow\nmask file /etc/ssh/ssh_host_rsa_key\nmask dir "
             "/etc/ssl/private\nrw tmpfs /root 700\n");
    REQUIRE_OK_AND_ASSIGN(const Plan named, ResolvePlan(PolicyOf("read /\nread /etc/shadow"), root,
                                                        files, {"make"}, {}));
    CHECK_FALSE(absl::StrContains(FormatOwnMounts(named), "/etc/shadow"));
    FakeFileView same(tree);
    REQUIRE_OK_AND_ASSIGN(const Plan user, PlanOf(PolicyOf("read /"), same));
    CHECK_EQ(FormatOwnMounts(user), "");
  }
}

TEST_SUITE("plan/sockets") {
  TEST_CASE("the paths of a socket list, each once") {
    const std::vector<std::string> paths = SocketPaths(
        "Num       RefCount Protocol Flags    Type St Inode Path\n"
        "0000000000000000: 00000003 00000000 00000000 0001 03 20150\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 20151 /run/b with blank\n"
        "0000000000000000: 00000003 00000000 00000000 0001 03 20152 /run/b with blank\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 20153 @/tmp/abstract\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 20154 relative\n"
        "0000000000000000: 00000002 00000000 00010000 0001 01 20155 /run/a\n");
    CHECK(paths == std::vector<std::string>{"/run/a", "/run/b with blank"});
    CHECK(SocketPaths("").empty());
  }

  TEST_CASE("a socket of the host is masked wherever it would be visible") {
    FakeFileView files(absl::StrCat(kHost, R"(
      /srv/s socket
      /srv/link -> deep/dir
      /srv/deep/dir/s socket
      /srv/file
      /w/dev.sock socket
      /run/docker.sock socket
      /home/u/agent socket
      /srv/idle socket
      /proc/net/unix = x: 2 0 10000 1 1 5 /srv/s\nx: 2 0 10000 1 1 5 /srv/link/s\nx: 2 0 10000 1 1 5 /srv/file\nx: 2 0 10000 1 1 5 /srv/gone\nx: 2 0 10000 1 1 5 /w/dev.sock\nx: 2 0 10000 1 1 5 /run/docker.sock\nx: 2 0 10000 1 1 5 /home/u/agent\n)"));
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf(PolicyOf("read /\nwrite ."), files));
    CHECK_EQ(FormatOwnMounts(plan),
             "mask file /srv/deep/dir/s\nmask file /srv/s\nrw bind /w\nmask file /w/dev.sock\n");
    // Even where a rule names it: reading a socket means nothing, and connecting is not asked for.
    REQUIRE_OK_AND_ASSIGN(const Plan named,
                          PlanOf(PolicyOf("read /\nread /run/docker.sock"), files));
    CHECK(absl::StrContains(FormatOwnMounts(named), "mask file /run/docker.sock\n"));
  }
}

}  // namespace agent_exec::testing
