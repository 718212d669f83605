// A store of its own and a clock that is set by hand, for a simulator under test.
#pragma once

#include <agones_alloc/embedded/fleet_simulator.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace toy {

using namespace agones_alloc;

/// A store whose events reach the simulator at once, late, or never, as the test says.
class cluster {
 public:
  explicit cluster(simulator_options options) : sim{std::move(options)} {}

  auto time() const -> simulator_instant {
    return {now, timer::wall_time{std::chrono::seconds{1'700'000'000}} + (now - start)};
  }

  auto write(simulator_action const& action) -> result<game_server_ptr> {
    if (trouble) {
      if (auto const error = trouble(action)) return error;
    }
    if (action.what == simulator_action::kind::create) {
      if (objects.contains(key_of(action.desired->meta))) return error_code{errc::conflict};
      return put(*action.desired, server_event::kind::added);
    }
    auto const found = objects.find(key_of(action.base->meta));
    if (found == objects.end()) return error_code{errc::not_found};
    if (action.what == simulator_action::kind::remove) {
      auto const last = found->second;
      objects.erase(found);
      events.push_back({server_event::kind::deleted, last});
      return last;
    }
    if (found->second->meta.resource_version != action.base->meta.resource_version) return error_code{errc::conflict};
    return put(*action.desired, server_event::kind::modified);
  }

  /// What somebody else writes.
  auto change(object_key const& key, std::function<void(game_server&)> const& edit) -> game_server_ptr {
    auto copy = *objects.at(key);
    edit(copy);
    return put(std::move(copy), server_event::kind::modified);
  }
  auto set_state(object_key const& key, game_server_state state) -> game_server_ptr {
    return change(key, [state](game_server& s) { s.status.state = state; });
  }

  /// All that is to be done at this moment; the events of all writes are delivered in between.
  auto settle() -> int {
    int actions = 0;
    while (true) {
      deliver();
      auto const action = sim.next_action(time());
      if (!action) break;
      ++actions;
      sim.done(*action, write(*action), time());
      REQUIRE(actions < 1'000'000);
    }
    return actions;
  }
  void deliver() {
    for (auto const& event : std::exchange(events, {})) sim.observe(event, time());
  }
  /// Lets time pass, from event to event.
  void pass(std::chrono::nanoseconds span) {
    auto const end = now + span;
    settle();
    while (true) {
      auto const next = sim.next_time();
      if (!next || *next > end) break;
      now = std::max(now, *next);
      settle();
    }
    now = end;
  }

  auto in_state(game_server_state state) const -> std::vector<game_server_ptr> {
    std::vector<game_server_ptr> out;
    for (auto const& [key, server] : objects) {
      if (server->status.state == state) out.push_back(server);
    }
    return out;
  }
  /// The status summed up from the objects themselves.
  auto recount(std::string_view fleet_name) const -> fleet_status {
    fleet_tally tally;
    for (auto const& [key, server] : objects) {
      if (server->meta.labels.value_or_empty(keys::fleet_label) == fleet_name) tally.add(*server);
    }
    return tally.status();
  }
  /// No two servers share a port on a node.
  void check_ports() const {
    std::set<std::pair<std::string, std::int32_t>> seen;
    for (auto const& object : objects) {
      auto const& server = object.second;
      for (auto const& port : server->status.ports) {
        CAPTURE(to_string(object.first));
        CHECK(seen.emplace(server->status.node_name.str(), port.port).second);
      }
    }
  }

  timer::time_point const start{std::chrono::hours{1}};
  timer::time_point now{start};
  fleet_simulator sim;
  std::map<object_key, game_server_ptr> objects;
  std::vector<server_event> events;
  std::function<error_code(simulator_action const&)> trouble;

 private:
  auto put(game_server server, server_event::kind what) -> game_server_ptr {
    server.meta.resource_version = std::to_string(++version_);
    auto made = std::make_shared<game_server const>(std::move(server));
    objects.insert_or_assign(key_of(made->meta), made);
    events.push_back({what, made});
    return made;
  }

  std::uint64_t version_{8};
};

/// A fleet with one port, a counter and a list. Starts in 10 s, sessions of 60 s, unless annotations say otherwise.
inline auto make_fleet(std::string name, std::int32_t replicas) -> fleet {
  fleet f;
  f.meta.name = std::move(name);
  f.meta.namespace_ = "default";
  f.meta.annotations = {{keys::start_up_annotation, "10s"}, {keys::session_length_annotation, "60s"}};
  f.replicas = replicas;
  f.server_template.labels = {{"map", "harbour"}};
  f.server_template.annotations = {{"note", "x"}};
  f.server_template.ports = {{"game", "Dynamic", "UDP", 7654, 0}};
  f.server_template.counters.emplace("rooms", counter_status{1, 4});
  f.server_template.lists.emplace("players", list_status{8, std::vector<shared_string>{"bot"}});
  f.server_template.spec = "{\"ports\":[]}";
  return f;
}

}  // namespace toy
