// Who goes first where writes are few: confirmations, releases and expiries, then calls in order of arrival.
#include "../support/allocator_fixture.hpp"

#include <agones_alloc/select/claim.hpp>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

struct one_write : allocator_fixture {
  one_write() : allocator_fixture{limits()} {}

  static auto limits() -> allocator_options {
    allocator_options out;
    out.max_writes = 1;
    return out;
  }
  auto held(std::string_view id, std::optional<std::chrono::nanoseconds> ttl = {}) -> std::shared_ptr<call> {
    allocate_options options;
    options.request_id = id;
    options.claim_ttl = ttl;
    auto const c = allocate(fleet_request(), options);
    store.acknowledge(0, std::to_string(++version_));
    run();
    return c;
  }
  auto release(std::string_view id) -> std::shared_ptr<call> {
    auto c = std::make_shared<call>();
    alloc->async_release("default", id, release_to::ready, {}, [c](error_code ec, allocation_result r) {
      ++c->completions;
      c->got.emplace(ec, std::move(r));
    });
    run();
    return c;
  }
  void acknowledge() {
    store.acknowledge(0, std::to_string(++version_));
    run();
  }

 private:
  int version_{1};
};

}  // namespace

TEST_CASE_FIXTURE(one_write, "a release goes before the allocations that wait for a write") {
  add("a");
  held("match-1");
  add("b");
  add("c");
  auto const writing = allocate(fleet_request());
  auto const waiting = allocate(fleet_request());
  auto const released = release("match-1");
  REQUIRE(store.pending() == 1);
  acknowledge();
  CHECK(writing->ended() == outcome::allocated);
  REQUIRE(store.pending() == 1);
  CHECK_FALSE(waiting->done());
  acknowledge();
  CHECK(released->ended() == outcome::allocated);
  CHECK(cache.find(key("a"))->status.state == game_server_state::ready);
  CHECK_FALSE(waiting->done());
  REQUIRE(store.pending() == 1);
  acknowledge();
  CHECK(waiting->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(one_write, "so does the end of a claim that nobody confirmed") {
  add("a");
  held("match-1", 5s);
  add("b");
  add("c");
  allocate_options patient;
  patient.timeout = 60s;
  auto const writing = allocate(fleet_request(), patient);
  auto const waiting = allocate(fleet_request(), patient);
  pass(6s);
  REQUIRE(store.pending() == 1);
  acknowledge();
  CHECK(writing->ended() == outcome::allocated);
  REQUIRE(store.pending() == 1);
  acknowledge();
  CHECK(cache.find(key("a"))->status.state == game_server_state::ready);
  CHECK_FALSE(waiting->done());
  acknowledge();
  CHECK(waiting->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(one_write, "a claim that asks for nothing to be written need not wait for a write") {
  add("a");
  held("match-1");
  add("b");
  add("c");
  auto const writing = allocate(fleet_request());
  auto const waiting = allocate(fleet_request());
  CHECK(release("nobody's")->ended() == outcome::exhausted);
  CHECK_FALSE(writing->done());
  CHECK_FALSE(waiting->done());
  acknowledge();
  acknowledge();
  CHECK(waiting->ended() == outcome::allocated);
}

TEST_CASE("who waits is not passed over by who came while no write was free") {
  allocator_options options;
  options.max_writes = 1;
  allocator_fixture f{options};
  allocate_options patient;
  patient.wait_for = 10s;
  auto const first = f.allocate(fleet_request(), patient);  // waits: there is none
  f.add("x", "other");
  auto const busy = f.allocate(fleet_request("other"));     // takes the only write
  CHECK(f.store.pending() == 1);
  auto const late = f.allocate(fleet_request(), patient);   // queues for a write
  f.add("a");
  f.run();                                                  // wakes the first one, which queues before it
  f.store.acknowledge(0);
  f.run();
  f.store.acknowledge(0);
  f.run();
  CHECK(first->done());
  CHECK_FALSE(late->done());
  late->cancel();
  f.run();
}
