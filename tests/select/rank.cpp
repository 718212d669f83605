// Spec 5.1 to 5.4.
#include "make.hpp"

#include <agones_alloc/select/rank.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>

using namespace agones_alloc;

namespace {

constexpr auto allocated = game_server_state::allocated;
constexpr auto ready = game_server_state::ready;

using loads = std::map<std::string, node_load>;

auto sorted_names(std::vector<game_server> servers, loads const& nodes, ranking const& order) -> std::string {
  auto const load_of = [&nodes](game_server const& server) {
    auto const at = nodes.find(server.status.node_name.str());
    return at == nodes.end() ? nullptr : &at->second;
  };
  std::sort(servers.begin(), servers.end(), [&](game_server const& a, game_server const& b) {
    return compare(a, load_of(a), b, load_of(b), order) < 0;
  });
  std::string out;
  for (auto const& server : servers) out += (out.empty() ? "" : " ") + server.meta.name.str();
  return out;
}

auto rooms(bool descending) -> ranking {
  ranking out;
  out.priorities.push_back({false, descending, "rooms"});
  return out;
}

/// The example of spec 5.2.
auto example() -> std::vector<game_server> {
  return {make::server("z", "n9", allocated),
          make::server("e", "n2", allocated),
          make::server("d", "n2", ready),
          make::with_counter(make::server("a", "n1"), "rooms", 1, 10),
          make::with_counter(make::server("b", "n1"), "rooms", 5, 10),
          make::server("c", "n1"),
          make::server("f", "n3")};
}
loads const example_loads{{"n9", {1, 0}}, {"n2", {1, 1}}, {"n1", {0, 3}}, {"n3", {0, 1}}};

auto before(game_server const& a, game_server const& b, ranking const& order) -> bool {
  auto const forth = compare_static(a, b, order);
  auto const back = compare_static(b, a, order);
  CHECK((forth < 0) == (back > 0));
  return forth < 0;
}

auto spec(std::string_view scheduling, std::optional<std::vector<priority>> priorities = {}) -> allocation_spec {
  allocation_spec out;
  out.scheduling = scheduling;
  out.priorities = std::move(priorities);
  return out;
}

std::vector<priority> const one_priority{{"List", "players", "Descending"}};

}  // namespace

TEST_CASE("the specification's example sorts as it says, without and with priorities") {
  CHECK(sorted_names(example(), example_loads, {}) == "e z d a b c f");
  CHECK(sorted_names(example(), example_loads, rooms(false)) == "e z d b a c f");
  CHECK(sorted_names(example(), example_loads, rooms(true)) == "e z d a b c f");
}

TEST_CASE("packed: a node that is closing goes after every other, whatever its load") {
  loads const nodes{{"full", {9, 9, true}}, {"idle", {0, 1}}, {"few", {1, 1, true}}};
  CHECK(sorted_names({make::server("a", "full"), make::server("b", "few"), make::server("c", "idle"),
                      make::server("d", "unheard-of")},
                     nodes, {}) == "c a b d");
}

TEST_CASE("packed: an Allocated server goes first, then the node with more allocated, then with more ready") {
  loads const nodes{{"busy", {5, 0}}, {"full", {2, 9}}, {"few", {2, 1}}, {"idle", {0, 3}}};
  CHECK(sorted_names({make::server("a", "idle"), make::server("b", "few"), make::server("c", "full"),
                      make::server("d", "busy"), make::server("e", "idle", allocated)},
                     nodes, {}) == "e d c b a");
}

TEST_CASE("packed: nodes of equal load interleave by server name") {
  loads const nodes{{"n1", {1, 2}}, {"n2", {1, 2}}};
  CHECK(
      sorted_names({make::server("d", "n1"), make::server("c", "n2"), make::server("b", "n1"), make::server("a", "n2")},
                   nodes, {}) == "a b c d");
}

TEST_CASE("packed: servers of unknown nodes go last and are still ordered (Q26)") {
  loads const nodes{{"n1", {0, 0}}};
  CHECK(sorted_names({make::server("d", "n1"), make::with_counter(make::server("a", "x"), "rooms", 1, 2),
                      make::with_counter(make::server("b", "y"), "rooms", 2, 2), make::server("c", "z")},
                     nodes, rooms(false)) == "d b a c");
}

TEST_CASE("packed with the players gate: the fullest goes first, one without player data last") {
  ranking with_players;
  with_players.players = true;
  std::vector<game_server> const servers{make::server("a"), make::with_players(make::server("b"), 0, 8),
                                         make::with_players(make::server("c"), 7, 8),
                                         make::with_players(make::server("d"), 9, 8)};
  CHECK(sorted_names(servers, {}, with_players) == "d c b a");
  CHECK(sorted_names(servers, {}, {}) == "a b c d");
}

TEST_CASE("priorities: Ascending prefers the fullest, Descending the emptiest") {
  auto const full = make::with_counter(make::server("z"), "rooms", 9, 10);
  auto const empty = make::with_counter(make::server("a"), "rooms", 0, 10);
  CHECK(before(full, empty, rooms(false)));
  CHECK(before(empty, full, rooms(true)));
}

TEST_CASE("priorities: who has the counter goes first for both orders") {
  auto const has = make::with_counter(make::server("z"), "rooms", 9, 10);
  CHECK(before(has, make::server("a"), rooms(false)));
  CHECK(before(has, make::server("a"), rooms(true)));
}

TEST_CASE("priorities: equal or missing on both sides go to the next, then to the name") {
  auto order = rooms(false);
  order.priorities.push_back({true, true, "players"});
  auto const a = make::with_list(make::with_counter(make::server("a"), "rooms", 1, 2), "players", 2, {"x"});
  auto const b = make::with_list(make::with_counter(make::server("b"), "rooms", 4, 5), "players", 3, {"x"});
  CHECK(before(b, a, order));
  CHECK(before(make::with_list(make::server("b"), "players", 3, {}),
               make::with_list(make::server("a"), "players", 2, {}), order));
  CHECK(before(make::server("a"), make::server("b"), order));
}

TEST_CASE("priorities: availability is capacity minus the number of values, saturating for counters") {
  compiled_priority const players{true, false, "players"};
  CHECK(available(make::with_list(make::server("a"), "players", 2, {"x", "y", "z"}), players) == -1);
  CHECK_FALSE(available(make::server("a"), players).has_value());
  auto const most = std::numeric_limits<std::int64_t>::max();
  auto const least = std::numeric_limits<std::int64_t>::min();
  compiled_priority const by_rooms{false, false, "rooms"};
  CHECK(available(make::with_counter(make::server("a"), "rooms", least, most), by_rooms) == most);
  CHECK(available(make::with_counter(make::server("a"), "rooms", most, least), by_rooms) == least);
}

TEST_CASE("by priorities: state and node do not matter, ties fall to the name") {
  auto order = rooms(false);
  order.kind = order_kind::by_priorities;
  CHECK(sorted_names(example(), example_loads, order) == "b a c d e f z");
}

TEST_CASE("random is kept in name order") {
  ranking order;
  order.kind = order_kind::random;
  CHECK(sorted_names(example(), example_loads, order) == "a b c d e f z");
}

TEST_CASE("newest first: by date, then priorities, then name") {
  auto const made_at = [](game_server server, int second) {
    server.meta.creation_timestamp = timestamp{std::chrono::seconds{second}};
    return server;
  };
  auto order = rooms(false);
  order.kind = order_kind::newest_first;
  CHECK(sorted_names({made_at(make::server("a"), 1), made_at(make::server("b"), 3), made_at(make::server("c"), 2),
                      made_at(make::with_counter(make::server("d"), "rooms", 1, 2), 2), make::server("e")},
                     {}, order) == "b d c a e");
}

TEST_CASE("custom: the user's ranker decides, its ties fall to the name") {
  ranking order;
  order.kind = order_kind::custom;
  order.custom = make_ranker([](game_server const& a, game_server const& b) {
    return a.meta.labels.value_or_empty("weight") > b.meta.labels.value_or_empty("weight");
  });
  CHECK(sorted_names(
            {make::labelled(make::server("a"), {{"weight", "1"}}), make::labelled(make::server("c"), {{"weight", "2"}}),
             make::labelled(make::server("b"), {{"weight", "2"}})},
            {}, order) == "b c a");
}

TEST_CASE("one name in two namespaces is ordered by namespace") {
  auto a = make::server("same");
  auto b = a;
  a.meta.namespace_ = "a";
  b.meta.namespace_ = "b";
  CHECK(before(a, b, {}));
  CHECK(compare_static(a, a, {}) == 0);
}

TEST_CASE("the ranking of a request follows scheduling, priorities and gates") {
  feature_gates const off{.counts_and_lists = false};
  CHECK(ranking_of(spec("Packed"), {}).kind == order_kind::packed);
  CHECK(ranking_of(spec("Distributed"), {}).kind == order_kind::random);
  CHECK(ranking_of(spec("Distributed", std::vector<priority>{}), {}).kind == order_kind::random);
  CHECK(ranking_of(spec("Distributed", one_priority), {}).kind == order_kind::by_priorities);
  CHECK(ranking_of(spec("Distributed", one_priority), off).kind == order_kind::random);
  CHECK(ranking_of(spec("Packed", one_priority), off).priorities.empty());
  auto const packed = ranking_of(spec("Packed", one_priority), {});
  REQUIRE(packed.priorities.size() == 1);
  CHECK(packed.priorities[0] == compiled_priority{true, true, "players"});
  CHECK_FALSE(packed.players);
  CHECK(ranking_of(spec("Packed"), {true, true}).players);
  CHECK_FALSE(ranking_of(spec("Distributed"), {true, true}).players);
}

TEST_CASE("a priority of an unknown type has no effect") {
  CHECK(ranking_of(spec("Packed", std::vector<priority>{{"Nothing", "x", "Ascending"}}), {}).priorities.empty());
}

TEST_CASE("each part of a ranking changes its hash") {
  std::vector<ranking> all{{}, rooms(false), rooms(true)};
  all.emplace_back().players = true;
  all.emplace_back().kind = order_kind::random;
  all.emplace_back().priorities.push_back({true, false, "rooms"});
  for (std::size_t i = 0; i != all.size(); ++i) {
    for (std::size_t k = 0; k != all.size(); ++k) CHECK((hash_value(all[i]) == hash_value(all[k])) == (i == k));
  }
}
