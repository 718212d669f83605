// Rules 14 to 28 of spec 2.4, by their numbers.
#include "make.hpp"

#include <agones_alloc/select/validate.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;

namespace {

using texts = std::vector<std::string>;

constexpr feature_gates counts_off{.counts_and_lists = false};
std::string const not_negative = "must be greater than or equal to 0";

auto problems(game_server_allocation const& gsa, feature_gates gates = {}) -> texts {
  texts out;
  for (auto const& error : validate(gsa, gates)) out.push_back(to_string(error));
  return out;
}

auto with_priority(priority wanted) -> game_server_allocation {
  auto gsa = make::allocation();
  gsa.spec.priorities.emplace({std::move(wanted)});
  return gsa;
}

auto with_action(counter_action action) -> game_server_allocation {
  auto gsa = make::allocation();
  gsa.spec.counters.emplace().emplace("rooms", std::move(action));
  return gsa;
}

/// What every kind of repeated part of a request can be wrong in, `count` times.
auto wrong_in_many_places(int count) -> std::vector<game_server_allocation> {
  std::vector<game_server_allocation> out(7, make::allocation());
  for (int i = 0; i < count; ++i) {
    auto const name = "n" + std::to_string(i);
    game_server_selector selector;
    selector.game_server_state = "Nowhere";
    out[0].spec.selectors.push_back(selector);
    out[1].spec.preferred.push_back(selector);
    if (!out[2].spec.priorities) out[2].spec.priorities.emplace();
    out[2].spec.priorities->push_back({"Counter", name, "Upwards"});
    if (!out[3].spec.counters) out[3].spec.counters.emplace();
    counter_action counter;
    counter.capacity = -1;
    out[3].spec.counters->emplace(name, counter);
    if (!out[4].spec.lists) out[4].spec.lists.emplace();
    list_action list;
    list.capacity = -1;
    out[4].spec.lists->emplace(name, list);
    out[5].spec.metadata.labels.set(name, "no value!");
    if (out[6].spec.selectors.empty()) out[6].spec.selectors.emplace_back().counters.emplace();
    out[6].spec.selectors[0].counters->emplace(name, counter_selector{.min_count = -1});
  }
  return out;
}

auto type_of_only(game_server_allocation const& gsa, feature_gates gates = {}) -> field_error_type {
  auto const found = validate(gsa, gates);
  REQUIRE(found.size() == 1);
  return found[0].type;
}

}  // namespace

TEST_CASE("rules 14 to 16: priorities, counters and lists need their gate, even empty ones") {
  auto gsa = make::allocation();
  gsa.spec.priorities.emplace();
  gsa.spec.counters.emplace();
  gsa.spec.lists.emplace();
  CHECK(problems(gsa, counts_off) ==
        texts{"spec.priorities: Forbidden: Feature CountsAndLists must be enabled if Priorities is specified",
              "spec.counters: Forbidden: Feature CountsAndLists must be enabled if Counters is specified",
              "spec.lists: Forbidden: Feature CountsAndLists must be enabled if Lists is specified"});
  CHECK(validate(gsa, counts_off)[0].type == field_error_type::forbidden);
  CHECK(problems(gsa).empty());
  CHECK(problems(make::allocation(), counts_off).empty());
}

TEST_CASE("rule 17: a priority's type is Counter or List") {
  CHECK(problems(with_priority({"counter", "rooms", "Ascending"})) ==
        texts{R"(spec.priorities[0]: Invalid value: "counter": type must be "Counter" or "List")"});
  CHECK(problems(with_priority({"List", "rooms", "Descending"})).empty());
}

TEST_CASE("rule 18: a priority has a key; the value shown is its type") {
  CHECK(problems(with_priority({"Counter", "", "Ascending"})) ==
        texts{R"(spec.priorities[0]: Invalid value: "Counter": key must not be nil)"});
}

TEST_CASE("rule 19: a priority's order is Ascending or Descending") {
  CHECK(problems(with_priority({"Counter", "rooms", "Down"})) ==
        texts{R"(spec.priorities[0]: Invalid value: "Down": order must be "Ascending" or "Descending")"});
}

TEST_CASE("each priority is named by its index and reports all its problems") {
  auto gsa = with_priority({"Counter", "rooms", "Ascending"});
  gsa.spec.priorities->push_back({"", "", "x"});
  CHECK(problems(gsa) == texts{R"(spec.priorities[1]: Invalid value: "": type must be "Counter" or "List")",
                               R"(spec.priorities[1]: Invalid value: "": key must not be nil)",
                               R"(spec.priorities[1]: Invalid value: "x": order must be "Ascending" or "Descending")"});
}

TEST_CASE("rules 20 and 21: a counter action's numbers are not negative") {
  CHECK(problems(with_action({"Increment", -1, -2})) ==
        texts{"spec.counters[rooms].amount: Invalid value: -1: " + not_negative,
              "spec.counters[rooms].capacity: Invalid value: -2: " + not_negative});
  CHECK(problems(with_action({"Increment", 0, 0})).empty());
}

TEST_CASE("rule 22: an amount needs an action") {
  CHECK(problems(with_action({std::nullopt, 0, std::nullopt})) ==
        texts{R"(spec.counters[rooms]: Invalid value: "null": )"
              R"(action must be "Increment" or "Decrement" if the amount is not nil)"});
}

TEST_CASE("rule 23: an action needs an amount") {
  CHECK(problems(with_action({"Increment", std::nullopt, 5})) ==
        texts{R"(spec.counters[rooms]: Invalid value: "null": amount must not be nil if action is not nil)"});
}

TEST_CASE("the spelling of an action is not validated, as in the reference") {
  CHECK(problems(with_action({"increment", 1, std::nullopt})).empty());
  CHECK(problems(with_action({"", 1, std::nullopt})).empty());
  CHECK(problems(with_action({})).empty());
}

TEST_CASE("rule 24: a list's capacity is not negative, and its upper limit is not validated") {
  auto gsa = make::allocation();
  gsa.spec.lists.emplace()["players"].capacity = -1;
  CHECK(problems(gsa) == texts{"spec.lists[players].capacity: Invalid value: -1: " + not_negative});
  gsa.spec.lists->at("players").capacity = 5000;
  CHECK(problems(gsa).empty());
}

TEST_CASE("rules 25 and 26: a label patch has label keys and values, each problem on its own") {
  auto gsa = make::allocation();
  gsa.spec.metadata.labels = {{"a/b/c", "x"}, {"ok", "-"}, {"", "y"}};
  auto const found = problems(gsa);
  REQUIRE(found.size() == 4);
  CHECK(found[0] == R"(spec.metadata.labels: Invalid value: "": name part must be non-empty)");
  CHECK(found[1].starts_with(R"(spec.metadata.labels: Invalid value: "": name part must consist of)"));
  CHECK(found[2].starts_with(R"(spec.metadata.labels: Invalid value: "a/b/c": a qualified name must consist of)"));
  CHECK(found[3].starts_with(R"(spec.metadata.labels: Invalid value: "-": a valid label must be an empty string or)"));
}

TEST_CASE("rule 27: annotation keys are checked in lower case and shown as they are; values are free") {
  auto gsa = make::allocation();
  gsa.spec.metadata.annotations = {{"Example.COM/Key", "any text & \xc3\xbc"}};
  CHECK(problems(gsa).empty());
  gsa.spec.metadata.annotations = {{"Example.COM/-Key", "x"}};
  auto const found = problems(gsa);
  REQUIRE(found.size() == 1);
  CHECK(found[0].starts_with(
      R"(spec.metadata.annotations: Invalid value: "Example.COM/-Key": name part must consist of)"));
}

TEST_CASE("rule 28: annotations have at most 262144 bytes, keys included") {
  auto gsa = make::allocation();
  gsa.spec.metadata.annotations.set("key", std::string(262141, 'x'));
  CHECK(problems(gsa).empty());
  gsa.spec.metadata.annotations.set("key", std::string(262142, 'x'));
  CHECK(problems(gsa) == texts{"spec.metadata.annotations: Too long: may not be more than 262144 bytes"});
  CHECK(type_of_only(gsa) == field_error_type::too_long);
}

TEST_CASE("all parts are reported together, in the reference's order") {
  auto gsa = make::allocation("x");
  gsa.spec.metadata.annotations = {{"", "v"}};
  gsa.spec.metadata.labels = {{"k", "-"}};
  gsa.spec.lists.emplace()["l"].capacity = -1;
  gsa.spec.counters.emplace()["c"].amount = -1;
  gsa.spec.priorities.emplace({priority{"", "k", "Ascending"}});
  std::vector<std::string> fields;
  for (auto const& error : validate(gsa, {})) fields.push_back(error.field);
  CHECK(fields == std::vector<std::string>{"spec.scheduling", "spec.priorities[0]", "spec.counters[c].amount",
                                           "spec.counters[c]", "spec.lists[l].capacity", "spec.metadata.labels",
                                           "spec.metadata.annotations", "spec.metadata.annotations"});
}

TEST_CASE("of very many problems the first hundred are told, wherever they are") {
  for (auto const& gsa : wrong_in_many_places(100)) CHECK(validate(gsa, {}).size() == 100);
  for (auto const& gsa : wrong_in_many_places(5000)) {
    auto const found = problems(gsa);
    REQUIRE(found.size() == 101);
    CHECK(found[99] != found[100]);
    CHECK(found[100] == "spec: Forbidden: there are more errors; the first 100 are shown");
  }
}
