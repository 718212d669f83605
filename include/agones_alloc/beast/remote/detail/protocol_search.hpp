// What one endpoint speaks, found out without a request.
#pragma once

#include <agones_alloc/beast/client/client_connection.hpp>
#include <agones_alloc/beast/client/client_exchange.hpp>
#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/beast/remote/secret_credentials.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

struct protocol_found {
  std::optional<remote_protocol> protocol;  ///< rest or grpc; none: see `problem`
  credentials_ptr credentials;              ///< that it was found out with
  std::string problem;
  bool whole_cluster{false};                ///< a problem that the cluster's other endpoints share
};

/// Fetches the credentials, makes one TLS connection that offers HTTP/2 before HTTP/1.1 (ALPN), and closes it when the server has
/// chosen. No byte of a request is sent, so nothing can be executed. HTTP/2 is gRPC, which cannot do without it over TLS; all
/// else is REST. Used once; confined to the executor.
class protocol_search final : public connection_owner, public std::enable_shared_from_this<protocol_search> {
 public:
  /// `told` is called once unless it is stopped, never inside `start`. `within`: for all of it.
  AGONES_ALLOC_DECL protocol_search(boost::asio::any_io_executor, timer&, client_endpoint, std::shared_ptr<secret_credentials>,
                                    std::chrono::nanoseconds within, std::function<void(protocol_found)> told);
  AGONES_ALLOC_DECL void start();
  AGONES_ALLOC_DECL void stop();

 private:
  void fetch();
  void connect(credentials_ptr);
  void fail(std::string problem, bool whole_cluster = false);
  void finish(protocol_found);
  AGONES_ALLOC_DECL void opened(client_connection&) override;
  void released(client_connection&) override {}
  AGONES_ALLOC_DECL void closed(client_connection&) override;
  AGONES_ALLOC_DECL void open_failed(client_connection&, error_code, std::string_view phase, std::string_view reason) override;

  boost::asio::any_io_executor executor_;
  timer* time_;
  client_endpoint endpoint_;
  std::shared_ptr<secret_credentials> credentials_;
  std::chrono::nanoseconds within_;
  std::function<void(protocol_found)> told_;
  credentials_ptr used_;
  std::shared_ptr<client_connection> connection_;
  boost::asio::cancellation_signal timing_;
  boost::asio::cancellation_signal fetching_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/remote/detail/protocol_search.ipp>
#endif
