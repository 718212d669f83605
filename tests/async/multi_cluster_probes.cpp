// Dead endpoints are probed beside the requests, so that no caller pays for finding out.
#include "../support/cluster_fixture.hpp"

#include <doctest/doctest.h>

using namespace test_support;

namespace {

/// Its first endpoint has failed so often that its breaker is open.
struct dead_endpoint : cluster_fixture {
  explicit dead_endpoint(std::vector<game_server_allocation_policy> all, bool probe_idle = true)
      : cluster_fixture{std::move(all), settings(probe_idle), true} {
    for (std::size_t i = 0; i != 3; ++i) {
      ask();
      remote.answer(i, outcome::unavailable, "gone");
      run();
    }
    REQUIRE(samples.breakers == std::vector<std::string>{"east e1 open"});
  }
  static auto settings(bool probe_idle) -> multi_cluster_options {
    auto out = quick();
    out.probe_idle = probe_idle;
    return out;
  }
  // The jitter takes nothing with draws of 0; a second, then two, and so on.
  void until_probe(std::size_t number) {
    for (int i = 0; i != 100 && remote.probes() < number; ++i) pass(1s);
    REQUIRE(remote.probes() == number);
  }
};

}  // namespace

TEST_CASE("an open breaker lets no caller through: the endpoint is probed, and called again once it answers") {
  dead_endpoint f{{policy("east", 1, {"e1"})}};
  CHECK(f.remote.probes() == 0);
  f.until_probe(1);
  CHECK(f.ask()->ended() == outcome::unavailable);
  CHECK(f.remote.calls() == 3);
  f.remote.answer_probe(0, "still gone");
  f.run();
  CHECK(f.ask()->ended() == outcome::unavailable);
  f.until_probe(2);
  f.remote.answer_probe(1, "");
  f.run();
  CHECK(f.samples.breakers == std::vector<std::string>{"east e1 open", "east e1 closed"});
  auto const c = f.ask();
  REQUIRE(f.remote.calls() == 4);
  f.remote.allocate(3, "far");
  f.run();
  CHECK(c->ended() == outcome::allocated);
  CHECK(f.clock.pending() == 0);  // nothing is probed any more
}

TEST_CASE("a probe is told what a call would be, but for the request, and has a time of its own") {
  auto east = policy("east", 1, {"e1"});
  east.meta.annotations.set(server_name_annotation, "name.example");
  east.connection_info.secret_name = "east-client";
  east.connection_info.server_ca = "PEM";
  dead_endpoint f{{east}};
  f.until_probe(1);
  auto const& probe = f.remote.probe(0);
  CHECK(probe.cluster == "east");
  CHECK(probe.endpoint == "e1");
  CHECK(probe.server_name == "name.example");
  CHECK(probe.credentials == credential_reference{"default", "east-client", "PEM"});
  CHECK(probe.allocation == nullptr);
  CHECK(probe.deadline == f.clock.now() + 5s);
  f.remote.answer_probe(0, "");
  f.run();
}

TEST_CASE("an endpoint that answers probes but no calls is left alone again after one call") {
  dead_endpoint f{{policy("east", 1, {"e1"})}};
  f.until_probe(1);
  f.remote.answer_probe(0, "");
  f.run();
  f.ask();
  f.remote.answer(3, outcome::unavailable, "gone");
  f.run();
  CHECK(f.ask()->ended() == outcome::unavailable);
  CHECK(f.remote.calls() == 4);
  CHECK(f.samples.breakers.back() == "east e1 open");
}

TEST_CASE("an endpoint that no policy names any more is probed no more") {
  dead_endpoint f{{policy("east", 1, {"e1"})}};
  f.policies.replace({policy("east", 1, {"e2"})});
  for (int i = 0; i != 10; ++i) f.pass(1s);
  CHECK(f.remote.probes() == 0);
  CHECK(f.clock.pending() == 0);
  CHECK(f.samples.breakers.back() == "east e1 closed");  // its series must not stay
}

TEST_CASE("the end of the allocator ends a wait for a probe, and a probe's answer after it is dropped") {
  dead_endpoint f{{policy("east", 1, {"e1"})}};
  SUBCASE("waiting") {}
  SUBCASE("probing") {
    f.until_probe(1);
    f.clusters.reset();
    f.run();
    f.remote.answer_probe(0, "");
    f.run();
    CHECK(f.samples.breakers.size() == 1);
  }
}

TEST_CASE("without requests nothing waits, and the first call after a pause finds out itself") {
  dead_endpoint f{{policy("east", 1, {"e1"})}, false};
  CHECK(f.clock.pending() == 0);
  CHECK(f.ask()->ended() == outcome::unavailable);
  CHECK(f.remote.calls() == 3);
  CHECK(f.clock.pending() == 0);
  f.pass(1h);
  CHECK(f.remote.probes() == 0);
  for (std::size_t i = 3; i != 5; ++i) {
    auto const c = f.ask();
    REQUIRE(f.remote.calls() == i + 1);
    CHECK(f.ask()->ended() == outcome::unavailable);  // one is enough
    i == 3 ? f.remote.answer(i, outcome::unavailable, "gone") : f.remote.allocate(i, "far");
    f.run();
    CHECK(c->ended() == (i == 3 ? outcome::unavailable : outcome::allocated));
    CHECK(f.clock.pending() == 0);
    f.pass(1h);
  }
  CHECK(f.remote.probes() == 0);
  CHECK(f.samples.breakers == std::vector<std::string>{"east e1 open", "east e1 open", "east e1 closed"});
}

TEST_CASE("while any request is under way dead endpoints are probed, also without idle probes") {
  dead_endpoint f{{policy("east", 1, {"e1"})}, false};
  f.policies.replace({policy("east", 1, {"e1"}), policy("west", 2, {"e2"})});
  auto c = f.ask();
  REQUIRE(f.remote.calls() == 4);
  CHECK(f.remote.call(3).endpoint == "e2");
  f.until_probe(1);
  f.remote.allocate(3, "far");
  f.run();
  CHECK(c->ended() == outcome::allocated);
  f.remote.answer_probe(0, "still gone");  // it ends by itself
  f.run();
  CHECK(f.clock.pending() == 0);

  c = f.ask();
  CHECK(f.remote.call(4).endpoint == "e2");
  f.until_probe(2);
  f.remote.answer_probe(1, "");
  f.run();
  CHECK(f.samples.breakers.back() == "east e1 closed");
  auto const second = f.ask();
  CHECK(f.remote.call(5).endpoint == "e1");
  f.remote.allocate(4, "far");
  f.remote.allocate(5, "near");
  f.run();
  CHECK(second->ended() == outcome::allocated);
  CHECK(f.clock.pending() == 0);
}
