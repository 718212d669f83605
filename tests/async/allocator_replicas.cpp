// Replicas that are asked with one id at the same moment: who allocates, and what becomes of it.
#include "../support/allocator_fixture.hpp"

#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/async/reflector.hpp>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

/// A process that allocates: its cache and its watch.
struct replica {
  replica(boost::asio::io_context& context, memory_store& store, timer& clock, allocator_options how)
      : watch{context.get_executor(), store, cache, clock, random},
        alloc{context.get_executor(), cache, store, clock, random, std::move(how)} {
    watch.start();
  }
  ready_cache cache;
  scripted_random random;
  reflector watch;
  allocator alloc;
};

struct replicas_fixture {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  std::shared_ptr<scripted_faults> faults{std::make_shared<scripted_faults>()};
  memory_store store{context.get_executor(), memory_store_options{.clock = &clock}};
  std::vector<std::unique_ptr<replica>> replicas;

  /// `shares`: each prefers servers of its own.
  explicit replicas_fixture(std::uint32_t count = 3, bool shares = false) {
    for (int i = 0; i != 20; ++i) REQUIRE(store.create(make_server("gs-" + std::to_string(i))));
    for (std::uint32_t i = 0; i != count; ++i) {
      allocator_options how;
      if (shares) how.choice.prefer = {i, count};
      replicas.push_back(std::make_unique<replica>(context, store, clock, std::move(how)));
    }
    run();
  }
  ~replicas_fixture() {
    replicas.clear();
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
  auto ask(std::size_t i, allocate_options options) -> std::shared_ptr<call> {
    auto c = std::make_shared<call>();
    replicas[i]->alloc.async_allocate(fleet_allocation(), std::nullopt, options, [c](error_code ec, allocation_result r) {
      ++c->completions;
      c->got.emplace(ec, std::move(r));
    });
    return c;
  }
  /// One call to each, before any of them has begun.
  auto ask_all(std::string_view id, std::optional<std::chrono::nanoseconds> ttl = {}) -> std::vector<std::shared_ptr<call>> {
    allocate_options options;
    options.request_id = id;
    options.claim_ttl = ttl;
    std::vector<std::shared_ptr<call>> out;
    for (std::size_t i = 0; i != replicas.size(); ++i) out.push_back(ask(i, options));
    run();
    return out;
  }
  auto allocated() const -> std::set<std::string> {
    std::set<std::string> out;
    for (auto const& one : store.list().servers) {
      if (one->status.state == game_server_state::allocated) out.insert(one->meta.name.str());
    }
    return out;
  }
};

}  // namespace

TEST_CASE("replicas with the same order meet at one server, and who loses finds the id there: one allocation") {
  replicas_fixture f;
  auto const calls = f.ask_all("match-1");
  CHECK(f.allocated().size() == 1);
  for (int i = 0; i != 10; ++i) f.pass(10ms);  // who lost looks again after its back-off
  CHECK(f.allocated().size() == 1);
  int first = 0;
  for (auto const& one : calls) {
    REQUIRE(one->done());
    CHECK(one->ended() == outcome::allocated);
    CHECK(f.allocated().contains(one->result().server->meta.name.str()));
    if (!one->result().repeated) ++first;
  }
  CHECK(first == 1);
}

TEST_CASE("different ids at the same moment get servers of their own") {
  replicas_fixture f;
  std::vector<std::shared_ptr<call>> calls;
  for (std::size_t i = 0; i != 3; ++i) {
    allocate_options options;
    options.request_id = "match-" + std::to_string(i);
    calls.push_back(f.ask(i, options));
  }
  f.run();
  for (int i = 0; i != 20; ++i) f.pass(10ms);
  for (auto const& one : calls) CHECK(one->ended() == outcome::allocated);
  CHECK(f.allocated().size() == 3);
}

TEST_CASE("replicas that prefer different servers each allocate; the claim that is confirmed stays, the other ends") {
  replicas_fixture f{2, true};
  auto const calls = f.ask_all("match-1", 5s);
  CHECK(f.allocated().size() == 2);
  for (auto const& one : calls) REQUIRE(one->ended() == outcome::allocated);
  // Whoever is asked, they agree on which claim it is.
  std::string confirmed;
  for (auto const& each : f.replicas) {
    each->alloc.async_confirm("default", "match-1", {}, [&confirmed](error_code ec, allocation_result r) {
      CHECK_FALSE(ec);
      CHECK((confirmed.empty() || confirmed == r.server->meta.name.str()));
      confirmed = r.server->meta.name.str();
    });
    f.run();
  }
  REQUIRE_FALSE(confirmed.empty());
  f.pass(5s);
  f.pass(1s);
  CHECK(f.allocated() == std::set<std::string>{confirmed});
  // From then on the id means that server, at each of them.
  for (auto const& one : f.ask_all("match-1", 5s)) {
    REQUIRE(one->done());
    CHECK(one->result().repeated);
    CHECK(one->result().server->meta.name.view() == confirmed);
  }
}
