#include "app/trust.h"

#include <string>

#include "support/doctest.h"
#include "support/status.h"
#include "support/text_files.h"

namespace agent_exec {
namespace {

using namespace testing;

TextFiles Databases() {
  TextFiles files;
  files.Add("/etc/passwd",
            "root:x:0:0:root:/root:/bin/sh\n"
            "u:x:1000:1000::/home/u:/bin/sh\n"
            "v:x:1001:1001::/home/v:/bin/sh\n"
            "w:x:1002:1003::/home/w:/bin/sh\n"
            "broken line\n",
            0);
  files.Add("/etc/group",
            "root:x:0:\n"
            "u:x:1000:\n"
            "v:x:1001:v,u\n"
            "staff:x:1002:u\n"
            "w:x:1003:\n",
            0);
  return files;
}

NodeInfo Node(uint32_t uid, uint32_t gid, uint32_t mode) {
  NodeInfo info;
  info.type = NodeType::kFile;
  info.uid = uid;
  info.gid = gid;
  info.mode = mode;
  return info;
}

TEST_SUITE("app/trust") {
  TEST_CASE("a group is its owner's alone when nobody else is in it") {
    TextFiles files = Databases();
    CHECK(IsOnlyMember(1000, 1000, files));
    CHECK(IsOnlyMember(1000, 1002, files));        // listed as the one member
    CHECK_FALSE(IsOnlyMember(1001, 1001, files));  // another one is listed
    CHECK_FALSE(IsOnlyMember(1000, 1003, files));  // another one's first group
    CHECK_FALSE(IsOnlyMember(1000, 4242, files));  // unknown group
    CHECK_FALSE(IsOnlyMember(4242, 1000, files));  // unknown user
    TextFiles none;
    CHECK_FALSE(IsOnlyMember(1000, 1000, none));
  }

  TEST_CASE("the caller's and root's files are trusted unless others may write them") {
    struct Row {
      NodeInfo info;
      bool any_owner;
      const char* described;
    };
    const Row rows[] = {
        {Node(1000, 1000, 0644), false, "OK"},
        {Node(0, 0, 0644), false, "OK"},
        {Node(1000, 1000, 0664), false, "OK"},
        {Node(1000, 1001, 0664), false,
         "PERMISSION_DENIED: policy file 'p.toml' can be written by group 1001, which is not its "
         "owner's alone |  | chmod g-w p.toml"},
        {Node(1000, 1000, 0646), false,
         "PERMISSION_DENIED: policy file 'p.toml' can be written by everybody |  | chmod go-w "
         "p.toml"},
        {Node(1001, 1001, 0644), false,
         "PERMISSION_DENIED: policy file 'p.toml' belongs to user 1001, neither to you nor to root "
         "|  | read it, then take it over: chown 1000 p.toml"},
        {Node(1001, 1001, 0644), true, "OK"},
        {Node(1001, 1001, 0666), true,
         "PERMISSION_DENIED: policy file 'p.toml' can be written by everybody |  | chmod go-w "
         "p.toml"},
    };
    for (const Row& row : rows) {
      TextFiles files = Databases();
      CHECK_EQ(DescribeStatus(CheckTrust(row.info, "p.toml", 1000, row.any_owner, files)),
               row.described);
    }
  }

  TEST_CASE("root trusts no other user's file") {
    TextFiles files = Databases();
    CHECK_ERROR(CheckTrust(Node(1000, 1000, 0644), "p.toml", 0, false, files), kPermissionDenied,
                "belongs to user 1000");
  }
}

}  // namespace
}  // namespace agent_exec
