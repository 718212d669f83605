#include "fleet_serving.hpp"

#include <agones_alloc/yaml/manifest_files.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc_server {

using namespace agones_alloc;

namespace {

/// --cluster-name, else the name that a policy of a file gives this cluster, else the word for it in the metrics.
auto local_name(server_options const& options) -> std::string {
  if (!options.directory.cluster.empty()) return options.directory.cluster;
  for (auto const* const paths : {&options.clusters.policies, &options.fleets}) {
    for (auto const& path : *paths) {
      for (auto const& policy : yaml::load_path(path).policies) {
        auto const& to = policy.connection_info;
        if (to.allocation_endpoints.empty() && !to.cluster_name.empty()) return to.cluster_name.str();
      }
    }
  }
  return "local";
}

auto stream_bounds(server_options const& options) -> fleets_options {
  fleets_options out;
  // Streams stay; others must be able to connect all the same.
  out.streams = std::min(options.directory.streams, std::max<std::size_t>(options.limits.connections * 3 / 4, 1));
  out.streams_per_caller = options.directory.streams_per_caller;
  out.heartbeat = options.directory.heartbeat;
  out.stream_time = options.directory.stream_time;
  return out;
}

}  // namespace

auto make_directory(boost::asio::any_io_executor executor, server_options const& options, timer& time)
    -> std::unique_ptr<fleet_directory> {
  if (options.directory.off) return nullptr;
  fleet_directory_options how;
  how.book.cluster = local_name(options);
  how.book.interval = options.directory.interval;
  return std::make_unique<fleet_directory>(std::move(executor), time, std::move(how));
}

fleet_serving::fleet_serving(server_options const& options, fleet_directory& directory, allocator& allocates, backing& fleets,
                             timer& time, front_end_options const& front_end)
    : directory_{directory},
      backing_{fleets},
      time_{time},
      front_end_{directory, time, front_end, stream_bounds(options)},
      query_{allocates, time, front_end, directory.cluster()},
      origins_{front_end.allowed_origins} {}

void fleet_serving::add_routes(http_router& to) { add(to, front_end_, query_); }

void fleet_serving::add_routes(http_router& to, http_handler& in_front) {
  if (origins_.empty()) return add(to, in_front, in_front);
  cors_.emplace(in_front, origins_);
  add(to, *cors_, *cors_);
}

void fleet_serving::add(http_router& to, http_handler& fleets, http_handler& query) {
  to.add(std::string{fleets_front_end::fleets_path}, fleets);
  to.add(std::string{fleets_front_end::servers_path}, fleets);
  to.add(std::string{query_front_end::path}, query);
}

void fleet_serving::stop() { looking_.emit(boost::asio::cancellation_type::terminal); }

// Game servers come by themselves. Of the Fleets, what has changed is asked for: a Fleet's status changes with every server of
// its own, and is told once for all of them.
void fleet_serving::look() {
  backing_.tell_fleets(directory_);
  time_.async_wait_until(time_.now() + std::chrono::milliseconds{100},
                         boost::asio::bind_cancellation_slot(looking_.slot(), [this](error_code ec) {
                           if (!ec) look();
                         }));
}

}  // namespace agones_alloc_server
