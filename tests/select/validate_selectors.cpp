// Rules 1 to 13 of spec 2.4, by their numbers.
#include "make.hpp"

#include <agones_alloc/select/validate.hpp>

#include <doctest/doctest.h>

#include <limits>

using namespace agones_alloc;

namespace {

using texts = std::vector<std::string>;

constexpr feature_gates counts_off{.counts_and_lists = false};
constexpr feature_gates players_on{.counts_and_lists = true, .player_allocation_filter = true};
std::string const not_negative = "must be greater than or equal to 0";

auto problems(game_server_allocation const& gsa, feature_gates gates = {}) -> texts {
  texts out;
  for (auto const& error : validate(gsa, gates)) {
    // "Invalid spec.x: ...": the type without its prefix FieldValue.
    out.push_back(std::string{to_string(error.type).substr(10)} + " " + to_string(error));
  }
  return out;
}

auto with_required(game_server_selector selector) -> game_server_allocation {
  auto gsa = make::allocation();
  gsa.spec.required = std::move(selector);
  return gsa;
}

auto with_counter(counter_selector wanted) -> game_server_allocation {
  auto gsa = make::allocation();
  gsa.spec.selectors.resize(1);
  gsa.spec.selectors[0].counters.emplace().emplace("rooms", wanted);
  return gsa;
}

auto with_list(list_selector wanted) -> game_server_allocation {
  auto gsa = make::allocation();
  gsa.spec.selectors.resize(1);
  gsa.spec.selectors[0].lists.emplace().emplace("players", std::move(wanted));
  return gsa;
}

auto with_players(std::int64_t least, std::int64_t most) -> game_server_allocation {
  game_server_selector selector;
  selector.players = player_selector{least, most};
  return with_required(std::move(selector));
}

}  // namespace

TEST_CASE("a plain request has no problems") { CHECK(problems(make::allocation()).empty()); }

TEST_CASE("rule 1: scheduling is Packed or Distributed") {
  CHECK(
      problems(make::allocation("packed")) ==
      texts{R"(NotSupported spec.scheduling: Unsupported value: "packed": supported values: "Packed", "Distributed")"});
  CHECK(problems(make::allocation("")) ==
        texts{R"(NotSupported spec.scheduling: Unsupported value: "": supported values: "Packed", "Distributed")"});
  CHECK(problems(make::allocation("Distributed")).empty());
}

TEST_CASE("rule 2: a label selector that cannot be used is shown in one line") {
  game_server_selector bad;
  bad.labels.match_labels.set("fleet", "red");
  bad.labels.match_expressions = {{"tier", "Gt", {"1", "2"}}, {"x", "Exists", {}}};
  CHECK(problems(with_required(bad)) ==
        texts{R"(Invalid spec.required.labelSelector: Invalid value: {fleet=red, tier Gt (1, 2), x Exists}: )"
              R"(Error converting label selector: "Gt" is not a valid label selector operator)"});
}

TEST_CASE("rule 3: a state that is set is Ready or Allocated, and empty is neither") {
  game_server_selector selector;
  selector.game_server_state = "Shutdown";
  CHECK(problems(with_required(selector)) ==
        texts{R"(Invalid spec.required.gameServerState: Invalid value: "Shutdown": )"
              R"(GameServerState must be either Allocated or Ready)"});
  selector.game_server_state = "";
  CHECK(problems(with_required(selector)) == texts{R"(Invalid spec.required.gameServerState: Invalid value: "": )"
                                                   R"(GameServerState must be either Allocated or Ready)"});
  selector.game_server_state = "Allocated";
  CHECK(problems(with_required(selector)).empty());
}

TEST_CASE("rules 4 and 5: players' limits are not negative") {
  CHECK(problems(with_players(-2, -1), players_on) ==
        texts{"Invalid spec.required.players.minAvailable: Invalid value: -2: " + not_negative,
              "Invalid spec.required.players.maxAvailable: Invalid value: -1: " + not_negative});
}

TEST_CASE("rule 6: players' minimum is not over the maximum, not even over 0") {
  std::string const text = "minAvailable cannot be greater than maxAvailable";
  CHECK(problems(with_players(5, 4), players_on) ==
        texts{"Invalid spec.required.players.minAvailable: Invalid value: 5: " + text});
  CHECK(problems(with_players(5, 0), players_on) ==
        texts{"Invalid spec.required.players.minAvailable: Invalid value: 5: " + text});
  CHECK(problems(with_players(4, 4), players_on).empty());
}

TEST_CASE("players are ignored while their gate is off") { CHECK(problems(with_players(-5, -9)).empty()); }

TEST_CASE("rules 7 to 9: a counter's problems come in the reference's order") {
  CHECK(problems(with_counter({.min_count = -1, .max_count = -2, .min_available = -3, .max_available = -4})) ==
        texts{"Invalid spec.selectors[0].counters[rooms].minCount: Invalid value: -1: " + not_negative,
              "Invalid spec.selectors[0].counters[rooms].maxCount: Invalid value: -2: " + not_negative,
              "Invalid spec.selectors[0].counters[rooms]: Invalid value: -2: maxCount must zero or greater than "
              "minCount -1",
              "Invalid spec.selectors[0].counters[rooms].minAvailable: Invalid value: -3: " + not_negative,
              "Invalid spec.selectors[0].counters[rooms].maxAvailable: Invalid value: -4: " + not_negative,
              "Invalid spec.selectors[0].counters[rooms]: Invalid value: -4: maxAvailable must zero or greater than "
              "minAvailable -3"});
}

TEST_CASE("rule 8: a counter's maximum count is 0 or not under the minimum") {
  CHECK(problems(with_counter({.min_count = 5, .max_count = 4})) ==
        texts{"Invalid spec.selectors[0].counters[rooms]: Invalid value: 4: maxCount must zero or greater than "
              "minCount 5"});
  CHECK(problems(with_counter({.min_count = 5, .max_count = 0})).empty());
  CHECK(problems(with_counter({.min_count = 5, .max_count = 5})).empty());
}

TEST_CASE("rule 9: a counter's maximum availability is 0 or not under the minimum") {
  CHECK(problems(with_counter({.min_available = 5, .max_available = 4})) ==
        texts{"Invalid spec.selectors[0].counters[rooms]: Invalid value: 4: maxAvailable must zero or greater than "
              "minAvailable 5"});
  CHECK(problems(with_counter({.min_available = 5, .max_available = 0})).empty());
}

TEST_CASE("rules 10 and 11: a list's limits, like a counter's") {
  CHECK(problems(with_list({.contains_value = {}, .min_available = -1, .max_available = -2})) ==
        texts{"Invalid spec.selectors[0].lists[players].minAvailable: Invalid value: -1: " + not_negative,
              "Invalid spec.selectors[0].lists[players].maxAvailable: Invalid value: -2: " + not_negative,
              "Invalid spec.selectors[0].lists[players]: Invalid value: -2: maxAvailable must zero or greater than "
              "minAvailable -1"});
  CHECK(problems(with_list({.contains_value = {}, .min_available = 3, .max_available = 2})) ==
        texts{"Invalid spec.selectors[0].lists[players]: Invalid value: 2: maxAvailable must zero or greater than "
              "minAvailable 3"});
}

TEST_CASE("rules 12 and 13: counters and lists of a selector need their gate, even empty ones") {
  game_server_selector selector;
  selector.counters.emplace();
  selector.lists.emplace();
  CHECK(problems(with_required(selector), counts_off) ==
        texts{"Forbidden spec.required.counters: Forbidden: Feature CountsAndLists must be enabled",
              "Forbidden spec.required.lists: Forbidden: Feature CountsAndLists must be enabled"});
  CHECK(problems(with_required({}), counts_off).empty());
}

TEST_CASE("required, preferred and selectors are all validated, in this order, whichever is used") {
  game_server_selector bad;
  bad.game_server_state = "X";
  auto gsa = make::allocation("Y");
  gsa.spec.selectors = {{}, bad};
  gsa.spec.preferred = {bad};
  gsa.spec.required = bad;
  auto const found = validate(gsa, {});
  REQUIRE(found.size() == 4);
  CHECK(found[0].field == "spec.scheduling");
  CHECK(found[1].field == "spec.required.gameServerState");
  CHECK(found[2].field == "spec.preferred[0].gameServerState");
  CHECK(found[3].field == "spec.selectors[1].gameServerState");
}

TEST_CASE("maps are gone through by key") {
  auto gsa = make::allocation();
  auto& counters = gsa.spec.required.counters.emplace();
  counters.emplace("z", counter_selector{.min_count = -1});
  counters.emplace("a", counter_selector{.min_count = -1});
  auto const found = validate(gsa, {});
  REQUIRE(found.size() == 2);
  CHECK(found[0].field == "spec.required.counters[a].minCount");
  CHECK(found[1].field == "spec.required.counters[z].minCount");
}

TEST_CASE("the ends of the integer range are valid limits") {
  auto const most = std::numeric_limits<std::int64_t>::max();
  CHECK(problems(with_counter({.min_count = most, .max_count = most, .min_available = most, .max_available = most}))
            .empty());
}
