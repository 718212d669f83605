#include "servers.hpp"

#include <agones_alloc/cache/ranked_index.hpp>
#include <agones_alloc/select/find.hpp>

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace cache_tests;

namespace {

struct fixture {
  ready_cache cache;
  ranked_index index{cache};
  seeded_random random{42};
  pick got;

  auto try_pick(request_ptr const& request) -> pick_status { return index.pick_and_claim(*request, random, got); }
  auto name(request_ptr const& request) -> std::string {
    return try_pick(request) == pick_status::picked ? got.server->meta.name.str() : "";
  }
  void settle_allocated() { cache.settle(got.handle, next_version(*got.server).allocated().made()); }
  auto woken() -> std::vector<std::uint64_t> {
    std::vector<std::uint64_t> out;
    while (index.drain()) continue;
    index.take_woken(out);
    return out;
  }
};

using tokens = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE_FIXTURE(fixture, "packed picks fill the fullest node first and follow its load") {
  cache.store(server_builder{"a"}.node("n1").made());
  cache.store(server_builder{"b"}.node("n2").made());
  cache.store(server_builder{"c"}.node("n2").made());
  cache.store(server_builder{"z"}.node("n1").allocated().made());
  auto const request = fleet_request();
  CHECK(name(request) == "a");  // one Allocated beats two Ready
  settle_allocated();
  CHECK(name(request) == "b");
  settle_allocated();
  cache.store(server_builder{"d"}.node("n1").made());
  CHECK(name(request) == "d");
}

TEST_CASE_FIXTURE(fixture, "the order of the specification's example") {
  cache.store(server_builder{"z"}.node("n9").allocated().made());
  cache.store(server_builder{"e"}.node("n2").allocated().made());
  cache.store(server_builder{"d"}.node("n2").made());
  cache.store(server_builder{"a"}.node("n1").counter("rooms", 1, 10).made());
  cache.store(server_builder{"b"}.node("n1").counter("rooms", 5, 10).made());
  cache.store(server_builder{"c"}.node("n1").made());
  cache.store(server_builder{"f"}.node("n3").made());
  game_server_allocation gsa;
  gsa.meta.namespace_ = "default";
  gsa.spec.selectors.resize(2);
  gsa.spec.selectors[0].game_server_state = "Allocated";
  gsa.spec.selectors[1].game_server_state = "Ready";
  gsa.spec.priorities = std::vector<priority>{{"Counter", "rooms", "Ascending"}};
  auto const request = request_of(gsa);
  std::string order;
  for (auto next = name(request); !next.empty(); next = name(request)) order += next;
  CHECK(order == "ezdbacf");
}

TEST_CASE_FIXTURE(fixture, "nothing free is busy while a match is in flight, and none without") {
  auto const request = fleet_request();
  CHECK(try_pick(request) == pick_status::none);
  cache.store(server_builder{"a"}.made());
  CHECK(try_pick(request) == pick_status::picked);
  auto const taken = got;
  CHECK(try_pick(request) == pick_status::busy);
  CHECK(try_pick(request_for({{"map", "x"}})) == pick_status::none);
  cache.put_back(taken.handle);
  CHECK(name(request) == "a");
  settle_allocated();
  CHECK(try_pick(request) == pick_status::none);
}

TEST_CASE_FIXTURE(fixture, "a server that lost a conflict is picked when something newer is known") {
  auto const request = fleet_request();
  cache.store(server_builder{"a"}.version("5").made());
  CHECK(name(request) == "a");
  cache.discard(got.handle);
  CHECK(try_pick(request) == pick_status::none);
  cache.store(server_builder{"a"}.version("6").made());
  CHECK(name(request) == "a");
  CHECK(got.server->meta.resource_version == "6");
}

TEST_CASE_FIXTURE(fixture, "an Allocated server with room is picked again after its write") {
  game_server_allocation gsa;
  gsa.meta.namespace_ = "default";
  gsa.spec.selectors.resize(2);
  gsa.spec.selectors[0].game_server_state = "Allocated";
  gsa.spec.selectors[0].counters.emplace();
  (*gsa.spec.selectors[0].counters)["rooms"] = {0, 0, 1, 0};
  gsa.spec.selectors[1].game_server_state = "Ready";
  auto const request = request_of(gsa);
  cache.store(server_builder{"a"}.counter("rooms", 0, 2).made());
  CHECK(name(request) == "a");
  CHECK(got.selector == 1);
  cache.settle(got.handle, next_version(*got.server).allocated().counter("rooms", 1, 2).made());
  CHECK(name(request) == "a");
  CHECK(got.selector == 0);
  CHECK(try_pick(request) == pick_status::busy);
  cache.settle(got.handle, next_version(*got.server).counter("rooms", 2, 2).made());
  CHECK(try_pick(request) == pick_status::none);
}

TEST_CASE_FIXTURE(fixture, "a random view draws every server about equally often") {
  for (int i = 0; i != 8; ++i) cache.store(server_builder{"s" + std::to_string(i)}.made());
  auto const request = fleet_request("Distributed");
  std::map<std::string, int> drawn;
  for (int i = 0; i != 4000; ++i) {
    ++drawn[name(request)];
    cache.put_back(got.handle);
  }
  CHECK(drawn.size() == 8);
  for (auto const& [server, times] : drawn) CHECK((times > 400 && times < 600));
}

TEST_CASE_FIXTURE(fixture, "top_n draws from the best N only") {
  for (int i = 0; i != 8; ++i) cache.store(server_builder{"s" + std::to_string(i)}.node("n" + std::to_string(i % 2)).made());
  choice_options choice;
  choice.top_n = 3;
  auto const request = fleet_request("Packed", choice);
  std::map<std::string, int> drawn;
  for (int i = 0; i != 3000; ++i) {
    ++drawn[name(request)];
    cache.put_back(got.handle);
  }
  CHECK(drawn.size() == 3);
  for (auto const* best : {"s0", "s1", "s2"}) CHECK(drawn[best] > 800);
}

TEST_CASE_FIXTURE(fixture, "by name: required, preferred, and by UID") {
  cache.store(server_builder{"a"}.made());
  cache.store(server_builder{"b"}.made());
  choice_options choice;
  choice.target = target_server{"b", "", true};
  auto const required = fleet_request("Packed", choice);
  choice.target->required = false;
  auto const preferred = fleet_request("Packed", choice);
  choice.target = target_server{"b", "another", true};
  CHECK(try_pick(fleet_request("Packed", choice)) == pick_status::none);
  CHECK(name(required) == "b");
  CHECK(try_pick(required) == pick_status::busy);
  CHECK(name(preferred) == "a");
  choice.target = target_server{"b", "u-b", true};
  CHECK(try_pick(request_for({{"map", "x"}}, "Packed", choice)) == pick_status::none);  // it must match, too
}

TEST_CASE_FIXTURE(fixture, "a view over many servers is built in slices and counts what happens meanwhile") {
  index_options options;
  options.slice = 16;
  ranked_index sliced{cache, options};
  for (int i = 0; i != 100; ++i) cache.store(server_builder{"s" + std::to_string(1000 + i)}.made());
  while (sliced.drain()) continue;
  auto const request = fleet_request();
  REQUIRE(sliced.pick_and_claim(*request, random, got) == pick_status::building);
  cache.erase({"default", "s1000"});
  cache.store(server_builder{"s0999"}.made());
  cache.store(server_builder{"s1001"}.version("2").node("n2").made());
  int slices = 0;
  while (sliced.build_some()) ++slices;
  CHECK(slices >= 5);
  REQUIRE(sliced.pick_and_claim(*request, random, got) == pick_status::picked);
  CHECK(got.server->meta.name == "s0999");
  std::size_t left = 0;
  while (sliced.pick_and_claim(*request, random, got) == pick_status::picked) ++left;
  CHECK(left == 99);
}

TEST_CASE_FIXTURE(fixture, "picks that follow each other share one slice, so that none waits for a whole view") {
  index_options options;
  options.slice = 16;
  ranked_index sliced{cache, options};
  for (int i = 0; i != 400; ++i) cache.store(server_builder{"s" + std::to_string(1000 + i)}.made());
  while (sliced.drain()) continue;
  auto const request = fleet_request();
  // A slice, and the little that each pick may add: far from 400 servers.
  for (int i = 0; i != 20; ++i) CHECK(sliced.pick_and_claim(*request, random, got) == pick_status::building);
  CHECK(sliced.statistics().entries <= 16 + 20 * 8);
  while (sliced.build_some()) continue;
  REQUIRE(sliced.pick_and_claim(*request, random, got) == pick_status::picked);
  CHECK(got.server->meta.name == "s1000");
}

TEST_CASE_FIXTURE(fixture, "who only picks sees every change in the end") {
  index_options options;
  options.slice = 4;
  ranked_index sliced{cache, options};
  auto const request = fleet_request();
  CHECK(sliced.pick_and_claim(*request, random, got) == pick_status::none);
  for (int i = 0; i != 100; ++i) cache.store(server_builder{"s" + std::to_string(1000 + i)}.made());
  auto status = pick_status::building;
  for (int i = 0; i != 60; ++i) {
    status = sliced.pick_and_claim(*request, random, got);
    if (status == pick_status::picked) cache.put_back(got.handle);
  }
  REQUIRE(status == pick_status::picked);
  CHECK(got.server->meta.name == "s1000");
}

TEST_CASE_FIXTURE(fixture, "views are bounded and the longest unused ones go first") {
  index_options options;
  options.max_views = 4;
  ranked_index bounded{cache, options};
  cache.store(server_builder{"a"}.made());
  auto const kept = fleet_request();
  for (int i = 0; i != 50; ++i) {
    CHECK(bounded.pick_and_claim(*request_for({{"map", std::to_string(i)}}), random, got) == pick_status::none);
    REQUIRE(bounded.pick_and_claim(*kept, random, got) == pick_status::picked);
    cache.put_back(got.handle);
  }
  CHECK(bounded.statistics().views == 4);
  CHECK(bounded.statistics().entries == 0);  // the change was not drained yet
  bounded.drain();
  CHECK(bounded.statistics().entries == 1);
}

TEST_CASE_FIXTURE(fixture, "views that nobody asks for are dropped") {
  index_options options;
  options.idle_picks = 100;
  ranked_index forgetful{cache, options};
  for (int i = 0; i != 10; ++i) forgetful.pick_and_claim(*request_for({{"map", std::to_string(i)}}), random, got);
  CHECK(forgetful.statistics().views == 10);
  for (int i = 0; i != 2000; ++i) forgetful.pick_and_claim(*fleet_request(), random, got);
  CHECK(forgetful.statistics().views == 1);
}

TEST_CASE_FIXTURE(fixture, "a server with a label set of its own is found by each label and forgotten with it") {
  for (int i = 0; i != 200; ++i) {
    cache.store(server_builder{"s" + std::to_string(i)}.label("own", "o" + std::to_string(i)).made());
  }
  while (index.drain()) continue;
  CHECK(index.statistics().label_sets == 200);
  CHECK(name(request_for({{"own", "o77"}})) == "s77");
  CHECK(try_pick(request_for({{"own", "o200"}})) == pick_status::none);
  for (int i = 0; i != 200; ++i) cache.erase({"default", "s" + std::to_string(i)});
  cache.put_back(got.handle);
  while (index.drain()) continue;
  CHECK(index.statistics().label_sets == 0);
  CHECK(index.statistics().nodes == 0);
  CHECK(index.statistics().entries == 0);
}

TEST_CASE_FIXTURE(fixture, "node loads count claimed servers by their last known state") {
  cache.store(server_builder{"a"}.made());
  cache.store(server_builder{"b"}.allocated().made());
  CHECK(name(fleet_request()) == "a");
  CHECK(index.load_of("n1") == node_load{1, 1});
  settle_allocated();
  index.drain();
  CHECK(index.load_of("n1") == node_load{2, 0});
  cache.store(next_version(*cache.find({"default", "a"})).node("n2").made());
  index.drain();
  CHECK(index.load_of("n1") == node_load{1, 0});
  CHECK(index.load_of("n2") == node_load{1, 0});
  cache.erase({"default", "a"});
  index.drain();
  CHECK(index.load_of("n2") == std::nullopt);
}

TEST_CASE_FIXTURE(fixture, "packed order fills closing nodes last, and tells when that changes") {
  cache.store(server_builder{"a"}.node("full").made());
  cache.store(server_builder{"b"}.node("full").allocated().made());
  cache.store(server_builder{"c"}.node("other").made());
  cache.store(server_builder{"d"}.node("").made());
  auto rings = 0;
  cache.on_change([&] { ++rings; });
  auto const next = [&] {
    auto const out = name(fleet_request());
    cache.put_back(got.handle);
    return out;
  };
  CHECK(next() == "a");
  cache.set_open_nodes(std::make_shared<open_nodes const>(std::vector<shared_string>{"other"}));
  CHECK(rings == 1);
  CHECK(next() == "c");
  CHECK(index.load_of("full") == node_load{1, 1, true});
  cache.set_open_nodes(std::make_shared<open_nodes const>(std::vector<shared_string>{}));
  CHECK(next() == "d");  // no node is not a closing one
  cache.erase({"default", "d"});
  CHECK(next() == "a");  // the least bad
  cache.store(server_builder{"e"}.node("new").made());  // not known to be open
  CHECK(next() == "a");
  cache.set_open_nodes(nullptr);
  CHECK(next() == "a");
  CHECK(index.load_of("new") == node_load{0, 1, false});
}

TEST_CASE_FIXTURE(fixture, "an explanation counts as the rules do") {
  std::vector<game_server_ptr> all{
      server_builder{"a"}.counter("rooms", 0, 2).made(), server_builder{"b"}.label("map", "x").allocated().made(),
      server_builder{"c"}.label("map", "x").counter("rooms", 2, 2).made(), server_builder{"d"}.ns("other").made()};
  for (auto const& server : all) cache.store(server);
  while (index.drain()) continue;
  game_server_allocation gsa;
  gsa.meta.namespace_ = "default";
  gsa.spec.selectors.resize(2);
  gsa.spec.selectors[0].labels.match_labels = {{keys::fleet_label, "f"}, {"map", "x"}};
  gsa.spec.selectors[1].counters.emplace();
  (*gsa.spec.selectors[1].counters)["rooms"] = {0, 0, 1, 0};
  auto const request = request_of(gsa);
  CHECK(index.explain(*request) == explain(*request, all));
  CHECK(name(request) == "c");
  CHECK(index.explain(*request) == explain(*request, all));  // now of a live view, and with one claimed
  cache.remove(got.handle);
  all.erase(all.begin() + 2);
  index.drain();
  CHECK(index.explain(*request) == explain(*request, all));
}

TEST_CASE_FIXTURE(fixture, "a parked request is woken by a free server, the oldest first") {
  auto const request = fleet_request();
  index.watch(*request, 2);
  index.watch(*request, 1);
  index.watch(*request, 3);
  CHECK(woken().empty());
  cache.store(server_builder{"a"}.made());
  CHECK(woken() == tokens{1});
  CHECK(name(request) == "a");
  CHECK(woken().empty());
  cache.store(server_builder{"b"}.made());
  cache.store(server_builder{"c"}.made());
  CHECK(woken() == tokens{2, 3});
  CHECK(index.statistics().waiting == 0);
}

TEST_CASE_FIXTURE(fixture, "a server that a woken request did not take wakes the next one") {
  auto const request = fleet_request();
  index.watch(*request, 1);
  index.watch(*request, 2);
  cache.store(server_builder{"a"}.made());
  CHECK(woken() == tokens{1});
  CHECK(woken() == tokens{2});
}

TEST_CASE_FIXTURE(fixture, "all parked requests are woken when the last matching claim ends without a free server") {
  auto const request = fleet_request();
  cache.store(server_builder{"a"}.made());
  cache.store(server_builder{"b"}.made());
  CHECK(name(request) == "a");
  auto const first = got;
  CHECK(name(request) == "b");
  index.watch(*request, 1);
  index.watch(*request, 2);
  settle_allocated();
  CHECK(woken().empty());
  cache.put_back(first.handle);
  CHECK(woken() == tokens{1});
  CHECK(name(request) == "a");
  index.watch(*request, 1);
  cache.remove(got.handle);
  CHECK(woken() == tokens{1, 2});
  CHECK(woken().empty());
}

TEST_CASE_FIXTURE(fixture, "what the index ends itself counts at once and is no change of the cache") {
  auto const request = fleet_request();
  cache.store(server_builder{"a"}.made());
  CHECK(name(request) == "a");
  index.watch(*request, 1);
  tokens out;
  CHECK_FALSE(index.may_wake());
  index.put_back(got.handle);
  CHECK_FALSE(cache.changed());
  CHECK(index.may_wake());
  index.take_woken(out);
  CHECK(out == tokens{1});
  CHECK_FALSE(index.may_wake());
  index.put_back(got.handle);  // has ended already
  CHECK(name(request) == "a");
  index.settle(got.handle, next_version(*got.server).allocated().made());
  CHECK(index.load_of(got.server->status.node_name)->allocated == 1);
  CHECK_FALSE(cache.changed());
  CHECK(name(request) == "");
  cache.store(server_builder{"b"}.made());
  CHECK(name(request) == "b");
  index.discard(got.handle);
  CHECK(try_pick(request) == pick_status::none);
  CHECK(cache.size() == 2);
  cache.store(next_version(*got.server).made());
  CHECK(name(request) == "b");
  index.remove(got.handle);
  CHECK_FALSE(cache.changed());
  CHECK(cache.size() == 1);
  CHECK(try_pick(request) == pick_status::none);
}

TEST_CASE_FIXTURE(fixture, "a slot that was listed before its claim ended is what it is now") {
  auto const request = fleet_request();
  cache.store(server_builder{"a"}.made());
  auto const seen = cache.lookup({"default", "a"});
  REQUIRE(cache.claim(seen.handle));  // before the index took the change
  index.settle(seen.handle, next_version(*seen.server).allocated().made());
  CHECK(cache.changed());
  CHECK(try_pick(request) == pick_status::none);
  CHECK(index.load_of(seen.server->status.node_name)->allocated == 1);
  CHECK(index.load_of(seen.server->status.node_name)->ready == 0);
}

TEST_CASE_FIXTURE(fixture, "a patient request is woken by a free server only") {
  auto const request = fleet_request();
  cache.store(server_builder{"a"}.made());
  CHECK(name(request) == "a");
  index.watch(*request, 1, true);
  index.watch(*request, 2);
  index.watch(*request, 3, true);
  cache.remove(got.handle);
  CHECK(woken() == tokens{2});
  CHECK(woken().empty());
  cache.store(server_builder{"b"}.made());
  CHECK(woken() == tokens{1});
  CHECK(name(request) == "b");
  CHECK(woken().empty());
  index.unwatch(3);
  CHECK(index.statistics().waiting == 0);
}

TEST_CASE_FIXTURE(fixture, "a free server that is deleted before anyone was woken still ends the waiting") {
  auto const request = fleet_request();
  cache.store(server_builder{"a"}.made());
  CHECK(name(request) == "a");
  index.watch(*request, 1);
  cache.put_back(got.handle);
  index.drain();
  cache.erase({"default", "a"});
  CHECK(woken() == tokens{1});
}

TEST_CASE_FIXTURE(fixture, "a request that gave up is not woken") {
  auto const request = fleet_request();
  index.watch(*request, 1);
  index.watch(*request, 2);
  index.unwatch(1);
  index.unwatch(7);
  cache.store(server_builder{"a"}.made());
  CHECK(woken() == tokens{2});
}

TEST_CASE_FIXTURE(fixture, "a request parked on several selectors is woken once") {
  game_server_allocation gsa;
  gsa.meta.namespace_ = "default";
  gsa.spec.selectors.resize(2);
  gsa.spec.selectors[0].labels.match_labels = {{"map", "x"}};
  gsa.spec.selectors[1].labels.match_labels = {{keys::fleet_label, "f"}};
  index.watch(*request_of(gsa), 1);
  cache.store(server_builder{"a"}.label("map", "x").made());
  CHECK(woken() == tokens{1});
  CHECK(woken().empty());
}

TEST_CASE_FIXTURE(fixture, "names that share no prefix, or one too many, keep their order") {
  auto const request = fleet_request("Distributed", {order_kind::newest_first, nullptr, 1, std::nullopt});
  std::vector<std::string> names;
  for (int i = 0; i != 40; ++i) names.push_back("f-a-very-long-name-that-all-of-these-share-" + std::to_string(100 + i));
  for (auto const& each : names) cache.store(server_builder{each}.made());
  CHECK(name(request) == names.front());
  cache.put_back(got.handle);
  for (auto const* odd : {"e", "f", "f-a", "f-z", "g"}) {
    cache.store(server_builder{odd}.made());
    names.emplace_back(odd);
  }
  std::sort(names.begin(), names.end());
  for (auto const& each : names) CHECK(name(request) == each);
}

TEST_CASE("a draw whose claim is lost to an update of annotations keeps its place in the random order") {
  index_options options;
  options.slice = 1;  // changes are left undrained while the picks go on
  ready_cache cache;
  ranked_index index{cache, options};
  seeded_random random{7};
  pick got;
  auto const request = fleet_request("Distributed");
  for (auto const* name : {"a", "b", "c", "d"}) cache.store(server_builder{name}.made());
  while (index.drain()) continue;
  while (index.pick_and_claim(*request, random, got) == pick_status::building) index.build_some();
  cache.put_back(got.handle);
  while (index.drain()) continue;
  for (auto const* name : {"a", "b", "c", "d"}) {
    auto changed = *cache.find({"default", name});
    changed.meta.resource_version = "2";
    changed.meta.annotations.set("note", "changed");
    cache.store(std::make_shared<game_server const>(std::move(changed)));
  }
  std::set<std::string> names;
  for (int i = 0; i < 4; ++i) {
    REQUIRE(index.pick_and_claim(*request, random, got) == pick_status::picked);
    names.insert(got.server->meta.name.str());
  }
  CHECK(names.size() == 4);
  CHECK(index.pick_and_claim(*request, random, got) == pick_status::busy);
}

TEST_CASE_FIXTURE(fixture, "who waits for a required target is woken by the end of its claim, and by nothing else") {
  cache.store(server_builder{"a"}.made());
  cache.store(server_builder{"b"}.made());
  choice_options choice;
  choice.target = target_server{"a", "", true};
  auto const wanted = fleet_request("Packed", choice);
  REQUIRE(name(wanted) == "a");
  auto const held = got.handle;
  REQUIRE(try_pick(wanted) == pick_status::busy);
  index.watch(*wanted, 1);
  CHECK(woken() == tokens{});  // b is free, which does not help
  REQUIRE(name(fleet_request()) == "b");
  cache.put_back(got.handle);
  CHECK(woken() == tokens{});
  cache.put_back(held);
  CHECK(woken() == tokens{1});
  REQUIRE(name(wanted) == "a");
  index.watch(*wanted, 2);
  cache.remove(got.handle);
  CHECK(woken() == tokens{2});
  CHECK(try_pick(wanted) == pick_status::none);
  index.watch(*wanted, 3);
  cache.store(server_builder{"c"}.made());
  CHECK(woken() == tokens{});
  cache.store(server_builder{"a"}.uid("another").made());
  CHECK(woken() == tokens{3});  // it may come to be
  CHECK(index.statistics().waiting == 0);
  index.watch(*wanted, 4);
  CHECK(woken() == tokens{4});  // it is free: worth a try at once
}

TEST_CASE_FIXTURE(fixture, "who stops waiting for a required target is forgotten") {
  cache.store(server_builder{"a"}.made());
  choice_options choice;
  choice.target = target_server{"a", "", true};
  auto const wanted = fleet_request("Packed", choice);
  REQUIRE(name(wanted) == "a");
  index.watch(*wanted, 1);
  index.watch(*wanted, 2);
  index.unwatch(1);
  cache.put_back(got.handle);
  CHECK(woken() == tokens{2});
  CHECK(index.statistics().waiting == 0);
}

TEST_CASE("views over many words count by their words, not only by their servers") {
  index_options options;
  options.max_shape_bytes = 64 * 1024;
  ready_cache cache;
  ranked_index index{cache, options};
  seeded_random random{7};
  pick got;
  for (int i = 0; i < 200; ++i) {
    game_server_allocation gsa;
    gsa.meta.namespace_ = "default";
    auto& clause = gsa.spec.selectors.emplace_back().labels.match_expressions.emplace_back();
    clause = {"map", "In", {}};
    for (int value = 0; value < 100; ++value) clause.values.emplace_back("m" + std::to_string(1000 * i + value));
    auto const request = request_of(std::move(gsa));
    CHECK(index.pick_and_claim(*request, random, got) == pick_status::none);
  }
  CHECK(index.statistics().views <= 20);
}

TEST_CASE("a request whose views do not fit at once is answered all the same") {
  index_options options;
  options.max_views = 2;
  options.slice = 1;
  ready_cache cache;
  ranked_index index{cache, options};
  seeded_random random{7};
  pick got;
  for (auto const* name : {"a", "b", "c", "d"}) cache.store(server_builder{name}.made());
  game_server_allocation gsa;
  gsa.meta.namespace_ = "default";
  for (int i = 1; i <= 8; ++i) {
    gsa.spec.selectors.emplace_back().counters.emplace()["rooms"].min_count = i;
  }
  auto const request = request_of(std::move(gsa));
  auto status = pick_status::building;
  for (int steps = 0; steps < 1000 && status == pick_status::building; ++steps) {
    index.build_some();
    status = index.pick_and_claim(*request, random, got);
  }
  CHECK(status == pick_status::none);
}

TEST_CASE("an index that could never finish is refused") {
  ready_cache cache;
  index_options none;
  none.slice = 0;
  CHECK_THROWS_AS((ranked_index{cache, none}), std::invalid_argument);
}

TEST_CASE_FIXTURE(fixture, "a breakdown looks at a bounded number of selectors and says so when it counts a part") {
  for (int i = 0; i < 17000; ++i) cache.store(server_builder{"s" + std::to_string(i)}.label("own", std::to_string(i)).made());
  while (index.drain()) continue;
  game_server_allocation gsa;
  gsa.meta.namespace_ = "default";
  for (int i = 1; i <= 20; ++i) gsa.spec.selectors.emplace_back().counters.emplace()["rooms"].min_count = i;
  auto const remaining = index.explain(*request_of(std::move(gsa)));
  REQUIRE(remaining.selectors.size() == 16);
  CHECK(remaining.selectors.front().front().name == "namespace default (at least)");
  CHECK(remaining.selectors.front().front().remaining == 16384);
}

TEST_CASE_FIXTURE(fixture, "replicas with a share each take different servers, and then each other's") {
  std::set<std::string> mine;
  choice_options choice;
  choice.prefer = {1, 2};
  for (int i = 0; i != 20; ++i) {
    auto const server = server_builder{"s" + std::to_string(i)}.node("n" + std::to_string(i % 4)).made();
    if (is_in(choice.prefer, *server)) mine.insert(server->meta.name.str());
    cache.store(server);
  }
  REQUIRE(mine.size() > 3);
  REQUIRE(mine.size() < 17);
  auto const request = fleet_request("Packed", choice);
  std::set<std::string> taken;
  for (int i = 0; i != 20; ++i) {
    auto const got_name = name(request);
    CHECK(got.selector == 0);
    CHECK(mine.contains(got_name) == (taken.size() < mine.size()));
    CHECK(taken.insert(got_name).second);
  }
  CHECK(try_pick(request) == pick_status::busy);
}

TEST_CASE_FIXTURE(fixture, "a preferred share is no clause of the breakdown") {
  cache.store(server_builder{"a"}.made());
  choice_options choice;
  choice.prefer = {0, 2};
  CHECK(index.explain(*fleet_request("Packed", choice)) == index.explain(*fleet_request("Packed")));
}
