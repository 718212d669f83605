// Metrics about other clusters.
#pragma once

#include <agones_alloc/port/metrics.hpp>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace agones_alloc_server {

/// Names come from policies; the first 200 of each kind have series of their own, the rest share `other`.
class cluster_metrics {
 public:
  explicit cluster_metrics(prometheus::Registry&);

  void call(agones_alloc::cluster_call_sample const&);
  void breaker(std::string_view cluster, std::string_view endpoint, bool open);
  void credentials_read(std::string_view name, bool good);
  /// The name, or `other`; "" is `local`.
  auto cluster_label(std::string_view name) -> std::string;

 private:
  class bounded_names {
   public:
    auto operator()(std::string_view name) -> std::string;

   private:
    std::set<std::string, std::less<>> known_;
  };

  prometheus::Family<prometheus::Counter>& calls_;
  prometheus::Family<prometheus::Histogram>& durations_;
  prometheus::Family<prometheus::Gauge>& open_;
  prometheus::Family<prometheus::Counter>& reads_;
  bounded_names clusters_;
  bounded_names endpoints_;
  bounded_names secrets_;
};

}  // namespace agones_alloc_server
