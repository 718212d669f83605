// The API of embedded fleets: discovery, reading, selecting, pages, Tables.
#include "small_cluster.hpp"

#include <agones_alloc/beast/cluster_api/cluster_documents.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

using namespace agones_alloc;
using namespace beast_test;

namespace {

auto names(boost::json::value const& list) -> std::vector<std::string> {
  std::vector<std::string> out;
  for (auto const& item : list.at("items").as_array()) out.push_back(text_at(item, "/metadata/namespace") + "/" + text_at(item, "/metadata/name"));
  return out;
}

}  // namespace

TEST_CASE("every document of discovery and OpenAPI is JSON, and names what is served") {
  small_cluster c;
  for (auto const* path : {"/version", "/api", "/api/v1", "/apis", "/apis/", "/apis/agones.dev", "/apis/allocation.agones.dev",
                           "/apis/agones.dev/v1", "/apis/agones.dev/v1/", "/openapi/v3", "/openapi/v3/apis/agones.dev/v1"}) {
    auto const answer = c.get(path);
    CHECK_MESSAGE(answer.status == 200, path);
    CHECK_MESSAGE(parse_json(answer.body).has_value(), path);
  }
  CHECK(text_at(c.list("/apis"), "/groups/0/name") == "agones.dev");
  std::set<std::string> resources;
  auto const listed = c.list("/apis/agones.dev/v1");
  for (auto const& one : listed.at("resources").as_array()) resources.insert(text_at(one, "/name"));
  CHECK(resources == std::set<std::string>{"fleets", "fleets/scale", "gameservers"});
  auto const paths = c.list("/openapi/v3").at("paths").as_object();
  CHECK(paths.contains("apis/agones.dev/v1"));
  CHECK(paths.contains("apis/allocation.agones.dev/v1"));
  CHECK(c.ask("POST", "/apis").status == 405);
}

TEST_CASE("requests for allocations, and whatever is no Kubernetes API, are somebody else's") {
  small_cluster c;
  for (auto const* path : {"/", "/metrics", "/apis/allocation.agones.dev/v1", "/openapi/v2", "/apiary",
                           "/apis/allocation.agones.dev/v1/namespaces/default/gameserverallocations"}) {
    CHECK_MESSAGE(c.get(path).status == 418, path);
  }
}

TEST_CASE("lists hold what is there, of one namespace or of all, sorted, with a version") {
  small_cluster c;
  auto const all = c.list(all_servers);
  CHECK(text_at(all, "/kind") == "GameServerList");
  CHECK(text_at(all, "/apiVersion") == "agones.dev/v1");
  CHECK(text_at(all, "/metadata/resourceVersion") == c.store.list().resource_version);
  auto const found = names(all);
  CHECK(found.size() == 5);
  CHECK(std::is_sorted(found.begin(), found.end()));
  CHECK(text_at(all, "/items/0/status/state") == "Ready");
  CHECK(text_at(all, "/items/0/spec/container") == "game");
  CHECK(names(c.list(servers_path)).size() == 3);
  CHECK(names(c.list("/apis/agones.dev/v1/namespaces/nowhere/gameservers")).empty());
  auto const fleets = c.list("/apis/agones.dev/v1/fleets");
  CHECK(text_at(fleets, "/kind") == "FleetList");
  CHECK(names(fleets) == std::vector<std::string>{"default/simple", "games/other"});
  CHECK(text_at(fleets, "/items/0/status/readyReplicas") == "3");
  CHECK(text_at(fleets, "/items/0/metadata/resourceVersion") != "");
}

TEST_CASE("a list is selected by labels and fields, sets included") {
  small_cluster c;
  auto const count = [&](std::string const& query) { return names(c.list(all_servers + ("?" + query))).size(); };
  CHECK(count("labelSelector=mode%3Dduel") == 3);
  CHECK(count("labelSelector=mode+in+(duel,race)") == 5);
  CHECK(count("labelSelector=mode%20notin%20(duel)") == 2);
  CHECK(count("labelSelector=!mode") == 0);
  CHECK(count("labelSelector=agones.dev%2Ffleet%3Dother,mode") == 2);
  auto const name = c.server_names()[1].str();
  CHECK(count("fieldSelector=metadata.name%3D" + name) == 1);
  CHECK(count("fieldSelector=metadata.name!=" + name) == 4);
  CHECK(count("fieldSelector=metadata.namespace==games") == 2);
  CHECK(count("fieldSelector=metadata.namespace=games,metadata.name=" + name) == 0);
  auto const refused = c.get(std::string{all_servers} + "?fieldSelector=status.state=Ready");
  CHECK(refused.status == 400);
  CHECK(refused.body.find("field label not supported: status.state") != std::string::npos);
  CHECK(c.get(std::string{all_servers} + "?labelSelector=a%20b").status == 400);
  CHECK(c.get(std::string{all_servers} + "?limit=-1").status == 400);
  CHECK(c.get(std::string{all_servers} + "?watch=maybe").status == 400);
  CHECK(count("limit=9223372036854775807") == 5);
  CHECK(c.get(std::string{all_servers} + "?limit=9223372036854775808").status == 400);
  CHECK(c.get(std::string{all_servers} + "?limit=1e3").status == 400);
  CHECK(c.get(std::string{all_servers} + "?timeoutSeconds=x").status == 400);
  CHECK(c.get(std::string{all_servers} + "?labelSelector=" + std::string(5000, 'a')).status == 400);
  CHECK(c.get(std::string{all_servers} + "?fieldSelector=metadata.name=" + std::string(5000, 'a')).status == 400);
  std::string many;
  for (int i = 0; i != 64; ++i) many += ",!a" + std::to_string(i);
  CHECK(count("labelSelector=" + many.substr(1)) == 5);
  auto const long_one = c.get(std::string{all_servers} + "?labelSelector=b" + many);
  CHECK(long_one.status == 400);
  CHECK(text_at(c.json(long_one), "/message").find("64 requirements") != std::string::npos);
}

TEST_CASE("pages show one state, whatever happens between them") {
  small_cluster c;
  auto const before = names(c.list(all_servers));
  auto page = c.list(std::string{all_servers} + "?limit=2");
  auto const version = text_at(page, "/metadata/resourceVersion");
  CHECK(text_at(page, "/metadata/remainingItemCount") == "3");
  auto found = names(page);
  CHECK(c.ask("DELETE", servers_path + ("/" + c.server_names()[2].str())).status == 200);
  settle(c.io);
  int pages = 1;
  for (auto next = text_at(page, "/metadata/continue"); !next.empty(); next = text_at(page, "/metadata/continue")) {
    page = c.list(std::string{all_servers} + "?limit=2&continue=" + next);
    CHECK(text_at(page, "/metadata/resourceVersion") == version);
    for (auto& name : names(page)) found.push_back(std::move(name));
    ++pages;
  }
  CHECK(pages == 3);
  CHECK(found == before);
  CHECK(names(c.list(all_servers)) != before);
}

TEST_CASE("with a selector a page is full while there is more, and has no count of the rest") {
  small_cluster c;
  auto const page = c.list(std::string{all_servers} + "?limit=2&labelSelector=mode=race");
  CHECK(names(page).size() == 2);
  CHECK(text_at(page, "/metadata/continue").empty());
  auto const first = c.list(std::string{all_servers} + "?limit=1&labelSelector=mode=race");
  CHECK(text_at(first, "/metadata/remainingItemCount").empty());
  auto const second = c.list(std::string{all_servers} + "?limit=1&labelSelector=mode=race&continue=" + text_at(first, "/metadata/continue"));
  CHECK(names(second).size() == 1);
  CHECK(text_at(second, "/metadata/continue").empty());
}

TEST_CASE("a page of a list that is no longer kept is 410, and so is a version that is over") {
  cluster_api_options few;
  few.kept_lists = 1;
  small_cluster c{few};
  auto const token = text_at(c.list(std::string{all_servers} + "?limit=1"), "/metadata/continue");
  auto const go_on = [&](std::string const& with) { return c.get(std::string{all_servers} + "?limit=1&continue=" + with); };
  CHECK(go_on(token).status == 200);
  for (auto const* gone : {"1.1.99999", "0.1.1", "18446744073709551615.18446744073709551616.99999999999999999999"}) {
    CHECK_MESSAGE(go_on(gone).status == 410, gone);
  }
  for (auto const* bad : {"x", "1.2", "1.1.1x", "..", "1.1.1.1", "-1.1.1", "%00.1.1", "123456789012345678901.1.1"}) {
    auto const refused = go_on(bad);
    CHECK_MESSAGE(refused.status == 400, bad);
    CHECK_MESSAGE(text_at(c.json(refused), "/message").find("continue") != std::string::npos, bad);
  }
  c.time.advance(std::chrono::minutes{6});
  auto const late = go_on(token);
  CHECK(late.status == 410);
  CHECK(text_at(c.json(late), "/reason") == "Expired");
  auto const pushed_out = text_at(c.list(std::string{all_servers} + "?limit=1"), "/metadata/continue");
  c.list(std::string{all_servers} + "?limit=1");
  CHECK(go_on(pushed_out).status == 410);
  auto const now = c.store.list().resource_version;
  CHECK(c.get(std::string{all_servers} + "?resourceVersionMatch=Exact&resourceVersion=" + now).status == 200);
  CHECK(c.get(std::string{all_servers} + "?resourceVersionMatch=Exact&resourceVersion=1").status == 410);
  CHECK(c.get(std::string{all_servers} + "?resourceVersionMatch=NotOlderThan&resourceVersion=1").status == 200);
  CHECK(c.get(std::string{all_servers} + "?resourceVersion=0").status == 200);
  CHECK(c.get(std::string{all_servers} + "?resourceVersion=99999").status == 504);
  CHECK(c.get(std::string{all_servers} + "?resourceVersion=abc").status == 400);
}

TEST_CASE("a long list is made while it is sent") {
  cluster_api_options small;
  small.watch.piece_bytes = 1000;
  small_cluster c{small};
  auto answer = c.get(all_servers);
  REQUIRE(answer.stream);
  CHECK(answer.body.empty());
  std::vector<std::string> pieces;
  for (bool more = true; more;) {
    answer.stream->next([&](http_body_stream::piece const& piece) {
      more = piece != nullptr;
      if (more) pieces.push_back(*piece);
    });
  }
  CHECK(pieces.size() > 1);
  std::string whole;
  for (auto const& piece : pieces) {
    CHECK(piece.size() < 3000);
    whole += piece;
  }
  CHECK(names(parse_json(whole).value()).size() == 5);
  auto table = c.get(all_servers, as_table);
  CHECK(c.json(std::move(table)).at("rows").as_array().size() == 5);
}

TEST_CASE("a Table is given to those who ask for one, in lists and of one object") {
  small_cluster c;
  c.time.advance(std::chrono::minutes{5});
  auto const list = c.json(c.get(servers_path, as_table));
  CHECK(text_at(list, "/kind") == "Table");
  CHECK(text_at(list, "/apiVersion") == "meta.k8s.io/v1");
  CHECK(text_at(list, "/columnDefinitions/1/name") == "State");
  CHECK(list.at("rows").as_array().size() == 3);
  CHECK(text_at(list, "/rows/0/cells/1") == "Ready");
  CHECK(text_at(list, "/rows/0/object/kind") == "PartialObjectMetadata");
  auto const fleet = c.json(c.get(std::string{fleets_path} + "/simple?includeObject=None", as_table));
  CHECK(text_at(fleet, "/rows/0/cells") == R"(["simple","Packed",3,3,0,3,"5m"])");
  CHECK(fleet.at("rows").at(0).as_object().contains("object") == false);
  CHECK(text_at(c.json(c.get(servers_path, "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json")), "/kind") == "GameServerList");
  CHECK(c.get(servers_path, "application/vnd.kubernetes.protobuf").status == 406);
  CHECK(c.get(servers_path, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io").status == 406);
}

TEST_CASE("one object is read as JSON or YAML; one that is not there is named") {
  small_cluster c;
  auto const name = c.server_names()[0].str();
  CHECK(text_at(c.list(servers_path + ("/" + name)), "/metadata/name") == name);
  auto const yaml = c.get(std::string{fleets_path} + "/simple", "application/yaml");
  CHECK(yaml.content_type == "application/yaml");
  CHECK(yaml.body.find("kind: Fleet") != std::string::npos);
  auto const missing = c.get(std::string{fleets_path} + "/nothing");
  CHECK(missing.status == 404);
  CHECK(text_at(c.json(missing), "/message") == "fleets.agones.dev \"nothing\" not found");
  CHECK(text_at(c.json(missing), "/reason") == "NotFound");
  CHECK(c.get("/apis/agones.dev/v1/namespaces/games/gameservers/" + name).status == 404);
}

TEST_CASE("events of game servers are listed by what they are about, counted, and bounded") {
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  event_book book{time, nullptr, 3};
  cluster_api_options with;
  with.events = &book;
  small_cluster c{with};
  auto const about = [&](std::size_t number) -> game_server const& { return *c.store.list().servers[number]; };
  book.record(about(0), recorder::type::normal, "Allocated", "Allocated");
  book.record(about(1), recorder::type::warning, "CounterActionError", "no such counter");
  book.record(about(0), recorder::type::normal, "Allocated", "Allocated");
  auto const list = c.list("/api/v1/namespaces/default/events");
  CHECK(text_at(list, "/kind") == "EventList");
  REQUIRE(list.at("items").as_array().size() == 2);
  CHECK(text_at(list, "/items/0/count") == "2");
  CHECK(text_at(list, "/items/1/type") == "Warning");
  auto const count = [&](std::string const& query) { return c.list("/api/v1/events?fieldSelector=" + query).at("items").as_array().size(); };
  CHECK(count("involvedObject.name=" + about(0).meta.name.str()) == 1);
  CHECK(count("involvedObject.kind=GameServer,involvedObject.namespace=default,involvedObject.uid=" + about(1).meta.uid.str()) == 1);
  CHECK(count("involvedObject.kind=Fleet") == 0);
  CHECK(count("type!=Normal") == 1);
  CHECK(c.get("/api/v1/events?fieldSelector=nonsense").status == 400);
  CHECK(c.get("/api/v1/events?watch=true").status == 405);
  CHECK(c.get("/api/v1/events?watch=false").status == 200);
  CHECK(c.ask("DELETE", "/api/v1/events").status == 405);
  CHECK(c.list("/api/v1/namespaces/games/events").at("items").as_array().empty());
  auto const table = c.json(c.get("/api/v1/events", as_table));
  CHECK(text_at(table, "/rows/0/cells/2") == "Allocated");
  CHECK(text_at(table, "/rows/0/cells/3") == "gameserver/" + about(0).meta.name.str());
  for (int i = 0; i != 9; ++i) book.record(about(2), recorder::type::normal, "Turn" + std::to_string(i), "x");
  CHECK(count("") == 3);
  small_cluster without;
  CHECK(without.list("/api/v1/namespaces/default/events").at("items").as_array().empty());
}

TEST_CASE("what is not served gets a Status that says what is") {
  small_cluster c;
  struct {
    char const* method;
    std::string path;
    int status;
    char const* word;
  } const cases[]{
      {"GET", "/api/v1/pods", 404, "fleets and gameservers"},
      {"GET", "/apis/apps/v1/deployments", 404, "fleets and gameservers"},
      {"GET", "/apis/agones.dev/v1/gameserversets", 404, "fleets and gameservers"},
      {"GET", "/apis/agones.dev/v1/namespaces/default", 404, "fleets and gameservers"},
      {"GET", std::string{fleets_path} + "/simple/status", 404, "fleets have scale"},
      {"GET", "/apis/agones.dev/v1/namespaces/default/gameservers/a/b/c", 404, "fleets and gameservers"},
      {"POST", fleets_path, 405, "--fleets"},
      {"POST", servers_path, 405, "--fleets"},
      {"DELETE", servers_path, 405, "one game server at a time"},
      {"PATCH", servers_path, 405, "only be read"},
      {"DELETE", std::string{fleets_path} + "/simple", 405, "kubectl scale"},
      {"PATCH", std::string{fleets_path} + "/simple", 405, "kubectl scale"},
      {"PUT", servers_path + std::string{"/a"}, 405, "they can be deleted"},
      {"DELETE", std::string{fleets_path} + "/simple/scale", 405, "replaced and patched"},
  };
  for (auto const& one : cases) {
    auto const answer = c.ask(one.method, one.path, "{}");
    CHECK_MESSAGE(answer.status == one.status, one.path);
    auto const body = c.json(answer);
    CHECK_MESSAGE(text_at(body, "/kind") == "Status", one.path);
    CHECK_MESSAGE(text_at(body, "/code") == std::to_string(one.status), one.path);
    CHECK_MESSAGE(text_at(body, "/message").find(one.word) != std::string::npos, text_at(body, "/message"));
  }
}

TEST_CASE("who may not use a namespace sees nothing of it, and nothing of all together") {
  cluster_api_options ruled;
  ruled.may_use = [](http_request const&, std::string_view space) { return space == "games"; };
  small_cluster c{ruled};
  CHECK(c.get("/apis/agones.dev/v1/namespaces/games/gameservers").status == 200);
  CHECK(c.get(servers_path).status == 403);
  CHECK(c.get(all_servers).status == 403);
  CHECK(c.get(std::string{fleets_path} + "/simple/scale").status == 403);
  CHECK(c.ask("DELETE", servers_path + ("/" + c.server_names()[0].str())).status == 403);
  CHECK(c.store.size() == 5);
}
