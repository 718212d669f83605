// Metrics about fleet information and its consumers.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <map>
#include <string>

namespace agones_alloc_server {

class fleet_serving;

/// Brought up to date at a scrape.
class directory_metrics {
 public:
  explicit directory_metrics(prometheus::Registry&);
  void refresh(fleet_serving const&);

 private:
  void show_clusters(fleet_serving const&);

  prometheus::Gauge& fleets_;
  prometheus::Gauge& servers_;
  prometheus::Gauge& streams_;
  prometheus::Counter& opened_;
  prometheus::Counter& refused_;
  prometheus::Counter& events_;
  prometheus::Counter& bytes_;
  prometheus::Counter& resets_;
  prometheus::Counter& publications_;
  prometheus::Family<prometheus::Gauge>& stale_;
  std::map<std::string, prometheus::Gauge*> clusters_;  ///< of stale_; the first 200 by name
};

}  // namespace agones_alloc_server
