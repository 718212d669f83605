// One call at a time: each answer of the store, each outcome.
#include "../support/allocator_fixture.hpp"

#include <agones_alloc/flow/backoff.hpp>

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using namespace test_support;
using namespace std::chrono_literals;

TEST_CASE_FIXTURE(allocator_fixture, "a lone call claims, writes once and is told what the store acknowledged") {
  add("a");
  auto const c = allocate(fleet_request());
  REQUIRE(store.pending() == 1);
  auto const& write = store.at(0).write;
  CHECK(write.base->meta.name == "a");
  CHECK(write.base->status.state == game_server_state::ready);
  CHECK(write.desired->status.state == game_server_state::allocated);
  CHECK(write.desired->meta.resource_version == "1");
  CHECK(write.desired->meta.annotations.contains(keys::last_allocated_annotation));
  CHECK(write.deadline == clock.now() + 30s);
  CHECK_FALSE(c->done());
  store.acknowledge(0);
  run();
  REQUIRE(c->done());
  CHECK_FALSE(c->code());
  CHECK(c->ended() == outcome::allocated);
  CHECK(c->result().server->meta.resource_version == "2");
  CHECK(c->result().source == "local");
  CHECK(c->result().tries == 1);
  CHECK(events.lines == std::vector<std::string>{"Normal a Allocated: Allocated"});
  CHECK(cache.find(key("a"))->status.state == game_server_state::allocated);
}

TEST_CASE_FIXTURE(allocator_fixture, "nothing that matches is exhausted at once, with a breakdown") {
  add("a");
  auto const c = allocate(fleet_request("another"));
  REQUIRE(c->done());
  CHECK(c->ended() == outcome::exhausted);
  CHECK(c->code() == errc::exhausted);
  CHECK(store.updates_seen() == 0);
  auto const& remaining = c->result().remaining;
  REQUIRE(remaining != nullptr);
  REQUIRE(remaining->selectors.size() == 1);
  CHECK(remaining->selectors[0].front().remaining == 1);
  CHECK(remaining->selectors[0].back().remaining == 0);
}

TEST_CASE_FIXTURE(allocator_fixture, "a breakdown is as old as it may be, and older where looking takes long; others' are not told") {
  /// Each look at it takes as long as it is told.
  struct slow_clock final : timer {
    explicit slow_clock(manual_timer& real) : of{real} {}
    auto now() const noexcept -> time_point override {
      of.advance(step);
      return of.now();
    }
    auto wall_now() const noexcept -> wall_time override { return of.wall_now(); }
    void do_wait_until(time_point when, handler done) override { of.async_wait_until(when, std::move(done)); }
    manual_timer& of;
    std::chrono::nanoseconds step{0};
  };
  slow_clock slow{clock};
  alloc = std::make_unique<allocator>(context.get_executor(), cache, store, slow, random);
  auto const servers_told = [&](request_ptr const& request) {
    auto const c = allocate(request);
    REQUIRE(c->done());
    return c->result().remaining->selectors.at(0).front().remaining;
  };
  auto const nobodys = fleet_request("nobodys");
  add("a");
  CHECK(servers_told(nobodys) == 1);
  add("b");
  CHECK(servers_told(nobodys) == 1);  // remembered for 100 ms
  CHECK(servers_told(fleet_request("nobodys")) == 1);
  CHECK(servers_told(fleet_request("another")) == 2);
  pass(101ms);
  slow.step = 50ms;
  CHECK(servers_told(nobodys) == 2);
  slow.step = 0ns;
  add("c");
  pass(300ms);
  CHECK(servers_told(nobodys) == 2);  // the look took 50 ms: a tenth of the time
  CHECK(servers_told(fleet_request("third")) == 3);
  pass(101ms);
  CHECK(servers_told(nobodys) == 3);  // that look took no time, after which the next may follow
  alloc.reset();
  run();  // while its clock is there
}

TEST_CASE("the breakdown can be turned off") {
  allocator_options options;
  options.breakdown = false;
  allocator_fixture f{options};
  auto const c = f.allocate(fleet_request());
  CHECK(c->ended() == outcome::exhausted);
  CHECK(c->result().remaining == nullptr);
}

TEST_CASE_FIXTURE(allocator_fixture, "an invalid allocation lists every field and changes nothing") {
  add("a");
  auto wanted = fleet_allocation();
  wanted.spec.scheduling = "Sideways";
  wanted.spec.selectors[0].game_server_state = "Sleeping";
  std::optional<allocation_result> got;
  alloc->async_allocate(wanted, std::nullopt, {}, [&](error_code ec, allocation_result r) {
    CHECK(ec == errc::invalid_request);
    got = std::move(r);
  });
  CHECK_FALSE(got);
  run();
  REQUIRE(got);
  CHECK(got->result == outcome::invalid);
  CHECK(got->errors.size() == 2);
  CHECK(store.updates_seen() == 0);
}

TEST_CASE_FIXTURE(allocator_fixture, "a plain allocation is compiled and allocated") {
  add("a");
  std::optional<allocation_result> got;
  alloc->async_allocate(fleet_allocation(), std::nullopt, {}, [&](error_code, allocation_result r) { got = std::move(r); });
  run();
  store.acknowledge(0);
  run();
  REQUIRE(got);
  CHECK(got->server->meta.name == "a");
}

TEST_CASE_FIXTURE(allocator_fixture, "no request at all is invalid, not a crash") {
  auto const c = allocate(nullptr);
  REQUIRE(c->done());
  CHECK(c->ended() == outcome::invalid);
}

TEST_CASE_FIXTURE(allocator_fixture, "a refusal is passed on as it came, and no other server is burnt") {
  add("a");
  add("b");
  auto const c = allocate(fleet_request());
  store.fail(0, errc::refused, "a webhook says no", 422);
  run();
  REQUIRE(c->done());
  CHECK(c->ended() == outcome::refused);
  CHECK(c->code() == errc::refused);
  CHECK(c->result().server_message == "a webhook says no");
  CHECK(c->result().server_code == 422);
  CHECK(store.updates_seen() == 1);
  auto const next = allocate(fleet_request());
  CHECK(store.at(0).write.base->meta.name == "a");
  store.acknowledge(0);
  run();
  CHECK(next->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(allocator_fixture, "a write that was not applied puts the claimed value back and is tried again") {
  add("a");
  auto const c = allocate(fleet_request());
  auto const claimed = store.at(0).write.base;
  store.fail(0, errc::unavailable, "no route", 503);
  run();
  CHECK(cache.in_flight() == 0);
  CHECK(store.pending() == 0);
  pass(9ms);
  CHECK(store.pending() == 0);
  pass(1ms);
  REQUIRE(store.pending() == 1);
  CHECK(store.at(0).write.base == claimed);
  store.acknowledge(0);
  run();
  CHECK(c->ended() == outcome::allocated);
  CHECK(c->result().tries == 2);
  REQUIRE(c->result().attempts.size() == 1);
  CHECK(c->result().attempts[0].server == key("a"));
  CHECK(c->result().attempts[0].result == outcome::unavailable);
  CHECK(c->result().attempts[0].message == "no route");
}

TEST_CASE_FIXTURE(allocator_fixture, "a store that stays away is unavailable after five tries, and no server is lost") {
  add("a");
  auto const c = allocate(fleet_request());
  for (int tries = 0; tries < 5; ++tries) {
    REQUIRE(store.pending() == 1);
    store.fail(0, errc::unavailable, "no route", 503);
    run();
    pass(11ms);
  }
  CHECK(c->ended() == outcome::unavailable);
  CHECK(c->result().server_code == 503);
  CHECK(store.updates_seen() == 5);
  CHECK(cache.find(key("a"))->status.state == game_server_state::ready);
}

TEST_CASE_FIXTURE(allocator_fixture, "a conflict reads fresh data in the background while the call tries another server") {
  add("a");
  add("b");
  auto const c = allocate(fleet_request());
  REQUIRE(store.at(0).write.base->meta.name == "a");
  store.fail(0, errc::conflict);
  run();
  REQUIRE(store.pending() == 1);
  CHECK_FALSE(store.at(0).is_update);
  CHECK(store.at(0).key == key("a"));
  pass(10ms);
  REQUIRE(store.pending() == 2);
  CHECK(store.at(1).write.base->meta.name == "b");
  store.acknowledge(1);
  run();
  CHECK(c->ended() == outcome::allocated);
  CHECK(c->result().server->meta.name == "b");
  CHECK(c->result().attempts.size() == 1);
  CHECK(samples.conflicts == 1);
  // What was read counts, and the server is found again.
  auto fresh = make_server("a");
  fresh.meta.resource_version = "5";
  fresh.meta.labels.set("changed", "yes");
  store.show(0, share(fresh));
  run();
  CHECK(cache.find(key("a"))->meta.resource_version == "5");
  auto const next = allocate(fleet_request());
  CHECK(store.at(0).write.base->meta.resource_version == "5");
  store.acknowledge(0, "6");
  run();
  CHECK(next->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(allocator_fixture, "a conflict whose cause was watched already reads nothing") {
  add("a");
  auto const c = allocate(fleet_request());
  auto fresh = make_server("a");
  fresh.meta.resource_version = "5";
  cache.store(share(fresh));
  store.fail(0, errc::conflict);
  run();
  CHECK(store.reads_seen() == 0);
  pass(10ms);
  REQUIRE(store.pending() == 1);
  CHECK(store.at(0).write.base->meta.resource_version == "5");
  store.acknowledge(0, "6");
  run();
  CHECK(c->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(allocator_fixture, "a call does not end as exhausted while the server that conflicted is being read") {
  add("a");
  auto const c = allocate(fleet_request());
  store.fail(0, errc::conflict);
  run();
  pass(10ms);
  CHECK_FALSE(c->done());
  auto fresh = make_server("a");
  fresh.meta.resource_version = "3";
  store.show(0, share(fresh));
  run();
  REQUIRE(store.pending() == 1);
  CHECK(store.at(0).write.base->meta.resource_version == "3");
  store.acknowledge(0, "4");
  run();
  CHECK(c->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(allocator_fixture, "a server that is gone is dropped and the next one taken") {
  add("a");
  add("b");
  auto const c = allocate(fleet_request());
  store.fail(0, errc::not_found, "no such server", 404);
  run();
  CHECK(cache.find(key("a")) == nullptr);
  pass(10ms);
  store.acknowledge(0);
  run();
  CHECK(c->ended() == outcome::allocated);
  CHECK(c->result().server->meta.name == "b");
}

TEST_CASE_FIXTURE(allocator_fixture, "a lost answer is read back") {
  add("a");
  auto const c = allocate(fleet_request());
  auto const ours = store.written(0, "2");
  auto const base = store.at(0).write.base;
  store.fail(0, errc::outcome_unknown);
  run();
  REQUIRE(store.pending() == 1);
  CHECK_FALSE(store.at(0).is_update);
  CHECK_FALSE(c->done());
  SUBCASE("our write is there: allocated, with its event") {
    store.show(0, ours);
    run();
    CHECK(c->ended() == outcome::allocated);
    CHECK(c->result().server == ours);
    CHECK(events.lines.size() == 1);
  }
  SUBCASE("our write is there under a later change: allocated") {
    auto later = *ours;
    later.meta.resource_version = "9";
    later.meta.labels.set("by", "sdk");
    store.show(0, share(later));
    run();
    CHECK(c->ended() == outcome::allocated);
    CHECK(c->result().server->meta.resource_version == "9");
  }
  SUBCASE("it was not applied: tried again") {
    store.show(0, base);
    run();
    pass(10ms);
    REQUIRE(store.pending() == 1);
    CHECK(store.at(0).is_update);
    store.acknowledge(0);
    run();
    CHECK(c->ended() == outcome::allocated);
    CHECK(c->result().tries == 2);
    CHECK(events.lines.size() == 1);
  }
  SUBCASE("the server is gone: nothing is left to have") {
    store.fail(0, errc::not_found);
    run();
    pass(10ms);
    CHECK(c->ended() == outcome::exhausted);
    CHECK(cache.size() == 0);
  }
  SUBCASE("somebody else's allocation lies on it: unknown, and the cache knows what is there") {
    auto theirs = *base;
    theirs.meta.resource_version = "4";
    theirs.meta.annotations.set(keys::last_allocated_annotation, "2001-01-01T00:00:00Z");
    theirs.status.state = game_server_state::allocated;
    store.show(0, share(theirs));
    run();
    CHECK(c->ended() == outcome::unknown);
    CHECK(c->code() == errc::outcome_unknown);
    CHECK(c->result().server->meta.name == "a");
    CHECK(cache.find(key("a"))->meta.resource_version == "4");
  }
}

TEST_CASE("a fate that cannot be learnt is unknown; the server stays claimed until it is learnt in the background") {
  allocator_options options;
  options.limits.resolve_attempts = 2;
  allocator_fixture f{options};
  f.add("a");
  auto const c = f.allocate(fleet_request());
  auto const ours = f.store.written(0, "2");
  auto const base = f.store.at(0).write.base;
  f.store.fail(0, errc::outcome_unknown);
  f.run();
  f.store.fail(0, errc::unavailable);
  f.run();
  CHECK_FALSE(c->done());
  f.pass(20ms);
  f.store.fail(0, errc::unavailable);
  f.run();
  REQUIRE(c->done());
  CHECK(c->ended() == outcome::unknown);
  CHECK(c->result().server->meta.name == "a");
  CHECK(f.log.lines.size() == 1);
  CHECK(f.cache.in_flight() == 1);
  f.pass(1s);
  REQUIRE(f.store.pending() == 1);
  SUBCASE("it was applied") {
    f.store.show(0, ours);
    f.run();
    CHECK(f.cache.find(key("a"))->status.state == game_server_state::allocated);
    CHECK(f.events.lines.size() == 1);
  }
  SUBCASE("it was not") {
    f.store.show(0, base);
    f.run();
    CHECK(f.cache.find(key("a"))->status.state == game_server_state::ready);
    CHECK(f.events.lines.empty());
    auto const next = f.allocate(fleet_request());
    f.store.acknowledge(0);
    f.run();
    CHECK(next->ended() == outcome::allocated);
  }
  CHECK(f.cache.in_flight() == 0);
  CHECK(c->completions == 1);
}

TEST_CASE_FIXTURE(allocator_fixture, "an acknowledgement without the object is completed by reading it") {
  add("a");
  auto const c = allocate(fleet_request());
  auto const ours = store.written(0, "2");
  store.answer(0, {});
  run();
  CHECK_FALSE(c->done());
  store.show(0, ours);
  run();
  CHECK(c->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(allocator_fixture, "warnings about actions come before the Normal event, and with the result") {
  add("a");
  auto wanted = fleet_allocation();
  wanted.spec.counters.emplace();
  (*wanted.spec.counters)["rooms"].action = "Increment";
  (*wanted.spec.counters)["rooms"].amount = 1;
  wanted.spec.lists.emplace();
  (*wanted.spec.lists)["players"].add_values = {"x"};
  auto const c = allocate(compile_request(wanted));
  store.acknowledge(0);
  run();
  CHECK(c->ended() == outcome::allocated);
  CHECK(c->result().counter_errors.size() == 1);
  CHECK(c->result().list_errors.size() == 1);
  REQUIRE(events.lines.size() == 3);
  CHECK(events.lines[0].rfind("Warning a CounterActionError: ", 0) == 0);
  CHECK(events.lines[1].rfind("Warning a ListActionError: ", 0) == 0);
  CHECK(events.lines[2] == "Normal a Allocated: Allocated");
}

TEST_CASE_FIXTURE(allocator_fixture, "every finished call is one sample") {
  add("a");
  auto const first = begin(fleet_request());
  run();
  clock.advance(3ms);
  store.acknowledge(0);
  run();
  allocate(fleet_request("another"));
  REQUIRE(samples.samples.size() == 2);
  CHECK(samples.samples[0].result == outcome::allocated);
  CHECK(samples.samples[0].fleet == "fleet");
  CHECK(samples.samples[0].scheduling == "Packed");
  CHECK(samples.samples[0].tries == 1);
  CHECK(samples.samples[0].took == 3ms);
  CHECK(samples.samples[1].result == outcome::exhausted);
  CHECK(samples.most_in_flight == 1);
  CHECK(samples.now_in_flight == 0);
}

TEST_CASE_FIXTURE(allocator_fixture, "the size of the index is told once a second while something is done") {
  auto const dry_run = [this](request_ptr request) {
    alloc->async_decide(std::move(request), {}, [](error_code, allocation_result const&) {});
    run();
  };
  add("a");
  add("b", "another");
  run();
  REQUIRE(samples.index.size() == 1);
  CHECK(samples.index[0].label_sets <= 2);
  clock.advance(1s);
  dry_run(fleet_request());
  dry_run(fleet_request());
  REQUIRE(samples.index.size() == 2);
  clock.advance(1s);
  dry_run(fleet_request());
  REQUIRE(samples.index.size() == 3);
  CHECK(samples.index[2].views == 1);
  CHECK(samples.index[2].entries == 1);
  CHECK(samples.index[2].label_sets == 2);
  CHECK(samples.index[2].nodes == 1);
  CHECK(samples.lost_claims == 0);
}

TEST_CASE("a candidate that had changed before it was claimed is counted, and another one taken") {
  allocator_options options;
  options.index.slice = 1;
  allocator_fixture f{options};
  for (int i = 0; i != 40; ++i) f.add("s" + std::to_string(i));
  f.alloc->async_decide(fleet_request(), {}, [](error_code, allocation_result const&) {});
  f.run();
  // So many at once that the index does not know of all of them when it chooses.
  for (int i = 0; i != 40; ++i) {
    auto changed = make_server("s" + std::to_string(i));
    changed.meta.resource_version = "2";
    changed.status.state = i < 39 ? game_server_state::shutdown : game_server_state::ready;
    f.cache.store(share(std::move(changed)));
  }
  auto const c = f.begin(fleet_request());
  f.run();
  f.store.acknowledge(0);
  f.run();
  REQUIRE(c->ended() == outcome::allocated);
  CHECK(c->result().server->meta.name == "s39");
  f.clock.advance(1s);
  f.alloc->async_decide(fleet_request(), {}, [](error_code, allocation_result const&) {});
  f.run();
  CHECK(f.samples.lost_claims > 0);
}

TEST_CASE_FIXTURE(allocator_fixture, "a dry run says who would be handed out, and hands out nobody") {
  add("a");
  std::optional<allocation_result> got;
  auto const keep = [&](error_code, allocation_result r) { got = std::move(r); };
  alloc->async_decide(fleet_request(), {}, keep);
  CHECK_FALSE(got);
  run();
  REQUIRE(got);
  CHECK(got->result == outcome::allocated);
  CHECK(got->server->meta.name == "a");
  CHECK(got->server->status.state == game_server_state::allocated);
  CHECK(store.updates_seen() == 0);
  CHECK(cache.in_flight() == 0);
  CHECK(events.lines.empty());
  CHECK(samples.samples.empty());
  alloc->async_decide(fleet_request("another"), {}, keep);
  run();
  CHECK(got->result == outcome::exhausted);
  auto const c = allocate(fleet_request());
  alloc->async_decide(fleet_request(), {}, keep);
  run();
  CHECK(got->result == outcome::contention);
  store.acknowledge(0);
  run();
  CHECK(c->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(allocator_fixture, "a request is not changed by being used again and again") {
  add("a");
  add("b");
  auto const request = fleet_request();
  auto const before = request->allocation();
  for (int i = 0; i < 2; ++i) {
    allocate(request);
    store.acknowledge(0);
    run();
  }
  CHECK(request->allocation() == before);
}

TEST_CASE_FIXTURE(allocator_fixture, "writes within one reading of the clock carry different stamps") {
  add("a");
  add("b");
  begin(fleet_request());
  begin(fleet_request());
  run();
  REQUIRE(store.pending() == 2);
  CHECK(store.at(0).write.desired->meta.annotations.value_or_empty(keys::last_allocated_annotation) !=
        store.at(1).write.desired->meta.annotations.value_or_empty(keys::last_allocated_annotation));
  store.acknowledge(1);
  store.acknowledge(0);
}

TEST_CASE_FIXTURE(allocator_fixture, "stamps follow a wall clock that is set ahead, and one that is set back") {
  auto const stamp_after = [&](std::string const& name, std::chrono::nanoseconds move) {
    clock.move_wall(move);
    add(name);
    begin(fleet_request());
    run();
    REQUIRE(store.pending() == 1);
    auto const stamp = store.at(0).write.desired->meta.annotations.value_or_empty(keys::last_allocated_annotation);
    store.acknowledge(0);
    run();
    return std::string{stamp}.substr(0, 19);
  };
  CHECK(stamp_after("a", 0s) == "2020-09-13T12:26:40");
  CHECK(stamp_after("b", 720h) == "2020-10-13T12:26:40");
  CHECK(stamp_after("c", -721h) == "2020-09-13T11:26:40");
}

TEST_CASE("options out of range are refused by name") {
  boost::asio::io_context context;
  ready_cache cache;
  fake_store store;
  manual_timer clock{context.get_executor()};
  scripted_random random;
  auto const complaint = [&](auto change) -> std::string {
    allocator_options options;
    change(options);
    try {
      allocator const made{context.get_executor(), cache, store, clock, random, options};
    } catch (std::invalid_argument const& e) {
      return e.what();
    }
    return "";
  };
  CHECK(complaint([](allocator_options&) {}) == "");
  CHECK(complaint([](allocator_options& o) { o.timeout = 0s; }) == "allocator_options.timeout: must be positive");
  CHECK(complaint([](allocator_options& o) { o.max_writes = 0; }) == "allocator_options.max_writes: must be at least 1");
  CHECK(complaint([](allocator_options& o) { o.choice.top_n = 0; }) ==
        "allocator_options.choice.top_n: must be between 1 and 1024");
  CHECK(complaint([](allocator_options& o) { o.choice.prefer.count = 0; }) ==
        "allocator_options.choice.prefer.count: must be between 1 and 1024");
  CHECK(complaint([](allocator_options& o) { o.choice.prefer = {2, 2}; }) ==
        "allocator_options.choice.prefer.index: must be less than count");
  CHECK(complaint([](allocator_options& o) { o.limits.resolve.factor = 0; }) ==
        "allocator_options.limits.resolve.factor: must be at least 1");
}

namespace {

/// Gives up after two tries, and waits ten times the number of the failure in seconds.
struct odd_retry final : retry_policy {
  mutable std::vector<std::uint32_t> asked;
  auto wait_after(std::uint32_t failures, double) const noexcept -> std::optional<std::chrono::nanoseconds> override {
    asked.push_back(failures);
    return failures < 3 ? std::optional<std::chrono::nanoseconds>{failures * 10s} : std::nullopt;
  }
};

/// The server that a plain allocation is to get by these options.
auto chosen(choice_options choice, std::deque<std::uint64_t> draws = {}) -> std::string {
  allocator_options options;
  options.choice = std::move(choice);
  allocator_fixture f{options};
  f.random = scripted_random{std::move(draws)};
  timestamp const born{std::chrono::seconds{1'700'000'000}};
  auto number = 0;
  for (auto const* name : {"a", "b", "c", "d"}) {
    auto server = make_server(name);
    server.meta.creation_timestamp = born + std::chrono::seconds{++number};
    f.cache.store(share(std::move(server)));
  }
  std::string out;
  f.alloc->async_allocate(fleet_allocation(), std::nullopt, allocate_options{},
                          [&](error_code, allocation_result const& r) { out = r.server->meta.name.str(); });
  f.run();
  f.store.acknowledge(0);
  f.run();
  return out;
}

}  // namespace

TEST_CASE("a rule of one's own says how often and when a write is tried again") {
  auto const rule = std::make_shared<odd_retry>();
  allocator_options options;
  options.retry = rule;
  allocator_fixture f{options};
  f.add("a");
  allocate_options patient;
  patient.timeout = 10min;
  auto const c = f.allocate(fleet_request(), patient);
  for (auto const wait : {10s, 20s}) {
    REQUIRE(f.store.pending() == 1);
    f.store.fail(0, errc::unavailable, "no route", 503);
    f.run();
    f.pass(wait - 1ms);
    CHECK(f.store.pending() == 0);
    f.pass(1ms);
  }
  REQUIRE(f.store.pending() == 1);
  CHECK_FALSE(c->done());
  f.store.fail(0, errc::unavailable, "no route", 503);
  f.run();
  REQUIRE(c->done());
  CHECK(c->ended() == outcome::unavailable);
  CHECK(c->result().tries == 3);
  CHECK(rule->asked == std::vector<std::uint32_t>{1, 2, 3});
}

TEST_CASE("the allocator's own choice counts for allocations that bring none") {
  CHECK(chosen({}) == "a");
  choice_options newest;
  newest.order = order_kind::newest_first;
  CHECK(chosen(newest) == "d");
  choice_options own;
  own.order = order_kind::custom;
  own.custom = make_ranker([](game_server const& left, game_server const& right) { return left.meta.name.view() > right.meta.name.view(); });
  CHECK(chosen(own) == "d");
  // Of the best three the draw says which; of the best one it does not matter.
  constexpr auto highest = std::numeric_limits<std::uint64_t>::max();
  choice_options three;
  three.top_n = 3;
  CHECK(chosen(three, {0, 0, 0}) == "a");
  CHECK(chosen(three, {highest, highest, highest}) == "c");
  CHECK(chosen({}, {highest, highest, highest}) == "a");
}
