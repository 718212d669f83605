#include "reading.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace agones_alloc;
using json_tests::error_of;
using json_tests::game_server_of;
using json_tests::parsed;

TEST_CASE("a whole game server is read") {
  auto const server = game_server_of(R"({"apiVersion":"agones.dev/v1","kind":"GameServer",
    "metadata":{"name":"gs","namespace":"ns","uid":"u","resourceVersion":"17","generation":3,
      "creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":"2026-01-02T04:04:05+01:00","deletionGracePeriodSeconds":0,
      "finalizers":["agones.dev/controller"],"ownerReferences":[{"kind":"GameServerSet","uid":"9"}],
      "managedFields":[{"manager":"m","fieldsV1":{"f:x":{}}}],"selfLink":"/l"},
    "spec":{"container":"c","ports":[{"name":"default"}],"unknown":{"deep":[1,2.5,null]}},
    "status":{"state":"Ready","ports":[{"name":"default","port":7777}],"address":"1.2.3.4",
      "addresses":[{"type":"ExternalIP","address":"1.2.3.4"}],"nodeName":"n","reservedUntil":"2026-01-02T03:04:06Z",
      "players":{"count":1,"capacity":2,"ids":["p"]},"counters":{"c":{"count":3,"capacity":4}},
      "lists":{"l":{"capacity":5,"values":["v"]}},"eviction":{"safe":"Always"},"immutableReplicas":1}})");
  CHECK(key_of(server.meta) == object_key{"ns", "gs"});
  CHECK(server.meta.generation == 3);
  CHECK(server.meta.creation_timestamp == server.meta.deletion_timestamp);
  CHECK(server.meta.extra->deletion_grace_period_seconds == 0);
  CHECK(server.meta.extra->finalizers.at(0) == "agones.dev/controller");
  CHECK(server.meta.extra->owner_references == R"([{"kind":"GameServerSet","uid":"9"}])");
  CHECK(server.meta.extra->managed_fields == R"([{"manager":"m","fieldsV1":{"f:x":{}}}])");
  CHECK(server.spec.view().starts_with(R"({"container":"c","ports":[{"name":"default"}],"unknown":{"deep":[1,)"));
  auto const& status = server.status;
  CHECK(status.state == game_server_state::ready);
  CHECK(status.ports.at(0) == game_server_port{"default", 7777});
  CHECK(status.addresses.at(0) == node_address{"ExternalIP", "1.2.3.4"});
  CHECK(status.reserved_until == server.meta.creation_timestamp + std::chrono::seconds{1});
  CHECK(*status.players == player_status{1, 2, {"p"}});
  CHECK(status.counters.at("c") == counter_status{3, 4});
  CHECK(status.lists.at("l") == list_status{5, std::vector<shared_string>{"v"}});
  CHECK(status.eviction_safe == "Always");
  CHECK(is_being_deleted(server));
}

TEST_CASE("a list's values may be absent, null or empty") {
  auto const values = [](std::string_view list) {
    return game_server_of(R"({"status":{"lists":{"l":)" + std::string{list} + "}}}").status.lists.at("l").values;
  };
  CHECK_FALSE(values("{}").has_value());
  CHECK_FALSE(values(R"({"values":null})").has_value());
  CHECK(values(R"({"values":[]})")->empty());
}

TEST_CASE("absent parts of a game server cost nothing") {
  auto const server = game_server_of("{}");
  CHECK(server == game_server{});
  CHECK(server.meta.extra == nullptr);
  CHECK(server.status.players == nullptr);
}

TEST_CASE("a state this version does not know becomes other") {
  CHECK(game_server_of(R"({"status":{"state":"Dancing"}})").status.state == game_server_state::other);
  CHECK(game_server_of(R"({"status":{"state":""}})").status.state == game_server_state::unset);
}

TEST_CASE("a game server's errors name the field") {
  auto const error = [](std::string_view text) { return error_of(read_game_server(parsed(text))); };
  CHECK(error(R"({"spec":[]})") == "spec: expected an object, got an array");
  CHECK(error(R"({"status":{"reservedUntil":"soon"}})") == "status.reservedUntil: expected an RFC 3339 time, got \"soon\"");
  CHECK(error(R"({"metadata":{"ownerReferences":{}}})") == "metadata.ownerReferences: expected an array, got an object");
  CHECK(error(R"({"status":{"players":{"ids":[3]}}})") == "status.players.ids[0]: expected a string, got an integer");
  CHECK(error(R"({"status":{"eviction":{"safe":1}}})") == "status.eviction.safe: expected a string, got an integer");
  CHECK(error("null") == "expected an object, got null");
  CHECK(error(R"({"kind":"Pod"})") == "kind: expected GameServer, got Pod");
}

TEST_CASE("quantities of a game server's pod are checked unless told otherwise") {
  auto const value = parsed(R"({"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"20x"}}}]}}}})");
  CHECK(read_game_server(value).error().field == "spec.template.spec.containers[0].resources.limits[cpu]");
  CHECK(read_game_server(value, {.check_quantities = false}).has_value());
}

TEST_CASE("a list of game servers is read with its version, and errors name the item") {
  auto const list = read_game_server_list(parsed(R"({"kind":"GameServerList","apiVersion":"agones.dev/v1",
    "metadata":{"resourceVersion":"99","continue":"more"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})"));
  CHECK(list->resource_version == "99");
  CHECK(list->continue_token == "more");
  CHECK(list->items.at(1).meta.name == "b");
  CHECK(error_of(read_game_server_list(parsed(R"({"items":[{},{"status":{"state":1}}]})"))) ==
        "items[1].status.state: expected a string, got an integer");
  CHECK(error_of(read_game_server_list(parsed(R"({"items":[{"kind":"Pod"}]})"))) ==
        "items[0].kind: expected GameServer, got Pod");
  CHECK(read_game_server_list(parsed(R"({"items":null})"))->items.empty());
}
