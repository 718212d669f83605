// What the event sinks count, for Prometheus.
#pragma once

#include <agones_alloc/async/event_publisher.hpp>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <vector>

namespace agones_alloc_server {

/// Brought up to date at each scrape. Labels: the sinks' names, which come from the options.
class event_metrics {
 public:
  explicit event_metrics(prometheus::Registry&);
  void set(std::vector<agones_alloc::event_channel_counts> const&);

 private:
  prometheus::Family<prometheus::Counter>& events_;
  prometheus::Family<prometheus::Counter>& retries_;
  prometheus::Family<prometheus::Gauge>& waiting_;
  prometheus::Family<prometheus::Gauge>& bytes_;
  prometheus::Family<prometheus::Gauge>& in_flight_;
  prometheus::Family<prometheus::Gauge>& failing_;
};

}  // namespace agones_alloc_server
