// Memory that runs out while a server is claimed. Not with the sanitizers of Clang, which bring an operator new.
#include "../support/allocator_fixture.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define AGONES_ALLOC_TEST_FOREIGN_NEW
#endif
#endif

#ifndef AGONES_ALLOC_TEST_FOREIGN_NEW

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace {

// The next allocation that is as large as a game server fails.
std::atomic<bool> no_room_for_a_server{false};

// The operators are not inlined: g++ 12 would miss the partner of each.
auto allocate_bytes(std::size_t size) -> void* {
  constexpr auto server = sizeof(agones_alloc::game_server);
  constexpr auto counted = server + 2 * sizeof(void*);  // with the counts that stand in front of it
  if (size == counted && no_room_for_a_server.exchange(false)) throw std::bad_alloc{};
  if (auto* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc{};
}

}  // namespace

[[gnu::noinline]] auto operator new(std::size_t size) -> void* { return allocate_bytes(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace test_support;
using namespace std::chrono_literals;

namespace {

struct memory_fixture : allocator_fixture {
  auto decide() -> std::optional<outcome> {
    std::optional<outcome> got;
    alloc->async_decide(fleet_request(), {}, [&](error_code, allocation_result r) { got = r.result; });
    run();
    return got;
  }
  /// Uses up the blocks that are kept for servers: the memory for the next one has to be asked for.
  static auto use_up_kept_blocks() -> std::vector<std::shared_ptr<game_server>> {
    std::vector<std::shared_ptr<game_server>> out;
    for (int i = 0; i <= AGONES_ALLOC_KEPT_BLOCKS; ++i) out.push_back(detail::copy_of(game_server{}));
    return out;
  }
};

}  // namespace

TEST_CASE_FIXTURE(memory_fixture, "a write without the memory for it is not sent, and its server is free again") {
  add("a");
  decide();  // what the index needs is made
  auto const c = begin(fleet_request());
  auto const others = use_up_kept_blocks();
  no_room_for_a_server = true;
  run();
  CHECK_FALSE(no_room_for_a_server.exchange(false));
  CHECK(store.updates_seen() == 0);
  CHECK(cache.in_flight() == 0);
  CHECK_FALSE(c->done());
  pass(10ms);
  REQUIRE(store.pending() == 1);
  store.acknowledge(0);
  run();
  CHECK(c->ended() == outcome::allocated);
  REQUIRE(c->result().attempts.size() == 1);
  CHECK(c->result().attempts[0].result == outcome::unavailable);
}

TEST_CASE_FIXTURE(memory_fixture, "a dry run without the memory for it is unavailable and claims nothing") {
  add("a");
  CHECK(decide() == outcome::allocated);  // what the index needs is made
  auto const others = use_up_kept_blocks();
  no_room_for_a_server = true;
  CHECK(decide() == outcome::unavailable);
  CHECK_FALSE(no_room_for_a_server.exchange(false));
  CHECK(cache.in_flight() == 0);
}

#endif
