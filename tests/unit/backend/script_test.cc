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

  TEST_CASE("the steps of a sandbox of our own are shown exactly") {
    Script script;
    script.blobs = {"[user]\n", std::string("\x06\0\0\0\0\0\xff\x7f", 8)};
    EnterNamespaces namespaces;
    namespaces.ids = {"0 0 1\n5 5 2\n", "0 0 1\n", false, true};
    script.steps = {StartSweeper{-1},
                    namespaces,
                    PinTree{0, "/", false, false, 0},
                    PinTree{1, "/w x", true, false, 0},
                    NewTmpfs{2, 01777, 4096, 0},
                    EnterRoot{0},
                    LoopbackUp{},
                    OpenStore{0, 0555},
                    MakeMountPoint{"/tmp/a", Node::kFile},
                    Attach{1, "/w x", 0},
                    CoverTree{"/w x/.git", true, false, 0},
                    CoverTree{"/proc/irq", true, true, 0},
                    AttachMask{"/w x/.env", Node::kFile, 0},
                    AttachData{"/root/.gitconfig", 0, 0444, 0},
                    CloseStore{},
                    MountProc{"/proc"},
                    MountDevpts{"/dev/pts"},
                    MakeSymlink{"/dev/fd", "/proc/self/fd", 0},
                    SetReadOnly{"/dev"},
                    DropPrivileges{},
                    ForkCommand{},
                    RestrictLandlock{0xc00f, 3, {{"/", -1, true, 0xd}, {"", 1, false, 0x4002}}},
                    InstallFilter{1}};
    CHECK_EQ(FormatScript(script),
             "start-sweeper\n"
             "enter-namespaces user mount ipc uts cgroup net pid\n"
             "  ids written by the parent\n"
             "  uid 0 0 1\n"
             "  uid 5 5 2\n"
             "  gid 0 0 1\n"
             "pin-tree 0 /\n"
             "pin-tree 1 '/w x' writable\n"
             "new-tmpfs 2 mode 1777 size 4096\n"
             "enter-root 0\n"
             "loopback-up\n"
             "open-store file 0000 directory 0555\n"
             "make-mount-point file /tmp/a\n"
             "attach 1 '/w x'\n"
             "cover-tree '/w x/.git' read-only\n"
             "cover-tree /proc/irq read-only optional\n"
             "attach-mask file '/w x/.env'\n"
             "attach-data /root/.gitconfig mode 0444 of 7 bytes\n"
             "  '[user]\\n'\n"
             "close-store\n"
             "mount-proc /proc\n"
             "mount-devpts /dev/pts\n"
             "make-symlink /dev/fd to /proc/self/fd\n"
             "set-read-only /dev\n"
             "drop-privileges\n"
             "fork-command\n"
             "restrict-landlock execute write-file read-file read-dir truncate ioctl-dev "
             "scope-abstract-sockets scope-signals\n"
             "  in / execute read-file read-dir\n"
             "  descriptor 1 write-file truncate\n"
             "install-filter of 8 bytes\n"
             "     0  allow\n");
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
