#include "toy_cluster.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace agones_alloc;
using namespace std::chrono_literals;
using state = game_server_state;

namespace {

object_key const arena{"default", "arena"};

auto names_of(toy::cluster const& c) -> std::vector<std::string> {
  std::vector<std::string> out;
  for (auto const& [key, server] : c.objects)
    out.push_back(to_string(key) + server->meta.uid.str() + server->status.node_name.str());
  return out;
}

}  // namespace

TEST_CASE("fleets grow and shrink to their replicas") {
  toy::cluster c{{}};
  c.sim.add_fleet(toy::make_fleet("arena", 5), c.time());
  c.pass(10s);
  CHECK(c.in_state(state::ready).size() == 5);
  CHECK(c.sim.scale(arena, 12).empty());
  c.pass(10s);
  CHECK(c.in_state(state::ready).size() == 12);
  CHECK(c.sim.find_fleet(arena)->replicas == 12);
  CHECK(c.sim.find_fleet(arena)->meta.generation == 2);
  c.check_ports();
  CHECK(c.sim.scale(arena, 3).empty());
  c.settle();
  CHECK(c.objects.size() == 3);
  CHECK(c.sim.scale(arena, 0).empty());
  c.settle();
  CHECK(c.objects.empty());
  CHECK(c.sim.nodes().used(0) == 0);
}

TEST_CASE("allocated and reserved servers survive a scale-down, and sessions that end are not replaced then") {
  toy::cluster c{{}};
  c.sim.add_fleet(toy::make_fleet("arena", 6), c.time());
  c.pass(10s);
  auto const ready = c.in_state(state::ready);
  c.set_state(key_of(ready[0]->meta), state::allocated);
  c.set_state(key_of(ready[1]->meta), state::allocated);
  c.set_state(key_of(ready[2]->meta), state::reserved);
  c.settle();
  c.sim.scale(arena, 0);
  c.settle();
  CHECK(c.objects.size() == 3);
  c.pass(60s);
  CHECK(c.objects.size() == 1);
  c.set_state(key_of(ready[2]->meta), state::ready);
  c.settle();
  CHECK(c.objects.empty());
}

TEST_CASE("a scale-down takes servers that are not ready first, then the emptiest node's") {
  simulator_options o;
  o.node_capacity = 4;
  o.node_count = 1;
  toy::cluster c{o};
  c.sim.add_fleet(toy::make_fleet("arena", 5), c.time());
  c.pass(10s);
  REQUIRE(c.sim.nodes().size() == 2);
  c.sim.scale(arena, 6);
  c.pass(5s);
  c.sim.scale(arena, 5);
  c.settle();
  CHECK(c.in_state(state::ready).size() == 5);
  c.sim.scale(arena, 4);
  c.settle();
  REQUIRE(c.in_state(state::ready).size() == 4);
  for (auto const& server : c.in_state(state::ready)) CHECK(server->status.node_name == "node-1");
}

TEST_CASE("allocated servers in excess get the overflow labels, the oldest first") {
  toy::cluster c{{}};
  auto f = toy::make_fleet("arena", 4);
  f.allocation_overflow = meta_patch{{{"overflow", "yes"}}, {{"why", "scaled"}}};
  c.sim.add_fleet(f, c.time());
  c.pass(10s);
  for (auto const& server : c.in_state(state::ready)) c.set_state(key_of(server->meta), state::allocated);
  c.settle();
  auto const labelled = [&c] {
    return std::count_if(c.objects.begin(), c.objects.end(), [](auto const& entry) {
      return entry.second->meta.labels.contains("overflow") && entry.second->meta.annotations.contains("why");
    });
  };
  CHECK(labelled() == 0);
  c.sim.scale(arena, 1);
  c.settle();
  CHECK(labelled() == 3);
  CHECK(c.objects.size() == 4);
  // Labelling did not cut the sessions short.
  c.pass(59s);
  CHECK(c.in_state(state::allocated).size() == 4);
  c.pass(1s);
  CHECK(c.in_state(state::allocated).empty());
  CHECK(c.objects.size() == 1);
}

TEST_CASE("who asks what has changed is told of each fleet once, and of none that has not") {
  toy::cluster c{{}};
  auto const names = [&c] {
    std::vector<std::string> out;
    for (auto const& f : c.sim.take_changed()) out.push_back(f.meta.name.str());
    std::sort(out.begin(), out.end());
    return out;
  };
  c.sim.add_fleet(toy::make_fleet("arena", 3), c.time());
  c.sim.add_fleet(toy::make_fleet("lobby", 2), c.time());
  c.settle();
  CHECK(names() == std::vector<std::string>{"arena", "lobby"});
  c.pass(100s);
  names();
  CHECK(names().empty());
  c.sim.scale(arena, 3);
  CHECK(names().empty());
  c.sim.scale(arena, 4);
  CHECK(names() == std::vector<std::string>{"arena"});
}

TEST_CASE("a fleet without room waits for it") {
  simulator_options o;
  o.node_count = o.max_nodes = 1;
  o.node_capacity = 3;
  toy::cluster c{o};
  c.sim.add_fleet(toy::make_fleet("arena", 5), c.time());
  c.pass(10s);
  CHECK(c.objects.size() == 3);
  CHECK(c.sim.is_full());
  CHECK(!c.sim.next_time());
  c.set_state(key_of(c.in_state(state::ready).at(0)->meta), state::allocated);
  c.pass(60s);
  c.pass(10s);
  CHECK(c.in_state(state::ready).size() == 3);
  c.sim.scale(arena, 3);
  c.settle();
  CHECK(!c.sim.is_full());
}

TEST_CASE("a fleet without room says so once, and why") {
  struct row {
    char const* why;
    simulator_options options;
    std::vector<game_server_port_template> ports;
    std::int64_t present;
  };
  auto const nodes = [](std::uint32_t count, std::uint32_t capacity) {
    simulator_options o;
    o.node_count = o.max_nodes = count;
    o.node_capacity = capacity;
    return o;
  };
  auto few_ports = nodes(2, 64);
  few_ports.min_port = 7000;
  few_ports.max_port = 7002;
  auto one_port = nodes(2, 64);
  one_port.min_port = one_port.max_port = 7000;
  auto few_servers = nodes(2, 64);
  few_servers.max_servers = 8;
  std::vector<game_server_port_template> const two{{"a", "Dynamic", "UDP", 1, 0}, {"b", "Dynamic", "TCP", 2, 0}};
  row const table[] = {
      {"every node is full (capacity 2): 2 nodes, and there may be no more", nodes(2, 2), {{"a", "Dynamic", "UDP", 1, 0}}, 4},
      {"host port 7777 is taken on every node that has room: 2 nodes, and there may be no more", nodes(2, 64),
       {{"a", "Static", "UDP", 1, 7777}}, 2},
      {"no node that has room has the 2 host ports of 7000-7002 that a server needs: 2 nodes, and there may be no more",
       few_ports, two, 2},
      {"a server needs 2 host ports of 7000-7000, a node has 1", one_port, two, 0},
      {"there are 8 game servers, and there may be no more", few_servers, {{"a", "Dynamic", "UDP", 1, 0}}, 5},
  };
  for (auto const& each : table) {
    CAPTURE(each.why);
    toy::cluster c{each.options};
    if (each.options.max_servers == 8) {
      c.sim.add_fleet(toy::make_fleet("other", 3), c.time());
      c.pass(10s);
    }
    auto f = toy::make_fleet("arena", 8);
    f.server_template.ports = each.ports;
    REQUIRE(c.sim.add_fleet(f, c.time()).empty());
    c.pass(10s);
    auto const told = c.sim.next_shortage();
    REQUIRE(told);
    CHECK(told->reason == each.why);
    CHECK(told->fleet == arena);
    CHECK(told->present == each.present);
    CHECK(told->wanted == 8);
    // Sessions that end make room for others; that is no news.
    for (auto const& server : c.in_state(state::ready)) {
      if (server->meta.labels.value_or_empty(keys::fleet_label) == "arena") c.set_state(key_of(server->meta), state::allocated);
    }
    c.pass(200s);
    CHECK(!c.sim.next_shortage());
    c.sim.scale(arena, 7);
    c.settle();
    CHECK(c.sim.next_shortage());
    CHECK(!c.sim.next_shortage());
  }
}

TEST_CASE("a fleet that fits exactly does not lack room while its servers are replaced") {
  simulator_options o;
  o.node_count = o.max_nodes = 1;
  o.node_capacity = 3;
  o.settings.shut_down = {5s, 5s};
  toy::cluster c{o};
  c.sim.add_fleet(toy::make_fleet("arena", 3), c.time());
  c.pass(10s);
  for (auto const& server : c.in_state(state::ready)) c.set_state(key_of(server->meta), state::allocated);
  c.pass(62s);
  CHECK(c.sim.is_full());  // they are on their way out
  c.pass(20s);
  CHECK(c.in_state(state::ready).size() == 3);
  CHECK(!c.sim.next_shortage());
}

TEST_CASE("max_servers bounds all fleets together") {
  simulator_options o;
  o.max_servers = 5;
  toy::cluster c{o};
  CHECK(!c.sim.add_fleet(toy::make_fleet("large", 6), c.time()).empty());
  CHECK(c.sim.add_fleet(toy::make_fleet("a", 4), c.time()).empty());
  CHECK(c.sim.add_fleet(toy::make_fleet("b", 4), c.time()).empty());
  c.pass(10s);
  CHECK(c.objects.size() == 5);
  // Fleets are served in turn: neither is starved.
  CHECK(c.sim.find_fleet({"default", "a"})->status.replicas >= 2);
  CHECK(c.sim.find_fleet({"default", "b"})->status.replicas >= 2);
}

TEST_CASE("bad requests change nothing") {
  toy::cluster c{{}};
  CHECK(c.sim.add_fleet(toy::make_fleet("arena", 1), c.time()).empty());
  CHECK(to_string(c.sim.add_fleet(toy::make_fleet("arena", 1), c.time())) ==
        "metadata.name: Invalid value: \"default/arena\": there is such a fleet");
  CHECK(to_string(c.sim.add_fleet(toy::make_fleet("other", -1), c.time())) ==
        "spec.replicas: Invalid value: -1: must be between 0 and 1000000");
  CHECK(to_string(c.sim.scale({"default", "none"}, 1)) ==
        "metadata.name: Invalid value: \"default/none\": there is no such fleet");
  CHECK(to_string(c.sim.scale(arena, -1)) == "spec.replicas: Invalid value: -1: must be between 0 and 1000000");
  auto bad = toy::make_fleet("bad", 1);
  bad.meta.annotations.set(keys::start_up_annotation, "x");
  CHECK(!c.sim.add_fleet(bad, c.time()).empty());
  CHECK(c.sim.fleets().size() == 1);
}

TEST_CASE("an allocation that comes between a scale-down and its write wins") {
  toy::cluster c{{}};
  c.sim.add_fleet(toy::make_fleet("arena", 2), c.time());
  c.pass(10s);
  auto const key = key_of(c.in_state(state::ready).at(0)->meta);
  c.set_state(key, state::allocated);  // not seen by the simulator yet
  c.sim.scale(arena, 0);
  while (auto const action = c.sim.next_action(c.time())) c.sim.done(*action, c.write(*action), c.time());
  c.settle();
  CHECK(c.objects.size() == 1);
  CHECK(c.objects.at(key)->status.state == state::allocated);
}

TEST_CASE("writes that fail are tried again later, without spinning") {
  toy::cluster c{{}};
  int failures = 0;
  c.trouble = [&failures](simulator_action const&) {
    ++failures;
    return error_code{errc::unavailable};
  };
  c.sim.add_fleet(toy::make_fleet("arena", 3), c.time());
  c.pass(1s);
  CHECK(failures > 5);
  CHECK(failures < 40);
  CHECK(c.sim.size() <= 3);
  c.trouble = nullptr;
  c.pass(11s);
  CHECK(c.in_state(state::ready).size() == 3);
  c.trouble = [](simulator_action const&) { return error_code{errc::outcome_unknown}; };
  c.set_state(key_of(c.in_state(state::ready).at(0)->meta), state::allocated);
  c.pass(61s);
  c.trouble = nullptr;
  c.pass(11s);
  CHECK(c.in_state(state::ready).size() == 3);
  CHECK(c.objects.size() == 3);
}

TEST_CASE("after missed events a list puts everything right") {
  toy::cluster c{{}};
  c.sim.add_fleet(toy::make_fleet("arena", 4), c.time());
  c.pass(10s);
  auto const ready = c.in_state(state::ready);
  c.set_state(key_of(ready[0]->meta), state::allocated);
  c.objects.erase(key_of(ready[1]->meta));
  c.events.clear();
  std::vector<game_server_ptr> all;
  for (auto const& [key, server] : c.objects) all.push_back(server);
  c.sim.observe_all(all, c.time());
  c.pass(60s);
  c.pass(10s);
  CHECK(c.in_state(state::ready).size() == 4);
}

TEST_CASE("the same seed gives the same cluster, another seed another") {
  auto const run = [](std::uint64_t seed) {
    simulator_options o;
    o.seed = seed;
    toy::cluster c{o};
    auto f = toy::make_fleet("arena", 20);
    f.meta.annotations.set(keys::start_up_annotation, "1s-9s");
    c.sim.add_fleet(f, c.time());
    c.pass(5s);
    auto out = names_of(c);
    out.push_back(std::to_string(c.in_state(state::ready).size()));
    return out;
  };
  CHECK(run(1) == run(1));
  CHECK(run(1) != run(2));
}

TEST_CASE("status, ports, places and replicas hold through thousands of random events") {
  std::map<object_key, fleet> told;  // kept up by what is said to have changed
  simulator_options o;
  o.node_capacity = 7;
  o.node_count = 2;
  o.max_nodes = 12;
  o.min_port = 7000;
  o.max_port = 7005;
  toy::cluster c{o};
  seeded_random random{42};
  for (std::string const name : {"arena", "lobby"}) {
    auto f = toy::make_fleet(name, 15);
    f.meta.annotations = {{keys::start_up_annotation, "0-8s"},
                          {keys::session_length_annotation, "1s-30s"},
                          {keys::shut_down_annotation, "0-2s"},
                          {keys::start_failure_annotation, "0.1"}};
    f.scheduling = name == "arena" ? "Packed" : "Distributed";
    f.allocation_overflow = meta_patch{{{"over", "1"}}, {}};
    REQUIRE(c.sim.add_fleet(f, c.time()).empty());
  }
  c.trouble = [&random](simulator_action const&) {
    return random.below(20) == 0 ? error_code{errc::unavailable} : error_code{};
  };
  for (int step = 0; step < 3000; ++step) {
    if (!c.objects.empty()) {
      auto at = c.objects.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(random.below(c.objects.size())));
      auto const key = at->first;
      switch (random.below(6)) {
        case 0:
        case 1:
          if (at->second->status.state == state::ready) c.set_state(key, state::allocated);
          break;
        case 2:
          c.change(key, [&random](game_server& s) {
            s.status.counters["rooms"].count = static_cast<std::int64_t>(random.below(5));
            s.status.lists["players"].values = std::vector<shared_string>(random.below(4), "p");
          });
          break;
        case 3:
          c.set_state(key,
                      std::array{state::unhealthy, state::reserved, state::shutdown, state::ready}[random.below(4)]);
          break;
        case 4:
          c.sim.scale({"default", random.below(2) == 0 ? "arena" : "lobby"},
                      static_cast<std::int64_t>(random.below(30)));
          break;
        default:
          break;
      }
    }
    c.pass(std::chrono::milliseconds{random.below(2000)});
    c.settle();
    for (auto const& f : c.sim.fleets()) REQUIRE(f.status == c.recount(f.meta.name));
    for (auto& f : c.sim.take_changed()) told[key_of(f.meta)] = std::move(f);
    for (auto const& f : c.sim.fleets()) REQUIRE(told.at(key_of(f.meta)) == f);
    if (step % 100 == 0) c.check_ports();
  }
  // Left alone, every fleet is at its size.
  c.trouble = nullptr;
  for (auto const& f : c.sim.fleets()) c.sim.scale(key_of(f.meta), 10);
  for (auto const& [key, server] : std::map{c.objects}) {
    if (server->status.state == state::reserved) c.set_state(key, state::ready);
  }
  c.pass(200s);
  for (auto const& f : c.sim.fleets()) {
    CHECK(f.status.replicas == 10);
    CHECK(f.status.ready_replicas == 10);
  }
  CHECK(c.sim.size() == c.objects.size());
  std::uint32_t used = 0;
  for (std::uint32_t n = 0; n < c.sim.nodes().size(); ++n) used += c.sim.nodes().used(n);
  CHECK(used == c.objects.size());
}

TEST_CASE("a hundred thousand servers come, start and are replaced") {
  toy::cluster c{{}};
  auto f = toy::make_fleet("arena", 100'000);
  f.meta.annotations.set(keys::start_up_annotation, "0");
  f.meta.annotations.set(keys::session_length_annotation, "1s-60s");
  c.sim.add_fleet(f, c.time());
  CHECK(c.settle() == 100'000);
  CHECK(c.sim.nodes().size() == (100'000 + 63) / 64);
  int n = 0;
  for (auto const& server : c.in_state(state::ready)) {
    if (++n % 10 == 0) c.set_state(key_of(server->meta), state::allocated);
  }
  c.settle();
  CHECK(c.sim.find_fleet(arena)->status.allocated_replicas == 10'000);
  c.pass(60s);
  CHECK(c.sim.find_fleet(arena)->status == c.recount("arena"));
  CHECK(c.sim.find_fleet(arena)->status.ready_replicas == 100'000);
}
