// Allocations one after the other, with a game that says at once that it is ready, and allocations that have no gate.
#pragma once

#include "world.hpp"

#include <agones_alloc/flow/pending.hpp>

#include <algorithm>
#include <vector>

namespace bench {

struct told {
  std::vector<double> micros;  ///< from just before the game's write to the caller's handler
  double least_writes{0};      ///< of an allocation, the game's own aside
  double most_writes{0};
};

/// The same server, freed after each round.
inline auto measure_told(std::size_t rounds) -> told {
  gate_world world{"watch"};
  world.add(ready_server(0));
  object_key const key{"default", "gs-0"};
  auto const version = [&] { return std::stod(world.memory.find(key)->meta.resource_version.str()); };
  told out;
  out.least_writes = std::numeric_limits<double>::max();
  out.micros.reserve(rounds);
  for (std::size_t i = 0; i != rounds; ++i) {
    auto const before = version();
    bool done = false;
    world.alloc->async_allocate(world.request, allocate_options{}, [&](error_code ec, allocation_result const& result) {
      if (ec || result.server == nullptr) throw std::runtime_error{"an allocation failed: " + ec.message()};
      if (result.server->status.state != game_server_state::allocated) throw std::runtime_error{"it was told of a server that is not ready"};
      done = true;
    });
    world.run_until([&] { return world.gate->pending() == 1 && !done; });
    world.context.poll();
    if (done) throw std::runtime_error{"the caller was told before the game was ready"};
    auto const begun = clock_type::now();
    world.change(key, [](game_server& server) { server.meta.annotations.set(keys::sdk_session_ready, "true"); });
    world.run_until([&] { return done; });
    out.micros.push_back(micros(clock_type::now() - begun));
    auto const writes = version() - before - 1;  // one is the game's
    out.least_writes = std::min(out.least_writes, writes);
    out.most_writes = std::max(out.most_writes, writes);
    world.change(key, [](game_server& server) {
      server.status.state = game_server_state::ready;
      server.meta.annotations = {};
    });
    world.context.poll();
  }
  return out;
}

/// Allocations that have no gate, 64 at a time, of servers that are freed again meanwhile.
class plain_loop {
 public:
  /// `gated`: the allocator has a gate object, which is off.
  explicit plain_loop(bool gated) : world_{gated ? std::optional<std::string_view>{"off"} : std::nullopt} {
    for (std::size_t i = 0; i != servers; ++i) world_.add(ready_server(i));
    taken_.reserve(servers);
  }

  /// Processor time of `allocations` of them, in nanoseconds for each.
  auto measure(std::size_t allocations) -> double {
    double spent = 0;
    std::size_t made = 0;
    while (made < allocations) {
      taken_.clear();
      auto const begun = processor_seconds();
      while (taken_.size() < servers / 2) allocate_some();
      spent += processor_seconds() - begun;
      made += taken_.size();
      for (auto const& key : taken_) {
        world_.change(key, [](game_server& server) { server.status.state = game_server_state::ready; });
      }
      world_.context.poll();
    }
    return spent * 1e9 / static_cast<double>(made);
  }

 private:
  static constexpr std::size_t servers = 4096;
  static constexpr std::size_t at_once = 64;

  void allocate_some() {
    std::size_t ended = 0;
    for (std::size_t i = 0; i != at_once; ++i) {
      world_.alloc->async_allocate(world_.request, allocate_options{}, [&](error_code ec, allocation_result const& result) {
        if (ec) throw std::runtime_error{"an allocation failed: " + ec.message()};
        taken_.push_back(key_of(result.server->meta));
        ++ended;
      });
    }
    world_.run_until([&] { return ended == at_once; });
  }

  gate_world world_;
  std::vector<object_key> taken_;
};

struct plain {
  std::vector<double> plain;   ///< nanoseconds
  std::vector<double> gated;
  std::vector<double> ratios;  ///< of each pair
};

/// So many allocations by each, in pairs whose first one changes.
inline auto measure_plain(std::size_t allocations) -> plain {
  constexpr std::size_t pairs = 49;
  plain_loop without{false};
  plain_loop with{true};
  without.measure(1);
  with.measure(1);
  plain out;
  for (std::size_t i = 0; i != pairs; ++i) {
    auto const turn = [&](bool gated) {
      auto& loop = gated ? with : without;
      loop.measure(1);  // what the other one has put out of the processor's caches
      (gated ? out.gated : out.plain).push_back(loop.measure(allocations / pairs));
    };
    turn(i % 2 != 0);
    turn(i % 2 == 0);
    out.ratios.push_back(out.plain.back() / out.gated.back());
  }
  return out;
}

}  // namespace bench
