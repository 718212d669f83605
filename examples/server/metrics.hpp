// Agones' metrics and ours in the Prometheus text format (spec 10.1).
#pragma once

#include <agones_alloc/async/event_publisher.hpp>
#include <agones_alloc/beast/caller_loads.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/beast/probes.hpp>
#include <agones_alloc/model/fleet.hpp>
#include <agones_alloc/port/metrics.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace agones_alloc_server {

class fleet_serving;

/// Counts allocations, conflicts, requests and connections, and answers `GET /metrics`.
///
/// Agones' names, with the labels filled and inclusive bucket edges (Q33). What a client can choose never becomes a
/// label; of fleets the first 200 names have series of their own, the rest share `other`.
/// Confined to the server's one thread.
class server_metrics final : public agones_alloc::metrics, public agones_alloc::http_observer, public agones_alloc::http_handler {
 public:
  using fleet_source = std::function<std::vector<agones_alloc::fleet>()>;

  using event_source = std::function<std::vector<agones_alloc::event_channel_counts>()>;

  /// `started`: seconds since the epoch. Fleets and probes are asked at each scrape.
  server_metrics(std::chrono::system_clock::time_point started, fleet_source, event_source, agones_alloc::probes const&);
  ~server_metrics() override;

  /// To be asked at each scrape; must outlive it.
  void watch(agones_alloc::caller_loads const& loads) { loads_ = &loads; }

  void allocation(agones_alloc::allocation_sample const&) override;
  void update_conflict() override;
  void claim_lost() override;
  void claim_expired() override;
  void in_flight(std::size_t) override;
  void index_size(agones_alloc::index_sample const&) override;
  void waiting(std::size_t, std::chrono::steady_clock::time_point oldest) override;
  void cluster_call(agones_alloc::cluster_call_sample const&) override;
  void cluster_breaker(std::string_view cluster, std::string_view endpoint, bool open) override;
  void gate_pending(std::size_t) override;
  void gate_ended(agones_alloc::gate_sample const&) override;
  void credentials_read(std::string_view name, bool good) override;

  void connections(std::size_t open) override;
  void connection_cut(std::string_view why) override;
  void request(std::string_view route, std::string_view method, int status, std::chrono::nanoseconds took) override;

  void handle(agones_alloc::http_request const&, reply) override;

  /// Asked at each scrape; must outlive it.
  void show(fleet_serving const& fleets) { directory_ = &fleets; }

 private:
  struct series;
  void refresh();

  fleet_source fleets_;
  event_source events_;
  agones_alloc::probes const* probes_;
  fleet_serving const* directory_{nullptr};
  agones_alloc::caller_loads const* loads_{nullptr};
  std::unique_ptr<series> series_;
};

}  // namespace agones_alloc_server
