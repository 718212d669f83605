#include "cluster_world.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace flow_test;

TEST_CASE("the first cluster's first endpoint is called, and its server is the end") {
  world w{two_clusters()};
  CHECK(w.step == "east e1");
  w.now += 5ms;
  CHECK(w.answer(outcome::allocated) == "finished allocated");
  REQUIRE(w.fsm.attempts().size() == 1);
  CHECK(w.fsm.attempts()[0].cluster == "east");
  CHECK(w.fsm.attempts()[0].endpoint == "e1");
  CHECK(w.fsm.attempts()[0].took == 5ms);
  CHECK(w.fsm.calls() == 1);
}

TEST_CASE("what was not executed goes to the next endpoint, then to the next cluster (S6)") {
  world w{two_clusters()};
  CHECK(w.answer(outcome::unavailable) == "east e2");
  CHECK(w.answer(outcome::unavailable) == "west w1");
  CHECK(w.answer(outcome::allocated) == "finished allocated");
  CHECK(w.fsm.attempts().size() == 3);
}

TEST_CASE("a reason that a cluster's endpoints share skips its other endpoints") {
  world w{two_clusters()};
  CHECK(w.answer(outcome::unavailable, true, "no such secret") == "west w1");
  CHECK(w.fsm.attempts()[0].message == "no such secret");
}

TEST_CASE("an exhausted or busy cluster is followed by the next, not by its next endpoint (S3)") {
  for (auto const result : {outcome::exhausted, outcome::contention}) {
    world w{two_clusters()};
    CHECK(w.answer(result) == "west w1");
    CHECK(w.answer(outcome::allocated) == "finished allocated");
  }
}

TEST_CASE("invalid and refused are the end") {
  for (auto const result : {outcome::invalid, outcome::refused}) {
    world w{two_clusters()};
    CHECK(w.answer(result) == "finished " + std::string{to_string(result)});
  }
}

TEST_CASE("a call of unknown fate is the end: nobody else is asked (Q24)") {
  world w{two_clusters()};
  CHECK(w.answer(outcome::unknown) == "finished unknown");
}

TEST_CASE("where request ids are honoured a call of unknown fate is made again, to the same cluster") {
  auto limits = plain_limits();
  limits.repeats = 2;
  SUBCASE("and found allocated") {
    world w{two_clusters(), limits};
    CHECK(w.answer(outcome::unknown) == "sleep");
    CHECK(w.wake() == "east e1");
    CHECK(w.answer(outcome::allocated) == "finished allocated");
  }
  SUBCASE("and found not executed, so that another cluster may be asked") {
    world w{two_clusters(), limits};
    CHECK(w.answer(outcome::unknown) == "sleep");
    CHECK(w.wake() == "east e1");
    CHECK(w.answer(outcome::exhausted) == "west w1");
    CHECK(w.answer(outcome::invalid) == "finished invalid");
  }
  SUBCASE("over its other endpoint when the first is gone, but never in another cluster") {
    world w{two_clusters(), limits};
    CHECK(w.answer(outcome::unknown) == "sleep");
    CHECK(w.wake() == "east e1");
    CHECK(w.answer(outcome::unavailable) == "east e2");
    CHECK(w.answer(outcome::unavailable) == "finished unknown");
  }
  SUBCASE("so often, and no more") {
    world w{two_clusters(), limits};
    CHECK(w.answer(outcome::unknown) == "sleep");
    CHECK(w.wake() == "east e1");
    CHECK(w.answer(outcome::unknown) == "sleep");
    CHECK(w.wake() == "east e1");
    CHECK(w.answer(outcome::unknown) == "finished unknown");
  }
  SUBCASE("and whatever ends it otherwise, its fate stays unknown") {
    for (auto const result : {outcome::refused, outcome::invalid, outcome::cancelled}) {
      world w{two_clusters(), limits};
      CHECK(w.answer(outcome::unknown) == "sleep");
      CHECK(w.wake() == "east e1");
      CHECK(w.answer(result) == "finished unknown");
    }
    world w{two_clusters(), limits};
    CHECK(w.answer(outcome::unknown) == "sleep");
    CHECK(w.take(w.fsm.cancel()) == "finished unknown");
  }
  SUBCASE("not when there is no time for it") {
    world w{two_clusters(), limits};
    w.now = start + 30s - 1ms;
    CHECK(w.answer(outcome::unknown) == "finished unknown");
  }
}

TEST_CASE("this cluster takes part as a policy without endpoints, in the policy's namespace (S4, S7)") {
  world w{{here("here", 1, "games"), policy("west", 2, {"w1"})}};
  CHECK(w.step == "local games");
  CHECK(w.fsm.endpoint().empty());
  CHECK(w.answer(outcome::exhausted) == "west w1");
  CHECK(w.answer(outcome::exhausted) == "finished exhausted");
}

TEST_CASE("how an allocation here ends decides as a remote one's does") {
  std::vector<std::pair<outcome, std::string>> const table{
      {outcome::allocated, "finished allocated"}, {outcome::exhausted, "west w1"},
      {outcome::contention, "west w1"},           {outcome::unavailable, "west w1"},
      {outcome::invalid, "finished invalid"},     {outcome::refused, "finished refused"},
      {outcome::unknown, "finished unknown"},     {outcome::cancelled, "finished cancelled"}};
  for (auto const& [result, next] : table) {
    auto limits = plain_limits();
    limits.repeats = 3;  // not for this cluster
    world w{{here("here", 1, "games"), policy("west", 2, {"w1"})}, limits};
    CHECK(w.answer(result) == next);
  }
}

TEST_CASE("without being told so nobody falls back to this cluster (Q14)") {
  world w{{policy("east", 1, {"e1"})}};
  CHECK(w.answer(outcome::exhausted) == "finished exhausted");
}

TEST_CASE("the explicit fallback is this cluster in the request's namespace, last, and once") {
  auto limits = plain_limits();
  limits.fallback_local = true;
  SUBCASE("after all others") {
    world w{{policy("east", 1, {"e1"})}, limits};
    CHECK(w.answer(outcome::exhausted) == "local ");
    CHECK(w.answer(outcome::exhausted) == "finished exhausted");
  }
  SUBCASE("without any policy") {
    world w{{}, limits};
    CHECK(w.step == "local ");
    CHECK(w.answer(outcome::allocated) == "finished allocated");
  }
  SUBCASE("not when this cluster was asked by a policy") {
    world w{{here("here", 1, "games")}, limits};
    CHECK(w.answer(outcome::exhausted) == "finished exhausted");
  }
}

TEST_CASE("no cluster that can be drawn is unavailable, not a success (Q13)") {
  auto none = policy("east", 1, {"e1"});
  none.weight = 0;
  CHECK(world{{none}}.step == "finished unavailable");
  CHECK(world{{}}.step == "finished unavailable");
}

TEST_CASE("busy before exhausted before unreachable: what a request without a server ends as") {
  auto const ends = [](std::vector<outcome> const& answers) {
    auto limits = plain_limits();
    limits.rounds.attempts = 1;
    world w{{policy("a", 1, {"x"}), policy("b", 2, {"y"}), policy("c", 3, {"z"})}, limits};
    for (auto const one : answers) w.answer(one);
    return w.step;
  };
  CHECK(ends({outcome::unavailable, outcome::exhausted, outcome::contention}) == "finished contention");
  CHECK(ends({outcome::unavailable, outcome::exhausted, outcome::unavailable}) == "finished exhausted");
  CHECK(ends({outcome::unavailable, outcome::unavailable, outcome::unavailable}) == "finished unavailable");
}

TEST_CASE("with all clusters out of reach there are further rounds, within bounds") {
  world w{two_clusters()};
  w.answer(outcome::unavailable);
  w.answer(outcome::unavailable);
  CHECK(w.answer(outcome::unavailable) == "sleep");
  CHECK(w.last.until == w.now + 100ms);
  CHECK(w.wake() == "east e1");
  w.answer(outcome::unavailable);
  CHECK(w.answer(outcome::unavailable) == "west w1");
  CHECK(w.answer(outcome::unavailable) == "finished unavailable");
  CHECK(w.fsm.attempts().size() == 6);
}

TEST_CASE("only busy clusters get another round when there were any") {
  world w{two_clusters()};
  w.answer(outcome::unavailable);
  w.answer(outcome::unavailable);
  CHECK(w.answer(outcome::contention) == "sleep");
  CHECK(w.wake() == "west w1");
  CHECK(w.answer(outcome::allocated) == "finished allocated");
}

TEST_CASE("a dead cluster costs nothing more when the others are exhausted: no further round") {
  world w{two_clusters()};
  w.answer(outcome::unavailable);
  w.answer(outcome::unavailable);
  CHECK(w.answer(outcome::exhausted) == "finished exhausted");
}

TEST_CASE("a round waits as long as busy clusters ask for, but never past the deadline") {
  world w{two_clusters()};
  w.take(w.fsm.answered({outcome::contention, false, "", 5s}, w.with()));
  CHECK(w.answer(outcome::exhausted) == "sleep");
  CHECK(w.last.until == start + 5s);
  world late{two_clusters(), plain_limits(), {7, 0, start + 50ms}};
  late.answer(outcome::contention);
  CHECK(late.answer(outcome::contention) == "finished contention");
}

TEST_CASE("one deadline for everything (Q11)") {
  world w{two_clusters()};
  w.now = start + 30s;
  SUBCASE("a call that ended too late is followed by none") {
    CHECK(w.answer(outcome::unavailable) == "finished deadline");
  }
  SUBCASE("a call whose time was up with the request's") { CHECK(w.answer(outcome::deadline) == "finished deadline"); }
  SUBCASE("a call whose own time was up before goes to the next endpoint") {
    w.now = start + 10s;
    CHECK(w.answer(outcome::deadline) == "east e2");
    CHECK(w.fsm.attempts()[0].result == outcome::unavailable);
  }
}

TEST_CASE("a request without time calls nobody, and leaves no probe behind") {
  cluster_memory memory;
  world first{two_clusters(), plain_limits(), {7, 0, start}};
  CHECK(first.step == "finished deadline");
  CHECK(first.own.ask("east", "e1", start) == breaker::admission::yes);
}

TEST_CASE("an endpoint whose breaker is open is passed over at once") {
  world w{two_clusters()};
  for (int i = 0; i != 3; ++i) {
    w.own.ended("east", "e2", {w.own.ask("east", "e2", w.now), outcome::unavailable, "", 0ns}, w.now, 0);
    w.own.ended("west", "w1", {w.own.ask("west", "w1", w.now), outcome::unavailable, "", 0ns}, w.now, 0);
  }
  CHECK(w.answer(outcome::unavailable) == "sleep");
  REQUIRE(w.fsm.attempts().size() == 3);
  CHECK(w.fsm.attempts()[1].message.find("breaker") != std::string::npos);
  CHECK(w.fsm.calls() == 1);
  CHECK(w.wake() == "east e1");
}

TEST_CASE("with every breaker open a request ends at once") {
  cluster_memory memory;
  for (auto const* endpoint : {"e1", "e2"}) {
    for (int i = 0; i != 3; ++i) memory.ended("east", endpoint, {memory.ask("east", endpoint, start), outcome::unknown, "", 0ns}, start, 0);
  }
  seeded_random random{1};
  auto const limits = plain_limits();
  std::vector const policies{policy("east", 1, {"e1", "e2"})};
  cluster_fsm fsm{connection_iterator{policies}, {7, 0, start + 30s}, limits};
  auto const action = fsm.start({start, memory, random});
  CHECK(action == cluster_action{cluster_step::finished, outcome::unavailable, {}});
  CHECK(fsm.attempts().size() == 2);
}

TEST_CASE("a cluster that was exhausted a moment ago is asked after the others, and is asked all the same") {
  cluster_memory memory;
  memory.exhausted("east", 7, start);
  seeded_random random{1};
  auto const limits = plain_limits();
  auto const policies = two_clusters();
  cluster_fsm fsm{connection_iterator{policies}, {7, 0, start + 30s}, limits};
  CHECK(fsm.start({start, memory, random}).step == cluster_step::remote);
  CHECK(fsm.at().identity == "west");
  CHECK(fsm.answered({outcome::exhausted, false, "", 0ns}, {start, memory, random}).step == cluster_step::remote);
  CHECK(fsm.at().identity == "east");
  CHECK(fsm.answered({outcome::allocated, false, "", 0ns}, {start, memory, random}).result == outcome::allocated);
  CHECK_FALSE(memory.was_exhausted("east", 7, start));
  CHECK(memory.was_exhausted("west", 7, start));
}

TEST_CASE("a request that was forwarded too often stays here") {
  auto limits = plain_limits();
  limits.max_hops = 2;
  world w{{policy("east", 1, {"e1"}), here("here", 2, "games")}, limits, {7, 2, start + 30s}};
  CHECK(w.step == "local games");
  CHECK(w.fsm.attempts().at(0).message.find("too often") != std::string::npos);
  world fewer{{policy("east", 1, {"e1"})}, limits, {7, 1, start + 30s}};
  CHECK(fewer.step == "east e1");
}

TEST_CASE("a caller who leaves") {
  SUBCASE("between calls ends at once") {
    world w{two_clusters()};
    w.answer(outcome::unavailable);
    w.answer(outcome::unavailable);
    REQUIRE(w.answer(outcome::unavailable) == "sleep");
    CHECK(w.take(w.fsm.cancel()) == "finished cancelled");
    CHECK(w.take(w.fsm.woken(w.with())) == "hold");
  }
  SUBCASE("during a call ends with its answer, and no other is made") {
    std::vector<std::pair<outcome, std::string>> const table{
        {outcome::cancelled, "finished cancelled"},   {outcome::unavailable, "finished cancelled"},
        {outcome::exhausted, "finished cancelled"},   {outcome::contention, "finished cancelled"},
        {outcome::allocated, "finished allocated"},   {outcome::unknown, "finished unknown"},
        {outcome::refused, "finished refused"}};
    for (auto const& [result, next] : table) {
      auto limits = plain_limits();
      limits.repeats = 1;
      world w{two_clusters(), limits};
      CHECK(w.take(w.fsm.cancel()) == "hold");
      CHECK(w.answer(result) == next);
    }
  }
  SUBCASE("after the end changes nothing") {
    world w{two_clusters()};
    w.answer(outcome::allocated);
    CHECK(w.take(w.fsm.cancel()) == "hold");
  }
}

TEST_CASE("the list of attempts is bounded") {
  auto limits = plain_limits();
  limits.most_attempts = 2;
  world w{two_clusters(), limits};
  w.answer(outcome::unavailable);
  w.answer(outcome::unavailable);
  w.answer(outcome::allocated);
  CHECK(w.fsm.attempts().size() == 2);
}

TEST_CASE("first picks follow the weights within one percent of 100,000 draws") {
  auto heavy = policy("a", 1, {"x"});
  heavy.weight = 70;
  auto light = policy("b", 1, {"y"});
  light.weight = 30;
  std::vector const policies{heavy, light};
  connection_iterator const clusters{policies};
  auto const limits = plain_limits();
  cluster_memory memory;
  seeded_random random{11};
  int first = 0;
  for (int i = 0; i != 100'000; ++i) {
    cluster_fsm fsm{clusters, {7, 0, start + 30s}, limits};
    fsm.start({start, memory, random});
    if (fsm.at().identity == "a") ++first;
    fsm.answered({outcome::allocated, false, "", 0ns}, {start, memory, random});
  }
  CHECK(first > 69'000);
  CHECK(first < 71'000);
}
