// Calls, cancellations and the end from other threads than the one that runs the allocator.
#include "../support/allocator_fixture.hpp"
#include "../support/servers.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/cache/ready_cache.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/thread_pool.hpp>
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace test_support;

namespace {

struct pool_fixture {
  boost::asio::thread_pool pool{3};
  ready_cache cache;
  memory_store store{pool.get_executor()};
  asio_timer clock{pool.get_executor()};
  seeded_random random{1};
  std::unique_ptr<allocator> alloc{
      std::make_unique<allocator>(pool.get_executor(), cache, store, clock, random)};
  std::mutex mutex;
  std::multiset<std::string> names;
  std::atomic<int> told{0};
  std::atomic<int> allocated{0};

  void add(int servers) {
    for (int i = 0; i < servers; ++i) cache.store(*store.create(make_server("gs-" + std::to_string(i))));
  }
  void note(allocation_result const& result) {
    ++told;
    if (result.result != outcome::allocated) return;
    ++allocated;
    std::lock_guard const lock{mutex};
    names.insert(result.server->meta.name.str());
  }
  auto distinct() -> std::size_t { return std::set<std::string>(names.begin(), names.end()).size(); }
};

}  // namespace

TEST_CASE_FIXTURE(pool_fixture, "many threads start calls on a pool: each server goes to one of them") {
  add(300);
  auto const request = fleet_request();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        alloc->async_allocate(request, {}, [this](error_code, allocation_result r) { note(r); });
      }
    });
  }
  for (auto& t : threads) t.join();
  pool.wait();
  CHECK(told == 400);
  CHECK(allocated == 300);
  CHECK(distinct() == 300);
  CHECK(cache.in_flight() == 0);
}

TEST_CASE_FIXTURE(pool_fixture, "any thread may cancel at any time") {
  add(200);
  auto const request = fleet_request();
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<boost::asio::cancellation_signal>> signals(300);
  for (auto& s : signals) s = std::make_unique<boost::asio::cancellation_signal>();
  for (std::size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 100; ++i) {
        auto& signal = *signals[t * 100 + i];
        alloc->async_allocate(request, {}, boost::asio::bind_cancellation_slot(signal.slot(), [this](error_code, allocation_result r) {
                                note(r);
                              }));
        if (i % 2 == 0) signal.emit(boost::asio::cancellation_type::terminal);
      }
    });
  }
  for (auto& t : threads) t.join();
  pool.wait();
  CHECK(told == 300);
  CHECK(distinct() == static_cast<std::size_t>(allocated));
  std::size_t written = 0;
  for (auto const& server : store.list().servers) {
    written += server->status.state == game_server_state::allocated ? 1 : 0;
  }
  CHECK(written == static_cast<std::size_t>(allocated));
  CHECK(cache.in_flight() == 0);
}

TEST_CASE_FIXTURE(pool_fixture, "the cache is fed by one thread while others allocate, and the end comes from a third") {
  auto const request = fleet_request();
  std::thread feeder{[&] { add(200); }};
  std::thread caller{[&] {
    for (int i = 0; i < 200; ++i) {
      alloc->async_allocate(request, {}, [this](error_code, allocation_result r) { note(r); });
    }
  }};
  caller.join();
  alloc.reset();
  feeder.join();
  pool.wait();
  CHECK(told == 200);
  CHECK(distinct() == static_cast<std::size_t>(allocated));
  CHECK(cache.in_flight() == 0);
}

TEST_CASE_FIXTURE(allocator_fixture, "an answer may come on another thread just when time runs out") {
  using namespace std::chrono_literals;
  for (int round = 0; round < 50; ++round) {
    add("gs-" + std::to_string(round));
    allocate_options options;
    options.timeout = 5s;
    auto const c = allocate(fleet_request(), options);
    REQUIRE(store.pending() == 1);
    clock.advance(5s);
    std::thread answering{[this] { store.acknowledge(0); }};
    run();
    answering.join();
    run();
    CHECK(c->completions == 1);
    CHECK((c->ended() == outcome::allocated || c->ended() == outcome::unknown));
    CHECK(cache.in_flight() == 0);
  }
  CHECK(events.lines.size() == 50);
}
