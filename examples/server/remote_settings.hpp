// What the options say of calls to other clusters, whatever protocol they go by.
#pragma once

#include "options.hpp"

#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/metrics.hpp>

#include <algorithm>
#include <chrono>

namespace agones_alloc_server {

/// `Options`: rest_remote_options or grpc_remote_options.
template <class Options>
auto remote_settings(remote_cluster_settings const& settings, agones_alloc::logger& log, agones_alloc::metrics& counts) -> Options {
  Options out;
  out.connect_time = settings.connect_time;
  out.exhausted_codes = settings.exhausted_codes;
  out.secret_time_to_live = settings.secret_time;
  out.secret_retry = std::min<std::chrono::nanoseconds>(settings.secret_time, std::chrono::seconds{5});
  out.counts = &counts;
  out.log = &log;
  return out;
}

}  // namespace agones_alloc_server
