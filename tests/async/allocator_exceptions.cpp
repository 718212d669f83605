// A store that throws while a server is claimed.
#include "../support/allocator_fixture.hpp"

using namespace test_support;
using namespace std::chrono_literals;

TEST_CASE_FIXTURE(allocator_fixture, "a write whose store throws is of unknown fate: it is read back") {
  add("a");
  store.throw_next(fake_store::failure::drops);
  auto const c = allocate(fleet_request());
  CHECK_FALSE(c->done());
  CHECK(cache.in_flight() == 1);
  REQUIRE(store.pending() == 1);
  REQUIRE_FALSE(store.at(0).is_update);
  store.show(0, share(make_server("a")));
  run();
  CHECK(cache.in_flight() == 1);  // the write may still be made: nobody else gets the server
  pass(10ms);
  REQUIRE(store.pending() == 1);
  REQUIRE(store.at(0).is_update);
  store.acknowledge(0);
  run();
  CHECK(c->ended() == outcome::allocated);
  CHECK(c->result().tries == 2);
  REQUIRE(c->result().attempts.size() == 1);
  CHECK(c->result().attempts[0].result == outcome::unknown);
  CHECK(c->result().attempts[0].message == "the store is broken");
}

TEST_CASE_FIXTURE(allocator_fixture, "a store that throws and answers all the same is heard once") {
  add("a");
  store.throw_next(fake_store::failure::keeps);
  auto const c = allocate(fleet_request());
  REQUIRE(store.pending() == 1);
  REQUIRE(store.at(0).is_update);
  store.acknowledge(0);
  run();
  CHECK(c->completions == 1);
  CHECK(c->ended() == outcome::allocated);
  CHECK(c->result().tries == 1);
}

TEST_CASE_FIXTURE(allocator_fixture, "a read whose store throws is a failed read") {
  add("a");
  auto const c = allocate(fleet_request());
  store.throw_next(fake_store::failure::drops);
  auto const written = store.written(0, "2");
  store.fail(0, errc::outcome_unknown);
  run();
  CHECK(store.pending() == 0);
  CHECK(cache.in_flight() == 1);
  pass(10ms);
  REQUIRE(store.pending() == 1);
  store.show(0, written);
  run();
  CHECK(c->ended() == outcome::allocated);
}
