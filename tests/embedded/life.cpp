#include "toy_cluster.hpp"

#include <set>
#include <string>

using namespace agones_alloc;
using namespace std::chrono_literals;
using state = game_server_state;

TEST_CASE("a server of a fleet goes from Starting to Ready in its start-up time") {
  toy::cluster c{{}};
  REQUIRE(c.sim.add_fleet(toy::make_fleet("arena", 1), c.time()).empty());
  c.settle();
  REQUIRE(c.in_state(state::starting).size() == 1);
  auto const made = c.in_state(state::starting)[0];
  CHECK(made->meta.name.view().starts_with("arena-"));
  CHECK(made->meta.name.size() == std::string_view{"arena-12345-12345"}.size());
  CHECK(made->meta.name.view().starts_with(made->meta.labels.value_or_empty(keys::game_server_set_label)));
  CHECK(made->meta.labels.value_or_empty(keys::fleet_label) == "arena");
  CHECK(made->meta.labels.value_or_empty("map") == "harbour");
  CHECK(made->meta.annotations.value_or_empty("note") == "x");
  CHECK(!made->meta.annotations.contains(keys::start_up_annotation));
  CHECK(made->meta.uid.size() == 36);
  CHECK(made->meta.namespace_ == "default");
  CHECK(made->meta.creation_timestamp == timestamp{1'700'000'000s});
  REQUIRE(made->meta.extra);
  CHECK(made->meta.extra->owner_references.view().find("GameServerSet") != std::string_view::npos);
  CHECK(made->spec == "{\"ports\":[]}");
  CHECK(made->status.counters.at("rooms") == counter_status{1, 4});
  CHECK(made->status.lists.at("players").count() == 1);
  CHECK(made->status.node_name.empty());
  CHECK(made->status.ports.empty());

  c.pass(3999ms);
  CHECK(c.in_state(state::starting).size() == 1);
  c.pass(1ms);
  REQUIRE(c.in_state(state::scheduled).size() == 1);
  auto const placed = c.in_state(state::scheduled)[0];
  CHECK(placed->status.node_name == "node-1");
  CHECK(placed->status.address == "10.0.0.1");
  CHECK(placed->status.addresses.size() == 3);
  CHECK(placed->status.ports == std::vector<game_server_port>{{"game", 7000}});
  c.pass(4s);
  CHECK(c.in_state(state::request_ready).size() == 1);
  c.pass(1999ms);
  CHECK(c.in_state(state::ready).empty());
  c.pass(1ms);
  CHECK(c.in_state(state::ready).size() == 1);
  CHECK(!c.sim.next_time());
  CHECK(c.objects.size() == 1);
}

TEST_CASE("an allocated server has a session, ends, goes and is replaced") {
  toy::cluster c{{}};
  c.sim.add_fleet(toy::make_fleet("arena", 2), c.time());
  c.pass(10s);
  auto const key = key_of(c.in_state(state::ready).at(0)->meta);
  c.set_state(key, state::allocated);
  c.pass(59s);
  CHECK(c.in_state(state::allocated).size() == 1);
  CHECK(c.objects.size() == 2);
  c.pass(1s);
  CHECK(!c.objects.contains(key));
  CHECK(c.in_state(state::starting).size() == 1);
  c.pass(10s);
  CHECK(c.in_state(state::ready).size() == 2);
  c.check_ports();
}

TEST_CASE("an allocation that came back to Ready has no session, a second one a new session") {
  toy::cluster c{{}};
  c.sim.add_fleet(toy::make_fleet("arena", 1), c.time());
  c.pass(10s);
  auto const key = key_of(c.in_state(state::ready).at(0)->meta);
  c.set_state(key, state::allocated);
  c.pass(30s);
  c.set_state(key, state::ready);
  c.pass(100s);
  CHECK(c.objects.at(key)->status.state == state::ready);
  c.set_state(key, state::allocated);
  c.pass(40s);
  // Allocated again while it is: the session goes on as it was.
  c.change(key, [](game_server& s) { s.meta.annotations.set(keys::last_allocated_annotation, "now"); });
  c.pass(19s);
  CHECK(c.objects.at(key)->status.state == state::allocated);
  c.pass(1s);
  CHECK(!c.objects.contains(key));
}

TEST_CASE("sessions may never end") {
  toy::cluster c{{}};
  auto f = toy::make_fleet("arena", 1);
  f.meta.annotations.set(keys::session_length_annotation, "never");
  c.sim.add_fleet(f, c.time());
  c.pass(10s);
  c.set_state(key_of(c.in_state(state::ready).at(0)->meta), state::allocated);
  c.pass(1000h);
  CHECK(c.in_state(state::allocated).size() == 1);
}

TEST_CASE("what shuts down, fails or is deleted is removed after its time and replaced at once") {
  for (auto const end : {state::shutdown, state::error, state::unhealthy}) {
    toy::cluster c{{}};
    auto f = toy::make_fleet("arena", 1);
    f.meta.annotations.set(keys::shut_down_annotation, "5s");
    c.sim.add_fleet(f, c.time());
    c.pass(10s);
    auto const key = key_of(c.in_state(state::ready).at(0)->meta);
    c.set_state(key, end);
    c.pass(3s);
    CHECK(c.objects.contains(key));
    CHECK(c.in_state(state::starting).size() == 1);
    c.pass(2s);
    CHECK(!c.objects.contains(key));
    CHECK(c.objects.size() == 1);
  }
  toy::cluster c{{}};
  c.sim.add_fleet(toy::make_fleet("arena", 1), c.time());
  c.pass(10s);
  auto const key = key_of(c.in_state(state::ready).at(0)->meta);
  c.change(key, [](game_server& s) { s.meta.deletion_timestamp = timestamp{1s}; });
  c.settle();
  CHECK(!c.objects.contains(key));
  CHECK(c.objects.size() == 1);
}

TEST_CASE("a server that somebody deletes is replaced") {
  toy::cluster c{{}};
  c.sim.add_fleet(toy::make_fleet("arena", 1), c.time());
  c.pass(10s);
  auto const gone = c.objects.begin()->second;
  c.objects.clear();
  c.events.push_back({server_event::kind::deleted, gone});
  c.pass(10s);
  CHECK(c.in_state(state::ready).size() == 1);
  CHECK(!c.objects.contains(key_of(gone->meta)));
}

TEST_CASE("a reserved server is Ready again when its time is up") {
  toy::cluster c{{}};
  c.sim.add_fleet(toy::make_fleet("arena", 1), c.time());
  c.pass(10s);
  auto const key = key_of(c.in_state(state::ready).at(0)->meta);
  auto const until = std::chrono::floor<std::chrono::seconds>(c.time().wall) + 30s;
  c.change(key, [until](game_server& s) {
    s.status.state = state::reserved;
    s.status.reserved_until = until;
  });
  c.pass(29s);
  CHECK(c.objects.at(key)->status.state == state::reserved);
  c.pass(1s);
  CHECK(c.objects.at(key)->status.state == state::ready);
  CHECK(c.objects.at(key)->status.reserved_until == unset_time);
  c.set_state(key, state::reserved);
  c.pass(1000h);
  CHECK(c.objects.at(key)->status.state == state::reserved);
}

TEST_CASE("speed divides every time, and no start-up time means Ready at once") {
  simulator_options o;
  o.speed = 10;
  toy::cluster c{o};
  c.sim.add_fleet(toy::make_fleet("arena", 1), c.time());
  c.pass(999ms);
  CHECK(c.in_state(state::ready).empty());
  c.pass(1ms);
  CHECK(c.in_state(state::ready).size() == 1);

  auto at_once = toy::make_fleet("now", 3);
  at_once.meta.annotations.set(keys::start_up_annotation, "0");
  c.sim.add_fleet(at_once, c.time());
  CHECK(c.settle() == 3);
  CHECK(c.in_state(state::ready).size() == 4);
  c.check_ports();
}

TEST_CASE("times are spread over their range") {
  toy::cluster c{{}};
  auto f = toy::make_fleet("arena", 500);
  f.meta.annotations.set(keys::start_up_annotation, "10s-20s");
  c.sim.add_fleet(f, c.time());
  c.pass(9999ms);
  CHECK(c.in_state(state::ready).empty());
  c.pass(5001ms);
  CHECK(c.in_state(state::ready).size() > 200);
  CHECK(c.in_state(state::ready).size() < 300);
  c.pass(5s);
  CHECK(c.in_state(state::ready).size() == 500);
}

TEST_CASE("some servers fail to start and are replaced until the fleet is whole") {
  toy::cluster c{{}};
  auto f = toy::make_fleet("arena", 100);
  f.meta.annotations.set(keys::start_failure_annotation, "0.5");
  f.meta.annotations.set(keys::shut_down_annotation, "1s");
  c.sim.add_fleet(f, c.time());
  c.pass(8s);
  auto const failed = c.in_state(state::unhealthy).size();
  CHECK(failed > 25);
  CHECK(failed < 75);
  c.pass(600s);
  CHECK(c.in_state(state::ready).size() == 100);
  CHECK(c.objects.size() == 100);
}

TEST_CASE("servers that all fail at once take their time, so that time goes on") {
  toy::cluster c{{}};
  auto f = toy::make_fleet("arena", 3);
  f.meta.annotations.set(keys::start_up_annotation, "0s");
  f.meta.annotations.set(keys::start_failure_annotation, "1");
  f.meta.annotations.set(keys::shut_down_annotation, "0s");
  c.sim.add_fleet(f, c.time());
  std::set<std::string> seen;
  for (int i = 0; i != 100; ++i) {
    c.pass(100ms);
    for (auto const& [key, server] : c.objects) {
      CHECK(server->status.state != state::ready);
      seen.insert(server->meta.uid.str());
    }
  }
  CHECK(seen.size() > 3 * 5);
  CHECK(seen.size() <= 3 * 14);
}

TEST_CASE("a game server of its own is Ready with the ports of its spec, and its end is its end") {
  toy::cluster c{{}};
  game_server single;
  single.meta.name = "single";
  single.meta.namespace_ = "default";
  single.meta.resource_version = "77";
  auto const shape = toy::make_fleet("x", 1).server_template;
  REQUIRE(c.sim.add_server(single, shape, c.time()).empty());
  c.settle();
  REQUIRE(c.objects.size() == 1);
  auto const key = key_of(single.meta);
  CHECK(c.objects.at(key)->status.state == state::ready);
  CHECK(c.objects.at(key)->status.ports == std::vector<game_server_port>{{"game", 7000}});
  CHECK(c.objects.at(key)->status.counters.at("rooms").capacity == 4);
  CHECK(c.objects.at(key)->meta.resource_version != "77");
  CHECK(!c.sim.add_server(single, shape, c.time()).empty());
  c.set_state(key, state::allocated);
  c.pass(1000h);
  CHECK(c.objects.at(key)->status.state == state::allocated);
  c.set_state(key, state::shutdown);
  c.pass(1000h);
  CHECK(c.objects.empty());
  CHECK(c.sim.size() == 0);
}

TEST_CASE("a game server with a status is created as it is and goes on from there") {
  toy::cluster c{{}};
  game_server given;
  given.meta.name = "given";
  given.meta.annotations = {{keys::session_length_annotation, "5s"}};
  given.status.state = state::allocated;
  given.status.address = "1.2.3.4";
  given.status.ports = {{"p", 99}};
  REQUIRE(c.sim.add_server(given, {}, c.time()).empty());
  game_server starting = given;
  starting.meta.name = "starting";
  starting.meta.annotations = {{keys::start_up_annotation, "5s"}};
  starting.status.state = state::port_allocation;
  REQUIRE(c.sim.add_server(starting, {}, c.time()).empty());
  c.settle();
  CHECK(c.objects.at(key_of(given.meta))->status.address == "1.2.3.4");
  CHECK(c.objects.at(key_of(given.meta))->status.ports[0].port == 99);
  c.pass(5s);
  CHECK(!c.objects.contains(key_of(given.meta)));
  CHECK(c.objects.at(key_of(starting.meta))->status.state == state::ready);
}

TEST_CASE("a developer's own server is Ready at its address") {
  toy::cluster c{{}};
  game_server dev;
  dev.meta.name = "dev";
  dev.meta.annotations = {{"agones.dev/dev-address", "192.0.2.17"}};
  game_server_template shape;
  shape.ports = {{"game", "Static", "UDP", 7777, 7777}};
  REQUIRE(c.sim.add_server(dev, shape, c.time()).empty());
  c.settle();
  auto const& made = c.objects.at(key_of(dev.meta));
  CHECK(made->status.state == state::ready);
  CHECK(made->status.address == "192.0.2.17");
  CHECK(made->status.ports == std::vector<game_server_port>{{"game", 7777}});
}
