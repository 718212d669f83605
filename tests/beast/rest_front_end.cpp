// The REST form, row by row of spec 8.10, over real sockets.
#include "front_end_fixture.hpp"

#include <agones_alloc/beast/rest_front_end.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using namespace agones_alloc;
using namespace beast_test;
using rest = served<rest_front_end>;

auto allocate(std::string_view body = R"({"namespace":"default"})", std::string_view query = {}, std::string_view fields = {})
    -> std::string {
  return request_text("POST", "/gameserverallocation" + std::string{query}, fields, body);
}

auto error_body(int code, std::string_view message) -> std::string {
  return R"({"code":)" + std::to_string(code) + R"(,"message":")" + std::string{message} + R"(","details":[]})";
}

}  // namespace

TEST_CASE("an allocation answers 200 with every field of the response") {
  rest f;
  auto const answer = f.ask(allocate());
  CHECK(answer.status == 200);
  CHECK(answer.field("content-type") == "application/json");
  CHECK(answer.body ==
        R"({"gameServerName":"gs1","ports":[{"name":"default","port":7777}],"address":"1.2.3.4","addresses":[],"nodeName":"node1",)"
        R"("source":"local","metadata":{"labels":{"agones.dev/fleet":"simple"},"annotations":{}},)"
        R"("counters":{"rooms":{"count":"1","capacity":"5"}},"lists":{}})");
  CHECK(f.backend.calls.at(0).request->allocation().meta.namespace_ == "default");
}

TEST_CASE("the content type is not looked at, text after the document is ignored, an empty body is an empty request") {
  rest f;
  CHECK(f.ask(allocate(R"({"namespace":"default"})", "", "Content-Type: image/png\r\n")).status == 200);
  CHECK(f.ask(allocate(R"({"namespace":"default"} and more)")).status == 200);
  CHECK(f.ask(allocate("")).status == 200);
  CHECK(f.ask(allocate(R"({"namespace":"default","nosuch":1,"scheduling":"Nope"})")).status == 200);
  CHECK(f.ask(allocate(R"({"namespace":"default","scheduling":1})")).status == 200);
  CHECK(f.backend.calls.back().request->allocation().spec.scheduling == "Distributed");
  CHECK(f.ask(allocate(R"({"namespace":"default"})", "?namespace=other")).status == 200);
  CHECK(f.backend.calls.back().request->allocation().meta.namespace_ == "default");
}

TEST_CASE("other methods are 501 and other paths 404, with gRPC bodies") {
  rest f;
  for (auto const* method : {"GET", "PUT", "OPTIONS", "DELETE"}) {
    auto const answer = f.ask(request_text(method, "/gameserverallocation", "", ""));
    CHECK(answer.status == 501);
    CHECK(answer.body == error_body(12, "Method Not Allowed"));
  }
  for (auto const* target : {"/", "/gameserverallocation/", "/gameserverallocations"}) {
    auto const answer = f.ask(request_text("POST", target, "", "{}"));
    CHECK(answer.status == 404);
    CHECK(answer.body == error_body(5, "Not Found"));
  }
  CHECK(f.backend.calls.empty());
}

TEST_CASE("bad input is 400 with code 3 and names the field (Q45)") {
  rest f;
  struct row {
    std::string body, word;
  };
  std::vector<row> const rows{{"{", "line 1"},
                              {"null", ""},
                              {"[]", ""},
                              {R"({"namespace":5})", "namespace"},
                              {R"({"gameServerSelectors":[{"counters":{"rooms":{"minCount":-1}}}]})",
                               "spec.selectors[0].counters[rooms].minCount"},
                              {R"({"priorities":[{"type":"Counter"}]})", "spec.priorities[0]"}};
  for (auto const& each : rows) {
    CAPTURE(each.body);
    auto const& [body, word] = each;
    auto const answer = f.ask(allocate(body));
    CHECK(answer.status == 400);
    CHECK(json_at(answer.body, "/code") == "3");
    CHECK(json_at(answer.body, "/message").find(word) != std::string::npos);
    CHECK(json_at(answer.body, "/details") == "[]");
  }
  CHECK(f.backend.calls.empty());
}

TEST_CASE("in compatible mode a request that does not validate is 500 with code 422, without Agones' garbage") {
  front_end_options options;
  options.compatible = true;
  rest f{options};
  auto const answer = f.ask(allocate(R"({"namespace":"default","metadata":{"labels":{"k":"100% bad"}}})"));
  CHECK(answer.status == 500);
  CHECK(json_at(answer.body, "/code") == "422");
  CHECK(json_at(answer.body, "/message").find("100% bad") != std::string::npos);
  CHECK(json_at(answer.body, "/message").find("%!") == std::string::npos);
  CHECK(f.ask(allocate("{")).status == 400);
}

TEST_CASE("each outcome has its HTTP status and its gRPC code") {
  struct row {
    outcome result;
    int status, code;
    std::string message;
  };
  for (auto const& row : std::vector<row>{
           {outcome::exhausted, 429, 8, "there is no available GameServer to allocate"},
           {outcome::contention, 409, 10, "too many concurrent requests have overwhelmed the system"},
           {outcome::unavailable, 503, 14, "the game servers' store cannot be reached; nothing was written"},
           {outcome::unknown, 504, 4, "a write was sent and its fate is not known"},
           {outcome::deadline, 504, 4, "the request's time was up before a game server was allocated"},
           {outcome::cancelled, 499, 1, "the client left before a game server was allocated"},
           {outcome::refused, 403, 7, "the store refused the write to the game server"}}) {
    CAPTURE(to_string(row.result));
    rest f;
    f.backend.next = result_of(row.result);
    auto const answer = f.ask(allocate());
    CHECK(answer.status == row.status);
    CHECK(answer.body == error_body(row.code, row.message));
    CHECK(answer.field("agones-alloc-breakdown") ==
          (row.result == outcome::exhausted ? "namespace default=12; label agones.dev/fleet=x=0" : ""));
  }
  rest f;
  f.backend.next = result_of(outcome::refused);
  f.backend.next.server_code = 422;
  f.backend.next.server_message = "no";
  auto const refused = f.ask(allocate());
  CHECK(refused.status == 422);
  CHECK(refused.body == error_body(3, "no"));
}

TEST_CASE("the code for an exhausted fleet can be chosen") {
  struct row {
    int asked, status, code;
  };
  std::vector<row> const rows{{503, 503, 14}, {404, 404, 5}, {499, 499, 1}, {500, 500, 13}, {400, 400, 3}, {504, 504, 4},
                              {409, 409, 6},  {403, 403, 7}, {401, 401, 16}, {501, 501, 12}, {418, 429, 8}, {0, 429, 8}};
  for (auto const& each : rows) {
    CAPTURE(each.asked);
    auto const& [asked, status, code] = each;
    front_end_options options;
    options.http_unallocated_status_code = asked;
    rest f{options};
    f.backend.next = result_of(outcome::exhausted);
    auto const answer = f.ask(allocate());
    CHECK(answer.status == status);
    CHECK(answer.body == error_body(code, "there is no available GameServer to allocate"));
    CHECK(answer.field("www-authenticate") == (status == 401 ? "there is no available GameServer to allocate" : ""));
  }
  front_end_options options;
  options.http_unallocated_status_code = 200;
  rest f{options};
  f.backend.next = result_of(outcome::exhausted);
  auto const answer = f.ask(allocate());
  CHECK(answer.status == 200);
  CHECK(answer.body ==
        R"({"gameServerName":"","ports":[],"address":"","addresses":[],"nodeName":"","source":"","counters":{},"lists":{}})");
}

TEST_CASE("a dry run and a gRPC time-out are honoured, and bad ones refused") {
  rest f;
  f.ask(allocate("{}", "?dryRun=All", "Grpc-Timeout: 1500m\r\n"));
  REQUIRE(f.backend.calls.size() == 1);
  CHECK(f.backend.calls[0].dry_run);
  CHECK(f.backend.calls[0].deadline - f.time.now() == std::chrono::milliseconds{1500});
  f.ask(allocate("{}", "", "Grpc-Timeout: 99999999H\r\n"));
  CHECK(f.backend.calls[1].deadline - f.time.now() == std::chrono::seconds{30});
  CHECK(f.ask(allocate("{}", "?dryRun=yes")).status == 400);
  CHECK(f.ask(allocate("{}", "", "Grpc-Timeout: soon\r\n")).status == 400);
  CHECK(f.ask(allocate("{}", "", "Grpc-Timeout: 999999999S\r\n")).status == 400);
  CHECK(f.backend.calls.size() == 2);
}

TEST_CASE("strict refuses misspelt names, unknown fields and a missing namespace (Q38)") {
  front_end_options options;
  options.strict = true;
  rest f{options};
  CHECK(f.ask(allocate()).status == 200);
  CHECK(f.ask(allocate(R"({"namespace":"default","scheduling":"Nope"})")).status == 400);
  CHECK(f.ask(allocate(R"({"namespace":"default","nosuch":1})")).status == 400);
  auto const nowhere = f.ask(allocate("{}"));
  CHECK(nowhere.status == 400);
  CHECK(json_at(nowhere.body, "/message") == R"("namespace: must not be empty")");
  CHECK(f.backend.calls.size() == 1);
}

TEST_CASE("a request without a namespace gets the default one, if there is one (Q37)") {
  front_end_options options;
  options.default_namespace = "games";
  rest f{options};
  f.ask(allocate("{}"));
  CHECK(f.backend.calls.at(0).request->allocation().meta.namespace_ == "games");
}

TEST_CASE("several clusters are refused as long as there is no policy, over REST too") {
  rest f;
  auto const answer = f.ask(allocate(R"({"namespace":"default","multiClusterSetting":{"enabled":true}})"));
  CHECK(answer.status == 500);
  CHECK(answer.body == error_body(2, "no multi-cluster allocation policy is specified"));
  CHECK(f.backend.calls.empty());
}

TEST_CASE("equal bodies share one compiled request, and the memory of bodies is bounded") {
  rest f;
  f.ask(allocate());
  f.ask(allocate());
  f.ask(allocate(R"({"namespace":"other"})"));
  REQUIRE(f.backend.calls.size() == 3);
  CHECK(f.backend.calls[0].request == f.backend.calls[1].request);
  CHECK(f.backend.calls[2].request->allocation().meta.namespace_ == "other");

  request_cache cache;
  auto const& some = f.backend.calls[0].request;
  for (std::size_t i = 0; i != 10 * request_cache::entries; ++i) {
    cache.remember(std::to_string(i), some);
    REQUIRE(cache.size() <= request_cache::entries);
    REQUIRE(cache.find(std::to_string(i)) == some);
  }
  cache.remember(std::string(request_cache::body_bytes + 1, 'x'), some);
  CHECK_FALSE(cache.find(std::string(request_cache::body_bytes + 1, 'x')));
}

TEST_CASE("a page of another host cannot allocate over REST") {
  rest f;
  for (auto const* origin : {"http://example.com", "null", "http://x:8080"}) {
    auto const answer = f.ask(allocate(R"({"namespace":"default"})", "", "Content-Type: text/plain\r\nOrigin: " + std::string{origin} + "\r\n"));
    CHECK(answer.status == 403);
    CHECK(json_at(answer.body, "/code") == "7");
  }
  CHECK(f.backend.calls.empty());
  CHECK(f.ask(allocate(R"({"namespace":"default"})", "", "Origin: http://x\r\n")).status == 200);
}

TEST_CASE("requests that would cost far more than others are refused over REST too") {
  rest f;
  std::string selectors = "{}";
  for (int i = 1; i < 64; ++i) selectors += ",{}";
  CHECK(f.ask(allocate(R"({"namespace":"default","gameServerSelectors":[)" + selectors + "]}")).status == 200);
  auto const answer = f.ask(allocate(R"({"namespace":"default","gameServerSelectors":[)" + selectors + ",{}]}"));
  CHECK(answer.status == 400);
  CHECK(json_at(answer.body, "/code") == "3");
  CHECK(json_at(answer.body, "/message").find("spec.selectors: Too long: has 65 entries, at most 64 are accepted") != std::string::npos);
  CHECK(f.backend.calls.size() == 1);
}
