// Requests over several clusters that wait for a server.
#include "../support/cluster_fixture.hpp"

#include <doctest/doctest.h>

using namespace test_support;

namespace {

auto waiting(std::chrono::nanoseconds so_long) -> multi_cluster_request {
  multi_cluster_request out;
  out.request = fleet_request();
  out.options.wait_for = so_long;
  return out;
}

}  // namespace

TEST_CASE("nobody has a server: the request waits here, and gets the first that comes") {
  cluster_fixture f{{here(), policy("east", 2, {"e1"})}};
  auto const c = f.ask(waiting(20s));
  REQUIRE(f.remote.calls() == 1);  // the others first
  CHECK(f.samples.depth == 0);
  f.remote.answer(0, outcome::exhausted);
  f.run();
  REQUIRE_FALSE(c->done());
  CHECK(f.samples.depth == 1);
  f.add("gs1");
  f.run();
  f.store.acknowledge(0);
  f.run();
  CHECK(c->ended() == outcome::allocated);
  CHECK(c->result().source == "local");
  CHECK(f.samples.samples.size() == 1);
}

TEST_CASE("while it waits the others are asked again, one at a time") {
  cluster_fixture f{{here(), policy("east", 2, {"e1"})}};
  auto const c = f.ask(waiting(20s));
  f.remote.answer(0, outcome::exhausted);
  f.run();
  f.pass(1s);
  REQUIRE(f.remote.calls() == 2);
  CHECK(f.samples.depth == 0);  // not here meanwhile: two servers might come of it
  f.remote.allocate(1, "far");
  f.run();
  CHECK(c->ended() == outcome::allocated);
  CHECK(c->result().source == "e1");
}

TEST_CASE("a wait that is over ends as exhausted, with all that was tried; one that is left at once") {
  cluster_fixture f{{here(), policy("east", 2, {"e1"})}};
  auto const c = f.ask(waiting(1500ms));
  f.remote.answer(0, outcome::exhausted);
  f.run();
  SUBCASE("over") {
    f.pass(1s);
    f.remote.answer(1, outcome::exhausted);
    f.run();
    f.pass(500ms);
    f.remote.answer(2, outcome::exhausted);
    f.run();
    CHECK(c->ended() == outcome::exhausted);
    CHECK(c->result().attempts.size() == 8);
  }
  SUBCASE("left") {
    c->cancel();
    f.run();
    CHECK(c->ended() == outcome::cancelled);
    CHECK(f.samples.depth == 0);
  }
}

TEST_CASE("a deadline that comes first ends the wait") {
  cluster_fixture f{{here(), policy("east", 2, {"e1"})}};
  auto request = waiting(20s);
  request.options.timeout = 700ms;
  auto const c = f.ask(request);
  f.remote.answer(0, outcome::exhausted);
  f.run();
  f.pass(700ms);
  REQUIRE(c->done());
  CHECK(c->ended() == outcome::exhausted);  // as where this cluster is alone
}
