// The gate from other threads than those that run it: games that answer, callers that leave, watches, and the end.
#include "../support/gate_fixture.hpp"

#include <agones_alloc/async/asio_timer.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

/// A probe whose answers come from threads of the pool: every third says that it is ready.
class pool_probe final : public readiness_probe {
 public:
  explicit pool_probe(boost::asio::any_io_executor executor) : executor_{std::move(executor)} {}
  std::atomic<int> begun{0};

 private:
  void do_probe(probe_target, handler done) override {
    auto const what = begun++ % 3 == 2 ? probe_answer::ready : probe_answer::pending;
    boost::asio::post(executor_, [done = std::move(done), what]() mutable { std::move(done)(error_code{}, what); });
  }
  boost::asio::any_io_executor executor_;
};

struct pool_world {
  boost::asio::thread_pool pool{3};
  ready_cache cache;
  memory_store store{pool.get_executor()};
  asio_timer clock{pool.get_executor()};
  seeded_random random{1};
  seeded_random random_of_gate{2};
  pool_probe probe{pool.get_executor()};
  std::unique_ptr<readiness_gate> gate;
  std::unique_ptr<allocator> alloc;
  std::mutex mutex;
  std::multiset<std::string> names;
  std::atomic<int> told{0};
  std::atomic<int> allocated{0};
  std::atomic<int> pending{0};

  explicit pool_world(std::string_view settings) {
    gate_options options;
    options.otherwise = gate_of(settings);
    gate_ports ports;
    ports.probe = &probe;
    gate = std::make_unique<readiness_gate>(pool.get_executor(), cache, store, clock, random_of_gate, std::move(options), ports);
    alloc = std::make_unique<allocator>(pool.get_executor(), cache, store, clock, random, allocator_options{},
                                        allocator_ports{nullptr, nullptr, nullptr, gate.get(), gate.get()});
  }
  ~pool_world() {
    alloc.reset();
    gate.reset();
    pool.wait();
  }
  void add(int servers) {
    for (int i = 0; i != servers; ++i) cache.store(*store.create(make_server("gs-" + std::to_string(i))));
  }
  void note(error_code, allocation_result const& result) {
    if (result.result == outcome::allocated && has_pending(*result.server)) {
      ++pending;
    } else if (result.result == outcome::allocated) {
      ++allocated;
      std::lock_guard const lock{mutex};
      names.insert(result.server->meta.name.str());
    }
    ++told;  // last: who has seen it looks at the others
  }
  auto in_state(game_server_state wanted) -> int {
    int out = 0;
    for (auto const& server : store.list().servers) out += server->status.state == wanted ? 1 : 0;
    return out;
  }
  /// What a game writes, and a watch tells, from this thread.
  template <class Change>
  void change(std::string const& name, Change by) {
    if (auto const now = store.modify(key(name), by)) {
      cache.store(*now);
      gate->stored(*now);
    }
  }
};

}  // namespace

TEST_CASE("games answer from threads of their own while others allocate: each server goes to one caller") {
  pool_world world{"watch; timeout=1h"};
  constexpr int servers = 120;
  world.add(servers);
  auto const request = fleet_request();
  allocate_options options;
  options.timeout = 1h;
  std::atomic<bool> over{false};
  std::vector<std::thread> callers;
  for (int t = 0; t != 2; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i != servers / 2; ++i) {
        world.alloc->async_allocate(request, options, [&](error_code ec, allocation_result const& r) { world.note(ec, r); });
      }
    });
  }
  std::vector<std::thread> games;
  for (int t = 0; t != 2; ++t) {
    games.emplace_back([&, t] {
      while (!over) {
        for (int i = t; i < servers; i += 2) {
          auto const name = "gs-" + std::to_string(i);
          auto const known = world.store.find(key(name));
          if (known == nullptr || !has_pending(*known)) continue;
          world.change(name, [](game_server& server) {
            if (has_pending(server)) server.meta.annotations.set(keys::sdk_session_ready, "true");
          });
        }
        std::this_thread::yield();
      }
    });
  }
  std::thread reader{[&] {
    while (!over) {
      world.gate->replaced(world.store.list().servers, {});
      static_cast<void>(world.gate->pending());
      static_cast<void>(world.gate->find("default", "nobody"));
      static_cast<void>(world.gate->find_end("default", "nobody"));
      std::this_thread::yield();
    }
  }};
  for (auto& t : callers) t.join();
  while (world.told != servers) std::this_thread::yield();
  over = true;
  for (auto& t : games) t.join();
  reader.join();
  CHECK(world.allocated == servers);
  CHECK(std::set<std::string>(world.names.begin(), world.names.end()).size() == servers);
  CHECK(world.in_state(game_server_state::allocated) == servers);
  CHECK(world.gate->pending() == 0);
}

TEST_CASE("checks are answered by any thread, while callers leave at any time: nobody is told twice, and none is lost") {
  pool_world world{"tcp; timeout=1h; period=10ms; on-timeout=ReturnToReady"};
  constexpr int servers = 90;
  world.add(servers);
  auto const request = fleet_request();
  allocate_options options;
  options.timeout = 1h;
  std::vector<std::unique_ptr<boost::asio::cancellation_signal>> signals(servers);
  for (auto& s : signals) s = std::make_unique<boost::asio::cancellation_signal>();
  std::vector<std::thread> callers;
  for (std::size_t t = 0; t != 3; ++t) {
    callers.emplace_back([&, t] {
      for (std::size_t i = t; i < signals.size(); i += 3) {
        auto& signal = *signals[i];
        world.alloc->async_allocate(request, options, boost::asio::bind_cancellation_slot(signal.slot(), [&](error_code ec, allocation_result const& r) {
                                      world.note(ec, r);
                                    }));
        if (i % 2 == 0) signal.emit(boost::asio::cancellation_type::terminal);
      }
    });
  }
  for (auto& t : callers) t.join();
  while (world.told != servers) std::this_thread::yield();
  while (world.gate->pending() != 0) std::this_thread::yield();
  CHECK(world.allocated >= servers / 2);
  CHECK(std::set<std::string>(world.names.begin(), world.names.end()).size() == world.names.size());
  CHECK(world.in_state(game_server_state::allocated) == world.allocated);
  CHECK(world.in_state(game_server_state::allocated) + world.in_state(game_server_state::ready) == servers);
}

TEST_CASE("a token is good for one of the threads that call with it at once") {
  pool_world world{"webhook; timeout=1h"};
  world.add(20);
  auto const request = fleet_request();
  allocate_options options;
  options.timeout = 1h;
  options.gate = std::make_shared<gate_request const>(gate_request{"", true, {}});
  for (int i = 0; i != 20; ++i) {
    world.alloc->async_allocate(request, options, [&](error_code ec, allocation_result const& r) { world.note(ec, r); });
  }
  while (world.told != 20) std::this_thread::yield();
  CHECK(world.pending == 20);
  std::vector<std::string> tokens;
  for (auto const& server : world.store.list().servers) {
    tokens.emplace_back(server->meta.annotations.value_or_empty(keys::gate_token_annotation));
  }
  std::atomic<int> taken{0};
  std::vector<std::thread> games;
  for (int t = 0; t != 3; ++t) {
    games.emplace_back([&] {
      for (auto const& token : tokens) taken += world.gate->call(token, true) ? 1 : 0;
    });
  }
  for (auto& t : games) t.join();
  CHECK(taken == 20);
  while (world.gate->pending() != 0) std::this_thread::yield();
  CHECK(world.in_state(game_server_state::allocated) == 20);
}

TEST_CASE("the end comes from another thread while all is under way: everybody is told once") {
  pool_world world{"tcp; timeout=1h; period=10ms"};
  world.add(60);
  auto const request = fleet_request();
  std::thread caller{[&] {
    for (int i = 0; i != 60; ++i) {
      world.alloc->async_allocate(request, {}, [&](error_code ec, allocation_result const& r) { world.note(ec, r); });
    }
  }};
  std::thread watch{[&] {
    for (int i = 0; i != 20; ++i) world.gate->replaced(world.store.list().servers, {});
  }};
  caller.join();
  world.gate->stop();
  watch.join();
  while (world.told != 60) std::this_thread::yield();
  CHECK(world.in_state(game_server_state::allocated) >= world.allocated);
}
