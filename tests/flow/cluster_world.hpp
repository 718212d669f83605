// A request over several clusters whose answers the test gives.
#pragma once

#include <agones_alloc/flow/cluster_fsm.hpp>

#include <string>
#include <utility>
#include <vector>

namespace flow_test {

using namespace agones_alloc;
using namespace std::chrono_literals;

inline constexpr cluster_fsm::time_point start{1h};

inline auto policy(std::string_view cluster, std::int32_t priority, std::vector<shared_string> endpoints)
    -> game_server_allocation_policy {
  game_server_allocation_policy out;
  out.meta.name = cluster;
  out.priority = priority;
  out.weight = 1;
  out.connection_info.cluster_name = cluster;
  out.connection_info.allocation_endpoints = std::move(endpoints);
  return out;
}

inline auto plain_limits() -> cluster_limits {
  cluster_limits out;
  out.rounds = {2, 100ms, 1.0, 0.0, 100ms};
  return out;
}

/// A request over clusters whose answers the test gives; steps read as text.
struct world {
  explicit world(std::vector<game_server_allocation_policy> policies, cluster_limits how = plain_limits(),
                 cluster_fsm::request what = {7, 0, start + 30s})
      : limits{how}, fsm{connection_iterator{policies}, what, limits} {
    take(fsm.start(with()));
  }
  auto with() -> cluster_fsm::surroundings { return {now, memory(), random}; }
  auto memory() -> cluster_memory& { return shared == nullptr ? own : *shared; }

  auto answer(outcome result, bool whole_cluster = false, std::string message = {}) -> std::string {
    return take(fsm.answered({result, whole_cluster, std::move(message), 0ns}, with()));
  }
  auto wake() -> std::string {
    now = last.until;
    return take(fsm.woken(with()));
  }
  auto take(cluster_action action) -> std::string {
    last = action;
    switch (action.step) {
      case cluster_step::local: step = "local " + fsm.at().connection.namespace_.str(); break;
      case cluster_step::remote: step = fsm.at().identity + " " + fsm.endpoint().str(); break;
      case cluster_step::sleep: step = "sleep"; break;
      case cluster_step::hold: step = "hold"; break;
      case cluster_step::finished: step = "finished " + std::string{to_string(action.result)}; break;
    }
    return step;
  }

  cluster_limits limits;
  cluster_fsm::time_point now{start};
  cluster_memory own;
  cluster_memory* shared{nullptr};
  seeded_random random{1};
  cluster_fsm fsm;
  cluster_action last;
  std::string step;
};

inline auto two_clusters() -> std::vector<game_server_allocation_policy> {
  return {policy("east", 1, {"e1", "e2"}), policy("west", 2, {"w1"})};
}
inline auto here(std::string_view name, std::int32_t priority, std::string_view space) -> game_server_allocation_policy {
  auto out = policy(name, priority, {});
  out.connection_info.namespace_ = space;
  return out;
}

}  // namespace flow_test
