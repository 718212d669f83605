// Spec 7.1.
#include "make.hpp"

#include <agones_alloc/select/apply.hpp>

#include <doctest/doctest.h>

#include <limits>

using namespace agones_alloc;

namespace {

using texts = std::vector<std::string>;

constexpr auto int64_max = std::numeric_limits<std::int64_t>::max();

struct applied {
  counter_status counter;
  texts errors;
};

auto apply(std::int64_t count, std::int64_t capacity, counter_action action, std::string_view on = "rooms") -> applied {
  auto server = make::with_counter(make::server("gs"), "rooms", count, capacity);
  auto gsa = make::allocation();
  gsa.spec.counters.emplace().emplace(on, std::move(action));
  auto report = apply_allocation(server, gsa.spec, {}, {});
  CHECK(report.list_errors.empty());
  return {server.status.counters.at("rooms"), std::move(report.counter_errors)};
}

auto increment(std::int64_t amount) -> counter_action { return {"Increment", amount, std::nullopt}; }
auto decrement(std::int64_t amount) -> counter_action { return {"Decrement", amount, std::nullopt}; }
auto capacity(std::int64_t wanted) -> counter_action { return {std::nullopt, std::nullopt, wanted}; }

}  // namespace

TEST_CASE("an increment adds up to the capacity") {
  CHECK(apply(3, 10, increment(4)).counter == counter_status{7, 10});
  CHECK(apply(3, 10, increment(40)).counter == counter_status{10, 10});
  CHECK(apply(3, 10, increment(40)).errors.empty());
}

TEST_CASE("a decrement subtracts down to 0") {
  CHECK(apply(3, 10, decrement(2)).counter == counter_status{1, 10});
  CHECK(apply(3, 10, decrement(20)).counter == counter_status{0, 10});
}

TEST_CASE("a count above its capacity is clamped even by a decrement, and by 0") {
  CHECK(apply(20, 10, decrement(1)).counter == counter_status{10, 10});
  CHECK(apply(20, 10, increment(0)).counter == counter_status{10, 10});
  CHECK(apply(3, 10, increment(0)).counter == counter_status{3, 10});
}

TEST_CASE("a sum that does not fit saturates to the capacity (Q15)") {
  CHECK(apply(10, 50, increment(int64_max)).counter == counter_status{50, 50});
  CHECK(apply(10, int64_max, increment(int64_max)).counter == counter_status{int64_max, int64_max});
}

TEST_CASE("a capacity is set first and cuts the count") {
  CHECK(apply(7, 10, capacity(5)).counter == counter_status{5, 5});
  CHECK(apply(7, 10, capacity(0)).counter == counter_status{0, 0});
  CHECK(apply(7, 10, {"Increment", 9, 20}).counter == counter_status{16, 20});
  CHECK(apply(7, 10, {"Decrement", 1, 4}).counter == counter_status{3, 4});
}

TEST_CASE("a negative capacity is an error and the count still changes") {
  auto const result = apply(7, 10, {"Increment", 1, -1});
  CHECK(result.counter == counter_status{8, 10});
  CHECK(result.errors ==
        texts{"unable to UpdateCounterCapacity: Name rooms, Capacity -1. Capacity must be greater than or equal to 0"});
}

TEST_CASE("an action that is no action is an error, also in the wrong case") {
  CHECK(apply(7, 10, {"increment", 2, std::nullopt}).errors ==
        texts{"unable to UpdateCount with Name rooms, Action increment, Amount 2. "
              "Allocation action must be one of Increment or Decrement"});
  CHECK(apply(7, 10, {"", 2, std::nullopt}).counter == counter_status{7, 10});
}

TEST_CASE("a negative amount is an error") {
  auto const result = apply(7, 10, increment(-3));
  CHECK(result.counter == counter_status{7, 10});
  CHECK(result.errors ==
        texts{"unable to UpdateCount with Name rooms, Action Increment, Amount -3. Amount must be greater than 0"});
}

TEST_CASE("a counter the server lacks is an error for capacity and for count") {
  auto const result = apply(7, 10, {"Decrement", 1, 5}, "nosuch");
  CHECK(result.counter == counter_status{7, 10});
  CHECK(
      result.errors ==
      texts{"unable to UpdateCounterCapacity: Name nosuch, Capacity 5. Counter not found in GameServer gs",
            "unable to UpdateCount with Name nosuch, Action Decrement, Amount 1. Counter not found in GameServer gs"});
}

TEST_CASE("an action without an amount, or an amount without an action, does nothing") {
  CHECK(apply(7, 10, {"Increment", std::nullopt, std::nullopt}).counter == counter_status{7, 10});
  CHECK(apply(7, 10, {std::nullopt, 5, std::nullopt}).counter == counter_status{7, 10});
}

TEST_CASE("one counter's error does not stop another's action, and errors come by name") {
  auto server = make::with_counter(make::server("gs"), "m", 0, 5);
  auto gsa = make::allocation();
  auto& counters = gsa.spec.counters.emplace();
  counters.emplace("z", increment(1));
  counters.emplace("m", increment(1));
  counters.emplace("a", increment(1));
  auto const report = apply_allocation(server, gsa.spec, {}, {});
  CHECK(server.status.counters.at("m").count == 1);
  REQUIRE(report.counter_errors.size() == 2);
  CHECK(report.counter_errors[0].starts_with("unable to UpdateCount with Name a,"));
  CHECK(report.counter_errors[1].starts_with("unable to UpdateCount with Name z,"));
}
