#include "../support/reports.hpp"
#include "../support/scripted_source.hpp"
#include "../support/servers.hpp"

#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/async/reflector.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

struct reflector_fixture {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  std::shared_ptr<scripted_faults> faults{std::make_shared<scripted_faults>()};
  memory_store store{context.get_executor()};
  ready_cache cache;
  scripted_random random;
  log_list log;
  std::unique_ptr<reflector> reflects;

  reflector_fixture() {
    store.set_faults(faults);
    reflector_options options;
    options.log = &log;
    reflects = std::make_unique<reflector>(context.get_executor(), store, cache, clock, random, options);
  }
  ~reflector_fixture() {
    reflects.reset();
    run();
    CHECK(clock.pending() == 0);
  }
  void run() {
    context.restart();
    context.poll();
  }
  void fail_next(store_operation what, store_fault::kind how) {
    store_fault fault;
    fault.what = how;
    faults->add(what, fault);
  }
};

}  // namespace

TEST_CASE_FIXTURE(reflector_fixture, "the first list fills the cache, and waiters are told") {
  store.create(make_server("a"));
  store.create(make_server("b", "fleet", game_server_state::scheduled));
  std::optional<error_code> told;
  reflects->async_wait_synced([&](error_code ec) { told = ec; });
  run();
  CHECK_FALSE(told);
  CHECK_FALSE(reflects->synced());
  reflects->start();
  reflects->start();
  run();
  REQUIRE(told);
  CHECK_FALSE(*told);
  CHECK(reflects->synced());
  CHECK(cache.size() == 1);
  CHECK(reflects->statistics().lists == 1);
  std::optional<error_code> again;
  reflects->async_wait_synced([&](error_code ec) { again = ec; });
  CHECK_FALSE(again);
  run();
  CHECK(again);
}

TEST_CASE_FIXTURE(reflector_fixture, "every kind of event reaches the cache; an addition counts like a change") {
  reflects->start();
  run();
  store.create(make_server("a"));
  run();
  CHECK(cache.size() == 1);
  store.modify(key("a"), [](game_server& s) { s.meta.labels.set("x", "y"); });
  run();
  CHECK(cache.find(key("a"))->meta.labels.value_or_empty("x") == "y");
  store.modify(key("a"), [](game_server& s) { s.status.state = game_server_state::shutdown; });
  run();
  CHECK(cache.size() == 0);
  store.create(make_server("b"));
  run();
  store.remove(key("b"));
  run();
  CHECK(cache.size() == 0);
  CHECK(reflects->statistics().events == 5);
  CHECK(reflects->statistics().lists == 1);
}

TEST_CASE_FIXTURE(reflector_fixture, "a watch that is too old leads to a new list") {
  store.create(make_server("a"));
  reflects->start();
  run();
  fail_next(store_operation::watch, store_fault::kind::too_old);
  // The watch that waits now ends with this event; the next one is too old.
  store.create(make_server("b"));
  run();
  CHECK(reflects->statistics().lists == 2);
  CHECK(reflects->statistics().errors == 0);
  store.create(make_server("c"));
  run();
  CHECK(cache.size() == 3);
}

TEST_CASE_FIXTURE(reflector_fixture, "when even new lists are too old, the next ones wait, until a watch works") {
  for (int i = 0; i < 3; ++i) fail_next(store_operation::watch, store_fault::kind::too_old);
  reflects->start();
  run();
  CHECK(reflects->statistics().lists == 2);
  CHECK(clock.next() == clock.now() + 100ms);
  clock.advance_to_next();
  run();
  CHECK(reflects->statistics().lists == 3);
  CHECK(clock.next() == clock.now() + 200ms);
  clock.advance_to_next();
  run();
  CHECK(reflects->statistics().lists == 4);
  CHECK(clock.pending() == 0);
  // The watch that waits now works; the next one is too old, for the first time in a row.
  fail_next(store_operation::watch, store_fault::kind::too_old);
  store.create(make_server("a"));
  run();
  CHECK(reflects->statistics().lists == 5);
  CHECK(clock.pending() == 0);
  CHECK(cache.size() == 1);
}

TEST_CASE_FIXTURE(reflector_fixture, "what was lost on the way is mended by the next list") {
  auto const a = *store.create(make_server("a"));
  reflects->start();
  run();
  store_fault lossy;
  lossy.lose_event = true;
  faults->add(store_operation::update, lossy);
  auto desired = *a;
  desired.status.state = game_server_state::shutdown;
  store.async_update({a, share(desired), std::nullopt}, [](error_code, store_result) {});
  run();
  CHECK(cache.size() == 1);
  fail_next(store_operation::watch, store_fault::kind::too_old);
  store.create(make_server("b"));
  run();
  CHECK(cache.find(key("a")) == nullptr);
  CHECK(cache.size() == 1);
}

TEST_CASE_FIXTURE(reflector_fixture, "a list that fails is tried again, later each time") {
  for (int i = 0; i < 3; ++i) fail_next(store_operation::list, store_fault::kind::unavailable);
  store.create(make_server("a"));
  reflects->start();
  run();
  CHECK(reflects->statistics().errors == 1);
  CHECK(clock.next() == clock.now() + 100ms);
  clock.advance_to_next();
  run();
  CHECK(clock.next() == clock.now() + 200ms);
  clock.advance_to_next();
  run();
  CHECK(clock.next() == clock.now() + 400ms);
  CHECK_FALSE(reflects->synced());
  clock.advance_to_next();
  run();
  CHECK(reflects->synced());
  CHECK(cache.size() == 1);
  CHECK(log.lines.size() == 3);
}

TEST_CASE_FIXTURE(reflector_fixture, "a watch that fails goes on where it was, without a new list") {
  reflects->start();
  run();
  fail_next(store_operation::watch, store_fault::kind::unavailable);
  store.create(make_server("a"));
  run();
  CHECK(reflects->statistics().errors == 1);
  store.create(make_server("b"));
  clock.advance_to_next();
  run();
  CHECK(cache.size() == 2);
  CHECK(reflects->statistics().lists == 1);
}

TEST_CASE_FIXTURE(reflector_fixture, "stopping ends every wait and leaves the cache as it is") {
  store.create(make_server("a"));
  std::optional<error_code> told;
  SUBCASE("before the first list") {
    reflects->async_wait_synced([&](error_code ec) { told = ec; });
    run();
    reflects->stop();
    run();
    REQUIRE(told);
    CHECK(*told == errc::cancelled);
    reflects->start();
    run();
    CHECK(cache.size() == 0);
  }
  SUBCASE("while watching") {
    reflects->start();
    run();
    reflects->stop();
    run();
    store.create(make_server("b"));
    run();
    CHECK(cache.size() == 1);
  }
  SUBCASE("during a pause") {
    fail_next(store_operation::list, store_fault::kind::unavailable);
    reflects->start();
    run();
    CHECK(clock.pending() == 1);
    reflects->stop();
    run();
    CHECK(clock.pending() == 0);
  }
}

TEST_CASE_FIXTURE(reflector_fixture, "a waiter may leave") {
  boost::asio::cancellation_signal stop;
  std::optional<error_code> told;
  reflects->async_wait_synced(boost::asio::bind_cancellation_slot(stop.slot(), [&](error_code ec) { told = ec; }));
  run();
  stop.emit(boost::asio::cancellation_type::terminal);
  run();
  REQUIRE(told);
  CHECK(*told == errc::cancelled);
}

namespace {

/// What an observer is told of the source.
struct listening final : server_observer {
  std::vector<std::string> said;
  void stored(game_server_ptr const& server) override { said.push_back("stored " + server->meta.name.str()); }
  void erased(object_key const& gone, std::string_view) override { said.push_back("erased " + gone.name.str()); }
  void replaced(std::span<game_server_ptr const>, std::string_view) override { said.emplace_back("replaced"); }
  void lost(error_code why) override { said.push_back("lost: " + why.message()); }
  void regained() override { said.emplace_back("regained"); }
};

struct hand_fed_fixture {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  scripted_source source;
  ready_cache cache;
  scripted_random random;
  listening heard;
  std::unique_ptr<reflector> reflects;

  hand_fed_fixture() {
    reflector_options options;
    options.observer = &heard;
    reflects = std::make_unique<reflector>(context.get_executor(), source, cache, clock, random, options);
    reflects->start();
    run();
    source.give_list({}, "10");
    run();
  }
  ~hand_fed_fixture() {
    reflects.reset();
    run();
  }
  void run() {
    context.restart();
    context.poll();
  }
  void answer(error_code ec, std::vector<server_event> events = {}, bool whole = true) {
    source.give_events(ec, "11", std::move(events), whole);
    run();
  }
  auto pause() -> std::chrono::nanoseconds {
    auto const out = *clock.next() - clock.now();
    clock.advance_to_next();
    run();
    return out;
  }
  static auto lost(errc why) -> std::string { return "lost: " + error_code{why}.message(); }
};

}  // namespace

TEST_CASE_FIXTURE(hand_fed_fixture, "an observer is told that the source is lost at the second failure, and by any answer that it is not") {
  using words = std::vector<std::string>;
  answer(errc::unavailable);
  CHECK(heard.said == words{"replaced"});
  pause();
  answer({});
  CHECK(heard.said == words{"replaced"});
  answer(errc::unavailable);  // at once: it did not work meanwhile
  pause();
  answer(errc::refused);
  CHECK(heard.said == words{"replaced", lost(errc::unavailable), lost(errc::refused)});
  pause();
  heard.said.clear();
  SUBCASE("by an answer without events") {
    answer({});
    answer({});
    CHECK(heard.said == words{"regained"});
  }
  SUBCASE("by events, which come before it") {
    answer({}, {{server_event::kind::added, share(make_server("a"))}});
    CHECK(heard.said == words{"stored a", "regained"});
  }
  SUBCASE("by a list") {
    answer(errc::too_old);
    source.give_list({}, "20");
    run();
    answer({});
    CHECK(heard.said == words{"replaced"});
  }
  SUBCASE("but not by a part of it") {
    answer({}, {{server_event::kind::added, share(make_server("a"))}}, false);
    CHECK(heard.said == words{"stored a"});
    answer({});
    CHECK(heard.said == words{"stored a", "regained"});
  }
}

TEST_CASE_FIXTURE(hand_fed_fixture, "a source that answers and fails at once is tried later and later; one that stood for a second is not") {
  answer(errc::unavailable);
  CHECK(pause() == 100ms);
  answer({});
  answer(errc::unavailable);
  CHECK(pause() == 200ms);
  answer({});
  answer(errc::unavailable);
  CHECK(pause() == 400ms);
  answer({});
  clock.advance(1s);
  answer(errc::unavailable);
  CHECK(pause() == 100ms);
}
