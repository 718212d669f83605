// What the system lets this process do.
#pragma once

#include <cstddef>

namespace agones_alloc_server {

/// Raises the number of descriptors (files, connections) this process may have open to the most the system grants
/// it, and returns that.
auto raise_descriptor_limit() -> std::size_t;

/// The heap gives small blocks back as they are freed, instead of many thousands at once now and then. Before other threads start.
void avoid_heap_pauses();

/// Writing to a reader that is gone (a closed terminal, an ended pager) is an error of that write, not the end.
void survive_closed_output();

}  // namespace agones_alloc_server
