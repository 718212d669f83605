// The API of embedded fleets: scaling fleets and deleting game servers.
#include "small_cluster.hpp"

#include <agones_alloc/beast/cluster_api/served_path.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace agones_alloc;
using namespace beast_test;

namespace {

auto const scale_path = std::string{fleets_path} + "/simple/scale";
made_request::fields const merge{{"Content-Type", "application/merge-patch+json"}};
made_request::fields const plain{{"Content-Type", "application/json; charset=utf-8"}};

auto patch(small_cluster& c, std::string body, std::string const& query = {}) -> http_response {
  return c.ask("PATCH", scale_path + query, std::move(body), merge);
}

auto replicas(small_cluster& c) -> std::int64_t { return c.cluster.find_fleet({"default", "simple"})->replicas; }

}  // namespace

TEST_CASE("a fleet's scale is read, patched and replaced, and its servers follow") {
  small_cluster c;
  auto const read = c.list(scale_path);
  CHECK(text_at(read, "/kind") == "Scale");
  CHECK(text_at(read, "/apiVersion") == "autoscaling/v1");
  CHECK(text_at(read, "/metadata/name") == "simple");
  CHECK(text_at(read, "/spec/replicas") == "3");
  CHECK(text_at(read, "/status/replicas") == "3");
  CHECK(text_at(read, "/status/selector") == "agones.dev/fleet=simple");
  auto const patched = patch(c, R"({"spec":{"replicas":5}})");
  CHECK(patched.status == 200);
  CHECK(text_at(c.json(patched), "/spec/replicas") == "5");
  CHECK(text_at(c.json(patched), "/metadata/resourceVersion") != text_at(read, "/metadata/resourceVersion"));
  c.until([&] { return c.server_names().size() == 5; });
  auto const replaced = c.ask("PUT", scale_path, R"({"kind":"Scale","metadata":{"name":"simple"},"spec":{"replicas":1}})", plain);
  CHECK(replaced.status == 200);
  c.until([&] { return c.server_names().size() == 1; });
  CHECK(patch(c, "{}").status == 200);
  CHECK(replicas(c) == 1);
  CHECK(c.ask("PUT", scale_path, R"({"spec":{"replicas":2}})").status == 200);
  CHECK(replicas(c) == 2);
}

TEST_CASE("scaling down never takes an allocated server") {
  small_cluster c;
  auto const kept = c.server_names()[1];
  c.allocate(kept);
  CHECK(patch(c, R"({"spec":{"replicas":0}})").status == 200);
  c.until([&] { return c.server_names().size() == 1; });
  c.time.advance(std::chrono::minutes{5});
  settle(c.io);
  CHECK(c.server_names() == std::vector<shared_string>{kept});
  CHECK(text_at(c.list(scale_path), "/status/replicas") == "1");
}

TEST_CASE("a scale with a condition that does not hold is a conflict and changes nothing") {
  small_cluster c;
  auto const now = c.list(scale_path);
  auto const with = [&](std::string const& meta) { return patch(c, R"({"metadata":{)" + meta + R"(},"spec":{"replicas":9}})"); };
  auto const conflict = with(R"("resourceVersion":"999999")");
  CHECK(conflict.status == 409);
  CHECK(text_at(c.json(conflict), "/reason") == "Conflict");
  CHECK(with(R"("uid":"x")").status == 409);
  CHECK(replicas(c) == 3);
  CHECK(with(R"("resourceVersion":")" + text_at(now, "/metadata/resourceVersion") + R"(","uid":")" + text_at(now, "/metadata/uid") + "\"").status == 200);
  CHECK(replicas(c) == 9);
}

TEST_CASE("a scale that makes no sense is refused by field and changes nothing") {
  small_cluster c;
  auto const negative = patch(c, R"({"spec":{"replicas":-1}})");
  CHECK(negative.status == 422);
  CHECK(text_at(c.json(negative), "/details/causes/0/field") == "spec.replicas");
  CHECK(patch(c, R"({"spec":{"replicas":99999999}})").status == 422);
  CHECK(patch(c, R"({"spec":{"replicas":null}})").status == 422);
  CHECK(patch(c, R"({"spec":{"replicas":"5"}})").status == 400);
  CHECK(patch(c, R"({"spec":{"replicas":1.5}})").status == 400);
  CHECK(patch(c, R"({"metadata":{"uid":5},"spec":{"replicas":5}})").status == 400);
  CHECK(patch(c, "[]").status == 400);
  CHECK(patch(c, "{").status == 400);
  CHECK(patch(c, R"({"spec":{"replicas":5}})", "?dryRun=Some").status == 400);
  CHECK(patch(c, R"({"spec":null})").status == 422);
  CHECK(patch(c, R"({"spec":5})").status == 400);
  CHECK(patch(c, R"({"kind":"Fleet","spec":{"replicas":5}})").status == 400);
  CHECK(patch(c, R"({"metadata":{"name":"other"},"spec":{"replicas":5}})").status == 400);
  CHECK(patch(c, R"({"metadata":{"namespace":"games"},"spec":{"replicas":5}})").status == 400);
  CHECK(patch(c, std::string(100, '[') + std::string(100, ']')).status == 400);
  CHECK(patch(c, R"({"spec":{"replicas":5},"deep":)" + std::string(100'000, '[')).status == 400);
  CHECK(c.ask("PUT", scale_path, "{}", plain).status == 422);
  CHECK(c.ask("PUT", scale_path, "", plain).status == 400);
  auto const strategic = c.ask("PATCH", scale_path, R"({"spec":{"replicas":5}})", {{"Content-Type", "application/strategic-merge-patch+json"}});
  CHECK(strategic.status == 415);
  CHECK(text_at(c.json(strategic), "/reason") == "UnsupportedMediaType");
  CHECK(text_at(c.json(strategic), "/message").find("application/merge-patch+json") != std::string::npos);
  CHECK(c.ask("PATCH", scale_path, R"({"spec":{"replicas":5}})", {{"Content-Type", "application/apply-patch+yaml"}}).status == 415);
  CHECK(c.ask("PUT", scale_path, R"({"spec":{"replicas":5}})", {{"Content-Type", "application/yaml"}}).status == 415);
  CHECK(c.ask("PATCH", scale_path, R"({"spec":{"replicas":5}})").status == 415);
  CHECK(c.ask("PATCH", std::string{fleets_path} + "/nothing/scale", R"({"spec":{"replicas":5}})", merge).status == 404);
  CHECK(c.get("/apis/agones.dev/v1/namespaces/default/gameservers/a/scale").status == 404);
  auto foreign = merge;
  foreign["Origin"] = "http://elsewhere.example";
  foreign["Host"] = "127.0.0.1:8080";
  CHECK(c.ask("PATCH", scale_path, R"({"spec":{"replicas":5}})", foreign).status == 403);
  CHECK(replicas(c) == 3);
}

TEST_CASE("a scale that is put without replicas is one of 0, as Go's clients write it") {
  small_cluster c;
  auto const answer = c.ask("PUT", scale_path, R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"simple"},"spec":{},"status":{}})", plain);
  CHECK(answer.status == 200);
  CHECK(text_at(c.json(answer), "/spec/replicas") == "0");
  c.until([&] { return c.server_names().empty(); });
  CHECK(patch(c, R"({"spec":{"replicas":2}})").status == 200);
  CHECK(patch(c, R"({"spec":{}})").status == 200);
  CHECK(replicas(c) == 2);
}

TEST_CASE("a JSON patch of a scale holds as a whole, or not at all") {
  small_cluster c;
  auto const steps = [&](std::string const& body) {
    return c.ask("PATCH", scale_path, body, {{"Content-Type", "application/json-patch+json"}}).status;
  };
  CHECK(steps(R"([{"op":"test","path":"/spec/replicas","value":3},{"op":"replace","path":"/spec/replicas","value":4}])") == 200);
  CHECK(replicas(c) == 4);
  CHECK(steps(R"([{"op":"add","path":"/spec/replicas","value":5},{"op":"test","path":"/spec/replicas","value":5}])") == 200);
  CHECK(replicas(c) == 5);
  CHECK(steps(R"([{"op":"test","path":"/spec/replicas","value":3},{"op":"replace","path":"/spec/replicas","value":9}])") == 422);
  CHECK(steps(R"([{"op":"replace","path":"/spec/replicas","value":9},{"op":"test","path":"/spec/replicas","value":5}])") == 422);
  CHECK(steps(R"([{"op":"replace","path":"/spec/replicas","value":9},{"op":"test","path":"/metadata/resourceVersion","value":"1"}])") == 409);
  CHECK(steps(R"([{"op":"remove","path":"/spec/replicas"}])") == 422);
  CHECK(steps(R"([{"op":"replace","path":"/spec/replicas","value":9},{"op":"add","path":"/metadata/labels","value":{}}])") == 422);
  CHECK(steps(R"([{"op":"replace","path":"/spec/replicas","value":-9}])") == 422);
  CHECK(steps(R"([{"op":"replace","path":"/spec/replicas","value":"9"}])") == 400);
  CHECK(steps(R"([{"op":"replace","path":"/spec/replicas"}])") == 400);
  CHECK(steps(R"([{"op":7}])") == 400);
  CHECK(steps("[7]") == 400);
  CHECK(steps(R"({"spec":{"replicas":9}})") == 400);
  CHECK(steps("") == 400);
  CHECK(replicas(c) == 5);
  CHECK(steps("[]") == 200);
  CHECK(replicas(c) == 5);
}

TEST_CASE("what is only tried changes nothing") {
  small_cluster c;
  auto const tried = patch(c, R"({"spec":{"replicas":7}})", "?dryRun=All");
  CHECK(tried.status == 200);
  CHECK(text_at(c.json(tried), "/spec/replicas") == "7");
  CHECK(patch(c, R"({"spec":{"replicas":-7}})", "?dryRun=All").status == 422);
  CHECK(replicas(c) == 3);
  auto const names = c.server_names();
  for (auto const& [query, body] : {std::pair{"?dryRun=All", ""}, std::pair{"", R"({"kind":"DeleteOptions","dryRun":["All"]})"}}) {
    auto const answer = c.ask("DELETE", servers_path + ("/" + names[0].str() + query), body);
    CHECK(answer.status == 200);
    CHECK(text_at(c.json(answer), "/metadata/deletionTimestamp") != "");
  }
  c.time.advance(std::chrono::minutes{1});
  settle(c.io);
  CHECK(c.server_names() == names);
}

TEST_CASE("a deleted server ends, allocated or not, and its fleet makes another") {
  small_cluster c;
  auto const names = c.server_names();
  c.allocate(names[1]);
  for (auto const& name : {names[0], names[1]}) {
    auto const answer = c.ask("DELETE", servers_path + ("/" + name.str()), R"({"propagationPolicy":"Background"})");
    CHECK(answer.status == 200);
    CHECK(text_at(c.json(answer), "/metadata/name") == name.str());
    CHECK(text_at(c.json(answer), "/metadata/deletionGracePeriodSeconds") == "0");
    auto const gone = [&] {
      auto const now = c.server_names();
      return now.size() == 3 && std::find(now.begin(), now.end(), name) == now.end();
    };
    c.until(gone);
    CHECK(c.ask("DELETE", servers_path + ("/" + name.str())).status == 404);
  }
}

TEST_CASE("a deletion meant for another server, or badly put, deletes nothing") {
  small_cluster c;
  auto const names = c.server_names();
  auto const path = servers_path + ("/" + names[0].str());
  CHECK(c.ask("DELETE", path, R"({"preconditions":{"uid":"another"}})").status == 409);
  CHECK(c.ask("DELETE", path, R"({"preconditions":{"resourceVersion":"1"}})").status == 409);
  CHECK(c.ask("DELETE", path, R"({"preconditions":{"uid":1}})").status == 400);
  CHECK(c.ask("DELETE", path, R"({"dryRun":"All"})").status == 400);
  CHECK(c.ask("DELETE", path, R"({"dryRun":["Some"]})").status == 400);
  CHECK(c.ask("DELETE", path, "nonsense").status == 400);
  CHECK(c.ask("DELETE", path, "{}", {{"Content-Type", "application/yaml"}}).status == 415);
  CHECK(c.ask("DELETE", path, {}, {{"Origin", "http://elsewhere.example"}, {"Host", "127.0.0.1:8080"}}).status == 403);
  c.time.advance(std::chrono::minutes{1});
  settle(c.io);
  CHECK(c.server_names() == names);
}

TEST_CASE("paths of objects are taken apart, encoded or not") {
  using path = served_path;
  CHECK(parse_served_path("/apis/agones.dev/v1/fleets") == path{"", "fleets", "", ""});
  CHECK(parse_served_path("/apis/agones.dev/v1/namespaces/a/fleets/") == path{"a", "fleets", "", ""});
  CHECK(parse_served_path("/apis/agones.dev/v1/namespaces/a/fleets/b") == path{"a", "fleets", "b", ""});
  CHECK(parse_served_path("/apis/agones.dev/v1/namespaces/a%2Db/fleets/b/scale") == path{"a-b", "fleets", "b", "scale"});
  for (auto const* other : {"/apis/agones.dev/v1", "/apis/agones.dev/v1/", "/apis/agones.dev/v1/namespaces/a", "/apis/agones.dev/v1/fleets/b",
                            "/apis/agones.dev/v1/namespaces//fleets", "/apis/agones.dev/v1/namespaces/a/fleets/b/c/d",
                            "/apis/agones.dev/v1/namespaces/%zz/fleets"}) {
    CHECK_MESSAGE(!parse_served_path(other), other);
  }
}
