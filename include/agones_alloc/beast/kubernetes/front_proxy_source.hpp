// The front proxy's rules, from the API server that is the front proxy.
#pragma once

#include <agones_alloc/beast/client/http_client.hpp>
#include <agones_alloc/beast/front_proxy.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <functional>
#include <memory>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class front_proxy_source_state;
}

struct front_proxy_source_options {
  std::chrono::nanoseconds look_every{std::chrono::minutes{1}};
  std::chrono::nanoseconds retry_after{std::chrono::seconds{2}};  ///< after a look that failed
  std::chrono::nanoseconds request_time{std::chrono::seconds{10}};
  logger* log{nullptr};
};

/// Reads the ConfigMap kube-system/extension-apiserver-authentication, and again from time to time. `on_change` is
/// called on the executor with the first rules and with every other ones; what cannot be read is logged once a problem,
/// and the last rules stay. Needs the Role extension-apiserver-authentication-reader.
///
/// Confined to the executor. Client, timer and logger must outlive it.
class front_proxy_source {
 public:
  /// Throws std::invalid_argument for a time that is not positive.
  AGONES_ALLOC_DECL front_proxy_source(boost::asio::any_io_executor, http_client&, timer&,
                                       std::function<void(front_proxy_rules const&)> on_change,
                                       front_proxy_source_options = {});
  AGONES_ALLOC_DECL ~front_proxy_source();
  front_proxy_source(front_proxy_source const&) = delete;
  auto operator=(front_proxy_source const&) -> front_proxy_source& = delete;

  AGONES_ALLOC_DECL void start();
  AGONES_ALLOC_DECL void stop();
  /// True from the first rules on.
  AGONES_ALLOC_DECL auto known() const noexcept -> bool;

 private:
  std::shared_ptr<detail::front_proxy_source_state> state_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/kubernetes/front_proxy_source.ipp>
#endif
