// Metrics about fleet information and its consumers.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

namespace agones_alloc_server {

class fleet_serving;

/// Brought up to date at a scrape.
class directory_metrics {
 public:
  explicit directory_metrics(prometheus::Registry&);
  void refresh(fleet_serving const&);

 private:
  prometheus::Gauge& fleets_;
  prometheus::Gauge& servers_;
  prometheus::Gauge& streams_;
  prometheus::Counter& opened_;
  prometheus::Counter& refused_;
  prometheus::Counter& events_;
  prometheus::Counter& bytes_;
  prometheus::Counter& resets_;
  prometheus::Counter& publications_;
};

}  // namespace agones_alloc_server
