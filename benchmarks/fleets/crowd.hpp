// Many consumers that are told of random changes at once: how late, and for how much memory?
#pragma once

#include "../running_loop.hpp"
#include "servers.hpp"
#include "settings.hpp"

#include <agones_alloc/async/fleet_directory.hpp>

#include <boost/asio/io_context.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

inline auto resident_bytes() -> double {
  std::ifstream in{"/proc/self/statm"};
  double size = 0;
  double resident = 0;
  in >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

struct stream_figures {
  double p50_ms{0};
  double p99_ms{0};
  double bytes_per_consumer{0};
  double megabytes_per_second{0};
  std::size_t ended{0};
  std::size_t samples{0};
};

/// A connection each, so many are possible.
inline void allow_descriptors() {
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = descriptors.rlim_max;
  setrlimit(RLIMIT_NOFILE, &descriptors);
}

/// `loop_of_server` is that of whoever listens there, and does not run yet. Exits where a consumer is cut off before it knows everything.
template <class Client>
auto measure_streams(fleet_settings const& how, boost::asio::io_context& loop_of_server, agones_alloc::fleet_directory& directory,
                     std::uint16_t port) -> stream_figures {
  namespace asio = boost::asio;
  using clock_type = std::chrono::steady_clock;
  auto loop = std::make_unique<running_loop>(loop_of_server);
  auto const seconds_since = [](clock_type::time_point begin) {
    return std::chrono::duration<double>{clock_type::now() - begin}.count();
  };
  auto const began = clock_type::now();
  auto const now_us = [began] { return std::chrono::duration_cast<std::chrono::microseconds>(clock_type::now() - began).count(); };

  // What was changed when, by fleet; whoever is told a stamp has been told all up to it.
  std::vector<std::deque<std::int64_t>> changes(how.fleets);
  std::mutex changes_mutex;
  std::vector<double> waits;
  asio::io_context io{1};
  static typename Client::buffer shared;
  std::vector<std::shared_ptr<Client>> clients;
  std::vector<std::int64_t> told(how.fleets, 0);
  auto const before = resident_bytes();
  for (std::size_t i = 0; i != how.consumers; ++i) {
    typename Client::observer observe;
    if (i == how.consumers / 2) {  // one in the middle of the crowd looks at each change
      observe = [&](std::size_t fleet, std::int64_t stamp) {
        if (stamp <= told[fleet]) return;
        auto const at = now_us();
        std::lock_guard const lock{changes_mutex};
        for (auto& list = changes[fleet]; !list.empty() && list.front() <= stamp; list.pop_front()) {
          waits.push_back(static_cast<double>(at - list.front()) / 1000);
        }
        told[fleet] = stamp;
      };
    }
    clients.push_back(std::make_shared<Client>(io, shared, observe));
    clients.back()->start(port);
    io.poll();
  }
  std::vector<std::shared_ptr<Client>> stalled;
  for (std::size_t i = 0; i != how.slow; ++i) {
    stalled.push_back(std::make_shared<Client>(io, shared, nullptr));
    stalled.back()->stall(port);
  }
  while (std::any_of(clients.begin(), clients.end(), [](auto const& c) { return !c->synced(); })) {
    if (std::any_of(clients.begin(), clients.end(), [](auto const& c) { return c->ended(); })) {
      std::fputs("a consumer was cut off before it knew everything\n", stderr);
      std::exit(1);
    }
    io.run_one();
  }
  std::uint64_t bytes_before = 0;
  for (auto const& c : clients) bytes_before += c->bytes();

  std::atomic<bool> stop{false};
  std::thread producer{[&] {
    quick_random random;
    std::vector<std::size_t> versions(how.fleets, 1);
    auto const start = clock_type::now();
    for (std::size_t n = 0; !stop && n != how.rate * how.seconds; ++n) {
      std::this_thread::sleep_until(start + std::chrono::nanoseconds{n * 1'000'000'000 / how.rate});
      auto const fleet = random.below(how.fleets);
      auto server = make_server(fleet, how.fleets);
      server.meta.resource_version = std::to_string(++versions[fleet]);
      auto const stamp = now_us();
      server.status.counters["t"].count = stamp;
      {
        std::lock_guard const lock{changes_mutex};
        changes[fleet].push_back(stamp);
      }
      directory.stored(std::make_shared<agones_alloc::game_server const>(std::move(server)));
    }
  }};
  auto const start = clock_type::now();
  double peak = 0;
  while (seconds_since(start) < static_cast<double>(how.seconds) + 0.5) {
    io.run_for(std::chrono::milliseconds{100});
    peak = std::max(peak, resident_bytes());
  }
  auto const took = seconds_since(start);
  stop = true;
  producer.join();
  stream_figures out;
  std::uint64_t bytes = 0;
  for (auto const& c : clients) {
    bytes += c->bytes();
    if (c->ended()) ++out.ended;
  }
  std::lock_guard const lock{changes_mutex};
  out.samples = waits.size();
  if (waits.empty()) waits.push_back(0);
  std::sort(waits.begin(), waits.end());
  out.p50_ms = waits[waits.size() / 2];
  out.p99_ms = waits[waits.size() * 99 / 100];
  out.bytes_per_consumer = (peak - before) / static_cast<double>(how.consumers + how.slow);
  out.megabytes_per_second = static_cast<double>(bytes - bytes_before) / took / 1e6;
  for (auto const& c : clients) c->close();
  for (auto const& c : stalled) c->close();
  io.restart();
  io.poll();
  loop.reset();
  return out;
}

}  // namespace bench
