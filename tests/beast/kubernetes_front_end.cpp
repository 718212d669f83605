// The aggregated API, row by row of spec 9.2 to 9.5, over real sockets.
#include "front_end_fixture.hpp"

#include <agones_alloc/beast/kubernetes_front_end.hpp>
#include <agones_alloc/beast/openapi_document.hpp>

#include <doctest/doctest.h>
#include <openssl/sha.h>

#include <string>
#include <vector>

namespace {

using namespace agones_alloc;
using namespace beast_test;
using kubernetes = served<kubernetes_front_end>;

constexpr std::string_view path = "/apis/allocation.agones.dev/v1/namespaces/default/gameserverallocations";
constexpr std::string_view json_fields = "Content-Type: application/json\r\nAccept: application/json\r\n";
constexpr std::string_view empty_request = R"({"apiVersion":"allocation.agones.dev/v1","kind":"GameServerAllocation","spec":{}})";

auto allocate(std::string_view body = empty_request, std::string_view fields = json_fields, std::string_view query = {})
    -> std::string {
  return request_text("POST", std::string{path} + std::string{query}, fields, body);
}

}  // namespace

TEST_CASE("every path that is no allocation answers as the aggregator expects") {
  struct row {
    std::string method, target;
    int status;
    std::string type, body;
  };
  std::string const text = "text/plain; charset=utf-8";
  std::string const missing = "404 page not found\n";
  std::string const discovery =
      R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"allocation.agones.dev/v1","resources":[{"name":"gameserverallocations","singularName":"gameserverallocation","namespaced":true,"kind":"GameServerAllocation","verbs":["create"],"shortNames":["gsa"]}]})"
      "\n";
  std::vector<row> const rows{
      {"GET", "/", 200, "", ""},
      {"POST", "/", 404, text, missing},
      {"DELETE", "/", 404, text, missing},
      {"GET", "/apis", 406, "application/json", ""},
      {"POST", "/apis", 406, "application/json", ""},
      {"GET", "/openapi/v2", 200, "application/json", R"({"info":{"title":"allocation.agones.dev"},"paths":null})"},
      {"GET", "/openapi/v3", 200, "application/json", std::string{openapi_list()}},
      {"GET", std::string{openapi_document_path} + "?hash=1", 200, "application/json", std::string{openapi_document()}},
      {"POST", std::string{openapi_document_path}, 404, text, missing},
      {"GET", "/apis/allocation.agones.dev/v1", 200, "application/json", discovery},
      {"GET", "/apis/allocation.agones.dev/v1/", 200, "application/json", discovery},
      {"GET", "/apis/allocation.agones.dev/v1?timeout=32s", 200, "application/json", discovery},
      {"POST", "/apis/allocation.agones.dev/v1", 404, text, missing},
      {"GET", std::string{path}, 405, text, "Method not supported\n"},
      {"PUT", std::string{path}, 405, text, "Method not supported\n"},
      {"DELETE", std::string{path} + "/", 405, text, "Method not supported\n"},
      {"POST", std::string{path} + "/foo", 404, text, missing},
      {"GET", "/apis/allocation.agones.dev", 404, text, missing},
      {"GET", "/apis/allocation.agones.dev/v1/namespaces/default/nosuch", 404, text, missing},
      {"POST", "/apis/allocation.agones.dev/v1/namespaces//gameserverallocations", 404, text, missing},
      {"POST", "/apis/allocation.agones.dev/v1/namespaces/a/b/gameserverallocations", 404, text, missing},
      {"POST", "/apis/allocation.agones.dev/v1/gameserverallocations", 404, text, missing},
      {"GET", "/nowhere", 404, text, missing},
  };
  kubernetes f;
  for (auto const& row : rows) {
    CAPTURE(row.method);
    CAPTURE(row.target);
    auto const answer = f.ask(request_text(row.method, row.target, "", ""));
    CHECK(answer.status == row.status);
    CHECK(answer.field("content-type") == row.type);
    CHECK(answer.body == row.body);
  }
  CHECK(f.backend.calls.empty());
}

TEST_CASE("the OpenAPI document is JSON, refers to nothing that is not there, and is found where the list says") {
  auto const list = json_at(std::string{openapi_list()}, "/paths/apis~1allocation.agones.dev~1v1/serverRelativeURL");
  CHECK(list.find(openapi_document_path) == 1);
  std::string const document{openapi_document()};
  CHECK(json_at(document, "/openapi") == "\"3.0.0\"");
  std::size_t references = 0;
  static constexpr std::string_view before = "\"$ref\":\"#";
  for (auto at = document.find(before); at != std::string::npos; at = document.find(before, at)) {
    at += before.size();
    auto const pointer = document.substr(at, document.find('"', at) - at);
    CAPTURE(pointer);
    CHECK(json_at(document, pointer) != "");
    ++references;
  }
  CHECK(references > 5);
  // The first half of its SHA-256: who edits the document must let clients know.
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<unsigned char const*>(document.data()), document.size(), digest);
  std::string hash = "?hash=";
  for (std::size_t i = 0; i != 16; ++i) {
    hash += "0123456789ABCDEF"[digest[i] / 16];
    hash += "0123456789ABCDEF"[digest[i] % 16];
  }
  CAPTURE(hash);
  CHECK(list.find(hash) != std::string::npos);
}

TEST_CASE("an allocation answers 201 with the whole object, trailing slash or not") {
  kubernetes f;
  for (auto const* end : {"", "/"}) {
    auto const answer = f.ask(request_text("POST", std::string{path} + end, json_fields,
                                           R"({"metadata":{"labels":{"a":"b"},"namespace":"elsewhere"},"spec":{},
                                               "status":{"address":"6.6.6.6","state":"Allocated"}})"));
    CHECK(answer.status == 201);
    CHECK(answer.field("content-type") == "application/json");
    CHECK(answer.body ==
          R"({"kind":"GameServerAllocation","apiVersion":"allocation.agones.dev/v1","metadata":{"name":"gs1","namespace":"default",)"
          R"("creationTimestamp":"2020-09-13T12:26:40Z","labels":{"a":"b"}},"spec":{"multiClusterSetting":{"policySelector":{}},)"
          R"("required":{"gameServerState":"Ready"},"selectors":[{"gameServerState":"Ready"}],"scheduling":"Packed","metadata":{}},)"
          R"("status":{"state":"Allocated","gameServerName":"gs1","ports":[{"name":"default","port":7777}],"address":"1.2.3.4",)"
          R"("nodeName":"node1","source":"local","metadata":{"labels":{"agones.dev/fleet":"simple"}},)"
          R"("counters":{"rooms":{"count":1,"capacity":5}}}})"
          "\n");
  }
  REQUIRE(f.backend.calls.size() == 2);
  CHECK(f.backend.calls[0].request->allocation().meta.namespace_ == "default");
  CHECK_FALSE(f.backend.calls[0].dry_run);
  CHECK(f.backend.calls[0].deadline == f.time.now() + std::chrono::seconds{30});
}

TEST_CASE("the namespace is the path's, decoded") {
  kubernetes f;
  f.ask(request_text("POST", "/apis/allocation.agones.dev/v1/namespaces/a%2Db/gameserverallocations", json_fields, empty_request));
  REQUIRE(f.backend.calls.size() == 1);
  CHECK(f.backend.calls[0].request->allocation().meta.namespace_ == "a-b");
  CHECK(f.ask(request_text("POST", "/apis/allocation.agones.dev/v1/namespaces/a%zz/gameserverallocations", json_fields, empty_request))
            .status == 400);
  CHECK(f.backend.calls.size() == 1);
}

TEST_CASE("a namespace that is no name is refused, and asked of nobody") {
  kubernetes f;
  auto const ask = [&f](std::string const& name) {
    return f.ask(request_text("POST", "/apis/allocation.agones.dev/v1/namespaces/" + name + "/gameserverallocations", json_fields,
                              empty_request));
  };
  for (auto const& name : {std::string(64, 'a'), std::string{"Default"}, std::string{"-a"}, std::string{"a-"}, std::string{"a.b"},
                           std::string{"a_b"}, std::string{"%2F"}, std::string{"a%00"}, std::string{"%C3%BC"}, std::string{"a%0D%0A"}}) {
    CAPTURE(name);
    auto const answer = ask(name);
    CHECK(answer.status == 400);
    CHECK(json_at(answer.body, "/message").find("namespace") != std::string::npos);
  }
  CHECK(f.backend.calls.empty());
  for (auto const& name : {std::string(63, 'a'), std::string{"0"}, std::string{"a-1"}}) CHECK(ask(name).status == 201);
}

TEST_CASE("Accept decides the type of the answer before anything is allocated") {
  struct row {
    std::string accept, type;
    int status{201};
  };
  std::vector<row> const rows{
      {"", "application/json"},
      {"Accept: */*\r\n", "application/json"},
      {"Accept: text/html\r\n", "application/json"},
      {"Accept: application/json;as=Table;v=v1;g=meta.k8s.io, application/json\r\n", "application/json"},
      {"Accept: APPLICATION/YAML\r\n", "application/yaml"},
      {"Accept: application/json;q=0.5, application/yaml;q=0.9\r\n", "application/yaml"},
      {"Accept: application/yaml;q=0, */*\r\n", "application/json"},
      {"Accept: application/vnd.kubernetes.protobuf,application/json\r\n", "application/json"},
      {"Accept: application/vnd.kubernetes.protobuf\r\nAccept: application/yaml\r\n", "application/yaml"},
      {"Accept: application/vnd.kubernetes.protobuf\r\n", "application/json", 406},
      {"Accept: application/vnd.kubernetes.protobuf, application/json;q=0\r\n", "application/json", 406},
  };
  for (auto const& row : rows) {
    CAPTURE(row.accept);
    kubernetes f;
    auto const answer = f.ask(allocate(empty_request, "Content-Type: application/json\r\n" + row.accept));
    CHECK(answer.status == row.status);
    CHECK(answer.field("content-type") == row.type);
    CHECK(f.backend.calls.size() == (row.status == 201 ? 1U : 0U));
  }
  kubernetes f;
  auto const yaml = f.ask(allocate(empty_request, "Content-Type: application/json\r\nAccept: application/yaml\r\n"));
  CHECK(yaml.body.find("kind: GameServerAllocation\n") != std::string::npos);
  CHECK(yaml.body.find("  gameServerName: gs1\n") != std::string::npos);
  CHECK(f.ask(request_text("GET", "/apis/allocation.agones.dev/v1", "Accept: application/vnd.kubernetes.protobuf\r\n", "")).status == 406);
}

TEST_CASE("Content-Type decides how the body is read, and what is not JSON or YAML is 415") {
  kubernetes f;
  CHECK(f.ask(allocate(empty_request, "Content-Type: application/json; charset=utf-8\r\n")).status == 201);
  CHECK(f.ask(allocate("spec:\n  scheduling: Distributed\n", "Content-Type: application/yaml\r\n")).status == 201);
  CHECK(f.backend.calls.back().request->allocation().spec.scheduling == "Distributed");
  struct row {
    std::string field, word;
  };
  for (auto const& [field, word] : std::vector<row>{{"", "missing"},
                                                    {"Content-Type: nonsense\r\n", "missing"},
                                                    {"Content-Type: text/plain\r\n", "text/plain"},
                                                    {"Content-Type: application/cbor\r\n", "application/cbor"},
                                                    {"Content-Type: application/vnd.kubernetes.protobuf\r\n", "protobuf"}}) {
    auto const answer = f.ask(allocate(empty_request, field));
    CHECK(answer.status == 415);
    CHECK(json_at(answer.body, "/kind") == R"("Status")");
    CHECK(json_at(answer.body, "/message").find(word) != std::string::npos);
  }
  CHECK(f.backend.calls.size() == 2);
}

TEST_CASE("a body that cannot be decoded is 400 naming the place, and allocates nothing") {
  struct row {
    std::string type, body, word;
  };
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "[";
  std::vector<row> const rows{
      {"application/json", "", "empty"},
      {"application/json", "{", "line 1"},
      {"application/json", "{\n  \"spec\": {,}\n}", "line 2"},
      {"application/json", "[]", "object"},
      {"application/json", std::string{empty_request} + "x", "line 1"},
      {"application/json", deep, "line 1"},
      {"application/json", R"({"spec":{"selectors":[{"counters":{"rooms":{"minCount":"5"}}}]}})", "spec.selectors[0].counters[rooms].minCount"},
      {"application/json", R"({"apiVersion":"agones.dev/v1","kind":"Fleet","spec":{"replicas":2}})", "Fleet"},
      {"application/json", R"({"apiVersion":"example.com/v1","kind":"Foo"})", "Foo"},
      {"application/json", R"({"apiVersion":"allocation.agones.dev/v2","kind":"GameServerAllocation"})", "allocation.agones.dev/v2"},
      {"application/json", "null", "null"},
      {"application/json", " null\n", "null"},
      {"application/yaml", "", "empty"},
      {"application/yaml", "null", "empty"},
      {"application/yaml", "a: \"\\N\"", "UTF-8"},
      {"application/yaml", "a: [", "line"},
      {"application/yaml", "spec: {}\n---\nspec: {}\n", "more than one document"},
      {"application/yaml", "spec:\n  scheduling: 5\n", "spec.scheduling"},
  };
  kubernetes f;
  for (auto const& row : rows) {
    CAPTURE(row.body.substr(0, 80));
    auto const answer = f.ask(allocate(row.body, "Content-Type: " + row.type + "\r\n"));
    CHECK(answer.status == 400);
    CHECK(json_at(answer.body, "/kind") == R"("Status")");
    CHECK(json_at(answer.body, "/reason") == R"("BadRequest")");
    CHECK_MESSAGE(json_at(answer.body, "/message").find(row.word) != std::string::npos, json_at(answer.body, "/message"));
  }
  CHECK(f.backend.calls.empty());
}

TEST_CASE("in compatible mode bad bodies answer as Agones does: 500 and plain text") {
  front_end_options options;
  options.compatible = true;
  kubernetes f{options};
  auto const no_type = f.ask(allocate(empty_request, ""));
  CHECK(no_type.status == 500);
  CHECK(no_type.field("content-type") == "text/plain; charset=utf-8");
  CHECK(no_type.body == "error parsing mediatype from a request header: mime: no media type\n");
  CHECK(f.ask(allocate(empty_request, "Content-Type: text/plain\r\n")).body == "Could not find deserializer\n");
  CHECK(f.ask(allocate("null")).status == 201);
  auto const broken = f.ask(allocate("{"));
  CHECK(broken.status == 500);
  CHECK(broken.body.starts_with("error decoding body: "));
}

TEST_CASE("a request that does not validate is 422 with every cause") {
  kubernetes f;
  auto const answer = f.ask(allocate(R"({"metadata":{"name":"n"},"spec":{"scheduling":"Neither","counters":{"a":{"amount":-1}}}})"));
  CHECK(answer.status == 422);
  CHECK(json_at(answer.body, "/reason") == R"("Invalid")");
  CHECK(json_at(answer.body, "/details/name") == R"("n")");
  CHECK(json_at(answer.body, "/details/causes/0/field") == R"("spec.scheduling")");
  CHECK(json_at(answer.body, "/details/causes/1/field") == R"("spec.counters[a].amount")");
  CHECK(f.backend.calls.empty());
  auto const yaml = f.ask(allocate(R"({"spec":{"scheduling":"Neither"}})", "Content-Type: application/json\r\nAccept: application/yaml\r\n"));
  CHECK(yaml.status == 422);
  CHECK(yaml.body.find("reason: Invalid\n") != std::string::npos);
}

TEST_CASE("thousands of problems get a short answer") {
  front_end_options options;
  options.max_priorities = 100'000;
  kubernetes f{options};
  std::string body = R"({"spec":{"priorities":[{})";
  for (int i = 1; i < 10'000; ++i) body += ",{}";
  auto const answer = f.ask(allocate(body + "]}}"));
  CHECK(answer.status == 422);
  CHECK(answer.body.size() < 50'000);
  CHECK(json_at(answer.body, "/details/causes/100/message").find("there are more errors") != std::string::npos);
  CHECK(json_at(answer.body, "/details/causes/101").empty());
}

TEST_CASE("requests that would cost far more than others are 422 naming the part and its bound") {
  auto const repeated = [](std::string const& one, int count) {
    std::string out = one;
    for (int i = 1; i < count; ++i) out += "," + one;
    return "[" + out + "]";
  };
  auto const values = [&](std::string const& op, int count) {
    return R"({"matchExpressions":[{"key":"a","operator":"Exists"},{"key":"b","operator":")" + op + R"(","values":)" +
           repeated("\"v\"", count) + "}]}";
  };
  std::string const counter = R"({"type":"Counter","key":"a","order":"Ascending"})";
  struct row {
    std::string spec, cause, said;
  };
  std::vector<row> const rows{
      {R"("selectors":)" + repeated("{}", 64), "", ""},
      {R"("selectors":)" + repeated("{}", 65), "spec.selectors", "Too long: has 65 entries, at most 64 are accepted"},
      {R"("selectors":)" + repeated("{}", 1100), "spec.selectors", "Too long: has 1100 entries, at most 64 are accepted"},
      {R"("preferred":)" + repeated("{}", 64), "", ""},
      {R"("preferred":)" + repeated("{}", 65), "spec.preferred", "Too long: has 65 entries, at most 64 are accepted"},
      {R"("preferred":)" + repeated("{}", 33) + R"(,"selectors":)" + repeated("{}", 32), "spec.selectors with spec.preferred",
       "Too long: has 65 entries, at most 64 are accepted"},
      {R"("priorities":)" + repeated(counter, 16), "", ""},
      {R"("priorities":)" + repeated(counter, 17), "spec.priorities", "Too long: has 17 entries, at most 16 are accepted"},
      {R"("selectors":[{},)" + values("In", 256) + "]", "", ""},
      {R"("selectors":[{},)" + values("In", 257) + "]", "spec.selectors[1].matchExpressions[1].values",
       "Too long: has 257 entries, at most 256 are accepted"},
      {R"("preferred":[)" + values("NotIn", 257) + "]", "spec.preferred[0].matchExpressions[1].values",
       "Too long: has 257 entries, at most 256 are accepted"},
      {R"("required":)" + values("NotIn", 257), "spec.required.matchExpressions[1].values",
       "Too long: has 257 entries, at most 256 are accepted"},
  };
  for (auto const& row : rows) {
    CAPTURE(row.spec.substr(0, 80));
    kubernetes f;
    auto const answer = f.ask(allocate("{\"spec\":{" + row.spec + "}}"));
    CHECK(answer.status == (row.cause.empty() ? 201 : 422));
    if (row.cause.empty()) continue;
    CHECK(json_at(answer.body, "/details/causes/0/field") == "\"" + row.cause + "\"");
    CHECK(json_at(answer.body, "/details/causes/0/message") == "\"" + row.said + "\"");
    CHECK(json_at(answer.body, "/details/causes/1").empty());
    CHECK(f.backend.calls.empty());
  }
  front_end_options more;
  more.max_selectors = 100;
  more.max_priorities = 17;
  more.max_label_values = 257;
  for (auto const& row : rows) {
    if (row.spec.size() > 3200) continue;  // the thousand selectors
    kubernetes f{more};
    CHECK(f.ask(allocate("{\"spec\":{" + row.spec + "}}")).status == 201);
  }
}

TEST_CASE("YAML bodies have a bound of their own") {
  kubernetes f;
  std::string const yaml = "Content-Type: application/yaml\r\n";
  auto const padded = [](std::size_t size) { return "spec: {}\n#" + std::string(size - 10, 'x'); };
  CHECK(f.ask(allocate(padded(65536), yaml)).status == 201);
  auto const answer = f.ask(allocate(padded(65537), yaml));
  CHECK(answer.status == 413);
  CHECK(json_at(answer.body, "/message") ==
        R"("YAML bodies are limited to 65536 bytes, this one has 65537; JSON bodies may be larger")");
  CHECK(f.ask(allocate(R"({"spec":{"nosuch":")" + std::string(100'000, 'x') + "\"}}")).status == 201);
  std::string nodes = "a: [";
  for (int i = 0; i < 10'001; ++i) nodes += "1,";
  CHECK(f.ask(allocate(nodes + "1]", yaml)).status == 400);
  CHECK(f.ask(allocate("a: &x " + std::string(30'000, 'x') + "\nb: [*x,*x,*x,*x,*x,*x,*x,*x]", yaml)).status == 400);
  CHECK(f.backend.calls.size() == 2);
}

TEST_CASE("a page of another host cannot allocate, one of this host and what is no browser can") {
  kubernetes f;
  for (auto const* origin : {"http://example.com", "https://x.example.com", "null", "http://x:8080", "http://xx", "x"}) {
    CAPTURE(origin);
    auto const answer = f.ask(allocate(empty_request, std::string{json_fields} + "Origin: " + origin + "\r\n"));
    CHECK(answer.status == 403);
    CHECK(json_at(answer.body, "/reason") == R"("Forbidden")");
  }
  CHECK(f.backend.calls.empty());
  CHECK(f.ask(allocate(empty_request, std::string{json_fields} + "Origin: http://X\r\n")).status == 201);
  CHECK(f.ask(allocate(empty_request, std::string{json_fields} + "Origin: https://x\r\n")).status == 201);
}

TEST_CASE("dryRun=All decides without handing out, any other value is refused") {
  kubernetes f;
  CHECK(f.ask(allocate(empty_request, json_fields, "?dryRun=All")).status == 201);
  CHECK(f.backend.calls.at(0).dry_run);
  for (auto const* query : {"?dryRun=", "?dryRun", "?dryRun=None", "?dryRun=All&dryRun=x", "?fieldManager=k&dryRun=all"}) {
    auto const answer = f.ask(allocate(empty_request, json_fields, query));
    CHECK(answer.status == 400);
    CHECK(json_at(answer.body, "/message").find("dryRun") != std::string::npos);
  }
  CHECK(f.backend.calls.size() == 1);
}

TEST_CASE("fieldValidation refuses, tells or ignores unknown fields") {
  kubernetes f;
  std::string const body = R"({"spec":{"shedulling":"Packed","selectors":[{"matchLabel":{"a":"b"}}]}})";
  CHECK(f.ask(allocate(body)).status == 201);
  CHECK(f.ask(allocate(body, json_fields, "?fieldValidation=Ignore")).field("warning").empty());
  auto const warned = f.ask(allocate(body, json_fields, "?fieldValidation=Warn"));
  CHECK(warned.status == 201);
  CHECK(warned.head.find("Warning: 299 - \"unknown field \\\"spec.shedulling\\\"\"") != std::string::npos);
  CHECK(warned.head.find("spec.selectors[0].matchLabel") != std::string::npos);
  auto const refused = f.ask(allocate(body, json_fields, "?fieldManager=kubectl-create&fieldValidation=Strict"));
  CHECK(refused.status == 400);
  CHECK(json_at(refused.body, "/message").find("strict decoding error: unknown field") != std::string::npos);
  CHECK(json_at(refused.body, "/message").find("spec.shedulling") != std::string::npos);
  CHECK(f.ask(allocate(body, json_fields, "?fieldValidation=Sometimes")).status == 400);
  CHECK(f.backend.calls.size() == 3);
}

TEST_CASE("warnings stay short and plain whatever the fields are called") {
  kubernetes f;
  auto const warned = [&f](std::string const& members) {
    return f.ask(allocate("{" + members + "}", json_fields, "?fieldValidation=Warn"));
  };
  CHECK(warned(R"("f\u00fcr":1)").field("warning") == "299 - \"unknown field \\\"f??r\\\"\"");
  std::string members = R"("a0":1)";
  for (int i = 1; i < 1000; ++i) members += ",\"" + std::string(110, 'a') + std::to_string(i) + "\":1";
  auto const many = warned(members);
  CHECK(many.status == 201);
  CHECK(many.head.size() < 8 * 1024);
  CHECK(many.head.find("unknown field \\\"a0\\\"") != std::string::npos);
  CHECK(many.head.find(" more\"\r\n") != std::string::npos);
}

TEST_CASE("a timeout in the query shortens the request's time and never lengthens it") {
  kubernetes f;
  f.ask(allocate(empty_request, json_fields, "?timeout=1m30s"));
  f.ask(allocate(empty_request, json_fields, "?timeout=1.5s"));
  f.ask(allocate(empty_request, json_fields, "?timeout=0"));
  REQUIRE(f.backend.calls.size() == 3);
  CHECK(f.backend.calls[0].deadline - f.time.now() == std::chrono::seconds{30});
  CHECK(f.backend.calls[1].deadline - f.time.now() == std::chrono::milliseconds{1500});
  CHECK(f.backend.calls[2].deadline - f.time.now() == std::chrono::seconds{30});
  for (auto const* bad : {"?timeout=5", "?timeout=-5s", "?timeout=s", "?timeout=5x"}) {
    auto const answer = f.ask(allocate(empty_request, json_fields, bad));
    CHECK(answer.status == 400);
    CHECK(json_at(answer.body, "/message").find("timeout") != std::string::npos);
  }
}

TEST_CASE("each outcome has its code, its document and its fields") {
  struct row {
    outcome result;
    int status;
    std::string pointer, value;
  };
  std::vector<row> const rows{
      {outcome::allocated, 201, "/status/state", R"("Allocated")"},
      {outcome::exhausted, 201, "/status/state", R"("UnAllocated")"},
      {outcome::contention, 201, "/status/state", R"("Contention")"},
      {outcome::refused, 403, "/reason", R"("Forbidden")"},
      {outcome::unavailable, 503, "/reason", R"("ServiceUnavailable")"},
      {outcome::unknown, 504, "/kind", R"("Status")"},
      {outcome::cancelled, 499, "/kind", R"("Status")"},
      {outcome::deadline, 504, "/kind", R"("Status")"},
  };
  for (auto const& row : rows) {
    CAPTURE(to_string(row.result));
    kubernetes f;
    f.backend.next = result_of(row.result);
    auto const answer = f.ask(allocate());
    CHECK(answer.status == row.status);
    CHECK(json_at(answer.body, row.pointer) == row.value);
    CHECK(answer.field("agones-alloc-breakdown") ==
          (row.result == outcome::exhausted ? "namespace default=12; label agones.dev/fleet=x=0" : ""));
  }
}

TEST_CASE("a refusal of the store is passed on as it came") {
  kubernetes f;
  f.backend.next = result_of(outcome::refused);
  f.backend.next.server_code = 422;
  f.backend.next.server_message = "admission webhook denied the request";
  auto const answer = f.ask(allocate());
  CHECK(answer.status == 422);
  CHECK(json_at(answer.body, "/message") == R"("admission webhook denied the request")");
}

TEST_CASE("where a wait is advised the answer says how long") {
  kubernetes f;
  f.backend.next = result_of(outcome::contention);
  CHECK(f.ask(allocate()).field("retry-after").empty());
  f.backend.next.retry_after = std::chrono::milliseconds{1200};
  CHECK(f.ask(allocate()).field("retry-after") == "2");
  f.backend.next = result_of(outcome::unavailable);
  f.backend.next.retry_after = std::chrono::seconds{7};
  auto const answer = f.ask(allocate());
  CHECK(answer.field("retry-after") == "7");
  CHECK(json_at(answer.body, "/details/retryAfterSeconds") == "7");
}

TEST_CASE("a write whose fate is unknown names its server") {
  kubernetes f;
  f.backend.next = result_of(outcome::unknown);
  f.backend.next.server = some_server();
  CHECK(json_at(f.ask(allocate()).body, "/message").find("default/gs1") != std::string::npos);
}

TEST_CASE("a client that leaves cancels its allocation") {
  kubernetes f;
  f.backend.hold = true;
  {
    raw_client client{f.io, f.listener.port()};
    client.send(allocate());
    run_until(f.io, [&] { return f.backend.held.size() == 1; });
    CHECK(f.backend.cancelled == 0);
  }
  run_until(f.io, [&] { return f.backend.cancelled == 1; });
  f.backend.next = result_of(outcome::cancelled);
  f.backend.release();
  run_until(f.io, [&] { return f.listener.connections() == 0; });
}

TEST_CASE("several clusters are refused as long as there is no policy") {
  kubernetes f;
  auto const answer = f.ask(allocate(R"({"spec":{"multiClusterSetting":{"enabled":true}}})"));
  CHECK(answer.status == 500);
  CHECK(json_at(answer.body, "/message") == R"("no multi-cluster allocation policy is specified")");
  auto const bad = f.ask(allocate(
      R"({"spec":{"multiClusterSetting":{"enabled":true,"policySelector":{"matchExpressions":[{"key":"x","operator":"Bad"}]}}}})"));
  CHECK(bad.status == 400);
  CHECK(json_at(bad.body, "/message").find("spec.multiClusterSetting.policySelector") != std::string::npos);
  CHECK(f.backend.calls.empty());
}

TEST_CASE("strict refuses words an enum does not have, and unknown fields") {
  front_end_options options;
  options.strict = true;
  kubernetes f{options};
  CHECK(f.ask(allocate(R"({"spec":{"scheduling":"packed"}})")).status == 400);
  CHECK(f.ask(allocate(R"({"spec":{"shedulling":"Packed"}})")).status == 400);
  CHECK(f.ask(allocate()).status == 201);
}
