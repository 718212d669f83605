// Credentials that lie in files and change there: a service account's token, mounted certificates.
#pragma once

#include <agones_alloc/beast/client/credentials.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>
#include <agones_alloc/yaml/kube_target.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <string>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Authority, certificate, token or password of a kube_target, without its exec plugin. Files are read when credentials
/// are asked for, once a minute at most (after a failure or a 401: once a second), at most 1 MiB each; reading blocks
/// for as long as a small local file takes. A file that cannot be read any more leaves the last good state in use, which is
/// logged once; before the first good state there is none, and requests fail with errc::unavailable.
///
/// Confined to the executor, as its clients. Timer and logger must outlive it.
class file_credentials final : public credentials_provider {
 public:
  AGONES_ALLOC_DECL file_credentials(boost::asio::any_io_executor, timer&, yaml::kube_target, logger* = nullptr);

  AGONES_ALLOC_DECL auto current() -> credentials_ptr override;

 private:
  AGONES_ALLOC_DECL void do_fetch(credentials_ptr refused, handler) override;
  auto has_files() const noexcept -> bool;
  void read();
  auto load(client_credentials&) const -> std::string;

  boost::asio::any_io_executor executor_;
  timer* time_;
  yaml::kube_target target_;
  logger* log_;
  credentials_ptr current_;
  timer::time_point read_at_{timer::time_point::min()};
  timer::time_point next_{timer::time_point::min()};
  bool failing_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/client/file_credentials.ipp>
#endif
