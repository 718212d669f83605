#include "../support/reports.hpp"
#include "../support/servers.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/fleet_directory.hpp>
#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/async/reflector.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

struct directory_fixture {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  std::unique_ptr<fleet_directory> directory{std::make_unique<fleet_directory>(context.get_executor(), clock)};

  directory_fixture() { run(); }
  ~directory_fixture() {
    directory.reset();
    run();
    CHECK(clock.pending() == 0);
  }
  void run() {
    context.restart();
    context.poll();
  }
  void pass(std::chrono::nanoseconds time) {
    clock.advance(time);
    run();
  }
  void put(std::string_view name, game_server_state state, int version, std::string_view fleet = "fleet") {
    auto server = make_server(name, fleet, state);
    server.meta.resource_version = std::to_string(version);
    directory->stored(share(std::move(server)));
  }
  static auto all(fleet_watch& from) -> std::vector<fleet_event> {
    std::vector<fleet_event> out;
    while (from.next(10, out)) {
    }
    return out;
  }
  auto fleet_of(std::string_view name = "fleet") const -> fleet_info_ptr {
    for (auto const& one : directory->snapshot().fleets) {
      if (one->name == name) return one;
    }
    return nullptr;
  }
};

}  // namespace

TEST_CASE_FIXTURE(directory_fixture, "a waiting watch is woken by the first change, and by the rest of an interval's changes together") {
  put("a", game_server_state::ready, 1);
  pass(1s);
  auto watch = directory->watch();
  auto const first = all(watch);
  REQUIRE(first.size() == 3);
  CHECK(first[0].what == fleet_event_kind::cluster_status);
  CHECK(first[2].what == fleet_event_kind::synced);
  int woken = 0;
  watch.async_wait([&](error_code ec) { woken += ec ? 100 : 1; });
  run();
  CHECK(woken == 0);
  pass(1s);
  put("a", game_server_state::allocated, 2);
  CHECK(woken == 0);  // never inside the change
  run();
  CHECK(woken == 1);
  auto heard = all(watch);
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].fleet->recount->in(game_server_state::allocated) == 1);

  watch.async_wait([&](error_code ec) { woken += ec ? 100 : 1; });
  put("a", game_server_state::ready, 3);
  put("a", game_server_state::allocated, 4);
  pass(100ms);
  put("a", game_server_state::ready, 5);
  pass(100ms);
  CHECK(woken == 1);
  pass(50ms);
  CHECK(woken == 2);
  heard = all(watch);
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].fleet->recount->in(game_server_state::ready) == 1);
}

TEST_CASE_FIXTURE(directory_fixture, "servers that are put down are there for whoever looks, in their order with all else that comes") {
  for (int version = 1; version != 100; ++version) {
    put("a", version % 2 == 0 ? game_server_state::allocated : game_server_state::ready, version);
    if (version % 7 != 0) continue;
    CHECK(fleet_of()->recount->in(game_server_state::ready) == version % 2);
    CHECK(directory->statistics().servers == 1);
  }
  put("b", game_server_state::ready, 100);
  directory->erased(key("b"), {});
  put("c", game_server_state::ready, 101);
  directory->replaced(std::vector<game_server_ptr>{}, "200");
  CHECK(fleet_of() == nullptr);
  put("c", game_server_state::ready, 201);
  bool more = false;
  CHECK(directory->servers("default", "fleet", "", 9, more).size() == 1);
}

TEST_CASE_FIXTURE(directory_fixture, "a new fleet is told soon, and one that waits for its interval is not told for it") {
  put("a", game_server_state::ready, 1);
  pass(1s);
  auto watch = directory->watch();
  all(watch);
  pass(1s);
  put("a", game_server_state::ready, 2);
  put("a", game_server_state::allocated, 3);  // told at once
  run();
  CHECK(all(watch).size() == 1);
  put("a", game_server_state::ready, 4);
  pass(50ms);
  put("a", game_server_state::allocated, 5);  // nothing that was not known to be due later
  pass(50ms);
  CHECK(all(watch).empty());
  auto const publications = directory->statistics().publications;
  put("b", game_server_state::ready, 1, "second");
  pass(20ms);
  CHECK(directory->statistics().publications == publications + 1);
  auto const heard = all(watch);
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].fleet->name == "second");
  pass(130ms);
  CHECK(all(watch).size() == 1);
}

TEST_CASE_FIXTURE(directory_fixture, "one Fleet that is put or erased is told like any other change") {
  auto watch = directory->watch();
  all(watch);
  fleet made;
  made.meta.name = "arena";
  made.meta.namespace_ = "default";
  made.replicas = 3;
  directory->put_fleet(std::make_shared<fleet const>(made));
  pass(1s);
  auto heard = all(watch);
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].what == fleet_event_kind::added);
  CHECK(heard[0].fleet->desired == 3);
  directory->erase_fleet({"default", "arena"});
  pass(1s);
  heard = all(watch);
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].what == fleet_event_kind::deleted);
}

TEST_CASE_FIXTURE(directory_fixture, "a wait ends at once where there is news, by cancellation, and with the directory") {
  auto watch = directory->watch();
  std::optional<error_code> told;
  watch.async_wait([&](error_code ec) { told = ec; });
  CHECK_FALSE(told);
  run();
  REQUIRE(told);
  CHECK_FALSE(*told);
  all(watch);
  told.reset();
  boost::asio::cancellation_signal signal;
  watch.async_wait(boost::asio::bind_cancellation_slot(signal.slot(), [&](error_code ec) { told = ec; }));
  signal.emit(boost::asio::cancellation_type::terminal);
  run();
  CHECK(told == errc::cancelled);
  told.reset();
  watch.async_wait([&](error_code ec) { told = ec; });
  directory.reset();
  run();
  CHECK(told == errc::cancelled);
}

TEST_CASE_FIXTURE(directory_fixture, "a token goes on where it was, and one that is not known is told everything anew") {
  put("a", game_server_state::ready, 1);
  pass(1s);
  auto watch = directory->watch();
  auto const first = all(watch);
  auto const token = directory->token_of(first.back().revision);
  pass(1s);
  put("b", game_server_state::ready, 2, "second");
  run();
  auto resumed = directory->watch({}, token);
  auto const heard = all(resumed);
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].what == fleet_event_kind::added);
  CHECK(heard[0].fleet->name == "second");
  for (auto const* other : {"nonsense", "0-1", "-", "1600"}) {
    auto anew = directory->watch({}, other);
    CHECK(all(anew).front().what == fleet_event_kind::reset);
  }
  auto future = directory->watch({}, directory->token_of(1'000'000));
  CHECK(all(future).front().what == fleet_event_kind::reset);
}

TEST_CASE_FIXTURE(directory_fixture, "a slow watch costs nothing and finds each fleet once") {
  put("a", game_server_state::ready, 1);
  run();
  auto slow = directory->watch();
  all(slow);
  for (int version = 2; version != 500; ++version) {
    put("a", version % 2 == 0 ? game_server_state::allocated : game_server_state::ready, version);
    pass(1s);
  }
  CHECK(all(slow).size() == 1);
  CHECK(directory->statistics().watches == 1);
}

TEST_CASE_FIXTURE(directory_fixture, "an allocation moves the numbers before its caller knows of it, and a watch event later changes nothing") {
  memory_store store{context.get_executor()};
  ready_cache cache;
  scripted_random random;
  store.create(make_server("a"));
  store.create(make_server("b"));
  reflector_options options;
  options.observer = directory.get();
  auto reflects = std::make_unique<reflector>(context.get_executor(), store, cache, clock, random, options);
  allocator_ports ports;
  ports.observer = directory.get();
  auto allocates = std::make_unique<allocator>(context.get_executor(), cache, store, clock, random, allocator_options{}, ports);
  reflects->start();
  run();
  REQUIRE(fleet_of());
  CHECK(fleet_of()->recount->in(game_server_state::ready) == 2);
  CHECK(directory->snapshot().clusters.at(0)->synced);
  int seen = -1;
  reflects->stop();  // from here on only the allocator's own writes are heard of
  run();
  allocates->async_allocate(fleet_request(), allocate_options{}, [&](error_code, allocation_result const&) {
    seen = fleet_of()->recount->in(game_server_state::allocated);
  });
  run();
  CHECK(seen == 1);
  CHECK(fleet_of()->recount->in(game_server_state::ready) == 1);
  allocates.reset();
  reflects.reset();
  run();
}

TEST_CASE_FIXTURE(directory_fixture, "this cluster turns stale when its watch fails again and again, with the reason, and is mended when it is heard") {
  memory_store store{context.get_executor()};
  auto const faults = std::make_shared<scripted_faults>();
  store.set_faults(faults);
  ready_cache cache;
  scripted_random random;
  store.create(make_server("a"));
  reflector_options options;
  options.observer = directory.get();
  auto reflects = std::make_unique<reflector>(context.get_executor(), store, cache, clock, random, options);
  auto const fail_watch = [&] {
    store_fault fault;
    fault.what = store_fault::kind::unavailable;
    faults->add(store_operation::watch, fault);
  };
  auto const local = [&] { return *directory->snapshot().clusters.at(0); };
  reflects->start();
  run();
  auto const since = fleet_of()->observed;
  pass(1s);
  auto watch = directory->watch();
  all(watch);

  fail_watch();
  fail_watch();
  store.modify(key("a"), [](game_server& s) { s.meta.labels.set("x", "1"); });
  pass(20ms);  // the directory has looked at what came before the failure
  CHECK_FALSE(local().stale);  // once is nothing
  clock.advance_to_next();
  run();
  CHECK(local().stale);
  CHECK(local().synced);
  CHECK(local().code == 14);
  CHECK(local().message == error_code{errc::unavailable}.message().c_str());
  CHECK(local().observed == clock.wall_now());
  CHECK(fleet_of()->stale);
  CHECK(fleet_of()->recount->total == 1);
  CHECK(fleet_of()->observed == since);
  pass(150ms);  // a fleet's interval is over, the next try is not due
  auto heard = all(watch);
  REQUIRE(heard.size() == 2);
  CHECK((heard[0].cluster ? heard[0] : heard[1]).what == fleet_event_kind::cluster_status);
  CHECK((heard[0].fleet ? heard[0] : heard[1]).fleet->stale);
  // What this process writes is known all the same.
  put("a", game_server_state::allocated, 1'000'000);
  CHECK(fleet_of()->stale);
  CHECK(fleet_of()->recount->in(game_server_state::allocated) == 1);

  store.modify(key("a"), [](game_server& s) { s.meta.labels.set("x", "2"); });
  pass(1s);
  CHECK_FALSE(local().stale);
  CHECK(local().code == 0);
  CHECK(local().message.empty());
  CHECK_FALSE(fleet_of()->stale);
  pass(1s);
  CHECK(all(watch).size() == 2);
  reflects.reset();
  run();
}

TEST_CASE_FIXTURE(directory_fixture, "a cluster that was never listed is not synced, and stale with the reason") {
  memory_store store{context.get_executor()};
  auto const faults = std::make_shared<scripted_faults>();
  store.set_faults(faults);
  ready_cache cache;
  scripted_random random;
  reflector_options options;
  options.observer = directory.get();
  auto reflects = std::make_unique<reflector>(context.get_executor(), store, cache, clock, random, options);
  store_fault fault;
  fault.what = store_fault::kind::unavailable;
  faults->add(store_operation::list, fault).add(store_operation::list, fault);
  reflects->start();
  run();
  CHECK_FALSE(directory->snapshot().clusters.at(0)->stale);
  pass(100ms);
  auto const local = *directory->snapshot().clusters.at(0);
  CHECK_FALSE(local.synced);
  CHECK(local.stale);
  CHECK(local.code == 14);
  pass(200ms);
  CHECK(directory->snapshot().clusters.at(0)->synced);
  CHECK_FALSE(directory->snapshot().clusters.at(0)->stale);
  reflects.reset();
  run();
}

TEST_CASE_FIXTURE(directory_fixture, "options out of range are refused") {
  auto const refused = [&](auto change) {
    fleet_directory_options options;
    change(options);
    CHECK_THROWS_AS((fleet_directory{context.get_executor(), clock, options}), std::invalid_argument);
  };
  refused([](auto& o) { o.gather = -1ns; });
  refused([](auto& o) { o.gather = 1min; });
  refused([](auto& o) { o.instance = "a-b"; });
  refused([](auto& o) { o.book.cluster.clear(); });
}
