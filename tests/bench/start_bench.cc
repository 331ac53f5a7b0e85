// Times the start of programs, in turn, so that a drift of the machine's speed meets all of them
// alike.
//
//   start_bench RUNS SPEC...          wall time of each, from before the spawn to after the wait
//   start_bench --to-exec RUNS SPEC   time from the program's own start to its first execve, by
//                                     ptrace events
//   start_bench --peak SPEC           peak resident memory of one run, in kB
//   start_bench --opens FILE          time of one open and close of a file in this process, in ns:
//                                     the best of many batches, which no other load is in
//
// SPEC is a file of NUL-terminated words: "F<n>=<path>" opens descriptor n for reading,
// "E<name>=<value>" sets a variable (there are no others), "A<word>" is an argument; the first
// argument is the program. Prints one number a line: microseconds, RUNS lines for each SPEC, the
// SPECs one after the other. Judging them is the caller's work (bench.py).

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

namespace {

[[noreturn]] void Die(const char* what) {
  perror(what);
  exit(2);
}

double NowUs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

struct Spec {
  std::vector<std::pair<int, std::string>> descriptors;
  std::vector<std::string> env, args;
  std::vector<char*> envp, argv;
};

Spec ReadSpec(const char* path) {
  FILE* file = fopen(path, "re");
  if (file == nullptr) Die(path);
  std::string bytes;
  char buffer[65536];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;) bytes.append(buffer, n);
  fclose(file);
  Spec spec;
  for (size_t at = 0; at < bytes.size();) {
    std::string word = bytes.c_str() + at;
    at += word.size() + 1;
    if (word[0] == 'A') spec.args.push_back(word.substr(1));
    if (word[0] == 'E') spec.env.push_back(word.substr(1));
    if (word[0] == 'F')
      spec.descriptors.emplace_back(atoi(word.c_str() + 1), word.substr(word.find('=') + 1));
  }
  for (std::string& word : spec.args) spec.argv.push_back(word.data());
  for (std::string& word : spec.env) spec.envp.push_back(word.data());
  spec.argv.push_back(nullptr);
  spec.envp.push_back(nullptr);
  return spec;
}

// A child of vfork shares our memory and stops us until it executes: the spawn costs the same
// whatever we hold.
pid_t Spawn(const Spec& spec, bool traced) {
  pid_t child = traced ? fork() : vfork();
  if (child != 0) return child;
  if (traced && ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(99);
  for (const auto& [number, path] : spec.descriptors) {
    int fd = open(path.c_str(), O_RDONLY);
    if (fd < 0 || (fd != number && (dup2(fd, number) < 0 || close(fd) != 0))) _exit(98);
  }
  execve(spec.argv[0], spec.argv.data(), spec.envp.data());
  _exit(97);
}

double WallUs(const Spec& spec) {
  double start = NowUs();
  pid_t child = Spawn(spec, false);
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child) Die("spawn");
  if (status != 0) {
    fprintf(stderr, "%s: status %#x\n", spec.argv[0], status);
    exit(2);
  }
  return NowUs() - start;
}

double ToExecUs(const Spec& spec) {
  pid_t child = Spawn(spec, true);
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child) Die("spawn");
  // Stopped by its own execve: the program is about to run its first instruction.
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
  double start = NowUs(), end = 0;
  ptrace(PTRACE_CONT, child, nullptr, 0);
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
      if (end == 0) end = NowUs();
      ptrace(PTRACE_DETACH, child, nullptr, 0);
      waitpid(child, &status, 0);
      break;
    }
    ptrace(PTRACE_CONT, child, nullptr, WSTOPSIG(status));
  }
  if (end == 0 || status != 0) {
    fprintf(stderr, "%s: no execve seen, status %#x\n", spec.argv[0], status);
    exit(2);
  }
  return end - start;
}

double OpenNs(const char* path) {
  constexpr int kBatches = 100;
  constexpr int kOpens = 2000;
  double best = 1e18;
  for (int batch = 0; batch < kBatches; batch++) {
    double start = NowUs();
    for (int i = 0; i < kOpens; i++) {
      int fd = open(path, O_RDONLY | O_CLOEXEC);
      if (fd < 0) Die(path);
      close(fd);
    }
    double each = (NowUs() - start) * 1e3 / kOpens;
    if (each < best) best = each;
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "--opens") == 0) {
    printf("%.1f\n", OpenNs(argv[2]));
    return 0;
  }
  if (argc == 3 && strcmp(argv[1], "--peak") == 0) {
    Spec spec = ReadSpec(argv[2]);
    pid_t child = Spawn(spec, false);
    int status;
    rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) Die("spawn");
    printf("%ld\n", usage.ru_maxrss);
    return 0;
  }
  bool to_exec = argc == 4 && strcmp(argv[1], "--to-exec") == 0;
  if (argc < 3) return 2;
  int runs = atoi(argv[to_exec ? 2 : 1]);
  std::vector<Spec> specs;
  for (int i = to_exec ? 3 : 2; i < argc; i++) specs.push_back(ReadSpec(argv[i]));
  std::vector<std::vector<double>> times(specs.size());
  for (int run = -5; run < runs; run++) {  // the first five warm the caches and are not counted
    for (size_t i = 0; i < specs.size(); i++) {
      double us = to_exec ? ToExecUs(specs[i]) : WallUs(specs[i]);
      if (run >= 0) times[i].push_back(us);
    }
  }
  for (const auto& series : times)
    for (double us : series) printf("%.2f\n", us);
  return 0;
}
