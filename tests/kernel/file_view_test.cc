// KernelFileView on real files.

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernel/old_kernel.h"
#include "os/file_calls.h"
#include "os/kernel_file_view.h"
#include "support/doctest.h"
#include "support/subprocess.h"

namespace agent_exec {
namespace {

constexpr size_t kMax = 1 << 20;

TEST_SUITE_BEGIN("kernel/file_view");

TEST_CASE("Resolve gives the path without symlinks, by descriptor and by walking alike") {
  TempDir dir;
  mkdir((dir / "real").c_str(), 0755);
  WriteTestFile(dir / "real/file", "x");
  WriteTestFile(dir / "real/odd (deleted)", "x");
  WriteTestFile(dir / "real/new\nline", "x");
  const std::pair<const char*, const char*> links[] = {{"real", "link"},
                                                       {"link/file", "to_file"},
                                                       {"../x", "up"},
                                                       {"loop", "loop"},
                                                       {"none", "dangling"}};
  for (const auto& [target, name] : links) {
    REQUIRE(symlink(target, (dir / name).c_str()) == 0);
  }
  REQUIRE(symlink((dir / "real").c_str(), (dir / "absolute").c_str()) == 0);
  struct Case {
    const char* path;
    const char* real;
    int error;
  };
  const Case cases[] = {
      {"real/file", "real/file", 0},
      {"link/file", "real/file", 0},
      {"to_file", "real/file", 0},
      {"absolute/../real/./file", "real/file", 0},
      {"link/..", ".", 0},
      {"real/", "real", 0},
      {"real/odd (deleted)", "real/odd (deleted)", 0},
      {"real/new\nline", "real/new\nline", 0},
      {"real/file/", "", ENOTDIR},
      {"real/file/..", "", ENOTDIR},
      {"none", "", ENOENT},
      {"dangling", "", ENOENT},
      {"loop", "", ELOOP},
      {"loop/x", "", ELOOP},
  };
  KernelFileView files;
  for (const Case& c : cases) {
    CAPTURE(c.path);
    std::string want = c.error != 0                 ? "untouched"
                       : std::string(c.real) == "." ? dir.path()
                                                    : dir / c.real;
    for (bool walk : {false, true}) {
      CAPTURE(walk);
      std::string real = "untouched";
      NodeInfo info;
      int error = walk ? files.ResolveByWalking(dir / c.path, &real, &info)
                       : files.Resolve(dir / c.path, &real, &info);
      CHECK(error == c.error);
      CHECK(real == want);
    }
  }
}

TEST_CASE("Resolve needs no right to read what it resolves") {
  TempDir dir;
  WriteTestFile(dir / "closed", "x", 0);
  std::string real;
  NodeInfo info;
  CHECK(KernelFileView().Resolve(dir / "closed", &real, &info) == 0);
  CHECK(info.mode == 0);
  CHECK(info.type == NodeType::kFile);
  CHECK(info.uid == geteuid());
  if (geteuid() == 0) return;
  mkdir((dir / "d").c_str(), 0);
  CHECK(KernelFileView().Resolve(dir / "d/x", &real, &info) == EACCES);
}

TEST_CASE("paths that the kernel would cut or refuse are errors") {
  KernelFileView files;
  NodeInfo info;
  std::string text;
  CHECK(files.Lstat(absl::string_view("/etc\0/x", 7), &info) == ENOENT);
  CHECK(files.Lstat("", &info) == ENOENT);
  CHECK(files.Resolve(std::string(5000, 'x'), &text, &info) == ENAMETOOLONG);
  CHECK(files.ResolveByWalking("/" + std::string(4000, 'x'), &text, &info) == ENAMETOOLONG);
}

TEST_CASE("ListDir gives every entry of a large directory with its type") {
  TempDir dir;
  mkdir((dir / "d").c_str(), 0755);
  REQUIRE(symlink("d", (dir / "l").c_str()) == 0);
  mkfifo((dir / "p").c_str(), 0600);
  std::vector<std::string> expected = {"d", "l", "p"};
  for (int i = 0; i < 3000; ++i) {
    std::string name = absl::StrCat("a-name-that-takes-some-room-", i);
    WriteTestFile(dir / name, "");
    expected.push_back(name);
  }
  std::vector<DirEntry> entries;
  REQUIRE(KernelFileView().ListDir(dir.path(), &entries) == 0);
  std::vector<std::string> names;
  for (const DirEntry& entry : entries) {
    names.push_back(entry.name);
    NodeType want = entry.name == "d"   ? NodeType::kDirectory
                    : entry.name == "l" ? NodeType::kSymlink
                    : entry.name == "p" ? NodeType::kFifo
                                        : NodeType::kFile;
    CHECK(entry.type == want);
  }
  std::sort(names.begin(), names.end());
  std::sort(expected.begin(), expected.end());
  CHECK(names == expected);
  CHECK(KernelFileView().ListDir(dir / "a-name-that-takes-some-room-1", &entries) == ENOTDIR);
  CHECK(entries.size() == expected.size());
}

TEST_CASE("Read takes regular files only, up to the size given, and never blocks") {
  TempDir dir;
  WriteTestFile(dir / "file", "0123456789");
  mkfifo((dir / "fifo").c_str(), 0600);
  int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = {AF_UNIX, {}};
  std::string sock_path = dir / "s";
  REQUIRE(sock_path.size() < sizeof(address.sun_path));
  std::copy(sock_path.begin(), sock_path.end(), address.sun_path);
  REQUIRE(bind(sock, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  KernelFileView files;
  std::string bytes = "untouched";
  NodeInfo info;
  CHECK(files.Read(dir / "fifo", kMax, &bytes, &info) == EINVAL);
  CHECK(files.Read(sock_path, kMax, &bytes, &info) == EINVAL);
  CHECK(files.Read(dir.path(), kMax, &bytes, &info) == EINVAL);
  CHECK(files.Read("/dev/null", kMax, &bytes, &info) == EINVAL);
  CHECK(files.Read(dir / "file", 9, &bytes, &info) == EFBIG);
  CHECK(files.Read(dir / "none", kMax, &bytes, &info) == ENOENT);
  CHECK(bytes == "untouched");
  CHECK(files.Read(dir / "file", 10, &bytes, &info) == 0);
  CHECK(bytes == "0123456789");
  CHECK(info.size_bytes == 10);
  WriteTestFile(dir / "empty", "");
  CHECK(files.Read(dir / "empty", 0, &bytes, &info) == 0);
  CHECK(bytes == "");
  close(sock);
}

TEST_CASE("files that the kernel makes up are read to their end, within the size given") {
  KernelFileView files;
  std::string bytes;
  NodeInfo info;
  REQUIRE(files.Read("/proc/self/status", kMax, &bytes, &info) == 0);
  CHECK(bytes.find("Name:\t") == 0);
  CHECK(info.size_bytes == 0);
  CHECK(files.Read("/proc/self/status", 10, &bytes, &info) == EFBIG);
}

TEST_CASE("ReadBeneath follows links that stay inside and none that leaves") {
  TempDir dir;
  WriteTestFile(dir / "secret", "secret");
  mkdir((dir / "in").c_str(), 0755);
  mkdir((dir / "in/sub").c_str(), 0755);
  WriteTestFile(dir / "in/file", "inside");
  const std::pair<const char*, const char*> links[] = {{"file", "near"},
                                                       {"../file", "sub/up"},
                                                       {"../secret", "out"},
                                                       {"/etc/passwd", "far"},
                                                       {"..", "parent"}};
  for (const auto& [target, name] : links) {
    REQUIRE(symlink(target, (dir / (std::string("in/") + name)).c_str()) == 0);
  }
  struct Case {
    const char* name;
    int error;
  };
  const Case cases[] = {{"file", 0},
                        {"near", 0},
                        {"sub/up", 0},
                        {"out", EXDEV},
                        {"far", EXDEV},
                        {"../secret", EXDEV},
                        {"parent/secret", EXDEV},
                        {"none", ENOENT},
                        {"sub", EINVAL}};
  KernelFileView files;
  for (const Case& c : cases) {
    CAPTURE(c.name);
    std::string bytes;
    NodeInfo info;
    CHECK(files.ReadBeneath(dir / "in", c.name, kMax, &bytes, &info) == c.error);
    CHECK(bytes == (c.error == 0 ? "inside" : ""));
  }
}

TEST_CASE("OpenWithoutSymlinks follows none, in any place") {
  TempDir dir;
  mkdir((dir / "d").c_str(), 0755);
  REQUIRE(symlink("d", (dir / "l").c_str()) == 0);
  mkdir((dir / "d/e").c_str(), 0755);
  int fd = OpenWithoutSymlinks(AT_FDCWD, dir.path().c_str(), O_PATH | O_DIRECTORY);
  REQUIRE(fd >= 0);
  CHECK(OpenWithoutSymlinks(fd, "l", O_PATH | O_DIRECTORY) < 0);
  CHECK(OpenWithoutSymlinks(fd, "l/e", O_PATH | O_DIRECTORY) < 0);
  for (const char* name : {".", "d", "d/e"}) {
    int opened = OpenWithoutSymlinks(fd, name, O_PATH | O_DIRECTORY);
    CHECK(opened >= 0);
    CHECK((fcntl(opened, F_GETFD) & FD_CLOEXEC) != 0);
    close(opened);
  }
  close(fd);
}

TEST_CASE("the answers are the same without openat2") {
  TempDir dir;
  mkdir((dir / "in").c_str(), 0755);
  WriteTestFile(dir / "in/file", "inside");
  WriteTestFile(dir / "secret", "secret");
  REQUIRE(symlink("file", (dir / "in/near").c_str()) == 0);
  REQUIRE(symlink("../secret", (dir / "in/out").c_str()) == 0);
  REQUIRE(symlink("in", (dir / "link").c_str()) == 0);
  for (int answer : {ENOSYS, EPERM}) {
    ProcessSpec spec;
    spec.body = [&] {
      PretendOldKernel(answer);
      KernelFileView files;
      NodeInfo info;
      std::string text;
      for (const char* name : {"file", "near", "out", "../secret", "none"}) {
        std::string bytes;
        int error = files.ReadBeneath(dir / "in", name, kMax, &bytes, &info);
        absl::StrAppend(&text, error, bytes, " ");
      }
      int fd = OpenWithoutSymlinks(AT_FDCWD, dir.path().c_str(), O_PATH | O_DIRECTORY);
      for (const char* name : {".", "in", "link", "link/.", "in/file", "none"}) {
        int opened = OpenWithoutSymlinks(fd, name, O_PATH | O_DIRECTORY);
        absl::StrAppend(&text, opened < 0 ? opened : 0, " ");
      }
      (void)!write(1, text.data(), text.size());
    };
    CHECK(RunProcess(spec).out == absl::StrCat("0inside 0inside ", EXDEV, " ", EXDEV, " ", ENOENT,
                                               " 0 0 ", -ENOTDIR, " ", -ENOTDIR, " ", -ENOTDIR, " ",
                                               -ENOENT, " "));
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace agent_exec
