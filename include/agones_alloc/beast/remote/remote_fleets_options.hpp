// How other clusters' fleets are listened to.
#pragma once

#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/backoff.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/metrics.hpp>

#include <chrono>
#include <cstddef>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

class remote_feeds;

struct remote_fleets_options {
  backoff_options retry{backoff_options::endless(std::chrono::milliseconds{500}, std::chrono::seconds{30})};
  std::chrono::nanoseconds unserved_retry{std::chrono::minutes{5}};  ///< of a remote that has no directory, or refuses us
  std::chrono::nanoseconds look_every{std::chrono::seconds{1}};      ///< at the policies
  std::chrono::nanoseconds connect_time{std::chrono::seconds{2}};
  std::chrono::nanoseconds silence{std::chrono::seconds{45}};        ///< then the stream counts as lost
  std::size_t clusters{256};                    ///< listened to at once; more are left out, and it is logged
  std::size_t event_bytes{8U << 20U};
  bool allow_plaintext{false};                  ///< endpoints `http://...`
  remote_protocol otherwise{remote_protocol::rest};  ///< of endpoints that do not say; `by_trying`: each in turn
  remote_feeds* grpc{nullptr};                   ///< for gRPC endpoints; null: they are not listened to
  std::chrono::nanoseconds secret_time_to_live{std::chrono::seconds{60}};
  std::chrono::nanoseconds secret_retry{std::chrono::seconds{5}};
  metrics* counts{nullptr};
  logger* log{nullptr};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
