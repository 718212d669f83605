// A readiness gate over several clusters: whose it is, and how long its cluster may take.
#include "../support/cluster_fixture.hpp"

#include <agones_alloc/async/gate_request.hpp>

#include <doctest/doctest.h>

using namespace test_support;

namespace {

auto gated(std::string text, std::chrono::nanoseconds timeout) -> multi_cluster_request {
  multi_cluster_request out;
  out.request = fleet_request();
  out.options.timeout = timeout;
  out.options.gate = std::make_shared<gate_request const>(gate_request{std::move(text), false, {}});
  return out;
}

}  // namespace

TEST_CASE("the settings of the gate go to the remote, which has the time of a call and that of the gate, within the caller's") {
  cluster_fixture f{{policy("east", 1, {"e1"})}};
  auto const mine = f.ask(gated("http; path=/up; timeout=20s; servers=2", 5min));
  CHECK(f.remote.call(0).gate == "http; path=/up; timeout=20s; servers=2");
  CHECK(f.remote.call(0).deadline == f.clock.now() + 10s + 40s);
  auto const hurried = f.ask(gated("watch", 15s));
  CHECK(f.remote.call(1).deadline == f.clock.now() + 15s);
  auto const off = f.ask(gated("off; timeout=1m", 5min));
  CHECK(f.remote.call(2).gate == "off; timeout=1m");
  CHECK(f.remote.call(2).deadline == f.clock.now() + 10s);
  multi_cluster_request plain;
  plain.request = fleet_request();
  auto const none = f.ask(plain);
  CHECK(f.remote.call(3).gate.empty());
  CHECK(f.remote.call(3).deadline == f.clock.now() + 10s);
  for (std::size_t i = 0; i != 4; ++i) f.remote.allocate(i, "far-" + std::to_string(i));
  f.run();
  CHECK(mine->ended() == outcome::allocated);
  CHECK(off->ended() == outcome::allocated);
}

TEST_CASE("a remote whose games were not ready has nothing, and the next cluster is asked") {
  cluster_fixture f{{policy("east", 1, {"e1"}), policy("west", 2, {"w1"})}};
  auto const c = f.ask(gated("watch; timeout=2s", 1min));
  f.remote.answer(0, outcome::exhausted, "there is no available GameServer to allocate");
  f.run();
  REQUIRE(f.remote.calls() == 2);
  CHECK(f.remote.call(1).gate == "watch; timeout=2s");
  f.remote.allocate(1, "far");
  f.run();
  CHECK(c->ended() == outcome::allocated);
  CHECK(c->result().source == "w1");
}

TEST_CASE("this cluster's own allocator is told of the gate, too") {
  cluster_fixture f{{here()}};
  f.add("gs1");
  auto const c = f.ask(gated("watch", 1min));
  REQUIRE(c->done());
  // It has none.
  CHECK(c->ended() == outcome::invalid);
  CHECK(to_string(c->result().errors).starts_with("options.gate: Forbidden"));
}
