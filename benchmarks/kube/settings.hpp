// What the benchmark is told.
#pragma once

#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/beast/client/kube_connection.hpp>
#include <agones_alloc/beast/client/pooled_http_client.hpp>
#include <agones_alloc/yaml/kubeconfig.hpp>

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace bench {

struct settings {
  std::vector<std::string> kubeconfigs;
  std::string context;
  std::vector<std::string> measures{"rate", "alone", "events", "replicas", "start"};
  std::vector<std::size_t> replicas{1, 3};
  std::string server_program;
  std::size_t servers{2'000};
  std::size_t callers{64};
  std::size_t allocations{0};  ///< of a measure; 0: as it likes
  std::size_t rounds{5};
  std::size_t top_n{1};
  bool no_shares{false};
  bool json{false};
};

/// One thread, one API server.
struct environment {
  settings const& want;
  agones_alloc::yaml::kube_target target;
  boost::asio::io_context io{1};
  agones_alloc::asio_timer time{io.get_executor()};

  /// With connections and credentials of its own.
  auto make_client(std::size_t connections) -> std::unique_ptr<agones_alloc::pooled_http_client> {
    auto to = agones_alloc::make_kube_connection(io.get_executor(), time, target);
    agones_alloc::client_options options;
    options.limits.connections = connections;
    options.limits.body_bytes = std::size_t{64} << 20U;
    options.user_agent = "agones_alloc-benchmark";
    return std::make_unique<agones_alloc::pooled_http_client>(io.get_executor(), std::move(to.endpoint),
                                                              std::move(to.credentials), time, std::move(options));
  }
};

}  // namespace bench
