// An allocator over a store whose answers the test gives, and a clock that stands still.
#pragma once

#include "fake_store.hpp"
#include "reports.hpp"
#include "servers.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/cache/ready_cache.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace test_support {

/// One call: where its result arrives, and how it is cancelled.
struct call {
  std::optional<std::pair<error_code, allocation_result>> got;
  int completions{0};
  boost::asio::cancellation_signal stop;

  auto done() const -> bool { return got.has_value(); }
  auto code() const -> error_code { return got.value().first; }
  auto result() const -> allocation_result const& { return got.value().second; }
  auto ended() const -> outcome { return result().result; }
  void cancel() { stop.emit(boost::asio::cancellation_type::terminal); }
};

struct allocator_fixture {
  boost::asio::io_context context;
  ready_cache cache;
  fake_store store;
  manual_timer clock{context.get_executor()};
  scripted_random random;
  event_list events;
  sample_list samples;
  log_list log;
  std::unique_ptr<allocator> alloc;

  explicit allocator_fixture(allocator_options options = {}) { make(std::move(options)); }
  /// A fixture fails when work is left, or a claim.
  ~allocator_fixture() {
    alloc.reset();
    run();
    CHECK(store.pending() == 0);
    CHECK(cache.in_flight() == 0);
    CHECK(clock.pending() == 0);
  }

  void make(allocator_options options) {
    alloc = std::make_unique<allocator>(context.get_executor(), cache, store, clock, random, std::move(options),
                                        allocator_ports{&events, &samples, &log});
  }

  void run() {
    context.restart();
    context.poll();
  }
  void pass(std::chrono::nanoseconds time) {
    clock.advance(time);
    run();
  }

  void add(std::string_view name, std::string_view fleet = "fleet") { cache.store(share(make_server(name, fleet))); }

  auto begin(request_ptr request, allocate_options options = {}) -> std::shared_ptr<call> {
    auto c = std::make_shared<call>();
    auto done = [c](error_code ec, allocation_result r) {
      ++c->completions;
      c->got.emplace(ec, std::move(r));
    };
    alloc->async_allocate(std::move(request), options, boost::asio::bind_cancellation_slot(c->stop.slot(), std::move(done)));
    CHECK_FALSE(c->done());  // never inline
    return c;
  }
  auto allocate(request_ptr request, allocate_options options = {}) -> std::shared_ptr<call> {
    auto c = begin(std::move(request), options);
    run();
    return c;
  }
};

}  // namespace test_support
