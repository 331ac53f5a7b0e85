#include "base/path.h"

#include <string>
#include <vector>

#include "support/doctest.h"
#include "support/random.h"

namespace agent_exec {
namespace {

using testing::Random;

TEST_SUITE("base/path") {
  TEST_CASE("cleaning folds slashes and dots and resolves .. against the text") {
    const struct {
      const char* path;
      const char* clean;
    } cases[] = {
        {"/", "/"},
        {"//", "/"},
        {"/.", "/"},
        {"/..", "/"},
        {"/../..", "/"},
        {"/../a", "/a"},
        {"/a", "/a"},
        {"/a/", "/a"},
        {"/a//b", "/a/b"},
        {"/a/./b/.", "/a/b"},
        {"/a/../b", "/b"},
        {"/a/b/../../c", "/c"},
        {"/a/..", "/"},
        {"/a/../..", "/"},
        {"/a/...", "/a/..."},
        {"/.a/..b", "/.a/..b"},
        {"/a\xff/\n/..", "/a\xff"},
    };
    for (const auto& c : cases) {
      CAPTURE(c.path);
      CHECK_EQ(Clean(c.path), c.clean);
      CHECK_EQ(IsClean(c.path), std::string(c.path) == c.clean);
    }
  }

  TEST_CASE("a path that is relative, empty or holds a NUL is not clean") {
    CHECK_FALSE(IsClean(""));
    CHECK_FALSE(IsClean("a/b"));
    CHECK_FALSE(IsClean("./a"));
    CHECK_FALSE(IsClean(absl::string_view("/a\0b", 4)));
    CHECK(HasNul(absl::string_view("\0", 1)));
    CHECK_FALSE(HasNul(""));
  }

  TEST_CASE("cleaning is idempotent, its result is clean, and a clean path is its own clean form") {
    Random random(1);
    for (int i = 0; i < 5000; ++i) {
      const std::string path = "/" + random.Text("/.a/", 12);
      CAPTURE(path);
      const std::string clean = Clean(path);
      CHECK(IsClean(clean));
      CHECK_EQ(Clean(clean), clean);
      CHECK_EQ(IsClean(path), path == clean);
    }
  }

  TEST_CASE("joining puts exactly one slash between the parts") {
    CHECK_EQ(Join("/a", "b"), "/a/b");
    CHECK_EQ(Join("/a/", "b/c"), "/a/b/c");
    CHECK_EQ(Join("/a//", "b"), "/a/b");
    CHECK_EQ(Join("/", "b"), "/b");
    CHECK_EQ(Join("//", "b"), "/b");
    CHECK_EQ(Join("a", "b"), "a/b");
  }

  TEST_CASE("joining an absolute second part gives that part, and an empty part nothing") {
    CHECK_EQ(Join("/a", "/b"), "/b");
    CHECK_EQ(Join("/a", "/"), "/");
    CHECK_EQ(Join("/a", ""), "/a");
    CHECK_EQ(Join("/", ""), "/");
    CHECK_EQ(Join("", "b"), "b");
  }

  TEST_CASE("dirname and basename take a clean path apart") {
    CHECK_EQ(Dirname("/"), "/");
    CHECK_EQ(Dirname("/x"), "/");
    CHECK_EQ(Dirname("/x/y"), "/x");
    CHECK_EQ(Basename("/"), "");
    CHECK_EQ(Basename("/x"), "x");
    CHECK_EQ(Basename("/x/y"), "y");
  }

  TEST_CASE("under means the same path or a whole component below") {
    CHECK(IsUnder("/a", "/a"));
    CHECK(IsUnder("/a/b", "/a"));
    CHECK(IsUnder("/a/b", "/"));
    CHECK(IsUnder("/", "/"));
    CHECK_FALSE(IsUnder("/ab", "/a"));
    CHECK_FALSE(IsUnder("/a", "/a/b"));
    CHECK_FALSE(IsUnder("/", "/a"));
    CHECK_FALSE(IsUnder("/b/a", "/a"));
  }

  TEST_CASE("the part below a root has no leading slash") {
    CHECK_EQ(RelativeTo("/a", "/a"), "");
    CHECK_EQ(RelativeTo("/a/b/c", "/a"), "b/c");
    CHECK_EQ(RelativeTo("/a/b", "/"), "a/b");
    CHECK_EQ(RelativeTo("/", "/"), "");
  }

  TEST_CASE("ancestors come root first and the path itself last") {
    CHECK(AncestorsAndSelf("/") == std::vector<absl::string_view>{"/"});
    CHECK(AncestorsAndSelf("/a") == std::vector<absl::string_view>{"/", "/a"});
    CHECK(AncestorsAndSelf("/a/bc/d") ==
          std::vector<absl::string_view>{"/", "/a", "/a/bc", "/a/bc/d"});
  }

  TEST_CASE("every ancestor holds the path, and joining the parts gives the path back") {
    Random random(2);
    for (int i = 0; i < 2000; ++i) {
      const std::string path = Clean("/" + random.Text("ab/", 12));
      CAPTURE(path);
      for (const absl::string_view ancestor : AncestorsAndSelf(path)) {
        CHECK(IsClean(ancestor));
        CHECK(IsUnder(path, ancestor));
        CHECK_EQ(Join(ancestor, RelativeTo(path, ancestor)), path);
      }
      CHECK_EQ(Join(Dirname(path), Basename(path)), path);
    }
  }
}

}  // namespace
}  // namespace agent_exec
