// Crowds against a store that misbehaves, from a seed: at the end the books must balance.
#include "../support/reports.hpp"
#include "../support/servers.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/async/reflector.hpp>
#include <agones_alloc/cache/ready_cache.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

struct ended_call {
  outcome result{outcome::invalid};
  std::string server;
  int completions{0};
  boost::asio::cancellation_signal stop;
};

// Several allocators, each with a cache and a watch of its own, on one store.
struct replica {
  ready_cache cache;
  seeded_random random;
  reflector reflects;
  allocator alloc;

  replica(boost::asio::io_context& context, memory_store& store, timer& clock, std::uint64_t seed)
      : random{seed}, reflects{context.get_executor(), store, cache, clock, random},
        alloc{context.get_executor(), cache, store, clock, random} {
    reflects.start();
  }
};

void run_crowd(std::uint64_t seed, std::size_t replicas, fault_rates rates) {
  CAPTURE(seed);
  constexpr std::size_t servers = 40;
  constexpr std::size_t calls = 60;
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  memory_store_options store_options;
  store_options.clock = &clock;
  memory_store store{context.get_executor(), store_options};
  for (std::size_t i = 0; i < servers; ++i) {
    store.create(make_server("gs-" + std::to_string(100 + i), "fleet", game_server_state::ready, "n" + std::to_string(i % 5)));
  }
  store.set_faults(std::make_shared<seeded_faults>(seed, rates));
  auto const settle = [&] {
    for (int idle = 0; idle < 2000; ++idle) {
      context.restart();
      context.poll();
      if (!clock.advance_to_next()) break;
    }
  };
  std::vector<std::unique_ptr<replica>> all;
  for (std::size_t i = 0; i < replicas; ++i) {
    all.push_back(std::make_unique<replica>(context, store, clock, seed * 31 + i));
  }
  while (std::any_of(all.begin(), all.end(), [](auto& r) { return !r->reflects.synced(); })) {
    context.restart();
    context.poll();
    clock.advance_to_next();
  }
  seeded_random random{seed};
  std::vector<std::unique_ptr<ended_call>> ended;
  for (std::size_t i = 0; i < calls; ++i) {
    ended.push_back(std::make_unique<ended_call>());
    auto* const call = ended.back().get();
    allocate_options options;
    if (random.below(8) == 0) options.timeout = std::chrono::milliseconds{random.below(30)};
    all[i % replicas]->alloc.async_allocate(
        fleet_request(), options,
        boost::asio::bind_cancellation_slot(call->stop.slot(), [call](error_code, allocation_result r) {
          ++call->completions;
          call->result = r.result;
          if (r.server) call->server = r.server->meta.name.str();
        }));
    if (random.below(4) == 0) {
      context.restart();
      context.poll();
      clock.advance(std::chrono::milliseconds{random.below(5)});
    }
    if (random.below(10) == 0) {
      ended[random.below(ended.size())]->stop.emit(boost::asio::cancellation_type::terminal);
    }
  }
  settle();
  store.set_faults(nullptr);
  settle();

  std::set<std::string> told;
  std::size_t unknown = 0;
  for (auto const& call : ended) {
    CHECK(call->completions == 1);
    if (call->result == outcome::allocated) CHECK(told.insert(call->server).second);  // never twice
    if (call->result == outcome::unknown) ++unknown;
  }
  std::size_t written = 0;
  std::size_t ready = 0;
  for (auto const& server : store.list().servers) {
    auto const is_allocated = server->status.state == game_server_state::allocated;
    written += is_allocated ? 1 : 0;
    ready += is_allocated ? 0 : 1;
    // Whoever was told has it.
    if (told.contains(server->meta.name.str())) CHECK(is_allocated);
  }
  CHECK(written + ready == servers);
  // What was written without telling is covered by an unknown.
  CHECK(written >= told.size());
  CHECK(written <= told.size() + unknown);
  for (auto const& r : all) {
    CHECK(r->cache.in_flight() == 0);
    CHECK(r->alloc.outstanding() == 0);
    if (rates.lose_event > 0) continue;
    // Nothing is lost to the cache: every server is there, as the store has it.
    CHECK(r->cache.size() == servers);
    for (auto const& server : store.list().servers) {
      auto const seen = r->cache.find(key_of(server->meta));
      REQUIRE(seen != nullptr);
      CHECK(seen->meta.resource_version == server->meta.resource_version);
    }
  }
  // And every server that is still ready can be had.
  std::size_t had = 0;
  if (rates.lose_event == 0) {
    for (std::size_t i = 0; i < ready + 3; ++i) {
      all[0]->alloc.async_allocate(fleet_request(), {}, [&](error_code ec, allocation_result) { had += ec ? 0 : 1; });
      settle();
    }
    CHECK(had == ready);
  }
  all.clear();
  settle();
}

}  // namespace

TEST_CASE("no server is lost or handed out twice while the store refuses, delays and forgets to answer") {
  fault_rates rates;
  rates.unavailable = 0.1;
  rates.conflict = 0.1;
  rates.refused = 0.05;
  rates.lost_before = 0.08;
  rates.lost_after = 0.08;
  rates.latency = 8ms;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) run_crowd(seed, 1, rates);
}

TEST_CASE("three replicas that race for the same servers never hand out one twice") {
  fault_rates rates;
  rates.unavailable = 0.05;
  rates.lost_after = 0.05;
  rates.latency = 5ms;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) run_crowd(seed, 3, rates);
}

TEST_CASE("lost events make a cache stale, and staleness costs tries, not servers") {
  fault_rates rates;
  rates.lose_event = 0.5;
  rates.latency = 3ms;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) run_crowd(seed, 2, rates);
}
