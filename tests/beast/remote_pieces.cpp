// The pieces of remote allocation that decide: endpoints, answers, fields, rules.
#include <agones_alloc/beast/namespace_rules.hpp>
#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/beast/remote/hop_header.hpp>
#include <agones_alloc/beast/remote/remote_answer.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace agones_alloc;
using namespace std::chrono_literals;

namespace {

auto shown(std::string_view text, bool plain = false) -> std::string {
  auto const parsed = parse_endpoint(text, plain);
  if (auto const* problem = std::get_if<std::string>(&parsed)) return *problem;
  auto const& e = std::get<client_endpoint>(parsed);
  return std::string{e.tls ? "tls " : "plain "} + e.host + " " + std::to_string(e.port);
}

auto judged(int status, std::string body, std::vector<int> const& codes = {}, bool retry_after = false) -> remote_result {
  client_response answer;
  answer.status = status;
  answer.body = std::move(body);
  if (retry_after) answer.retry_after = 3s;
  remote_call call;
  call.endpoint = "e:443";
  call.namespace_ = "games";
  return judge_remote_answer(answer, call, codes);
}

auto error_body(int code, std::string const& text) -> std::string {
  return R"({"code":)" + std::to_string(code) + R"(,"message":")" + text + R"(","details":[]})";
}

struct bare_request final : http_request {
  auto header(std::string_view) const -> std::string override { return {}; }
  void visit_headers(std::function<void(std::string_view, std::string_view)> const&) const override {}
};

}  // namespace

TEST_CASE("endpoints: hosts and addresses, with and without ports (Q17)") {
  std::vector<std::pair<char const*, char const*>> const good{
      {"east.example", "tls east.example 443"},   {"east.example:8443", "tls east.example 8443"},
      {"10.0.0.1", "tls 10.0.0.1 443"},           {"10.0.0.1:1", "tls 10.0.0.1 1"},
      {"2001:db8::1", "tls 2001:db8::1 443"},     {"[2001:db8::1]", "tls 2001:db8::1 443"},
      {"[::1]:8443", "tls ::1 8443"},             {"https://east.example:8443/", "tls east.example 8443"},
      {"https://[::1]", "tls ::1 443"}};
  for (auto const& [text, expected] : good) CHECK(shown(text) == expected);
}

TEST_CASE("endpoints that are none are refused with their text") {
  for (auto const* text : {"", ":443", "east:", "east:0", "east:65536", "east:x", "[::1", "[::1]8443", "[east]:1", "::g",
                           "east example", "https://east/path", "user@east", "1:2:3", "[::1]:"}) {
    CHECK(shown(text).find(std::string{"endpoint \""} + text) == 0);
  }
}

TEST_CASE("an endpoint for gRPC is none for HTTPS") {
  CHECK(shown("grpc://east") == "endpoint \"grpc://east\": is for gRPC, where HTTPS is spoken");
}

TEST_CASE("plain HTTP is for those who ask for it") {
  CHECK(shown("http://east").find("plain HTTP is not allowed") != std::string::npos);
  CHECK(shown("http://east", true) == "plain east 80");
  CHECK(shown("http://east:8080/", true) == "plain east 8080");
}

TEST_CASE("200 with a server is an allocation") {
  auto const out = judged(200, R"({"gameServerName":"gs1","ports":[{"name":"default","port":7777}],"address":"1.2.3.4",
    "addresses":[{"type":"ExternalIP","address":"1.2.3.4"}],"nodeName":"n1","source":"local",
    "metadata":{"labels":{"a":"b"},"annotations":{"c":"d"}},"counters":{"rooms":{"count":"1","capacity":"5"}},
    "lists":{"players":{"values":["x"],"capacity":"5"}}})");
  REQUIRE(out.result == outcome::allocated);
  auto const& server = *out.server;
  CHECK(server.meta.name == "gs1");
  CHECK(server.meta.namespace_ == "games");
  CHECK(server.meta.labels.value_or_empty("a") == "b");
  CHECK(server.meta.annotations.value_or_empty("c") == "d");
  CHECK(server.status.address == "1.2.3.4");
  CHECK(server.status.node_name == "n1");
  REQUIRE(server.status.ports.size() == 1);
  CHECK(server.status.ports[0].port == 7777);
  CHECK(server.status.addresses.size() == 1);
  CHECK(server.status.counters.size() == 1);
  CHECK(server.status.lists.size() == 1);
}

TEST_CASE("200 without a server is nothing available; 200 with anything else may be an allocation (Q23)") {
  CHECK(judged(200, R"({"gameServerName":"","ports":[],"address":""})").result == outcome::exhausted);
  for (auto const* body : {"", "{}", "[]", "OK", "<html></html>", R"({"gameServerName":7})", R"({"gameServerName":"gs1")",
                           R"({"gameServerName":"gs1","ports":"none"})"}) {
    CHECK(judged(200, body).result == outcome::unknown);
  }
}

TEST_CASE("nothing available, with each code that Agones can be told to use (Q25)") {
  std::vector<std::pair<int, int>> const codes{{499, 1},  {500, 13}, {400, 3},  {504, 4},  {404, 5},  {409, 6},
                                               {403, 7},  {401, 16}, {429, 8},  {501, 12}, {503, 14}};
  for (auto const& [status, code] : codes) {
    CHECK(judged(status, error_body(code, "there is no available GameServer to allocate")).result == outcome::exhausted);
  }
  CHECK(judged(418, "teapot", {418}).result == outcome::exhausted);
  CHECK(judged(429, error_body(8, "full")).result == outcome::exhausted);
}

TEST_CASE("a remote that does not wait for the game has handed out something that may become a server") {
  auto const got = judged(202, R"({"kind":"Status","reason":"Pending","id":"x","gameServerName":"gs1"})");
  CHECK(got.result == outcome::unknown);
  CHECK(got.message.view().find("not ready yet") != std::string_view::npos);
}

TEST_CASE("what other answers say of the request") {
  CHECK(judged(409, error_body(10, "too many concurrent requests")).result == outcome::contention);
  CHECK(judged(409, "").result == outcome::unknown);
  CHECK(judged(400, error_body(3, "bad")).result == outcome::invalid);
  CHECK(judged(422, "").result == outcome::invalid);
  CHECK(judged(413, "").result == outcome::invalid);
  CHECK(judged(500, error_body(422, "bad")).result == outcome::invalid);
  CHECK(judged(401, error_body(16, "who")).result == outcome::refused);
  CHECK(judged(403, "").result == outcome::refused);
  for (int const status : {404, 405, 429, 501, 508}) CHECK(judged(status, "").result == outcome::unavailable);
  CHECK(judged(508, "").whole_cluster);
  CHECK_FALSE(judged(404, "").whole_cluster);
  CHECK(judged(503, error_body(14, "away")).result == outcome::unavailable);
  CHECK(judged(503, "", {}, true).result == outcome::unavailable);
  CHECK(judged(503, "").result == outcome::unknown);
  for (int const status : {201, 204, 302, 408, 499, 500, 502, 504, 599}) CHECK(judged(status, "").result == outcome::unknown);
  CHECK(judged(500, error_body(2, "could not update the selected GameServer")).result == outcome::unknown);
}

TEST_CASE("a remote's words and its advice are passed on, within bounds") {
  auto const out = judged(429, "", {}, true);
  CHECK(out.retry_after == 3s);
  CHECK(out.code == 429);
  CHECK(out.message == "HTTP status 429");
  CHECK(judged(403, error_body(7, "not you")).message == "not you");
  CHECK(judged(403, error_body(7, std::string(100'000, 'x'))).message.size() < 1000);
  CHECK(judged(403, error_body(7, std::string(5'000, 'x'))).message.size() == 512);
}

TEST_CASE("hops are small numbers") {
  CHECK(parse_hops("") == 0);
  CHECK(parse_hops("3") == 3);
  for (auto const* text : {"-1", "x", "1 ", "1001", "99999999999"}) CHECK_FALSE(parse_hops(text).has_value());
}

TEST_CASE("request ids are printable and short") {
}

TEST_CASE("the time left is told in at most eight digits") {
  CHECK(grpc_timeout_text(1500us) == "1m");
  CHECK(grpc_timeout_text(10s) == "10000m");
  CHECK(grpc_timeout_text(0ns) == "1m");
  CHECK(grpc_timeout_text(std::chrono::hours{1000}) == "3600000S");
}

TEST_CASE("rules: which certificate may allocate where") {
  auto const rule = [](std::string_view text) { return std::get<namespace_rule>(parse_namespace_rule(text)); };
  CHECK(rule("CN:east=games,lobby") == namespace_rule{namespace_rule::part::common_name, "east", {"games", "lobby"}});
  CHECK(rule("URI:spiffe://a/b=c=games").name == "spiffe://a/b=c");
  CHECK(rule("*=*").namespaces == std::vector<std::string>{"*"});
  for (auto const* text : {"", "CN:east", "CN:=games", "east=games", "CN:east=", "CN:east=a,,b", "CN:east=a,"}) {
    CHECK(std::holds_alternative<std::string>(parse_namespace_rule(text)));
  }
}

TEST_CASE("a sender needs a rule for the namespace, unless a front proxy vouches for it") {
  auto const rule = [](std::string_view text) { return std::get<namespace_rule>(parse_namespace_rule(text)); };
  std::vector const rules{rule("CN:east=games"), rule("DNS:west.example=lobby"), rule("O:ops=*")};
  client_certificate certificate;
  certificate.by_client_authority = true;
  bare_request request;
  CHECK_FALSE(may_allocate(rules, request, "games"));
  request.client = &certificate;
  CHECK_FALSE(may_allocate(rules, request, "games"));
  certificate.common_name = "east";
  CHECK(may_allocate(rules, request, "games"));
  CHECK_FALSE(may_allocate(rules, request, "lobby"));
  certificate.dns_names = {"other.example", "west.example"};
  CHECK(may_allocate(rules, request, "lobby"));
  CHECK_FALSE(may_allocate(rules, request, "third"));
  certificate.organizations = {"ops"};
  CHECK(may_allocate(rules, request, "third"));
  certificate.by_client_authority = false;
  CHECK_FALSE(may_allocate(rules, request, "games"));
  caller_identity proxied;
  proxied.source = identity_source::front_proxy;
  request.caller = &proxied;
  CHECK(may_allocate(rules, request, "games"));
  CHECK_FALSE(may_allocate({}, bare_request{}, "games"));
}
