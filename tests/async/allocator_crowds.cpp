// Many calls at once: no server twice, none lost, none waiting for nothing.
#include "../support/allocator_fixture.hpp"

#include <set>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

auto count(std::vector<std::shared_ptr<call>> const& calls, outcome ended) -> std::size_t {
  std::size_t n = 0;
  for (auto const& c : calls) n += c->done() && c->ended() == ended ? 1 : 0;
  return n;
}

}  // namespace

TEST_CASE_FIXTURE(allocator_fixture, "twenty callers on ten servers: ten allocated, ten exhausted") {
  for (int i = 0; i < 10; ++i) add("gs-" + std::to_string(i));
  std::vector<std::shared_ptr<call>> calls;
  for (int i = 0; i < 20; ++i) calls.push_back(begin(fleet_request()));
  run();
  CHECK(store.pending() == 10);
  CHECK(count(calls, outcome::exhausted) == 0);  // while writes are in flight, nobody is told there is nothing
  while (store.pending() > 0) {
    store.acknowledge(store.pending() / 2);
    run();
  }
  CHECK(count(calls, outcome::allocated) == 10);
  CHECK(count(calls, outcome::exhausted) == 10);
  std::set<std::string> names;
  for (auto const& c : calls) {
    if (c->ended() == outcome::allocated) names.insert(c->result().server->meta.name.str());
  }
  CHECK(names.size() == 10);
}

TEST_CASE_FIXTURE(allocator_fixture, "a write that fails wakes a parked caller, the oldest first") {
  add("a");
  auto const first = allocate(fleet_request());
  auto const second = allocate(fleet_request());
  auto const third = allocate(fleet_request());
  store.fail(0, errc::refused, "no", 403);
  run();
  CHECK(first->ended() == outcome::refused);
  REQUIRE(store.pending() == 1);
  store.acknowledge(0);
  run();
  CHECK(second->ended() == outcome::allocated);
  CHECK(third->ended() == outcome::exhausted);
}

TEST_CASE_FIXTURE(allocator_fixture, "a server that turns ready meanwhile goes to a parked caller") {
  add("a");
  auto const first = allocate(fleet_request());
  auto const second = allocate(fleet_request());
  add("b");
  run();
  REQUIRE(store.pending() == 2);
  store.acknowledge(1);
  store.acknowledge(0);
  run();
  CHECK(first->result().server->meta.name == "a");
  CHECK(second->result().server->meta.name == "b");
}

TEST_CASE_FIXTURE(allocator_fixture, "an allocated server with room is handed out again, to each in turn") {
  auto server = make_server("a", "fleet", game_server_state::allocated);
  server.status.counters["rooms"] = {0, 3};
  cache.store(share(server));
  auto wanted = fleet_allocation();
  wanted.spec.selectors[0].game_server_state = "Allocated";
  wanted.spec.selectors[0].counters.emplace();
  (*wanted.spec.selectors[0].counters)["rooms"].min_available = 1;
  wanted.spec.counters.emplace();
  (*wanted.spec.counters)["rooms"].action = "Increment";
  (*wanted.spec.counters)["rooms"].amount = 1;
  std::vector<std::shared_ptr<call>> calls;
  auto const request = compile_request(wanted);
  for (int i = 0; i < 5; ++i) calls.push_back(begin(request));
  run();
  for (int version = 2; store.pending() > 0; ++version) {
    REQUIRE(store.pending() == 1);
    store.acknowledge(0, std::to_string(version));
    run();
  }
  CHECK(count(calls, outcome::allocated) == 3);
  CHECK(count(calls, outcome::exhausted) == 2);
  CHECK(cache.find(key("a"))->status.counters.at("rooms").count == 3);
}

TEST_CASE_FIXTURE(allocator_fixture, "our own write may be watched before its answer comes, or after") {
  add("a");
  auto const c = allocate(fleet_request());
  auto const ours = store.written(0, "2");
  SUBCASE("before") {
    cache.store(ours);
    store.show(0, ours);
    run();
  }
  SUBCASE("after") {
    store.show(0, ours);
    run();
    cache.store(ours);
    run();
  }
  SUBCASE("a newer one before") {
    auto newer = *ours;
    newer.meta.resource_version = "3";
    newer.status.state = game_server_state::shutdown;
    cache.store(share(newer));
    store.show(0, ours);
    run();
    CHECK(cache.find(key("a")) == nullptr);
    CHECK(c->ended() == outcome::allocated);
    return;
  }
  SUBCASE("an older one after") {
    store.show(0, ours);
    run();
    cache.store(share(make_server("a")));
    run();
  }
  CHECK(c->ended() == outcome::allocated);
  CHECK(cache.find(key("a"))->status.state == game_server_state::allocated);
  CHECK(cache.size() == 1);
  CHECK(allocate(fleet_request())->ended() == outcome::exhausted);
}

TEST_CASE_FIXTURE(allocator_fixture, "a delete that is watched before the answer leaves no ghost") {
  add("a");
  auto const c = allocate(fleet_request());
  auto const ours = store.written(0, "2");
  cache.erase(key("a"), "a-uid");
  store.show(0, ours);
  run();
  CHECK(c->ended() == outcome::allocated);
  CHECK(cache.size() == 0);
}

TEST_CASE("writes in flight are bounded; calls beyond the bound wait in order and can leave") {
  allocator_options options;
  options.max_writes = 2;
  allocator_fixture f{options};
  for (auto const* name : {"a", "b", "c", "d"}) f.add(name);
  std::vector<std::shared_ptr<call>> calls;
  for (int i = 0; i < 5; ++i) calls.push_back(f.begin(fleet_request()));
  f.run();
  CHECK(f.store.pending() == 2);
  calls[2]->cancel();
  f.run();
  CHECK(calls[2]->ended() == outcome::cancelled);
  f.store.acknowledge(0);
  f.run();
  CHECK(f.store.pending() == 2);
  CHECK(f.cache.in_flight() == 2);
  while (f.store.pending() > 0) {
    f.store.acknowledge(0);
    f.run();
  }
  CHECK(count(calls, outcome::allocated) == 4);
  CHECK(calls[3]->result().server->meta.name == "c");
  CHECK(calls[4]->result().server->meta.name == "d");
}

TEST_CASE("calls that wait for a free write observe their deadline") {
  allocator_options options;
  options.max_writes = 1;
  allocator_fixture f{options};
  f.add("a");
  f.add("b");
  auto const first = f.allocate(fleet_request());
  allocate_options call_options;
  call_options.timeout = 10ms;
  auto const second = f.allocate(fleet_request(), call_options);
  f.pass(10ms);
  CHECK(second->ended() == outcome::deadline);
  f.store.acknowledge(0);
  f.run();
  CHECK(f.store.updates_seen() == 1);
}

TEST_CASE("calls beyond the bound are refused at once with advice, not inline") {
  allocator_options options;
  options.max_operations = 2;
  options.overload_retry_after = 70ms;
  allocator_fixture f{options};
  f.add("a");
  auto const first = f.begin(fleet_request());
  auto const second = f.begin(fleet_request());
  auto const third = f.allocate(fleet_request());
  REQUIRE(third->done());
  CHECK(third->ended() == outcome::contention);
  CHECK(third->result().retry_after == 70ms);
  CHECK_FALSE(first->done());
  f.store.acknowledge(0);
  f.run();
  CHECK(second->ended() == outcome::exhausted);
  CHECK(f.alloc->outstanding() == 0);
  CHECK(f.allocate(fleet_request())->ended() == outcome::exhausted);
}

TEST_CASE("more messages than one turn takes are handled over several") {
  allocator_options options;
  options.batch = 3;
  allocator_fixture f{options};
  std::vector<std::shared_ptr<call>> calls;
  for (int i = 0; i < 20; ++i) f.add("gs-" + std::to_string(100 + i));
  for (int i = 0; i < 20; ++i) calls.push_back(f.begin(fleet_request()));
  f.run();
  CHECK(f.store.pending() == 20);
  while (f.store.pending() > 0) f.store.acknowledge(f.store.pending() - 1);
  f.run();
  CHECK(count(calls, outcome::allocated) == 20);
}

TEST_CASE("a view that is built in slices keeps its calls waiting, not lost") {
  allocator_options options;
  options.index.slice = 16;
  allocator_fixture f{options};
  for (int i = 0; i < 500; ++i) f.add("gs-" + std::to_string(1000 + i));
  f.run();
  auto const c = f.begin(fleet_request());
  auto const left = f.begin(fleet_request());
  f.context.restart();
  f.context.poll_one();
  left->cancel();
  f.run();
  CHECK(left->ended() == outcome::cancelled);
  REQUIRE(f.store.pending() == 1);
  CHECK(f.store.at(0).write.base->meta.name == "gs-1000");
  f.store.acknowledge(0);
  f.run();
  CHECK(c->ended() == outcome::allocated);
}
