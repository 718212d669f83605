// Credentials for another cluster, from a Secret that changes.
#pragma once

#include <agones_alloc/beast/client/credentials.hpp>
#include <agones_alloc/beast/remote/secret_source.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/metrics.hpp>
#include <agones_alloc/port/remote_allocator.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct secret_credentials_options {
  std::chrono::nanoseconds time_to_live{std::chrono::seconds{60}};  ///< of a bundle; then the Secret is read again
  std::chrono::nanoseconds retry{std::chrono::seconds{5}};          ///< after a failure
  metrics* counts{nullptr};
  logger* log{nullptr};
};

/// Reads the Secret when it is first needed, and again when its time to live is over, behind the calls: they go on
/// with the bundle they have. A Secret that cannot be read, or is broken, leaves the last good bundle in use, which is
/// logged once a problem and counted; it is tried again. Before the first good one there is none, and calls fail with
/// errc::unavailable. A reference without Secret is trust alone.
///
/// To be held by a shared_ptr. Confined to the executor. Source, timer and ports must outlive it and what is pending.
class secret_credentials final : public credentials_provider,
                                 public std::enable_shared_from_this<secret_credentials> {
 public:
  /// `source`: null where there are no Secrets; a reference that names one then fails. `server_name`: expected in the
  /// server's certificate; "": the endpoint's host.
  AGONES_ALLOC_DECL secret_credentials(boost::asio::any_io_executor, timer&, secret_source* source, credential_reference,
                                       std::string server_name, secret_credentials_options = {});

  AGONES_ALLOC_DECL auto current() -> credentials_ptr override;
  /// Counts the bundles that were put to use; 0: none yet.
  auto version() const noexcept -> std::uint64_t { return version_; }
  /// Why the Secret cannot be used now; "" when it can, or was not read yet.
  auto problem() const noexcept -> std::string const& { return problem_; }

 private:
  AGONES_ALLOC_DECL void do_fetch(credentials_ptr refused, handler) override;
  void read();
  void on_read(error_code, secret_data const&);
  auto take(error_code, secret_data const&) -> std::string;
  void forget(std::uint64_t waiter);

  boost::asio::any_io_executor executor_;
  timer* time_;
  secret_source* source_;
  credential_reference reference_;
  std::string server_name_;
  secret_credentials_options options_;
  credentials_ptr current_;
  std::map<std::string, std::string, std::less<>> used_;  ///< what current_ was made of
  std::string problem_;
  std::uint64_t version_{0};
  std::uint64_t last_waiter_{0};
  timer::time_point next_{timer::time_point::min()};  ///< when to read again
  bool reading_{false};
  std::vector<std::pair<std::uint64_t, handler>> waiting_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/remote/secret_credentials.ipp>
#endif
