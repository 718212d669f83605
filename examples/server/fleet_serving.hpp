// Fleet information: the directory, how it is fed, and who answers for it.
#pragma once

#include "backing.hpp"
#include "options.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/fleet_directory.hpp>
#include <agones_alloc/beast/cross_origin.hpp>
#include <agones_alloc/beast/fleets/fleets_front_end.hpp>
#include <agones_alloc/beast/fleets/query_front_end.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/beast/http_router.hpp>
#include <agones_alloc/port/server_observer.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace agones_alloc_server {

/// Null with --no-fleet-directory: then nothing is fed, and nothing costs anything.
auto make_directory(boost::asio::any_io_executor, server_options const&, agones_alloc::timer&)
    -> std::unique_ptr<agones_alloc::fleet_directory>;

/// Confined to the server's one thread.
class fleet_serving {
 public:
  fleet_serving(server_options const&, agones_alloc::fleet_directory&, agones_alloc::allocator&, backing&,
                agones_alloc::timer&, agones_alloc::front_end_options const&);

  /// `/v1/fleets`, `/v1/gameservers` and `/v1/query`.
  void add_routes(agones_alloc::http_router&);
  /// The same paths, to a handler in front of them, which asks who it is; CORS goes before that.
  void add_routes(agones_alloc::http_router&, agones_alloc::http_handler& in_front);
  void start() { look(); }
  void stop();

  auto directory() const noexcept -> agones_alloc::fleet_directory const& { return directory_; }
  auto streams() const noexcept -> agones_alloc::fleet_stream_counts { return front_end_.counts(); }

 private:
  void add(agones_alloc::http_router&, agones_alloc::http_handler& fleets, agones_alloc::http_handler& query);
  void look();

  agones_alloc::fleet_directory& directory_;
  backing& backing_;
  agones_alloc::timer& time_;
  agones_alloc::fleets_front_end front_end_;
  agones_alloc::query_front_end query_;
  std::vector<std::string> origins_;
  std::optional<agones_alloc::cross_origin> cors_;
  boost::asio::cancellation_signal looking_;
};

}  // namespace agones_alloc_server
