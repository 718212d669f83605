// When an allocator is through with its cache and its store.
#include "../support/allocator_fixture.hpp"

using namespace test_support;
using namespace std::chrono_literals;

TEST_CASE_FIXTURE(allocator_fixture, "a claim whose caller was told `unknown` is outstanding until its fate is known") {
  add("a");
  allocate_options options;
  options.timeout = 5s;
  auto const c = allocate(fleet_request(), options);
  CHECK(alloc->outstanding() == 1);
  pass(5s);
  CHECK(c->ended() == outcome::unknown);
  CHECK(alloc->outstanding() == 1);
  store.acknowledge(0);
  run();
  CHECK(alloc->outstanding() == 0);
}

TEST_CASE_FIXTURE(allocator_fixture, "a claim that is read again after a conflict is outstanding beside its call") {
  add("a");
  add("b");
  auto const c = allocate(fleet_request());
  store.fail(0, errc::conflict);
  run();
  pass(11ms);
  REQUIRE(store.pending() == 2);
  CHECK(alloc->outstanding() == 2);
  auto const read = store.at(0).is_update ? 1U : 0U;
  store.acknowledge(1 - read);
  run();
  CHECK(c->ended() == outcome::allocated);
  CHECK(alloc->outstanding() == 1);
  auto fresh = make_server("a");
  fresh.meta.resource_version = "7";
  store.show(0, share(fresh));
  run();
  CHECK(alloc->outstanding() == 0);
  CHECK(cache.find(key("a"))->meta.resource_version == "7");
}

// What it would touch is found by the address sanitizer.
TEST_CASE("an allocator with nothing outstanding may be destroyed, and its cache and store right behind it") {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  scripted_random random;
  auto cache = std::make_unique<ready_cache>();
  auto writes = std::make_unique<fake_store>();
  auto alloc = std::make_unique<allocator>(context.get_executor(), *cache, *writes, clock, random);
  cache->store(share(make_server("a")));
  auto completions = 0;
  alloc->async_allocate(fleet_request(), {}, [&](error_code, allocation_result) { ++completions; });
  context.poll();
  SUBCASE("the last call ended before") {
    writes->acknowledge(0);
    context.restart();
    context.poll();
    cache->store(share(make_server("b")));  // a change nobody has looked at
  }
  SUBCASE("a claim went on behind its call") {
    clock.advance(31s);
    context.restart();
    context.poll();
    CHECK(alloc->outstanding() == 1);
    writes->acknowledge(0);
    context.restart();
    context.poll();
  }
  CHECK(completions == 1);
  CHECK(alloc->outstanding() == 0);
  alloc.reset();
  cache.reset();
  writes.reset();
  context.restart();
  context.poll();
  CHECK(completions == 1);
}
