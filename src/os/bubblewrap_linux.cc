#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "base/quote.h"
#include "os/gather_parts.h"
#include "os/kernel_file_view.h"
#include "os/unique_fd.h"

namespace agent_exec {
namespace {

constexpr char kInstallHint[] =
    "install the package 'bubblewrap' (apt, dnf, pacman, zypper or apk)";
constexpr char kName[] = "bubblewrap ";
constexpr size_t kMaxProgramBytes = 8 << 20;
constexpr size_t kMaxAnswerBytes = 64 << 10;
constexpr int kAnswerTimeoutMs = 2000;

bool IsOptionByte(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

// The first place in [at, end) where the bytes stand, or end. Looks at eight places at once for the
// first of them: a good part of a program is searched at every start, and the C library's searches
// go byte by byte.
const char* Find(const char* at, const char* end, absl::string_view bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighs = 0x8080808080808080;
  const uint64_t first = kOnes * static_cast<unsigned char>(bytes[0]);
  while (static_cast<size_t>(end - at) >= bytes.size()) {
    while (end - at >= 8) {
      uint64_t word;
      memcpy(&word, at, 8);
      word ^= first;
      if (((word - kOnes) & ~word & kHighs) != 0) break;
      at += 8;
    }
    const char* stop = end - at < 8 ? end : at + 8;
    for (; at < stop && static_cast<size_t>(end - at) >= bytes.size(); ++at) {
      if (*at == bytes[0] && memcmp(at, bytes.data(), bytes.size()) == 0) return at;
    }
  }
  return end;
}

// The part of a 64-bit ELF program that holds its constant texts: from the first byte that is
// loaded and never executed behind the last one that is, to the end. All of it for another layout.
const char* ConstantsOf(const char* begin, const char* end) {
  Elf64_Ehdr header;
  if (static_cast<size_t>(end - begin) < sizeof(header)) return begin;
  memcpy(&header, begin, sizeof(header));
  const uint64_t size = static_cast<uint64_t>(end - begin);
  uint64_t code_end = 0;
  for (int i = 0; i < header.e_phnum; ++i) {
    const uint64_t at = header.e_phoff + static_cast<uint64_t>(i) * sizeof(Elf64_Phdr);
    Elf64_Phdr segment;
    if (header.e_phoff > size || at + sizeof(segment) > size) return begin;
    memcpy(&segment, begin + at, sizeof(segment));
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    // A text segment that begins with the file has the constants in it (older linkers).
    if (segment.p_offset == 0 || segment.p_filesz > size || segment.p_offset > size) return begin;
    code_end = std::max<uint64_t>(code_end, segment.p_offset + segment.p_filesz);
  }
  return code_end < size ? begin + code_end : begin;
}

// Option names in a usage text: "    --perms OCTAL". Four blanks tell them from other text with two
// dashes.
void CollectOptions(const char* begin, const char* end, std::vector<std::string>* features) {
  const char* at = begin;
  while ((at = Find(at, end, "--")) != end) {
    if (at - begin < 4 || memcmp(at - 4, "    ", 4) != 0) {
      ++at;
      continue;
    }
    at += 2;
    const char* name = at;
    while (at < end && IsOptionByte(*at)) ++at;
    if (at > name) features->emplace_back(name, static_cast<size_t>(at - name));
  }
  std::sort(features->begin(), features->end());
  features->erase(std::unique(features->begin(), features->end()), features->end());
}

// "bubblewrap 0.8.0": the version after the name.
bool FindVersion(const char* begin, const char* end, std::string* version) {
  for (const char* at = begin; (at = Find(at, end, kName)) != end; ++at) {
    const char* digits = at + sizeof(kName) - 1;
    const char* stop = digits;
    while (stop < end && ((*stop >= '0' && *stop <= '9') || *stop == '.')) ++stop;
    if (stop == digits) continue;
    version->assign(digits, static_cast<size_t>(stop - digits));
    return true;
  }
  return false;
}

int64_t NowMs() {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

// What a program prints on its standard output, with an empty environment: the caller's may hold
// loader hooks.
std::string OutputOf(const std::string& path, std::initializer_list<const char*> words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  std::vector<char*> argv = {const_cast<char*>(path.c_str())};
  for (const char* word : words) argv.push_back(const_cast<char*>(word));
  argv.push_back(nullptr);
  char* const env[] = {nullptr};
  pid_t child = fork();
  if (child < 0) return "";
  if (child == 0) {
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 || dup2(null_fd, STDERR_FILENO) < 0)
      _exit(1);
    if (dup2(writer.get(), STDOUT_FILENO) < 0) _exit(1);
    (void)execve(path.c_str(), argv.data(), env);
    _exit(1);
  }
  writer.Reset();
  std::string output;
  int64_t deadline = NowMs() + kAnswerTimeoutMs;
  while (output.size() < kMaxAnswerBytes) {
    struct pollfd wait = {reader.get(), POLLIN, 0};
    int64_t left = deadline - NowMs();
    if (left <= 0 || poll(&wait, 1, static_cast<int>(left)) <= 0) break;
    char buffer[4096];
    ssize_t got = read(reader.get(), buffer, sizeof(buffer));
    if (got <= 0) break;
    output.append(buffer, static_cast<size_t>(got));
  }
  (void)kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return output;
}

}  // namespace

const std::vector<std::string>& BubblewrapCandidates() {
  static const auto* const candidates = new std::vector<std::string>{
      "/usr/bin/bwrap",
      "/usr/local/bin/bwrap",
      "/bin/bwrap",
      "/run/current-system/sw/bin/bwrap",
      "/nix/var/nix/profiles/default/bin/bwrap",
      "/var/guix/profiles/system/profile/bin/bwrap",
  };
  return *candidates;
}

std::string DistrustOf(const std::string& path) {
  std::string subject = QuoteForMessage(path);
  struct stat st;
  if (lstat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) {
    return absl::StrCat(subject, " is not a regular file");
  }
  if ((st.st_mode & (S_ISUID | S_ISGID)) != 0) {
    return absl::StrCat(subject, (st.st_mode & S_ISUID) != 0 ? " is setuid" : " is setgid");
  }
  if ((st.st_mode & 0111) == 0) return absl::StrCat(subject, " is not executable");
  if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
    return absl::StrCat(subject, " has file capabilities");
  }
  for (absl::string_view ancestor : AncestorsAndSelf(path)) {
    std::string name(ancestor);
    if (lstat(name.c_str(), &st) != 0)
      return absl::StrCat(QuoteForMessage(name), " cannot be read");
    if (st.st_uid != 0) return absl::StrCat(QuoteForMessage(name), " does not belong to root");
    // In a sticky directory (/nix/store) others may add names, but not replace one of root's.
    bool sticky = S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX) != 0;
    bool group_writes = (st.st_mode & S_IWGRP) != 0 && st.st_gid != 0;
    if ((group_writes || (st.st_mode & S_IWOTH) != 0) && !sticky) {
      return absl::StrCat(QuoteForMessage(name), " is writable by others");
    }
  }
  return "";
}

bool ScanBubblewrap(const std::string& path, Tool* tool) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  struct stat st;
  if (!fd.ok() || fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode)) return false;
  size_t size = static_cast<size_t>(st.st_size);
  if (size < 64 || size > kMaxProgramBytes) return false;
  void* map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd.get(), 0);
  if (map == MAP_FAILED) return false;
  const char* begin = static_cast<const char*>(map);
  std::string version;
  std::vector<std::string> features;
  if (memcmp(begin, "\177ELF", 4) == 0) {
    const char* constants = ConstantsOf(begin, begin + size);
    if (FindVersion(constants, begin + size, &version)) {
      CollectOptions(constants, begin + size, &features);
    }
  }
  (void)munmap(map, size);
  if (version.empty() || features.empty()) return false;
  tool->version = std::move(version);
  tool->features = std::move(features);
  return true;
}

void AskBubblewrap(const std::string& path, Tool* tool) {
  std::string version = OutputOf(path, {"--version"});
  (void)FindVersion(version.data(), version.data() + version.size(), &tool->version);
  std::string usage = OutputOf(path, {"--help"});
  CollectOptions(usage.data(), usage.data() + usage.size(), &tool->features);
}

bool TryBubblewrap(const std::string& path) {
  // The program that does nothing is bwrap itself, which is there and executable.
  return absl::StrContains(
      OutputOf(path, {"--unshare-user", "--ro-bind", "/", "/", "--", path.c_str(), "--version"}),
      "bubblewrap");
}

Tool FindBubblewrap(const std::vector<std::string>& candidates) {
  KernelFileView files;
  Tool tool;
  for (const std::string& candidate : candidates) {
    std::string real_path;
    NodeInfo info;
    if (files.Resolve(candidate, &real_path, &info) != 0) continue;
    std::string problem = DistrustOf(real_path);
    if (!problem.empty()) {
      if (tool.problem.empty()) tool.problem = std::move(problem);
      continue;
    }
    tool.path = std::move(real_path);
    tool.problem.clear();
    if (!ScanBubblewrap(tool.path, &tool)) AskBubblewrap(tool.path, &tool);
    return tool;
  }
  if (tool.problem.empty()) {
    tool.problem = "not installed";
    tool.hint = kInstallHint;
  } else {
    tool.hint =
        "bubblewrap must be an ordinary program of root's, writable by nobody else: reinstall the "
        "package "
        "'bubblewrap'";
  }
  return tool;
}

}  // namespace agent_exec
