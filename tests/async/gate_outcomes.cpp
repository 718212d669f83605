// Allocations with a readiness gate: when the caller is told, of which server, and what becomes of the others.
#include "../support/gate_fixture.hpp"

#include <doctest/doctest.h>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

/// Waits for a server, and has time enough.
auto patient(std::chrono::nanoseconds time) -> allocate_options {
  allocate_options out;
  out.timeout = 10min;
  out.wait_for = time;
  return out;
}

}  // namespace

TEST_CASE_FIXTURE(gate_fixture, "a server is handed over when the game says that it is ready, by the second write") {
  add("a");
  auto const before = version("a");
  auto const mine = allocate();
  CHECK_FALSE(mine->done());
  CHECK(state("a") == "Reserved");
  CHECK(version("a") == before + 1);
  CHECK(one->gate->pending() == 1);
  pass(3s);
  says("a", "true");
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::allocated);
  CHECK_FALSE(mine->code());
  CHECK(name_of(mine) == "a");
  CHECK(state("a") == "Allocated");
  CHECK(version("a") == before + 3);  // the game's own is one of them
  CHECK_FALSE(has_pending(*mine->result().server));
  CHECK_FALSE(mine->result().claim.empty());
  CHECK(one->gate->pending() == 0);
  REQUIRE(one->events.lines.size() == 2);
  CHECK(one->events.lines[0] == "Normal a Allocating: allocation " + mine->result().claim.str() + " waits until the game server is ready");
  CHECK(one->events.lines[1] == "Normal a Allocated: Allocated");
  REQUIRE(one->samples.samples.size() == 1);
  CHECK(one->samples.samples[0].result == outcome::allocated);
  CHECK(one->samples.samples[0].took == 3s);
}

TEST_CASE("without a gate there is one write, and nothing else") {
  gate_fixture all{"off"};
  all.add("a");
  auto const before = all.version("a");
  auto const mine = all.allocate();
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::allocated);
  CHECK(all.version("a") == before + 1);
  CHECK(mine->result().claim.empty());
  CHECK(all.stored("a").meta.annotations.size() == 1);  // last-allocated
  CHECK(all.one->events.lines == std::vector<std::string>{"Normal a Allocated: Allocated"});
  CHECK(all.one->samples.samples.size() == 1);
}

TEST_CASE_FIXTURE(gate_fixture, "the SDK's Allocate hands the server over, too") {
  add("a");
  auto const mine = allocate();
  becomes("a", game_server_state::allocated);
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::allocated);
  CHECK_FALSE(has_pending(stored("a")));
  CHECK(stored("a").status.reserved_until == unset_time);
}

TEST_CASE_FIXTURE(gate_fixture, "the answer to the allocation before does not count") {
  add("a");
  says("a", "true");
  auto const mine = allocate();
  CHECK_FALSE(mine->done());
  says("a", stored("a").meta.annotations.value_or_empty(keys::pending_id_annotation));
  CHECK(mine->done());
}

TEST_CASE_FIXTURE(gate_fixture, "a server that is not ready in time is shut down, and the next one handed over") {
  start("watch; timeout=5s");
  add("a");
  add("b");
  auto const mine = allocate();
  auto const first = one->gate->pending() == 1 && state("a") == "Reserved" ? "a" : "b";
  std::string const other = first == std::string{"a"} ? "b" : "a";
  pass(5s);
  CHECK_FALSE(mine->done());
  CHECK(state(first) == "Shutdown");
  CHECK(state(other) == "Reserved");
  says(other, "true");
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::allocated);
  CHECK(name_of(mine) == other);
  REQUIRE(mine->result().attempts.size() == 1);
  CHECK(mine->result().attempts[0].server == key(first));
  CHECK(mine->result().attempts[0].result == outcome::deadline);
  CHECK(mine->result().attempts[0].message == "readiness gate: timed_out");
  CHECK(mine->result().attempts[0].took == 5s);
  CHECK(mine->result().tries == 2);
  CHECK(one->samples.samples.size() == 1);
}

TEST_CASE_FIXTURE(gate_fixture, "a server that is returned to Ready is as it was, and another one is tried first") {
  start("watch; timeout=2s; on-timeout=ReturnToReady; servers=3");
  add("a");
  add("b");
  auto wanted = fleet_allocation();
  wanted.spec.metadata.labels.set("mode", "ranked");
  auto const mine = allocate({}, compile_request(wanted));
  std::string const first = state("a") == "Reserved" ? "a" : "b";
  std::string const other = first == "a" ? "b" : "a";
  pass(2s);
  CHECK(state(first) == "Ready");
  CHECK_FALSE(stored(first).meta.labels.find("mode"));
  CHECK(stored(first).meta.annotations.empty());
  CHECK(state(other) == "Reserved");
  pass(2s);
  // There is no third: one of them again.
  CHECK_FALSE(mine->done());
  CHECK(one->gate->pending() == 1);
  pass(2s);
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::exhausted);
  CHECK(mine->result().server_message == "no game server became ready in time: 3 tried");
  CHECK(mine->result().attempts.size() == 3);
  CHECK(state("a") == "Ready");
  CHECK(state("b") == "Ready");
}

TEST_CASE_FIXTURE(gate_fixture, "a server that was not ready can be marked Unhealthy") {
  start("watch; timeout=2s; on-timeout=MarkUnhealthy");
  add("a");
  auto const mine = allocate();
  pass(2s);
  CHECK(state("a") == "Unhealthy");
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::exhausted);
}

TEST_CASE_FIXTURE(gate_fixture, "a game that fails, dies or goes ends the wait at once, and the next one is tried") {
  start("watch; servers=4");
  for (auto const* name : {"a", "b", "c", "d"}) add(name);
  auto const mine = allocate();
  auto const pending = [&]() -> std::string {
    for (auto const* name : {"a", "b", "c", "d"}) {
      auto const server = store.find(key(name));
      if (server && server->status.state == game_server_state::reserved) return name;
    }
    return {};
  };
  auto const first = pending();
  says(first, "failed");
  CHECK(state(first) == "Shutdown");
  auto const second = pending();
  CHECK_FALSE(second.empty());
  becomes(second, game_server_state::unhealthy);
  auto const third = pending();
  CHECK_FALSE(third.empty());
  REQUIRE(store.remove(key(third)));
  run();
  auto const last = pending();
  REQUIRE_FALSE(last.empty());
  says(last, "true");
  REQUIRE(mine->done());
  CHECK(name_of(mine) == last);
  CHECK(mine->result().attempts.size() == 3);
  CHECK(mine->result().attempts[0].message == "readiness gate: failed");
  CHECK(mine->result().attempts[1].message == "readiness gate: gone");
  CHECK(mine->result().attempts[2].message == "readiness gate: gone");
}

TEST_CASE_FIXTURE(gate_fixture, "nothing is kept pending beyond its caller's time") {
  add("a");
  allocate_options options;
  options.timeout = 5s;
  auto const mine = allocate(options);
  pass(4500ms);
  CHECK(state("a") == "Shutdown");
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::exhausted);  // there was time for another, but none was there
}

TEST_CASE_FIXTURE(gate_fixture, "a call that waits gets the next server, and is told when that one is ready") {
  auto const mine = allocate(patient(20s));
  CHECK_FALSE(mine->done());
  pass(15s);
  add("a");
  CHECK(state("a") == "Reserved");
  CHECK_FALSE(mine->done());
  pass(10s);  // beyond the time to wait for a server: it has one
  CHECK_FALSE(mine->done());
  says("a", "true");
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::allocated);
  CHECK(name_of(mine) == "a");
}

TEST_CASE_FIXTURE(gate_fixture, "where the next server is not there yet the call waits anew, behind those who wait already") {
  start("watch; timeout=5s; servers=3");
  add("a");
  auto const first = allocate(patient(60s));
  auto const second = allocate(patient(60s));
  CHECK(state("a") == "Reserved");
  pass(5s);
  CHECK(state("a") == "Shutdown");
  CHECK_FALSE(first->done());
  CHECK_FALSE(second->done());
  CHECK(one->gate->pending() == 0);
  pass(3s);
  add("b");
  says("b", "true");
  REQUIRE(second->done());
  CHECK(second->ended() == outcome::allocated);
  CHECK(name_of(second) == "b");
  CHECK(second->result().attempts.empty());
  CHECK_FALSE(first->done());
  auto const third = allocate(patient(60s));
  add("c");
  CHECK(state("c") == "Reserved");
  says("c", "true");
  REQUIRE(first->done());
  CHECK(first->ended() == outcome::allocated);
  CHECK(name_of(first) == "c");
  REQUIRE(first->result().attempts.size() == 1);
  CHECK(first->result().attempts[0].server == key("a"));
  CHECK_FALSE(third->done());
  third->cancel();
  run();
  CHECK(third->ended() == outcome::cancelled);
}

TEST_CASE_FIXTURE(gate_fixture, "the time to wait is one for all servers that are tried, and ends as exhausted") {
  start("watch; timeout=5s; servers=3");
  add("a");
  auto const mine = allocate(patient(8s));
  pass(5s);
  CHECK(state("a") == "Shutdown");
  CHECK_FALSE(mine->done());
  pass(2900ms);
  CHECK_FALSE(mine->done());
  pass(100ms);
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::exhausted);
  REQUIRE(mine->result().attempts.size() == 1);
  CHECK(mine->result().attempts[0].message == "readiness gate: timed_out");
  // Who may not wait is told at once.
  add("b");
  auto const hasty = allocate();
  pass(5s);
  REQUIRE(hasty->done());
  CHECK(hasty->ended() == outcome::exhausted);
}

TEST_CASE_FIXTURE(gate_fixture, "each end of a wait is told with its policy, by a warning") {
  auto const told = [this] { return one->events.lines.back(); };
  auto const named = [this](std::string_view wanted) -> std::string { return state("a") == wanted ? "a" : "b"; };
  start("watch; timeout=5s; servers=1");
  for (auto const* name : {"a", "b"}) add(name);
  auto wanted = fleet_allocation();
  wanted.spec.metadata.labels.set("mode", "ranked");
  auto const request = compile_request(wanted);
  SUBCASE("failed") {
    allocate({}, request);
    says(named("Reserved"), "failed");
    CHECK(told() == "Warning " + named("Shutdown") + " AllocationFailed: it says that it will not be ready: Shutdown");
  }
  SUBCASE("timed out") {
    allocate(with_gate("on-timeout=MarkUnhealthy"), request);
    pass(5s);
    CHECK(told() == "Warning " + named("Unhealthy") + " AllocationTimeout: not ready in time: MarkUnhealthy");
  }
  SUBCASE("abandoned") {
    auto const mine = allocate(with_gate("on-timeout=ReturnToReady"), request);
    auto const name = named("Reserved");
    mine->cancel();
    run();
    CHECK(told() == "Warning " + name + " AllocationAbandoned: nobody waits for it any more: ReturnToReady");
  }
  SUBCASE("with what could not be taken back") {
    auto const mine = allocate(with_gate("on-timeout=ReturnToReady"), request);
    auto const name = named("Reserved");
    change(name, [](game_server& server) { server.meta.labels.set("mode", "another"); });
    mine->cancel();
    run();
    CHECK(told().starts_with("Warning " + name + " AllocationAbandoned: nobody waits for it any more: ReturnToReady; not undone: "));
    CHECK(told().find("mode") != std::string::npos);
    CHECK(stored(name).meta.labels.value_or_empty("mode") == "another");
  }
}

TEST_CASE_FIXTURE(gate_fixture, "who leaves gives the server up") {
  start("watch; on-timeout=ReturnToReady");
  add("a");
  auto const mine = allocate();
  mine->cancel();
  run();
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::cancelled);
  CHECK(state("a") == "Ready");
  CHECK(one->gate->pending() == 0);
  auto const next = allocate();
  says("a", "true");
  CHECK(next->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(gate_fixture, "who has an id and leaves may come back for the server") {
  add("a");
  add("b");
  allocate_options options;
  options.request_id = "match-1";
  auto const mine = allocate(options);
  mine->cancel();
  run();
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::unknown);
  CHECK(mine->result().claim == "match-1");
  auto const name = name_of(mine);
  CHECK(state(name) == "Reserved");
  auto const again = allocate(options);
  CHECK_FALSE(again->done());
  CHECK(one->gate->pending() == 1);
  says(name, "true");
  REQUIRE(again->done());
  CHECK(again->ended() == outcome::allocated);
  CHECK(again->result().repeated);
  CHECK(name_of(again) == name);
}

TEST_CASE_FIXTURE(gate_fixture, "three calls with one id wait for one server, also those that come while it is pending") {
  add("a");
  add("b");
  allocate_options options;
  options.request_id = "match-1";
  std::vector<std::shared_ptr<call>> calls;
  calls.push_back(allocate(options));
  calls.push_back(allocate(options));
  pass(1s);
  calls.push_back(allocate(options));
  CHECK(one->gate->pending() == 1);
  calls[0]->cancel();
  run();
  CHECK(one->gate->pending() == 1);
  auto const name = state("a") == "Reserved" ? "a" : "b";
  says(name, "match-1");
  for (std::size_t i = 1; i != 3; ++i) {
    REQUIRE(calls[i]->done());
    CHECK(calls[i]->ended() == outcome::allocated);
    CHECK(name_of(calls[i]) == name);
  }
  auto other = options;
  CHECK(allocate(other, fleet_request("other"))->ended() == outcome::invalid);
}

TEST_CASE_FIXTURE(gate_fixture, "an asynchronous call ends when the server is pending, and its end is found by its id") {
  add("a");
  auto const mine = allocate(with_gate("", true));
  REQUIRE(mine->done());
  CHECK(has_pending(*mine->result().server));
  auto const id = mine->result().claim;
  CHECK_FALSE(id.empty());
  auto const found = begun([&](auto done) { one->alloc->async_find_claim("default", id, {}, std::move(done)); });
  REQUIRE(found->done());
  CHECK(has_pending(*found->result().server));
  std::optional<std::pair<error_code, gate_result>> end;
  one->gate->async_wait("default", id, clock.now() + 60s, [&](error_code ec, gate_result r) { end.emplace(ec, std::move(r)); });
  run();
  CHECK_FALSE(end);
  CHECK(one->gate->find_end("default", id.view()) == nullptr);
  SUBCASE("ready") {
    says("a", "true");
    REQUIRE(end);
    CHECK_FALSE(end->first);
    CHECK(end->second.end == gate_end::ready);
    CHECK(end->second.server->status.state == game_server_state::allocated);
    auto const later = begun([&](auto done) { one->alloc->async_find_claim("default", id, {}, std::move(done)); });
    CHECK(later->result().server->status.state == game_server_state::allocated);
  }
  SUBCASE("never ready") {
    pass(30s);
    REQUIRE(end);
    CHECK(end->second.end == gate_end::timed_out);
    CHECK(state("a") == "Shutdown");
    auto const later = begun([&](auto done) { one->alloc->async_find_claim("default", id, {}, std::move(done)); });
    CHECK(later->code() == errc::not_found);
    REQUIRE(one->gate->find_end("default", id.view()) != nullptr);
    CHECK(one->gate->find_end("default", id.view())->end == gate_end::timed_out);
  }
}

TEST_CASE_FIXTURE(gate_fixture, "who asks for an end can leave, or lose patience") {
  add("a");
  auto const id = allocate(with_gate("", true))->result().claim;
  std::vector<error_code> told;
  boost::asio::cancellation_signal stop;
  one->gate->async_wait("default", id, clock.now() + 1s, [&](error_code ec, gate_result r) {
    told.push_back(ec);
    CHECK_FALSE(r.known);
  });
  one->gate->async_wait("default", id, clock.now() + 60s,
                        boost::asio::bind_cancellation_slot(stop.slot(), [&](error_code ec, gate_result) { told.push_back(ec); }));
  one->gate->async_wait("default", "nobody", clock.now() + 60s, [&](error_code ec, gate_result) { told.push_back(ec); });
  run();
  CHECK(told == std::vector<error_code>{errc::not_found});
  pass(1s);
  stop.emit(boost::asio::cancellation_type::terminal);
  run();
  CHECK(told == std::vector<error_code>{errc::not_found, errc::deadline_exceeded, errc::cancelled});
  CHECK(state("a") == "Reserved");
}

TEST_CASE_FIXTURE(gate_fixture, "a claim's time to live begins when the server is handed over") {
  add("a");
  allocate_options options;
  options.claim_ttl = 10s;
  auto const mine = allocate(options);
  pass(20s);
  CHECK(state("a") == "Reserved");
  says("a", "true");
  REQUIRE(mine->done());
  CHECK(find_claim(stored("a"), mine->result().claim.view())->expires == clock.wall_now() + 10s);
  pass(9s);
  CHECK(state("a") == "Allocated");
  pass(2s);
  CHECK(state("a") == "Ready");
}

TEST_CASE_FIXTURE(gate_fixture, "a pending claim is confirmed when it is ready, and released at once") {
  add("a");
  allocate_options options;
  options.request_id = "match-1";
  options.claim_ttl = 10s;
  auto const mine = allocate(options);
  SUBCASE("confirmed") {
    auto const confirmed = begun([&](auto done) { one->alloc->async_confirm("default", "match-1", {}, std::move(done)); });
    CHECK_FALSE(confirmed->done());
    says("a", "true");
    REQUIRE(confirmed->done());
    CHECK(confirmed->ended() == outcome::allocated);
    CHECK_FALSE(find_claim(stored("a"), "match-1")->expires);
    CHECK(mine->ended() == outcome::allocated);
  }
  SUBCASE("released") {
    auto const released = begun([&](auto done) { one->alloc->async_release("default", "match-1", release_to::ready, {}, std::move(done)); });
    REQUIRE(released->done());
    CHECK(released->ended() == outcome::allocated);
    CHECK(state("a") == "Ready");
    REQUIRE(mine->done());
    CHECK(mine->ended() == outcome::cancelled);
    // By somebody else: whoever leaves is told nothing of the kind.
    CHECK(mine->result().server_message == "the claim was released before its game server was ready for players");
    REQUIRE(mine->result().attempts.size() == 1);
    CHECK(mine->result().attempts[0].message == "readiness gate: released");
  }
}

TEST_CASE_FIXTURE(gate_fixture, "a confirmation whose time is up before the server is ready has written nothing, and says so") {
  add("a");
  allocate_options options;
  options.request_id = "match-1";
  options.claim_ttl = 10s;
  auto const mine = allocate(options);
  allocate_options patience;
  patience.timeout = 2s;
  auto const confirmed = begun([&](auto done) { one->alloc->async_confirm("default", "match-1", patience, std::move(done)); });
  pass(1s);
  CHECK_FALSE(confirmed->done());
  pass(1s);
  REQUIRE(confirmed->done());
  CHECK(confirmed->ended() == outcome::deadline);
  CHECK(confirmed->code() == errc::deadline_exceeded);
  REQUIRE(confirmed->result().server != nullptr);
  CHECK(has_pending(*confirmed->result().server));
  auto const left = begun([&](auto done) { one->alloc->async_confirm("default", "match-1", {}, std::move(done)); });
  left->cancel();
  run();
  REQUIRE(left->done());
  CHECK(left->ended() == outcome::cancelled);
  CHECK(state("a") == "Reserved");
  says("a", "true");
  CHECK(mine->ended() == outcome::allocated);
  CHECK(find_claim(stored("a"), "match-1")->expires);
}

TEST_CASE_FIXTURE(gate_fixture, "a confirmation that waits when the gate stops is told to come back") {
  add("a");
  allocate_options options;
  options.request_id = "match-1";
  auto const mine = allocate(options);
  auto const confirmed = begun([&](auto done) { one->alloc->async_confirm("default", "match-1", {}, std::move(done)); });
  one->gate->stop();
  run();
  REQUIRE(confirmed->done());
  CHECK(confirmed->ended() == outcome::unavailable);
  CHECK(mine->ended() == outcome::unknown);
}

TEST_CASE_FIXTURE(gate_fixture, "the request goes before the fleet's template, and that before the default") {
  start("off");
  add("plain");
  auto gated = make_server("gated", "shooters");
  gated.meta.annotations.set(keys::gate_annotation, "watch; key=example.com/up; timeout=7s");
  REQUIRE(store.create(gated));
  run();
  CHECK(allocate()->ended() == outcome::allocated);
  auto const off = allocate(with_gate("off"), fleet_request("shooters"));
  REQUIRE(off->done());
  CHECK(off->ended() == outcome::allocated);
  gated.meta.name = "second";
  gated.meta.uid = "second-uid";
  REQUIRE(store.create(gated));
  run();
  auto const waits = allocate({}, fleet_request("shooters"));
  CHECK_FALSE(waits->done());
  CHECK(find_pending(stored("second"))->gate.timeout == 7s);
  change("second", [](game_server& server) { server.meta.labels.set("example.com/up", "true"); });
  CHECK(waits->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(gate_fixture, "what a request says wrongly is refused before anything is done") {
  add("a");
  auto const mine = allocate(with_gate("watch; timeout=soon"));
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::invalid);
  CHECK(to_string(mine->result().errors) == "options.gate.timeout: Invalid value: \"soon\": a duration such as 30s or 500ms is wanted");
  CHECK(state("a") == "Ready");
}

TEST_CASE_FIXTURE(allocator_fixture, "a call cannot ask an allocator without a gate for one") {
  add("a");
  auto const mine = allocate(fleet_request(), with_gate("watch"));
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::invalid);
  CHECK(to_string(mine->result().errors) == "options.gate: Forbidden: this allocator has no readiness gate");
}

TEST_CASE_FIXTURE(gate_fixture, "a server that is Allocated already has no gate") {
  REQUIRE(store.create(make_server("a", "fleet", game_server_state::allocated)));
  run();
  auto wanted = fleet_allocation();
  wanted.spec.selectors[0].game_server_state = shared_string{"Allocated"};
  auto const mine = allocate({}, compile_request(wanted));
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(gate_fixture, "with the carrier Allocated a server that others take while it is pending is theirs when it is ready, too") {
  start("watch; carrier=Allocated");
  add("a");
  auto const mine = allocate();
  CHECK(state("a") == "Allocated");
  CHECK_FALSE(mine->done());
  auto wanted = fleet_allocation();
  wanted.spec.selectors[0].game_server_state = shared_string{"Allocated"};
  auto const other = allocate({}, compile_request(wanted));
  CHECK_FALSE(other->done());
  says("a", "true");
  REQUIRE(mine->done());
  REQUIRE(other->done());
  CHECK(mine->ended() == outcome::allocated);
  CHECK(other->ended() == outcome::allocated);
  CHECK_FALSE(stored("a").meta.labels.find(keys::allocating_label));
}

TEST_CASE_FIXTURE(gate_fixture, "a game that writes at the same moment delays nothing") {
  add("a");
  auto const mine = allocate();
  // The watch has not shown the second of its writes when the first one is acted upon.
  REQUIRE(store.modify(key("a"), [](game_server& server) { server.meta.annotations.set(keys::sdk_session_ready, "true"); }));
  context.restart();
  while (one->gate->pending() == 1 && context.poll_one() != 0) {
    if (stored("a").meta.annotations.find("noise")) continue;
    REQUIRE(store.modify(key("a"), [](game_server& server) { server.meta.annotations.set("noise", "1"); }));
  }
  run();
  pass(1s);
  REQUIRE(mine->done());
  CHECK(mine->ended() == outcome::allocated);
  CHECK(stored("a").meta.annotations.value_or_empty("noise") == "1");
}

TEST_CASE_FIXTURE(gate_fixture, "too many calls at once are told to come back") {
  add("a");
  gate_options few;
  few.otherwise = gate_of("watch");
  few.max_calls = 1;
  one.reset();
  run();
  one = std::make_unique<gated_replica>(context, store, clock, std::move(few));
  run();
  auto const mine = allocate();
  auto const other = allocate();
  REQUIRE(other->done());
  CHECK(other->ended() == outcome::contention);
  CHECK(other->result().retry_after > 0s);
  says("a", "true");
  CHECK(mine->done());
  CHECK(allocate()->ended() == outcome::exhausted);
}
