// Who a client is and whom it trusts: immutable snapshots, and where they come from.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <memory>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// What a TLS connection is made with. PEM texts.
struct tls_identity {
  std::string ca_pem;           ///< who may sign the server's certificate; "": the system's
  std::string certificate_pem;  ///< our certificate with its chain; "": none
  std::string key_pem;          ///< its private key
  std::string server_name;      ///< expected in the server's certificate and sent as SNI; "": the endpoint's host
  bool insecure_skip_verify{false};
  friend auto operator==(tls_identity const&, tls_identity const&) -> bool = default;
};

/// One state of the credentials. Never changed; a rotation makes another.
struct client_credentials {
  tls_identity tls;
  std::string authorization;  ///< the whole `Authorization` value, such as "Bearer ..."; "": none
};

using credentials_ptr = std::shared_ptr<client_credentials const>;

/// Port: gives the credentials to use now. A client asks before each request, so the answer must be cheap while
/// nothing changes. Thread safety: initiated from one executor at a time.
class credentials_provider {
 public:
  using handler = boost::asio::any_completion_handler<void(error_code, credentials_ptr)>;

  virtual ~credentials_provider() = default;

  /// The snapshot that is valid now without any waiting; null when it has to be fetched.
  virtual auto current() -> credentials_ptr = 0;

  /// Fetches. `refused` is the snapshot a server answered 401 to, null in the ordinary case: another is to be given
  /// if there is one, else the same again. Handler signature: void(error_code, credentials_ptr); errors:
  /// errc::unavailable, errc::cancelled. Cancellation: terminal.
  template <class Token = boost::asio::deferred_t>
  auto async_fetch(credentials_ptr refused, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, credentials_ptr)>(
        [this](auto h, credentials_ptr r) { do_fetch(std::move(r), handler{std::move(h)}); }, token,
        std::move(refused));
  }

 private:
  virtual void do_fetch(credentials_ptr refused, handler) = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
