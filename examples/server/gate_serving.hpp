// The readiness gate of the server.
#pragma once

#include "backing.hpp"
#include "options.hpp"

#include <agones_alloc/async/readiness_gate.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/metrics.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/readiness_probe.hpp>
#include <agones_alloc/port/server_observer.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string_view>

namespace agones_alloc_server {

/// Passes on what is seen of the servers, to whom is known only later.
class observer_relay final : public agones_alloc::server_observer {
 public:
  void pass_to(agones_alloc::server_observer* to) noexcept { to_ = to; }

  void stored(agones_alloc::game_server_ptr const& server) override {
    if (to_ != nullptr) to_->stored(server);
  }
  void erased(agones_alloc::object_key const& key, std::string_view uid) override {
    if (to_ != nullptr) to_->erased(key, uid);
  }
  void replaced(std::span<agones_alloc::game_server_ptr const> servers, std::string_view version) override {
    if (to_ != nullptr) to_->replaced(servers, version);
  }
  void lost(agones_alloc::error_code why) override {
    if (to_ != nullptr) to_->lost(why);
  }
  void regained() override {
    if (to_ != nullptr) to_->regained();
  }

 private:
  agones_alloc::server_observer* to_{nullptr};
};

/// Numbers that nobody can foresee, for tokens.
class system_random final : public agones_alloc::random_source {
 public:
  auto next() noexcept -> std::uint64_t override { return (std::uint64_t{device_()} << 32U) | device_(); }

 private:
  std::random_device device_;
};

/// Null where --no-gates was given. What it sees it tells `next` (null: nobody).
auto make_gate(boost::asio::any_io_executor, server_options const&, agones_alloc::ready_cache&, backing&, agones_alloc::timer&,
               agones_alloc::random_source&, agones_alloc::logger&, agones_alloc::metrics&, agones_alloc::readiness_probe&,
               agones_alloc::random_source& secrets, agones_alloc::server_observer* next)
    -> std::unique_ptr<agones_alloc::readiness_gate>;

}  // namespace agones_alloc_server
