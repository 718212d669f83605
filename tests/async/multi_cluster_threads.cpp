// Requests over several clusters, started and cancelled on other threads than those that run them.
#include "../support/servers.hpp"

#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/async/multi_cluster_allocator.hpp>
#include <agones_alloc/cache/ready_cache.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
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

/// Hands out so many servers, on any thread.
class counting_remote final : public remote_allocator {
 public:
  explicit counting_remote(boost::asio::any_io_executor executor, int servers)
      : executor_{std::move(executor)}, left_{servers} {}

 private:
  void do_allocate(remote_call, handler done) override {
    boost::asio::post(executor_, [this, h = std::move(done)]() mutable {
      remote_result out;
      auto const number = --left_;
      out.result = number >= 0 ? outcome::allocated : outcome::exhausted;
      if (number >= 0) out.server = share(make_server("far-" + std::to_string(number)));
      auto const executor = boost::asio::get_associated_executor(h, executor_);
      boost::asio::dispatch(executor, [h = std::move(h), out = std::move(out)]() mutable { std::move(h)(std::move(out)); });
    });
  }

  boost::asio::any_io_executor executor_;
  std::atomic<int> left_;
};

auto two_policies() -> std::vector<game_server_allocation_policy> {
  game_server_allocation_policy here;
  here.meta.namespace_ = "default";
  here.weight = 1;
  here.connection_info.cluster_name = "here";
  auto far = here;
  far.priority = 1;
  far.connection_info.cluster_name = "far";
  far.connection_info.allocation_endpoints = {"far:443"};
  return {here, far};
}

}  // namespace

TEST_CASE("requests of many threads over two clusters: each server goes to one of them, and every caller is told once") {
  boost::asio::thread_pool pool{3};
  ready_cache cache;
  memory_store store{pool.get_executor()};
  asio_timer clock{pool.get_executor()};
  seeded_random random{1};
  seeded_random own_random{2};
  auto alloc = std::make_unique<allocator>(pool.get_executor(), cache, store, clock, random);
  counting_remote remote{pool.get_executor(), 100};
  policy_list policies{two_policies()};
  auto clusters = std::make_unique<multi_cluster_allocator>(pool.get_executor(), alloc.get(), remote, policies, clock,
                                                            own_random);
  for (int i = 0; i != 100; ++i) cache.store(*store.create(make_server("gs-" + std::to_string(i))));

  constexpr int callers = 300;
  std::vector<std::unique_ptr<boost::asio::cancellation_signal>> signals(callers);
  for (auto& one : signals) one = std::make_unique<boost::asio::cancellation_signal>();
  std::atomic<int> told{0};
  std::atomic<int> allocated{0};
  std::mutex mutex;
  std::set<std::string> names;
  auto const request = fleet_request();
  std::vector<std::thread> threads;
  for (int t = 0; t != 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; i < callers; i += 3) {
        multi_cluster_request one;
        one.request = request;
        auto done = [&](error_code, allocation_result result) {
          ++told;
          if (result.result != outcome::allocated) return;
          ++allocated;
          std::lock_guard const lock{mutex};
          names.insert(result.server->meta.name.str());
        };
        auto& signal = *signals[static_cast<std::size_t>(i)];
        clusters->async_allocate(std::move(one), boost::asio::bind_cancellation_slot(signal.slot(), std::move(done)));
        if (i % 7 == 0) signal.emit(boost::asio::cancellation_type::terminal);
      }
    });
  }
  for (auto& one : threads) one.join();
  pool.wait();
  CHECK(told == callers);
  CHECK(names.size() == static_cast<std::size_t>(allocated));
  CHECK(allocated > 100);
  CHECK(cache.in_flight() == 0);
  CHECK(clusters->outstanding() == 0);
  clusters.reset();
  pool.join();
}
