// Waiting for a server instead of being told that there is none.
#include "../support/allocator_fixture.hpp"

#include <limits>
#include <string>
#include <vector>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

auto waiting(std::chrono::nanoseconds time) -> allocate_options {
  allocate_options out;
  out.wait_for = time;
  return out;
}

auto any_server() -> request_ptr {
  auto wanted = fleet_allocation();
  wanted.spec.selectors.clear();
  return compile_request(std::move(wanted));
}

auto name_of(std::shared_ptr<call> const& c) -> std::string { return c->result().server->meta.name.str(); }

}  // namespace

TEST_CASE_FIXTURE(allocator_fixture, "a call that waits gets the next server, at once and in order of arrival") {
  std::vector<std::shared_ptr<call>> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(allocate(fleet_request(), waiting(10s)));
  for (auto const& c : calls) CHECK_FALSE(c->done());
  for (int i = 0; i < 3; ++i) {
    auto const name = "gs-" + std::to_string(i);
    add(name);
    run();  // no time passes: nothing is polled
    REQUIRE(store.pending() == 1);
    store.acknowledge(0);
    run();
    REQUIRE(calls[static_cast<std::size_t>(i)]->done());
    CHECK(name_of(calls[static_cast<std::size_t>(i)]) == name);
  }
}

TEST_CASE_FIXTURE(allocator_fixture, "a server that is written to while calls wait goes to the first of them when it is free again") {
  add("a");
  auto const first = allocate(fleet_request());
  auto const second = allocate(fleet_request(), waiting(10s));
  auto const third = allocate(fleet_request(), waiting(10s));
  store.fail(0, errc::refused, "no", 403);
  run();
  CHECK(first->ended() == outcome::refused);
  REQUIRE(store.pending() == 1);
  store.acknowledge(0);
  run();
  CHECK(second->ended() == outcome::allocated);
  CHECK_FALSE(third->done());  // it waits on: nothing was promised for the time of a write only
  third->cancel();
  run();
  CHECK(third->ended() == outcome::cancelled);
}

TEST_CASE_FIXTURE(allocator_fixture, "who comes later does not get a server that somebody waits for") {
  auto const old = allocate(fleet_request(), waiting(10s));
  // In one turn of the loop: the server and a newcomer who would not even wait.
  add("a");
  auto const late = allocate(fleet_request());
  REQUIRE(store.pending() == 1);
  store.acknowledge(0);
  run();
  CHECK(name_of(old) == "a");
  CHECK(late->ended() == outcome::exhausted);
}

TEST_CASE_FIXTURE(allocator_fixture, "of calls with different selectors the oldest that a server fits gets it") {
  auto const other = allocate(fleet_request("other"), waiting(10s));
  auto const any = allocate(any_server(), waiting(10s));
  auto const fleet = allocate(fleet_request(), waiting(10s));
  add("a");
  run();
  REQUIRE(store.pending() == 1);
  store.acknowledge(0);
  run();
  CHECK(any->done());
  CHECK_FALSE(other->done());
  CHECK_FALSE(fleet->done());
  add("b");
  add("c", "other");
  run();
  REQUIRE(store.pending() == 2);
  while (store.pending() > 0) store.acknowledge(0);
  run();
  CHECK(name_of(other) == "c");
  CHECK(name_of(fleet) == "b");
}

TEST_CASE_FIXTURE(allocator_fixture, "the time to wait ends as exhausted, and so does a deadline that comes first") {
  auto const brief = allocate(fleet_request(), waiting(2s));
  auto long_options = waiting(std::chrono::hours{1});
  long_options.timeout = 5s;
  auto const cut = allocate(fleet_request(), long_options);
  auto const longest = allocate(fleet_request(), waiting(std::chrono::nanoseconds::max()));
  pass(1999ms);
  CHECK_FALSE(brief->done());
  pass(1ms);
  REQUIRE(brief->done());
  CHECK(brief->ended() == outcome::exhausted);
  CHECK(brief->result().remaining != nullptr);
  pass(3s);
  REQUIRE(cut->done());
  CHECK(cut->ended() == outcome::exhausted);
  CHECK_FALSE(longest->done());
  pass(25s);  // allocator_options::timeout
  CHECK(longest->ended() == outcome::exhausted);
}

TEST_CASE_FIXTURE(allocator_fixture, "a call that waits beyond its time for a server that is being written is told contention") {
  add("a");
  auto const first = allocate(fleet_request());
  auto const second = allocate(fleet_request(), waiting(12s));
  pass(11s);  // longer than the limit for those who do not wait
  CHECK_FALSE(second->done());
  pass(1s);
  CHECK(second->ended() == outcome::contention);
  store.acknowledge(0);
  run();
  CHECK(first->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(allocator_fixture, "a required server may be waited for by name before it exists") {
  choice_options choice;
  choice.target = target_server{"b", "", true};
  auto const one = allocate(compile_request(fleet_allocation(), choice), waiting(10s));
  add("a");
  run();
  CHECK_FALSE(one->done());
  cache.store(share(make_server("b", "other")));  // not what the selector wants
  run();
  CHECK(store.pending() == 0);
  auto changed = make_server("b");
  changed.meta.resource_version = "2";
  cache.store(share(changed));
  run();
  REQUIRE(store.pending() == 1);
  store.acknowledge(0);
  run();
  CHECK(name_of(one) == "b");
  one->cancel();
}

TEST_CASE_FIXTURE(allocator_fixture, "who leaves while waiting leaves nothing behind") {
  auto const first = allocate(fleet_request(), waiting(10s));
  auto const second = allocate(fleet_request(), waiting(10s));
  CHECK(samples.depth == 2);
  first->cancel();
  run();
  CHECK(first->ended() == outcome::cancelled);
  CHECK(samples.depth == 1);
  add("a");
  run();
  REQUIRE(store.pending() == 1);
  store.acknowledge(0);
  run();
  CHECK(name_of(second) == "a");
  CHECK(samples.depth == 0);
  CHECK(samples.oldest == timer::time_point::max());
}

TEST_CASE("the queue is bounded, for all and for calls that are alike") {
  allocator_options options;
  options.max_waiting = 3;
  options.max_waiting_alike = 2;
  allocator_fixture f{options};
  auto const begun = f.clock.now();
  auto const a = f.allocate(fleet_request(), waiting(10s));
  f.pass(1s);
  auto const b = f.allocate(fleet_request(), waiting(10s));
  auto const alike = f.allocate(fleet_request(), waiting(10s));
  REQUIRE(alike->done());
  CHECK(alike->ended() == outcome::contention);
  CHECK(alike->result().retry_after == options.overload_retry_after);
  auto const other = f.allocate(fleet_request("other"), waiting(10s));
  CHECK_FALSE(other->done());
  auto const full = f.allocate(fleet_request("third"), waiting(10s));
  REQUIRE(full->done());
  CHECK(full->ended() == outcome::contention);
  CHECK(f.samples.depth == 3);
  CHECK(f.samples.oldest == begun);
  a->cancel();
  f.run();
  CHECK(f.samples.oldest == begun + 1s);
  auto const again = f.allocate(fleet_request(), waiting(10s));
  CHECK_FALSE(again->done());
  f.alloc.reset();
  f.run();
  for (auto const& c : {b, other, again}) CHECK(c->ended() == outcome::cancelled);
}

TEST_CASE("no more kinds of calls wait than there may be views") {
  allocator_options options;
  options.index.max_views = 4;
  allocator_fixture f{options};
  std::vector<std::shared_ptr<call>> calls;
  for (int i = 0; i < 4; ++i) calls.push_back(f.allocate(fleet_request("fleet-" + std::to_string(i)), waiting(10s)));
  for (auto const& c : calls) CHECK_FALSE(c->done());
  auto const more = f.allocate(fleet_request("fleet-4"), waiting(10s));
  REQUIRE(more->done());
  CHECK(more->ended() == outcome::contention);
  auto const same = f.allocate(fleet_request("fleet-3"), waiting(10s));
  CHECK_FALSE(same->done());
  calls[0]->cancel();
  f.run();
  auto const now = f.allocate(fleet_request("fleet-4"), waiting(10s));
  CHECK_FALSE(now->done());
  f.pass(10s);
  CHECK(now->ended() == outcome::exhausted);
}

TEST_CASE("who finds nothing is told of, so that servers can be made") {
  std::vector<std::pair<std::string, std::size_t>> told;
  allocator_options options;
  options.on_exhausted = [&](allocation_request const& request, std::size_t waiting_now) {
    told.emplace_back(request.allocation().spec.selectors.front().labels.match_labels.value_or_empty(keys::fleet_label), waiting_now);
  };
  allocator_fixture f{options};
  auto const a = f.allocate(fleet_request(), waiting(10s));
  auto const b = f.allocate(fleet_request("other"));
  auto const c = f.allocate(fleet_request(), waiting(10s));
  CHECK(told == std::vector<std::pair<std::string, std::size_t>>{{"fleet", 0}, {"other", 1}, {"fleet", 1}});
  f.add("a");
  f.run();
  f.store.acknowledge(0);
  f.run();
  CHECK(a->done());
  CHECK(told.size() == 3);  // once for each call
  f.pass(10s);
  CHECK(c->ended() == outcome::exhausted);
}
