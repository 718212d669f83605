// One connection of the client, from its name's resolution to its end.
#pragma once

#include <agones_alloc/beast/client/client_alarm.hpp>
#include <agones_alloc/beast/client/client_exchange.hpp>
#include <agones_alloc/beast/client/client_options.hpp>
#include <agones_alloc/beast/client/client_socket.hpp>
#include <agones_alloc/beast/client/response_parser.hpp>
#include <agones_alloc/beast/client/tls_context.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// What all connections of a client share.
struct connection_settings {
  client_endpoint endpoint;
  client_options options;
  timer* time{nullptr};
  /// The address that answered last: it goes first. Confined to the client's executor.
  std::shared_ptr<std::optional<boost::asio::ip::tcp::endpoint>> answered{
      std::make_shared<std::optional<boost::asio::ip::tcp::endpoint>>()};
};

/// A read is always pending, except while a stream's reader takes its time: so the other side's leaving is seen at
/// once, and an answer that comes before the request is written out is an answer. Confined to the client's executor.
class client_connection final : public std::enable_shared_from_this<client_connection> {
 public:
  AGONES_ALLOC_DECL client_connection(boost::asio::any_io_executor, std::weak_ptr<connection_owner>,
                                      std::shared_ptr<connection_settings const>,
                                      std::shared_ptr<tls_context>);  ///< null: plain TCP

  AGONES_ALLOC_DECL void open();
  auto context() const noexcept -> std::shared_ptr<tls_context> const& { return context_; }
  /// At rest only: the other side has left, or is saying something unasked.
  auto is_stale() -> bool { return served_ && socket_.is_stale(); }
  /// Once open: its TLS session is an earlier connection's.
  auto resumed() -> bool { return socket_.resumed(); }
  /// Once open: what the server chose by ALPN; "": nothing.
  auto protocol() -> std::string_view { return socket_.protocol(); }
  /// At rest only.
  AGONES_ALLOC_DECL void serve(std::shared_ptr<client_exchange>);
  /// The stream's reader wants more: on_body or on_end follows, perhaps inside.
  AGONES_ALLOC_DECL void resume();
  /// Ends it now; neither owner nor exchange hears of it.
  AGONES_ALLOC_DECL void close();
  /// Whether bytes of the exchange's request may be on their way.
  auto taken() const noexcept -> bool { return taken_; }

  AGONES_ALLOC_DECL void on_alarm();

 private:
  using tcp = boost::asio::ip::tcp;
  enum class phase : std::uint8_t {
    resolving, connecting, securing, resting, sending, waiting, receiving, paused, closed
  };

  void enter(phase, std::chrono::nanoseconds time);
  // Opening.
  void on_resolved(std::vector<tcp::endpoint>);
  void connect_next();
  void on_attempt(std::size_t number, error_code);
  void on_connected();
  void on_open();
  void fail_to_open(error_code);
  // Exchanging.
  void on_written(error_code, std::size_t);
  void read();
  void on_read(error_code, std::size_t);
  void on_lost(error_code);
  auto parse() -> error_code;
  void advance();
  void finish(bool reusable);
  void fail(error_code, bool lost);
  void leave();
  auto take_response() -> client_response;

  boost::asio::any_io_executor executor_;
  std::weak_ptr<connection_owner> owner_;
  std::shared_ptr<connection_settings const> settings_;
  std::shared_ptr<tls_context> context_;
  tcp::resolver resolver_;
  client_socket socket_;
  client_alarm alarm_;
  boost::beast::flat_buffer buffer_;
  std::optional<response_parser> parser_;
  std::vector<tcp::endpoint> addresses_;                 ///< of the host
  std::vector<std::unique_ptr<tcp::socket>> attempts_;   ///< at the first of them, side by side
  std::size_t failed_{0};                                ///< attempts that have
  timer::time_point connect_until_{};
  std::shared_ptr<client_exchange> exchange_;
  phase phase_{phase::resolving};
  bool reading_{false};
  bool writing_{false};
  bool write_failed_{false};
  bool served_{false};    ///< an exchange before the present one
  bool answered_{false};  ///< a byte of the present answer has come
  bool taken_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/client/client_connection.ipp>
#include <agones_alloc/impl/beast/client/client_connection_opening.ipp>
#endif
