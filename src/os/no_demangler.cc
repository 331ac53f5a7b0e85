// libc++abi prints the type of an uncaught exception, and brings a demangler of 75 kB to do it.
// Nothing here throws, so in the static binary this name stands in its place and the linker leaves
// the demangler out.

#include <cstddef>

extern "C" char* __cxa_demangle(const char*, char*, size_t*, int* status) {
  if (status != nullptr) *status = -2;  // "not a valid name", which every caller must expect
  return nullptr;
}
