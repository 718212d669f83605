// Deadlines on a timer whose waits end late, or with an error.
#include "../support/fake_store.hpp"
#include "../support/reports.hpp"
#include "../support/servers.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/cache/ready_cache.hpp>

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

// Waits end when the test says so: a cancellation always comes too late.
class late_timer final : public timer {
 public:
  auto now() const noexcept -> time_point override { return now_; }
  auto wall_now() const noexcept -> wall_time override { return wall_time{now_.time_since_epoch()}; }
  void advance(std::chrono::nanoseconds by) { now_ += by; }
  auto when(std::size_t i) const -> time_point { return waits_.at(i).first; }
  /// The i-th wait ever started.
  void end(std::size_t i, error_code ec = {}) { std::move(waits_.at(i).second)(ec); }
  auto started() const -> std::size_t { return waits_.size(); }

 private:
  void do_wait_until(time_point when, handler done) override { waits_.emplace_back(when, std::move(done)); }

  time_point now_{1h};
  std::vector<std::pair<time_point, handler>> waits_;
};

struct late_fixture {
  boost::asio::io_context context;
  ready_cache cache;
  fake_store store;
  late_timer clock;
  scripted_random random;
  allocator alloc{context.get_executor(), cache, store, clock, random};
  timer::time_point begin{clock.now()};

  void run() {
    context.restart();
    context.poll();
  }
  auto allocate(std::chrono::nanoseconds timeout) -> std::shared_ptr<std::optional<outcome>> {
    auto got = std::make_shared<std::optional<outcome>>();
    allocate_options options;
    options.timeout = timeout;
    alloc.async_allocate(fleet_request(), options, [got](error_code, allocation_result r) { *got = r.result; });
    run();
    return got;
  }
};

}  // namespace

TEST_CASE_FIXTURE(late_fixture, "deadlines go on after a wait that was cancelled too late, or that failed") {
  for (auto const* name : {"a", "b", "c"}) cache.store(share(make_server(name)));
  auto const slow = allocate(10s);
  REQUIRE(clock.started() == 1);
  CHECK(clock.when(0) == begin + 10s);
  auto const quick = allocate(5s);
  REQUIRE(clock.started() == 2);
  CHECK(clock.when(1) == begin + 5s);
  std::size_t next = 2;
  SUBCASE("both end, the older behind the newer") {
    clock.advance(5s);
    clock.end(1);
    clock.end(0);
    run();
  }
  SUBCASE("the newer ends early, and the older behind it") {
    clock.advance(4s);
    clock.end(1);
    clock.end(0);
    run();
    CHECK(*quick == std::nullopt);
    REQUIRE(clock.started() == 3);
    CHECK(clock.when(2) == begin + 5s);
    clock.advance(1s);
    clock.end(2);
    run();
    next = 3;
  }
  SUBCASE("the newer fails, and anything else happens afterwards") {
    clock.advance(5s);
    clock.end(1, errc::cancelled);
    allocate(10s);
  }
  SUBCASE("the newer does not end at all, and anything else happens afterwards") {
    clock.advance(5s);
    allocate(10s);
  }
  CHECK(*quick == outcome::unknown);
  CHECK(*slow == std::nullopt);
  REQUIRE(clock.started() == next + 1);
  CHECK(clock.when(next) == begin + 10s);
  clock.advance(5s);
  clock.end(next);
  run();
  CHECK(*slow == outcome::unknown);
  while (store.pending() > 0) store.acknowledge(0);
  run();
  CHECK(alloc.outstanding() == 0);
  CHECK(cache.in_flight() == 0);
}
