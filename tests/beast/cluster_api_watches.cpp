// The API of embedded fleets: watches, from the first event to every kind of end.
#include "small_cluster.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

using namespace agones_alloc;
using namespace beast_test;
using namespace std::chrono_literals;

namespace {

/// `ADDED name`, ...
auto told(std::vector<boost::json::value> const& events) -> std::vector<std::string> {
  std::vector<std::string> out;
  for (auto const& one : events) out.push_back(text_at(one, "/type") + " " + text_at(one, "/object/metadata/name"));
  return out;
}

auto from(small_cluster& c, std::string const& more = {}) -> std::string {
  return "?watch=true&resourceVersion=" + c.store.list().resource_version + more;
}

using list = std::vector<std::string>;

}  // namespace

TEST_CASE("a watch from a list's version tells what happens after it, in order, with versions to go on from") {
  small_cluster c;
  auto const name = c.server_names()[0];
  auto watch = c.watch(servers_path + from(c));
  CHECK(watch.events().empty());
  c.allocate(name);
  auto const first = c.hear(watch, 1);
  CHECK(told(first) == list{"MODIFIED " + name.str()});
  CHECK(text_at(first[0], "/object/status/state") == "Allocated");
  auto const version = text_at(first[0], "/object/metadata/resourceVersion");
  CHECK(c.store.remove({"default", name}).has_value());
  auto const rest = c.hear(watch, 2);
  CHECK(told(rest)[0] == "DELETED " + name.str());
  CHECK(text_at(rest[1], "/type") == "ADDED");  // the fleet's replacement
  auto again = c.watch(servers_path + ("?watch=1&resourceVersion=" + version));
  CHECK(told(c.hear(again, rest.size())) == told(rest));
  CHECK_FALSE(watch.ended());
}

TEST_CASE("a watch without a version, or from 0, begins with what there is") {
  small_cluster c;
  for (auto const* query : {"?watch=true", "?watch=true&resourceVersion=0"}) {
    auto watch = c.watch(servers_path + std::string{query});
    auto const events = watch.events();
    CHECK(events.size() == 3);
    for (auto const& one : events) CHECK(text_at(one, "/type") == "ADDED");
    c.allocate(c.server_names()[1]);
    CHECK(c.hear(watch, 1).size() == 1);
  }
}

TEST_CASE("a watch of one namespace or one name hears nothing of others") {
  small_cluster c;
  auto const names = c.server_names();
  auto one = c.watch(servers_path + from(c, "&fieldSelector=metadata.name%3D" + names[0].str()));
  auto games = c.watch("/apis/agones.dev/v1/namespaces/games/gameservers" + from(c));
  auto all = c.watch(all_servers + from(c));
  CHECK(one.events().empty());
  CHECK(games.events().empty());
  CHECK(all.events().empty());
  c.allocate(names[1]);
  c.allocate(names[0]);
  CHECK(told(c.hear(one, 1)) == list{"MODIFIED " + names[0].str()});
  CHECK(c.hear(all, 2).size() == 2);
  CHECK(games.events().empty());
}

TEST_CASE("what enters a selection is added, what leaves it is deleted") {
  small_cluster c;
  auto const name = c.server_names()[0];
  auto watch = c.watch(servers_path + from(c, "&labelSelector=map%3Darena"));
  CHECK(watch.events().empty());
  auto const next = [&](std::function<void(game_server&)> const& how) {
    c.change(name, how);
    c.time.advance(50ms);
    return told(watch.events());
  };
  CHECK(next([](game_server& one) { one.meta.annotations = {{"a", "b"}}; }).empty());
  CHECK(next([](game_server& one) { one.meta.labels.merge({{"map", "arena"}}); }) == list{"ADDED " + name.str()});
  CHECK(next([](game_server& one) { one.status.state = game_server_state::allocated; }) == list{"MODIFIED " + name.str()});
  CHECK(next([](game_server& one) { one.meta.labels.merge({{"map", "forest"}}); }) == list{"DELETED " + name.str()});
  CHECK(next([](game_server& one) { one.meta.labels.merge({{"map", "sea"}}); }).empty());
}

TEST_CASE("a watch as a Table tells its columns once") {
  small_cluster c;
  auto const name = c.server_names()[0];
  auto watch = c.watch(servers_path + from(c), as_table);
  c.allocate(name);
  auto const first = watch.events();
  REQUIRE(first.size() == 1);
  CHECK(text_at(first[0], "/object/kind") == "Table");
  CHECK(text_at(first[0], "/object/columnDefinitions/0/name") == "Name");
  CHECK(text_at(first[0], "/object/rows/0/cells/0") == name.str());
  CHECK(text_at(first[0], "/object/rows/0/cells/1") == "Allocated");
  c.change(name, [](game_server& one) { one.meta.annotations = {{"a", "b"}}; });
  c.time.advance(50ms);
  auto const second = watch.events();
  REQUIRE(second.size() == 1);
  CHECK(second[0].at("object").at("columnDefinitions").is_null());
}

TEST_CASE("fleets can be watched: their numbers move with their servers, and with their size") {
  small_cluster c;
  auto const start = text_at(c.list(fleets_path), "/metadata/resourceVersion");
  auto watch = c.watch(fleets_path + ("?watch=true&resourceVersion=" + start));
  CHECK(watch.events().empty());
  c.allocate(c.server_names()[0]);
  auto events = c.hear(watch, 1);
  CHECK(told(events) == list{"MODIFIED simple"});
  CHECK(text_at(events[0], "/object/status/allocatedReplicas") == "1");
  c.time.advance(1s);
  CHECK(watch.events().empty());
  CHECK(c.cluster.scale({"default", "simple"}, 5).empty());
  c.until([&] { return c.server_names().size() == 5; });
  for (int i = 0; i != 10; ++i) {
    c.time.advance(150ms);
    for (auto& one : watch.events()) events.push_back(std::move(one));
  }
  CHECK(text_at(events.back(), "/object/spec/replicas") == "5");
  CHECK(text_at(events.back(), "/object/status/readyReplicas") == "4");
  auto again = c.watch(fleets_path + ("?watch=true&resourceVersion=" + start));
  CHECK_FALSE(again.events().empty());
  CHECK(text_at(c.watch(fleets_path + std::string{"?watch=true&resourceVersion=999999"}).events().at(0), "/object/code") == "410");
}

TEST_CASE("who is so slow that the history has gone on is told 410, and that is the end") {
  memory_store_options short_memory;
  short_memory.history = 8;
  small_cluster c{{}, short_memory};
  auto const name = c.server_names()[0];
  auto slow = c.watch(servers_path + from(c));
  for (int i = 0; i != 20; ++i) {  // nobody reads meanwhile
    c.change(name, [i](game_server& one) { one.meta.annotations = {{"turn", std::to_string(i)}}; });
  }
  auto const events = slow.events();
  REQUIRE(events.size() == 1);
  CHECK(text_at(events[0], "/type") == "ERROR");
  CHECK(text_at(events[0], "/object/code") == "410");
  CHECK(text_at(events[0], "/object/reason") == "Expired");
  CHECK(slow.ended());
  CHECK(c.api.watches() == 0);
}

TEST_CASE("bookmarks tell the version now and then, to those who want them") {
  small_cluster c;
  auto with = c.watch(servers_path + from(c, "&allowWatchBookmarks=true"));
  auto without = c.watch(servers_path + from(c));
  CHECK(with.events().empty());
  CHECK(without.events().empty());
  CHECK(c.store.modify({"games", c.server_names("games")[0]}, [](game_server& one) { one.meta.annotations = {{"a", "b"}}; }).has_value());
  settle(c.io);
  c.time.advance(61s);
  auto const events = with.events();
  REQUIRE(events.size() == 1);
  CHECK(text_at(events[0], "/type") == "BOOKMARK");
  CHECK(text_at(events[0], "/object/kind") == "GameServer");
  CHECK(text_at(events[0], "/object/metadata/resourceVersion") == c.store.list().resource_version);
  CHECK(without.events().empty());
}

TEST_CASE("a streamed list says when the initial events are over") {
  small_cluster c;
  auto watch = c.watch(servers_path + std::string{"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"});
  auto const events = watch.events();
  REQUIRE(events.size() == 4);
  CHECK(text_at(events[2], "/type") == "ADDED");
  CHECK(text_at(events[3], "/type") == "BOOKMARK");
  CHECK(text_at(events[3], "/object/metadata/annotations/k8s.io~1initial-events-end") == "true");
  CHECK(c.get(servers_path + std::string{"?watch=true&sendInitialEvents=true"}).status == 400);
  CHECK(c.get(servers_path + std::string{"?sendInitialEvents=true"}).status == 400);
}

TEST_CASE("a watch ends when its time is up, and lets go of its place") {
  small_cluster c;
  auto watch = c.watch(servers_path + from(c, "&timeoutSeconds=10"));
  CHECK(watch.events().empty());
  CHECK(c.api.watches() == 1);
  c.time.advance(9s);
  CHECK(watch.events().empty());
  CHECK_FALSE(watch.ended());
  c.time.advance(2s);
  CHECK(watch.events().empty());
  CHECK(watch.ended());
  CHECK(c.api.watches() == 0);
  auto long_one = c.watch(servers_path + from(c, "&timeoutSeconds=100000"));
  CHECK(long_one.events().empty());
  c.time.advance(31min);
  CHECK(long_one.events().empty());
  CHECK(long_one.ended());
}

TEST_CASE("the server's end ends a watch at once, whether it waits or not") {
  small_cluster c;
  auto waiting = c.watch(servers_path + from(c));
  auto between = c.watch(servers_path + from(c));
  CHECK(waiting.events().empty());
  CHECK(c.api.watches() == 2);
  waiting.stop();
  between.stop();
  CHECK(c.api.watches() == 0);
  CHECK(between.events().empty());
  CHECK(between.ended());
  settle(c.io);
  CHECK(waiting.events().empty());
}

TEST_CASE("watches are counted, and one too many is told to come back") {
  cluster_api_options two;
  two.watches = 2;
  small_cluster c{two};
  auto const target = servers_path + from(c);
  {
    auto first = c.watch(target);
    auto second = c.watch(target);
    auto const third = c.get(target);
    CHECK(third.status == 429);
    CHECK(text_at(c.json(third), "/details/retryAfterSeconds") == "1");
  }
  CHECK(c.watch(target).events().empty());
}

TEST_CASE("a busy cluster is told in pieces with a pause between them, and nothing is left out") {
  small_cluster c;
  auto const name = c.server_names()[0];
  auto watch = c.watch(servers_path + from(c));
  CHECK(watch.events().empty());
  std::size_t heard = 0;
  for (int i = 0; i != 100; ++i) {
    c.change(name, [i](game_server& one) { one.meta.annotations = {{"turn", std::to_string(i)}}; });
    heard += watch.events().size();
  }
  CHECK(heard <= 2);  // the clock stood still
  c.time.advance(20ms);
  heard += watch.events().size();
  CHECK(heard == 100);
}
