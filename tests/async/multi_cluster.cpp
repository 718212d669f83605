#include "../support/cluster_fixture.hpp"

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/system_executor.hpp>
#include <doctest/doctest.h>

#include <optional>
#include <stdexcept>

using namespace test_support;

TEST_CASE("this cluster has a server: no other is asked") {
  cluster_fixture f{{here(), policy("east", 2, {"e1"})}};
  f.add("gs1");
  auto const c = f.ask();
  f.store.acknowledge(0);
  f.run();
  REQUIRE(c->done());
  CHECK(c->ended() == outcome::allocated);
  CHECK(c->result().source == "local");
  CHECK(c->result().server->meta.name == "gs1");
  REQUIRE(c->result().attempts.size() == 1);
  CHECK(c->result().attempts[0].cluster == "here");
  CHECK(f.remote.calls() == 0);
}

TEST_CASE("this cluster is exhausted: the remote's server is the answer, with its endpoint as source") {
  cluster_fixture f{{here(), policy("east", 2, {"e1:8443"})}};
  auto const c = f.ask();
  REQUIRE(f.remote.calls() == 1);
  f.remote.allocate(0, "far");
  f.run();
  CHECK_FALSE(c->code());
  CHECK(c->result().server->meta.name == "far");
  CHECK(c->result().source == "e1:8443");
  REQUIRE(c->result().attempts.size() == 2);
  CHECK(c->result().attempts[0].result == outcome::exhausted);
  CHECK(c->result().attempts[1].endpoint == "e1:8443");
  CHECK(c->completions == 1);
}

TEST_CASE("what a remote is told, the policy's namespace in place of the request's (S5)") {
  auto east = policy("east", 1, {"e1"});
  east.meta.annotations.set(server_name_annotation, "name.example");
  east.meta.annotations.set(match_expressions_annotation, "true");
  east.connection_info.namespace_ = "games";
  east.connection_info.secret_name = "east-client";
  east.connection_info.server_ca = "PEM";
  cluster_fixture f{{east}};
  multi_cluster_request request;
  request.request = fleet_request();
  request.request_id = "id-1";
  request.hops = 1;
  auto const c = f.ask(request);
  auto const& call = f.remote.call(0);
  CHECK(call.cluster == "east");
  CHECK(call.endpoint == "e1");
  CHECK(call.server_name == "name.example");
  CHECK(call.match_expressions);
  CHECK(call.namespace_ == "games");
  CHECK(call.credentials == credential_reference{"default", "east-client", "PEM"});
  CHECK(call.request_id == "id-1");
  CHECK(call.hops == 1);
  CHECK(call.deadline == f.clock.now() + 10s);
  CHECK(*call.allocation == request.request->allocation());
  f.remote.allocate(0, "far");
  f.run();
  CHECK(c->done());
}

TEST_CASE("a request without an id gets one, and is the same for each try (Q41)") {
  cluster_fixture f{{policy("east", 1, {"e1", "e2"})}};
  auto const c = f.ask();
  f.remote.answer(0, outcome::unavailable);
  f.run();
  CHECK(f.remote.call(0).request_id.size() == 32);
  CHECK(f.remote.call(1).request_id == f.remote.call(0).request_id);
  CHECK(f.remote.call(1).allocation == f.remote.call(0).allocation);
  f.remote.allocate(1, "far");
  f.run();
  CHECK(c->ended() == outcome::allocated);
}

TEST_CASE("this cluster allocates in the policy's namespace") {
  cluster_fixture f{{here("games")}};
  auto server = make_server("gs1");
  server.meta.namespace_ = "games";
  f.cache.store(share(server));
  f.add("gs2");
  auto const c = f.ask();
  f.store.acknowledge(0);
  f.run();
  CHECK(c->result().server->meta.name == "gs1");
}

TEST_CASE("all clusters dead: unavailable, with every attempt") {
  cluster_fixture f{{policy("east", 1, {"e1"}), policy("west", 2, {"w1"})}};
  auto const c = f.ask();
  f.remote.answer(0, outcome::unavailable, "connection refused");
  f.run();
  f.remote.answer(1, outcome::unavailable, "no route");
  f.run();
  CHECK(c->ended() == outcome::unavailable);
  CHECK(c->code() == errc::unavailable);
  REQUIRE(c->result().attempts.size() == 2);
  CHECK(c->result().server_message ==
        "no cluster available: east at e1: unavailable, 0 ms (connection refused); west at w1: unavailable, 0 ms (no route)");
}

TEST_CASE("what this cluster knows of being exhausted is kept for the end") {
  cluster_fixture f{{here(), policy("east", 2, {"e1"})}};
  auto const c = f.ask();
  f.remote.answer(0, outcome::unavailable);
  f.run();
  CHECK(c->ended() == outcome::exhausted);
  CHECK(c->result().server_code == 0);
  CHECK(c->result().remaining != nullptr);
}

TEST_CASE("a remote's refusal is passed on as it came") {
  cluster_fixture f{{policy("east", 1, {"e1"})}};
  auto const c = f.ask();
  remote_result no;
  no.result = outcome::refused;
  no.message = "not you";
  no.code = 403;
  f.remote.answer(0, no);
  f.run();
  CHECK(c->ended() == outcome::refused);
  CHECK(c->result().server_message == "not you");
  CHECK(c->result().server_code == 403);
}

TEST_CASE("no policy for the namespace is an error of the reference's words") {
  auto other = policy("east", 1, {"e1"});
  other.meta.namespace_ = "other";
  cluster_fixture f{{other}};
  auto const c = f.ask();
  CHECK(c->ended() == outcome::refused);
  CHECK(c->result().server_code == 500);
  CHECK(c->result().server_message == "no multi-cluster allocation policy is specified");
}

TEST_CASE("a policy selector that cannot be compiled is invalid") {
  cluster_fixture f{{policy("east", 1, {"e1"})}};
  auto wanted = fleet_allocation();
  wanted.spec.multi_cluster.policy_selector.match_expressions.push_back({"a", "Near", {}});
  multi_cluster_request request;
  request.request = compile_request(wanted);
  auto const c = f.ask(request);
  CHECK(c->ended() == outcome::invalid);
  REQUIRE(c->result().errors.size() == 1);
  CHECK(c->result().errors[0].field == "spec.multiClusterSetting.policySelector");
}

TEST_CASE("a policy that is deleted while its cluster is tried counts for the requests after") {
  cluster_fixture f{{policy("east", 1, {"e1", "e2"})}};
  auto const c = f.ask();
  f.policies.replace({});
  f.remote.answer(0, outcome::unavailable);
  f.run();
  f.remote.allocate(1, "far");
  f.run();
  CHECK(c->ended() == outcome::allocated);
  CHECK(f.ask()->ended() == outcome::refused);
}

TEST_CASE("one deadline for all clusters, and a shorter one for a call") {
  multi_cluster_options options;
  options.call_timeout = 4s;
  cluster_fixture f{{policy("east", 1, {"e1", "e2", "e3"})}, options};
  multi_cluster_request request;
  request.request = fleet_request();
  request.options.timeout = 6s;
  auto const end = f.clock.now() + 6s;
  auto const c = f.ask(request);
  CHECK(f.remote.call(0).deadline == f.clock.now() + 4s);
  f.pass(4s);
  f.remote.answer(0, outcome::deadline);
  f.run();
  REQUIRE(f.remote.calls() == 2);
  CHECK(f.remote.call(1).deadline == end);
  f.pass(2s);
  f.remote.answer(1, outcome::deadline);
  f.run();
  CHECK(c->ended() == outcome::deadline);
  CHECK(c->result().attempts.size() == 2);
  CHECK(f.remote.calls() == 2);
}

TEST_CASE("a caller who leaves during a remote call withdraws it (Q12)") {
  cluster_fixture f{{policy("east", 1, {"e1"}), policy("west", 2, {"w1"})}};
  SUBCASE("not sent yet") {
    auto const c = f.ask();
    c->cancel();
    f.run();
    CHECK(f.remote.withdrawn(0));
    CHECK(c->ended() == outcome::cancelled);
  }
  SUBCASE("sent") {
    f.remote.withdrawn_as = outcome::unknown;
    auto const c = f.ask();
    c->cancel();
    f.run();
    CHECK(c->ended() == outcome::unknown);
    CHECK(c->result().server_message.view().find("request id ") == 0);
    CHECK(f.log.lines.size() == 1);
  }
  CHECK(f.remote.calls() == 1);
}

TEST_CASE("a caller who leaves during an allocation here, or in a pause between rounds") {
  multi_cluster_options options;
  options.limits.rounds = {2, 100ms, 1.0, 0.0, 100ms};
  cluster_fixture f{{here(), policy("east", 2, {"e1"})}, options};
  SUBCASE("here") {
    f.add("gs1");
    auto const c = f.ask();
    c->cancel();
    f.run();
    f.store.answer(0, errc::cancelled);
    f.run();
    CHECK(c->ended() == outcome::cancelled);
    CHECK(f.remote.calls() == 0);
  }
  SUBCASE("pause") {
    auto const c = f.ask();
    f.remote.answer(0, outcome::contention);
    f.run();
    REQUIRE_FALSE(c->done());
    CHECK(f.clock.pending() == 1);
    c->cancel();
    f.run();
    CHECK(c->ended() == outcome::cancelled);
  }
}

TEST_CASE("after the pause a busy cluster is asked again") {
  multi_cluster_options options;
  options.limits.rounds = {2, 100ms, 1.0, 0.0, 100ms};
  cluster_fixture f{{policy("east", 1, {"e1"})}, options};
  auto const c = f.ask();
  f.remote.answer(0, outcome::contention);
  f.run();
  f.pass(100ms);
  REQUIRE(f.remote.calls() == 2);
  f.remote.allocate(1, "far");
  f.run();
  CHECK(c->ended() == outcome::allocated);
  CHECK(c->result().attempts.size() == 2);
}

TEST_CASE("destroying the allocator cancels what is outstanding, and later cancellations find nothing (Q44)") {
  cluster_fixture f{{policy("east", 1, {"e1"})}};
  auto const c = f.ask();
  CHECK(f.clusters->outstanding() == 1);
  f.clusters.reset();
  f.run();
  CHECK(c->ended() == outcome::cancelled);
  c->cancel();
  f.run();
  CHECK(c->completions == 1);
}

TEST_CASE("requests beyond the bound are told to come back") {
  auto options = cluster_fixture::quick();
  options.max_operations = 1;
  cluster_fixture f{{policy("east", 1, {"e1"})}, options};
  auto const first = f.ask();
  auto const second = f.ask();
  CHECK(second->ended() == outcome::contention);
  CHECK(second->result().retry_after > 0ns);
  f.remote.allocate(0, "far");
  f.run();
  CHECK(first->ended() == outcome::allocated);
}

TEST_CASE("an endpoint that keeps failing is left alone, which is said once and can be looked at") {
  cluster_fixture f{{policy("east", 1, {"e1"})}};
  for (std::size_t i = 0; i != 3; ++i) {
    f.ask();
    f.remote.answer(i, outcome::unavailable, "refused");
    f.run();
  }
  CHECK(f.ask()->ended() == outcome::unavailable);
  CHECK(f.remote.calls() == 3);
  CHECK(f.log.lines.size() == 1);
  std::vector<endpoint_state> seen;
  f.clusters->async_endpoints([&seen](std::vector<endpoint_state> found) { seen = std::move(found); });
  f.run();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].breaker == breaker_state::open);
  f.pass(2s);
  auto const probe = f.ask();
  REQUIRE(f.remote.calls() == 4);
  auto const other = f.ask();
  CHECK(other->ended() == outcome::unavailable);
  f.remote.allocate(3, "far");
  f.run();
  CHECK(probe->ended() == outcome::allocated);
  CHECK(f.log.lines.size() == 2);
}

TEST_CASE("remote calls are counted, and a request once, whoever allocates") {
  cluster_fixture f{{here(), policy("east", 2, {"e1"})}};
  f.ask();
  f.pass(7ms);
  f.remote.allocate(0, "far");
  f.run();
  REQUIRE(f.samples.calls.size() == 1);
  CHECK(f.samples.calls[0] == "east e1 allocated");
  REQUIRE(f.samples.samples.size() == 1);
  CHECK(f.samples.samples[0].result == outcome::allocated);
  CHECK(f.samples.samples[0].cluster == "east");
  CHECK(f.samples.samples[0].tries == 2);
  CHECK(f.samples.samples[0].took == 7ms);
  CHECK(f.samples.samples[0].multi_cluster);
  CHECK(f.log.lines.empty());  // success is no news (S11)
}

TEST_CASE("what this cluster hands out after others were asked is counted here, from the request's start") {
  cluster_fixture f{{policy("east", 0, {"e1"}), here()}};
  f.add("gs1");
  f.ask();
  f.pass(7ms);
  f.remote.answer(0, outcome::exhausted);
  f.run();
  f.store.acknowledge(0);
  f.run();
  REQUIRE(f.samples.samples.size() == 1);
  CHECK(f.samples.samples[0].result == outcome::allocated);
  CHECK(f.samples.samples[0].fleet == "fleet");
  CHECK(f.samples.samples[0].cluster == "");
  CHECK(f.samples.samples[0].took == 7ms);
  CHECK(f.samples.samples[0].multi_cluster);
}

TEST_CASE("a request that nobody has a server for counts once, as one over several clusters") {
  cluster_fixture f{{here(), policy("east", 2, {"e1"})}};
  f.ask();
  f.remote.answer(0, outcome::exhausted);
  f.run();
  REQUIRE(f.samples.samples.size() == 1);
  CHECK(f.samples.samples[0].result == outcome::exhausted);
  CHECK(f.samples.samples[0].multi_cluster);
  f.allocate(fleet_request());  // of this cluster alone
  REQUIRE(f.samples.samples.size() == 2);
  CHECK_FALSE(f.samples.samples[1].multi_cluster);
}

TEST_CASE("a deadline beyond all time is none") {
  cluster_fixture f{{policy("east", 1, {"e1"})}};
  multi_cluster_request request;
  request.request = fleet_request();
  request.options.timeout = std::chrono::nanoseconds::max();
  auto const c = f.ask(request);
  REQUIRE(f.remote.calls() == 1);
  f.remote.allocate(0, "far");
  f.run();
  CHECK(c->ended() == outcome::allocated);
}

TEST_CASE("without servers of one's own the local turn is passed over") {
  cluster_fixture f{{here(), policy("east", 2, {"e1"})}};
  multi_cluster_allocator remote_only{f.context.get_executor(), nullptr, f.remote, f.policies, f.clock, f.random};
  std::optional<outcome> ended;
  multi_cluster_request request;
  request.request = fleet_request();
  remote_only.async_allocate(request, [&ended](error_code, allocation_result r) { ended = r.result; });
  f.run();
  f.remote.allocate(0, "far");
  f.run();
  CHECK(ended == outcome::allocated);
}

TEST_CASE("multi-cluster options out of range are refused by name") {
  auto const refused = [](auto change, char const* name) {
    multi_cluster_options options;
    change(options);
    CHECK_THROWS_WITH_AS(check(options), doctest::Contains(name), std::invalid_argument);
  };
  refused([](auto& o) { o.timeout = 0ns; }, "timeout");
  refused([](auto& o) { o.call_timeout = 0ns; }, "call_timeout");
  refused([](auto& o) { o.max_operations = 0; }, "max_operations");
  refused([](auto& o) { o.probe_timeout = 0ns; }, "probe_timeout");
  refused([](auto& o) { o.limits.wait_slice = 0ns; }, "limits.wait_slice");
  refused([](auto& o) { o.limits.rounds.attempts = 0; }, "rounds.attempts");
}

namespace {

/// Keeps the executor on which it is to answer; never does.
struct asked_where final : remote_allocator {
  std::optional<boost::asio::any_completion_executor> executor;
  std::optional<handler> kept;

 private:
  void do_allocate(remote_call, handler done) override {
    executor = boost::asio::get_associated_executor(done, boost::asio::any_completion_executor{boost::asio::system_executor{}});
    kept.emplace(std::move(done));
  }
};

}  // namespace

TEST_CASE("a serial executor is used as it is, any other through a strand") {
  for (bool const serial : {true, false}) {
    CAPTURE(serial);
    allocator_fixture f;
    policy_list const policies{{policy("east", 1, {"e1"})}};
    asked_where remote;
    multi_cluster_options options;
    options.serial_executor = serial;
    multi_cluster_allocator clusters{f.context.get_executor(), nullptr, remote, policies, f.clock, f.random, options};
    int told = 0;
    multi_cluster_request request;
    request.request = fleet_request();
    clusters.async_allocate(request, [&told](error_code, allocation_result const& result) {
      ++told;
      CHECK(result.server->meta.name == "far");
    });
    CHECK_FALSE(remote.executor);  // never inside the call
    f.run();
    REQUIRE(remote.executor);
    CHECK((*remote.executor == boost::asio::any_completion_executor{f.context.get_executor()}) == serial);
    remote_result answer;
    answer.result = outcome::allocated;
    answer.server = share(make_server("far"));
    auto done = std::move(*remote.kept);
    boost::asio::post(f.context, [&done, &answer, &remote] {
      boost::asio::dispatch(*remote.executor, boost::asio::append(std::move(done), std::move(answer)));
    });
    f.run();
    CHECK(told == 1);
  }
}
