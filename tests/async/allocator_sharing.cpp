// Many sessions on one server: calls that choose the same server share a write.
#include "../support/allocator_fixture.hpp"

#include <agones_alloc/select/claim.hpp>

#include <numeric>
#include <string>
#include <vector>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

/// Allocated servers with a room left; `also_ready`: else a fresh one.
auto room_request(bool also_ready = false, std::int64_t rooms = 1, bool exact = false) -> request_ptr {
  auto wanted = fleet_allocation();
  auto& first = wanted.spec.selectors.front();
  first.game_server_state = "Allocated";
  first.counters.emplace()["rooms"].min_available = 1;
  if (also_ready) {
    auto second = first;
    second.game_server_state = "Ready";
    wanted.spec.selectors.push_back(second);
  }
  wanted.spec.counters.emplace()["rooms"] = {"Increment", rooms, {}};
  choice_options choice;
  choice.exact = exact;
  return compile_request(std::move(wanted), choice);
}

struct sharing_fixture : allocator_fixture {
  using allocator_fixture::allocator_fixture;
  int version{1};

  void add_rooms(std::string_view name, std::int64_t capacity, game_server_state state = game_server_state::allocated,
                 std::int64_t count = 0) {
    auto server = make_server(name, "fleet", state);
    server.status.counters["rooms"] = {count, capacity};
    cache.store(share(server));
  }
  void acknowledge_all() {
    while (store.pending() > 0) {
      store.acknowledge(0, std::to_string(++version));
      run();
    }
  }
  auto rooms(std::string_view name) -> std::int64_t { return cache.find(key(name))->status.counters.find("rooms")->second.count; }
};

auto all_ended(std::vector<std::shared_ptr<call>> const& calls, outcome wanted) -> bool {
  for (auto const& c : calls) {
    if (!c->done() || c->ended() != wanted) return false;
  }
  return true;
}

}  // namespace

TEST_CASE_FIXTURE(sharing_fixture, "fifty calls at once on one server are one write, and each is told") {
  add_rooms("a", 100);
  std::vector<std::shared_ptr<call>> calls;
  for (int i = 0; i < 50; ++i) calls.push_back(begin(room_request()));
  run();
  CHECK(store.pending() == 1);
  acknowledge_all();
  CHECK(store.updates_seen() == 1);
  CHECK(all_ended(calls, outcome::allocated));
  CHECK(rooms("a") == 50);
  CHECK(events.lines.size() == 50);
  CHECK(samples.samples.size() == 50);
  for (auto const& c : calls) CHECK(c->completions == 1);
}

TEST_CASE_FIXTURE(sharing_fixture, "who comes while a write is under way is in the next one") {
  add_rooms("a", 100);
  std::vector<std::shared_ptr<call>> calls;
  for (int i = 0; i < 50; ++i) calls.push_back(allocate(room_request()));
  CHECK(store.pending() == 1);
  acknowledge_all();
  CHECK(store.updates_seen() == 2);
  CHECK(all_ended(calls, outcome::allocated));
  CHECK(rooms("a") == 50);
}

TEST_CASE_FIXTURE(sharing_fixture, "what is promised in a write counts at once: a full server takes no more") {
  add_rooms("a", 3);
  add_rooms("b", 3, game_server_state::ready);
  std::vector<std::shared_ptr<call>> calls;
  for (int i = 0; i < 7; ++i) calls.push_back(begin(room_request(true)));
  run();
  // Three on a, three on b, which is Ready but will be Allocated; nothing is left for the last one.
  CHECK(store.pending() == 2);
  acknowledge_all();
  CHECK(store.updates_seen() == 2);
  CHECK(rooms("a") == 3);
  CHECK(rooms("b") == 3);
  CHECK(calls[6]->ended() == outcome::exhausted);
  calls.pop_back();
  CHECK(all_ended(calls, outcome::allocated));
}

TEST_CASE_FIXTURE(sharing_fixture, "who waits for a server goes before who comes as it is free") {
  add_rooms("a", 1, game_server_state::allocated, 1);
  allocate_options patient;
  patient.wait_for = 10s;
  auto const first = allocate(room_request(), patient);
  auto const second = allocate(room_request(), patient);
  auto freed = *cache.find(key("a"));
  freed.status.counters["rooms"] = {0, 2};
  freed.meta.resource_version = std::to_string(++version);
  cache.store(share(freed));
  auto const late = begin(room_request());  // in the same turn
  run();
  acknowledge_all();
  CHECK(store.updates_seen() == 1);
  CHECK(all_ended({first, second}, outcome::allocated));
  CHECK(late->ended() == outcome::exhausted);
}

TEST_CASE_FIXTURE(sharing_fixture, "a write that is refused is refused for its leader; the others decide anew") {
  add_rooms("a", 100);
  std::vector<std::shared_ptr<call>> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(begin(room_request()));
  run();
  store.fail(0, errc::refused, "no", 403);
  run();
  CHECK(calls[0]->ended() == outcome::refused);
  CHECK_FALSE(calls[1]->done());
  acknowledge_all();
  CHECK(rooms("a") == 2);
  calls.erase(calls.begin());
  CHECK(all_ended(calls, outcome::allocated));
}

TEST_CASE_FIXTURE(sharing_fixture, "after a conflict all in the write try again on fresh data") {
  add_rooms("a", 100);
  std::vector<std::shared_ptr<call>> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(begin(room_request()));
  run();
  auto fresh = *cache.find(key("a"));
  fresh.status.counters["rooms"].count = 40;
  fresh.meta.resource_version = std::to_string(++version);
  cache.store(share(fresh));
  store.fail(0, errc::conflict, "changed", 409);
  run();
  pass(20ms);
  acknowledge_all();
  pass(20ms);
  acknowledge_all();
  CHECK(all_ended(calls, outcome::allocated));
  CHECK(rooms("a") == 43);
}

TEST_CASE_FIXTURE(sharing_fixture, "a lost answer is read back once for all in the write") {
  add_rooms("a", 100);
  std::vector<std::shared_ptr<call>> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(begin(room_request()));
  run();
  auto const written = store.written(0, "7");
  store.fail(0, errc::outcome_unknown);
  run();
  REQUIRE(store.pending() == 1);
  store.show(0, written);
  run();
  CHECK(all_ended(calls, outcome::allocated));
  CHECK(store.updates_seen() == 1);
  CHECK(rooms("a") == 3);
}

TEST_CASE_FIXTURE(sharing_fixture, "a lost write that is sent again has everybody in it, and takes nobody else in") {
  add_rooms("a", 100);
  std::vector<std::shared_ptr<call>> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(begin(room_request()));
  run();
  auto const base = store.at(0).write.base;
  auto const first = store.written(0, "7");
  store.fail(0, errc::outcome_unknown);
  run();
  store.show(0, base);
  run();
  pass(10ms);
  REQUIRE(store.pending() == 1);
  REQUIRE(store.at(0).is_update);
  auto const late = allocate(room_request());
  auto again = *store.at(0).write.desired;
  again.meta.resource_version = "7";
  CHECK(again == *first);
  SUBCASE("the second one is made") { store.acknowledge(0, "7"); }
  SUBCASE("the first one is made after all") {
    store.fail(0, errc::conflict, "changed", 409);
    run();
    REQUIRE(store.pending() == 1);
    store.show(0, first);
  }
  version = 7;
  run();
  CHECK(all_ended(calls, outcome::allocated));
  CHECK(rooms("a") == 3);
  acknowledge_all();
  CHECK(late->ended() == outcome::allocated);
  CHECK(rooms("a") == 4);
}

TEST_CASE_FIXTURE(sharing_fixture, "who leaves a shared write is told what came of it; its leader may leave before the others") {
  add_rooms("a", 100);
  auto const leader = begin(room_request());
  auto const second = begin(room_request());
  auto brief = allocate_options{};
  brief.timeout = 1s;
  auto const third = begin(room_request(), brief);
  run();
  second->cancel();
  run();
  CHECK_FALSE(second->done());
  pass(1s);
  REQUIRE(third->done());
  CHECK(third->ended() == outcome::unknown);
  CHECK(third->result().server->meta.name == "a");
  leader->cancel();
  run();
  acknowledge_all();
  CHECK(leader->ended() == outcome::allocated);
  CHECK(second->ended() == outcome::allocated);
  CHECK(rooms("a") == 3);
}

TEST_CASE_FIXTURE(sharing_fixture, "a leader that is cancelled before its write goes leaves the others to decide anew") {
  add_rooms("a", 100);
  auto const leader = begin(room_request());
  auto const second = begin(room_request());
  leader->cancel();
  run();
  acknowledge_all();
  CHECK(leader->ended() == outcome::cancelled);
  CHECK(second->ended() == outcome::allocated);
  CHECK(rooms("a") == 1);
}

TEST_CASE_FIXTURE(sharing_fixture, "each in a shared write has a claim of its own") {
  add_rooms("a", 100);
  std::vector<std::shared_ptr<call>> calls;
  for (auto const* id : {"x", "y", "x"}) {
    allocate_options options;
    options.request_id = id;
    calls.push_back(begin(room_request(), options));
  }
  run();
  acknowledge_all();
  CHECK(all_ended(calls, outcome::allocated));
  CHECK(rooms("a") == 2);
  CHECK(claims_of(*cache.find(key("a"))).size() == 2);
  auto gone = *cache.find(key("a"));
  REQUIRE(release_claim(gone, "x", release_to::ready));
  CHECK(gone.status.counters["rooms"].count == 1);
}

TEST_CASE_FIXTURE(sharing_fixture, "those who wait for a full server share the next write when it has room") {
  add_rooms("a", 1, game_server_state::allocated, 1);
  std::vector<std::shared_ptr<call>> calls;
  allocate_options patient;
  patient.wait_for = 10s;
  for (int i = 0; i < 4; ++i) calls.push_back(allocate(room_request(), patient));
  auto freed = *cache.find(key("a"));
  freed.status.counters["rooms"] = {0, 3};
  freed.meta.resource_version = std::to_string(++version);
  cache.store(share(freed));
  run();
  CHECK(store.pending() == 1);
  acknowledge_all();
  CHECK(store.updates_seen() == 1);
  CHECK(rooms("a") == 3);
  CHECK_FALSE(calls[3]->done());
  calls[3]->cancel();
  run();
  calls.pop_back();
  CHECK(all_ended(calls, outcome::allocated));
}

TEST_CASE_FIXTURE(sharing_fixture, "exact: a server on which the increment does not fit is no candidate") {
  add_rooms("a", 5, game_server_state::allocated, 3);
  auto const clamped = allocate(room_request(false, 4));
  acknowledge_all();
  CHECK(clamped->ended() == outcome::allocated);  // as the reference does
  CHECK(rooms("a") == 5);
  add_rooms("b", 5, game_server_state::allocated, 3);
  CHECK(allocate(room_request(false, 3, true))->ended() == outcome::exhausted);
  auto const fits = allocate(room_request(false, 2, true));
  acknowledge_all();
  CHECK(fits->ended() == outcome::allocated);
  CHECK(rooms("b") == 5);
}

TEST_CASE_FIXTURE(sharing_fixture, "an allocator that ends while a write is shared tells all of them") {
  add_rooms("a", 100);
  std::vector<std::shared_ptr<call>> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(begin(room_request()));
  run();
  auto const behind = allocate(room_request());
  alloc.reset();
  run();
  CHECK(behind->ended() == outcome::cancelled);
  REQUIRE(store.pending() == 1);
  store.acknowledge(0, "2");
  run();
  CHECK(all_ended(calls, outcome::allocated));
}

TEST_CASE_FIXTURE(sharing_fixture, "list values and a claim for Ready servers only are not mixed up") {
  auto server = make_server("a", "fleet", game_server_state::allocated);
  server.status.lists["players"] = {3, std::vector<shared_string>{"x"}};
  cache.store(share(server));
  auto wanted = fleet_allocation();
  wanted.spec.selectors.front().game_server_state = "Allocated";
  std::vector<std::shared_ptr<call>> calls;
  for (auto const* player : {"y", "z", "w"}) {
    wanted.spec.lists.emplace()["players"].add_values = {player};
    calls.push_back(begin(compile_request(wanted)));
  }
  run();
  acknowledge_all();
  CHECK(all_ended(calls, outcome::allocated));
  // Two fit; the third is decided alone, and loses its value as the reference would have it, with a word.
  auto const& values = *cache.find(key("a"))->status.lists.find("players")->second.values;
  CHECK(values == std::vector<shared_string>{"x", "y", "z"});
  CHECK(calls[2]->result().list_errors.size() == 1);
}

TEST_CASE_FIXTURE(sharing_fixture, "those who share a write get their results in the order in which they came") {
  add_rooms("a", 100);
  std::vector<int> told;
  auto const ask = [&](int number) {
    alloc->async_allocate(room_request(), allocate_options{}, [&told, number](error_code ec, allocation_result r) {
      CHECK_FALSE(ec);
      CHECK(r.result == outcome::allocated);
      told.push_back(number);
    });
  };
  for (int i = 0; i < 20; ++i) ask(i);
  run();
  for (int i = 20; i < 40; ++i) ask(i);
  run();
  CHECK(told.empty());
  acknowledge_all();
  CHECK(store.updates_seen() == 2);
  std::vector<int> arrived(40);
  std::iota(arrived.begin(), arrived.end(), 0);
  CHECK(told == arrived);
}
