#include "../support/reports.hpp"
#include "../support/servers.hpp"

#include <agones_alloc/async/event_publisher.hpp>
#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/async/reflector.hpp>
#include <agones_alloc/cache/ready_cache.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

/// Keeps what it is sent until the test says what becomes of it.
class held_sink final : public event_sink {
 public:
  explicit held_sink(boost::asio::io_context& io) : io_{io} {}

  struct held {
    event_batch_ptr batch;
    time_point deadline;
    handler done;
  };
  auto size() const -> std::size_t { return held_.size(); }
  auto front() const -> event_batch const& { return *held_.front().batch; }
  auto deadline() const -> time_point { return held_.front().deadline; }
  void end(delivery_report report) {
    auto h = std::move(held_.front().done);
    held_.pop_front();
    std::move(h)(std::move(report));
  }
  int cancelled{0};

 private:
  void do_send(event_batch_ptr batch, time_point deadline, handler done) override {
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    held_.push_back({std::move(batch), deadline, std::move(done)});
    auto const at = std::prev(held_.end());
    slot.assign([this, at](boost::asio::cancellation_type) {
      ++cancelled;
      boost::asio::post(io_, [h = std::move(at->done)]() mutable { std::move(h)(delivery_report{}); });
      held_.erase(at);
    });
  }

  boost::asio::io_context& io_;
  std::list<held> held_;
};

auto words(event_batch const& batch) -> std::vector<std::string> {
  std::vector<std::string> out;
  for (auto const& e : batch.events) {
    out.push_back(std::string{to_string(e.what)} + " " + e.meta().name.str() + "@" + e.revision.str());
  }
  return out;
}
using lines = std::vector<std::string>;

struct publishing {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  scripted_random random;
  log_list log;
  std::unique_ptr<event_publisher> publisher{
      std::make_unique<event_publisher>(context.get_executor(), clock, random, &log)};

  ~publishing() {
    publisher.reset();
    run();
    CHECK(clock.pending() == 0);
  }
  void run() {
    context.restart();
    context.poll();
  }
  auto add(event_channel_options options = {}) -> std::shared_ptr<held_sink> {
    auto sink = std::make_shared<held_sink>(context);
    options.delivery.retry.jitter = 0;
    publisher->add(sink, std::move(options));
    return sink;
  }
  void store(std::string_view name, std::string_view version, game_server_state state = game_server_state::ready) {
    auto server = make_server(name, "fleet", state);
    server.meta.resource_version = version;
    publisher->stored(share(std::move(server)));
  }
};

auto named(std::string name, std::string_view types = "*") -> event_channel_options {
  event_channel_options out;
  out.name = std::move(name);
  out.filter.kinds_and_changes = std::get<std::uint32_t>(parse_event_types(types));
  return out;
}

}  // namespace

TEST_CASE_FIXTURE(publishing, "each sink gets the events that it wants, in order, with a deadline") {
  auto const all = add(named("all"));
  auto const sessions = add(named("sessions", "gameserver.allocated,gameserver.released"));
  store("a", "1");
  CHECK(all->size() == 0);  // nothing is sent by whoever feeds
  run();
  REQUIRE(all->size() == 1);
  CHECK(words(all->front()) == lines{"added a@1"});
  CHECK(all->deadline() == clock.now() + 10s);
  CHECK(sessions->size() == 0);
  store("a", "2", game_server_state::allocated);
  run();
  CHECK(all->size() == 1);  // one at a time
  REQUIRE(sessions->size() == 1);
  CHECK(words(sessions->front()) == lines{"allocated a@2"});
  all->end({delivery_outcome::taken, 0, {}, {}});
  run();
  CHECK(words(all->front()) == lines{"allocated a@2"});
  auto const counts = publisher->counts();
  CHECK(counts[0].name == "all");
  CHECK(counts[0].of.sent == 1);
  CHECK(counts[0].of.in_flight == 1);
  CHECK(counts[1].of.offered == 1);
}

TEST_CASE_FIXTURE(publishing, "a sink that stalls costs the others nothing") {
  auto const stalled = add(named("stalled"));
  auto const quick = add(named("quick"));
  for (int i = 1; i != 50; ++i) {
    store("a", std::to_string(i));
    run();
    REQUIRE(quick->size() == 1);
    quick->end({delivery_outcome::taken, 0, {}, {}});
    run();
  }
  CHECK(stalled->size() == 1);
  CHECK(publisher->counts()[0].of.waiting == 48);
  CHECK(publisher->counts()[1].of.sent == 49);
}

TEST_CASE_FIXTURE(publishing, "what did not arrive is sent again after the back-off, and the log says so once") {
  auto const sink = add(named("hook"));
  store("a", "1");
  run();
  sink->end({delivery_outcome::again, 0, {}, "HTTP status 503"});
  run();
  CHECK(sink->size() == 0);
  clock.advance(199ms);
  run();
  CHECK(sink->size() == 0);
  clock.advance(1ms);
  run();
  REQUIRE(sink->size() == 1);
  CHECK(words(sink->front()) == lines{"added a@1"});
  sink->end({delivery_outcome::again, 0, 7s, "HTTP status 503"});
  run();
  clock.advance(7s);
  run();
  sink->end({delivery_outcome::taken, 0, {}, {}});
  run();
  CHECK(publisher->counts()[0].of.retries == 2);
  REQUIRE(log.lines.size() == 2);
  CHECK(log.lines[0].find("HTTP status 503") != std::string::npos);
}

TEST_CASE_FIXTURE(publishing, "a batch lingers by the timer") {
  auto options = named("batches");
  options.delivery.batch = 10;
  options.delivery.linger = 100ms;
  auto const sink = add(std::move(options));
  store("a", "1");
  run();
  CHECK(sink->size() == 0);
  clock.advance(60ms);
  store("b", "2");
  run();
  clock.advance(40ms);
  run();
  REQUIRE(sink->size() == 1);
  CHECK(words(sink->front()) == lines{"added a@1", "added b@2"});
}

TEST_CASE_FIXTURE(publishing, "draining sends what waits and completes with nothing left") {
  auto options = named("batches");
  options.delivery.batch = 10;
  options.delivery.linger = 1h;
  auto const sink = add(std::move(options));
  store("a", "1");
  run();
  std::optional<std::size_t> left;
  publisher->async_drain(clock.now() + 5s, [&](std::size_t n) { left = n; });
  CHECK_FALSE(left);
  run();
  REQUIRE(sink->size() == 1);
  store("b", "2");  // too late to be taken in
  sink->end({delivery_outcome::taken, 0, {}, {}});
  run();
  CHECK(left == 0);
  CHECK(publisher->counts()[0].of.offered == 1);
}

TEST_CASE_FIXTURE(publishing, "draining nothing completes at once, though not inline") {
  add(named("idle"));
  std::optional<std::size_t> left;
  publisher->async_drain(clock.now() + 5s, [&](std::size_t n) { left = n; });
  CHECK_FALSE(left);
  run();
  CHECK(left == 0);
}

TEST_CASE_FIXTURE(publishing, "draining ends at the deadline, with the number of events that did not arrive") {
  auto const sink = add(named("stalled"));
  store("a", "1");
  store("b", "2");
  std::optional<std::size_t> left;
  publisher->async_drain(clock.now() + 5s, [&](std::size_t n) { left = n; });
  run();
  CHECK(sink->size() == 1);
  CHECK_FALSE(left);
  clock.advance(5s);
  run();
  CHECK(left == 2);
  CHECK(sink->cancelled == 1);
}

TEST_CASE_FIXTURE(publishing, "its end cancels what is out and completes a drain") {
  auto const sink = add(named("stalled"));
  store("a", "1");
  std::optional<std::size_t> left;
  publisher->async_drain(clock.now() + 5s, [&](std::size_t n) { left = n; });
  run();
  publisher.reset();
  run();
  CHECK(sink->cancelled == 1);
  CHECK(left);
}

TEST_CASE_FIXTURE(publishing, "a reflector feeds it: what is listed, what is watched, and what a later list lacks") {
  memory_store store{context.get_executor()};
  ready_cache cache;
  auto options = named("all");
  options.delivery.batch = 100;
  auto const sink = add(std::move(options));
  reflector_options how;
  how.on_event = [this](server_event const& event) { publisher->heard(event); };
  how.on_list = [this](std::vector<game_server_ptr> const& all) { publisher->replaced(all); };
  reflector reflects{context.get_executor(), store, cache, clock, random, how};
  store.create(make_server("a"));
  store.create(make_server("b", "fleet", game_server_state::allocated));
  reflects.start();
  run();
  REQUIRE(sink->size() == 1);
  CHECK(sink->front().events.size() == 2);
  CHECK(sink->front().events[0].what == object_change::added);
  sink->end({delivery_outcome::taken, 0, {}, {}});
  auto const b = store.find(key("b"));
  auto shut = *b;
  shut.status.state = game_server_state::shutdown;
  store.update(*b, shut);
  store.remove(key("a"), "");
  run();
  REQUIRE(sink->size() == 1);
  REQUIRE(sink->front().events.size() == 2);
  CHECK(sink->front().events[0].what == object_change::released);
  CHECK(sink->front().events[1].what == object_change::deleted);
  sink->end({delivery_outcome::taken, 0, {}, {}});
  reflects.stop();
  run();
}

TEST_CASE_FIXTURE(publishing, "fleets are told to whom wants them") {
  CHECK_FALSE(publisher->wants_fleets());
  add(named("servers", "gameserver"));
  CHECK_FALSE(publisher->wants_fleets());
  auto const sink = add(named("fleets", "fleet"));
  CHECK(publisher->wants_fleets());
  fleet one;
  one.meta.name = "arena";
  one.meta.namespace_ = "default";
  one.meta.resource_version = "3";
  publisher->fleets(std::vector<fleet>{one});
  run();
  REQUIRE(sink->size() == 1);
  CHECK(words(sink->front()) == lines{"added arena@3"});
}

TEST_CASE_FIXTURE(publishing, "a later run tells what is different from what was told, and what had not arrived") {
  auto const sink = add(named("first"));
  store("same", "1");
  store("gone", "2");
  store("changed", "3");
  store("untold", "4");
  store("dying", "5", game_server_state::ready);
  for (int i = 0; i != 5; ++i) {
    run();
    sink->end({delivery_outcome::taken, 0, {}, {}});
  }
  run();
  store("untold", "6", game_server_state::allocated);
  store("untold", "7", game_server_state::allocated);
  store("new", "8");
  publisher->erased(key("dying"), "dying-uid");
  run();
  auto const told = publisher->told();
  CHECK(told.size() == 5);  // "new" is not among them, "dying" still is

  publisher = std::make_unique<event_publisher>(context.get_executor(), clock, random, &log);
  auto options = named("second");
  options.delivery.batch = 100;
  auto const next = add(std::move(options));
  publisher->recall(told);
  auto const at = [](std::string_view name, std::string_view version, game_server_state state) {
    auto server = make_server(name, "fleet", state);
    server.meta.resource_version = version;
    return share(std::move(server));
  };
  using state = game_server_state;
  publisher->replaced(std::vector<game_server_ptr>{at("same", "1", state::ready), at("changed", "9", state::allocated),
                                                   at("untold", "7", state::allocated), at("new", "8", state::ready)});
  run();
  REQUIRE(next->size() == 1);
  auto all = words(next->front());
  std::sort(all.begin(), all.end());
  CHECK(all == lines{"added new@8", "allocated changed@9", "allocated untold@7", "deleted dying@", "deleted gone@2"});
}

TEST_CASE_FIXTURE(publishing, "bad options are refused by name") {
  CHECK_THROWS_WITH_AS(publisher->add(nullptr, named("x")), doctest::Contains("sink"), std::invalid_argument);
  add(named("x"));
  CHECK_THROWS_WITH_AS(add(named("x")), doctest::Contains("used twice"), std::invalid_argument);
  auto options = named("y");
  options.delivery.batch = 0;
  CHECK_THROWS_WITH_AS(add(options), doctest::Contains("delivery.batch"), std::invalid_argument);
  options = named("y");
  options.delivery.queue.events = 0;
  CHECK_THROWS_WITH_AS(add(options), doctest::Contains("queue.events"), std::invalid_argument);
}
