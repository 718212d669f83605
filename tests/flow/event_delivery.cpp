#include "event_objects.hpp"

#include <agones_alloc/flow/event_delivery.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace event_test;
using namespace std::chrono_literals;
using fate = event_delivery::outcome;

namespace {

constexpr event_delivery::time_point start{std::chrono::hours{1}};

auto in_batches(std::size_t batch, std::chrono::nanoseconds linger = 0ns, std::size_t in_flight = 1) -> event_delivery_options {
  event_delivery_options out;
  out.batch = batch;
  out.linger = linger;
  out.in_flight = in_flight;
  out.retry.jitter = 0;
  return out;
}

struct delivering {
  event_delivery delivery;
  event_delivery::time_point now{start};

  explicit delivering(event_delivery_options options = in_batches(2)) : delivery{options} {}

  void offer(std::string_view name, object_change what = object_change::updated, std::string_view version = "1") {
    delivery.offer(event_about(name, what, version), now);
  }
  auto next() -> event_delivery::outgoing {
    auto out = delivery.next(now);
    REQUIRE(out);
    return *out;
  }
  void end(event_delivery::outgoing const& one, fate how, std::size_t accepted = 0, std::chrono::nanoseconds advice = 0ns) {
    delivery.finished(one.id, how, accepted, advice, now, 0.0);
  }
  void balanced() {
    auto const c = delivery.counts();
    CHECK(c.offered == c.sent + c.refused + c.dropped + c.merged + c.waiting + c.in_flight);
  }
};

}  // namespace

TEST_CASE("what is offered goes out in batches, one at a time") {
  delivering d;
  CHECK(d.delivery.wake() == event_delivery::time_point::max());
  for (auto const* name : {"a", "b", "c"}) d.offer(name);
  CHECK(d.delivery.wake() <= d.now);
  auto const first = d.next();
  CHECK(words(first.batch->events) == lines{"updated a@1", "updated b@1"});
  CHECK_FALSE(d.delivery.next(d.now));
  CHECK(d.delivery.wake() == event_delivery::time_point::max());
  d.end(first, fate::taken);
  auto const second = d.next();
  CHECK(words(second.batch->events) == lines{"updated c@1"});
  CHECK_FALSE(d.delivery.idle());
  d.end(second, fate::taken);
  CHECK(d.delivery.idle());
  CHECK(d.delivery.counts().sent == 3);
  d.balanced();
}

TEST_CASE("a batch that is not full lingers, a full one does not") {
  delivering d{in_batches(2, 50ms)};
  d.offer("a");
  CHECK_FALSE(d.delivery.next(d.now));
  CHECK(d.delivery.wake() == start + 50ms);
  d.now += 10ms;
  d.offer("b");
  CHECK(d.next().batch->events.size() == 2);
}

TEST_CASE("a batch lingers no longer than it may, nor when it is to hurry") {
  delivering d{in_batches(9, 50ms)};
  d.offer("a");
  d.now += 50ms;
  auto const first = d.next();
  d.end(first, fate::taken);
  d.offer("b");
  CHECK_FALSE(d.delivery.next(d.now));
  d.delivery.hurry();
  CHECK(d.next().batch->events.size() == 1);
}

TEST_CASE("a failed delivery is repeated as it was, after a wait that grows") {
  delivering d{in_batches(1)};
  d.offer("a");
  d.offer("b");
  auto first = d.next();
  d.end(first, fate::again);
  CHECK(d.delivery.counts().failing);
  CHECK_FALSE(d.delivery.next(d.now));
  CHECK(d.delivery.wake() == d.now + 200ms);
  d.now += 200ms;
  auto const second = d.next();
  CHECK(second.batch == first.batch);
  d.end(second, fate::again);
  CHECK(d.delivery.wake() == d.now + 400ms);
  for (int i = 0; i != 20; ++i) {
    d.now = d.delivery.wake();
    d.end(d.next(), fate::again);
  }
  CHECK(d.delivery.wake() == d.now + 30s);
  d.now += 30s;
  d.end(d.next(), fate::taken);
  CHECK_FALSE(d.delivery.counts().failing);
  CHECK(d.delivery.counts().retries == 22);
  CHECK(words(d.next().batch->events) == lines{"updated b@1"});
  d.balanced();
}

TEST_CASE("the receiver's wish to wait counts where it is longer, up to a bound") {
  delivering d{in_batches(1)};
  d.offer("a");
  d.end(d.next(), fate::again, 0, 3s);
  CHECK(d.delivery.wake() == d.now + 3s);
  d.now += 3s;
  d.end(d.next(), fate::again, 0, 10h);
  CHECK(d.delivery.wake() == d.now + 5min);
}

TEST_CASE("what is refused is given up, and the next goes at once") {
  delivering d{in_batches(2)};
  for (auto const* name : {"a", "b", "c"}) d.offer(name);
  d.end(d.next(), fate::refused, 1);
  auto const c = d.delivery.counts();
  CHECK(c.sent == 1);
  CHECK(c.refused == 1);
  CHECK(words(d.next().batch->events) == lines{"updated c@1"});
  d.balanced();
}

TEST_CASE("of a batch of which a part was taken, the rest is repeated") {
  delivering d{in_batches(3)};
  for (auto const* name : {"a", "b", "c"}) d.offer(name);
  d.end(d.next(), fate::again, 2);
  CHECK(d.delivery.counts().sent == 2);
  d.offer("a", object_change::updated, "2");  // its first event has arrived, yet what is to be repeated goes first
  d.now = d.delivery.wake();
  auto const rest = d.next();
  CHECK(words(rest.batch->events) == lines{"updated c@1"});
  d.end(rest, fate::taken);
  CHECK(words(d.next().batch->events) == lines{"updated a@2"});
  d.balanced();
}

TEST_CASE("a batch that is too large is halved until the one event that is too large is given up") {
  delivering d{in_batches(4)};
  for (auto const* name : {"a", "b", "c", "d"}) d.offer(name);
  lines arrived;
  while (!d.delivery.idle()) {
    auto const one = d.next();
    auto const all = words(one.batch->events);
    if (std::find(all.begin(), all.end(), "updated c@1") != all.end()) {
      d.end(one, fate::too_large);
    } else {
      arrived.insert(arrived.end(), all.begin(), all.end());
      d.end(one, fate::taken);
    }
    d.balanced();
  }
  CHECK(arrived == lines{"updated a@1", "updated b@1", "updated d@1"});
  CHECK(d.delivery.counts().refused == 1);
}

TEST_CASE("parts of a batch with one object in both follow one another even where several deliveries may be out") {
  delivering d{in_batches(2, 0ns, 4)};
  d.offer("a", object_change::added, "1");
  d.offer("a", object_change::updated, "2");
  d.end(d.next(), fate::too_large);
  auto const first = d.next();
  CHECK(words(first.batch->events) == lines{"added a@1"});
  CHECK_FALSE(d.delivery.next(d.now));
  d.end(first, fate::taken);
  CHECK(words(d.next().batch->events) == lines{"updated a@2"});
}

TEST_CASE("several deliveries may be out at once, never two about one object") {
  delivering d{in_batches(1, 0ns, 3)};
  d.offer("a", object_change::added, "1");
  d.offer("b", object_change::added, "2");
  d.offer("a", object_change::updated, "3");
  d.offer("c", object_change::added, "4");
  auto const a = d.next();
  auto const b = d.next();
  CHECK_FALSE(d.delivery.next(d.now));
  d.end(a, fate::taken);
  CHECK(words(d.next().batch->events) == lines{"updated a@3"});
  CHECK(words(d.next().batch->events) == lines{"added c@4"});
  CHECK_FALSE(d.delivery.next(d.now));
  d.end(b, fate::taken);
  d.balanced();
}

TEST_CASE("deliveries that fail together are one failure, and then one goes at a time until one arrives") {
  delivering d{in_batches(1, 0ns, 3)};
  for (auto const* name : {"a", "b", "c", "d"}) d.offer(name);
  auto const one = d.next();
  auto const two = d.next();
  auto const three = d.next();
  d.end(one, fate::again);
  d.end(two, fate::again);
  d.end(three, fate::again);
  CHECK(d.delivery.wake() == d.now + 200ms);
  d.now += 200ms;
  auto const probe = d.next();
  CHECK(words(probe.batch->events) == lines{"updated a@1"});
  CHECK_FALSE(d.delivery.next(d.now));
  d.end(probe, fate::taken);
  d.end(d.next(), fate::taken);
  d.end(d.next(), fate::taken);
  CHECK(words(d.next().batch->events) == lines{"updated d@1"});
  d.balanced();
}

TEST_CASE("while a sink stalls its queue stays within its bounds, and all that is not told is counted") {
  auto options = in_batches(10);
  options.queue = {50, 1U << 20U, 20};
  delivering d{options};
  for (int i = 0; i != 10; ++i) d.offer("s" + std::to_string(i));
  auto const stalled = d.next();
  for (int i = 0; i != 10'000; ++i) {
    d.offer("s" + std::to_string(i % 200), object_change::updated, std::to_string(i + 2));
    CHECK(d.delivery.counts().waiting <= 50);
  }
  d.balanced();
  d.end(stalled, fate::taken);
  while (!d.delivery.idle()) d.end(d.next(), fate::taken);
  auto const c = d.delivery.counts();
  CHECK(c.waiting == 0);
  CHECK(c.in_flight == 0);
  CHECK(c.offered == c.sent + c.dropped + c.merged);
  CHECK(c.dropped > 0);
}
