#include "backend/script.h"

#include "support/doctest.h"

namespace agent_exec {
namespace {

TEST_SUITE("backend/script") {
  TEST_CASE("every step is a line, and what it holds stands below it exactly") {
    Script script;
    script.blobs = {std::string("--bind\0/a b\0/a b\0--chdir\0/w\n\0", 29), "one\ntwo \x1b"};
    script.steps.emplace_back(MakeLastingDir{"/home/u/.cache/agent-exec/tmp"});
    script.steps.emplace_back(MakePlaceholder{{"/w/.git", Node::kDirectory, false, "/w", 0}});
    script.steps.emplace_back(StartSweeper{5});
    script.steps.emplace_back(HoldLink{{"/w/.git", "../git data", 0}});
    script.steps.emplace_back(PassBlob{3, 0, "bwrap-args"});
    script.steps.emplace_back(PassBlob{4, 1, "data:/etc/x"});
    script.steps.emplace_back(PassNull{6});
    script.steps.emplace_back(SetLimit{Resource::kFileSize, 4096});
    script.steps.emplace_back(CloseOthers{{3, 4, 5, 6}});
    script.steps.emplace_back(ChangeDir{"/w"});
    script.steps.emplace_back(Exec{"/usr/bin/bwrap", {"bwrap", "it's"}, {"A=1", "B=\x1b[31m"}});
    CHECK_EQ(FormatScript(script),
             "make-lasting-dir /home/u/.cache/agent-exec/tmp\n"
             "make-placeholder directory /w/.git beneath /w\n"
             "start-sweeper info-fd 5\n"
             "hold-link /w/.git to '../git data'\n"
             "pass-blob 3 bwrap-args of 29 bytes\n"
             "  --bind '/a b' '/a b'\n"
             "  --chdir '/w\\n'\n"
             "pass-blob 4 data:/etc/x of 9 bytes\n"
             "  'one\\n'\n"
             "  'two \\x1b'\n"
             "pass-null 6\n"
             "set-limit file-size 4096\n"
             "close-others but 0 1 2 3 4 5 6\n"
             "change-dir /w\n"
             "exec /usr/bin/bwrap\n"
             "  argv bwrap 'it\\'s'\n"
             "  env 'A=1'\n"
             "  env 'B=\\x1b[31m'\n");
  }

  TEST_CASE("a system call filter is shown as its instructions") {
    Script script;
    script.blobs = {std::string("\x06\0\0\0\0\0\xff\x7f", 8)};  // return allow
    script.steps.emplace_back(PassBlob{4, 0, kFilterBlobName});
    const std::string text = FormatScript(script);
    CHECK(text.find("pass-blob 4 seccomp-filter of 8 bytes\n  ") == 0);
    CHECK(text.find("allow") != std::string::npos);
  }
}

}  // namespace
}  // namespace agent_exec
