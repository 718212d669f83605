// What the front ends hand on for several clusters, and what they answer.
#include "front_end_fixture.hpp"

#include <agones_alloc/beast/kubernetes_front_end.hpp>
#include <agones_alloc/beast/remote/clusters_page.hpp>
#include <agones_alloc/beast/rest_front_end.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace agones_alloc;
using namespace beast_test;

namespace {

constexpr std::string_view kubernetes_path = "/apis/allocation.agones.dev/v1/namespaces/games/gameserverallocations";
constexpr std::string_view many = R"({"spec":{"multiClusterSetting":{"enabled":true}}})";
constexpr std::string_view rest_many = R"({"namespace":"games","multiClusterSetting":{"enabled":true}})";

auto post(std::string_view path, std::string_view body, std::string_view fields = {}) -> std::string {
  return request_text("POST", path, std::string{"Content-Type: application/json\r\n"}.append(fields), body);
}

auto failed(outcome o, std::string_view message, int code = 0) -> allocation_result {
  allocation_result out;
  out.result = o;
  out.server_message = message;
  out.server_code = code;
  out.multi_cluster = true;
  return out;
}

}  // namespace

TEST_CASE("request id and hops go to the backend, over both paths") {
  for (int path = 0; path != 2; ++path) {
    auto const check = [&](auto& f, std::string_view target, std::string_view body) {
      CHECK(f.ask(post(target, body, "Idempotency-Key: id-1\r\nAgones-Alloc-Hops: 3\r\n")).status < 300);
      REQUIRE(f.backend.calls.size() == 1);
      CHECK(f.backend.calls[0].terms.request_id == "id-1");
      CHECK(f.backend.calls[0].hops == 3);
      CHECK(f.ask(post(target, body)).status < 300);
      CHECK(f.backend.calls.at(1).terms.request_id.empty());
      CHECK(f.backend.calls.at(1).hops == 0);
    };
    if (path == 0) {
      served<kubernetes_front_end> f;
      check(f, kubernetes_path, R"({"spec":{}})");
    } else {
      served<rest_front_end> f;
      check(f, "/gameserverallocation", R"({"namespace":"games"})");
    }
  }
}

TEST_CASE("loops, nonsense and unprintable ids are refused before anything is allocated") {
  served<kubernetes_front_end> k;
  served<rest_front_end> r;
  CHECK(k.ask(post(kubernetes_path, R"({"spec":{}})", "Agones-Alloc-Hops: 5\r\n")).status == 508);
  CHECK(k.ask(post(kubernetes_path, R"({"spec":{}})", "Agones-Alloc-Hops: many\r\n")).status == 400);
  CHECK(k.ask(post(kubernetes_path, R"({"spec":{}})", "Idempotency-Key: a b\r\n")).status == 400);
  auto const looped = r.ask(post("/gameserverallocation", R"({"namespace":"games"})", "Agones-Alloc-Hops: 5\r\n"));
  CHECK(looped.status == 508);
  CHECK(json_at(looped.body, "/code") == "9");
  CHECK(r.ask(post("/gameserverallocation", R"({"namespace":"games"})", "Agones-Alloc-Hops: -1\r\n")).status == 400);
  CHECK(k.backend.calls.empty());
  CHECK(r.backend.calls.empty());
}

TEST_CASE("who may not allocate in the namespace is told so") {
  front_end_options options;
  options.may_allocate = [](http_request const&, std::string_view space) { return space == "lobby"; };
  served<kubernetes_front_end> k{options};
  served<rest_front_end> r{options};
  auto const no = k.ask(post(kubernetes_path, R"({"spec":{}})"));
  CHECK(no.status == 403);
  CHECK(json_at(no.body, "/message") == R"("the client may not allocate in namespace \"games\"")");
  auto const rest_no = r.ask(post("/gameserverallocation", R"({"namespace":"games"})"));
  CHECK(rest_no.status == 403);
  CHECK(json_at(rest_no.body, "/code") == "7");
  CHECK(r.ask(post("/gameserverallocation", R"({"namespace":"lobby"})")).status == 200);
  CHECK(k.backend.calls.empty());
}

TEST_CASE("without clusters behind them a request for several is refused; with them it goes on") {
  served<kubernetes_front_end> k;
  served<rest_front_end> r;
  CHECK(k.ask(post(kubernetes_path, many)).status == 500);
  CHECK(r.ask(post("/gameserverallocation", rest_many)).status == 500);
  CHECK(k.backend.calls.empty());
  k.backend.clusters = r.backend.clusters = true;
  CHECK(k.ask(post(kubernetes_path, many)).status == 201);
  CHECK(r.ask(post("/gameserverallocation", rest_many)).status == 200);
  CHECK(k.backend.calls.at(0).request->allocation().spec.multi_cluster.enabled);
}

TEST_CASE("what requests over several clusters end as") {
  served<kubernetes_front_end> k;
  served<rest_front_end> r;
  k.backend.clusters = r.backend.clusters = true;
  auto const answers = [&](allocation_result const& result) {
    k.backend.next = r.backend.next = result;
    return std::pair{k.ask(post(kubernetes_path, many)), r.ask(post("/gameserverallocation", rest_many))};
  };
  auto const none = answers(failed(outcome::unavailable, "no cluster available: east at e1: unavailable (refused)"));
  CHECK(none.first.status == 503);
  CHECK(json_at(none.first.body, "/message") == R"x("no cluster available: east at e1: unavailable (refused)")x");
  CHECK(none.second.status == 503);
  auto const lost = answers(failed(outcome::unknown, "request id 7"));
  CHECK(lost.first.status == 504);
  CHECK(json_at(lost.first.body, "/message") ==
        R"("a request was sent to another cluster and its fate is not known: request id 7")");
  auto const no_policy = answers(failed(outcome::refused, "no multi-cluster allocation policy is specified", 500));
  CHECK(no_policy.first.status == 500);
  CHECK(json_at(no_policy.second.body, "/code") == "2");
  auto const denied = answers(failed(outcome::refused, "not you", 403));
  CHECK(denied.first.status == 403);
  CHECK(json_at(denied.second.body, "/code") == "7");
}

TEST_CASE("as compatible as asked for: no policy is the reference's plain text") {
  front_end_options options;
  options.compatible = true;
  served<kubernetes_front_end> k{options};
  k.backend.clusters = true;
  k.backend.next = failed(outcome::refused, "no multi-cluster allocation policy is specified", 500);
  auto const got = k.ask(post(kubernetes_path, many));
  CHECK(got.status == 500);
  CHECK(got.body == "no multi-cluster allocation policy is specified\n");
}

TEST_CASE("what is known of clusters, as a document") {
  game_server_allocation_policy here;
  here.meta.namespace_ = "games";
  here.meta.name = "here";
  here.weight = 3;
  here.connection_info.cluster_name = "here";
  auto east = here;
  east.meta.name = "east";
  east.priority = 2;
  east.connection_info.cluster_name = "east";
  east.connection_info.allocation_endpoints = {"e1", "e2"};
  endpoint_state seen;
  seen.cluster = "east";
  seen.endpoint = "e1";
  seen.breaker = breaker_state::open;
  seen.calls = 7;
  seen.last = outcome::unavailable;
  seen.message = "refused";
  seen.open_for = std::chrono::milliseconds{1500};
  remote_endpoint_state kept;
  kept.endpoint = "e1";
  kept.secret = "games/client";
  kept.credential_version = 4;
  std::vector const policies{here, east};
  auto const text = clusters_json(policies, {&seen, 1}, {&kept, 1});
  CHECK(json_at(text, "/clusters/0/name") == R"("east")");
  CHECK(json_at(text, "/clusters/0/draws/0/priority") == "2");
  CHECK(json_at(text, "/clusters/0/endpoints/0/breaker") == R"("open")");
  CHECK(json_at(text, "/clusters/0/endpoints/0/lastOutcome") == R"("unavailable")");
  CHECK(json_at(text, "/clusters/0/endpoints/0/connections/0/credentialVersion") == "4");
  CHECK(json_at(text, "/clusters/0/endpoints/1/breaker") == R"("closed")");
  CHECK(json_at(text, "/clusters/0/endpoints/1/calls") == "0");
  CHECK(json_at(text, "/clusters/1/local") == "true");
}
