#include "../support/servers.hpp"

#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

struct store_fixture {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  std::shared_ptr<scripted_faults> faults{std::make_shared<scripted_faults>()};
  memory_store store{context.get_executor(), options()};

  store_fixture() { store.set_faults(faults); }

  auto options() -> memory_store_options {
    memory_store_options out;
    out.history = 8;
    out.watch_batch = 3;
    out.watches = 2;
    out.clock = &clock;
    return out;
  }
  void run() {
    context.restart();
    context.poll();
  }

  template <class T>
  struct answer {
    error_code ec;
    T value;
  };
  template <class T>
  using slot = std::shared_ptr<std::optional<answer<T>>>;

  auto update(game_server_ptr base, boost::asio::cancellation_signal* stop = nullptr) -> slot<store_result> {
    auto desired = *base;
    desired.status.state = game_server_state::allocated;
    auto got = std::make_shared<std::optional<answer<store_result>>>();
    auto keep = [got](error_code ec, store_result r) { got->emplace(answer<store_result>{ec, std::move(r)}); };
    update_request request{base, share(desired), std::nullopt};
    if (stop != nullptr) {
      store.async_update(request, boost::asio::bind_cancellation_slot(stop->slot(), keep));
    } else {
      store.async_update(request, keep);
    }
    CHECK_FALSE(got->has_value());
    return got;
  }
  auto read(object_key of) -> slot<store_result> {
    auto got = std::make_shared<std::optional<answer<store_result>>>();
    store.async_read(of, [got](error_code ec, store_result r) { got->emplace(answer<store_result>{ec, std::move(r)}); });
    return got;
  }
  auto watch(std::string from, boost::asio::cancellation_signal* stop = nullptr) -> slot<server_events> {
    auto got = std::make_shared<std::optional<answer<server_events>>>();
    auto keep = [got](error_code ec, server_events e) { got->emplace(answer<server_events>{ec, std::move(e)}); };
    if (stop != nullptr) {
      store.async_watch(std::move(from), boost::asio::bind_cancellation_slot(stop->slot(), keep));
    } else {
      store.async_watch(std::move(from), keep);
    }
    return got;
  }
};

auto names(server_events const& heard) -> std::string {
  std::string out;
  for (auto const& event : heard.events) {
    switch (event.what) {
      case server_event::kind::added: out += "+"; break;
      case server_event::kind::modified: out += "~"; break;
      case server_event::kind::deleted: out += "-"; break;
    }
    out += event.server->meta.name.str() + " ";
  }
  return out;
}

}  // namespace

TEST_CASE_FIXTURE(store_fixture, "a created server gets what the store owes it") {
  game_server plain;
  plain.meta.name = "a";
  auto const made = store.create(plain);
  REQUIRE(made);
  CHECK((*made)->meta.resource_version == "1");
  CHECK((*made)->meta.generation == 1);
  CHECK((*made)->meta.uid.size() == 36);
  CHECK((*made)->meta.creation_timestamp == timestamp{1'600'000'000s});
  CHECK(store.create(plain).error() == errc::conflict);
  CHECK(store.create({}).error() == errc::invalid_request);
  CHECK(store.size() == 1);
}

TEST_CASE_FIXTURE(store_fixture, "a write on the version the store holds is applied and acknowledged") {
  auto const base = *store.create(make_server("a"));
  auto const got = update(base);
  run();
  REQUIRE(got->has_value());
  CHECK_FALSE((*got)->ec);
  CHECK((*got)->value.server->meta.resource_version == "2");
  CHECK((*got)->value.server->status.state == game_server_state::allocated);
  CHECK((*got)->value.server->meta.generation == base->meta.generation + 1);
  CHECK(store.find(key("a")) == (*got)->value.server);
}

TEST_CASE_FIXTURE(store_fixture, "labels and annotations alone do not raise the generation") {
  auto const base = *store.create(make_server("a"));
  auto const next = store.modify(key("a"), [](game_server& s) { s.meta.labels.set("x", "y"); });
  REQUIRE(next);
  CHECK((*next)->meta.generation == base->meta.generation);
}

TEST_CASE_FIXTURE(store_fixture, "a write on another version is a conflict and changes nothing") {
  auto const base = *store.create(make_server("a"));
  auto const newer = *store.modify(key("a"), [](game_server& s) { s.meta.labels.set("x", "y"); });
  auto const got = update(base);
  run();
  CHECK((*got)->ec == errc::conflict);
  CHECK((*got)->value.server_code == 409);
  CHECK(store.find(key("a")) == newer);
}

TEST_CASE_FIXTURE(store_fixture, "a write or a read of a server that is gone says so") {
  auto const base = *store.create(make_server("a"));
  CHECK(store.remove(key("a"), "other-uid").error() == errc::conflict);
  REQUIRE(store.remove(key("a")));
  CHECK(store.remove(key("a")).error() == errc::not_found);
  auto const written = update(base);
  auto const seen = read(key("a"));
  run();
  CHECK((*written)->ec == errc::not_found);
  CHECK((*seen)->ec == condition::gone);
  CHECK((*seen)->value.server_code == 404);
}

TEST_CASE_FIXTURE(store_fixture, "identity is the store's: a write cannot change name, uid or creation") {
  auto const base = *store.create(make_server("a"));
  auto desired = *base;
  desired.meta.uid = "mine";
  desired.meta.creation_timestamp = timestamp{1s};
  auto const next = store.update(*base, desired);
  REQUIRE(next);
  CHECK((*next)->meta.uid == base->meta.uid);
  CHECK((*next)->meta.creation_timestamp == base->meta.creation_timestamp);
}

TEST_CASE_FIXTURE(store_fixture, "identity and generation come from what is stored, whatever the base claims") {
  auto const made = *store.create(make_server("a"));
  auto desired = *made;
  desired.status.state = game_server_state::allocated;
  auto forged = desired;
  forged.meta.uid = "another";
  forged.meta.creation_timestamp = timestamp{1s};
  forged.meta.generation = 90;
  auto const next = store.update(forged, desired);
  REQUIRE(next);
  CHECK((*next)->meta.uid == "a-uid");
  CHECK((*next)->meta.creation_timestamp == timestamp{1'600'000'000s});
  CHECK((*next)->meta.generation == 2);
}

TEST_CASE_FIXTURE(store_fixture, "a list is sorted and says where a watch goes on") {
  store.create(make_server("b"));
  store.create(make_server("a"));
  std::optional<server_list> got;
  store.async_list([&](error_code ec, server_list all) {
    CHECK_FALSE(ec);
    got = std::move(all);
  });
  CHECK_FALSE(got);
  run();
  REQUIRE(got);
  REQUIRE(got->servers.size() == 2);
  CHECK(got->servers[0]->meta.name == "a");
  CHECK(got->resource_version == "2");
}

TEST_CASE_FIXTURE(store_fixture, "a watch resumes from any version in the history, in batches") {
  for (auto const* name : {"a", "b", "c", "d"}) store.create(make_server(name));
  store.remove(key("b"));
  auto first = watch("1");
  run();
  REQUIRE(first->has_value());
  CHECK(names((*first)->value) == "+b +c +d ");
  CHECK((*first)->value.resource_version == "4");
  auto const second = watch((*first)->value.resource_version);
  run();
  CHECK(names((*second)->value) == "-b ");
}

TEST_CASE_FIXTURE(store_fixture, "a watch with nothing to hear waits for the next change") {
  store.create(make_server("a"));
  auto const got = watch("1");
  run();
  CHECK_FALSE(got->has_value());
  store.modify(key("a"), [](game_server& s) { s.status.state = game_server_state::shutdown; });
  run();
  REQUIRE(got->has_value());
  CHECK(names((*got)->value) == "~a ");
  CHECK((*got)->value.resource_version == "2");
}

TEST_CASE_FIXTURE(store_fixture, "a watch from a forgotten or foreign version is too old") {
  for (int i = 0; i < 20; ++i) store.create(make_server("gs-" + std::to_string(i)));
  auto const forgotten = watch("11");
  auto const kept = watch("12");
  run();
  CHECK((*forgotten)->ec == errc::too_old);
  CHECK_FALSE((*kept)->ec);
  auto const foreign = watch("100");
  auto const nonsense = watch("x");
  run();
  CHECK((*foreign)->ec == errc::too_old);
  CHECK((*nonsense)->ec == errc::too_old);
  auto const waiting = watch("20");
  run();
  CHECK_FALSE(waiting->has_value());
  store.compact();
  auto const after = watch("19");
  run();
  CHECK((*after)->ec == errc::too_old);
  CHECK_FALSE(waiting->has_value());
  store.create(make_server("z"));
  run();
  CHECK(names((*waiting)->value) == "+z ");
}

TEST_CASE_FIXTURE(store_fixture, "changes can be asked for, with what a server was before its labels changed") {
  store.create(make_server("a"));
  store.modify(key("a"), [](game_server& s) { s.status.state = game_server_state::shutdown; });
  store.modify(key("a"), [](game_server& s) { s.meta.labels = {{"mode", "duel"}}; });
  store.remove(key("a"));
  auto const all = store.changes_after("0", 100);
  REQUIRE(all.has_value());
  REQUIRE(all->changes.size() == 4);
  CHECK(all->resource_version == "4");
  CHECK(all->changes[0].event.what == server_event::kind::added);
  CHECK_FALSE(all->changes[0].relabelled);
  CHECK_FALSE(all->changes[1].relabelled);
  REQUIRE(all->changes[2].relabelled);
  CHECK(all->changes[2].relabelled->meta.resource_version == "2");
  CHECK(all->changes[3].event.what == server_event::kind::deleted);
  auto const some = store.changes_after("1", 2);
  REQUIRE(some.has_value());
  CHECK(some->changes.size() == 2);
  CHECK(some->resource_version == "3");
  auto const none = store.changes_after("4", 2);
  REQUIRE(none.has_value());
  CHECK(none->changes.empty());
  CHECK(none->resource_version == "4");
  store.compact();
  CHECK(store.changes_after("3", 1).error() == errc::too_old);
  CHECK(store.changes_after("5", 1).error() == errc::too_old);
  CHECK(store.changes_after("x", 1).error() == errc::too_old);
}

TEST_CASE_FIXTURE(store_fixture, "versions of another store's time are too old") {
  auto later = options();
  later.first_version = 1000;
  memory_store next{context.get_executor(), later};
  CHECK(next.changes_after("999", 1).error() == errc::too_old);
  CHECK(next.changes_after("1000", 1).has_value());
}

TEST_CASE_FIXTURE(store_fixture, "waiting watches are bounded, cancellable, and end with the store") {
  boost::asio::cancellation_signal stop;
  auto const first = watch("0", &stop);
  auto const second = watch("0");
  auto const third = watch("0");
  run();
  CHECK((*third)->ec == errc::too_many_requests);
  stop.emit(boost::asio::cancellation_type::terminal);
  run();
  CHECK((*first)->ec == errc::cancelled);
  CHECK_FALSE(second->has_value());
  {
    boost::asio::io_context other;
    std::optional<error_code> end;
    {
      memory_store gone{other.get_executor()};
      gone.async_watch("0", [&](error_code ec, server_events) { end = ec; });
    }
    other.poll();
    REQUIRE(end);
    CHECK(*end == errc::cancelled);
  }
  store.create(make_server("a"));
  run();
  CHECK(second->has_value());
}

TEST_CASE_FIXTURE(store_fixture, "each fault does what its name says") {
  using kind = store_fault::kind;
  auto const base = *store.create(make_server("a"));
  struct expectation {
    kind what;
    errc ec;
    bool applied;
  };
  for (auto const& [what, ec, applied] : std::vector<expectation>{{kind::unavailable, errc::unavailable, false},
                                                                   {kind::too_many_requests, errc::too_many_requests, false},
                                                                   {kind::conflict, errc::conflict, false},
                                                                   {kind::refused, errc::refused, false},
                                                                   {kind::lost_before, errc::outcome_unknown, false},
                                                                   {kind::lost_after, errc::outcome_unknown, true}}) {
    auto const fault_kind = static_cast<int>(what);  // Clang 14 captures no structured binding
    CAPTURE(fault_kind);
    store_fault fault;
    fault.what = what;
    fault.retry_after = 5s;
    fault.server_code = 422;
    fault.server_message = "told so";
    faults->add(store_operation::update, fault);
    auto const got = update(base);
    run();
    CHECK((*got)->ec == ec);
    CHECK((*got)->value.server == nullptr);
    CHECK((store.find(key("a")) != base) == applied);
    if (what == kind::refused) {
      CHECK((*got)->value.server_code == 422);
      CHECK((*got)->value.server_message == "told so");
    }
    if (what == kind::too_many_requests) CHECK((*got)->value.retry_after == 5s);
  }
  CHECK(faults->empty());
  store_fault down;
  down.what = kind::unavailable;
  faults->add(store_operation::list, down).add(store_operation::watch, down).add(store_operation::read, down);
  std::optional<error_code> listed;
  store.async_list([&](error_code ec, server_list) { listed = ec; });
  auto const watched = watch("0");
  auto const seen = read(key("a"));
  run();
  CHECK(*listed == errc::unavailable);
  CHECK((*watched)->ec == errc::unavailable);
  CHECK((*seen)->ec == errc::unavailable);
}

TEST_CASE_FIXTURE(store_fixture, "a lost event is never heard, though the write is made") {
  auto const base = *store.create(make_server("a"));
  store_fault fault;
  fault.lose_event = true;
  faults->add(store_operation::update, fault);
  auto const got = watch("1");
  update(base);
  run();
  CHECK_FALSE(got->has_value());
  CHECK(store.find(key("a"))->status.state == game_server_state::allocated);
  store.create(make_server("b"));
  run();
  CHECK(names((*got)->value) == "+b ");
}

TEST_CASE_FIXTURE(store_fixture, "latency holds up the request, then the answer") {
  auto const base = *store.create(make_server("a"));
  store_fault slow;
  slow.before = 10ms;
  slow.after = 5ms;
  faults->add(store_operation::update, slow);
  auto const got = update(base);
  run();
  CHECK(store.find(key("a")) == base);
  clock.advance(10ms);
  run();
  CHECK(store.find(key("a")) != base);
  CHECK_FALSE(got->has_value());
  clock.advance(5ms);
  run();
  REQUIRE(got->has_value());
  CHECK_FALSE((*got)->ec);
}

TEST_CASE_FIXTURE(store_fixture, "a write can be withdrawn before it is executed, not after") {
  auto const base = *store.create(make_server("a"));
  store_fault slow;
  slow.before = 10ms;
  slow.after = 5ms;
  faults->add(store_operation::update, slow).add(store_operation::update, slow);
  boost::asio::cancellation_signal stop;
  auto const early = update(base, &stop);
  run();
  stop.emit(boost::asio::cancellation_type::terminal);
  run();
  CHECK((*early)->ec == errc::cancelled);
  CHECK(store.find(key("a")) == base);
  auto const late = update(base, &stop);
  clock.advance(10ms);
  run();
  stop.emit(boost::asio::cancellation_type::terminal);
  run();
  CHECK_FALSE(late->has_value());
  clock.advance(5ms);
  run();
  CHECK_FALSE((*late)->ec);
}

TEST_CASE("seeded faults are the same for the same seed, and as frequent as asked") {
  fault_rates rates;
  rates.unavailable = 0.1;
  rates.conflict = 0.2;
  rates.lost_after = 0.1;
  rates.lose_event = 0.5;
  rates.latency = 10ms;
  seeded_faults a{7, rates};
  seeded_faults b{7, rates};
  int unavailable = 0;
  int conflict = 0;
  int lost = 0;
  for (int i = 0; i < 10000; ++i) {
    auto const x = a.next(store_operation::update, {});
    auto const y = b.next(store_operation::update, {});
    REQUIRE(x.what == y.what);
    REQUIRE(x.before == y.before);
    REQUIRE(x.before <= 10ms);
    unavailable += x.what == store_fault::kind::unavailable ? 1 : 0;
    conflict += x.what == store_fault::kind::conflict ? 1 : 0;
    lost += x.lose_event ? 1 : 0;
  }
  CHECK(unavailable > 800);
  CHECK(unavailable < 1200);
  CHECK(conflict > 1700);
  CHECK(conflict < 2300);
  CHECK(lost > 4700);
  CHECK(lost < 5300);
}

TEST_CASE("a handler that throws leaves the other answers to be delivered") {
  boost::asio::io_context context;
  memory_store store{context.get_executor()};
  int told = 0;
  store.async_read(key("a"), [](error_code, store_result) { throw std::runtime_error{"user"}; });
  store.async_read(key("b"), [&](error_code, store_result) { ++told; });
  store.async_list([&](error_code, server_list) { ++told; });
  CHECK_THROWS_AS(context.run(), std::runtime_error);
  context.run();
  CHECK(told == 2);
}

TEST_CASE("options out of range are refused") {
  boost::asio::io_context context;
  memory_store_options options;
  options.history = 0;
  CHECK_THROWS_WITH_AS(memory_store(context.get_executor(), options), "memory_store_options.history: must be at least 1",
                       std::invalid_argument);
}
