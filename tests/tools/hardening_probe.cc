// Does one forbidden thing in a child process, to see that the build stops it. Exits 0 if the child
// was stopped, 1 if it went on.

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

// Read at run time, so that the compiler cannot see the mistake.
volatile int g_far = 40;

int IndexOutOfRange() {
  const std::vector<int> three(3);
  return three[static_cast<size_t>(g_far)];
}

[[gnu::noinline]] void Fill(char* buffer, int size_bytes) {
  for (int i = 0; i < size_bytes; ++i) const_cast<volatile char*>(buffer)[i] = 'x';
}

[[gnu::noinline]] int WritePastBuffer() {
  char buffer[16];
  Fill(buffer, g_far);
  return buffer[0];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string_view what = argv[1];
  const pid_t child = fork();
  if (child < 0) return 2;
  if (child == 0) {
    volatile int result = what == "index" ? IndexOutOfRange() : WritePastBuffer();
    static_cast<void>(result);
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 2;
  // A signal, or the exit status of a sanitizer.
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 0;
}
