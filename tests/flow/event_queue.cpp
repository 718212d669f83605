#include "event_objects.hpp"

#include <agones_alloc/flow/event_queue.hpp>
#include <agones_alloc/port/random.hpp>

#include <doctest/doctest.h>

#include <map>

using namespace event_test;

namespace {

auto room_for(std::size_t events, std::size_t merge_from = 1'000'000) -> event_queue_options {
  return {events, 1U << 30U, merge_from};
}

}  // namespace

TEST_CASE("events leave in the order in which they came, and are counted in bytes") {
  event_queue queue;
  CHECK_FALSE(queue.can_take());
  queue.push(event_about("a", object_change::added, "1"));
  queue.push(event_about("b", object_change::added, "2"));
  queue.push(event_about("a", object_change::updated, "3"));
  CHECK(queue.size() == 3);
  CHECK(queue.bytes() == held_bytes(event_about("a", object_change::added, "1")) * 3);
  CHECK(words(queue.take(2, 1U << 20U)) == lines{"added a@1", "added b@2"});
  CHECK(queue.size() == 1);
  CHECK(queue.bytes() == held_bytes(event_about("a", object_change::added, "1")));
}

TEST_CASE("an event waits while one about its object is in hand") {
  event_queue queue;
  queue.push(event_about("a", object_change::added, "1"));
  auto const first = queue.take(10, 1U << 20U);
  queue.push(event_about("a", object_change::updated, "2"));
  queue.push(event_about("b", object_change::added, "3"));
  CHECK_FALSE(queue.can_take());
  CHECK(queue.take(10, 1U << 20U).empty());
  queue.let_go(first.front());
  CHECK(words(queue.take(10, 1U << 20U)) == lines{"updated a@2", "added b@3"});
}

TEST_CASE("several events about an object may go together, and all of them have to end") {
  event_queue queue;
  queue.push(event_about("a", object_change::added, "1"));
  queue.push(event_about("a", object_change::updated, "2"));
  auto const both = queue.take(10, 1U << 20U);
  CHECK(words(both) == lines{"added a@1", "updated a@2"});
  queue.push(event_about("a", object_change::updated, "3"));
  queue.let_go(both[0]);
  CHECK_FALSE(queue.can_take());
  queue.let_go(both[1]);
  CHECK(queue.can_take());
}

TEST_CASE("a batch is bounded in bytes, but one event always goes") {
  event_queue queue;
  for (auto const* name : {"a", "b", "c"}) queue.push(event_about(name));
  auto const one = held_bytes(event_about("a"));
  CHECK(queue.take(10, 1).size() == 1);
  CHECK(queue.take(10, 2 * one).size() == 2);
}

TEST_CASE("from a mark on, an event joins the one of its object that waits") {
  event_queue queue{room_for(100, 2)};
  queue.push(event_about("a", object_change::added, "1"));
  queue.push(event_about("b", object_change::added, "2"));
  queue.push(event_about("a", object_change::updated, "3"));
  queue.push(event_about("a", object_change::updated, "4"));
  CHECK(queue.size() == 2);
  CHECK(queue.counts().merged == 2);
  auto const taken = queue.take(10, 1U << 20U);
  CHECK(words(taken) == lines{"added a@4", "added b@2"});
  CHECK(taken[0].merged == 2);
  CHECK(taken[1].merged == 0);
}

TEST_CASE("a merged event is told as the change that says most, with the state before the first") {
  using change = object_change;
  struct row {
    change older, newer, told;
  };
  for (auto const& [older, newer, told] :
       {row{change::updated, change::updated, change::updated}, row{change::added, change::updated, change::added},
        row{change::updated, change::allocated, change::allocated}, row{change::allocated, change::updated, change::allocated},
        row{change::allocated, change::released, change::released}, row{change::released, change::allocated, change::allocated},
        row{change::added, change::allocated, change::allocated}, row{change::released, change::deleted, change::deleted},
        row{change::added, change::deleted, change::deleted}}) {
    event_queue queue{room_for(100, 1)};
    auto first = event_about("a", older, "1");
    first.before = game_server_state::creating;
    queue.push(std::move(first));
    auto second = event_about("a", newer, "2");
    second.before = game_server_state::ready;
    queue.push(std::move(second));
    auto const taken = queue.take(10, 1U << 20U);
    REQUIRE(taken.size() == 1);
    CHECK(taken.front().what == told);
    CHECK(taken.front().revision == "2");
    CHECK(taken.front().before == game_server_state::creating);
  }
}

TEST_CASE("an event in hand is never changed by a later one") {
  event_queue queue{room_for(100, 0)};
  queue.push(event_about("a", object_change::added, "1"));
  auto const first = queue.take(1, 1U << 20U);
  queue.push(event_about("a", object_change::updated, "2"));
  CHECK(first.front().revision == "1");
  CHECK(queue.size() == 1);
  CHECK(queue.counts().merged == 0);
}

TEST_CASE("a full queue merges each object's events into its first before it drops any") {
  event_queue queue{room_for(4)};
  queue.push(event_about("a", object_change::added, "1"));
  queue.push(event_about("b", object_change::added, "2"));
  queue.push(event_about("a", object_change::updated, "3"));
  queue.push(event_about("a", object_change::allocated, "4"));
  queue.push(event_about("c", object_change::added, "5"));
  CHECK(queue.counts().merged == 2);
  CHECK(queue.counts().dropped == 0);
  CHECK(words(queue.take(10, 1U << 20U)) == lines{"allocated a@4", "added b@2", "added c@5"});
}

TEST_CASE("a full queue with an event for each object drops the oldest") {
  event_queue queue{room_for(2)};
  for (auto const* name : {"a", "b", "c", "d"}) queue.push(event_about(name));
  CHECK(queue.counts().dropped == 2);
  CHECK(words(queue.take(10, 1U << 20U)) == lines{"updated c@1", "updated d@1"});
  CHECK(queue.bytes() == 0);
}

TEST_CASE("bytes bound a queue as well as events do") {
  auto const one = held_bytes(event_about("a"));
  event_queue queue{{1000, 3 * one, 1000}};
  for (auto const* name : {"a", "b", "c", "d", "e"}) queue.push(event_about(name));
  CHECK(queue.size() == 3);
  CHECK(queue.bytes() == 3 * one);
  CHECK(queue.counts().dropped == 2);
  event_queue tiny{{1000, 1, 1000}};
  tiny.push(event_about("a"));
  CHECK(tiny.size() == 0);
  CHECK(tiny.counts().dropped == 1);
}

TEST_CASE("at random: bounds hold, each object's versions only grow, and nothing is lost without being counted") {
  for (std::uint64_t seed = 1; seed != 200; ++seed) {
    CAPTURE(seed);
    seeded_random random{seed};
    auto const bound = 1 + random.below(12);
    event_queue queue{room_for(bound, random.below(bound + 2))};
    std::map<std::string, std::uint64_t> told;
    std::map<std::string, std::uint64_t> pushed_last;
    std::vector<std::vector<object_event>> in_hand;
    std::uint64_t pushed = 0;
    std::uint64_t taken = 0;
    auto const take = [&] {
      auto batch = queue.take(1 + random.below(4), 1U << 20U);
      taken += batch.size();
      for (auto const& e : batch) {
        auto const version = std::stoull(e.revision.str());
        CHECK(version > told[e.meta().name.str()]);
        told[e.meta().name.str()] = version;
        for (auto const& other : in_hand) {
          for (auto const& o : other) CHECK_FALSE(identity_of(o) == identity_of(e));
        }
      }
      if (!batch.empty()) in_hand.push_back(std::move(batch));
    };
    auto const end_one = [&] {
      if (in_hand.empty()) return;
      auto const at = in_hand.begin() + static_cast<std::ptrdiff_t>(random.below(in_hand.size()));
      for (auto const& e : *at) queue.let_go(e);
      in_hand.erase(at);
    };
    for (int step = 0; step != 300; ++step) {
      switch (random.below(4)) {
        case 0: take(); break;
        case 1: end_one(); break;
        default: {
          auto const name = "s" + std::to_string(random.below(6));
          queue.push(event_about(name, static_cast<object_change>(random.below(5)), std::to_string(++pushed)));
          pushed_last[name] = pushed;
        }
      }
      CHECK(queue.size() <= bound);
      CHECK(pushed == taken + queue.size() + queue.counts().merged + queue.counts().dropped);
    }
    while (queue.size() > 0 || !in_hand.empty()) {
      take();
      end_one();
    }
    CHECK(queue.bytes() == 0);
    CHECK(pushed == taken + queue.counts().merged + queue.counts().dropped);
    // With room for one of each, the newest value of every object is told.
    if (bound >= 6) {
      CHECK(queue.counts().dropped == 0);
      CHECK(told == pushed_last);
    }
  }
}
