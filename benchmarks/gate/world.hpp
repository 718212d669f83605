// An allocator over an instant store in memory, on one thread, with or without a readiness gate.
#pragma once

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/async/readiness_gate.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <time.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace bench {

using namespace agones_alloc;
using clock_type = std::chrono::steady_clock;

inline auto micros(clock_type::duration time) -> double { return std::chrono::duration<double, std::micro>{time}.count(); }

/// Of this thread's processor.
inline auto processor_seconds() -> double {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

inline auto any_server() -> request_ptr {
  game_server_allocation wanted;
  wanted.meta.namespace_ = "default";
  auto made = allocation_request::make(std::move(wanted));
  if (auto const* errors = std::get_if<field_errors>(&made)) throw std::logic_error{to_string(*errors)};
  return std::get<request_ptr>(std::move(made));
}

inline auto gate_of(std::string_view text) -> gate_settings {
  gate_settings out;
  field_errors errors;
  change_gate(out, text, "gate", errors);
  if (!errors.empty()) throw std::logic_error{to_string(errors)};
  return out;
}

inline auto ready_server(std::size_t number) -> game_server {
  game_server out;
  out.meta.name = "gs-" + std::to_string(number);
  out.meta.namespace_ = "default";
  out.meta.labels.set("agones.dev/fleet", "arena");
  out.status.state = game_server_state::ready;
  out.status.node_name = "node-" + std::to_string(number / 64);
  out.status.address = "127.0.0.1";
  out.status.ports.push_back({"default", 7000});
  return out;
}

struct gate_world {
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{context.get_executor()};
  memory_store memory{context.get_executor()};
  asio_timer timer{context.get_executor()};
  seeded_random random{1};
  ready_cache cache;
  std::unique_ptr<readiness_gate> gate;
  std::unique_ptr<allocator> alloc;
  request_ptr request{any_server()};

  /// `settings`: of its gate; nullopt: it has none.
  explicit gate_world(std::optional<std::string_view> settings, readiness_probe* probe = nullptr) {
    allocator_ports ports;
    if (settings) {
      gate_options options;
      options.otherwise = gate_of(*settings);
      gate_ports asks;
      asks.probe = probe;
      gate = std::make_unique<readiness_gate>(context.get_executor(), cache, memory, timer, random, std::move(options), asks);
      ports.observer = gate.get();
      ports.gate = gate.get();
    }
    allocator_options bounds;
    bounds.max_operations = 65'536;
    alloc = std::make_unique<allocator>(context.get_executor(), cache, memory, timer, random, std::move(bounds), ports);
  }
  ~gate_world() { end(); }
  /// What is under way ends while its ports are there.
  void end() {
    alloc.reset();
    gate.reset();
    context.restart();
    context.poll();
  }
  gate_world(gate_world const&) = delete;
  auto operator=(gate_world const&) -> gate_world& = delete;

  void add(game_server server) {
    auto made = memory.create(std::move(server));
    if (!made) throw std::runtime_error{"a server is there twice"};
    cache.store(*made);
  }
  /// As a watch tells it.
  template <class Change>
  void change(object_key const& key, Change by) {
    auto const now = memory.modify(key, by);
    if (!now) throw std::runtime_error{"a server is gone"};
    cache.store(*now);
    if (gate) gate->stored(*now);
  }
  /// One turn after the other until then.
  template <class Condition>
  void run_until(Condition done) {
    while (!done()) {
      if (context.run_one_for(std::chrono::seconds{60}) == 0) throw std::runtime_error{"nothing happens any more"};
    }
  }
};

}  // namespace bench
