#pragma once

namespace agent_exec {

// What its owner may write below a procfs without holding any capability; for most of it the owner
// is uid 0. Bubblewrap covers four of these itself, but asks access(2) first, and /proc/sys answers
// no to the question about the directory while its files can be opened.
struct ProcCover {
  const char* name;
  bool always;     // on every kernel; the others come with a driver or an option
  bool root_only;  // nobody but uid 0 owns anything in it
};
inline constexpr ProcCover kProcCovers[] = {
    {"sys", true, false},
    {"bus", true, true},
    {"fs", true, true},
    {"irq", false, true},
    {"acpi", false, true},
    {"driver", false, true},
    {"asound", false, true},
    {"scsi", false, true},
    {"ide", false, true},
    {"cpu", false, true},
    {"dynamic_debug", false, true},
    {"sysrq-trigger", false, true},
};

}  // namespace agent_exec
