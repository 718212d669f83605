// The end of the wait for a pending game server, told as server-sent events.
#pragma once

#include <agones_alloc/async/readiness_gate.hpp>
#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// What a GET of a claim says.
struct claim_told {
  http_response answer;
  bool pending{false};
};

/// Looks for the claim; what it is told is called once, on the stream's executor. Cancellation by the slot.
using claim_look = std::function<void(boost::asio::cancellation_slot, std::function<void(claim_told)>)>;

struct claim_stream_terms {
  readiness_gate* gate{nullptr};  ///< null: nothing is ever pending
  timer* time{nullptr};
  shared_string ns;
  shared_string id;
  claim_look look;
  boost::asio::any_completion_executor executor;  ///< of the connection
  std::chrono::nanoseconds heartbeat{std::chrono::seconds{15}};
  timer::time_point until{};  ///< then it ends, and its client comes again
  std::shared_ptr<void> place;
};

/// The state first; where it is pending the end of the wait, or how that cannot be told, and nothing after it. In between heartbeats.
/// Gate and timer must outlive it, until it is stopped or complete.
class claim_stream final : public http_body_stream, public std::enable_shared_from_this<claim_stream> {
 public:
  AGONES_ALLOC_DECL claim_stream(claim_stream_terms, claim_told first);
  AGONES_ALLOC_DECL void next(std::function<void(piece)> then) override;
  AGONES_ALLOC_DECL void stop() override;

 private:
  void wait();
  void waited(error_code);
  void looked(claim_told const&);
  void give(std::string text);
  void end();

  claim_stream_terms terms_;
  std::string first_;
  std::function<void(piece)> then_;
  boost::asio::cancellation_signal leaving_;
  bool complete_{false};  ///< all was told, or will be with first_
  bool waits_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/detail/claim_stream.ipp>
#endif
