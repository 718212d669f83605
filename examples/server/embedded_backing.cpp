#include "embedded_backing.hpp"

#include <agones_alloc/yaml/manifest_files.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <optional>
#include <utility>

namespace agones_alloc_server {

using namespace agones_alloc;

namespace {

void print(yaml::problem const& problem) { std::cerr << "agones-alloc-server: " << to_string(problem) << '\n'; }

/// Everything of all --fleets; prints problems and notes. nullopt: there were problems.
auto load_fleets(server_options const& options, logger& log) -> std::optional<yaml::manifests> {
  auto all = yaml::load_paths(options.fleets);
  for (auto const& problem : all.errors) print(problem);
  for (auto const& note : all.notes) log.log(note.left_out ? severity::warning : severity::info, to_string(note));
  if (!all.ok()) return std::nullopt;
  return all;
}

auto stored(server_options const& options, timer& time) -> memory_store_options {
  memory_store_options out;
  out.watches = options.max_watches + 64;  // beside those of the server itself
  out.first_version = first_version(time);
  out.clock = &time;
  return out;
}

auto add_to(embedded_cluster& cluster, yaml::manifests const& loaded) -> bool {
  bool sound = true;
  auto const take = [&sound](yaml::manifest_place const& place, field_errors const& found) {
    for (auto const& error : found) {
      auto message = error.value + (error.value.empty() ? "" : " ") + error.detail;
      if (error.field == "spec.replicas") message += " (--max-servers)";
      print(place.problem_at(error.field, std::move(message)));
      sound = false;
    }
  };
  for (std::size_t i = 0; i < loaded.fleets.size(); ++i) take(loaded.fleet_places[i], cluster.add_fleet(loaded.fleets[i]));
  for (std::size_t i = 0; i < loaded.game_servers.size(); ++i) {
    auto const& one = loaded.game_servers[i];
    take(loaded.game_server_places[i], cluster.add_server(one.server, one.shape));
  }
  return sound;
}

}  // namespace

auto first_version(timer const& time) -> std::uint64_t {
  auto const since = std::chrono::floor<std::chrono::milliseconds>(time.wall_now().time_since_epoch()).count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(since, 0));
}

void event_log::record(game_server const& about, type kind, std::string_view reason, std::string_view message) {
  auto const key = to_string(key_of(about.meta));
  log_->log(kind == type::warning ? severity::warning : severity::debug, message, {{"gsKey", key}, {"reason", reason}});
}

embedded_backing::embedded_backing(boost::asio::any_io_executor executor, server_options const& options, ready_cache& cache,
                                   timer& time, random_source& random, logger& log, server_observer* observer,
                                   event_serving& told)
    : options_{options},
      log_{log},
      event_log_{log},
      events_{time, &event_log_},
      store_{executor, stored(options, time)},
      cluster_{executor, store_, time, {options.simulator, 256, &log}},
      reflector_{executor, store_, cache, time, random,
                 reflector_options{.log = &log,
                                   .on_event = [&told](server_event const& event) { told.heard(event); },
                                   .on_list = [&told](std::vector<game_server_ptr> const& all) { told.listed(all); },
                                   .observer = observer}} {}

auto embedded_backing::prepare() -> bool {
  auto loaded = load_fleets(options_, log_);
  if (!loaded || !add_to(cluster_, *loaded)) return false;
  loaded_ = *std::move(loaded);
  return true;
}

void embedded_backing::start() {
  cluster_.async_run([](error_code) {});
  reflector_.start();
}

void embedded_backing::stop() {
  reflector_.stop();
  cluster_.stop();
}

void embedded_backing::tell_fleets(fleet_directory& to) {
  for (auto& one : cluster_.take_changed_fleets()) to.put_fleet(std::make_shared<fleet const>(std::move(one)));
}

auto embedded_backing::describe() -> std::string {
  auto const first = loaded_.fleets.empty() ? std::string{"default"} : loaded_.fleets.front().meta.namespace_.str();
  if (options_.speaks_by_log()) {
    for (auto const& fleet : loaded_.fleets) {
      auto const replicas = std::to_string(fleet.replicas);
      log_.log(severity::info, "fleet loaded", {{"fleet", to_string(key_of(fleet.meta))}, {"replicas", replicas}});
    }
    return first;
  }
  for (auto const& fleet : loaded_.fleets) {
    std::cout << "  fleet " << to_string(key_of(fleet.meta)) << ": " << fleet.replicas << " game servers\n";
  }
  auto const& simulator = options_.simulator;
  if (!loaded_.game_servers.empty()) std::cout << "  single game servers: " << loaded_.game_servers.size() << '\n';
  std::cout << "  nodes: " << simulator.node_count << ", ports " << simulator.min_port << '-' << simulator.max_port << ", speed "
            << simulator.speed << ", seed " << simulator.seed << '\n';
  return first;
}

}  // namespace agones_alloc_server
