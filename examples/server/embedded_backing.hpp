// Simulated fleets, from manifests.
#pragma once

#include "backing.hpp"
#include "event_serving.hpp"
#include "options.hpp"

#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/async/reflector.hpp>
#include <agones_alloc/beast/cluster_api/event_book.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/embedded/embedded_cluster.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>
#include <agones_alloc/yaml/manifests.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>

namespace agones_alloc_server {

/// Where resource versions begin: later than those of any process before this one, so that who watched that one is told
/// that its version is too old.
auto first_version(agones_alloc::timer const&) -> std::uint64_t;

/// Kubernetes Events as log lines.
class event_log final : public agones_alloc::recorder {
 public:
  explicit event_log(agones_alloc::logger& log) : log_{&log} {}
  void record(agones_alloc::game_server const& about, type, std::string_view reason, std::string_view message) override;

 private:
  agones_alloc::logger* log_;
};

class embedded_backing final : public backing {
 public:
  embedded_backing(boost::asio::any_io_executor, server_options const&, agones_alloc::ready_cache&, agones_alloc::timer&,
                   agones_alloc::random_source&, agones_alloc::logger&, agones_alloc::server_observer*, event_serving&);

  auto servers() -> agones_alloc::store& override { return store_; }
  auto events() -> agones_alloc::recorder* override { return &events_; }
  auto prepare() -> bool override;
  void start() override;
  void stop() override;
  auto synced() const -> bool override { return reflector_.synced(); }
  auto fleets() const -> std::vector<agones_alloc::fleet> override { return cluster_.fleets(); }
  void tell_fleets(agones_alloc::fleet_directory&) override;
  auto policies() const -> placed_policies override { return {loaded_.policies, loaded_.policy_places}; }
  auto describe() -> std::string override;
  auto embedded() -> embedded_parts override { return {&store_, &cluster_, &events_}; }

 private:
  server_options const& options_;
  agones_alloc::logger& log_;
  event_log event_log_;
  agones_alloc::event_book events_;
  agones_alloc::memory_store store_;
  agones_alloc::embedded_cluster cluster_;
  agones_alloc::reflector reflector_;
  agones_alloc::yaml::manifests loaded_;
};

}  // namespace agones_alloc_server
