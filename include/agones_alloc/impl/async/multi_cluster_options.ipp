#pragma once

#include <agones_alloc/async/multi_cluster_options.hpp>

#include <stdexcept>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

AGONES_ALLOC_DECL void check(multi_cluster_options const& options) {
  check(options.memory);
  check(options.limits.rounds, "multi_cluster_options::limits.rounds");
  auto const refuse = [](char const* field) {
    throw std::invalid_argument{std::string{"multi_cluster_options::"} + field + " is out of range"};
  };
  if (options.timeout <= std::chrono::nanoseconds{0}) refuse("timeout");
  if (options.call_timeout <= std::chrono::nanoseconds{0}) refuse("call_timeout");
  if (options.probe_timeout <= std::chrono::nanoseconds{0}) refuse("probe_timeout");
  if (options.limits.wait_slice <= std::chrono::nanoseconds{0}) refuse("limits.wait_slice");
  if (options.max_operations == 0) refuse("max_operations");
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
