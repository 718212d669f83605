#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/detail/wake_queue.hpp>
#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/port/random.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace agones_alloc;
using namespace std::chrono_literals;

TEST_CASE("manual time stands still until it is told to move, then waits end in order") {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  auto const begin = clock.now();
  std::string ended;
  clock.async_wait_until(begin + 2s, [&](error_code) { ended += "b"; });
  clock.async_wait_until(begin + 1s, [&](error_code) { ended += "a"; });
  clock.async_wait_until(begin + 3s, [&](error_code) { ended += "c"; });
  context.poll();
  CHECK(ended.empty());
  CHECK(clock.pending() == 3);
  CHECK(clock.next() == begin + 1s);
  auto const wall = clock.wall_now();
  clock.advance(2s);
  CHECK(ended.empty());  // not inline
  context.restart();
  context.poll();
  CHECK(ended == "ab");
  CHECK(clock.wall_now() - wall == 2s);
  CHECK(clock.advance_to_next());
  context.restart();
  context.poll();
  CHECK(ended == "abc");
  CHECK(clock.now() == begin + 3s);
  CHECK_FALSE(clock.advance_to_next());
}

TEST_CASE("a wait for a time that has passed ends with the next turn of the loop") {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  bool ended = false;
  clock.async_wait_until(clock.now(), [&](error_code ec) { ended = !ec; });
  CHECK_FALSE(ended);
  context.poll();
  CHECK(ended);
}

TEST_CASE("waits are cancelled through their slots, and by the end of the timer") {
  boost::asio::io_context context;
  boost::asio::cancellation_signal stop;
  std::optional<error_code> first;
  std::optional<error_code> second;
  {
    manual_timer clock{context.get_executor()};
    clock.async_wait_until(clock.now() + 1s,
                           boost::asio::bind_cancellation_slot(stop.slot(), [&](error_code ec) { first = ec; }));
    clock.async_wait_until(clock.now() + 1s, [&](error_code ec) { second = ec; });
    stop.emit(boost::asio::cancellation_type::terminal);
    context.poll();
    REQUIRE(first);
    CHECK(*first == errc::cancelled);
    CHECK_FALSE(second);
  }
  context.restart();
  context.poll();
  REQUIRE(second);
  CHECK(*second == errc::cancelled);
}

TEST_CASE("real waits end at once for the past, and when they are cancelled") {
  boost::asio::io_context context;
  boost::asio::cancellation_signal stop;
  asio_timer clock{context.get_executor()};
  std::optional<error_code> past;
  std::optional<error_code> far;
  clock.async_wait_until(clock.now(), [&](error_code ec) {
    past = ec;
    stop.emit(boost::asio::cancellation_type::terminal);
  });
  clock.async_wait_until(clock.now() + 10000h,
                         boost::asio::bind_cancellation_slot(stop.slot(), [&](error_code ec) { far = ec; }));
  CHECK_FALSE(past);
  context.run();
  REQUIRE(past);
  CHECK_FALSE(*past);
  REQUIRE(far);
  CHECK(*far == errc::cancelled);
  CHECK(clock.wall_now().time_since_epoch() > 0ns);
}

TEST_CASE("a wait completes on its handler's executor") {
  boost::asio::io_context context;
  boost::asio::io_context other;
  manual_timer clock{context.get_executor()};
  bool ended = false;
  clock.async_wait_until(clock.now(), boost::asio::bind_executor(other, [&](error_code) { ended = true; }));
  context.run();
  CHECK_FALSE(ended);
  other.run();
  CHECK(ended);
}

TEST_CASE("a wake queue agrees with a plain list over random changes") {
  using queue = detail::wake_queue;
  struct waiting : queue::entry {};
  std::vector<std::unique_ptr<waiting>> all;
  for (int i = 0; i < 50; ++i) all.push_back(std::make_unique<waiting>());
  queue wakes;
  seeded_random random{42};
  auto const at = [](std::uint64_t n) { return queue::time_point{std::chrono::milliseconds{n}}; };
  for (int step = 0; step < 20000; ++step) {
    auto& e = *all[random.below(all.size())];
    switch (random.below(4)) {
      case 0: wakes.remove(e); break;
      case 1: {
        auto const now = at(random.below(1000));
        auto* const due = wakes.take_due(now);
        auto const earliest = std::min_element(all.begin(), all.end(), [](auto& a, auto& b) { return a->when < b->when; });
        if (due == nullptr) {
          REQUIRE((*earliest)->when > now);
        } else {
          REQUIRE(due->when == queue::time_point::max());
          REQUIRE((*earliest)->when >= queue::time_point{});
        }
        break;
      }
      default: wakes.set(e, random.below(10) == 0 ? queue::time_point::max() : at(1 + random.below(1000))); break;
    }
    auto const earliest = std::min_element(all.begin(), all.end(), [](auto& a, auto& b) { return a->when < b->when; });
    REQUIRE(wakes.next() == (*earliest)->when);
  }
}
