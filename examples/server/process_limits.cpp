#include "process_limits.hpp"

#include <csignal>
#include <limits>

#include <malloc.h>
#include <sys/resource.h>

namespace agones_alloc_server {

auto raise_descriptor_limit() -> std::size_t {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return std::numeric_limits<std::size_t>::max();
  rlimit most = now;
  most.rlim_cur = now.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &most) != 0) most = now;
  return most.rlim_cur == RLIM_INFINITY ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(most.rlim_cur);
}

void avoid_heap_pauses() { ::mallopt(M_MXFAST, 0); }

void survive_closed_output() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace agones_alloc_server
