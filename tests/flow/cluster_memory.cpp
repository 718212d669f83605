#include <agones_alloc/flow/cluster_memory.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

using namespace agones_alloc;
using namespace std::chrono_literals;

namespace {

constexpr cluster_memory::time_point start{1h};

void fail(cluster_memory& memory, std::string_view cluster, std::string_view endpoint, int times) {
  for (int i = 0; i != times; ++i) {
    auto const told = memory.ask(cluster, endpoint, start);
    memory.ended(cluster, endpoint, {told, outcome::unavailable, "refused", 5ms}, start, 0);
  }
}

}  // namespace

TEST_CASE("each endpoint of each cluster has a breaker of its own") {
  cluster_memory memory;
  fail(memory, "east", "a", 3);
  CHECK(memory.ask("east", "a", start) == breaker::admission::no);
  CHECK(memory.ask("east", "b", start) == breaker::admission::yes);
  CHECK(memory.ask("west", "a", start) == breaker::admission::yes);
}

TEST_CASE("which outcomes of a call count against its endpoint") {
  for (auto const bad : {outcome::unavailable, outcome::unknown, outcome::deadline}) {
    cluster_memory memory;
    for (int i = 0; i != 3; ++i) memory.ended("c", "e", {memory.ask("c", "e", start), bad, "", 0ns}, start, 0);
    CHECK(memory.ask("c", "e", start) == breaker::admission::no);
  }
  for (auto const good : {outcome::allocated, outcome::exhausted, outcome::contention, outcome::invalid,
                          outcome::refused, outcome::cancelled}) {
    cluster_memory memory;
    for (int i = 0; i != 9; ++i) memory.ended("c", "e", {memory.ask("c", "e", start), good, "", 0ns}, start, 0);
    CHECK(memory.ask("c", "e", start) == breaker::admission::yes);
  }
}

TEST_CASE("an opened and a closed breaker are told once each") {
  cluster_memory memory;
  fail(memory, "east", "a", 3);
  auto changes = memory.take_changes();
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].cluster == "east");
  CHECK(changes[0].endpoint == "a");
  CHECK(changes[0].now == breaker_state::open);
  auto const told = memory.ask("east", "a", start + 1h);
  REQUIRE(told == breaker::admission::probe);
  memory.ended("east", "a", {told, outcome::unavailable, "", 0ns}, start + 1h, 0);
  CHECK(memory.take_changes().empty());
  memory.ended("east", "a", {memory.ask("east", "a", start + 2h), outcome::exhausted, "", 0ns}, start + 2h, 0);
  changes = memory.take_changes();
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].now == breaker_state::closed);
}

TEST_CASE("where somebody else probes no call is let through before the probe's answer") {
  cluster_memory memory{{.calls_probe_after = std::chrono::nanoseconds::max()}};
  CHECK_FALSE(memory.probe_at("east", "a"));
  fail(memory, "east", "a", 3);
  REQUIRE(memory.probe_at("east", "a") == start + 1s);
  CHECK(memory.ask("east", "a", start + 1h) == breaker::admission::no);
  CHECK_FALSE(memory.begin_probe("east", "a", start));
  REQUIRE(memory.begin_probe("east", "a", start + 1s));
  CHECK_FALSE(memory.probe_at("east", "a"));
  CHECK(memory.ask("east", "a", start + 1s) == breaker::admission::no);
  memory.probed("east", "a", "still gone", start + 1s, 0);
  CHECK(memory.probe_at("east", "a") > start + 1s);
  CHECK(memory.endpoints(start)[0].message == "still gone");
  CHECK(memory.take_changes().size() == 1);
  REQUIRE(memory.begin_probe("east", "a", start + 1h));
  memory.probed("east", "a", "", start + 1h, 0);
  CHECK(memory.ask("east", "a", start + 1h) == breaker::admission::yes);
  auto const changes = memory.take_changes();
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].now == breaker_state::closed);
}

TEST_CASE("a call finds out where nobody else does in time, and that the endpoint is still dead is told again") {
  cluster_memory memory{{.calls_probe_after = 1s}};
  fail(memory, "east", "a", 3);
  CHECK(memory.take_changes().size() == 1);
  CHECK(memory.ask("east", "a", start + 2s - 1ns) == breaker::admission::no);
  auto const told = memory.ask("east", "a", start + 2s);
  REQUIRE(told == breaker::admission::probe);
  CHECK(memory.ask("east", "a", start + 1h) == breaker::admission::no);
  CHECK_FALSE(memory.begin_probe("east", "a", start + 1h));
  SUBCASE("dead") {
    memory.ended("east", "a", {told, outcome::unavailable, "refused"}, start + 3s, 0);
    auto const changes = memory.take_changes();
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].now == breaker_state::open);
    REQUIRE(memory.begin_probe("east", "a", start + 5s));
    memory.probed("east", "a", "still gone", start + 5s, 0);
    CHECK(memory.take_changes().empty());
  }
  SUBCASE("back") {
    memory.ended("east", "a", {told, outcome::exhausted, ""}, start + 3s, 0);
    auto const changes = memory.take_changes();
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].now == breaker_state::closed);
  }
  SUBCASE("not known") {
    memory.ended("east", "a", {told, outcome::cancelled, ""}, start + 3s, 0);
    CHECK(memory.probe_at("east", "a") == start + 3s);
    CHECK(memory.take_changes().empty());
  }
}

TEST_CASE("an endpoint that is forgotten is no longer told to be dead") {
  cluster_memory memory;
  fail(memory, "east", "a", 3);
  memory.take_changes();
  memory.forget("east", "a");
  memory.forget("east", "none");
  auto const changes = memory.take_changes();
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].now == breaker_state::closed);
  CHECK(memory.endpoints(start).empty());
}

TEST_CASE("exhaustion is remembered by cluster and kind of request, for a while") {
  cluster_memory memory{{.exhausted_for = 100ms}};
  memory.exhausted("east", 1, start);
  CHECK(memory.was_exhausted("east", 1, start + 99ms));
  CHECK_FALSE(memory.was_exhausted("east", 2, start));
  CHECK_FALSE(memory.was_exhausted("west", 1, start));
  CHECK_FALSE(memory.was_exhausted("east", 1, start + 100ms));
  memory.exhausted("east", 1, start);
  memory.not_exhausted("east", 1);
  CHECK_FALSE(memory.was_exhausted("east", 1, start));
}

TEST_CASE("with no time for it exhaustion is not remembered") {
  cluster_memory memory{{.exhausted_for = 0ns}};
  memory.exhausted("east", 1, start);
  CHECK_FALSE(memory.was_exhausted("east", 1, start));
}

TEST_CASE("the memory is bounded, and forgets what was unused for longest") {
  cluster_memory memory{{.most_endpoints = 2, .most_shapes = 2}};
  fail(memory, "c", "a", 3);
  fail(memory, "c", "b", 1);
  static_cast<void>(memory.ask("c", "a", start));
  fail(memory, "c", "d", 1);
  REQUIRE(memory.endpoints(start).size() == 2);
  CHECK(memory.endpoints(start)[0].endpoint == "a");
  CHECK(memory.endpoints(start)[1].endpoint == "d");
  for (std::size_t shape = 0; shape != 3; ++shape) memory.exhausted("c", shape, start);
  CHECK_FALSE(memory.was_exhausted("c", 0, start));
  CHECK(memory.was_exhausted("c", 2, start));
}

TEST_CASE("what is known of the endpoints can be looked at") {
  cluster_memory memory;
  fail(memory, "west", "a", 3);
  memory.ended("east", "z", {memory.ask("east", "z", start), outcome::allocated, "", 7ms}, start, 0);
  auto const all = memory.endpoints(start + 400ms);
  REQUIRE(all.size() == 2);
  CHECK(all[0].cluster == "east");
  CHECK(all[0].last == outcome::allocated);
  CHECK(all[0].took == 7ms);
  CHECK(all[0].calls == 1);
  CHECK(all[1].breaker == breaker_state::open);
  CHECK(all[1].failures == 3);
  CHECK(all[1].message == "refused");
  CHECK(all[1].open_for == 600ms);
}

TEST_CASE("memory options out of range are refused by name") {
  CHECK_THROWS_WITH_AS((cluster_memory{{.exhausted_for = -1ns}}), doctest::Contains("exhausted_for"), std::invalid_argument);
  CHECK_THROWS_WITH_AS((cluster_memory{{.calls_probe_after = -1ns}}), doctest::Contains("calls_probe_after"), std::invalid_argument);
  CHECK_THROWS_WITH_AS((cluster_memory{{.most_endpoints = 0}}), doctest::Contains("most_endpoints"), std::invalid_argument);
  CHECK_THROWS_WITH_AS((cluster_memory{{.most_shapes = 0}}), doctest::Contains("most_shapes"), std::invalid_argument);
}
