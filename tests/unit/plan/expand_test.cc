#include "plan/expand.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "plan/resolve.h"
#include "support/doctest.h"
#include "support/planning.h"
#include "support/status.h"

namespace agent_exec::testing {
namespace {

Pattern MakePattern(Want want, const char* text, bool takes_back = false) {
  absl::StatusOr<Glob> glob = Glob::Compile("/w", text);
  REQUIRE_OK(glob.status());
  return {want, takes_back, *std::move(glob), "p:1:1", text};
}

absl::StatusOr<std::string> Expand(const std::vector<Pattern>& patterns, FakeFileView* files) {
  PathResolver paths(files);
  absl::StatusOr<Expansion> expansion = ExpandPatterns(patterns, 1000, &paths, files);
  if (!expansion.ok()) return expansion.status();
  std::string out;
  for (const Match& match : expansion->matches) {
    absl::StrAppend(&out, out.empty() ? "" : " ", match.path, ":", match.pattern);
  }
  for (const std::string& path : expansion->other_filesystems)
    absl::StrAppend(&out, " other:", path);
  return out;
}

std::string Listed(const FakeFileView& files) {
  std::string out;
  for (const std::string& path : files.listed) absl::StrAppend(&out, out.empty() ? "" : " ", path);
  return out;
}

}  // namespace

TEST_SUITE("plan/expand") {
  TEST_CASE("a pattern without ** reads only the directories that it can match in") {
    FakeFileView files("/w/.env.a\n/w/d/.env.b\n/w/e/x");
    REQUIRE_OK_AND_ASSIGN(const std::string found,
                          Expand({MakePattern(Want::kDenyRead, ".env.*")}, &files));
    CHECK_EQ(found, "/w/.env.a:0");
    CHECK_EQ(Listed(files), "/w");
  }

  TEST_CASE("patterns that share a root are found in one walk, and a match is not walked into") {
    FakeFileView files("/w/a/.env\n/w/a/k.pem\n/w/a/.git/x/.env\n/w/b/k.pem/.env");
    REQUIRE_OK_AND_ASSIGN(
        const std::string found,
        Expand({MakePattern(Want::kDenyRead, "**/.env"), MakePattern(Want::kDenyRead, "**/.git"),
                MakePattern(Want::kDenyRead, "**/*.pem")},
               &files));
    CHECK_EQ(found, "/w/a/.env:0 /w/a/.git:1 /w/a/k.pem:2 /w/b/k.pem:2");
    CHECK_EQ(files.listed.size(), 3u);
  }

  TEST_CASE(
      "a protected directory is searched for what is denied in it, a denied one for nothing that "
      "is denied") {
    FakeFileView files("/w/p/.env\n/w/p/p\n/w/s/.env\n/w/s/p");
    REQUIRE_OK_AND_ASSIGN(const std::string found, Expand({MakePattern(Want::kDenyWrite, "**/p"),
                                                           MakePattern(Want::kDenyRead, "**/.env"),
                                                           MakePattern(Want::kDenyRead, "**/s")},
                                                          &files));
    CHECK_EQ(found, "/w/p:0 /w/p/.env:1 /w/s:2");
  }

  TEST_CASE("what is taken back is walked into") {
    FakeFileView files("/w/a/b/c");
    REQUIRE_OK_AND_ASSIGN(
        const std::string found,
        Expand({MakePattern(Want::kDenyRead, "**"), MakePattern(Want::kDenyRead, "a", true),
                MakePattern(Want::kDenyRead, "a/b", true)},
               &files));
    CHECK_EQ(found, "/w:0");
    REQUIRE_OK_AND_ASSIGN(
        const std::string second,
        Expand({MakePattern(Want::kDenyRead, "**/*"), MakePattern(Want::kDenyRead, "a", true),
                MakePattern(Want::kDenyRead, "a/b", true)},
               &files));
    CHECK_EQ(second, "/w/a/b/c:0");
  }

  TEST_CASE("symlinks are matched but not followed; a root that is one is") {
    FakeFileView files("/w/l -> /srv\n/srv/x.env\n/w/x.env -> /srv/x.env\n/w/loop -> .");
    REQUIRE_OK_AND_ASSIGN(const std::string found,
                          Expand({MakePattern(Want::kDenyRead, "**/*.env")}, &files));
    CHECK_EQ(found, "/w/x.env:0");
    REQUIRE_OK_AND_ASSIGN(const std::string below,
                          Expand({MakePattern(Want::kDenyRead, "l/*.env")}, &files));
    CHECK_EQ(below, "/srv/x.env:0");
  }

  TEST_CASE("other file systems are left out, and named") {
    FakeFileView files("/w/m/ dev=2\n/w/m/.env\n/w/.env");
    REQUIRE_OK_AND_ASSIGN(const std::string found,
                          Expand({MakePattern(Want::kDenyRead, "**/.env")}, &files));
    CHECK_EQ(found, "/w/.env:0 other:/w/m");
  }

  TEST_CASE("a file system that does not tell types is asked for each entry") {
    FakeFileView files("/w/d/ unlistable\n/w/d/.env unlistable");
    REQUIRE_OK_AND_ASSIGN(const std::string found,
                          Expand({MakePattern(Want::kDenyRead, "**/.env")}, &files));
    CHECK_EQ(found, "/w/d/.env:0");
  }

  TEST_CASE(
      "a directory that cannot be read is an error where the command could get at what is in it") {
    struct Case {
      const char* tree;
      bool good;
    };
    const Case cases[] = {
        {"/w/d/ mode=0000 uid=1000", false},  // the command may chmod it
        {"/w/d/ mode=0700 uid=0", true},      // closed to the command as well
        {"/w/d/ mode=0711 uid=0", false},     // files in it can be opened by name
    };
    for (const Case& c : cases) {
      CAPTURE(std::string(c.tree));
      FakeFileView files(absl::StrCat(c.tree, "\n/w/d/.env"));
      absl::StatusOr<std::string> found = Expand({MakePattern(Want::kDenyRead, "**/.env")}, &files);
      if (c.good) {
        CHECK_OK(found.status());
      } else {
        CHECK_DIAGNOSTIC(found.status(), kFailedPrecondition,
                         "cannot look for '**/.env' in '/w/d': Permission denied", "p:1:1",
                         "deny the directory itself, or make it readable");
      }
      CHECK_OK(Expand({MakePattern(Want::kRead, "**/.env")}, &files));
    }
  }

  TEST_CASE("a missing root, or one that is a file, has no matches") {
    FakeFileView files("/w/f");
    for (const char* pattern : {"gone/*", "f/*", "gone/**/x"}) {
      REQUIRE_OK_AND_ASSIGN(const std::string found,
                            Expand({MakePattern(Want::kDenyRead, pattern)}, &files));
      CHECK_EQ(found, "");
    }
  }

  TEST_CASE("a path too long to name is an error, not a hole") {
    std::string path = "/w";
    for (int i = 0; i < 400; ++i) path += "/directory-x";
    FakeFileView files(path);
    CHECK_ERROR(Expand({MakePattern(Want::kDenyRead, "**/.env")}, &files), kFailedPrecondition,
                "File name too long");
  }

  TEST_CASE("the number of matches is told for each rule") {
    REQUIRE_OK_AND_ASSIGN(const Plan plan,
                          PlanOf("read /\ndeny-read *.pem\ndeny-read !a.pem\ndeny-write **/x",
                                 "/w/a.pem\n/w/b.pem\n/w/c.pem"));
    REQUIRE_EQ(plan.globs.size(), 2u);
    CHECK_EQ(plan.globs[0].pattern, "*.pem");
    CHECK_EQ(plan.globs[0].matches, 2);
    CHECK_EQ(plan.globs[1].matches, 0);
  }
}

}  // namespace agent_exec::testing
