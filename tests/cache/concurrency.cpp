// Several threads on one cache. The interleavings are the machine's, the claims checked hold for each of them.
#include "servers.hpp"

#include <agones_alloc/cache/ranked_index.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace cache_tests;

namespace {

constexpr int servers = 64;

auto name_of(int number) -> std::string { return "s" + std::to_string(number); }

/// Who has which server.
class holders {
 public:
  void take(game_server const& server) {
    if (at(server).fetch_add(1) != 0) shared_ = true;
  }
  void give(game_server const& server) { at(server).fetch_sub(1); }
  auto anyone_shared() const -> bool { return shared_; }

 private:
  auto at(game_server const& server) -> std::atomic<int>& {
    return holders_[static_cast<std::size_t>(std::stoi(server.meta.name.str().substr(1)))];
  }
  std::array<std::atomic<int>, servers> holders_{};
  std::atomic<bool> shared_{false};
};

}  // namespace

TEST_CASE("threads that claim, write and give back never share a server and lose none") {
  ready_cache cache;
  holders held;
  std::atomic<std::uint64_t> version{1};
  for (int i = 0; i != servers; ++i) cache.store(server_builder{name_of(i)}.made());

  auto const work = [&](std::uint64_t seed) {
    seeded_random random{seed};
    for (int i = 0; i != 3000; ++i) {
      auto const seen = cache.lookup({"default", name_of(static_cast<int>(random.below(servers)))});
      auto const server = cache.claim(seen.handle);
      if (!server) continue;
      held.take(*server);
      auto const how = random.below(3);
      auto const next = server_builder{*server}.allocated().version(std::to_string(++version)).made();
      if (how == 2) cache.store(next);  // a watch that is faster than the answer
      held.give(*server);
      if (how == 0) {
        cache.put_back(seen.handle);
      } else {
        cache.settle(seen.handle, next);
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 1; seed != 5; ++seed) threads.emplace_back(work, seed);
  for (auto& thread : threads) thread.join();

  CHECK_FALSE(held.anyone_shared());
  CHECK(cache.in_flight() == 0);
  CHECK(cache.size() == servers);
  for (int i = 0; i != servers; ++i) CHECK(cache.lookup({"default", name_of(i)}).status == slot_status::free);
}

TEST_CASE("an index that picks while others store and erase sees everything in the end") {
  ready_cache cache;
  std::atomic<int> rung{0};
  cache.on_change([&] { ++rung; });
  ranked_index index{cache};
  std::atomic<std::uint64_t> version{1};
  std::atomic<int> running{2};

  auto const watch = [&](int first) {
    seeded_random random{static_cast<std::uint64_t>(first)};
    for (int i = 0; i != 4000; ++i) {
      auto const number = first + 2 * static_cast<int>(random.below(servers / 2));
      if (random.below(4) == 0) {
        cache.erase({"default", name_of(number)});
      } else {
        auto const now = std::to_string(++version);
        cache.store(server_builder{name_of(number)}.uid(now).version(now).node("n" + now.substr(now.size() - 1)).made());
      }
    }
    for (int number = first; number < servers; number += 2) {
      auto const now = std::to_string(++version);
      cache.store(server_builder{name_of(number)}.uid(now).version(now).made());
    }
    --running;
  };
  std::vector<std::thread> threads;
  threads.emplace_back(watch, 0);
  threads.emplace_back(watch, 1);

  holders held;
  seeded_random random{7};
  std::array const requests{fleet_request("Packed"), fleet_request("Distributed")};
  while (running != 0) {
    pick got;
    if (index.pick_and_claim(*requests[random.below(2)], random, got) != pick_status::picked) continue;
    held.take(*got.server);
    held.give(*got.server);
    switch (random.below(3)) {
      case 0: cache.put_back(got.handle); break;
      case 1: cache.discard(got.handle); break;
      default: cache.remove(got.handle); break;
    }
  }
  for (auto& thread : threads) thread.join();
  while (index.drain()) continue;

  CHECK(rung > 0);
  // Those that were not taken after their last change are free; the index and the cache agree on them.
  std::size_t free = 0;
  for (int i = 0; i != servers; ++i) free += cache.lookup({"default", name_of(i)}).status == slot_status::free ? 1U : 0U;
  std::size_t picked = 0;
  for (pick got; index.pick_and_claim(*requests[0], random, got) == pick_status::picked;) ++picked;
  CHECK(picked == free);
  CHECK(index.pick_and_claim(*requests[1], random, *std::make_unique<pick>()) ==
        (free == 0 ? pick_status::none : pick_status::busy));
}
