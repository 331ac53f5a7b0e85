#pragma once

namespace agent_exec {

// Makes openat2, close_range and pidfd_open unknown to this process and all below it, as they are
// before Linux 5.3. With answer EPERM in place of ENOSYS: as below a filter of an older container
// engine.
void PretendOldKernel(int answer);
// Makes mount_setattr unknown, as it is before Linux 5.12.
void PretendNoMountAttributes();

}  // namespace agent_exec
