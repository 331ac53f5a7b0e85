#pragma once

#include <sys/stat.h>

#include "host/file_view.h"

namespace agent_exec {

NodeType NodeTypeOf(mode_t mode);
NodeInfo NodeInfoOf(const struct stat& st);

}  // namespace agent_exec
