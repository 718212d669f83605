#include <agones_alloc/model/game_server.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;

TEST_CASE("every state has one wire word and comes back from it") {
  for (auto state = game_server_state::unset; state != game_server_state::other;
       state = static_cast<game_server_state>(static_cast<int>(state) + 1)) {
    CHECK(game_server_state_from(to_string(state)) == state);
  }
  CHECK(to_string(game_server_state::request_ready) == "RequestReady");
  CHECK(game_server_state_from("ready") == game_server_state::other);
  CHECK(game_server_state_from("Draining") == game_server_state::other);
}

TEST_CASE("a server is allocatable when Ready or Allocated and not being deleted") {
  game_server server;
  server.status.state = game_server_state::ready;
  CHECK(is_allocatable(server));
  server.status.state = game_server_state::allocated;
  CHECK(is_allocatable(server));
  server.meta.deletion_timestamp = timestamp{std::chrono::seconds{1}};
  CHECK(is_being_deleted(server));
  CHECK_FALSE(is_allocatable(server));
  server.meta.deletion_timestamp = unset_time;
  server.status.state = game_server_state::shutdown;
  CHECK(is_being_deleted(server));
  server.status.state = game_server_state::reserved;
  CHECK_FALSE(is_being_deleted(server));
  CHECK_FALSE(is_allocatable(server));
}

TEST_CASE("game servers compare by value, through the pointers they share") {
  game_server a;
  a.status.players = std::make_shared<player_status const>(player_status{1, 2, {"p"}});
  a.meta.extra = std::make_shared<meta_extra const>();
  auto b = a;
  b.status.players = std::make_shared<player_status const>(player_status{1, 2, {"p"}});
  b.meta.extra = std::make_shared<meta_extra const>();
  CHECK(a == b);
  b.status.players = std::make_shared<player_status const>(player_status{1, 3, {"p"}});
  CHECK(a != b);
  b.status.players = nullptr;
  CHECK(a != b);
}

TEST_CASE("an object key prints with its namespace when it has one") {
  CHECK(to_string(object_key{"ns", "name"}) == "ns/name");
  CHECK(to_string(object_key{"", "name"}) == "name");
  CHECK(object_key{"a", "z"} < object_key{"b", "a"});
}
