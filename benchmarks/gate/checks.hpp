// Many pending servers that are checked over HTTP: what it costs, and how late the checks come.
#pragma once

#include "games.hpp"
#include "world.hpp"

#include <agones_alloc/async/socket_probe.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

namespace bench {

/// Notes when the checks of each server begin, whose ports tell them apart, and asks its host's own port.
class noting_probe final : public readiness_probe {
 public:
  noting_probe(game_process const& games, std::size_t hosts) : games_{games}, hosts_{hosts} {}
  /// Before the first check.
  void use(boost::asio::any_io_executor executor) { real_.emplace(std::move(executor)); }
  /// After the last check, before the executor's context goes.
  void leave() { real_.reset(); }

  std::vector<std::vector<clock_type::time_point>> begun;

 private:
  void do_probe(probe_target target, handler done) override {
    auto const server = static_cast<std::size_t>(target.port - 1);
    if (begun.size() <= server) begun.resize(server + 1);
    begun[server].push_back(clock_type::now());
    target.port = games_.port(server % hosts_);
    real_->async_probe(std::move(target), std::move(done));
  }
  std::optional<socket_probe> real_;
  game_process const& games_;
  std::size_t hosts_;
};

struct checks {
  double per_second{0};
  double cores{0};       ///< processor time of this thread
  double game_cores{0};  ///< of the games, their start and the pending servers' first checks included
  double late_p50_ms{0};
  double late_p99_ms{0};
  double timer_p99_ms{0};  ///< how late a timer of a millisecond is, on the same thread
};

inline auto percentile(std::vector<double> all, double part) -> double {
  if (all.empty()) return 0;
  std::sort(all.begin(), all.end());
  return all[std::min(all.size() - 1, static_cast<std::size_t>(static_cast<double>(all.size()) * part))];
}

/// Each server's checks have a raster of a period, whose place is where its most punctual check puts it. In milliseconds.
inline auto lateness(std::vector<std::vector<clock_type::time_point>> const& begun, std::chrono::milliseconds period) -> std::vector<double> {
  std::vector<double> out;
  for (auto const& times : begun) {
    std::vector<double> of_server;
    for (std::size_t i = 0; i != times.size(); ++i) {
      of_server.push_back(micros(times[i] - times[0] - static_cast<int>(i) * period) / 1000);
    }
    if (of_server.empty()) continue;
    auto const punctual = *std::min_element(of_server.begin(), of_server.end());
    for (auto const late : of_server) out.push_back(late - punctual);
  }
  return out;
}

inline auto measure_checks(std::size_t pending, std::size_t hosts, double seconds) -> checks {
  constexpr std::chrono::milliseconds period{1000};
  game_process games{hosts};
  auto const first = clock_type::now();
  noting_probe probe{games, hosts};
  gate_world world{"http; period=1s; timeout=1h; try-timeout=5s", &probe};
  probe.use(world.context.get_executor());
  for (std::size_t i = 0; i != pending; ++i) {
    auto server = ready_server(i);
    server.status.address = game_hosts::address(i % hosts);
    server.status.ports[0].port = static_cast<std::int32_t>(i + 1);
    world.add(std::move(server));
  }
  allocate_options options;
  options.timeout = std::chrono::hours{2};
  options.gate = std::make_shared<gate_request const>(gate_request{"", true, {}});
  std::size_t claimed = 0;
  for (std::size_t i = 0; i != pending; ++i) {
    world.alloc->async_allocate(world.request, options, [&](error_code ec, allocation_result const&) {
      if (ec) throw std::runtime_error{"an allocation failed: " + ec.message()};
      ++claimed;
    });
  }
  world.run_until([&] { return claimed == pending; });
  // All at once is how they began; the checks spread from the second one on.
  world.context.run_for(2 * period);
  probe.begun.clear();
  std::vector<double> timer_late;
  auto due = clock_type::now();
  bool over = false;
  bool stands = false;
  std::function<void(error_code)> tick = [&](error_code) {
    if (over) {
      stands = true;
      return;
    }
    timer_late.push_back(micros(clock_type::now() - due) / 1000);
    due = clock_type::now() + std::chrono::milliseconds{1};
    world.timer.async_wait_until(due, [&](error_code ec) { tick(ec); });
  };
  world.timer.async_wait_until(due, [&](error_code ec) { tick(ec); });
  auto const processor = processor_seconds();
  auto const begun = clock_type::now();
  world.context.run_for(std::chrono::duration_cast<clock_type::duration>(std::chrono::duration<double>{seconds}));
  checks out;
  auto const took = micros(clock_type::now() - begun) / 1e6;
  out.cores = (processor_seconds() - processor) / took;
  auto const late = lateness(probe.begun, period);
  out.per_second = static_cast<double>(late.size()) / took;
  out.late_p50_ms = percentile(late, 0.5);
  out.late_p99_ms = percentile(late, 0.99);
  out.timer_p99_ms = percentile(timer_late, 0.99);
  over = true;
  world.run_until([&] { return stands; });
  world.gate->stop();
  world.end();
  probe.leave();
  out.game_cores = games.end() / (micros(clock_type::now() - first) / 1e6);
  return out;
}

}  // namespace bench
