#include "../support/servers.hpp"

#include <agones_alloc/select/apply.hpp>
#include <agones_alloc/select/claim.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

wall_time const noon = std::chrono::sys_days{std::chrono::year{2026} / 11 / 29} + 12h;

auto terms(std::string_view id, std::optional<wall_time> expires = noon + 5s) -> claim_terms { return {id, 0xfeed, expires}; }

/// What a request that patches everything makes of a server, with its claim.
auto allocated_from(game_server const& base, allocation_spec const& spec, claim_terms const& wanted, wall_time now = noon)
    -> game_server {
  auto out = base;
  apply_allocation(out, spec, {}, now);
  write_claim(out, base, wanted, now, wall_time::min());
  return out;
}

auto rich_server() -> game_server {
  auto server = make_server("a");
  server.meta.labels.set("mode", "idle");
  server.meta.annotations.set("note", "100% = \"yes\" & more");
  server.status.counters["rooms"] = {2, 10};
  server.status.lists["players"] = {5, std::vector<shared_string>{"x"}};
  return server;
}

auto rich_spec() -> allocation_spec {
  allocation_spec spec;
  spec.metadata.labels = {{"mode", "busy"}, {"session", "7"}};
  spec.metadata.annotations = {{"note", "new"}, {"map", "a=b&c"}};
  spec.counters.emplace();
  (*spec.counters)["rooms"] = {"Increment", 3, 20};
  spec.lists.emplace();
  (*spec.lists)["players"] = {{"y", "z&="}, {}, 6};
  return spec;
}

}  // namespace

TEST_CASE("a claim is known by its id, and by no other") {
  auto const server = allocated_from(rich_server(), rich_spec(), terms("match-1"));
  auto const found = find_claim(server, "match-1");
  REQUIRE(found);
  CHECK(*found == claim_record{"match-1", 0xfeed, noon, noon + 5s});
  CHECK_FALSE(find_claim(server, "match-2"));
  CHECK(claims_of(server) == std::vector{*found});
  CHECK(has_claims(server));
  CHECK_FALSE(has_claims(rich_server()));
  CHECK(server.meta.annotations.value_or_empty("agones-alloc.dev/claim-expires") == "2026-11-29T12:00:05Z");
}

TEST_CASE("the annotation of an id is the same in every version, or replicas would not find each other's claims") {
  CHECK(claim_annotation("match-1") == "agones-alloc.dev/claim.48434a53df710afa9b06575d1cb643c2");
  CHECK(claim_annotation(std::string(256, 'x')) == "agones-alloc.dev/claim.fab4f5e343e4aeb915648eeb2bb7ed07");
}

TEST_CASE("a claim without an expiry counts as confirmed") {
  auto const server = allocated_from(rich_server(), {}, terms("match-1", std::nullopt));
  CHECK_FALSE(find_claim(server, "match-1")->expires);
  CHECK_FALSE(server.meta.annotations.contains(keys::claim_expires_annotation));
}

TEST_CASE("a release takes back all that the allocation put on the server") {
  auto const before = rich_server();
  auto server = allocated_from(before, rich_spec(), terms("match-1"));
  CHECK(server.status.counters["rooms"] == counter_status{5, 20});
  auto const report = release_claim(server, "match-1", release_to::ready);
  REQUIRE(report);
  CHECK(*report == release_report{});
  CHECK(server == before);
  CHECK_FALSE(release_claim(server, "match-1", release_to::ready));
}

TEST_CASE("a released server can be sent to its end instead") {
  auto server = allocated_from(rich_server(), rich_spec(), terms("match-1"));
  REQUIRE(release_claim(server, "match-1", release_to::shutdown));
  CHECK(server.status.state == game_server_state::shutdown);
}

TEST_CASE("what somebody changed since stays, and is told") {
  auto server = allocated_from(rich_server(), rich_spec(), terms("match-1"));
  server.meta.labels.set("mode", "crowded");
  server.meta.annotations.erase("map");
  server.status.counters["rooms"] = {1, 25};
  std::erase(*server.status.lists["players"].values, shared_string{"y"});
  server.status.lists["players"].capacity = 7;
  auto const report = release_claim(server, "match-1", release_to::ready);
  REQUIRE(report);
  CHECK(server.meta.labels.value_or_empty("mode") == "crowded");
  CHECK_FALSE(server.meta.labels.contains("session"));
  CHECK(server.meta.annotations.value_or_empty("note") == "100% = \"yes\" & more");
  CHECK(server.status.counters["rooms"] == counter_status{0, 25});  // three less than one: not below zero
  CHECK(server.status.lists["players"] == list_status{7, std::vector<shared_string>{"x"}});
  CHECK(*report == release_report{"label.mode: changed since", "annotation.map: changed since", "capacity of rooms: changed since",
                                  "counter rooms: changed since", "list players: y is gone", "capacity of players: changed since"});
  auto gone = allocated_from(rich_server(), rich_spec(), terms("match-1"));
  gone.status.counters.clear();
  gone.status.lists.clear();
  CHECK(release_claim(gone, "match-1", release_to::ready)->size() == 3);
}

TEST_CASE("several claims of one server end each on its own; the last one gives it back") {
  allocation_spec join;
  join.counters.emplace();
  (*join.counters)["rooms"] = {"Increment", 1, {}};
  auto const before = rich_server();
  auto server = allocated_from(before, join, terms("a", noon + 5s));
  server = allocated_from(server, join, terms("b", noon + 3s));
  server = allocated_from(server, join, terms("c", std::nullopt));
  CHECK(server.status.counters["rooms"].count == 5);
  CHECK(claims_of(server).size() == 3);
  CHECK(server.meta.annotations.value_or_empty(keys::claim_expires_annotation) == "2026-11-29T12:00:03Z");
  for (auto const* id : {"a", "c"}) {  // the first of them, too
    REQUIRE(release_claim(server, id, release_to::ready));
    CHECK(server.status.state == game_server_state::allocated);
  }
  CHECK(server.status.counters["rooms"].count == 3);
  REQUIRE(release_claim(server, "b", release_to::ready));
  CHECK(server == before);
}

TEST_CASE("a server that was Allocated before its first claim stays so") {
  auto before = rich_server();
  before.status.state = game_server_state::allocated;
  before.meta.annotations.set(keys::last_allocated_annotation, "2026-11-29T11:00:00Z");
  auto server = allocated_from(before, rich_spec(), terms("match-1"));
  REQUIRE(release_claim(server, "match-1", release_to::ready));
  CHECK(server.status.state == game_server_state::allocated);
  CHECK(server.status.counters["rooms"].count == 2);
}

TEST_CASE("a confirmed claim does not expire, and its id stays known") {
  auto server = allocated_from(rich_server(), rich_spec(), terms("match-1"));
  CHECK(confirm_claim(server, "match-1"));
  CHECK_FALSE(find_claim(server, "match-1")->expires);
  CHECK_FALSE(server.meta.annotations.contains(keys::claim_expires_annotation));
  CHECK(confirm_claim(server, "match-1"));  // again
  CHECK_FALSE(confirm_claim(server, "match-2"));
  // It can still be released: a caller may change its mind.
  REQUIRE(release_claim(server, "match-1", release_to::ready));
  CHECK(server == rich_server());
}

TEST_CASE("the game confirms by an annotation or a label of its SDK, which the next session does not inherit") {
  auto const base = rich_server();
  auto server = allocated_from(base, {}, terms("match-1"));
  auto const confirmed = [](game_server const& one) { return !find_claim(one, "match-1")->expires && !claims_of(one)[0].expires; };
  CHECK_FALSE(confirmed(server));
  server.meta.annotations.set("agones.dev/sdk-claim-confirmed", "true");
  CHECK(confirmed(server));
  server.meta.annotations.set("agones.dev/sdk-claim-confirmed", "match-2");
  CHECK_FALSE(confirmed(server));
  server.meta.labels.set("agones.dev/sdk-claim-confirmed", "match-1");
  CHECK(confirmed(server));
  REQUIRE(release_claim(server, "match-1", release_to::ready));
  CHECK(server == base);
  auto stale = base;
  stale.meta.labels.set("agones.dev/sdk-claim-confirmed", "true");
  CHECK_FALSE(confirmed(allocated_from(stale, {}, terms("match-1"))));
}

TEST_CASE("what the game has confirmed stays confirmed when another claim comes, which is not") {
  allocation_spec join;
  join.counters.emplace();
  (*join.counters)["rooms"] = {"Increment", 1, {}};
  auto server = allocated_from(rich_server(), join, terms("a"));
  server.meta.annotations.set("agones.dev/sdk-claim-confirmed", "true");
  server = allocated_from(server, join, terms("b", noon + 9s));
  CHECK_FALSE(find_claim(server, "a")->expires);
  CHECK(find_claim(server, "b")->expires == noon + 9s);
  CHECK(server.meta.annotations.value_or_empty(keys::claim_expires_annotation) == "2026-11-29T12:00:09Z");
  server.meta.labels.set("agones.dev/sdk-claim-confirmed", "b");
  server = allocated_from(server, join, terms("c", noon + 20s));
  CHECK_FALSE(find_claim(server, "a")->expires);
  CHECK_FALSE(find_claim(server, "b")->expires);
  CHECK(find_claim(server, "c")->expires == noon + 20s);
}

TEST_CASE("ids are visible ASCII of bounded length") {
  CHECK(request_id_problem("match-1") == "");
  CHECK(request_id_problem("a%&=\"~") == "");
  CHECK(request_id_problem(std::string(256, 'x')) == "");
  CHECK(request_id_problem("") == "must not be empty");
  CHECK(request_id_problem(std::string(257, 'x')) == "must not have more than 256 characters");
  for (auto const* bad : {"a b", "a\n", "\x7f", "\xc3\xa9"}) CHECK(request_id_problem(bad) == "must have visible characters of ASCII only");
  auto const odd = allocated_from(make_server("a"), {}, terms("a%&=\"~"));
  CHECK(find_claim(odd, "a%&=\"~"));
}

TEST_CASE("a text that is no claim of ours is none") {
  auto const good = allocated_from(make_server("a"), {}, terms("match-1"));
  std::string const key{*good.meta.annotations.first_with(keys::claim_prefix)};
  for (std::string const text : {"", "id=match-1", "id=match-1&digest=xyz&made=2026-11-29T12:00:00Z", "&&&=&%", "id=match-1&digest=000000000000feed&made=2026-02-30T12:00:00Z",
                                 "id=match-2&digest=000000000000feed&made=2026-11-29T12:00:00Z",
                                 "id=match-1&digest=000000000000feed&made=2026-11-29T12:00:00Z&expires=never"}) {
    auto server = make_server("a");
    server.meta.annotations.set(key, text);
    INFO(text);
    CHECK_FALSE(find_claim(server, "match-1"));
    CHECK(claims_of(server).empty());
    CHECK_FALSE(confirm_claim(server, "match-1"));
    CHECK_FALSE(release_claim(server, "match-1", release_to::ready));
  }
}

TEST_CASE("the fields of a claim may stand in any order, encoded or not, with others between them") {
  auto const good = allocated_from(make_server("a"), {}, terms("match-1"));
  std::string const key{*good.meta.annotations.first_with(keys::claim_prefix)};
  claim_record const wanted{"match-1", 0xfeed, noon, noon + 5s};
  for (std::string const text : {"id=match-1&digest=000000000000feed&made=2026-11-29T12:00:00Z&expires=2026-11-29T12:00:05Z",
                                 "fresh=true&id=match-1&later=&digest=000000000000feed&made=2026-11-29T12:00:00Z&expires=2026-11-29T12:00:05Z",
                                 "expires=2026-11-29T12:00:05Z&made=2026-11-29T12:00:00Z&digest=000000000000feed&id=match-1",
                                 "id=match-1&digest=000000000000feed&made=2026-11-29T12:00:00Z&id=match-2&expires=2026-11-29T12:00:05Z",
                                 "%69d=match%2D1&digest=000000000000feed&made=2026-11-29T12%3A00:00Z&expires=2026-11-29T12:00:05Z"}) {
    auto server = make_server("a");
    server.meta.annotations.set(key, text);
    INFO(text);
    CHECK(find_claim(server, "match-1") == wanted);
    CHECK(claims_of(server) == std::vector{wanted});
  }
}

TEST_CASE("the first expiry of several claims is told, also when one of them is written again") {
  auto server = allocated_from(make_server("a"), {}, terms("late", noon + 60s));
  server = allocated_from(server, {}, terms("early", noon + 10s));
  auto const told = [&server] { return server.meta.annotations.value_or_empty(keys::claim_expires_annotation); };
  CHECK(told() == "2026-11-29T12:00:10Z");
  server = allocated_from(server, {}, terms("early", noon + 90s));
  CHECK(told() == "2026-11-29T12:01:00Z");
  server = allocated_from(server, {}, terms("late", std::nullopt));
  CHECK(told() == "2026-11-29T12:01:30Z");
}

TEST_CASE("confirmed claims are forgotten by age, and beyond a number") {
  auto server = make_server("a");
  for (int i = 0; i < 300; ++i) server = allocated_from(server, {}, terms("old-" + std::to_string(i), std::nullopt), noon + std::chrono::seconds{i});
  CHECK(claims_of(server).size() == 256);
  CHECK_FALSE(find_claim(server, "old-43"));
  CHECK(find_claim(server, "old-44"));
  auto base = server;
  apply_allocation(server, {}, {}, noon + 300s);
  write_claim(server, base, terms("new"), noon + 300s, noon + 295s);
  CHECK(claims_of(server).size() == 6);
  // What is not confirmed is not forgotten.
  auto const next = server;
  apply_allocation(server, {}, {}, noon + 900s);
  write_claim(server, next, terms("newer"), noon + 900s, noon + 899s);
  CHECK(claims_of(server).size() == 2);
}

TEST_CASE("a change that is too long to be kept is not undone, and that is told") {
  allocation_spec spec;
  spec.metadata.labels.set("long", std::string(20'000, 'x'));
  auto server = allocated_from(make_server("a"), spec, terms("match-1"));
  CHECK(server.meta.annotations.bytes().size() < 2'000);
  auto const report = release_claim(server, "match-1", release_to::ready);
  REQUIRE(report);
  CHECK(report->size() == 1);
  CHECK(server.status.state == game_server_state::ready);
  CHECK(server.meta.labels.contains("long"));
}

TEST_CASE("the digest tells requests apart, and does not depend on how a deprecated selector was written") {
  auto const digest = [](game_server_allocation wanted, choice_options choice = {}) {
    return request_digest(*compile_request(std::move(wanted), std::move(choice)));
  };
  auto const plain = fleet_allocation();
  CHECK(digest(plain) == digest(fleet_allocation()));
  std::set<std::uint64_t> seen{digest(plain)};
  auto const other = [&](auto change) {
    auto wanted = plain;
    change(wanted);
    CHECK(seen.insert(digest(wanted)).second);
  };
  other([](auto& w) { w.meta.namespace_ = "other"; });
  other([](auto& w) { w.spec.selectors[0].labels.match_labels.set("a", "b"); });
  other([](auto& w) { w.spec.selectors.push_back({}); });
  other([](auto& w) { w.spec.selectors[0].labels.match_expressions.push_back({"a", "In", {"b", "c"}}); });
  other([](auto& w) { w.spec.selectors[0].labels.match_expressions.push_back({"a", "NotIn", {"b", "c"}}); });
  other([](auto& w) { w.spec.selectors[0].game_server_state = "Allocated"; });
  other([](auto& w) { w.spec.selectors[0].counters.emplace()["rooms"] = {1, 2, 3, 4}; });
  other([](auto& w) { w.spec.selectors[0].lists.emplace()["rooms"] = {"x", 0, 0}; });
  other([](auto& w) { w.spec.scheduling = "Distributed"; });
  other([](auto& w) { w.spec.priorities = {{"Counter", "rooms", "Ascending"}}; });
  other([](auto& w) { w.spec.priorities = {{"Counter", "rooms", "Descending"}}; });
  other([](auto& w) { w.spec.metadata.labels.set("a", "b"); });
  other([](auto& w) { w.spec.metadata.annotations.set("a", "b"); });
  other([](auto& w) { w.spec.counters.emplace()["rooms"] = {"Increment", 1, {}}; });
  other([](auto& w) { w.spec.counters.emplace()["rooms"] = {{}, {}, 1}; });
  other([](auto& w) { w.spec.lists.emplace()["players"] = {{"x"}, {}, {}}; });
  other([](auto& w) { w.spec.lists.emplace()["players"] = {{}, {"x"}, {}}; });
  choice_options named;
  named.target = target_server{"a", "", true};
  CHECK(seen.insert(digest(plain, named)).second);
  choice_options ranked;
  ranked.top_n = 7;
  CHECK(digest(plain, ranked) == digest(plain));
}
