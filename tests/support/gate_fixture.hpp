// Replicas with a readiness gate over one store, and a clock that stands still.
#pragma once

#include "allocator_fixture.hpp"

#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/async/readiness_gate.hpp>
#include <agones_alloc/async/reflector.hpp>
#include <agones_alloc/flow/pending.hpp>

namespace test_support {

inline auto gate_of(std::string_view text) -> gate_settings {
  gate_settings out;
  field_errors errors;
  change_gate(out, text, "gate", errors);
  if (!errors.empty()) throw std::logic_error{to_string(errors)};
  return out;
}

/// A process that allocates: its cache, gate and watch.
struct gated_replica {
  ready_cache cache;
  seeded_random random;
  event_list events;
  sample_list samples;
  std::unique_ptr<readiness_gate> gate;
  std::unique_ptr<reflector> watch;
  std::unique_ptr<allocator> alloc;
  boost::asio::io_context& loop;

  gated_replica(boost::asio::io_context& context, memory_store& store, timer& clock, gate_options options,
                allocator_options how = {}, readiness_probe* probe = nullptr)
      : random{options.owner.size() + 1}, loop{context} {
    auto const executor = context.get_executor();
    gate = std::make_unique<readiness_gate>(executor, cache, store, clock, random, std::move(options),
                                            gate_ports{&events, &samples, nullptr, nullptr, nullptr, probe});
    reflector_options seen;
    seen.observer = gate.get();
    watch = std::make_unique<reflector>(executor, store, cache, clock, random, std::move(seen));
    watch->start();
    alloc = std::make_unique<allocator>(executor, cache, store, clock, random, std::move(how),
                                        allocator_ports{&events, &samples, nullptr, gate.get(), gate.get()});
  }
  /// What was under way ends while its ports are there.
  ~gated_replica() {
    alloc.reset();
    watch.reset();
    gate.reset();
    loop.restart();
    loop.poll();
  }
};

struct gate_fixture {
  boost::asio::io_context context;
  manual_timer clock{context.get_executor()};
  memory_store store{context.get_executor(), memory_store_options{.clock = &clock}};
  std::unique_ptr<gated_replica> one;

  explicit gate_fixture(std::string_view gate = "watch") { start(gate); }
  ~gate_fixture() {
    one.reset();
    run();
    CHECK(clock.pending() == 0);
  }

  void start(std::string_view gate, std::string owner = "replica-1", readiness_probe* probe = nullptr) {
    gate_options options;
    options.otherwise = gate_of(gate);
    options.owner = std::move(owner);
    one.reset();
    run();
    one = std::make_unique<gated_replica>(context, store, clock, std::move(options), allocator_options{}, probe);
    run();
  }

  void run() {
    context.restart();
    context.poll();
  }
  void pass(std::chrono::nanoseconds time) {
    clock.advance(time);
    run();
  }
  void add(std::string_view name, std::string_view fleet = "fleet") {
    REQUIRE(store.create(make_server(name, fleet)));
    run();
  }
  /// What a game, or a controller, writes.
  template <class Change>
  void change(std::string_view name, Change change) {
    REQUIRE(store.modify(key(name), change));
    run();
  }
  void says(std::string_view name, std::string_view what) {
    change(name, [&](game_server& server) { server.meta.annotations.set(keys::sdk_session_ready, what); });
  }
  void becomes(std::string_view name, game_server_state state) {
    change(name, [&](game_server& server) { server.status.state = state; });
  }
  auto stored(std::string_view name) -> game_server { return *store.find(key(name)); }
  auto state(std::string_view name) -> std::string { return std::string{to_string(stored(name).status.state)}; }
  auto version(std::string_view name) -> int { return std::stoi(stored(name).meta.resource_version.str()); }

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
  auto allocate(allocate_options options = {}, request_ptr request = fleet_request()) -> std::shared_ptr<call> {
    return begun([&](auto done) { one->alloc->async_allocate(std::move(request), options, std::move(done)); });
  }
};

inline auto with_gate(std::string text, bool async = false) -> allocate_options {
  allocate_options out;
  out.gate = std::make_shared<gate_request const>(gate_request{std::move(text), async, {}});
  return out;
}

inline auto name_of(std::shared_ptr<call> const& c) -> std::string { return c->result().server->meta.name.str(); }

}  // namespace test_support
