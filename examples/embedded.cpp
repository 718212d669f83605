// Fleets from a YAML file and an allocator on them, all in one process and one thread.
//
//   embedded [FILE|DIR]     default: examples/fleets.yaml
//
// Allocates five game servers of the first fleet, says which ones, and shows the fleet afterwards.
#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/async/reflector.hpp>
#include <agones_alloc/embedded/embedded_cluster.hpp>
#include <agones_alloc/yaml/manifest_files.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <utility>
#include <variant>

namespace aa = agones_alloc;
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// What a matchmaker asks for: any ready server of one fleet.
auto request_for(aa::fleet const& fleet) -> aa::request_ptr {
  aa::game_server_allocation wanted;
  wanted.meta.namespace_ = fleet.meta.namespace_;
  aa::game_server_selector selector;
  selector.labels.match_labels.set(aa::keys::fleet_label, fleet.meta.name);
  wanted.spec.selectors.push_back(selector);
  return std::get<aa::request_ptr>(aa::allocation_request::make(wanted));
}

/// Allocates `count` servers; gives up on a fleet that has none ready for too long.
auto allocate(aa::allocator& allocator, aa::timer& clock, aa::request_ptr request, int count) -> asio::awaitable<int> {
  int allocated = 0;
  for (int tries = 0; allocated < count && tries < 1000; ++tries) {
    aa::allocate_options const options;
    auto [error, result] = co_await allocator.async_allocate(request, options, asio::as_tuple(asio::deferred));
    if (!error) {
      auto const& status = result.server->status;
      std::cout << "allocated " << result.server->meta.name << " on " << status.node_name << " at " << status.address
                << ":" << (status.ports.empty() ? 0 : status.ports.front().port) << "\n";
      ++allocated;
    } else if (result.result == aa::outcome::exhausted) {
      auto const later = clock.now() + 10ms;  // none is ready yet
      co_await clock.async_wait_until(later, asio::as_tuple(asio::deferred));
    } else {
      std::cout << "no server: " << error.message() << "\n";
      break;
    }
  }
  co_return allocated;
}

auto run(aa::yaml::manifests manifests) -> int {
  asio::io_context io;
  aa::asio_timer clock{io.get_executor()};
  aa::memory_store_options store_options;
  store_options.clock = &clock;
  aa::memory_store store{io.get_executor(), store_options};

  aa::embedded_cluster_options options;
  options.simulator.speed = 100;  // servers that take 2 s to start are ready in 20 ms
  aa::embedded_cluster cluster{io.get_executor(), store, clock, options};
  auto const fleet = manifests.fleets.front();
  for (auto& each : manifests.fleets) cluster.add_fleet(std::move(each));
  for (auto& each : manifests.game_servers) cluster.add_server(std::move(each.server), each.shape);
  cluster.async_run(asio::detached);

  aa::seeded_random random{1};
  aa::ready_cache cache;
  aa::reflector reflector{io.get_executor(), store, cache, clock, random};
  reflector.start();
  aa::allocator allocator{io.get_executor(), cache, store, clock, random};

  int const wanted = std::min(5, fleet.replicas);
  int allocated = 0;
  asio::co_spawn(io, allocate(allocator, clock, request_for(fleet), wanted), [&](std::exception_ptr, int count) {
    allocated = count;
    auto const status = cluster.find_fleet(aa::key_of(fleet.meta))->status;
    std::cout << "fleet " << fleet.meta.name << ": " << status.replicas << " servers, " << status.ready_replicas
              << " ready, " << status.allocated_replicas << " allocated\n";
    cluster.stop();
    reflector.stop();
  });
  io.run();
  return allocated == wanted ? 0 : 1;
}

}  // namespace

auto main(int argc, char** argv) -> int {
  auto manifests = aa::yaml::load_path(argc > 1 ? argv[1] : "examples/fleets.yaml");
  for (auto const& note : manifests.notes) std::cout << "note: " << to_string(note) << "\n";
  for (auto const& error : manifests.errors) std::cerr << to_string(error) << "\n";
  if (!manifests.ok()) return 1;
  if (manifests.fleets.empty()) {
    std::cerr << "no fleet to allocate from\n";
    return 1;
  }
  return run(std::move(manifests));
}
