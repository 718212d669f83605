#include "../support/servers.hpp"

#include <agones_alloc/flow/pending.hpp>
#include <agones_alloc/select/apply.hpp>

#include <doctest/doctest.h>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

constexpr wall_time noon{std::chrono::sys_days{std::chrono::year{2026} / 5 / 4} + 12h};

auto gate(std::string_view text) -> gate_settings {
  gate_settings out;
  field_errors errors;
  change_gate(out, text, "gate", errors);
  REQUIRE(errors.empty());
  return out;
}

auto marker_of(std::string_view text = "watch") -> pending_marker {
  pending_marker out;
  out.id = "match-1";
  out.since = noon;
  out.deadline = noon + 30s;
  out.owner = "replica-1";
  out.gate = gate(text);
  return out;
}

/// A Ready server after the first write of a gated allocation.
auto pending_server(pending_marker const& marker, game_server const& base = make_server("a")) -> game_server {
  auto out = base;
  allocation_spec spec;
  spec.metadata.labels.set("mode", "ranked");
  spec.metadata.annotations.set("map", "garden");
  apply_allocation(out, spec, {}, noon);
  write_claim(out, base, {marker.id, 7, std::nullopt}, noon, {});
  begin_pending(out, marker);
  return out;
}

}  // namespace

TEST_CASE("a pending server is Reserved until a little after its deadline, and its marker tells all") {
  auto marker = marker_of("http; port=game; path=/a&b=c%");
  marker.claim_ttl = 10s;
  marker.token = "secret";
  marker.older = {"match-0", "a=b&c"};
  auto const server = pending_server(marker);
  CHECK(server.status.state == game_server_state::reserved);
  CHECK(server.status.reserved_until == noon + 35s);
  CHECK(has_pending(server));
  CHECK(find_pending(server) == marker);
  CHECK(server.meta.annotations.value_or_empty(keys::pending_id_annotation) == "match-1");
  CHECK(server.meta.annotations.value_or_empty(keys::gate_token_annotation) == "secret");
  CHECK(server.meta.labels.value_or_empty("mode") == "ranked");
  CHECK_FALSE(has_pending(make_server("b")));
  CHECK_FALSE(find_pending(make_server("b")));
}

TEST_CASE("part of a second counts as a whole one where time is written in seconds") {
  auto marker = marker_of();
  marker.deadline = noon + 1500ms;
  CHECK(pending_server(marker).status.reserved_until == noon + 7s);
}

TEST_CASE("the other carriers have the same marker in another state") {
  auto const labelled = pending_server(marker_of("watch; carrier=Allocated"));
  CHECK(labelled.status.state == game_server_state::allocated);
  CHECK(labelled.meta.labels.value_or_empty(keys::allocating_label) == "true");
  CHECK(labelled.status.reserved_until == unset_time);
  CHECK(read_pending(labelled, marker_of("watch; carrier=Allocated")) == pending_reading::pending);
  auto const literal = pending_server(marker_of("watch; carrier=Allocating"));
  CHECK(literal.status.state == game_server_state::allocating);
  CHECK(read_pending(literal, marker_of("watch; carrier=Allocating")) == pending_reading::pending);
}

TEST_CASE("a marker that cannot be read is none") {
  auto server = pending_server(marker_of());
  auto const good = server.meta.annotations.find(keys::pending_annotation);
  std::string const text{*good};
  for (auto const* bad : {"", "id=a", "deadline=tomorrow&id=a&since=2026-05-04T12:00:00Z", "%%%"}) {
    server.meta.annotations.set(keys::pending_annotation, bad);
    CHECK_FALSE(find_pending(server));
  }
  server.meta.annotations.set(keys::pending_annotation, text + "x");  // something after `on`
  CHECK_FALSE(find_pending(server));
  server.meta.annotations.set(keys::pending_annotation, text);
  CHECK(find_pending(server));
}

TEST_CASE("the game says that it is ready by annotation or by label, with true or with the id") {
  auto const marker = marker_of();
  auto const with = [&](auto change) {
    auto server = pending_server(marker);
    change(server.meta);
    return read_pending(server, marker);
  };
  auto const key = keys::sdk_session_ready;
  CHECK(with([&](object_meta&) {}) == pending_reading::pending);
  CHECK(with([&](object_meta& meta) { meta.annotations.set(key, "true"); }) == pending_reading::ready);
  CHECK(with([&](object_meta& meta) { meta.labels.set(key, "true"); }) == pending_reading::ready);
  CHECK(with([&](object_meta& meta) { meta.annotations.set(key, "match-1"); }) == pending_reading::ready);
  CHECK(with([&](object_meta& meta) { meta.annotations.set(key, "match-0"); }) == pending_reading::pending);
  CHECK(with([&](object_meta& meta) { meta.annotations.set(key, "failed"); }) == pending_reading::failed);
  CHECK(with([&](object_meta& meta) { meta.annotations.set(keys::pending_id_annotation, "match-2"); }) == pending_reading::over);
  CHECK(with([&](object_meta& meta) { meta.annotations.erase(keys::pending_annotation); }) == pending_reading::over);
}

TEST_CASE("the answer to an earlier allocation does not count") {
  auto base = make_server("a");
  base.meta.annotations.set(keys::sdk_session_ready, "true");
  base.meta.labels.set(keys::sdk_session_ready, "true");
  auto const marker = marker_of();
  CHECK(read_pending(pending_server(marker, base), marker) == pending_reading::pending);
}

TEST_CASE("a counter is ready from its count on") {
  auto const marker = marker_of("counter; key=players-allowed; at-least=2");
  auto server = pending_server(marker);
  CHECK(read_pending(server, marker) == pending_reading::pending);
  server.status.counters[shared_string{"players-allowed"}] = {1, 10};
  CHECK(read_pending(server, marker) == pending_reading::pending);
  server.status.counters[shared_string{"players-allowed"}] = {2, 10};
  CHECK(read_pending(server, marker) == pending_reading::ready);
}

TEST_CASE("the state tells when the game, the sidecar or somebody else has ended the wait") {
  auto const marker = marker_of();
  auto const as = [&](game_server_state state) {
    auto server = pending_server(marker);
    server.status.state = state;
    return read_pending(server, marker);
  };
  CHECK(as(game_server_state::allocated) == pending_reading::allocated);
  CHECK(as(game_server_state::ready) == pending_reading::returned);
  CHECK(as(game_server_state::shutdown) == pending_reading::over);
  CHECK(as(game_server_state::unhealthy) == pending_reading::over);
  CHECK(as(game_server_state::error) == pending_reading::over);
  auto deleted = pending_server(marker);
  deleted.meta.deletion_timestamp = std::chrono::sys_seconds{1s};
  CHECK(read_pending(deleted, marker) == pending_reading::over);
}

TEST_CASE("a passed check makes it Allocated without a trace of the wait, and the claim's time begins") {
  auto marker = marker_of();
  marker.claim_ttl = 10s;
  auto server = pending_server(marker);
  server.meta.annotations.set(keys::sdk_session_ready, "true");
  CHECK_FALSE(find_claim(server, "match-1")->expires);
  pass_pending(server, marker, noon + 3s);
  CHECK(server.status.state == game_server_state::allocated);
  CHECK(server.status.reserved_until == unset_time);
  CHECK_FALSE(has_pending(server));
  CHECK_FALSE(server.meta.annotations.find(keys::pending_id_annotation));
  CHECK_FALSE(server.meta.annotations.find(keys::sdk_session_ready));
  CHECK(server.meta.annotations.value_or_empty(keys::last_allocated_annotation) == "2026-05-04T12:00:03Z");
  CHECK(server.meta.labels.value_or_empty("mode") == "ranked");
  REQUIRE(find_claim(server, "match-1"));
  CHECK(find_claim(server, "match-1")->expires == noon + 13s);
  CHECK(server.meta.annotations.value_or_empty(keys::claim_expires_annotation) == "2026-05-04T12:00:13Z");
}

TEST_CASE("a claim that need not be confirmed stays so when the check has passed") {
  auto const marker = marker_of();
  auto server = pending_server(marker);
  pass_pending(server, marker, noon + 3s);
  REQUIRE(find_claim(server, "match-1"));
  CHECK_FALSE(find_claim(server, "match-1")->expires);
}

TEST_CASE("a server that is returned to Ready is as it was") {
  auto base = make_server("a");
  base.meta.labels.set("mode", "casual");
  auto const marker = marker_of();
  auto server = pending_server(marker, base);
  CHECK(fail_pending(server, marker, gate_policy::return_to_ready).empty());
  CHECK(server == base);
}

TEST_CASE("claims that came to a server while it was pending go with the first, by whatever clock they were made") {
  auto const marker = marker_of("watch; carrier=Allocated; on-timeout=ReturnToReady");
  auto server = pending_server(marker);
  auto const before = server;
  write_claim(server, before, {"match-2", 1, std::nullopt}, noon - 1s, {});
  fail_pending(server, marker, gate_policy::return_to_ready);
  CHECK(claims_of(server).empty());
  CHECK(server.status.state == game_server_state::ready);
}

TEST_CASE("what was changed since is told when a server is returned to Ready") {
  auto const marker = marker_of();
  auto server = pending_server(marker);
  server.meta.annotations.set("map", "castle");
  CHECK(fail_pending(server, marker, gate_policy::return_to_ready) == release_report{"annotation.map: changed since"});
  CHECK(server.status.state == game_server_state::ready);
  CHECK(server.meta.annotations.value_or_empty("map") == "castle");
}

TEST_CASE("a confirmed claim of an earlier session does not keep a server from Ready, nor does it go") {
  auto base = make_server("a");
  auto const before = base;
  write_claim(base, before, {"yester-day&", 1, std::nullopt}, noon - 20h, {});
  auto marker = marker_of();
  marker.older = {"yester-day&"};
  auto server = pending_server(marker, base);
  fail_pending(server, marker, gate_policy::return_to_ready);
  CHECK(server.status.state == game_server_state::ready);
  CHECK_FALSE(find_claim(server, "match-1"));
  CHECK(find_claim(server, "yester-day&"));
}

TEST_CASE("a server that is shut down or marked keeps what was applied") {
  auto const marker = marker_of();
  auto server = pending_server(marker);
  fail_pending(server, marker, gate_policy::shutdown);
  CHECK(server.status.state == game_server_state::shutdown);
  CHECK(server.meta.labels.value_or_empty("mode") == "ranked");
  CHECK_FALSE(has_pending(server));
  server = pending_server(marker);
  fail_pending(server, marker, gate_policy::mark_unhealthy);
  CHECK(server.status.state == game_server_state::unhealthy);
  CHECK(server.status.reserved_until == unset_time);
}
