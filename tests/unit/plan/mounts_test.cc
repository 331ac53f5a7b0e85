#include <string>

#include "absl/strings/str_cat.h"
#include "plan/access_map.h"
#include "plan/resolve.h"
#include "support/doctest.h"
#include "support/planning.h"
#include "support/status.h"

// What the mount list is for a policy and a tree: text in, text out.

namespace agent_exec::testing {
namespace {

struct MountCase {
  const char* name;
  const char* rules;
  const char* tree;
  const char* mounts;        // FormatOwnMounts
  const char* placeholders;  // FormatPlaceholders
  const char* notices;       // FormatNotices
};

void CheckCase(const MountCase& c) {
  CAPTURE(std::string(c.name));
  absl::StatusOr<Plan> plan = PlanOf(c.rules, c.tree);
  CHECK_OK(plan.status());
  if (!plan.ok()) return;
  CHECK_EQ(FormatOwnMounts(*plan), std::string(c.mounts));
  CHECK_EQ(FormatPlaceholders(*plan), std::string(c.placeholders));
  CHECK_EQ(FormatNotices(*plan), std::string(c.notices));
}

}  // namespace

TEST_SUITE("plan/mounts") {
  TEST_CASE("the whole list of a plain policy: ancestors first, one mount for a path") {
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf("read /\nwrite .", ""));
    CHECK_EQ(FormatMounts(plan), std::string("ro bind /\n"
                                             "dev /dev\n"
                                             "rw tmpfs /dev/shm 1777\n"
                                             "ro tmpfs /home 755\n"
                                             "rw tmpfs /home/u 700\n"
                                             "proc /proc\n"
                                             "ro tmpfs /root 700\n"
                                             "ro tmpfs /run 755\n"
                                             "rw tmpfs /tmp 1777\n"
                                             "rw tmpfs /var/tmp 1777\n"
                                             "rw bind /w\n"));
  }

  TEST_CASE(
      "on the same path deny-read beats deny-write, deny-write beats write, write beats read") {
    const MountCase cases[] = {
        {"read and write", "read /\nread /data\nwrite /data", "/data/", "rw bind /data\n", "", ""},
        {"deny-write", "read /\nwrite .\nwrite /w/d\ndeny-write /w/d", "/w/d/",
         "rw bind /w\nro bind /w/d\n", "", ""},
        {"deny-read", "read /\nwrite .\ndeny-write /w/d\ndeny-read /w/d", "/w/d/",
         "rw bind /w\nmask dir /w/d\n", "", ""},
        {"the order of the rules does not matter",
         "deny-read /w/d\nwrite /w/d\ndeny-write /w/d\nwrite .\nread /", "/w/d/",
         "rw bind /w\nmask dir /w/d\n", "", ""},
    };
    for (const MountCase& c : cases) CheckCase(c);
  }

  TEST_CASE("the deepest path wins") {
    const MountCase cases[] = {
        {"a write below a deny-write", "read /\nwrite .\ndeny-write n\nwrite n/c", "/w/n/c/",
         "rw bind /w\nro bind /w/n\nrw bind /w/n/c\n", "", ""},
        {"a read below a write", "read /\nwrite .\nread n", "/w/n/", "rw bind /w\nro bind /w/n\n",
         "", ""},
        {"a read below a deny-read", "read /\nwrite .\ndeny-read n\nread n/c", "/w/n/c/",
         "rw bind /w\nmask dir /w/n\nro bind /w/n/c\n", "", ""},
        {"a deny-read below that", "read /\nwrite .\ndeny-read n\nread n/c\ndeny-read n/c/d",
         "/w/n/c/d", "rw bind /w\nmask dir /w/n\nro bind /w/n/c\nmask file /w/n/c/d\n", "", ""},
    };
    for (const MountCase& c : cases) CheckCase(c);
  }

  TEST_CASE("a mount that changes nothing is left out") {
    const MountCase cases[] = {
        {"a read below a read", "read /\nread /usr", "", "", "", ""},
        {"a write below a write", "read /\nwrite .\nwrite a", "/w/a/", "rw bind /w\n", "", ""},
        {"a deny-write where nothing is writable", "read /\ndeny-write .git\ndeny-write a", "/w/a/",
         "", "", ""},
        {"a deny-read below a deny-read", "read /\nwrite .\ndeny-read a\ndeny-read a/b", "/w/a/b",
         "rw bind /w\nmask dir /w/a\n", "", ""},
        {"a deny-read of what is hidden",
         "read /\ndeny-read ~/.ssh\ndeny-read /run/s\ndeny-read /tmp/x",
         "/home/u/.ssh/\n/run/s\n/tmp/x", "", "", ""},
        {"a deny-write in what is private", "read /\ndeny-write ~/.bashrc\ndeny-write /tmp/x",
         "/tmp/x", "", "", ""},
        {"a deny-read of what is missing", "read /\nwrite .\ndeny-read .env\ndeny-read no/such", "",
         "rw bind /w\n", "", ""},
        {"a deny-write below a denied directory", "read /\nwrite .\ndeny-read a\ndeny-write a/b",
         "/w/a/b/", "rw bind /w\nmask dir /w/a\n", "", ""},
    };
    for (const MountCase& c : cases) CheckCase(c);
  }

  TEST_CASE("a rule that another one beats is kept for explanations") {
    REQUIRE_OK_AND_ASSIGN(const Plan plan,
                          PlanOf("read /\nwrite .\nwrite a\ndeny-read a", "/w/a/"));
    REQUIRE_EQ(plan.shadowed.size(), 1u);
    CHECK_EQ(plan.shadowed[0].target, "/w/a");
    CHECK_EQ(FormatOrigin(plan.origins[plan.shadowed[0].loser]), "p:3:1");
    CHECK_EQ(FormatOrigin(plan.origins[plan.shadowed[0].winner]), "p:4:1");
  }

  TEST_CASE(
      "without a read of the root only what is named is there, with the links that lead to it") {
    CheckCase({"merged /usr", "read /usr\nread /bin\nwrite .", "/bin -> usr/bin",
               "link /bin -> usr/bin\nro bind /usr\nrw bind /w\n", "", ""});
    CheckCase({"a link to a link", "read /usr\nread /w\nread /l1/make",
               "/l1 -> /l2\n/l2 -> usr/bin",
               "link /l1 -> /l2\nlink /l2 -> usr/bin\nro bind /usr\nro bind /w\n", "", ""});
    CheckCase(
        {"what the host shows needs no link", "read /\nread /bin", "/bin -> usr/bin", "", "", ""});
  }

  TEST_CASE("a denied root is an empty one, in which deeper rules still show something") {
    CheckCase({"root", "read /\ndeny-read /\nread /usr\nwrite .", "/etc/secret",
               "ro bind /usr\nrw bind /w\n", "", ""});
  }

  TEST_CASE("a workspace below a private directory is mounted after it") {
    for (const char* workspace : {"/tmp/p/w", "/home/u/src/w", "/var/tmp/w", "/run/w", "/root/w"}) {
      CAPTURE(std::string(workspace));
      FakeFileView files(absl::StrCat(kHost, workspace, "/"), 0);
      Policy policy = PolicyOf("read /\nwrite .");
      policy.workspace = Sourced<std::string>{workspace, {}};
      policy.chdir = Sourced<std::string>{workspace, {}};
      REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf(policy, files));
      CHECK_EQ(FormatOwnMounts(plan), absl::StrCat("rw bind ", workspace, "\n"));
      CHECK_EQ(plan.command.cwd, workspace);
    }
  }

  TEST_CASE("a path below a private directory shows the host's") {
    CheckCase({"read", "read /\nread /tmp/x\nwrite /tmp/y", "/tmp/x\n/tmp/y/",
               "ro bind /tmp/x\nrw bind /tmp/y\n", "", ""});
    CheckCase(
        {"home", "read /\nread ~/notes", "/home/u/notes/", "ro bind /home/u/notes\n", "", ""});
  }

  TEST_CASE(
      "a missing path to read or write is an error with its place, unless the rule allows it") {
    for (const char* want : {"read", "write"}) {
      CHECK_DIAGNOSTIC(PlanOf(absl::StrCat("read /\n", want, " no/such"), ""), kNotFound,
                       "cannot bind '/w/no/such': No such file or directory", "p:2:1",
                       "{ path = \"…\", missing = \"allow\" } takes it as it comes");
      CHECK_OK(PlanOf(absl::StrCat("read /\n", want, " no/such missing=allow"), ""));
    }
  }

  TEST_CASE("the root cannot be made writable, nor what is made new for each run") {
    CHECK_DIAGNOSTIC(PlanOf("read /\nwrite /", ""), kInvalidArgument,
                     "cannot make '/' writable: that leaves no sandbox", "p:2:1",
                     "name the directories, or use --mode danger-full-access");
    CHECK_ERROR(PlanOf("read /\nwrite /proc", ""), kInvalidArgument,
                "/proc is made new for each run");
    CHECK_ERROR(PlanOf("read /\nwrite /dev", ""), kInvalidArgument,
                "/dev is made new for each run");
    CHECK_ERROR(PlanOf("read /\ndeny-write /proc/sys", "/proc/sys/"), kInvalidArgument,
                "/proc is made new");
    // Reading them is nothing new.
    CheckCase({"read", "read /\nread /proc\nread /dev\nread /proc/net", "", "", "", ""});
  }

  TEST_CASE("a file of /proc can be denied, but not one of a process") {
    CheckCase({"file", "read /\ndeny-read /proc/cpuinfo", "/proc/cpuinfo",
               "mask file /proc/cpuinfo\n", "", ""});
    CHECK_ERROR(
        PlanOf("read /\ndeny-read /proc/self/environ", "/proc/self -> 12\n/proc/12/environ"),
        kInvalidArgument, "processes have other numbers inside");
  }

  TEST_CASE("a rule may name a file, a socket or a device") {
    CheckCase({"files", "read /\nwrite /data/f\nread /data/s\ndeny-read /data/p",
               "/data/f\n/data/s socket\n/data/p fifo", "rw bind /data/f\nmask file /data/p\n", "",
               ""});
  }

  TEST_CASE("odd names are names") {
    CheckCase({"escaped", "read /\nwrite .\ndeny-read a\\{b\\*c", "/w/a{b*c/",
               "rw bind /w\nmask dir /w/a{b*c\n", "", ""});
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf("read /\nwrite .\ndeny-read q'\"x", "/w/q'\"x"));
    CHECK_EQ(FormatOwnMounts(plan), "rw bind /w\nmask file /w/q'\"x\n");
  }
}

TEST_SUITE("plan/protect") {
  TEST_CASE("a protected path is read-only, and no directory above it can be renamed") {
    const MountCase cases[] = {
        {"in the root itself", "read /\nwrite .\ndeny-write a", "/w/a/",
         "rw bind /w\nro bind /w/a\n", "", ""},
        {"deeper", "read /\nwrite .\ndeny-write a/b/c", "/w/a/b/c/",
         "rw bind /w\nrw bind /w/a (pin)\nrw bind /w/a/b (pin)\nro bind /w/a/b/c\n", "", ""},
        {"below what cannot be written there is nothing to rename",
         "read /\nwrite .\ndeny-write a\nwrite a/b\ndeny-write a/b/c/d", "/w/a/b/c/d",
         "rw bind /w\nro bind /w/a\nrw bind /w/a/b\nrw bind /w/a/b/c (pin)\nro bind /w/a/b/c/d\n",
         "", ""},
        {"a writable root inside another is reached by names that can be renamed",
         "read /\nwrite .\nread a\nwrite a/b/r\ndeny-write a/b/r/p", "/w/a/b/r/p",
         "rw bind /w\nro bind /w/a\nrw bind /w/a/b/r\nro bind /w/a/b/r/p\n", "", ""},
        {"a match of a pattern is not pinned", "read /\nwrite .\ndeny-write */x", "/w/a/x/\n/w/b/x",
         "rw bind /w\nro bind /w/a/x\nro bind /w/b/x\n", "", ""},
        {"a literal beside a pattern is", "read /\nwrite .\ndeny-write */x\ndeny-write a/x",
         "/w/a/x/", "rw bind /w\nrw bind /w/a (pin)\nro bind /w/a/x\n", "", ""},
    };
    for (const MountCase& c : cases) CheckCase(c);
  }

  TEST_CASE("a missing protected name gets a placeholder, and so do its missing parents") {
    const MountCase cases[] = {
        {"a directory", "read /\nwrite .\ndeny-write .git missing=block", "",
         "rw bind /w\nro bind /w/.git (placeholder)\n", "dir /w/.git in /w\n", ""},
        {"by default too", "read /\nwrite .\ndeny-write .git", "",
         "rw bind /w\nro bind /w/.git (placeholder)\n", "dir /w/.git in /w\n", ""},
        {"a name that tools read as a file",
         "read /\nwrite .\ndeny-write .npmrc\ndeny-write x.toml\ndeny-write .env.local", "",
         "rw bind /w\nro bind /w/.env.local (placeholder)\nro bind /w/.npmrc (placeholder)\nro "
         "bind /w/x.toml (placeholder)\n",
         "file /w/.env.local in /w\nfile /w/.npmrc in /w\nfile /w/x.toml in /w\n", ""},
        {"the rule says what it is",
         "read /\nwrite .\ndeny-write x kind=file\ndeny-write y.json kind=dir", "",
         "rw bind /w\nro bind /w/x (placeholder)\nro bind /w/y.json (placeholder)\n",
         "file /w/x in /w\ndir /w/y.json in /w\n", ""},
        {"parents", "read /\nwrite .\ndeny-write a/b/c.json", "/w/a/",
         "rw bind /w\nrw bind /w/a (pin)\nrw bind /w/a/b (pin)\nro bind /w/a/b/c.json "
         "(placeholder)\n",
         "dir /w/a/b in /w writable\nfile /w/a/b/c.json in /w\n", ""},
        {"one inside another", "read /\nwrite .\ndeny-write a/b\ndeny-write a/b/c", "",
         "rw bind /w\nrw bind /w/a (pin)\nro bind /w/a/b (placeholder)\n",
         "dir /w/a in /w writable\ndir /w/a/b in /w\n", ""},
        {"missing = allow", "read /\nwrite .\ndeny-write a missing=allow", "", "rw bind /w\n", "",
         ""},
        {"where nothing can be made", "read /\ndeny-write .git\ndeny-write /data/x", "/data/", "",
         "", ""},
        {"a pattern blocks nothing", "read /\nwrite .\ndeny-write .env.*", "", "rw bind /w\n", "",
         ""},
        {"below a file: the file stays one", "read /\nwrite .\ndeny-write a/b", "/w/a",
         "rw bind /w\nrw bind /w/a (pin)\n", "", ""},
    };
    for (const MountCase& c : cases) CheckCase(c);
  }

  TEST_CASE("a protected name that is a symlink: its target is protected and the link is held") {
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf("read /\nwrite .\ndeny-write d/.git",
                                                  "/w/d/.git -> ../gitdata/x\n/w/gitdata/x/"));
    CHECK_EQ(FormatOwnMounts(plan),
             "rw bind /w\nrw bind /w/d (pin)\nrw bind /w/gitdata (pin)\nro bind /w/gitdata/x\n");
    REQUIRE_EQ(plan.held_links.size(), 1u);
    CHECK_EQ(plan.held_links[0].path, "/w/d/.git");
    CHECK_EQ(plan.held_links[0].text, "../gitdata/x");
    bool needs_links = false;
    for (const Need& need : plan.needs) {
      if (need.feature != Feature::kLinks) continue;
      needs_links = true;
      CHECK_EQ(FormatOrigin(plan.origins[need.origin]), "p:3:1");
    }
    CHECK(needs_links);
  }

  TEST_CASE("a symlink whose directory cannot be written needs no holding") {
    REQUIRE_OK_AND_ASSIGN(const Plan plan, PlanOf("read /\nwrite .\nread d\ndeny-write d/x",
                                                  "/w/d/x -> ../t\n/w/t/"));
    CHECK_EQ(FormatOwnMounts(plan), "rw bind /w\nro bind /w/d\nro bind /w/t\n");
    CHECK(plan.held_links.empty());
  }

  TEST_CASE(
      "a protected symlink that leads nowhere is held, and its target cannot come into being") {
    REQUIRE_OK_AND_ASSIGN(const Plan plan,
                          PlanOf("read /\nwrite .\ndeny-write .git", "/w/.git -> gone"));
    CHECK_EQ(FormatOwnMounts(plan), "rw bind /w\nro bind /w/gone (placeholder)\n");
    CHECK_EQ(plan.held_links.size(), 1u);
    REQUIRE_OK_AND_ASSIGN(const Plan loop,
                          PlanOf("read /\nwrite .\ndeny-write .git", "/w/.git -> .git"));
    CHECK_EQ(FormatOwnMounts(loop), "rw bind /w\n");
    CHECK_EQ(loop.held_links.size(), 1u);
  }

  TEST_CASE("a placeholder of another run is held by this one too") {
    CheckCase(
        {"a directory, a file, and a parent",
         "read /\nwrite .\ndeny-write .git\ndeny-write .npmrc\ndeny-write a/b",
         "/w/.git/ mode=0555 mtime=1000000000\n/w/.npmrc mode=0444 mtime=1000000000\n"
         "/w/a/ mode=0755 mtime=1000000000\n/w/a/b/ mode=0555 mtime=1000000000",
         "rw bind /w\nro bind /w/.git (placeholder)\nro bind /w/.npmrc (placeholder)\n"
         "rw bind /w/a (pin)\nro bind /w/a/b (placeholder)\n",
         "dir /w/.git in /w\nfile /w/.npmrc in /w\ndir /w/a in /w writable\ndir /w/a/b in /w\n",
         ""});
    CheckCase({"one that need not be there is like anything else",
               "read /\nwrite .\ndeny-write .env missing=allow",
               "/w/.env mode=0444 mtime=1000000000", "rw bind /w\nro bind /w/.env\n", "", ""});
    CheckCase({"an empty directory that another run is about to remove is not there",
               "read /\nwrite .\ndeny-write **/.git",
               "/w/a/.git/ mode=0555 mtime=1000000000\n/w/b/.git/ mode=0555\n"
               "/w/c/.git/ mode=0555 mtime=1000000000\n/w/c/.git/HEAD",
               "rw bind /w\nro bind /w/b/.git\nro bind /w/c/.git\n", "", ""});
  }

  TEST_CASE("the mark of a placeholder makes nothing invisible to the rules") {
    CheckCase({"a denied file below", "read /\nwrite .\ndeny-read d/.env\ndeny-write p",
               "/w/d/ mode=0755 mtime=1000000000\n/w/d/.env = s\n/w/p/ mode=0755 "
               "mtime=1000000000\n/w/p/x",
               "rw bind /w\nmask file /w/d/.env\nro bind /w/p\n", "", ""});
    CheckCase({"a denied file of that look", "read /\nwrite .\ndeny-read .env",
               "/w/.env mode=0444 mtime=1000000000", "rw bind /w\nmask file /w/.env\n", "", ""});
  }

  TEST_CASE("policy files and the launcher are protected where they could be written") {
    FakeFileView files(absl::StrCat(kHost, "/w/policy.toml\n/w/bin/agent-exec mode=0755"));
    HostFacts facts = FactsOf();
    facts.self_path = "/w/bin/agent-exec";
    REQUIRE_OK_AND_ASSIGN(
        const Plan plan,
        ResolvePlan(PolicyOf("read /\nwrite ."), facts, files, {"make"},
                    {"/etc/agent-exec/policy.toml", "/home/u/.config/agent-exec/policy.toml",
                     "/w/.agent-exec.toml", "/w/policy.toml"}));
    CHECK_EQ(FormatOwnMounts(plan),
             "rw bind /w\n"
             "ro bind /w/.agent-exec.toml (placeholder)\n"
             "rw bind /w/bin (pin)\n"
             "ro bind /w/bin/agent-exec\n"
             "ro bind /w/policy.toml\n");
    CHECK_EQ(FormatPlaceholders(plan), "file /w/.agent-exec.toml in /w\n");
  }
}

TEST_SUITE("plan/deny") {
  TEST_CASE("a denied symlink masks what it leads to") {
    CheckCase({"inside", "read /\nwrite .\ndeny-read .env", "/w/.env -> s/real\n/w/s/real",
               "rw bind /w\nmask file /w/s/real\n", "", ""});
    CheckCase({"outside", "read /\nwrite .\ndeny-read .env", "/w/.env -> /srv/real\n/srv/real",
               "mask file /srv/real\nrw bind /w\n", "", ""});
    CheckCase(
        {"nowhere", "read /\nwrite .\ndeny-read .env", "/w/.env -> gone", "rw bind /w\n", "", ""});
    CheckCase({"in a circle", "read /\nwrite .\ndeny-read .env", "/w/.env -> .env", "rw bind /w\n",
               "", ""});
  }

  TEST_CASE("a denied file with more names is reported") {
    CheckCase({"two", "read /\nwrite .\ndeny-read .env", "/w/.env = s\n/w/b hardlink /w/.env",
               "rw bind /w\nmask file /w/.env\n", "",
               "hard-link: '/w/.env' has 2 hard links: it may be readable by another name\n"});
    CheckCase({"by a pattern", "read /\nwrite .\ndeny-read .env*",
               "/w/.env = s\n/w/b hardlink /w/.env", "rw bind /w\nmask file /w/.env\n", "",
               "hard-link: '/w/.env' has 2 hard links: it may be readable by another name\n"});
    CheckCase({"hidden anyway", "read /\ndeny-read ~/x", "/home/u/x\n/home/u/y hardlink /home/u/x",
               "", "", ""});
  }

  TEST_CASE("rules without metacharacters never read a directory") {
    FakeFileView files(absl::StrCat(kHost, "/w/.env\n/w/d/k"));
    Policy policy =
        PolicyOf("read /\nwrite .\ndeny-read .env\ndeny-read d/k\ndeny-write .git\nread d");
    policy.nested_repositories.value = NestedRepositories::kIgnore;
    CHECK_OK(PlanOf(policy, files));
    CHECK(files.listed.empty());
  }

  TEST_CASE("an exclamation mark takes earlier entries of the same list back") {
    const MountCase cases[] = {
        {"a literal", "read /\nwrite .\ndeny-write a\ndeny-write !a", "/w/a/", "rw bind /w\n", "",
         ""},
        {"the order counts", "read /\nwrite .\ndeny-write !a\ndeny-write a", "/w/a/",
         "rw bind /w\nro bind /w/a\n", "",
         "takes-back-nothing: '!a' takes back nothing: no earlier entry of its list is for that "
         "path\n"},
        {"only of the same list", "read /\nwrite .\ndeny-read a\ndeny-write a\ndeny-write !a",
         "/w/a/", "rw bind /w\nmask dir /w/a\n", "", ""},
        {"literals by a pattern", "read /\nwrite .\ndeny-read a\ndeny-read b\ndeny-read !?",
         "/w/a\n/w/b", "rw bind /w\n", "", ""},
        {"matches by a literal", "read /\nwrite .\ndeny-read .env*\ndeny-read !.env.example",
         "/w/.env\n/w/.env.example", "rw bind /w\nmask file /w/.env\n", "", ""},
        {"matches by a pattern", "read /\nwrite .\ndeny-read **/.env*\ndeny-read !**/.env.example",
         "/w/.env\n/w/a/.env.example\n/w/a/.env.x",
         "rw bind /w\nmask file /w/.env\nmask file /w/a/.env.x\n", "", ""},
        {"and denied again after it",
         "read /\nwrite .\ndeny-read .e*\ndeny-read !.e*\ndeny-read .ex", "/w/.ex\n/w/.ey",
         "rw bind /w\nmask file /w/.ex\n", "", ""},
    };
    for (const MountCase& c : cases) CheckCase(c);
  }

  TEST_CASE("a pattern stands for what matches now") {
    const MountCase cases[] = {
        {"write", "read /\nwrite n/.vite*", "/w/n/.vite/\n/w/n/.vite-x/\n/w/n/v/",
         "rw bind /w/n/.vite\nrw bind /w/n/.vite-x\n", "", ""},
        {"a directory covers what is below", "read /\nwrite .\ndeny-read **/keys",
         "/w/a/keys/b/keys\n/w/keys", "rw bind /w\nmask dir /w/a/keys\nmask file /w/keys\n", "",
         ""},
        {"home and absolute patterns", "read /\nread ~/p/*.txt\ndeny-read /etc/s*",
         "/home/u/p/a.txt\n/home/u/p/b\n/etc/sx", "mask file /etc/sx\nro bind /home/u/p/a.txt\n",
         "", ""},
    };
    for (const MountCase& c : cases) CheckCase(c);
  }

  TEST_CASE("a pattern that opens something does not follow a symlink") {
    CheckCase(
        {"the match", "read /\nwrite .\ndeny-write n\nwrite n/.vite*",
         "/w/n/.vite -> /home/u/.ssh\n/home/u/.ssh/", "rw bind /w\nro bind /w/n\n", "",
         "link-not-followed: cannot bind '/w/n/.vite': a pattern does not follow symlinks\n"});
    CheckCase(
        {"a directory on the way", "read /\nwrite .\nwrite n/.ss*",
         "/w/n -> /home/u\n/home/u/.ssh/", "rw bind /w\n", "",
         "link-not-followed: cannot bind '/home/u/.ssh': a pattern does not follow symlinks\n"});
  }

  TEST_CASE("a rule that leads through a symlink which the command can make opens nothing new") {
    const char* kWhat = "it is reached through the symlink '/w/c', which the command can replace";
    CHECK_ERROR(PlanOf("read /\nwrite .\nwrite c", "/w/c -> /srv\n/srv/"), kInvalidArgument, kWhat);
    CHECK_ERROR(PlanOf("read /\nwrite .\nwrite c/x", "/w/c -> /srv\n/srv/x/"), kInvalidArgument,
                kWhat);
    CHECK_ERROR(PlanOf("read /\nread c", "/w/c -> /home/u/.ssh\n/home/u/.ssh/"), kInvalidArgument,
                kWhat);
    CHECK_ERROR(
        PlanOf("read /\nwrite .\ndeny-write .git\nwrite c", "/w/c -> .git/hooks\n/w/.git/hooks/"),
        kInvalidArgument, kWhat);
    // What holds without the rule may be said again.
    CheckCase({"nothing new", "read /\nwrite .\nwrite c\nread c", "/w/c -> d\n/w/d/",
               "rw bind /w\n", "", ""});
    CheckCase({"optional", "read /\nwrite .\nwrite c missing=allow", "/w/c -> /srv\n/srv/",
               "rw bind /w\n", "",
               "link-not-followed: cannot bind 'c': it is reached through the symlink '/w/c', "
               "which the command can "
               "replace\n"});
    // Links that only the user can make are followed.
    CheckCase({"outside", "read /\nwrite /l", "/l -> /srv\n/srv/", "rw bind /srv\n", "", ""});
  }
}

}  // namespace agent_exec::testing
