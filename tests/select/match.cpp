#include "make.hpp"

#include <agones_alloc/select/match.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <string>

using namespace agones_alloc;

namespace {

constexpr auto int64_max = std::numeric_limits<std::int64_t>::max();
constexpr auto int64_min = std::numeric_limits<std::int64_t>::min();
constexpr feature_gates players_gate{true, true};

auto hits(game_server_selector const& selector, game_server const& server, feature_gates gates = {}) -> bool {
  return matches(compile(selector, gates).value(), server);
}

auto expression(std::string_view key, std::string_view op, std::vector<shared_string> values = {})
    -> game_server_selector {
  game_server_selector out;
  out.labels.match_expressions.push_back({key, op, std::move(values)});
  return out;
}

auto counter(counter_selector wanted) -> game_server_selector {
  game_server_selector out;
  out.counters.emplace().emplace("rooms", wanted);
  return out;
}

auto list(list_selector wanted) -> game_server_selector {
  game_server_selector out;
  out.lists.emplace().emplace("players", std::move(wanted));
  return out;
}

auto players(std::int64_t least, std::int64_t most) -> game_server_selector {
  game_server_selector out;
  out.players = player_selector{least, most};
  return out;
}

}  // namespace

TEST_CASE("an empty label selector matches everything, also a server without labels") {
  CHECK(hits({}, make::server("a")));
  CHECK(hits({}, make::labelled(make::server("a"), {{"x", "y"}})));
}

TEST_CASE("all matchLabels must be equal") {
  auto const server = make::labelled(make::server("a"), {{"fleet", "red"}, {"mode", ""}});
  CHECK(hits(make::selector({{"fleet", "red"}}), server));
  CHECK(hits(make::selector({{"fleet", "red"}, {"mode", ""}}), server));
  CHECK_FALSE(hits(make::selector({{"fleet", "blue"}}), server));
  CHECK_FALSE(hits(make::selector({{"fleet", "red"}, {"region", ""}}), server));
}

TEST_CASE("In needs the key with one of the values") {
  auto const server = make::labelled(make::server("a"), {{"tier", "2"}});
  CHECK(hits(expression("tier", "In", {"3", "2", "1"}), server));
  CHECK_FALSE(hits(expression("tier", "In", {"3", "1"}), server));
  CHECK_FALSE(hits(expression("mode", "In", {"2"}), server));
}

TEST_CASE("NotIn also holds where the key is absent") {
  auto const server = make::labelled(make::server("a"), {{"tier", "2"}});
  CHECK_FALSE(hits(expression("tier", "NotIn", {"2", "3"}), server));
  CHECK(hits(expression("tier", "NotIn", {"1"}), server));
  CHECK(hits(expression("mode", "NotIn", {"1"}), server));
}

TEST_CASE("Exists and DoesNotExist look at the key only") {
  auto const server = make::labelled(make::server("a"), {{"tier", ""}});
  CHECK(hits(expression("tier", "Exists"), server));
  CHECK_FALSE(hits(expression("mode", "Exists"), server));
  CHECK_FALSE(hits(expression("tier", "DoesNotExist"), server));
  CHECK(hits(expression("mode", "DoesNotExist"), server));
}

TEST_CASE("a state that is set must be the server's") {
  game_server_selector ready;
  ready.game_server_state = "Ready";
  CHECK(hits(ready, make::server("a")));
  CHECK_FALSE(hits(ready, make::server("a", "n", game_server_state::allocated)));
  CHECK(hits({}, make::server("a", "n", game_server_state::shutdown)));
}

TEST_CASE("an unknown state matches nothing, not even a server in an unknown state") {
  game_server_selector odd;
  odd.game_server_state = "Sleeping";
  CHECK_FALSE(hits(odd, make::server("a", "n", game_server_state::other)));
  CHECK_FALSE(hits(odd, make::server("a")));
}

TEST_CASE("players are compared only with the gate, with data and with a maximum") {
  auto const server = make::with_players(make::server("a"), 6, 10);
  CHECK(hits(players(4, 4), server, players_gate));
  CHECK(hits(players(0, 5), server, players_gate));
  CHECK_FALSE(hits(players(5, 9), server, players_gate));
  CHECK_FALSE(hits(players(0, 3), server, players_gate));
  CHECK(hits(players(5, 0), server, players_gate));
  CHECK(hits(players(5, 9), make::server("b"), players_gate));
  CHECK(hits(players(5, 9), server));
}

TEST_CASE("a counter must be there, whatever the limits") {
  CHECK_FALSE(hits(counter({}), make::server("a")));
  CHECK_FALSE(hits(counter({}), make::with_counter(make::server("a"), "other", 0, 5)));
  CHECK(hits(counter({}), make::with_counter(make::server("a"), "rooms", 5, 5)));
  // Overfull is less than the minimum of 0.
  CHECK_FALSE(hits(counter({}), make::with_counter(make::server("a"), "rooms", 9, 5)));
}

TEST_CASE("counter limits are inclusive and a maximum of 0 is none") {
  auto const server = make::with_counter(make::server("a"), "rooms", 3, 10);
  CHECK(hits(counter({.min_count = 3}), server));
  CHECK_FALSE(hits(counter({.min_count = 4}), server));
  CHECK(hits(counter({.max_count = 3}), server));
  CHECK_FALSE(hits(counter({.max_count = 2}), server));
  CHECK(hits(counter({.min_available = 7}), server));
  CHECK_FALSE(hits(counter({.min_available = 8}), server));
  CHECK(hits(counter({.max_available = 7}), server));
  CHECK_FALSE(hits(counter({.max_available = 6}), server));
}

TEST_CASE("every named counter must match") {
  auto wanted = counter({.min_available = 1});
  wanted.counters->emplace("seats", counter_selector{.min_available = 2});
  auto server = make::with_counter(make::server("a"), "rooms", 0, 1);
  CHECK_FALSE(hits(wanted, server));
  CHECK_FALSE(hits(wanted, make::with_counter(server, "seats", 0, 1)));
  CHECK(hits(wanted, make::with_counter(server, "seats", 0, 2)));
}

TEST_CASE("a list must be there and its limits count values") {
  CHECK_FALSE(hits(list({}), make::server("a")));
  auto const server = make::with_list(make::server("a"), "players", 5, {"x", "y"});
  CHECK(hits(list({}), server));
  CHECK(hits(list({.contains_value = {}, .min_available = 3, .max_available = 3}), server));
  CHECK_FALSE(hits(list({.contains_value = {}, .min_available = 4}), server));
  CHECK_FALSE(hits(list({.contains_value = {}, .max_available = 2}), server));
}

TEST_CASE("containsValue is found exactly or not at all") {
  auto const server = make::with_list(make::server("a"), "players", 5, {"x", "yy"});
  CHECK(hits(list({.contains_value = "yy"}), server));
  CHECK_FALSE(hits(list({.contains_value = "y"}), server));
  auto absent = server;
  absent.status.lists["players"].values.reset();
  CHECK_FALSE(hits(list({.contains_value = "x"}), absent));
}

TEST_CASE("counters and lists do not filter while their gate is off, and empty ones never do") {
  feature_gates const off{.counts_and_lists = false};
  CHECK(hits(counter({.min_count = 4}), make::server("a"), off));
  CHECK(hits(list({.contains_value = "x"}), make::server("a"), off));
  game_server_selector empty;
  empty.counters.emplace();
  empty.lists.emplace();
  CHECK(hits(empty, make::server("a")));
}

TEST_CASE("availability saturates instead of overflowing") {
  auto const huge = make::with_counter(make::server("a"), "rooms", int64_min, int64_max);
  CHECK(hits(counter({.min_count = int64_min, .min_available = int64_max}), huge));
  auto const negative = make::with_counter(make::server("a"), "rooms", int64_max, int64_min);
  CHECK_FALSE(hits(counter({.min_available = 0}), negative));
}

TEST_CASE("a gate off and a maximum of 0 leave no players clause behind") {
  CHECK_FALSE(compile(players(1, 5), {}).value().players.has_value());
  CHECK_FALSE(compile(players(1, 0), players_gate).value().players.has_value());
  CHECK(compile(players(1, 5), players_gate).value().players.has_value());
}

TEST_CASE("equal selectors have equal hashes and each clause changes the hash") {
  std::vector<game_server_selector> all{{},
                                        make::selector({{"a", "b"}}),
                                        make::selector({{"ab", ""}}),
                                        expression("a", "Exists"),
                                        expression("a", "In", {"b", "c"}),
                                        expression("a", "NotIn", {"b", "c"}),
                                        counter({}),
                                        counter({.min_count = 1}),
                                        counter({.max_count = 1}),
                                        counter({.min_available = 1}),
                                        counter({.max_available = 1}),
                                        list({}),
                                        list({.contains_value = "x"}),
                                        list({.contains_value = {}, .min_available = 1}),
                                        players(1, 5),
                                        players(5, 5)};
  game_server_selector state;
  state.game_server_state = "Ready";
  all.push_back(state);
  for (std::size_t i = 0; i != all.size(); ++i) {
    for (std::size_t k = 0; k != all.size(); ++k) {
      auto const a = compile(all[i], players_gate).value();
      auto const b = compile(all[k], players_gate).value();
      CAPTURE(i);
      CAPTURE(k);
      CHECK((hash_value(a) == hash_value(b)) == (i == k));
      CHECK((a == b) == (i == k));
    }
  }
}

TEST_CASE("every server is in one share, and shares are of about one size") {
  std::map<std::uint32_t, int> sizes;
  for (int i = 0; i != 3000; ++i) {
    auto const server = make::server("simple-x7x2k-" + std::to_string(i));
    CHECK(is_in({0, 1}, server));
    int shares = 0;
    for (std::uint32_t share = 0; share != 3; ++share) {
      if (!is_in({share, 3}, server)) continue;
      ++shares;
      ++sizes[share];
      compiled_selector wanted;
      wanted.share = {share, 3};
      CHECK(matches(wanted, server));
      wanted.share.index = (share + 1) % 3;
      CHECK_FALSE(matches(wanted, server));
    }
    REQUIRE(shares == 1);
  }
  for (auto const& [share, size] : sizes) CHECK((size > 900 && size < 1100));
}
