#include "make.hpp"

#include <agones_alloc/select/defaults.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;

TEST_CASE("scheduling defaults to Packed and an order to Ascending") {
  auto gsa = make::allocation("");
  gsa.spec.priorities.emplace({priority{"Counter", "rooms", ""}, priority{"", "", "Descending"}});
  apply_defaults(gsa, {});
  CHECK(gsa.spec.scheduling == "Packed");
  CHECK(gsa.spec.priorities->at(0).order == "Ascending");
  CHECK(gsa.spec.priorities->at(1) == priority{"", "", "Descending"});
  gsa.spec.scheduling = "Distributed";
  apply_defaults(gsa, {});
  CHECK(gsa.spec.scheduling == "Distributed");
}

TEST_CASE("without selectors required and preferred get defaults") {
  auto gsa = make::allocation();
  gsa.spec.preferred.resize(2);
  gsa.spec.preferred[1].game_server_state = "Allocated";
  apply_defaults(gsa, {});
  CHECK(gsa.spec.required.game_server_state == "Ready");
  CHECK(gsa.spec.preferred[0].game_server_state == "Ready");
  CHECK(gsa.spec.preferred[1].game_server_state == "Allocated");
  CHECK(gsa.spec.selectors.empty());
}

TEST_CASE("with selectors required and preferred are left untouched") {
  auto gsa = make::allocation();
  gsa.spec.preferred.resize(1);
  gsa.spec.selectors.resize(1);
  apply_defaults(gsa, {});
  CHECK(gsa.spec.selectors[0].game_server_state == "Ready");
  CHECK(gsa.spec.required == game_server_selector{});
  CHECK(gsa.spec.preferred[0] == game_server_selector{});
}

TEST_CASE("an empty state is a state and keeps standing") {
  game_server_selector selector;
  selector.game_server_state = "";
  apply_defaults(selector, {});
  CHECK(selector.game_server_state == "");
}

TEST_CASE("gates decide which parts of a selector are filled in") {
  game_server_selector both;
  apply_defaults(both, {.counts_and_lists = true, .player_allocation_filter = true});
  CHECK(both.players == player_selector{});
  CHECK(both.counters.has_value());
  CHECK(both.lists.has_value());
  game_server_selector neither;
  apply_defaults(neither, {.counts_and_lists = false, .player_allocation_filter = false});
  CHECK_FALSE(neither.players.has_value());
  CHECK_FALSE(neither.counters.has_value());
  CHECK_FALSE(neither.lists.has_value());
}

TEST_CASE("defaults applied twice are defaults applied once") {
  auto once = make::allocation("");
  once.spec.preferred.resize(1);
  apply_defaults(once, {});
  auto twice = once;
  apply_defaults(twice, {});
  CHECK(once == twice);
}

TEST_CASE("conversion puts preferred before required and keeps both") {
  auto gsa = make::allocation();
  gsa.spec.preferred = {make::selector({{"p", "1"}}), make::selector({{"p", "2"}})};
  gsa.spec.required = make::selector({{"r", "1"}});
  convert_deprecated(gsa.spec);
  REQUIRE(gsa.spec.selectors.size() == 3);
  CHECK(gsa.spec.selectors[0] == make::selector({{"p", "1"}}));
  CHECK(gsa.spec.selectors[1] == make::selector({{"p", "2"}}));
  CHECK(gsa.spec.selectors[2] == make::selector({{"r", "1"}}));
  CHECK(gsa.spec.preferred.size() == 2);
  CHECK(gsa.spec.required == make::selector({{"r", "1"}}));
}

TEST_CASE("conversion leaves selectors alone") {
  auto gsa = make::allocation();
  gsa.spec.preferred.resize(2);
  gsa.spec.selectors = {make::selector({{"s", "1"}})};
  convert_deprecated(gsa.spec);
  CHECK(gsa.spec.selectors.size() == 1);
}

TEST_CASE("an empty spec is one selector for any Ready server") {
  game_server_allocation gsa;
  apply_defaults(gsa, {});
  convert_deprecated(gsa.spec);
  REQUIRE(gsa.spec.selectors.size() == 1);
  CHECK(gsa.spec.selectors[0].game_server_state == "Ready");
  CHECK(gsa.spec.selectors[0].labels.empty());
}
