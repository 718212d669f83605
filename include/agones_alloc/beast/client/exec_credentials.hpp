// Credentials that a plugin program prints (client.authentication.k8s.io).
#pragma once

#include <agones_alloc/beast/client/credentials.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>
#include <agones_alloc/yaml/kube_target.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class exec_credentials_core;
}

struct exec_limits {
  std::chrono::nanoseconds time{std::chrono::seconds{25}};  ///< for one run; then it is killed
  std::size_t output_bytes{1U << 20U};                      ///< of its standard output
  std::chrono::nanoseconds early{std::chrono::seconds{10}}; ///< before its expiry a credential is used no more
  std::chrono::nanoseconds pause{std::chrono::seconds{5}};  ///< least time between the start of two runs
};

/// Runs the plugin of a kube_target when credentials are asked for and there are none that are valid: at first, after
/// their expiry, and when a server refused them. Everybody who asks meanwhile waits for the one run. What else the
/// target says (authority, server name) comes from `base`, which must be confined to the same executor.
///
/// The plugin gets KUBERNETES_EXEC_INFO, an empty standard input, and our standard error. Its failures are logged,
/// never its output. Confined to the executor, as its clients. Timer and logger must outlive it and what is pending.
class exec_credentials final : public credentials_provider {
 public:
  /// `target.exec` is set.
  AGONES_ALLOC_DECL exec_credentials(boost::asio::any_io_executor, timer&, yaml::kube_target const& target,
                                     std::shared_ptr<credentials_provider> base, exec_limits = {}, logger* = nullptr);
  AGONES_ALLOC_DECL ~exec_credentials() override;
  exec_credentials(exec_credentials const&) = delete;
  auto operator=(exec_credentials const&) -> exec_credentials& = delete;

  AGONES_ALLOC_DECL auto current() -> credentials_ptr override;

 private:
  AGONES_ALLOC_DECL void do_fetch(credentials_ptr refused, handler) override;

  std::shared_ptr<detail::exec_credentials_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/client/exec_credentials.ipp>
#endif
