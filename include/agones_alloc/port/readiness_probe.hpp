// Port: asks a game server whether players can join.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/model/readiness.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Always the game server's own address and one of its ports, as its status says.
struct probe_target {
  enum class protocol : std::uint8_t {
    http,
    tcp,
    event_stream,  ///< one try lasts until the game has said something, or the stream ends
    grpc,          ///< the standard health service
  };
  protocol how{protocol::tcp};
  std::string address;
  std::uint16_t port{0};
  std::string path;  ///< http, event_stream; grpc: "/" and the name of the service
  std::chrono::steady_clock::time_point deadline{};  ///< event_stream: until it is open
  std::chrono::steady_clock::time_point until{};     ///< event_stream: and so long; http: so long its connection may be kept for the next try, {}: not
  std::string id{};                                  ///< event_stream: of the allocation that is waited for; http: whose connection may be kept, "": nobody's
};

/// One try. What hinders it (no connection, no answer in time, an answer that is none) is `pending`, not an error.
/// Completion never runs inside the initiating function, and comes by the deadline, or soon after. Cancellation: terminal, of event_stream at least; it completes as `pending`.
/// Thread safety: initiated from one executor; completes on any thread.
class readiness_probe {
 public:
  using handler = boost::asio::any_completion_handler<void(error_code, probe_answer)>;

  virtual ~readiness_probe() = default;

  /// What it can ask by; of anything else it says `pending`. Any thread.
  virtual auto can(probe_target::protocol how) const noexcept -> bool {
    return how == probe_target::protocol::http || how == probe_target::protocol::tcp;
  }

  /// Handler signature: void(error_code, probe_answer).
  template <class Token = boost::asio::deferred_t>
  auto async_probe(probe_target target, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, probe_answer)>(
        [this](auto h, probe_target t) { do_probe(std::move(t), handler{std::move(h)}); }, token, std::move(target));
  }

 private:
  virtual void do_probe(probe_target, handler) = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
