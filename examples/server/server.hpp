// The whole server: fleets, allocator and HTTP, put together.
#pragma once

#include "options.hpp"

#include <agones_alloc/port/logger.hpp>

namespace agones_alloc_server {

/// Serves until SIGTERM or SIGINT. Returns the exit code: 0 after a stop, 1 when it cannot listen or requests had to be cut,
/// 2 for fleets that cannot be loaded (every problem is on standard error).
auto serve(server_options const&) -> int;

}  // namespace agones_alloc_server
