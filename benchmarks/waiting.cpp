// Measures calls that wait for a server: build/benchmarks/waiting --json [--waiters W] [--rounds N]
//
// One line of JSON, over an instant store in memory and one thread.
//   freed_p50_us, freed_p99_us   from a server's becoming Ready in the cache to its waiter's handler, with W that wait
//   lone_p50_us                  the same with one that waits
//   bytes_per_waiter             memory of W calls that wait, their handlers included
//   freed_per_second             servers handed to waiters, one after the other, with W that wait
#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/cache/ready_cache.hpp>

#include <boost/asio/io_context.hpp>

#include <CLI/CLI.hpp>

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace agones_alloc;
using clock_type = std::chrono::steady_clock;
using microseconds = std::chrono::duration<double, std::micro>;

auto heap_in_use() -> double {
  auto const info = ::mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

auto any_server() -> request_ptr {
  game_server_allocation wanted;
  wanted.meta.namespace_ = "default";
  auto made = allocation_request::make(std::move(wanted));
  if (auto const* errors = std::get_if<field_errors>(&made)) throw std::logic_error{to_string(*errors)};
  return std::get<request_ptr>(std::move(made));
}

auto options_for(std::size_t waiters) -> allocator_options {
  allocator_options out;
  out.max_operations = out.max_waiting = out.max_waiting_alike = waiters + 1;
  return out;
}

/// One server that is freed again and again, and calls that wait for it.
struct world {
  boost::asio::io_context context{1};
  memory_store memory{context.get_executor()};
  asio_timer timer{context.get_executor()};
  seeded_random random{1};
  ready_cache cache;
  allocator alloc;
  request_ptr request{any_server()};
  object_key key{"default", "lobby"};
  std::uint64_t served{0};

  explicit world(std::size_t waiters) : alloc{context.get_executor(), cache, memory, timer, random, options_for(waiters)} {
    game_server server;
    server.meta.name = key.name;
    server.meta.namespace_ = key.namespace_;
    server.status.state = game_server_state::allocated;
    memory.create(std::move(server));
    for (auto& one : memory.list().servers) cache.store(std::move(one));
  }
  void wait() {
    allocate_options options;
    options.wait_for = options.timeout.emplace(std::chrono::hours{1});
    alloc.async_allocate(request, options, [this](error_code ec, allocation_result const&) {
      if (ec != errc::cancelled) ++served;
    });
  }
  /// What becomes free is handed out; how long it took.
  auto free_one() -> double {
    auto const freed = memory.modify(key, [](game_server& s) { s.status.state = game_server_state::ready; });
    if (!freed) throw std::runtime_error{"the server is gone"};
    context.restart();
    auto const before = served;
    auto const begin = clock_type::now();
    cache.store(*freed);
    while (served == before) {
      if (context.poll_one() == 0) throw std::runtime_error{"nobody got the server"};
    }
    auto const took = microseconds{clock_type::now() - begin}.count();
    wait();  // so that as many wait as before
    context.poll();
    return took;
  }
};

struct figures {
  double p50{0}, p99{0}, bytes{0}, per_second{0};
};

auto measure(std::size_t waiters, std::size_t rounds) -> figures {
  figures out;
  world w{waiters};
  auto const before = heap_in_use();
  for (std::size_t i = 0; i < waiters; ++i) w.wait();
  w.context.poll();
  out.bytes = (heap_in_use() - before) / static_cast<double>(waiters);
  std::vector<double> times;
  times.reserve(rounds);
  double sum = 0;
  for (std::size_t i = 0; i < rounds; ++i) sum += times.emplace_back(w.free_one());
  std::sort(times.begin(), times.end());
  out.p50 = times[times.size() / 2];
  out.p99 = times[times.size() * 99 / 100];
  out.per_second = 1e6 * static_cast<double>(rounds) / sum;
  return out;
}

}  // namespace

auto main(int argc, char** argv) -> int {
  std::size_t waiters = 100'000;
  std::size_t rounds = 20'000;
  bool json = false;
  CLI::App app{"Measures how soon a server that becomes free is handed to whoever waits, and what waiting costs."};
  app.add_flag("--json", json, "One JSON object");
  app.add_option("--waiters", waiters, "Calls that wait")->check(CLI::Range(1, 5'000'000))->capture_default_str();
  app.add_option("--rounds", rounds, "Servers freed")->check(CLI::Range(1, 10'000'000))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  ::mallopt(M_MXFAST, 0);  // see "Memory" in the guide: pauses
  try {
    auto const lone = measure(1, rounds);
    auto const many = measure(waiters, rounds);
    auto const* const format =
        json ? "{\"waiters\":%zu,\"freed_p50_us\":%.2f,\"freed_p99_us\":%.2f,\"lone_p50_us\":%.2f,\"bytes_per_waiter\":%.0f,"
               "\"freed_per_second\":%.0f}\n"
             : "%zu waiters: a freed server is handed out after %.2f us (p99 %.2f us; %.2f us to a lone one), %.0f bytes each, %.0f a second\n";
    std::printf(format, waiters, many.p50, many.p99, lone.p50, many.bytes, many.per_second);
    return 0;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "waiting: %s\n", e.what());
    return 1;
  }
}
