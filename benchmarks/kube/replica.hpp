// One allocator as a process of its own would have it: its own connections, cache and watch.
#pragma once

#include "ask.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_cluster.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/port/metrics.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace bench {

/// Passes requests on, and counts the PATCHes.
class counted_client final : public agones_alloc::http_client {
 public:
  explicit counted_client(agones_alloc::http_client& next) : next_{next} {}
  auto patches() const noexcept -> std::uint64_t { return patches_; }

 private:
  void do_request(agones_alloc::client_request wanted, response_handler done) override {
    // Those of Events are about another kind.
    if (wanted.method == "PATCH" && wanted.target.find("/gameservers/") != std::string::npos) ++patches_;
    next_.async_request(std::move(wanted), std::move(done));
  }
  void do_stream(agones_alloc::client_request wanted, stream_handler done) override {
    next_.async_stream(std::move(wanted), std::move(done));
  }

  agones_alloc::http_client& next_;
  std::uint64_t patches_{0};
};

struct replica_options {
  std::string ns;
  std::size_t connections{64};
  bool write_events{false};
  std::uint64_t seed{1};
  std::shared_ptr<agones_alloc::retry_policy const> retry{};  ///< null: the reference's
};

class replica final : private agones_alloc::metrics {
 public:
  replica(environment& env, replica_options const& options)
      : env_{env},
        client_{env.make_client(options.connections)},
        random_{options.seed},
        cluster_{std::in_place, env.io.get_executor(), counted_, cache_, env.time, random_, cluster_options(options)},
        allocator_{std::in_place, env.io.get_executor(), cache_, cluster_->servers(), env.time, random_, allocator_settings(options),
                   agones_alloc::allocator_ports{cluster_->events(), this, nullptr}} {}
  replica(replica const&) = delete;
  auto operator=(replica const&) -> replica& = delete;

  void sync() {
    bool over = false;
    cluster_->start();
    cluster_->async_wait_synced([&](agones_alloc::error_code ec) {
      if (ec) throw std::runtime_error{"the first list: " + ec.message()};
      over = true;
    });
    run_until(env_.io, [&] { return over; });
  }
  /// Its last: what is pending comes to its end.
  void stop() {
    allocator_.reset();
    cluster_.reset();
    client_->close();
    env_.io.restart();
    env_.io.poll();
  }
  void warm_up(std::size_t connections) { bench::warm_up(env_, *client_, connections); }

  auto allocator() noexcept -> agones_alloc::allocator& { return *allocator_; }
  auto events() noexcept -> agones_alloc::event_recorder& { return *cluster_->events(); }
  auto patches() const noexcept -> std::uint64_t { return counted_.patches(); }
  auto conflicts() const noexcept -> std::uint64_t { return conflicts_; }

 private:
  static auto cluster_options(replica_options const& options) -> agones_alloc::kubernetes_cluster_options {
    agones_alloc::kubernetes_cluster_options out;
    out.namespaces = {options.ns};
    out.write_events = options.write_events;
    return out;
  }
  static auto allocator_settings(replica_options const& options) -> agones_alloc::allocator_options {
    agones_alloc::allocator_options out;
    out.retry = options.retry;
    return out;
  }
  void update_conflict() override { ++conflicts_; }

  environment& env_;
  std::unique_ptr<agones_alloc::pooled_http_client> client_;
  counted_client counted_{*client_};
  agones_alloc::seeded_random random_;
  agones_alloc::ready_cache cache_;
  std::optional<agones_alloc::kubernetes_cluster> cluster_;
  std::optional<agones_alloc::allocator> allocator_;
  std::uint64_t conflicts_{0};
};

}  // namespace bench
