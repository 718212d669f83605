// The gRPC door without gRPC: messages in bytes, codes, details (spec 8.9).
#include "../beast/front_end_fixture.hpp"
#include "plain_request.hpp"

#include <agones_alloc/grpc/allocation_front_end.hpp>

#include <agones_alloc_proto/allocation.pb.h>
#include <agones_alloc_proto/failure.pb.h>

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace {

using namespace agones_alloc;
using namespace grpc_test;
using beast_test::result_of;

struct door {
  explicit door(front_end_options options = {}) : front_end{backend, time, options} {
    backend.next = result_of(outcome::allocated);
  }
  auto ask(std::string bytes, plain_request::fields fields = {}) -> http_response {
    plain_request const request{allocation_front_end::path, std::move(bytes), std::move(fields)};
    std::optional<http_response> out;
    front_end.handle(request, [&out](http_response answer) { out = std::move(answer); });
    io.restart();
    io.poll();
    REQUIRE(out);
    return *out;
  }
  auto ask(allocation::AllocationRequest const& message, plain_request::fields fields = {}) -> http_response {
    return ask(message.SerializeAsString(), std::move(fields));
  }
  auto code_of(allocation_result result) -> std::string {
    backend.next = std::move(result);
    return field_of(ask(allocation::AllocationRequest{}), grpc_status_field);
  }

  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  beast_test::scripted_backend backend;
  allocation_front_end front_end;
};

auto bad_request() -> allocation::AllocationRequest {
  allocation::AllocationRequest out;
  (*out.add_gameserverselectors()->mutable_counters())["rooms"].set_mincount(-1);
  return out;
}

auto details_of(http_response const& answer) -> agones_alloc::failure::Status {
  agones_alloc::failure::Status out;
  REQUIRE(out.ParseFromString(field_of(answer, grpc_details_field)));
  return out;
}

template <class Message>
auto detail_of(agones_alloc::failure::Status const& status, std::string const& type) -> std::optional<Message> {
  for (auto const& any : status.details()) {
    if (any.type_url() != "type.googleapis.com/" + type) continue;
    Message out;
    REQUIRE(out.ParseFromString(any.value()));
    return out;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("an allocation answers the message of the server") {
  door d;
  allocation::AllocationRequest request;
  request.set_namespace_("default");
  auto const answer = d.ask(request);
  CHECK(answer.status == 200);
  allocation::AllocationResponse message;
  REQUIRE(message.ParseFromString(answer.body));
  CHECK(message.gameservername() == "gs1");
  CHECK(message.address() == "1.2.3.4");
  CHECK(message.source() == "local");
  CHECK(message.ports(0).port() == 7777);
  CHECK(message.metadata().labels().at("agones.dev/fleet") == "simple");
  CHECK(message.counters().at("rooms").capacity().value() == 5);
  CHECK(d.backend.calls.at(0).request->allocation().meta.namespace_ == "default");
}

TEST_CASE("each outcome has its code") {
  door d;
  CHECK(d.code_of(result_of(outcome::exhausted)) == "8");
  CHECK(d.code_of(result_of(outcome::contention)) == "10");
  CHECK(d.code_of(result_of(outcome::unavailable)) == "14");
  CHECK(d.code_of(result_of(outcome::unknown)) == "4");
  CHECK(d.code_of(result_of(outcome::deadline)) == "4");
  CHECK(d.code_of(result_of(outcome::cancelled)) == "1");
  CHECK(d.code_of(result_of(outcome::invalid)) == "3");
  for (auto const& [http, code] : {std::pair{403, "7"}, {404, "5"}, {429, "8"}, {422, "3"}, {500, "2"}, {0, "7"}}) {
    auto refused = result_of(outcome::refused);
    refused.server_code = http;
    CHECK(d.code_of(refused) == code);
  }
}

TEST_CASE("when compatible, time that is up and a write that was refused are told in Agones' words") {
  front_end_options options;
  options.compatible = true;
  door d{options};
  auto refused = result_of(outcome::refused);
  refused.server_code = 403;
  d.backend.next = refused;
  auto answer = d.ask(allocation::AllocationRequest{});
  CHECK(field_of(answer, grpc_status_field) == "2");
  CHECK(field_of(answer, grpc_message_field) == "could not update the selected GameServer");
  CHECK(detail_of<agones_alloc::failure::AllocationFailure>(details_of(answer), "agones_alloc.failure.AllocationFailure")->outcome() ==
        "refused");
  d.backend.next = result_of(outcome::deadline);
  answer = d.ask(allocation::AllocationRequest{});
  CHECK(field_of(answer, grpc_status_field) == "4");
  CHECK(field_of(answer, grpc_message_field) == "remote allocation total timeout exceeded");
  // Another cluster's refusal is passed on, and of a write whose fate is not known the server is named.
  refused.multi_cluster = true;
  CHECK(d.code_of(refused) == "7");
  d.backend.next = result_of(outcome::unknown);
  CHECK(field_of(d.ask(allocation::AllocationRequest{}), grpc_message_field).starts_with("a write was sent"));
  CHECK(d.code_of(result_of(outcome::exhausted)) == "8");
}

TEST_CASE("the code of an exhausted request can be chosen; with 200 the answer is empty") {
  front_end_options options;
  options.http_unallocated_status_code = 404;
  door other{options};
  CHECK(other.code_of(result_of(outcome::exhausted)) == "5");
  options.http_unallocated_status_code = 200;
  door fine{options};
  fine.backend.next = result_of(outcome::exhausted);
  auto const answer = fine.ask(allocation::AllocationRequest{});
  CHECK(answer.status == 200);
  CHECK(answer.body.empty());
  CHECK(field_of(answer, grpc_status_field).empty());
}

TEST_CASE("what does not validate is InvalidArgument with each field, or 422 when compatible") {
  door d;
  auto const answer = d.ask(bad_request());
  CHECK(field_of(answer, grpc_status_field) == "3");
  CHECK(field_of(answer, grpc_message_field).find("spec.selectors[0].counters[rooms].minCount") != std::string::npos);
  auto const details = details_of(answer);
  CHECK(details.code() == 3);
  auto const fields = detail_of<agones_alloc::failure::BadRequest>(details, "google.rpc.BadRequest");
  REQUIRE(fields);
  CHECK(fields->field_violations(0).field() == "spec.selectors[0].counters[rooms].minCount");
  CHECK(fields->field_violations(0).description().find("greater than or equal to 0") != std::string::npos);
  CHECK(d.backend.calls.empty());

  front_end_options options;
  options.compatible = true;
  door compatible{options};
  CHECK(field_of(compatible.ask(bad_request()), grpc_status_field) == "422");
}

TEST_CASE("bytes that are no message are InvalidArgument") {
  door d;
  auto const answer = d.ask(std::string{"\xff\xff\xff garbage"});
  CHECK(field_of(answer, grpc_status_field) == "3");
  CHECK(field_of(answer, grpc_message_field) == "the message is no allocation.AllocationRequest");
  CHECK(d.backend.calls.empty());
}

TEST_CASE("strict refuses enum numbers that mean nothing, and a missing namespace") {
  front_end_options options;
  options.strict = true;
  door d{options};
  allocation::AllocationRequest request;
  CHECK(field_of(d.ask(request), grpc_message_field) == "namespace: must not be empty");
  request.set_namespace_("default");
  CHECK(d.ask(request).status == 200);
  request.set_scheduling(static_cast<allocation::AllocationRequest::SchedulingStrategy>(9));
  CHECK(field_of(d.ask(request), grpc_message_field) == "scheduling: unknown enum number");
}

TEST_CASE("a failure tells breakdown, attempts, and when to come again") {
  door d;
  auto exhausted = result_of(outcome::exhausted);
  attempt one;
  one.server = {"default", "gs7"};
  one.cluster = "east";
  one.endpoint = "east:443";
  one.result = outcome::unavailable;
  one.message = "no route\x01";
  one.took = std::chrono::milliseconds{1500};
  exhausted.attempts = {one};
  d.backend.next = exhausted;
  auto const details = details_of(d.ask(allocation::AllocationRequest{}));
  auto const failure = detail_of<agones_alloc::failure::AllocationFailure>(details, "agones_alloc.failure.AllocationFailure");
  REQUIRE(failure);
  CHECK(failure->outcome() == "exhausted");
  CHECK(failure->selectors(0).clauses(1).name() == "label agones.dev/fleet=x");
  CHECK(failure->selectors(0).clauses(0).remaining() == 12);
  CHECK(failure->attempts(0).cluster() == "east");
  CHECK(failure->attempts(0).outcome() == "unavailable");
  CHECK(failure->attempts(0).message() == "no route?");
  CHECK(failure->attempts(0).took().seconds() == 1);
  CHECK(failure->attempts(0).took().nanos() == 500'000'000);
  CHECK_FALSE(detail_of<agones_alloc::failure::RetryInfo>(details, "google.rpc.RetryInfo"));

  auto busy = result_of(outcome::contention);
  busy.retry_after = std::chrono::milliseconds{1100};
  d.backend.next = busy;
  auto const retry = detail_of<agones_alloc::failure::RetryInfo>(details_of(d.ask(allocation::AllocationRequest{})), "google.rpc.RetryInfo");
  REQUIRE(retry);
  CHECK(retry->retry_delay().seconds() == 2);
}

TEST_CASE("details stay small, whatever there is to tell") {
  door d;
  auto result = result_of(outcome::exhausted);
  breakdown left;
  left.selectors.resize(200, {{std::string(5000, 'x'), 1}, {"y", 2}});
  result.remaining = std::make_shared<breakdown const>(left);
  attempt one;
  one.message = std::string(10'000, 'z');
  result.attempts.resize(100, one);
  result.errors.resize(100, {field_error_type::invalid, std::string(1000, 'f'), "1", "wrong"});
  d.backend.next = result;
  auto const bytes = field_of(d.ask(allocation::AllocationRequest{}), grpc_details_field);
  CHECK(bytes.size() > 1000);
  CHECK(bytes.size() < 5000);
}

TEST_CASE("metadata carry id, wait, claim time, action mode and hops, as fields do over REST") {
  door d;
  CHECK(d.ask(allocation::AllocationRequest{}, {{"idempotency-key", "match-1"}, {"prefer", "wait=5"}, {"agones-alloc-claim-ttl", "30s"}, {"agones-alloc-hops", "2"}})
            .status == 200);
  auto const& call = d.backend.calls.at(0);
  CHECK(call.terms.request_id == "match-1");
  CHECK(call.terms.wait_for == std::chrono::seconds{5});
  CHECK(call.terms.claim_ttl == std::chrono::seconds{30});
  CHECK(call.hops == 2);
  CHECK(field_of(d.ask(allocation::AllocationRequest{}, {{"agones-alloc-claim-ttl", "soon"}}), grpc_status_field) == "3");
  CHECK(field_of(d.ask(allocation::AllocationRequest{}, {{"agones-alloc-hops", "99"}}), grpc_status_field) == "9");
  auto claimed = result_of(outcome::allocated);
  claimed.claim = "match-1";
  claimed.repeated = true;
  d.backend.next = claimed;
  auto const answer = d.ask(allocation::AllocationRequest{}, {{"idempotency-key", "match-1"}});
  CHECK(field_of(answer, "Agones-Alloc-Claim") == "match-1");
  CHECK(field_of(answer, "Agones-Alloc-Repeated") == "true");
}

TEST_CASE("the call's deadline bounds the allocation") {
  door d;
  d.ask(allocation::AllocationRequest{}, {{"grpc-timeout", "1500000u"}});
  CHECK(d.backend.calls.at(0).deadline == d.time.now() + std::chrono::milliseconds{1500});
  d.ask(allocation::AllocationRequest{}, {{"grpc-timeout", "0u"}});
  CHECK(d.backend.calls.at(1).deadline == d.time.now());
}

TEST_CASE("several clusters are refused where there are none") {
  door d;
  allocation::AllocationRequest request;
  request.set_namespace_("default");
  request.mutable_multiclustersetting()->set_enabled(true);
  auto const answer = d.ask(request);
  CHECK(field_of(answer, grpc_status_field) == "2");
  CHECK(field_of(answer, grpc_message_field) == "no multi-cluster allocation policy is specified");
}

TEST_CASE("the namespace of a call is known before it is let through") {
  allocation::AllocationRequest request;
  request.set_namespace_("games");
  plain_request const call{allocation_front_end::path, request.SerializeAsString()};
  CHECK(allocation_namespace_of(call, {}) == "games");
  plain_request const other{"/allocation.AllocationService/Nope", request.SerializeAsString()};
  CHECK_FALSE(allocation_namespace_of(other, {}));
}
