#pragma once

namespace agent_exec {

// From here on an allocation ends this process with exit status 96.
void ForbidAllocation();

}  // namespace agent_exec
