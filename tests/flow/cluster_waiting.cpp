// Requests over several clusters that may wait for a server.
#include "cluster_world.hpp"

#include <doctest/doctest.h>

using namespace flow_test;

namespace {

auto waiting(std::chrono::nanoseconds so_long) -> cluster_fsm::request { return {7, 0, start + 30s, start + so_long}; }

}  // namespace

TEST_CASE("all clusters are asked before a request waits, then it waits here and asks the others again") {
  world w{{here("here", 1, "games"), policy("west", 2, {"w1"})}, plain_limits(), waiting(5s)};
  CHECK(w.step == "local games");
  CHECK(w.last.until == cluster_fsm::time_point{});  // not yet: another cluster may have one
  CHECK(w.answer(outcome::exhausted) == "west w1");
  CHECK(w.answer(outcome::exhausted) == "local games");
  CHECK(w.last.until == start + 1s);
  w.now += 1s;
  CHECK(w.answer(outcome::exhausted) == "local games");  // the next round
  CHECK(w.last.until == cluster_fsm::time_point{});
  CHECK(w.answer(outcome::exhausted) == "west w1");
  CHECK(w.answer(outcome::allocated) == "finished allocated");
}

TEST_CASE("a server that comes while it waits here is the end") {
  world w{{here("here", 1, "games"), policy("west", 2, {"w1"})}, plain_limits(), waiting(5s)};
  w.answer(outcome::exhausted);
  CHECK(w.answer(outcome::contention) == "local games");
  w.now += 300ms;
  CHECK(w.answer(outcome::allocated) == "finished allocated");
}

TEST_CASE("when the wait is over the request ends as it would without") {
  for (auto const result : {outcome::exhausted, outcome::contention}) {
    auto limits = plain_limits();
    limits.rounds.attempts = 1;
    world w{{here("here", 1, "games"), policy("west", 2, {"w1"})}, limits, waiting(1500ms)};
    w.answer(outcome::exhausted);
    CHECK(w.answer(result) == "local games");
    w.now += 1s;
    w.answer(outcome::exhausted);
    w.answer(outcome::exhausted);
    CHECK(w.answer(result) == "local games");
    CHECK(w.last.until == start + 1500ms);  // what is left
    w.now += 500ms;
    w.answer(outcome::exhausted);
    w.answer(outcome::exhausted);
    CHECK(w.answer(result) == "finished " + std::string{to_string(result)});
  }
}

TEST_CASE("with nobody else to ask it waits here all the time") {
  world w{{here("here", 1, "games")}, plain_limits(), waiting(20s)};
  CHECK(w.answer(outcome::exhausted) == "local games");
  CHECK(w.last.until == start + 20s);
  w.now += 20s;
  w.answer(outcome::exhausted);
  CHECK(w.answer(outcome::exhausted) == "finished exhausted");
}

TEST_CASE("without this cluster among them the others are asked again after a pause") {
  world w{{policy("west", 1, {"w1"})}, plain_limits(), waiting(1500ms)};
  CHECK(w.answer(outcome::exhausted) == "sleep");
  CHECK(w.last.until == start + 1s);
  CHECK(w.wake() == "west w1");
  CHECK(w.answer(outcome::exhausted) == "sleep");
  CHECK(w.last.until == start + 1500ms);
  CHECK(w.wake() == "west w1");
  CHECK(w.answer(outcome::exhausted) == "finished exhausted");
}

TEST_CASE("a full queue here is not asked over and over") {
  world w{{here("here", 1, "games"), policy("west", 2, {"w1"})}, plain_limits(), waiting(5s)};
  w.answer(outcome::exhausted);
  CHECK(w.answer(outcome::exhausted) == "local games");
  CHECK(w.answer(outcome::contention) == "sleep");  // at once
  CHECK(w.last.until == start + 1s);
  CHECK(w.wake() == "local games");
}

TEST_CASE("who cannot be reached is not waited for, and a wait may be left") {
  SUBCASE("unreachable") {
    auto limits = plain_limits();
    limits.rounds.attempts = 1;
    world w{{policy("west", 1, {"w1"})}, limits, waiting(5s)};
    CHECK(w.answer(outcome::unavailable) == "finished unavailable");
  }
  SUBCASE("left") {
    world w{{here("here", 1, "games")}, plain_limits(), waiting(20s)};
    CHECK(w.answer(outcome::exhausted) == "local games");
    CHECK(w.take(w.fsm.cancel()) == "hold");
    CHECK(w.answer(outcome::cancelled) == "finished cancelled");
  }
  SUBCASE("the fallback waits, too") {
    auto limits = plain_limits();
    limits.fallback_local = true;
    world w{{policy("west", 1, {"w1"})}, limits, waiting(5s)};
    CHECK(w.answer(outcome::exhausted) == "local ");
    CHECK(w.answer(outcome::exhausted) == "local ");
    CHECK(w.last.until == start + 1s);
  }
}
