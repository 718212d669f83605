// Spec 7.2.
#include "make.hpp"

#include <agones_alloc/select/apply.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;

namespace {

using texts = std::vector<std::string>;
using values = std::vector<shared_string>;

struct applied {
  list_status list;
  texts errors;
};

auto apply(std::int64_t capacity, std::optional<values> present, list_action action, std::string_view on = "players")
    -> applied {
  auto server = make::server("gs");
  server.status.lists["players"] = {capacity, std::move(present)};
  auto gsa = make::allocation();
  gsa.spec.lists.emplace().emplace(on, std::move(action));
  auto report = apply_allocation(server, gsa.spec, {}, {});
  CHECK(report.counter_errors.empty());
  return {server.status.lists.at("players"), std::move(report.list_errors)};
}

auto add(values added) -> list_action { return {std::move(added), {}, std::nullopt}; }
auto removed(values doomed) -> list_action { return {{}, std::move(doomed), std::nullopt}; }
auto capacity(std::int64_t wanted) -> list_action { return {{}, {}, wanted}; }

}  // namespace

TEST_CASE("values are appended and duplicates dropped, the first kept") {
  auto const result = apply(9, values{"a", "b", "a"}, add({"c", "b", "c"}));
  CHECK(result.list == list_status{9, values{"a", "b", "c"}});
  CHECK(result.errors.empty());
}

TEST_CASE("a full list drops the last added values and says so (Q16)") {
  auto const result = apply(3, values{"a", "b"}, add({"c", "d", "e", "d"}));
  CHECK(result.list == list_status{3, values{"a", "b", "c"}});
  CHECK(result.errors == texts{"unable to AppendListValues: Name players, Values [d e]. List is full, capacity 3"});
}

TEST_CASE("an added value that was there already is not lost in a full list") {
  CHECK(apply(2, values{"a", "b"}, add({"b"})).errors.empty());
}

TEST_CASE("add comes before delete: replacing a value in a full list loses the new one, with a word") {
  auto const result = apply(2, values{"a", "b"}, {{"c"}, {"a"}, std::nullopt});
  CHECK(result.list == list_status{2, values{"b"}});
  CHECK(result.errors == texts{"unable to AppendListValues: Name players, Values [c]. List is full, capacity 2"});
}

TEST_CASE("a value that is to be deleted again is not missed") {
  CHECK(apply(1, values{"a"}, {{"c"}, {"c"}, std::nullopt}).errors.empty());
}

TEST_CASE("values over the capacity are cut when values are added, those that were there without a word") {
  auto const result = apply(2, values{"a", "b", "c"}, add({"c"}));
  CHECK(result.list == list_status{2, values{"a", "b"}});
  CHECK(result.errors == texts{"unable to AppendListValues: Name players, Values [c]. List is full, capacity 2"});
  CHECK(apply(2, values{"a", "b", "c"}, add({"a"})).errors.empty());
}

TEST_CASE("delete removes every occurrence, ignores unknown values and leaves an empty list") {
  CHECK(apply(9, values{"a", "b", "a"}, removed({"a", "x"})).list == list_status{9, values{"b"}});
  CHECK(apply(9, values{"a"}, removed({"a"})).list == list_status{9, values{}});
  CHECK(apply(9, std::nullopt, removed({"a"})).list == list_status{9, values{}});
}

TEST_CASE("a capacity is set first and cuts the values") {
  CHECK(apply(9, values{"a", "b", "c"}, capacity(2)).list == list_status{2, values{"a", "b"}});
  CHECK(apply(1, values{"a"}, {{"b"}, {}, 2}).list == list_status{2, values{"a", "b"}});
  CHECK(apply(9, std::nullopt, capacity(2)).list == list_status{2, std::nullopt});
  CHECK(apply(9, values{"a"}, capacity(0)).list == list_status{0, values{}});
  CHECK(apply(9, values{"a"}, capacity(1000)).list == list_status{1000, values{"a"}});
}

TEST_CASE("a capacity outside 0 to 1000 is an error and the rest still runs") {
  auto const result = apply(2, values{"a"}, {{"b"}, {}, 1001});
  CHECK(result.list == list_status{2, values{"a", "b"}});
  CHECK(
      result.errors ==
      texts{
          "unable to UpdateListCapacity: Name players, Capacity 1001. Capacity must be between 0 and 1000, inclusive"});
  CHECK(
      apply(2, values{"a"}, capacity(-1)).errors ==
      texts{"unable to UpdateListCapacity: Name players, Capacity -1. Capacity must be between 0 and 1000, inclusive"});
}

TEST_CASE("a list the server lacks is an error for each step") {
  CHECK(apply(2, values{"a"}, {{"x", "y"}, {"z"}, 5}, "nosuch").errors ==
        texts{"unable to UpdateListCapacity: Name nosuch, Capacity 5. List not found in GameServer gs",
              "unable to AppendListValues: Name nosuch, Values [x y]. List not found in GameServer gs",
              "unable to DeleteListValues: Name nosuch, Values [z]. List not found in GameServer gs"});
}

TEST_CASE("an empty action does nothing, not even to an absent list of values") {
  CHECK(apply(2, std::nullopt, {}).list == list_status{2, std::nullopt});
  CHECK(apply(2, values{"a", "a", "b"}, {}).list == list_status{2, values{"a", "a", "b"}});
}

TEST_CASE("a negative capacity of the server holds no value") {
  auto const result = apply(-3, values{}, add({"a"}));
  CHECK(result.list == list_status{-3, values{}});
  CHECK(result.errors.size() == 1);
}
