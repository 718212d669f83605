// A caller that leaves, a deadline that passes, an allocator that goes: at every step.
#include "../support/allocator_fixture.hpp"

using namespace test_support;
using namespace std::chrono_literals;

TEST_CASE_FIXTURE(allocator_fixture, "a caller that left before its server was claimed costs no server") {
  add("a");
  auto const c = begin(fleet_request());
  c->cancel();
  run();
  REQUIRE(c->done());
  CHECK(c->ended() == outcome::cancelled);
  CHECK(c->code() == errc::cancelled);
  CHECK(store.updates_seen() == 0);
  CHECK(cache.in_flight() == 0);
}

TEST_CASE_FIXTURE(allocator_fixture, "a parked caller leaves at once") {
  add("a");
  auto const first = allocate(fleet_request());
  auto const second = allocate(fleet_request());
  CHECK_FALSE(second->done());
  second->cancel();
  run();
  CHECK(second->ended() == outcome::cancelled);
  store.acknowledge(0);
  run();
  CHECK(first->ended() == outcome::allocated);
  CHECK(store.updates_seen() == 1);
}

TEST_CASE_FIXTURE(allocator_fixture, "a caller leaves during the pause before a retry") {
  add("a");
  auto const c = allocate(fleet_request());
  store.fail(0, errc::unavailable);
  run();
  c->cancel();
  run();
  CHECK(c->ended() == outcome::cancelled);
  pass(1s);
  CHECK(store.updates_seen() == 1);
}

TEST_CASE_FIXTURE(allocator_fixture, "leaving during the write asks the store to withdraw it, and its answer counts") {
  add("a");
  auto const c = allocate(fleet_request());
  c->cancel();
  run();
  CHECK(*store.at(0).withdrawn);
  CHECK_FALSE(c->done());
  SUBCASE("too late: allocated") {
    store.acknowledge(0);
    run();
    CHECK(c->ended() == outcome::allocated);
  }
  SUBCASE("in time: cancelled, and the server is free") {
    store.fail(0, errc::cancelled);
    run();
    CHECK(c->ended() == outcome::cancelled);
    auto const next = allocate(fleet_request());
    store.acknowledge(0);
    run();
    CHECK(next->ended() == outcome::allocated);
  }
  SUBCASE("lost: unknown at once, resolved in the background") {
    auto const base = store.at(0).write.base;
    store.fail(0, errc::outcome_unknown);
    run();
    CHECK(c->ended() == outcome::unknown);
    CHECK(cache.in_flight() == 1);
    store.show(0, base);
    run();
    CHECK(cache.in_flight() == 0);
  }
}

TEST_CASE_FIXTURE(allocator_fixture, "cancelling twice, or after the end, does nothing") {
  add("a");
  auto const c = allocate(fleet_request());
  store.acknowledge(0);
  run();
  c->cancel();
  c->cancel();
  run();
  CHECK(c->completions == 1);
  CHECK(c->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(allocator_fixture, "a deadline that has passed takes nothing") {
  add("a");
  allocate_options options;
  options.deadline = clock.now();
  auto const c = allocate(fleet_request(), options);
  CHECK(c->ended() == outcome::deadline);
  CHECK(c->code() == errc::deadline_exceeded);
  CHECK(store.updates_seen() == 0);
}

TEST_CASE_FIXTURE(allocator_fixture, "the earlier of deadline and timeout counts") {
  add("a");
  auto const holder = allocate(fleet_request());
  allocate_options options;
  options.deadline = clock.now() + 1s;
  options.timeout = 20ms;
  auto const c = allocate(fleet_request(), options);
  pass(19ms);
  CHECK_FALSE(c->done());
  pass(1ms);
  CHECK(c->ended() == outcome::deadline);
  store.acknowledge(0);
  run();
}

TEST_CASE_FIXTURE(allocator_fixture, "a deadline during the write names the server, and the write is still followed") {
  add("a");
  allocate_options options;
  options.timeout = 50ms;
  auto const c = allocate(fleet_request(), options);
  pass(50ms);
  REQUIRE(c->done());
  CHECK(c->ended() == outcome::unknown);
  CHECK(c->result().server->meta.name == "a");
  CHECK(cache.in_flight() == 1);
  store.acknowledge(0);
  run();
  CHECK(cache.in_flight() == 0);
  CHECK(cache.find(key("a"))->status.state == game_server_state::allocated);
  CHECK(events.lines.size() == 1);
  CHECK(c->completions == 1);
}

TEST_CASE_FIXTURE(allocator_fixture, "a call that would retry after its deadline ends at once") {
  add("a");
  allocate_options options;
  options.timeout = 5ms;
  auto const c = allocate(fleet_request(), options);
  store.fail(0, errc::unavailable);
  run();
  CHECK(c->ended() == outcome::unavailable);
}

TEST_CASE_FIXTURE(allocator_fixture, "waiting for busy servers has its limit: contention, with advice") {
  add("a");
  auto const holder = allocate(fleet_request());
  auto const c = allocate(fleet_request());
  pass(10s);
  CHECK(c->ended() == outcome::contention);
  CHECK(c->result().retry_after > 0ns);
  CHECK_FALSE(holder->done());
  store.acknowledge(0);
  run();
}

TEST_CASE_FIXTURE(allocator_fixture, "destroying the allocator cancels what is not written and finishes what is") {
  add("a");
  auto const writing = allocate(fleet_request());
  auto const parked = allocate(fleet_request());
  auto const queued = begin(fleet_request());
  alloc.reset();
  run();
  CHECK(parked->ended() == outcome::cancelled);
  CHECK(queued->ended() == outcome::cancelled);
  CHECK_FALSE(writing->done());
  store.acknowledge(0);
  run();
  CHECK(writing->ended() == outcome::allocated);
  CHECK(cache.in_flight() == 0);
}

TEST_CASE_FIXTURE(allocator_fixture, "destroying the allocator while a lost answer is resolved ends every wait") {
  add("a");
  auto const c = allocate(fleet_request());
  store.fail(0, errc::outcome_unknown);
  run();
  alloc.reset();
  run();
  CHECK(c->ended() == outcome::unknown);
  store.fail(0, errc::unavailable);
  run();
  CHECK(cache.in_flight() == 0);
  CHECK(clock.pending() == 0);
}

TEST_CASE_FIXTURE(allocator_fixture, "a conflict after the allocator is gone reads nothing more") {
  add("a");
  auto const c = allocate(fleet_request());
  alloc.reset();
  run();
  store.fail(0, errc::conflict);
  run();
  CHECK(c->ended() == outcome::cancelled);
  CHECK(store.pending() == 0);
}

TEST_CASE("the allocator may be destroyed from within a handler") {
  allocator_fixture f;
  f.add("a");
  bool told = false;
  f.alloc->async_allocate(fleet_request(), {}, [&](error_code, allocation_result) {
    told = true;
    f.alloc.reset();
  });
  auto const other = f.begin(fleet_request());
  f.run();
  f.store.acknowledge(0);
  f.run();
  CHECK(told);
  CHECK(other->done());
}

TEST_CASE("a handler that throws takes no other caller with it") {
  allocator_fixture f;
  f.alloc->async_allocate(fleet_request("x"), {}, [](error_code, allocation_result) { throw std::runtime_error{"user"}; });
  auto const other = f.begin(fleet_request("x"));
  CHECK_THROWS_AS(f.run(), std::runtime_error);
  f.run();
  CHECK(other->ended() == outcome::exhausted);
}

TEST_CASE("a context that goes with operations pending frees them without touching what is gone") {
  auto told = std::make_shared<int>(0);
  std::weak_ptr<int> const alive = told;
  {
    boost::asio::io_context context;
    auto cache = std::make_unique<ready_cache>();
    auto store = std::make_unique<fake_store>();
    auto clock = std::make_unique<manual_timer>(context.get_executor());
    scripted_random random;
    cache->store(share(make_server("a")));
    auto alloc = std::make_unique<allocator>(context.get_executor(), *cache, *store, *clock, random);
    for (int i = 0; i < 3; ++i) {
      alloc->async_allocate(fleet_request(), {}, [told](error_code, allocation_result) { ++*told; });
    }
    context.poll();
    alloc->async_allocate(fleet_request(), {}, [told](error_code, allocation_result) { ++*told; });
    alloc.reset();
    store.reset();
    clock.reset();
    cache.reset();
    told.reset();
  }
  CHECK(alive.expired());
}
