// Pending servers outlive the process that made them so; several replicas agree on their end.
#include "../support/gate_fixture.hpp"

#include <agones_alloc/select/claim.hpp>

#include <doctest/doctest.h>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

struct replicas_fixture : gate_fixture {
  std::unique_ptr<gated_replica> two;
  void start_another(std::string owner = "replica-2") {
    gate_options options;
    options.otherwise = gate_of("watch");
    options.owner = std::move(owner);
    two = std::make_unique<gated_replica>(context, store, clock, std::move(options));
    run();
  }
  ~replicas_fixture() {
    two.reset();
    run();
  }
};

}  // namespace

TEST_CASE_FIXTURE(gate_fixture, "a pending server is carried on after a restart, by the same name at once") {
  add("a");
  allocate_options options;
  options.request_id = "match-1";
  auto const mine = allocate(options);
  pass(5s);
  start("watch");
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::unknown);
  CHECK(one->gate->pending() == 1);
  SUBCASE("ready, and found by its id") {
    auto const again = allocate(options);
    CHECK_FALSE(again->done());
    says("a", "true");
    REQUIRE(again->done());
    CHECK(again->ended() == outcome::allocated);
    CHECK(again->result().repeated);
  }
  SUBCASE("never ready: its old deadline counts") {
    pass(23s);
    CHECK(state("a") == "Reserved");
    pass(1s);
    CHECK(state("a") == "Shutdown");  // what the caller's 30 s left
  }
  SUBCASE("ready while nobody was there") {
    one.reset();
    run();
    says("a", "true");
    start("watch");
    CHECK(state("a") == "Allocated");
  }
}

TEST_CASE_FIXTURE(gate_fixture, "another name leaves the owner its time, then takes over") {
  add("a");
  allocate(with_gate("", true));
  pass(5s);
  start("watch", "replica-7");
  says("a", "true");
  CHECK(state("a") == "Reserved");
  pass(2s);
  CHECK(state("a") == "Allocated");
}

TEST_CASE_FIXTURE(gate_fixture, "a time-out is taken over, too, and what was missed in the meantime") {
  add("a");
  add("b");
  allocate(with_gate("", true));
  allocate(with_gate("timeout=5s", true));
  CHECK(one->gate->pending() == 2);
  one.reset();
  run();
  pass(60s);
  start("watch", "replica-7");
  pass(2s);
  CHECK(state("a") == "Shutdown");
  CHECK(state("b") == "Shutdown");
  CHECK(one->gate->pending() == 0);
}

TEST_CASE_FIXTURE(replicas_fixture, "of two replicas one finishes, and both know it") {
  start_another();
  add("a");
  auto const before = version("a");
  auto const mine = allocate();
  CHECK(two->gate->pending() == 1);
  says("a", "true");
  pass(10s);
  CHECK(mine->ended() == outcome::allocated);
  CHECK(version("a") == before + 3);
  CHECK(one->gate->pending() == 0);
  CHECK(two->gate->pending() == 0);
  CHECK(two->events.lines.empty());
  CHECK(two->cache.find(key("a"))->status.state == game_server_state::allocated);
}

TEST_CASE_FIXTURE(replicas_fixture, "of two replicas one ends a server that is not ready") {
  start_another();
  add("a");
  auto const before = version("a");
  auto const mine = allocate(with_gate("timeout=5s"));
  pass(5s);
  pass(10s);
  CHECK(mine->ended() == outcome::exhausted);
  CHECK(state("a") == "Shutdown");
  CHECK(version("a") == before + 2);
  CHECK(two->gate->pending() == 0);
}

TEST_CASE_FIXTURE(replicas_fixture, "who waits at the owner is told when another replica was faster") {
  add("a");
  // Of the same name, as when an old process has not ended yet.
  start_another("replica-1");
  auto const mine = allocate();
  says("a", "true");
  pass(1s);
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::allocated);
  CHECK(one->gate->pending() + two->gate->pending() == 0);
}

TEST_CASE_FIXTURE(replicas_fixture, "an id that is pending elsewhere gives the same server here") {
  start_another();
  add("a");
  add("b");
  allocate_options options;
  options.request_id = "match-1";
  auto const mine = allocate(options);
  auto const there = begun([&](auto done) { two->alloc->async_allocate(fleet_request(), options, std::move(done)); });
  CHECK_FALSE(there->done());
  auto const name = state("a") == "Reserved" ? "a" : "b";
  says(name, "true");
  REQUIRE(mine->done());
  REQUIRE(there->done());
  CHECK(name_of(there) == name);
  CHECK(there->result().repeated);
  CHECK(version(name) == 5);
}

TEST_CASE_FIXTURE(gate_fixture, "a write of unknown fate is not taken for done because another request with its id was faster") {
  add("a");
  auto const faults = std::make_shared<scripted_faults>();
  faults->add(store_operation::update, {.what = store_fault::kind::lost_before, .after = 1s});
  store.set_faults(faults);
  allocate_options options;
  options.request_id = "match-1";
  auto const mine = allocate(options);
  change("a", [&](game_server& server) {
    auto const before = server;
    write_claim(server, before, {"match-1", 7, std::nullopt}, clock.wall_now(), clock.wall_now() - 1h);
  });
  pass(1s);
  pass(1s);
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::invalid);
  CHECK(to_string(mine->result().errors) == "options.request_id: Invalid value: \"match-1\": was used for another request");
  CHECK(state("a") == "Ready");
}

TEST_CASE_FIXTURE(gate_fixture, "a server that the sidecar has returned to Ready loses the traces of its allocation") {
  add("a");
  allocate(with_gate("", true));
  one.reset();
  run();
  becomes("a", game_server_state::ready);
  start("watch", "replica-7");
  pass(2s);
  CHECK(state("a") == "Ready");
  CHECK(stored("a").meta.annotations.empty());
  auto const next = allocate();
  says("a", "true");
  CHECK(next->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(gate_fixture, "a pending server that a new list lacks is gone") {
  add("a");
  auto const mine = allocate();
  store.compact();
  REQUIRE(store.remove(key("a")));
  store.compact();
  run();
  pass(1s);
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::exhausted);
  REQUIRE(mine->result().attempts.size() == 1);
  CHECK(mine->result().attempts[0].message == "readiness gate: gone");
}

TEST_CASE_FIXTURE(gate_fixture, "a marker that is not ours is left alone") {
  auto server = make_server("a", "fleet", game_server_state::reserved);
  server.meta.annotations.set(keys::pending_annotation, "somebody=else");
  REQUIRE(store.create(server));
  run();
  CHECK(one->gate->pending() == 0);
  pass(3600s);
  CHECK(state("a") == "Reserved");
}
