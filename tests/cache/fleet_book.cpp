// The fleets' book: what its rows say, and what a cursor is told of them.
#include "../support/servers.hpp"

#include <agones_alloc/cache/fleet_book.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

struct book_fixture {
  fleet_book book{[] {
    fleet_book_options options;
    options.remembered_deletions = 4;
    return options;
  }()};
  fleet_book::time_point now{std::chrono::hours{1}};
  fleet_book::wall_time wall{std::chrono::seconds{1'600'000'000}};
  int versions{1};

  void pass(std::chrono::nanoseconds time) {
    now += time;
    wall += time;
  }
  auto publish() -> bool { return book.publish(now, wall); }

  auto put(std::string_view name, game_server_state state, std::string_view fleet = "fleet", std::string_view node = "node-1")
      -> game_server {
    auto server = make_server(name, fleet, state, node);
    server.meta.resource_version = std::to_string(++versions);
    book.store(share(server));
    return server;
  }
  auto row(std::string_view fleet = "fleet", std::string_view cluster = "local") -> fleet_info_ptr {
    auto const page = book.page({}, std::nullopt, 1000, wall);
    for (auto const& one : page.fleets) {
      if (one->name == fleet && one->cluster == cluster) return one;
    }
    return nullptr;
  }
  auto count(game_server_state state, std::string_view fleet = "fleet") -> int { return row(fleet)->recount->in(state); }
  /// Everything that the cursor is told now, as words.
  auto told(fleet_cursor& cursor, fleet_filter const& filter = {}, std::size_t limit = 100) -> std::vector<std::string> {
    std::vector<fleet_event> events;
    while (book.next(cursor, filter, limit, wall, events)) {
    }
    std::vector<std::string> out;
    for (auto const& event : events) {
      static constexpr char const* words[] = {"reset", "item", "synced", "added", "modified", "deleted", "cluster", "left"};
      out.push_back(words[static_cast<int>(event.what)]);
      if (event.fleet) out.back() += " " + event.fleet->name.str();
      if (event.cluster) out.back() += " " + event.cluster->name.str();
    }
    return out;
  }
};

using words = std::vector<std::string>;

auto make_fleet(std::string_view name, std::int32_t replicas, string_map labels = {}) -> fleet_ptr {
  fleet made;
  made.meta.name = name;
  made.meta.namespace_ = "default";
  made.meta.uid = "f-" + std::string{name};
  made.meta.labels = std::move(labels);
  made.replicas = replicas;
  made.status.replicas = replicas;
  return std::make_shared<fleet const>(std::move(made));
}

auto of_cluster(std::string_view cluster, std::string_view name, std::int32_t desired) -> fleet_info {
  fleet_info out;
  out.cluster = cluster;
  out.namespace_ = "default";
  out.name = name;
  out.desired = desired;
  return out;
}

auto cluster(std::string_view name, bool stale = false) -> cluster_info {
  cluster_info out;
  out.name = name;
  out.stale = stale;
  return out;
}

}  // namespace

TEST_CASE_FIXTURE(book_fixture, "a fleet is counted by state and node, and a server that is being deleted apart") {
  put("a", game_server_state::ready);
  put("b", game_server_state::allocated, "fleet", "node-2");
  put("c", game_server_state::scheduled);
  auto going = make_server("d");
  going.meta.deletion_timestamp = timestamp{std::chrono::seconds{5}};
  book.store(share(going));
  auto const found = row();
  REQUIRE(found);
  CHECK(found->recount->total == 3);
  CHECK(found->recount->shutting_down == 1);
  CHECK(found->recount->in(game_server_state::ready) == 1);
  CHECK(found->recount->in(game_server_state::allocated) == 1);
  CHECK(found->recount->in(game_server_state::scheduled) == 1);
  CHECK(found->recount->nodes == std::vector<node_share>{{"node-1", 2, 1, 0}, {"node-2", 1, 0, 1}});
  CHECK_FALSE(found->status);
  CHECK_FALSE(found->desired);
}

TEST_CASE_FIXTURE(book_fixture, "an older value, the same value and news of a deleted server change nothing") {
  auto const first = put("a", game_server_state::ready);
  auto const second = put("a", game_server_state::allocated);
  book.store(share(first));
  book.store(share(second));
  CHECK(count(game_server_state::allocated) == 1);
  put("b", game_server_state::ready);
  book.erase(key("a"), "another-uid");
  CHECK(row()->recount->total == 2);
  book.erase(key("a"), "a-uid");
  CHECK(row()->recount->total == 1);
  auto late = second;
  late.meta.resource_version = "99";
  book.store(share(late));
  CHECK(row()->recount->total == 1);
  late.meta.uid = "a-second";
  book.store(share(late));
  CHECK(row()->recount->total == 2);
}

TEST_CASE_FIXTURE(book_fixture, "a list takes away what it lacks, and only news that is newer than the list brings it back") {
  auto const gone = put("a", game_server_state::ready);
  auto const kept = share(put("b", game_server_state::ready));
  book.replace_all(std::vector<game_server_ptr>{kept}, "10");
  CHECK(row()->recount->total == 1);
  book.store(share(gone));
  CHECK(row()->recount->total == 1);
  auto newer = gone;
  newer.meta.resource_version = "11";
  book.store(share(newer));
  CHECK(row()->recount->total == 2);
}

TEST_CASE_FIXTURE(book_fixture, "counters, lists and players are summed, with what is free on servers that can be used") {
  auto one = make_server("a");
  one.status.counters["rooms"] = {2, 10};
  one.status.lists["names"].capacity = 4;
  one.status.lists["names"].values = std::vector<shared_string>{"x"};
  one.status.players = std::make_shared<player_status const>(player_status{3, 8, {}});
  book.store(share(one));
  auto two = make_server("b", "fleet", game_server_state::allocated);
  two.status.counters["rooms"] = {5, 5};
  book.store(share(two));
  auto three = make_server("c", "fleet", game_server_state::starting);
  three.status.counters["rooms"] = {0, 100};
  book.store(share(three));
  auto const found = row();
  CHECK(found->recount->counters.at("rooms") == capacity_info{5, 5, 7, 115, 8});
  CHECK(found->recount->lists.at("names") == capacity_info{0, 0, 1, 4, 3});
  CHECK(found->recount->players == capacity_info{0, 0, 3, 8, 5});
  one.meta.resource_version = "2";
  one.status.state = game_server_state::allocated;
  one.status.counters["rooms"] = {3, 10};
  book.store(share(one));
  CHECK(row()->recount->counters.at("rooms") == capacity_info{8, 15, 8, 115, 7});
  book.erase(key("a"), {});
  CHECK(row()->recount->counters.at("rooms") == capacity_info{5, 5, 5, 105, 0});
  CHECK(row()->recount->lists.empty());
  CHECK_FALSE(row()->recount->players);
}

TEST_CASE_FIXTURE(book_fixture, "whatever the order of changes, the recount is that of the servers there are") {
  std::map<std::string, game_server> model;
  std::uint64_t seed = 7;
  auto const draw = [&seed](std::uint64_t below) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (seed >> 33) % below;
  };
  for (int step = 0; step != 5000; ++step) {
    auto const name = "s" + std::to_string(draw(40));
    if (draw(6) == 0) {
      book.erase(key(name), {});
      model.erase(name);
      continue;
    }
    auto server = make_server(name, "f" + std::to_string(draw(3)), static_cast<game_server_state>(1 + draw(11)),
                              "n" + std::to_string(draw(4)));
    server.meta.uid = "u" + std::to_string(step);  // of its own: a deleted one does not come back
    server.meta.resource_version = std::to_string(step + 10);
    if (draw(2) == 0) server.status.counters["c"] = {static_cast<std::int64_t>(draw(9)), 5};
    if (draw(2) == 0) server.status.lists["l"] = {static_cast<std::int64_t>(draw(4)), std::vector<shared_string>{"x", "y"}};
    if (draw(2) == 0) server.status.players = std::make_shared<player_status const>(player_status{static_cast<std::int64_t>(draw(9)), 5, {}});
    if (auto const known = model.find(name); known != model.end() && draw(2) == 0) {
      // Nothing but its state is different.
      auto const state = server.status.state;
      auto const version = server.meta.resource_version;
      server = known->second;
      server.status.state = state;
      server.meta.resource_version = version;
    }
    book.store(share(server));
    model[name] = std::move(server);
  }
  for (auto const* fleet : {"f0", "f1", "f2"}) {
    fleet_counts fresh;
    for (auto const& [name, server] : model) {
      fleet_counts::node_place place = nullptr;
      if (server.meta.labels.value_or_empty(keys::fleet_label) == fleet) fresh.add(server, place);
    }
    REQUIRE(row(fleet));
    CHECK(*row(fleet)->recount == fresh.recount());
  }
  CHECK(book.server_count() == model.size());
}

TEST_CASE_FIXTURE(book_fixture, "servers that are stored together count as one after the other, those that come twice too") {
  fleet_book one_by_one;
  std::uint64_t seed = 11;
  auto const draw = [&seed](std::uint64_t below) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (seed >> 33) % below;
  };
  int version = 1000;
  for (auto const size : {1, 15, 16, 17, 100, 333}) {
    std::vector<game_server_ptr> some;
    for (int i = 0; i != size; ++i) {
      // Of 60 names 333 come again and again, and now and then with an old version, on another node or in no fleet.
      auto const fleet = draw(5) == 0 ? std::string{} : "f" + std::to_string(draw(3));
      auto server = make_server("s" + std::to_string(draw(60)), fleet, static_cast<game_server_state>(1 + draw(11)),
                                "n" + std::to_string(draw(4)));
      server.meta.resource_version = std::to_string(++version - static_cast<int>(draw(4)) * 50);
      if (draw(3) == 0) server.status.counters["c"] = {static_cast<std::int64_t>(draw(9)), 5};
      some.push_back(share(std::move(server)));
    }
    book.store(some);
    for (auto const& server : some) one_by_one.store(server);
    auto const expected = one_by_one.page({}, std::nullopt, 10, wall);
    auto const found = book.page({}, std::nullopt, 10, wall);
    REQUIRE(found.fleets.size() == expected.fleets.size());
    for (std::size_t i = 0; i != found.fleets.size(); ++i) {
      CHECK(found.fleets[i]->name == expected.fleets[i]->name);
      CHECK(*found.fleets[i]->recount == *expected.fleets[i]->recount);
    }
    CHECK(book.server_count() == one_by_one.server_count());
  }
}

TEST_CASE_FIXTURE(book_fixture, "one Fleet comes, changes and goes by itself, and leaves the others alone") {
  put("a", game_server_state::ready);
  book.set_fleets(std::vector<fleet_ptr>{make_fleet("other", 1)});
  publish();
  fleet_cursor cursor;
  told(cursor);
  pass(1s);
  book.put_fleet(make_fleet("fleet", 3, {{"tier", "gold"}}));
  book.put_fleet(make_fleet("new", 2));
  publish();
  CHECK(told(cursor) == words{"modified fleet", "added new"});
  CHECK(row()->desired == 3);
  CHECK(row()->recount->total == 1);
  CHECK(row("other")->desired == 1);
  pass(1s);
  book.put_fleet(make_fleet("new", 2));
  CHECK_FALSE(book.has_news());
  book.put_fleet(make_fleet("new", 4));
  book.erase_fleet(key("fleet"));
  book.erase_fleet(key("nosuch"));
  publish();
  CHECK(told(cursor) == words{"modified new", "modified fleet"});
  REQUIRE(row());  // it still has a server
  CHECK_FALSE(row()->desired);
  CHECK(row()->labels.empty());
  pass(1s);
  book.erase_fleet(key("fleet"));  // not a second time
  CHECK_FALSE(book.has_news());
  book.erase_fleet(key("new"));
  publish();
  CHECK(told(cursor) == words{"deleted new"});
  book.erase(key("a"), {});
  CHECK(row() == nullptr);
  book.set_fleets({});
  CHECK(row("other") == nullptr);
}

TEST_CASE_FIXTURE(book_fixture, "the Fleet's own numbers and the recount stand side by side") {
  put("a", game_server_state::allocated);
  auto changed = *make_fleet("fleet", 5, {{"tier", "gold"}});
  changed.status.ready_replicas = 4;
  book.set_fleets(std::vector<fleet_ptr>{std::make_shared<fleet const>(changed), make_fleet("empty", 0)});
  CHECK(row()->desired == 5);
  CHECK(row()->status->ready_replicas == 4);
  CHECK(row()->recount->in(game_server_state::allocated) == 1);
  CHECK(row()->labels.value_or_empty("tier") == "gold");
  REQUIRE(row("empty"));
  book.set_fleets({});
  CHECK(row("empty") == nullptr);
  REQUIRE(row());  // it still has a server
  CHECK_FALSE(row()->desired);
  book.erase(key("a"), {});
  CHECK(row() == nullptr);
}

TEST_CASE_FIXTURE(book_fixture, "a cursor is told the state, then what changes, each fleet at most once") {
  put("a", game_server_state::ready, "one");
  put("b", game_server_state::ready, "two");
  publish();
  fleet_cursor cursor;
  CHECK(told(cursor) == words{"item one", "item two", "synced"});
  CHECK(told(cursor).empty());
  put("a", game_server_state::allocated, "one");
  pass(1s);
  CHECK(publish());
  put("a", game_server_state::ready, "one");
  pass(1s);
  CHECK(publish());
  put("c", game_server_state::ready, "three");
  CHECK(publish());
  book.erase(key("b"), {});
  CHECK(publish());
  CHECK(told(cursor) == words{"modified one", "added three", "deleted two"});
  CHECK(told(cursor).empty());
}

TEST_CASE_FIXTURE(book_fixture, "the first change of a fleet is published at once, the next ones once an interval") {
  put("a", game_server_state::ready);
  CHECK(book.is_urgent());
  CHECK(publish());
  pass(10ms);
  put("a", game_server_state::allocated);
  CHECK_FALSE(publish());
  CHECK(book.next_due() == now + 240ms);
  CHECK_FALSE(book.is_urgent());
  put("a", game_server_state::ready);  // it waits already
  CHECK_FALSE(book.is_urgent());
  pass(240ms);
  CHECK(publish());
  CHECK(book.next_due() == fleet_book::time_point::max());
  CHECK_FALSE(book.has_news());
}

TEST_CASE_FIXTURE(book_fixture, "what changes nothing that is told is not published") {
  auto server = put("a", game_server_state::ready);
  book.set_fleets(std::vector<fleet_ptr>{make_fleet("fleet", 3)});
  publish();
  pass(1s);
  server.meta.resource_version = "77";
  server.meta.annotations.set("k", "v");
  book.store(share(server));
  auto same = *make_fleet("fleet", 3);
  same.meta.resource_version = "500";
  book.set_fleets(std::vector<fleet_ptr>{std::make_shared<fleet const>(same)});
  CHECK_FALSE(book.has_news());
  CHECK_FALSE(publish());
}

TEST_CASE_FIXTURE(book_fixture, "who missed a deletion that is forgotten is told everything anew") {
  put("a", game_server_state::ready, "stays");
  publish();
  fleet_cursor cursor;
  told(cursor);
  auto const resumed = cursor;
  for (int i = 0; i != 6; ++i) {
    auto const name = "x" + std::to_string(i);
    put(name, game_server_state::ready, "f" + std::to_string(i));
    publish();
    book.erase(key(name), {});
    publish();
  }
  CHECK_FALSE(book.remembers(resumed.seen));
  CHECK(told(cursor) == words{"reset", "item stays", "synced"});
}

TEST_CASE_FIXTURE(book_fixture, "a listing in small pieces misses nothing that moves meanwhile") {
  for (int i = 0; i != 10; ++i) put("s" + std::to_string(i), game_server_state::ready, "f" + std::to_string(i));
  publish();
  fleet_cursor cursor;
  std::vector<fleet_event> events;
  CHECK(book.next(cursor, {}, 3, wall, events));
  CHECK(events.size() == 3);
  put("s0", game_server_state::allocated, "f0");  // told already
  put("s9", game_server_state::allocated, "f9");  // not yet
  book.erase(key("s1"), {});
  book.erase(key("s8"), {});
  pass(1s);
  publish();
  std::map<std::string, int> allocated;
  std::vector<std::string> gone;
  do {
    for (auto const& event : events) {
      if (event.what == fleet_event_kind::deleted) {
        gone.push_back(event.fleet->name.str());
        allocated.erase(event.fleet->name.str());
      } else if (event.fleet) {
        allocated[event.fleet->name.str()] = event.fleet->recount->in(game_server_state::allocated);
      }
    }
    events.clear();
  } while (book.next(cursor, {}, 3, wall, events) || !events.empty());
  CHECK(allocated.size() == 8);
  CHECK(allocated["f0"] == 1);
  CHECK(allocated["f9"] == 1);
  CHECK(std::count(gone.begin(), gone.end(), "f1") == 1);
}

TEST_CASE_FIXTURE(book_fixture, "filters by labels tell of a fleet that begins or ceases to match, and of no other") {
  book.set_fleets(std::vector<fleet_ptr>{make_fleet("gold", 1, {{"tier", "gold"}}), make_fleet("plain", 1)});
  publish();
  fleet_filter filter;
  filter.labels = {{"tier", label_operator::in, {"gold"}}};
  fleet_cursor cursor;
  CHECK(told(cursor, filter) == words{"item gold", "synced"});
  pass(1s);
  book.set_fleets(std::vector<fleet_ptr>{make_fleet("gold", 1, {{"tier", "gold"}}), make_fleet("plain", 2)});
  publish();
  CHECK(told(cursor, filter).empty());
  pass(1s);
  book.set_fleets(std::vector<fleet_ptr>{make_fleet("gold", 1), make_fleet("plain", 2, {{"tier", "gold"}})});
  publish();
  CHECK(told(cursor, filter) == words{"deleted gold", "modified plain"});
  filter = {};
  filter.may_see = [](std::string_view ns) { return ns != "default"; };
  cursor = {};
  CHECK(told(cursor, filter) == words{"synced"});
}

TEST_CASE_FIXTURE(book_fixture, "pages go on where the last one ended, and have one digest until something on them changes") {
  for (auto const* name : {"a", "b", "c"}) put(name, game_server_state::ready, name);
  auto const first = book.page({}, std::nullopt, 2, wall);
  CHECK(first.more);
  REQUIRE(first.fleets.size() == 2);
  auto const second = book.page({}, key_of(*first.fleets.back()), 2, wall);
  CHECK_FALSE(second.more);
  REQUIRE(second.fleets.size() == 1);
  CHECK(second.fleets.front()->name == "c");
  put("c", game_server_state::allocated, "c");
  CHECK(book.page({}, std::nullopt, 2, wall).digest == first.digest);
  CHECK(book.page({}, key_of(*first.fleets.back()), 2, wall).digest != second.digest);
}

TEST_CASE_FIXTURE(book_fixture, "other clusters' fleets come and go with their lists, and turn stale with their cluster") {
  put("a", game_server_state::ready, "mine");
  book.set_cluster(cluster("east"));
  book.begin_list("east");
  CHECK(book.put(of_cluster("east", "one", 3)));
  CHECK(book.put(of_cluster("east", "two", 3)));
  book.end_list("east");
  publish();
  fleet_cursor cursor;
  CHECK(told(cursor) == words{"cluster east", "item one", "item two", "item mine", "synced"});
  pass(1s);
  book.set_cluster(cluster("east", true));
  publish();
  CHECK(row("one", "east")->stale);
  CHECK_FALSE(row("mine")->stale);
  auto heard = told(cursor);
  std::sort(heard.begin(), heard.end());
  CHECK(heard == words{"cluster east", "modified one", "modified two"});
  pass(1s);
  book.begin_list("east");
  book.put(of_cluster("east", "two", 3));
  book.put(of_cluster("east", "three", 1));
  book.end_list("east");
  book.set_cluster(cluster("east"));
  publish();
  CHECK_FALSE(row("two", "east")->stale);
  CHECK(row("one", "east") == nullptr);
  told(cursor);
  book.remove_cluster("east");
  publish();
  heard = told(cursor);
  std::sort(heard.begin(), heard.end());
  CHECK(heard == words{"deleted three", "deleted two", "left east"});
  fleet_filter local;
  local.local_only = true;
  CHECK(book.page(local, std::nullopt, 9, wall).fleets.size() == 1);
}

TEST_CASE_FIXTURE(book_fixture, "servers of a fleet are listed by name, page by page") {
  for (auto const* name : {"b", "a", "c"}) put(name, game_server_state::ready);
  put("x", game_server_state::ready, "other");
  bool more = false;
  auto found = book.servers("default", "fleet", "", 2, more);
  CHECK(more);
  REQUIRE(found.size() == 2);
  CHECK(found[0]->meta.name == "a");
  found = book.servers("default", "fleet", "b", 2, more);
  CHECK_FALSE(more);
  CHECK(found.size() == 1);
  CHECK(book.servers("default", "", "", 9, more).size() == 4);
  CHECK(book.servers("default", "nosuch", "", 9, more).empty());
  CHECK(book.servers("elsewhere", "", "", 9, more).empty());
}

TEST_CASE("options of the book that are out of range are refused") {
  fleet_book_options options;
  options.cluster.clear();
  CHECK_THROWS_AS(fleet_book{options}, std::invalid_argument);
  options = {};
  options.interval = -1s;
  CHECK_THROWS_AS(fleet_book{options}, std::invalid_argument);
}
