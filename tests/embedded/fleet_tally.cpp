#include <agones_alloc/embedded/fleet_tally.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <memory>

using namespace agones_alloc;

namespace {

constexpr auto most = std::numeric_limits<std::int64_t>::max();

auto server(game_server_state state, std::int64_t count, std::int64_t capacity) -> game_server {
  game_server out;
  out.status.state = state;
  out.status.counters.emplace("c", counter_status{count, capacity});
  return out;
}

}  // namespace

TEST_CASE("a fleet's status counts servers by state and sums counters and lists") {
  fleet_tally tally;
  tally.add(server(game_server_state::ready, 1, 10));
  tally.add(server(game_server_state::allocated, 2, 20));
  tally.add(server(game_server_state::reserved, 0, 5));
  tally.add(server(game_server_state::starting, 0, 5));
  tally.add(server(game_server_state::shutdown, 9, 99));
  auto deleted = server(game_server_state::ready, 9, 99);
  deleted.meta.deletion_timestamp = timestamp{};
  tally.add(deleted);
  auto with_list = server(game_server_state::allocated, 0, 0);
  with_list.status.lists.emplace("p", list_status{8, std::vector<shared_string>{"a", "b"}});
  with_list.status.players = std::make_shared<player_status const>(player_status{3, 4, {}});
  tally.add(with_list);
  auto const status = tally.status();
  CHECK(status.replicas == 5);
  CHECK(status.ready_replicas == 1);
  CHECK(status.allocated_replicas == 2);
  CHECK(status.reserved_replicas == 1);
  CHECK(status.counters.at("c") == aggregated_capacity{2, 20, 3, 40});
  CHECK(status.lists.at("p") == aggregated_capacity{2, 8, 2, 8});
  CHECK(status.players == std::optional{counter_status{3, 4}});
}

TEST_CASE("a name is gone from the status with its last server") {
  fleet_tally tally;
  auto const one = server(game_server_state::ready, 1, 1);
  tally.add(one);
  tally.remove(one);
  CHECK(tally.status() == fleet_status{});
}

TEST_CASE("sums are clamped where they are shown and exact where they are kept") {
  fleet_tally tally;
  auto const huge = server(game_server_state::ready, most, most);
  for (int i = 0; i < 3; ++i) tally.add(huge);
  CHECK(tally.status().counters.at("c").count == most);
  tally.remove(huge);
  tally.remove(huge);
  tally.add(server(game_server_state::ready, 0, 0));
  CHECK(tally.status().counters.at("c") == aggregated_capacity{0, 0, most, most});
  tally.remove(huge);
  CHECK(tally.status().counters.at("c") == aggregated_capacity{0, 0, 0, 0});

  wide_sum sum;
  for (int i = 0; i < 3; ++i) sum.add(std::numeric_limits<std::int64_t>::min());
  CHECK(sum.value() == std::numeric_limits<std::int64_t>::min());
  for (int i = 0; i < 3; ++i) sum.subtract(std::numeric_limits<std::int64_t>::min());
  sum.add(-5);
  CHECK(sum.value() == -5);
}
