// The heap of the static launcher. A launch makes some two thousand small objects, lives for less
// than a millisecond and is then replaced: a general allocator's slabs and threads cost it more
// than all that is done with the objects. Here memory is cut off one region, and what is freed is
// kept for the next object of its size. Large blocks come from the kernel and go back to it, so
// that a walk over a big tree does not grow without end.
//
// For one thread, as the launcher is. Linked into the program alone: tests and sanitizers keep
// their own allocator.

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace {

constexpr size_t kUnit = 16;                // alignof(max_align_t), and the step between sizes
constexpr size_t kLargestSmall = 2048;      // beyond it a block of a power of two
constexpr size_t kLargestPooled = 1 << 16;  // beyond it the kernel's own
constexpr size_t kRegionBytes = 1 << 18;

struct FreeBlock {
  FreeBlock* next;
};

// In .bss: pages that are never touched cost nothing.
alignas(kUnit) char g_first_region[kRegionBytes];
char* g_at = g_first_region;
char* g_end = g_first_region + kRegionBytes;
FreeBlock* g_small[kLargestSmall / kUnit + 1];
FreeBlock* g_powers[17];

[[noreturn]] void OutOfMemory() {
  constexpr char kMessage[] = "agent-exec: out of memory\n";
  (void)!write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  _exit(125);
}

void* FromKernel(size_t bytes) {
  void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) OutOfMemory();
  return block;
}

// The size that a request is served with, and the list that blocks of it are kept on.
size_t Rounded(size_t size, FreeBlock*** list) {
  if (size <= kLargestSmall) {
    size_t units = size == 0 ? 1 : (size + kUnit - 1) / kUnit;
    *list = &g_small[units];
    return units * kUnit;
  }
  int power = 64 - __builtin_clzll(size - 1);
  *list = &g_powers[power];
  return size_t{1} << power;
}

void* Allocate(size_t size) {
  if (size > kLargestPooled) return FromKernel(size);
  FreeBlock** list;
  size = Rounded(size, &list);
  if (FreeBlock* block = *list; block != nullptr) {
    *list = block->next;
    return block;
  }
  if (static_cast<size_t>(g_end - g_at) < size) {
    g_at = static_cast<char*>(FromKernel(kRegionBytes));
    g_end = g_at + kRegionBytes;
  }
  void* block = g_at;
  g_at += size;
  return block;
}

void Free(void* block, size_t size) {
  if (block == nullptr) return;
  if (size > kLargestPooled) {
    (void)munmap(block, size);
    return;
  }
  FreeBlock** list;
  (void)Rounded(size, &list);
  FreeBlock* freed = static_cast<FreeBlock*>(block);
  freed->next = *list;
  *list = freed;
}

}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
// Whoever does not know the size keeps the memory until the end: few do.
void operator delete(void*) noexcept {}
void operator delete[](void*) noexcept {}
void operator delete(void* block, size_t size) noexcept { Free(block, size); }
void operator delete[](void* block, size_t size) noexcept { Free(block, size); }
