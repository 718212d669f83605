// Keeps a cache of game servers up to date from a store's list and watch.
#pragma once

#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/server_source.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <memory>
#include <string>

namespace agones_alloc_server {

/// Lists, watches from there, and lists again when the watch is too old. Confined to its executor; source, cache,
/// timer and logger must outlive it and the handlers that are pending when it is destroyed.
class cache_feed {
 public:
  cache_feed(boost::asio::any_io_executor, agones_alloc::server_source&, agones_alloc::ready_cache&, agones_alloc::timer&,
             agones_alloc::logger&);
  ~cache_feed();
  cache_feed(cache_feed const&) = delete;
  auto operator=(cache_feed const&) -> cache_feed& = delete;

  void start();
  void stop();
  /// True once the first list was taken in.
  auto synced() const noexcept -> bool;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace agones_alloc_server
