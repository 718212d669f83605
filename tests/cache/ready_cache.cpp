#include "servers.hpp"

#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/select/claim.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace cache_tests;

namespace {

auto const key_a = object_key{"default", "a"};

auto claim(ready_cache& cache, object_key const& key) -> server_handle {
  auto const seen = cache.lookup(key);
  REQUIRE(cache.claim(seen.handle) != nullptr);
  return seen.handle;
}

auto version_of(game_server_ptr const& server) -> std::string {
  return server ? server->meta.resource_version.str() : "none";
}

}  // namespace

TEST_CASE("a stored server is found, with its newest value") {
  ready_cache cache;
  CHECK(cache.store(server_builder{"a"}.version("5").made()) == store_outcome::stored);
  CHECK(cache.store(server_builder{"a"}.version("6").made()) == store_outcome::stored);
  CHECK(version_of(cache.find(key_a)) == "6");
  CHECK(cache.size() == 1);
  CHECK(cache.find({"default", "b"}) == nullptr);
  CHECK(cache.find({"other", "a"}) == nullptr);
}

TEST_CASE("an older or equal value changes nothing") {
  ready_cache cache;
  cache.store(server_builder{"a"}.version("10").made());
  CHECK(cache.store(server_builder{"a"}.version("9").made()) == store_outcome::stale);
  CHECK(cache.store(server_builder{"a"}.version("10").allocated().made()) == store_outcome::stale);
  CHECK(cache.find(key_a)->status.state == game_server_state::ready);
}

TEST_CASE("only allocatable servers are held") {
  ready_cache cache;
  CHECK(cache.store(server_builder{"a"}.state(game_server_state::scheduled).made()) == store_outcome::ignored);
  CHECK(cache.store(server_builder{"b"}.allocated().made()) == store_outcome::stored);
  auto deleted = server_builder{"c"};
  deleted.value().meta.deletion_timestamp = timestamp{};
  CHECK(cache.store(deleted.made()) == store_outcome::ignored);
  CHECK(cache.store(server_builder{"b"}.version("2").state(game_server_state::unhealthy).made()) ==
        store_outcome::removed);
  CHECK(cache.size() == 0);
}

TEST_CASE("a late value does not bring back a server that left") {
  ready_cache cache;
  cache.store(server_builder{"a"}.version("5").made());
  cache.store(server_builder{"a"}.version("7").state(game_server_state::shutdown).made());
  CHECK(cache.store(server_builder{"a"}.version("6").made()) == store_outcome::stale);
  CHECK(cache.store(server_builder{"a"}.version("8").made()) == store_outcome::stored);
  cache.erase(key_a, "u-a");
  CHECK(cache.store(server_builder{"a"}.version("9").made()) == store_outcome::stale);
  CHECK(cache.store(server_builder{"a"}.uid("again").version("10").made()) == store_outcome::stored);
}

TEST_CASE("the memory of servers that left is bounded") {
  cache_options options;
  options.stripes = 1;
  options.remembered_removals = 2;
  ready_cache cache{options};
  for (auto const* name : {"a", "b", "c"}) {
    cache.store(server_builder{name}.made());
    cache.erase({"default", name}, {});
  }
  CHECK(cache.store(server_builder{"a"}.made()) == store_outcome::stored);  // forgotten
  CHECK(cache.store(server_builder{"c"}.made()) == store_outcome::stale);
}

TEST_CASE("one claim wins") {
  ready_cache cache;
  cache.store(server_builder{"a"}.made());
  auto const seen = cache.lookup(key_a);
  CHECK(cache.claim(seen.handle) == seen.server);
  CHECK(cache.claim(seen.handle) == nullptr);
  CHECK(cache.in_flight() == 1);
  CHECK(cache.lookup(key_a).status == slot_status::claimed);
}

TEST_CASE("a claim of an older version is lost") {
  ready_cache cache;
  cache.store(server_builder{"a"}.version("1").made());
  auto const old = cache.lookup(key_a).handle;
  cache.store(server_builder{"a"}.version("2").made());
  CHECK(cache.claim(old) == nullptr);
  CHECK(cache.in_flight() == 0);
}

TEST_CASE("a claim of a slot that another server moved into is lost") {
  cache_options options;
  options.stripes = 1;
  ready_cache cache{options};
  cache.store(server_builder{"a"}.made());
  auto const old = cache.lookup(key_a).handle;
  cache.erase(key_a);
  cache.store(server_builder{"b"}.made());
  CHECK(cache.lookup({"default", "b"}).handle.id == old.id);
  CHECK(cache.claim(old) == nullptr);
}

TEST_CASE("a handle from nowhere is harmless") {
  ready_cache cache;
  CHECK(cache.claim({12345, 1}) == nullptr);
  cache.put_back({12345, 1});
  cache.settle({12345, 1}, server_builder{"a"}.made());
  CHECK(cache.size() == 0);
}

TEST_CASE("put_back frees the value that was claimed") {
  ready_cache cache;
  cache.store(server_builder{"a"}.version("5").made());
  auto const claimed = claim(cache, key_a);
  cache.put_back(claimed);
  CHECK(version_of(cache.lookup(key_a).server) == "5");
  CHECK(cache.lookup(key_a).status == slot_status::free);
  CHECK(cache.claim(claimed) == nullptr);  // the order must be decided anew
  CHECK(cache.claim(cache.lookup(key_a).handle) != nullptr);
}

TEST_CASE("put_back frees a newer value that was seen meanwhile") {
  ready_cache cache;
  cache.store(server_builder{"a"}.version("5").made());
  auto const claimed = claim(cache, key_a);
  CHECK(cache.store(server_builder{"a"}.version("6").made()) == store_outcome::stored);
  CHECK(cache.store(server_builder{"a"}.version("5").made()) == store_outcome::stale);
  CHECK(cache.lookup(key_a).status == slot_status::claimed);  // not pickable before the claim ends
  CHECK(version_of(cache.find(key_a)) == "6");
  cache.put_back(claimed);
  CHECK(version_of(cache.lookup(key_a).server) == "6");
}

TEST_CASE("put_back drops a server that was deleted or became useless meanwhile") {
  ready_cache cache;
  cache.store(server_builder{"a"}.version("5").made());
  auto claimed = claim(cache, key_a);
  CHECK(cache.erase(key_a, "u-a"));
  CHECK(cache.find(key_a) == nullptr);
  cache.put_back(claimed);
  CHECK(cache.size() == 0);

  cache.store(server_builder{"b"}.version("5").made());
  claimed = claim(cache, {"default", "b"});
  CHECK(cache.store(server_builder{"b"}.version("6").state(game_server_state::shutdown).made()) ==
        store_outcome::removed);
  cache.put_back(claimed);
  CHECK(cache.size() == 0);
}

TEST_CASE("a claim ends once") {
  ready_cache cache;
  cache.store(server_builder{"a"}.version("5").made());
  auto const claimed = claim(cache, key_a);
  cache.put_back(claimed);
  cache.remove(claimed);
  cache.discard(claimed);
  CHECK(cache.lookup(key_a).status == slot_status::free);
  CHECK(cache.in_flight() == 0);
}

TEST_CASE("settle stores what was written, and it can be claimed again") {
  ready_cache cache;
  auto const ready = server_builder{"a"}.version("5").made();
  cache.store(ready);
  auto const claimed = claim(cache, key_a);
  cache.settle(claimed, server_builder{*ready}.allocated().version("6").made());
  CHECK(cache.lookup(key_a).server->status.state == game_server_state::allocated);
  CHECK(cache.claim(cache.lookup(key_a).handle) != nullptr);
}

TEST_CASE("an own write may be seen before its answer, or after") {
  ready_cache cache;
  auto const ready = server_builder{"a"}.version("5").made();
  auto const written = server_builder{*ready}.allocated().version("6").made();
  cache.store(ready);
  auto claimed = claim(cache, key_a);
  CHECK(cache.store(written) == store_outcome::stored);
  cache.settle(claimed, written);
  CHECK(version_of(cache.find(key_a)) == "6");
  CHECK(cache.lookup(key_a).status == slot_status::free);

  auto const again = server_builder{*written}.version("7").made();
  claimed = claim(cache, key_a);
  cache.settle(claimed, again);
  CHECK(cache.store(again) == store_outcome::stale);
  CHECK(version_of(cache.find(key_a)) == "7");
}

TEST_CASE("settle keeps something newer that was seen meanwhile") {
  ready_cache cache;
  auto const ready = server_builder{"a"}.version("5").made();
  cache.store(ready);
  auto const claimed = claim(cache, key_a);
  cache.store(server_builder{"a"}.version("7").state(game_server_state::shutdown).made());
  cache.settle(claimed, server_builder{*ready}.allocated().version("6").made());
  CHECK(cache.size() == 0);
}

TEST_CASE("settle of a server that was deleted meanwhile does not bring it back") {
  ready_cache cache;
  auto const ready = server_builder{"a"}.version("5").made();
  cache.store(ready);
  auto const claimed = claim(cache, key_a);
  cache.erase(key_a, "u-a");
  cache.settle(claimed, server_builder{*ready}.allocated().version("6").made());
  CHECK(cache.size() == 0);
}

TEST_CASE("settle with a value that was read back and is not newer puts back") {
  ready_cache cache;
  auto const ready = server_builder{"a"}.version("5").made();
  cache.store(ready);
  cache.settle(claim(cache, key_a), ready);
  CHECK(cache.lookup(key_a).status == slot_status::free);
  CHECK(version_of(cache.find(key_a)) == "5");
}

TEST_CASE("discard waits for something newer") {
  ready_cache cache;
  cache.store(server_builder{"a"}.version("5").made());
  auto const claimed = claim(cache, key_a);
  cache.discard(claimed);
  CHECK(cache.in_flight() == 0);
  CHECK(cache.lookup(key_a).status == slot_status::stale);
  CHECK(cache.claim(cache.lookup(key_a).handle) == nullptr);
  CHECK(cache.store(server_builder{"a"}.version("5").made()) == store_outcome::stale);
  CHECK(cache.lookup(key_a).status == slot_status::stale);
  CHECK(cache.store(server_builder{"a"}.version("6").made()) == store_outcome::stored);
  CHECK(cache.lookup(key_a).status == slot_status::free);
}

TEST_CASE("discard frees something newer that was seen meanwhile") {
  ready_cache cache;
  cache.store(server_builder{"a"}.version("5").made());
  auto const claimed = claim(cache, key_a);
  cache.store(server_builder{"a"}.version("6").made());
  cache.discard(claimed);
  CHECK(cache.lookup(key_a).status == slot_status::free);
  CHECK(version_of(cache.lookup(key_a).server) == "6");
}

TEST_CASE("remove keeps only another server of that name") {
  ready_cache cache;
  cache.store(server_builder{"a"}.version("5").made());
  auto claimed = claim(cache, key_a);
  cache.store(server_builder{"a"}.version("6").made());
  cache.remove(claimed);
  CHECK(cache.size() == 0);

  cache.store(server_builder{"a"}.uid("two").version("7").made());
  claimed = claim(cache, key_a);
  cache.store(server_builder{"a"}.uid("three").version("9").made());
  cache.remove(claimed);
  CHECK(cache.find(key_a)->meta.uid == "three");
  CHECK(cache.lookup(key_a).status == slot_status::free);
}

TEST_CASE("a server that is made again under its name replaces the old one at any version") {
  ready_cache cache;
  cache.store(server_builder{"a"}.uid("one").version("50").made());
  CHECK(cache.store(server_builder{"a"}.uid("two").version("3").made()) == store_outcome::stored);
  CHECK_FALSE(cache.erase(key_a, "one"));  // late news of the first
  CHECK(cache.find(key_a)->meta.uid == "two");
  CHECK(cache.erase(key_a, "two"));
  CHECK(cache.size() == 0);
}

TEST_CASE("a server made again while the first is claimed outlives the claim") {
  ready_cache cache;
  auto const first = server_builder{"a"}.uid("one").version("5").made();
  for (auto const how : {0, 1, 2}) {
    CAPTURE(how);
    cache.store(server_builder{*first}.uid("one" + std::to_string(how)).made());
    auto const claimed = claim(cache, key_a);
    cache.erase(key_a, "one" + std::to_string(how));
    cache.store(server_builder{"a"}.uid("two").version("7").made());
    CHECK_FALSE(cache.erase(key_a, "one" + std::to_string(how)));
    if (how == 0) cache.put_back(claimed);
    if (how == 1) cache.settle(claimed, server_builder{*first}.uid("one1").allocated().version("6").made());
    if (how == 2) cache.discard(claimed);
    CHECK(cache.find(key_a)->meta.uid == "two");
    CHECK(cache.lookup(key_a).status == slot_status::free);
  }
}

TEST_CASE("deletion without a UID goes by the key") {
  ready_cache cache;
  cache.store(server_builder{"a"}.made());
  CHECK(cache.erase(key_a));
  CHECK_FALSE(cache.erase(key_a));
}

TEST_CASE("a complete list takes in what is newer and drops what is missing") {
  ready_cache cache;
  cache.store(server_builder{"a"}.version("5").made());
  cache.store(server_builder{"b"}.version("5").made());
  cache.store(server_builder{"c"}.version("5").made());
  std::vector<game_server_ptr> const list{server_builder{"a"}.version("4").made(), server_builder{"b"}.version("6").made(),
                                          server_builder{"d"}.version("3").made()};
  cache.replace_all(list);
  CHECK(version_of(cache.find(key_a)) == "5");
  CHECK(version_of(cache.find({"default", "b"})) == "6");
  CHECK(cache.find({"default", "c"}) == nullptr);
  CHECK(version_of(cache.find({"default", "d"})) == "3");
}

TEST_CASE("a complete list decides about claimed servers when their claims end") {
  ready_cache cache;
  auto const a = server_builder{"a"}.version("5").made();
  cache.store(a);
  cache.store(server_builder{"b"}.version("5").made());
  auto const claimed_a = claim(cache, key_a);
  auto const claimed_b = claim(cache, {"default", "b"});
  std::vector<game_server_ptr> const list{a};
  cache.replace_all(list);
  CHECK(cache.size() == 2);
  cache.put_back(claimed_a);
  cache.put_back(claimed_b);
  CHECK(cache.find(key_a) == a);
  CHECK(cache.find({"default", "b"}) == nullptr);
}

TEST_CASE("an old list does not bring back what was deleted since") {
  ready_cache cache;
  auto const a = server_builder{"a"}.version("5").made();
  cache.store(a);
  std::vector<game_server_ptr> const list{a};
  cache.erase(key_a, "u-a");
  cache.replace_all(list);
  CHECK(cache.size() == 0);

  auto const b = server_builder{"b"}.version("5").made();
  cache.store(b);
  std::vector<game_server_ptr> const old{b};
  cache.remove(claim(cache, {"default", "b"}));
  cache.replace_all(old);
  CHECK(cache.size() == 0);
}

TEST_CASE("an old list does not undo an own write") {
  ready_cache cache;
  auto const ready = server_builder{"a"}.version("5").made();
  cache.store(ready);
  cache.settle(claim(cache, key_a), server_builder{*ready}.allocated().version("6").made());
  std::vector<game_server_ptr> const list{ready};
  cache.replace_all(list);
  CHECK(cache.find(key_a)->status.state == game_server_state::allocated);
}

TEST_CASE("a snapshot has the newest values of one namespace or of all") {
  ready_cache cache;
  cache.store(server_builder{"a"}.made());
  cache.store(server_builder{"b"}.ns("other").made());
  claim(cache, key_a);
  cache.store(server_builder{"a"}.version("2").made());
  CHECK(cache.snapshot("").size() == 2);
  REQUIRE(cache.snapshot("default").size() == 1);
  CHECK(version_of(cache.snapshot("default").front()) == "2");
}

TEST_CASE("servers with equal label sets come to share them") {
  ready_cache cache;
  cache.store(server_builder{"a"}.counter("rooms", 1, 2).made());
  cache.store(server_builder{"b"}.counter("rooms", 1, 2).made());
  cache.store(server_builder{"c"}.counter("rooms", 1, 2).made());
  auto const a = cache.find(key_a);
  auto const b = cache.find({"default", "b"});
  auto const c = cache.find({"default", "c"});
  CHECK(a->meta.labels.same_block(b->meta.labels));
  CHECK(b->meta.labels.same_block(c->meta.labels));
  CHECK(a->status.node_name.same_buffer(c->status.node_name));
  // The first server of a label set is kept as it came.
  CHECK(b->status.counters.begin()->first.same_buffer(c->status.counters.begin()->first));
  CHECK(*b == *server_builder{"b"}.counter("rooms", 1, 2).made());
}

TEST_CASE("the hook hears of changes once until they are taken") {
  ready_cache cache;
  int calls = 0;
  cache.on_change([&] { ++calls; });
  cache.store(server_builder{"a"}.made());
  cache.store(server_builder{"b"}.made());
  CHECK(calls == 1);
  std::vector<slot_view> taken;
  CHECK_FALSE(cache.take_changes(taken, 10));
  CHECK(taken.size() == 2);
  cache.erase(key_a);
  CHECK(calls == 2);
  cache.put_back(claim(cache, {"default", "b"}));  // the index's thread did that itself
  CHECK(calls == 2);
}

TEST_CASE("changes are taken in slices, each slot once, as it is now") {
  ready_cache cache;
  for (int i = 0; i != 20; ++i) cache.store(server_builder{"s" + std::to_string(i)}.made());
  for (int i = 0; i != 20; ++i) cache.store(server_builder{"s" + std::to_string(i)}.version("2").made());
  std::vector<slot_view> taken;
  CHECK(cache.changed());
  CHECK(cache.take_changes(taken, 15));
  CHECK(taken.size() == 15);
  CHECK_FALSE(cache.take_changes(taken, 15));
  CHECK(taken.size() == 20);
  CHECK_FALSE(cache.changed());
  for (auto const& change : taken) CHECK(version_of(change.server) == "2");
}

TEST_CASE("a cache for one thread needs no mutex") {
  basic_ready_cache<null_mutex> cache;
  cache.store(server_builder{"a"}.made());
  CHECK(cache.claim(cache.lookup(key_a).handle) != nullptr);
}

TEST_CASE("a list that lacks a server is older news than the server at the same version") {
  ready_cache cache;
  auto const server = server_builder{"a"}.version("5").made();
  cache.store(server);
  cache.replace_all({});
  CHECK(cache.find({"default", "a"}) == nullptr);
  CHECK(cache.store(server_builder{"a"}.version("4").made()) == store_outcome::stale);
  CHECK(cache.store(server) == store_outcome::stored);
}

TEST_CASE("a claimed server that a list lacks stays when it is seen again, at whatever version") {
  for (auto const* version : {"5", "6"}) {
    ready_cache cache;
    cache.store(server_builder{"a"}.version("5").made());
    auto const held = cache.lookup({"default", "a"}).handle;
    REQUIRE(cache.claim(held) != nullptr);
    cache.replace_all({});
    cache.store(server_builder{"a"}.version(version).made());
    cache.put_back(held);
    auto const now = cache.find({"default", "a"});
    REQUIRE(now != nullptr);
    CHECK(now->meta.resource_version == version);
  }
}

TEST_CASE("a claimed server that a list lacks is gone after its claim, and a newer version brings it back") {
  ready_cache cache;
  cache.store(server_builder{"a"}.version("5").made());
  auto const held = cache.lookup({"default", "a"}).handle;
  REQUIRE(cache.claim(held) != nullptr);
  cache.replace_all({});
  cache.put_back(held);
  CHECK(cache.find({"default", "a"}) == nullptr);
  CHECK(cache.store(server_builder{"a"}.version("6").made()) == store_outcome::stored);
}

TEST_CASE("what the store has outweighs a list that lacked the server, when the claim is settled") {
  auto const claimed = server_builder{"a"}.version("5").made();
  for (auto const* version : {"5", "6"}) {  // read back as it was, or written
    CAPTURE(version);
    ready_cache cache;
    cache.store(claimed);
    auto const held = claim(cache, key_a);
    cache.replace_all({});
    auto const written = server_builder{"a"}.version(version).allocated().made();
    cache.settle(held, written);
    CHECK(cache.find(key_a) == written);
    CHECK(cache.lookup(key_a).status == slot_status::free);
    CHECK(cache.store(written) == store_outcome::stale);  // its event
  }
}

TEST_CASE("a list that is newer than what was written says that the server is gone") {
  for (auto const* version : {"6", "8"}) {  // of what is settled; the list is of version 7
    CAPTURE(version);
    ready_cache cache;
    cache.store(server_builder{"a"}.version("5").made());
    auto const held = claim(cache, key_a);
    cache.replace_all({}, "7");
    cache.settle(held, server_builder{"a"}.version(version).allocated().made());
    CHECK((cache.find(key_a) != nullptr) == (std::string_view{version} == "8"));
  }
}

namespace {

auto with_claims(game_server_ptr const& of, std::vector<std::string> const& ids) -> game_server_ptr {
  auto out = std::make_shared<game_server>(*of);
  for (auto const& id : ids) write_claim(*out, *of, {id, 1, std::nullopt}, wall_time{}, wall_time{});
  return out;
}

}  // namespace

TEST_CASE("a claim in what was seen about a claimed server is found by its id before it counts") {
  ready_cache cache;
  std::string const ns{key_a.namespace_.view()};
  cache.store(server_builder{"a"}.version("5").made());
  cache.store(server_builder{"b"}.version("6").made());
  auto const held = claim(cache, key_a);
  CHECK(cache.newer_than_claimed(ns, "one") == nullptr);
  auto const newer = with_claims(server_builder{"a"}.version("7").allocated().made(), {"one", "two"});
  cache.store(newer);
  cache.store(with_claims(server_builder{"b"}.version("8").allocated().made(), {"free"}));  // not claimed: it counts at once
  for (auto const* id : {"one", "two"}) {
    REQUIRE(cache.newer_than_claimed(ns, id));
    CHECK(*cache.newer_than_claimed(ns, id) == *newer);
  }
  CHECK(cache.newer_than_claimed(ns, "free") == nullptr);
  CHECK(cache.newer_than_claimed(ns, "other") == nullptr);
  CHECK(cache.newer_than_claimed("elsewhere", "one") == nullptr);

  cache.store(with_claims(server_builder{"a"}.version("9").allocated().made(), {"two"}));
  CHECK(cache.newer_than_claimed(ns, "one") == nullptr);
  CHECK(cache.newer_than_claimed(ns, "two"));
  cache.erase(key_a, "u-a");
  CHECK(cache.newer_than_claimed(ns, "two") == nullptr);
  cache.put_back(held);
  CHECK(cache.newer_than_claimed(ns, "two") == nullptr);
}

TEST_CASE("claims that were seen are forgotten when what was seen counts, or a list says that the server is gone") {
  ready_cache cache;
  std::string const ns{key_a.namespace_.view()};
  for (bool const listed : {false, true}) {
    CAPTURE(listed);
    auto const version = listed ? 20 : 5;
    cache.store(server_builder{"a"}.version(std::to_string(version)).made());
    auto const held = claim(cache, key_a);
    cache.store(with_claims(server_builder{"a"}.version(std::to_string(version + 1)).allocated().made(), {"one"}));
    CHECK(cache.newer_than_claimed(ns, "one"));
    if (listed) cache.replace_all({});
    if (!listed) cache.put_back(held);
    CHECK(cache.newer_than_claimed(ns, "one") == nullptr);
    if (listed) cache.put_back(held);
  }
}

TEST_CASE("a value older than the claimed one is no proof against a list when the claim is settled") {
  ready_cache cache;
  cache.store(server_builder{"a"}.version("5").made());
  auto const held = claim(cache, key_a);
  cache.replace_all({});
  cache.settle(held, server_builder{"a"}.version("4").made());
  CHECK(cache.find(key_a) == nullptr);
  CHECK(cache.store(server_builder{"a"}.version("5").made()) == store_outcome::stored);  // only unlisted
}

TEST_CASE("a deletion outweighs a list, before or after it, when the claim is settled") {
  for (auto const deleted_first : {true, false}) {
    CAPTURE(deleted_first);
    ready_cache cache;
    cache.store(server_builder{"a"}.version("5").made());
    auto const held = claim(cache, key_a);
    if (deleted_first) cache.erase(key_a, "u-a");
    cache.replace_all({});
    if (!deleted_first) cache.erase(key_a, "u-a");
    cache.settle(held, server_builder{"a"}.version("6").allocated().made());
    CHECK(cache.size() == 0);
    CHECK(cache.store(server_builder{"a"}.version("7").made()) == store_outcome::stale);
  }
}

TEST_CASE("settle keeps another server that a list had under the claimed one's name") {
  ready_cache cache;
  cache.store(server_builder{"a"}.uid("one").version("5").made());
  auto const held = claim(cache, key_a);
  std::vector<game_server_ptr> const list{server_builder{"a"}.uid("two").version("7").made()};
  cache.replace_all(list);
  cache.settle(held, server_builder{"a"}.uid("one").version("6").allocated().made());
  CHECK(cache.find(key_a)->meta.uid == "two");
}

TEST_CASE("remove is final also for a server that a list lacked") {
  ready_cache cache;
  cache.store(server_builder{"a"}.version("5").made());
  auto const held = claim(cache, key_a);
  cache.replace_all({});
  cache.remove(held);
  CHECK(cache.size() == 0);
  CHECK(cache.store(server_builder{"a"}.version("6").made()) == store_outcome::stale);
}

TEST_CASE("a list that changes nothing does not use up the ring of the next change") {
  ready_cache cache;
  auto rings = 0;
  cache.on_change([&] { ++rings; });
  auto const server = server_builder{"a"}.made();
  std::vector<game_server_ptr> const list{server};
  cache.replace_all(list);
  std::vector<slot_view> changes;
  while (cache.take_changes(changes, 10)) continue;
  rings = 0;
  cache.replace_all(list);
  CHECK(rings == 0);
  cache.store(server_builder{"b"}.made());
  CHECK(rings == 1);
}
