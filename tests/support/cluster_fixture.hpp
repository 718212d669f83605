// An allocator over several clusters: this one's as in allocator_fixture, and remotes whose answers the test gives.
#pragma once

#include "allocator_fixture.hpp"
#include "fake_remote.hpp"

#include <agones_alloc/async/multi_cluster_allocator.hpp>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace test_support {

using namespace std::chrono_literals;

inline auto policy(std::string_view cluster, std::int32_t priority, std::vector<shared_string> endpoints)
    -> game_server_allocation_policy {
  game_server_allocation_policy out;
  out.meta.namespace_ = "default";
  out.meta.name = cluster;
  out.priority = priority;
  out.weight = 1;
  out.connection_info.cluster_name = cluster;
  out.connection_info.allocation_endpoints = std::move(endpoints);
  return out;
}

inline auto here(std::string_view space = {}) -> game_server_allocation_policy {
  auto out = policy("here", 1, {});
  out.connection_info.namespace_ = space;
  return out;
}

struct cluster_fixture : allocator_fixture {
  explicit cluster_fixture(std::vector<game_server_allocation_policy> all, multi_cluster_options options = quick(),
                           bool probed = false)
      : policies{std::move(all)} {
    remote.probed = probed;
    clusters.emplace(context.get_executor(), alloc.get(), remote, policies, clock, random, options,
                     multi_cluster_ports{&samples, &log});
  }
  ~cluster_fixture() {
    clusters.reset();
    run();
    CHECK(remote.pending() == 0);
  }
  static auto quick() -> multi_cluster_options {
    multi_cluster_options out;
    out.limits.rounds.attempts = 1;
    return out;
  }
  auto ask(multi_cluster_request request) -> std::shared_ptr<call> {
    auto c = std::make_shared<call>();
    auto done = [c](error_code ec, allocation_result r) {
      ++c->completions;
      c->got.emplace(ec, std::move(r));
    };
    clusters->async_allocate(std::move(request), boost::asio::bind_cancellation_slot(c->stop.slot(), std::move(done)));
    CHECK_FALSE(c->done());
    run();
    return c;
  }
  auto ask() -> std::shared_ptr<call> {
    multi_cluster_request request;
    request.request = fleet_request();
    return ask(std::move(request));
  }

  policy_list policies;
  fake_remote remote{context.get_executor()};
  std::optional<multi_cluster_allocator> clusters;
};

}  // namespace test_support
