// Ten thousand pending servers at once, on one thread, and a clock that stands still.
#include "../support/scripted_probe.hpp"

#include <agones_alloc/async/detail/host_slots.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t servers = 10'000;
constexpr std::size_t hosts = 100;

/// Counts what is under way of each host, and says the same to all.
class counting_probe final : public readiness_probe {
 public:
  explicit counting_probe(boost::asio::any_io_executor executor) : executor_{std::move(executor)} {}

  probe_answer says{probe_answer::pending};
  bool holds{false};  ///< answers only when told
  std::size_t begun{0};
  std::size_t running{0};
  std::size_t most{0};
  std::size_t most_of_host{0};
  std::map<std::pair<std::string, std::uint16_t>, std::size_t> by_server;

  void let_go() {
    auto all = std::exchange(held_, {});
    for (auto& [host, done] : all) end(host, std::move(done));
  }

 private:
  void do_probe(probe_target target, handler done) override {
    ++begun;
    ++by_server[{target.address, target.port}];
    most = std::max(most, ++running);
    most_of_host = std::max(most_of_host, ++by_host_[target.address]);
    if (holds) return held_.emplace_back(target.address, std::move(done)), void();
    boost::asio::post(executor_, [this, host = target.address, done = std::move(done)]() mutable { end(host, std::move(done)); });
  }
  void end(std::string const& host, handler done) {
    --running;
    --by_host_[host];
    std::move(done)(error_code{}, says);
  }
  boost::asio::any_io_executor executor_;
  std::map<std::string, std::size_t> by_host_;
  std::vector<std::pair<std::string, handler>> held_;
};

struct crowd : gate_fixture {
  counting_probe probe{context.get_executor()};
  std::size_t claimed{0};
  std::size_t handed_over{0};

  crowd() {
    gate_options options;
    options.max_probes = 1024;
    options.max_probes_per_host = 32;
    one.reset();
    run();
    one = std::make_unique<gated_replica>(context, store, clock, std::move(options), allocator_options{}, &probe);
    run();
    for (std::size_t i = 0; i != servers; ++i) {
      auto server = make_server("gs-" + std::to_string(i));
      server.status.address = "10.1.0." + std::to_string(i % hosts);
      server.status.ports[0].port = static_cast<std::int32_t>(7000 + i / hosts);
      REQUIRE(store.create(std::move(server)));
    }
    run();
  }
  ~crowd() { one.reset(); }

  void claim_all(std::string const& gate) {
    auto const request = fleet_request();
    auto const options = with_gate(gate, true);
    for (std::size_t i = 0; i != servers; ++i) {
      one->alloc->async_allocate(request, options, [this](error_code ec, allocation_result const& r) {
        if (!ec && has_pending(*r.server)) ++claimed;
      });
    }
    run();
  }
};

}  // namespace

TEST_CASE_FIXTURE(crowd, "ten thousand servers are checked once a period each, spread over it, and all handed over") {
  claim_all("http; period=1s; timeout=10m");
  REQUIRE(claimed == servers);
  CHECK(one->gate->pending() == servers);
  // The first check of each comes at once, in turn.
  CHECK(probe.begun == servers);
  CHECK(probe.by_server.size() == servers);
  // The second within a period of it, the others each a period later.
  pass(1s);
  std::size_t most_in_a_step = 0;
  constexpr int periods = 3;
  probe.by_server.clear();
  for (int step = 0; step != periods * 100; ++step) {
    auto const before = probe.begun;
    pass(10ms);
    most_in_a_step = std::max(most_in_a_step, probe.begun - before);
  }
  CHECK(probe.by_server.size() == servers);
  CHECK(std::all_of(probe.by_server.begin(), probe.by_server.end(), [](auto const& each) { return each.second == periods; }));
  CHECK(most_in_a_step <= servers / 50);  // an even spread would be a hundredth, in three quarters of the time
  CHECK(probe.most <= 1024);
  CHECK(probe.most_of_host <= 32);
  probe.says = probe_answer::ready;
  pass(1s);
  CHECK(one->gate->pending() == 0);
  std::size_t allocated = 0;
  for (auto const& server : store.list().servers) allocated += server->status.state == game_server_state::allocated ? 1 : 0;
  CHECK(allocated == servers);
}

TEST_CASE_FIXTURE(crowd, "hosts that do not answer keep their share of the connections and hold up only their own") {
  probe.holds = true;
  claim_all("http; period=1s; timeout=10m");
  REQUIRE(claimed == servers);
  CHECK(probe.running == 1024);
  CHECK(probe.most_of_host <= 32);
  // As many as there is room for, from host to host.
  for (int i = 0; i != 20 && probe.begun != servers; ++i) {
    probe.let_go();
    run();
    CHECK(probe.running <= 1024);
  }
  CHECK(probe.begun == servers);
  CHECK(probe.most == 1024);
  CHECK(probe.most_of_host <= 32);
}

TEST_CASE("slots are given to hosts in turn, and to those of one host as they came") {
  detail::host_slots<int> slots{3, 2};
  CHECK(slots.enter("a", 1));
  CHECK(slots.enter("a", 2));
  CHECK_FALSE(slots.enter("a", 3));
  CHECK_FALSE(slots.enter("a", 4));
  CHECK(slots.enter("b", 5));
  CHECK_FALSE(slots.enter("b", 6));
  CHECK_FALSE(slots.enter("c", 7));
  CHECK_FALSE(slots.next());
  auto const next = [&](std::string const& left) {
    slots.leave(left);
    auto const one = slots.next();
    return one ? one->host + std::to_string(one->entry) : std::string{};
  };
  CHECK(next("b") == "b6");
  CHECK(next("a") == "c7");
  CHECK(next("a") == "a3");
  CHECK(next("c") == "a4");
  CHECK(next("b").empty());
  CHECK(slots.waiting() == 0);
  CHECK(slots.running() == 2);
  CHECK(slots.enter("b", 8));
  CHECK_FALSE(slots.enter("b", 9));
  slots.clear();
  slots.leave("a");
  CHECK_FALSE(slots.next());
  slots.leave("a");
  slots.leave("b");
  slots.leave("b");
  CHECK(slots.running() == 0);
}
