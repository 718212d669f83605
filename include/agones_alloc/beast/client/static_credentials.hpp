// Credentials that stay until somebody replaces them.
#pragma once

#include <agones_alloc/beast/client/credentials.hpp>
#include <agones_alloc/config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <mutex>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Thread safety: everything from any thread.
class static_credentials final : public credentials_provider {
 public:
  AGONES_ALLOC_DECL explicit static_credentials(boost::asio::any_io_executor, client_credentials = {});

  AGONES_ALLOC_DECL auto current() -> credentials_ptr override;
  /// For requests from now on.
  AGONES_ALLOC_DECL void replace(client_credentials);

 private:
  AGONES_ALLOC_DECL void do_fetch(credentials_ptr, handler) override;

  boost::asio::any_io_executor executor_;
  std::mutex mutex_;
  credentials_ptr current_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/client/static_credentials.ipp>
#endif
