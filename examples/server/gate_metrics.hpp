// What there is to measure at the readiness gate.
#pragma once

#include <agones_alloc/port/metrics.hpp>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <cstddef>
#include <string>

namespace agones_alloc_server {

class gate_metrics {
 public:
  explicit gate_metrics(prometheus::Registry&);

  void pending(std::size_t count) { pending_.Set(static_cast<double>(count)); }
  /// `fleet`: the label, bounded already.
  void ended(agones_alloc::gate_sample const&, std::string const& fleet);

 private:
  prometheus::Gauge& pending_;
  prometheus::Family<prometheus::Counter>& ended_;
  prometheus::Family<prometheus::Histogram>& ready_;
};

}  // namespace agones_alloc_server
