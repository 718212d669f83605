#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/embedded/embedded_cluster.hpp>
#include <agones_alloc/port/logger.hpp>

#include <doctest/doctest.h>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace agones_alloc;
using namespace std::chrono_literals;
using state = game_server_state;

namespace {

auto make_fleet(std::string name, std::int32_t replicas) -> fleet {
  fleet f;
  f.meta.name = std::move(name);
  f.meta.namespace_ = "default";
  f.meta.annotations = {{keys::start_up_annotation, "10s"}, {keys::session_length_annotation, "60s"}};
  f.replicas = replicas;
  f.server_template.ports = {{"game", "Dynamic", "UDP", 7654, 0}};
  return f;
}

object_key const arena{"default", "arena"};

struct world {
  boost::asio::io_context io;
  manual_timer clock{io.get_executor()};
  memory_store store{io.get_executor(), [this] {
                       memory_store_options o;
                       o.clock = &clock;
                       o.history = 64;
                       return o;
                     }()};
  std::optional<embedded_cluster> cluster{std::in_place, io.get_executor(), store, clock};
  std::optional<error_code> ended;

  void start() {
    cluster->async_run([this](error_code e) { ended = e; });
    settle();
  }
  void settle() {
    io.restart();
    while (io.poll() > 0) {
    }
  }
  void pass(std::chrono::nanoseconds span) {
    auto const end = clock.now() + span;
    while (true) {
      auto const next = clock.next();
      if (!next || *next > end) break;
      clock.advance(std::max(*next - clock.now(), timer::time_point::duration{0}));
      settle();
    }
    clock.advance(end - clock.now());
    settle();
  }
  auto count(state wanted) const -> int {
    int n = 0;
    for (auto const& server : store.list().servers) n += server->status.state == wanted ? 1 : 0;
    return n;
  }
  auto any(state wanted) const -> object_key {
    for (auto const& server : store.list().servers) {
      if (server->status.state == wanted) return key_of(server->meta);
    }
    throw std::logic_error{"none"};
  }
};

class kept_lines final : public logger {
 public:
  void log(severity how, std::string_view message, std::initializer_list<field> fields) override {
    auto line = std::string{how == severity::warning ? "warning: " : "other: "} + std::string{message};
    for (auto const& [name, value] : fields) line += " " + std::string{name} + "=" + std::string{value};
    lines.push_back(std::move(line));
  }
  std::vector<std::string> lines;
};

}  // namespace

TEST_CASE("the log is warned once of a fleet that lacks room") {
  kept_lines log;
  world w;
  embedded_cluster_options options;
  options.simulator.node_count = options.simulator.max_nodes = 1;
  options.simulator.node_capacity = 2;
  options.log = &log;
  w.cluster.emplace(w.io.get_executor(), w.store, w.clock, options);
  w.cluster->add_fleet(make_fleet("arena", 5));
  w.start();
  w.pass(60s);
  CHECK(w.count(state::ready) == 2);
  w.store.update(*w.store.find(w.any(state::ready)), [&] {
    auto changed = *w.store.find(w.any(state::ready));
    changed.status.state = state::shutdown;
    return changed;
  }());
  w.settle();
  w.pass(60s);
  CHECK(w.count(state::ready) == 2);
  CHECK(log.lines == std::vector<std::string>{"warning: no room for all game servers of a fleet fleet=default/arena replicas=5 "
                                              "present=2 reason=every node is full (capacity 2): 1 node, and there may be no more"});
}

TEST_CASE("fleets live in the store: they start, are used, end and are replaced") {
  world w;
  REQUIRE(w.cluster->add_fleet(make_fleet("arena", 3)).empty());
  w.settle();
  CHECK(w.store.size() == 0);
  w.start();
  CHECK(w.count(state::starting) == 3);
  w.pass(10s);
  CHECK(w.count(state::ready) == 3);
  auto const key = w.any(state::ready);
  REQUIRE(w.store.modify(key, [](game_server& s) { s.status.state = state::allocated; }));
  w.settle();
  CHECK(w.cluster->find_fleet(arena)->status.allocated_replicas == 1);
  CHECK(w.cluster->fleets().size() == 1);
  w.pass(60s);
  CHECK(!w.store.find(key));
  w.pass(10s);
  CHECK(w.count(state::ready) == 3);
  CHECK(w.cluster->scale(arena, 1).empty());
  w.settle();
  CHECK(w.store.size() == 1);
  CHECK(!w.cluster->is_full());
  CHECK(!w.ended);
}

TEST_CASE("fleets and servers can be added while the cluster runs") {
  world w;
  w.start();
  CHECK(w.cluster->add_fleet(make_fleet("arena", 2)).empty());
  CHECK(w.cluster->add_fleet(make_fleet("arena", 2)).size() == 1);
  game_server single;
  single.meta.name = "single";
  single.meta.namespace_ = "default";
  CHECK(w.cluster->add_server(single).empty());
  w.settle();
  CHECK(w.count(state::ready) == 1);
  CHECK(w.count(state::starting) == 2);
}

TEST_CASE("a fleet larger than a batch, and than the store's history, comes all the same") {
  world w;
  auto f = make_fleet("arena", 2000);
  f.meta.annotations.set(keys::start_up_annotation, "0");
  w.cluster->add_fleet(f);
  w.start();
  CHECK(w.count(state::ready) == 2000);
  REQUIRE(w.store.modify(w.any(state::ready), [](game_server& s) { s.status.state = state::unhealthy; }));
  w.settle();
  CHECK(w.count(state::ready) == 2000);
  CHECK(w.store.size() == 2000);
}

TEST_CASE("after a compaction the cluster lists and goes on") {
  world w;
  w.cluster->add_fleet(make_fleet("arena", 2));
  w.start();
  w.pass(10s);
  REQUIRE(w.store.modify(w.any(state::ready), [](game_server& s) { s.status.state = state::allocated; }));
  w.store.compact();
  w.settle();
  w.pass(60s);
  w.pass(10s);
  CHECK(w.count(state::ready) == 2);
}

TEST_CASE("a scale-down spares a server that was allocated a moment ago") {
  world w;
  w.cluster->add_fleet(make_fleet("arena", 2));
  w.start();
  w.pass(10s);
  auto const key = w.any(state::ready);
  REQUIRE(w.store.modify(key, [](game_server& s) { s.status.state = state::allocated; }));
  w.cluster->scale(arena, 0);
  w.settle();
  CHECK(w.store.size() == 1);
  CHECK(w.store.find(key)->status.state == state::allocated);
}

TEST_CASE("a run ends by stop, cancellation or destruction, and another may follow") {
  world w;
  w.cluster->add_fleet(make_fleet("arena", 2));
  w.start();
  std::optional<error_code> second;
  w.cluster->async_run([&second](error_code e) { second = e; });
  CHECK(!second);
  w.settle();
  CHECK(second == std::optional<error_code>{errc::invalid_request});
  w.cluster->stop();
  CHECK(!w.ended);
  w.settle();
  CHECK(w.ended == std::optional<error_code>{errc::cancelled});
  CHECK(w.clock.pending() == 0);
  w.pass(100s);
  CHECK(w.count(state::ready) == 0);

  w.ended.reset();
  w.start();
  w.pass(10s);
  CHECK(w.count(state::ready) == 2);
  w.cluster->stop();
  w.settle();

  boost::asio::cancellation_signal signal;
  second.reset();
  w.cluster->async_run(boost::asio::bind_cancellation_slot(signal.slot(), [&second](error_code e) { second = e; }));
  w.settle();
  signal.emit(boost::asio::cancellation_type::terminal);
  w.settle();
  CHECK(second == std::optional<error_code>{errc::cancelled});

  w.ended.reset();
  w.start();
  w.cluster.reset();
  w.settle();
  CHECK(w.ended == std::optional<error_code>{errc::cancelled});
  CHECK(w.clock.pending() == 0);
}

TEST_CASE("a cluster's options are checked") {
  boost::asio::io_context io;
  manual_timer clock{io.get_executor()};
  memory_store store{io.get_executor()};
  embedded_cluster_options o;
  o.batch = 0;
  CHECK_THROWS_AS(embedded_cluster(io.get_executor(), store, clock, o), std::invalid_argument);
  o.batch = 1;
  o.simulator.speed = 0;
  CHECK_THROWS_AS(embedded_cluster(io.get_executor(), store, clock, o), std::invalid_argument);
}
