// Calls with an id, and claims that end unless they are confirmed.
#include "../support/allocator_fixture.hpp"

#include <agones_alloc/select/claim.hpp>

#include <string>
#include <vector>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

auto with_id(std::string_view id, std::optional<std::chrono::nanoseconds> ttl = {}) -> allocate_options {
  allocate_options out;
  out.request_id = id;
  out.claim_ttl = ttl;
  return out;
}

struct claims_fixture : allocator_fixture {
  using allocator_fixture::allocator_fixture;
  int version{1};

  auto acknowledged() -> bool {
    if (store.pending() != 1) return false;
    store.acknowledge(0, std::to_string(++version));
    run();
    return true;
  }
  template <class Start>
  auto begun(Start start) -> std::shared_ptr<call> {
    auto c = std::make_shared<call>();
    start(boost::asio::bind_cancellation_slot(c->stop.slot(), [c](error_code ec, allocation_result r) {
      ++c->completions;
      c->got.emplace(ec, std::move(r));
    }));
    run();
    return c;
  }
  auto confirm(std::string_view id) {
    return begun([&](auto done) { alloc->async_confirm("default", id, {}, std::move(done)); });
  }
  auto release(std::string_view id, release_to to = release_to::ready) {
    return begun([&](auto done) { alloc->async_release("default", id, to, {}, std::move(done)); });
  }
  auto known(std::string_view name) -> game_server { return *cache.find(key(name)); }
};

auto target(std::string_view name) -> choice_options {
  choice_options out;
  out.target = target_server{name, {}, true};
  return out;
}

auto name_of(std::shared_ptr<call> const& c) -> std::string { return c->result().server->meta.name.str(); }

}  // namespace

TEST_CASE_FIXTURE(claims_fixture, "the same id again gives the same server, without another write") {
  add("a");
  add("b");
  auto const first = allocate(fleet_request(), with_id("match-1"));
  REQUIRE(acknowledged());
  REQUIRE(first->ended() == outcome::allocated);
  CHECK(first->result().claim == "match-1");
  CHECK_FALSE(first->result().repeated);
  CHECK(find_claim(*first->result().server, "match-1"));
  auto const again = allocate(fleet_request(), with_id("match-1"));
  REQUIRE(again->done());
  CHECK(again->ended() == outcome::allocated);
  CHECK(again->result().repeated);
  CHECK(name_of(again) == name_of(first));
  CHECK(again->result().tries == 0);
  CHECK(store.updates_seen() == 1);
  auto const other = allocate(fleet_request(), with_id("match-2"));
  REQUIRE(acknowledged());
  CHECK(name_of(other) != name_of(first));
}

TEST_CASE_FIXTURE(claims_fixture, "another replica, or the same after a restart, knows the id from the server itself") {
  auto server = make_server("a", "fleet", game_server_state::allocated);
  write_claim(server, make_server("a"), {"match-1", request_digest(*fleet_request()), std::nullopt}, clock.wall_now(), {});
  cache.store(share(server));
  add("b");
  auto const again = allocate(fleet_request(), with_id("match-1"));
  REQUIRE(again->done());
  CHECK(name_of(again) == "a");
  CHECK(again->result().repeated);
}

TEST_CASE_FIXTURE(claims_fixture, "what was said before a claim does not confirm it: by a label, by an annotation, by the request's own patch") {
  auto labelled = make_server("a", "labelled");
  labelled.meta.labels.set(keys::sdk_confirmed, "true");
  auto annotated = make_server("b", "annotated");
  annotated.meta.annotations.set(keys::sdk_confirmed, "true");
  cache.store(share(labelled));
  cache.store(share(annotated));
  add("c", "patched");
  auto patching = fleet_request("patched")->allocation();
  patching.spec.metadata.labels.set(keys::sdk_confirmed, "true");
  patching.spec.metadata.annotations.set(keys::sdk_confirmed, "true");
  auto const requests = std::vector{fleet_request("labelled"), fleet_request("annotated"), compile_request(patching)};
  for (std::size_t i = 0; i != requests.size(); ++i) {
    auto const id = "match-" + std::to_string(i);
    auto const one = allocate(requests[i], with_id(id, 5s));
    REQUIRE(acknowledged());
    REQUIRE(one->ended() == outcome::allocated);
    auto const& server = *one->result().server;
    CHECK(find_claim(server, id)->expires);
    CHECK_FALSE(server.meta.labels.contains(keys::sdk_confirmed));
    CHECK_FALSE(server.meta.annotations.contains(keys::sdk_confirmed));
    auto const again = allocate(requests[i], with_id(id, 5s));  // known by what was written, which is not read for it
    REQUIRE(again->done());
    CHECK(again->result().repeated);
  }
}

TEST_CASE_FIXTURE(claims_fixture, "three at once make one allocation") {
  for (auto const* name : {"a", "b", "c"}) add(name);
  std::vector<std::shared_ptr<call>> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(begin(fleet_request(), with_id("match-1")));
  run();
  REQUIRE(acknowledged());
  CHECK(store.updates_seen() == 1);
  for (auto const& c : calls) {
    REQUIRE(c->done());
    CHECK(c->ended() == outcome::allocated);
    CHECK(name_of(c) == name_of(calls[0]));
  }
}

TEST_CASE_FIXTURE(claims_fixture, "an id that was used for another request is refused, at work and afterwards") {
  add("a");
  add("b");
  auto const first = allocate(fleet_request(), with_id("match-1"));
  auto const meanwhile = allocate(fleet_request("other"), with_id("match-1"));
  REQUIRE(meanwhile->done());
  CHECK(meanwhile->ended() == outcome::invalid);
  CHECK(to_string(meanwhile->result().errors) == "options.request_id: Invalid value: \"match-1\": was used for another request");
  REQUIRE(acknowledged());
  auto const afterwards = allocate(fleet_request("other"), with_id("match-1"));
  CHECK(afterwards->ended() == outcome::invalid);
  CHECK(first->ended() == outcome::allocated);
  // In another namespace it is another id.
  auto wanted = fleet_allocation();
  wanted.meta.namespace_ = "elsewhere";
  CHECK(allocate(compile_request(wanted), with_id("match-1"))->ended() == outcome::exhausted);
}

TEST_CASE_FIXTURE(claims_fixture, "who comes second goes on where the first gave up") {
  add("a");
  auto const held = allocate(fleet_request());
  auto const first = allocate(fleet_request(), with_id("match-1"));
  auto const second = allocate(fleet_request(), with_id("match-1"));
  first->cancel();
  run();
  CHECK(first->ended() == outcome::cancelled);
  CHECK_FALSE(second->done());
  store.fail(0, errc::refused, "no", 403);
  run();
  REQUIRE(acknowledged());
  CHECK(second->ended() == outcome::allocated);
  CHECK_FALSE(second->result().repeated);
  CHECK(held->ended() == outcome::refused);
}

TEST_CASE_FIXTURE(claims_fixture, "an id is known although its server is being written for somebody else") {
  add("a");
  add("b");
  auto const mine = allocate(compile_request(fleet_allocation(), target("a")), with_id("mine"));
  REQUIRE(store.pending() == 1);
  // Meanwhile another replica was faster.
  auto taken = make_server("a", "fleet", game_server_state::allocated);
  write_claim(taken, make_server("a"), {"match-1", request_digest(*fleet_request()), clock.wall_now() + 60s}, clock.wall_now(), {});
  taken.meta.resource_version = "5";
  cache.store(share(taken));
  run();
  auto const again = allocate(fleet_request(), with_id("match-1"));
  REQUIRE(again->done());
  CHECK(again->ended() == outcome::allocated);
  CHECK(again->result().repeated);
  CHECK(name_of(again) == "a");
  CHECK(allocate(fleet_request("other"), with_id("match-1"))->ended() == outcome::invalid);
  // To be confirmed it has to wait for the other write's end.
  auto const confirmed = confirm("match-1");
  CHECK_FALSE(confirmed->done());
  store.fail(0, errc::conflict, "changed", 409);
  run();
  version = 5;
  REQUIRE(acknowledged());
  REQUIRE(confirmed->done());
  CHECK(confirmed->ended() == outcome::allocated);
  CHECK_FALSE(find_claim(known("a"), "match-1")->expires);
  pass(1s);
  CHECK(mine->ended() == outcome::exhausted);
}

TEST_CASE_FIXTURE(claims_fixture, "a write that is to be found by its id is made after its caller was told, for no deadline stops it any more") {
  add("a");
  auto options = with_id("match-1");
  options.timeout = 1s;
  auto const c = allocate(fleet_request(), options);
  REQUIRE(store.pending() == 1);
  CHECK(store.at(0).write.deadline == clock.now() + 1s);
  store.fail(0, errc::outcome_unknown);
  run();
  REQUIRE(store.pending() == 1);  // it is read back: not there, and may be on its way
  store.show(0, cache.find(key("a")));
  run();
  pass(1s);
  REQUIRE(c->done());
  CHECK(c->ended() == outcome::unknown);
  for (int i = 0; store.pending() == 0 && i < 20; ++i) pass(1s);
  REQUIRE(store.pending() == 1);
  REQUIRE(store.at(0).is_update);
  CHECK_FALSE(store.at(0).write.deadline);
  REQUIRE(acknowledged());
  auto const again = allocate(fleet_request(), with_id("match-1"));
  REQUIRE(again->done());
  CHECK(again->ended() == outcome::allocated);
  CHECK(again->result().repeated);
}

TEST_CASE_FIXTURE(claims_fixture, "a claim on the next server of a name is known while its predecessor is being written") {
  add("a");
  auto const mine = allocate(fleet_request());
  auto next = make_server("a", "fleet", game_server_state::allocated);
  write_claim(next, make_server("a"), {"match-1", request_digest(*fleet_request()), std::nullopt}, clock.wall_now(), {});
  next.meta.uid = "next-uid";
  next.meta.resource_version = "5";
  cache.store(share(next));
  auto const released = release("match-1");
  CHECK_FALSE(released->done());
  store.fail(0, errc::not_found, "gone", 404);
  run();
  version = 5;
  REQUIRE(acknowledged());
  CHECK(released->ended() == outcome::allocated);
  CHECK(known("a").meta.uid == "next-uid");
  CHECK(known("a").status.state == game_server_state::ready);
  mine->cancel();
  run();
}

TEST_CASE_FIXTURE(claims_fixture, "after a lost answer the same id finds what became of the write") {
  add("a");
  add("b");
  auto options = with_id("match-1");
  options.timeout = 1s;
  auto const first = allocate(fleet_request(), options);
  auto const written = store.written(0, "7");
  store.fail(0, errc::outcome_unknown);
  run();
  pass(1s);
  REQUIRE(first->done());
  CHECK(first->ended() == outcome::unknown);
  CHECK(first->result().claim == "match-1");
  // The read is still under way: the second call waits for it instead of taking another server.
  auto const second = allocate(fleet_request(), with_id("match-1"));
  auto brief = with_id("match-1");
  brief.timeout = 1s;
  auto const third = allocate(fleet_request(), brief);
  pass(1s);
  CHECK_FALSE(second->done());
  CHECK(third->ended() == outcome::unknown);  // nobody may say that nothing was taken
  REQUIRE(store.pending() == 1);
  store.show(0, written);
  run();
  REQUIRE(second->done());
  CHECK(second->ended() == outcome::allocated);
  CHECK(name_of(second) == name_of(first));
  CHECK(store.updates_seen() == 1);
}

TEST_CASE("a call that never came to its turn is told that nobody knows while another one's write for its id is under way") {
  allocator_options one_write;
  one_write.max_writes = 1;
  claims_fixture world{one_write};
  for (auto const* name : {"a", "b"}) world.add(name);
  auto const first = world.allocate(fleet_request(), with_id("match-1"));
  auto const between = world.allocate(fleet_request());  // waits for a write: those after it stand in its line
  auto brief = with_id("match-1");
  brief.timeout = 1s;
  auto const second = world.allocate(fleet_request(), brief);
  auto other = with_id("match-2");
  other.timeout = 1s;
  auto const third = world.allocate(fleet_request(), other);
  world.pass(1s);
  REQUIRE(second->done());
  CHECK(second->ended() == outcome::unknown);
  CHECK(second->result().claim == "match-1");
  CHECK(second->result().server->meta.name == "a");
  REQUIRE(third->done());
  CHECK(third->ended() == outcome::deadline);
  REQUIRE(world.acknowledged());
  CHECK(first->ended() == outcome::allocated);
  REQUIRE(world.acknowledged());
  CHECK(between->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(claims_fixture, "a claim that nobody confirms ends in time, and its server is Ready as before") {
  add("a");
  auto const before = known("a");
  auto wanted = fleet_allocation();
  wanted.spec.metadata.labels.set("session", "7");
  auto const first = allocate(compile_request(wanted), with_id("match-1", 5s));
  REQUIRE(acknowledged());
  REQUIRE(first->ended() == outcome::allocated);
  CHECK(first->result().server->meta.annotations.contains(keys::claim_expires_annotation));
  pass(4900ms);
  CHECK(store.pending() == 0);
  pass(200ms);
  REQUIRE(acknowledged());
  auto after = known("a");
  after.meta.resource_version = before.meta.resource_version;
  CHECK(after == before);
  CHECK(samples.expired == 1);
  CHECK(events.lines.back() == "Normal a ClaimExpired: claim match-1 ended");
  // The id is free again: it gets a server as if it were new.
  auto const again = allocate(compile_request(wanted), with_id("match-1", 5s));
  REQUIRE(acknowledged());
  CHECK_FALSE(again->result().repeated);
}

TEST_CASE_FIXTURE(claims_fixture, "a confirmed claim does not end, and stays known") {
  add("a");
  auto const first = allocate(fleet_request(), with_id("match-1", 5s));
  REQUIRE(acknowledged());
  auto const confirmed = confirm("match-1");
  REQUIRE(acknowledged());
  REQUIRE(confirmed->done());
  CHECK(confirmed->ended() == outcome::allocated);
  CHECK(name_of(confirmed) == "a");
  auto const twice = confirm("match-1");
  REQUIRE(twice->done());
  CHECK(twice->ended() == outcome::allocated);
  pass(1h);
  CHECK(store.pending() == 0);
  CHECK(known("a").status.state == game_server_state::allocated);
  CHECK(allocate(fleet_request(), with_id("match-1", 5s))->result().repeated);
}

TEST_CASE_FIXTURE(claims_fixture, "the game may confirm") {
  add("a");
  allocate(fleet_request(), with_id("match-1", 5s));
  REQUIRE(acknowledged());
  auto said = known("a");
  said.meta.annotations.set("agones.dev/sdk-claim-confirmed", "true");
  said.meta.resource_version = std::to_string(++version);
  cache.store(share(said));
  pass(6s);
  CHECK(store.pending() == 0);
  CHECK(known("a").status.state == game_server_state::allocated);
}

TEST_CASE_FIXTURE(claims_fixture, "a claim can be released at any time, to where one wishes") {
  add("a");
  allocate(fleet_request(), with_id("match-1"));
  REQUIRE(acknowledged());
  auto const done = release("match-1");
  REQUIRE(acknowledged());
  CHECK(done->ended() == outcome::allocated);
  CHECK(known("a").status.state == game_server_state::ready);
  CHECK(events.lines.back() == "Normal a ClaimReleased: claim match-1 ended");
  auto const twice = release("match-1");
  REQUIRE(twice->done());
  CHECK(twice->code() == errc::not_found);
  CHECK(twice->ended() == outcome::exhausted);
  CHECK(confirm("match-1")->code() == errc::not_found);
  allocate(fleet_request(), with_id("match-2"));
  REQUIRE(acknowledged());
  auto const end = release("match-2", release_to::shutdown);
  REQUIRE(acknowledged());
  CHECK(end->result().server->status.state == game_server_state::shutdown);
  CHECK(cache.find(key("a")) == nullptr);
}

TEST_CASE_FIXTURE(claims_fixture, "what the end of a claim could not take back is told with it") {
  add("a");
  auto wanted = fleet_allocation();
  wanted.spec.metadata.labels.set("session", "7");
  auto const request = compile_request(wanted);
  // Somebody writes over what the allocation wrote.
  auto const overwrite = [this] {
    auto said = known("a");
    said.meta.labels.set("session", "of another");
    said.meta.resource_version = std::to_string(++version);
    cache.store(share(said));
    run();
  };
  SUBCASE("when it is released") {
    allocate(request, with_id("match-1"));
    REQUIRE(acknowledged());
    overwrite();
    auto const done = release("match-1");
    REQUIRE(acknowledged());
    REQUIRE(done->result().not_undone.size() == 1);
    auto const& why = done->result().not_undone.front();
    CHECK(events.lines.back() == "Warning a ClaimReleased: claim match-1 ended; not undone: " + why);
    CHECK(why.find("session") != std::string::npos);
  }
  SUBCASE("when it expires") {
    allocate(request, with_id("match-1", 5s));
    REQUIRE(acknowledged());
    overwrite();
    pass(6s);
    REQUIRE(acknowledged());
    CHECK(events.lines.back().starts_with("Warning a ClaimExpired: claim match-1 ended; not undone: "));
    CHECK(events.lines.back().find("session") != std::string::npos);
  }
  CHECK(known("a").status.state == game_server_state::ready);
  CHECK(known("a").meta.labels.value_or_empty("session") == "of another");
}

TEST_CASE_FIXTURE(claims_fixture, "a claim without an id gets one that nobody else has") {
  add("a");
  allocate_options options;
  options.claim_ttl = 5s;
  random = scripted_random{{1, 0x0123456789abcdef, 2}};
  auto const first = allocate(fleet_request(), options);
  REQUIRE(acknowledged());
  CHECK(first->result().claim.size() == 32);
  auto const id = first->result().claim.str();
  auto const confirmed = confirm(id);
  REQUIRE(acknowledged());
  CHECK(confirmed->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(claims_fixture, "an expiry whose write fails is tried again; a confirmation that is faster wins") {
  add("a");
  allocate(fleet_request(), with_id("match-1", 5s));
  REQUIRE(acknowledged());
  pass(5s);
  REQUIRE(store.pending() == 1);
  store.fail(0, errc::refused, "no", 403);
  run();
  CHECK(store.pending() == 0);
  pass(1s);
  REQUIRE(store.pending() == 1);
  // Meanwhile another replica confirmed it: the write meets a conflict, and fresh data says that there is nothing to do.
  auto confirmed = known("a");
  confirm_claim(confirmed, "match-1");
  confirmed.meta.resource_version = std::to_string(++version);
  cache.store(share(confirmed));
  store.fail(0, errc::conflict, "changed", 409);
  run();
  pass(10ms);
  CHECK(store.pending() == 0);
  pass(1h);
  CHECK(store.pending() == 0);
  CHECK(known("a").status.state == game_server_state::allocated);
}

TEST_CASE_FIXTURE(claims_fixture, "of two servers with one id each claim ends at its own time") {
  auto const now = clock.wall_now();
  for (auto const* name : {"a", "b"}) {
    auto const first = std::string_view{name} == "a";
    auto server = make_server(name, "fleet", game_server_state::allocated);
    auto const expires = first ? std::optional<wall_time>{} : std::optional<wall_time>{now + 5s};
    write_claim(server, make_server(name), {"match-1", 7, expires}, first ? now - 1s : now, {});
    cache.store(share(server));
  }
  pass(0s);
  pass(5s);
  REQUIRE(acknowledged());
  CHECK(known("a").status.state == game_server_state::allocated);
  CHECK(known("b").status.state == game_server_state::ready);
  pass(1h);
  CHECK(store.pending() == 0);
}

TEST_CASE_FIXTURE(claims_fixture, "of two servers with one id the confirmed one is meant, also when the other claim was made before") {
  auto const now = clock.wall_now();
  for (auto const* name : {"a", "b"}) {
    auto const unconfirmed = std::string_view{name} == "a";
    auto server = make_server(name, "fleet", game_server_state::allocated);
    auto const expires = unconfirmed ? std::optional<wall_time>{now + 60s} : std::optional<wall_time>{};
    write_claim(server, make_server(name), {"match-1", 7, expires}, unconfirmed ? now - 1s : now, {});
    cache.store(share(server));
  }
  std::optional<std::string> found;
  alloc->async_find_claim("default", "match-1", {}, [&found](error_code, allocation_result const& r) { found = r.server->meta.name.str(); });
  pass(0s);
  CHECK(found == "b");
}

TEST_CASE_FIXTURE(claims_fixture, "a clock that is set does not end a claim early") {
  add("a");
  allocate(fleet_request(), with_id("match-1", 60s));
  REQUIRE(acknowledged());
  pass(1ms);
  clock.move_wall(1h);
  pass(58s);
  CHECK(store.pending() == 0);
  pass(2s);
  REQUIRE(acknowledged());
  CHECK(known("a").status.state == game_server_state::ready);
}

TEST_CASE("the sweeper can be left to others, and can send servers to their end") {
  allocator_options options;
  options.claims.sweep = false;
  claims_fixture idle{options};
  idle.add("a");
  idle.allocate(fleet_request(), with_id("match-1", 5s));
  REQUIRE(idle.acknowledged());
  idle.pass(1h);
  CHECK(idle.store.pending() == 0);

  options.claims.sweep = true;
  options.claims.expired_to = release_to::shutdown;
  claims_fixture strict{options};
  strict.add("a");
  strict.allocate(fleet_request(), with_id("match-1", 5s));
  REQUIRE(strict.acknowledged());
  strict.pass(5s);
  REQUIRE(strict.acknowledged());
  CHECK(strict.cache.find(key("a")) == nullptr);
}

TEST_CASE("an id is known as long as the options say") {
  allocator_options options;
  options.claims.remember = 10s;
  claims_fixture f{options};
  f.add("a");
  f.add("b");
  f.allocate(fleet_request(), with_id("match-1"));
  REQUIRE(f.acknowledged());
  f.pass(9s);
  CHECK(f.allocate(fleet_request(), with_id("match-1"))->result().repeated);
  f.pass(2s);
  auto const later = f.allocate(fleet_request(), with_id("match-1"));
  REQUIRE(f.acknowledged());
  CHECK_FALSE(later->result().repeated);
}

TEST_CASE_FIXTURE(claims_fixture, "an id or a time that makes no sense is refused by name") {
  add("a");
  auto const problem = [&](allocate_options const& options) { return to_string(allocate(fleet_request(), options)->result().errors); };
  CHECK(problem(with_id("a b")) == "options.request_id: Invalid value: \"a b\": must have visible characters of ASCII only");
  CHECK(problem(with_id("a", 0s)) == "options.claim_ttl: Invalid value: 0ns: must be positive, and a year at most");
  CHECK(confirm("")->ended() == outcome::invalid);
  CHECK(store.updates_seen() == 0);
}

TEST_CASE("confirmations and releases are admitted when allocations are refused") {
  allocator_options options;
  options.max_operations = 1;
  claims_fixture f{options};
  f.add("a");
  f.allocate(fleet_request(), with_id("match-1"));
  REQUIRE(f.acknowledged());
  f.add("b");
  auto const held = f.allocate(fleet_request());
  CHECK(f.allocate(fleet_request())->ended() == outcome::contention);
  auto const done = f.release("match-1");
  REQUIRE(f.store.pending() == 2);
  f.store.acknowledge(1, "8");
  f.run();
  CHECK(done->ended() == outcome::allocated);
  f.store.acknowledge(0, "9");
  f.run();
  CHECK(held->ended() == outcome::allocated);
}

TEST_CASE_FIXTURE(claims_fixture, "claims end with the allocator's own work, not after it") {
  add("a");
  allocate(fleet_request(), with_id("match-1", 5s));
  REQUIRE(acknowledged());
  auto const second = allocate(fleet_request(), with_id("match-2"));
  alloc.reset();
  run();
  pass(10s);
  CHECK(store.pending() == 0);
  CHECK(second->done());
}
