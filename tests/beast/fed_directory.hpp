// A fleet directory whose servers and whose time the test gives, for front ends that tell of it.
#pragma once

#include "../support/servers.hpp"
#include "raw_client.hpp"

#include <agones_alloc/async/fleet_directory.hpp>
#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/beast/fleets/fleets_front_end.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace beast_test {

struct fed_directory {
  void put(std::string_view name, agones_alloc::game_server_state state, std::string_view fleet = "fleet",
           std::string_view ns = "default") {
    auto server = test_support::make_server(name, fleet, state);
    server.meta.namespace_ = ns;
    server.meta.resource_version = std::to_string(++version);
    directory.stored(test_support::share(std::move(server)));
    settle(io);
    pass(std::chrono::milliseconds{20});  // published at the latest, if its fleet was not told of just before
  }
  void pass(std::chrono::nanoseconds t) {
    time.advance(t);
    settle(io);
  }

  static auto few_streams() -> agones_alloc::fleets_options {
    agones_alloc::fleets_options out;
    out.streams = 2;
    out.heartbeat = std::chrono::seconds{10};
    out.stream_time = std::chrono::hours{1};
    return out;
  }

  boost::asio::io_context io;
  agones_alloc::manual_timer time{io.get_executor()};
  agones_alloc::fleet_directory directory{io.get_executor(), time, [] {
    agones_alloc::fleet_directory_options out;
    out.instance = "run1";
    return out;
  }()};
  int version{0};
};

}  // namespace beast_test
