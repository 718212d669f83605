// The sources that need more of a probe than an answer now and then: streams of events, and what a probe cannot ask by.
#include "../support/scripted_probe.hpp"

#include <doctest/doctest.h>

using namespace test_support;
using namespace std::chrono_literals;

TEST_CASE_FIXTURE(checks_fixture, "a stream lasts as long as the wait, and one event in it ends both") {
  add("a");
  auto const mine = allocate(with_gate("sse; path=/events; timeout=20s; try-timeout=2s; successes=3"));
  REQUIRE(probe.open.size() == 1);
  auto const& target = probe.open[0].target;
  CHECK(target.how == probe_target::protocol::event_stream);
  CHECK(target.address == "10.0.0.1");
  CHECK(target.path == "/events");
  CHECK(target.deadline == clock.now() + 2s);
  CHECK(target.until > clock.now() + 8s);
  CHECK(target.until <= clock.now() + 20s);
  CHECK(target.id == stored("a").meta.annotations.value_or_empty(keys::pending_id_annotation));
  pass(7s);
  CHECK(probe.begun == 1);
  CHECK_FALSE(mine->done());
  answer(0, probe_answer::ready);
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(checks_fixture, "one event that it failed ends the wait, whatever is said of failures in a row") {
  add("a");
  auto const mine = allocate(with_gate("sse; failures=5; servers=1"));
  answer(0, probe_answer::failed);
  CHECK(mine->ended() == outcome::exhausted);
  CHECK(state("a") == "Shutdown");
}

TEST_CASE_FIXTURE(checks_fixture, "a stream that ends is opened again, later each time, up to eight periods") {
  add("a");
  allocate(with_gate("sse; period=1s; timeout=10m", true));
  auto const again = [&] {
    answer(0, probe_answer::pending);
    CHECK(probe.open.empty());
    auto waited = 0ms;
    while (probe.open.empty() && waited < 20s) {
      pass(50ms);
      waited += 50ms;
    }
    return waited;
  };
  auto const first = again();
  CHECK(first >= 250ms);
  CHECK(first <= 1050ms);
  auto last = first;
  for (int i = 0; i != 3; ++i) {
    auto const next = again();
    CHECK(next >= 2 * last - 150ms);
    last = next;
  }
  CHECK(last <= 8100ms);
  CHECK(again() <= last + 50ms);
}

TEST_CASE_FIXTURE(checks_fixture, "a stream is left when the wait ends by something else") {
  add("a");
  auto const mine = allocate(with_gate("sse"));
  CHECK(probe.left == 0);
  becomes("a", game_server_state::allocated);
  CHECK(mine->ended() == outcome::allocated);
  CHECK(probe.left == 1);
  answer(0, probe_answer::failed);  // as a stream that was left ends
  CHECK(state("a") == "Allocated");
}

TEST_CASE_FIXTURE(checks_fixture, "streams are left when the process ends, and whoever carries the server on opens one") {
  add("a");
  allocate(with_gate("sse; timeout=10m", true));
  start("off", "replica-7", &probe);
  CHECK(probe.left == 1);
  answer(0, probe_answer::pending);
  CHECK(probe.open.empty());
  pass(20s);
  REQUIRE(probe.open.size() == 1);
  answer(0, probe_answer::ready);
  pass(2s);
  CHECK(state("a") == "Allocated");
}

TEST_CASE("a host has so many streams at once, beside its checks") {
  gate_fixture all;
  scripted_probe probe;
  gate_options options;
  options.max_streams_per_host = 2;
  options.max_probes_per_host = 1;
  all.one.reset();
  all.run();
  all.one = std::make_unique<gated_replica>(all.context, all.store, all.clock, std::move(options), allocator_options{}, &probe);
  all.run();
  for (int i = 0; i != 6; ++i) {
    all.add("gs-" + std::to_string(i));
    all.allocate(with_gate(i < 4 ? "sse; timeout=1h" : "http; timeout=1h", true));
  }
  CHECK(probe.open.size() == 3);
  for (int i = 0; i != 6; ++i) {
    REQUIRE_FALSE(probe.open.empty());
    probe.answer(0, probe_answer::ready);
    all.run();
  }
  CHECK(all.one->gate->pending() == 0);
  CHECK(probe.most == 3);
  all.one.reset();
}

TEST_CASE_FIXTURE(checks_fixture, "a service of the standard health protocol is asked for by name, at the server's own port") {
  add("a");
  auto const mine = allocate(with_gate("grpc; path=/arena.Match; try-timeout=500ms"));
  REQUIRE(probe.open.size() == 1);
  CHECK(probe.open[0].target.how == probe_target::protocol::grpc);
  CHECK(probe.open[0].target.path == "/arena.Match");
  CHECK(probe.open[0].target.deadline == clock.now() + 500ms);
  answer(0, probe_answer::ready);
  CHECK(mine->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(checks_fixture, "a source that nobody here can ask by is refused with its field, and nothing is taken") {
  probe.knows_grpc = false;
  add("a");
  auto const mine = allocate(with_gate("grpc; timeout=5s"));
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::invalid);
  CHECK(to_string(mine->result().errors).starts_with("options.gate.source: Unsupported value: \"grpc\""));
  CHECK(state("a") == "Ready");
  CHECK_THROWS_WITH_AS(start("grpc", "replica-1", &probe), doctest::Contains("gate_options.otherwise.source: grpc"), std::invalid_argument);
  start("off", "replica-1", &probe);
  allocate(with_gate("http", true));
  CHECK(state("a") == "Reserved");
}

TEST_CASE_FIXTURE(checks_fixture, "a template that wants such a source gets the allocator's own, and the others of its settings") {
  probe.knows_grpc = false;
  start("tcp; timeout=9s", "replica-1", &probe);
  auto server = make_server("a");
  server.meta.annotations.set(keys::gate_annotation, "grpc; path=/up; timeout=7s");
  REQUIRE(store.create(std::move(server)));
  run();
  auto const mine = allocate();
  REQUIRE(probe.open.size() == 1);
  CHECK(probe.open[0].target.how == probe_target::protocol::tcp);
  CHECK(probe.open[0].target.path == "/up");
  answer(0, probe_answer::ready);
  CHECK(mine->ended() == outcome::allocated);
}
