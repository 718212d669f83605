// Port: an allocator in another cluster.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/allocation.hpp>
#include <agones_alloc/model/feature_gates.hpp>
#include <agones_alloc/model/outcome.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// With what a cluster is called: names, not contents (spec 8.6).
struct credential_reference {
  shared_string namespace_;  ///< of the Secret: the request's
  shared_string secret;      ///< its name; "": no client certificate
  shared_string server_ca;   ///< PEM, of the policy; trusted besides the Secret's
  friend auto operator==(credential_reference const&, credential_reference const&) -> bool = default;
};

/// One call to one endpoint.
struct remote_call {
  shared_string cluster;      ///< its identity, for logs
  shared_string endpoint;     ///< as the policy has it: a host or address, with or without a port
  shared_string server_name;  ///< expected in its certificate; "": the host
  shared_string namespace_;   ///< to allocate in
  credential_reference credentials;
  std::shared_ptr<game_server_allocation const> allocation;  ///< defaulted and converted
  feature_gates gates;
  bool match_expressions{false};  ///< the endpoint knows them; else a request that needs them is `invalid` (Q10)
  std::chrono::steady_clock::time_point deadline{std::chrono::steady_clock::time_point::max()};
  std::string request_id;  ///< the same for every try of one request; "": none
  std::uint32_t hops{0};   ///< how often the request was forwarded before
  std::string gate{};      ///< of the remote's readiness gate, as change_gate reads it; "": as the remote's own settings say
};

/// `result` in a remote's words:
///   allocated     `server` is what it handed out
///   exhausted, contention, invalid   it says so; nothing was handed out
///   refused       it does not let us; nothing was handed out
///   unavailable   not executed: not reached, or it said so
///   unknown       sent, and no answer that says what became of it
///   cancelled, deadline   withdrawn, or the call's deadline passed, before it was sent
struct remote_result {
  outcome result{outcome::unavailable};
  game_server_ptr server;       ///< name, labels, annotations and status, as far as it tells them
  shared_string message;        ///< its own words, or what was wrong
  int code{0};                  ///< its HTTP status; 0: none
  bool whole_cluster{false};    ///< `unavailable` for a reason that the cluster's other endpoints share
  field_errors errors;          ///< for `invalid`, when it is known before it is sent (Q10)
  std::chrono::nanoseconds retry_after{0};
};

/// Never completes inside the initiating function, and not later than the call's deadline. Cancellation: terminal.
/// Thread safety: any thread may start or cancel.
class remote_allocator {
 public:
  using handler = boost::asio::any_completion_handler<void(remote_result)>;
  using probe_handler = boost::asio::any_completion_handler<void(std::string)>;

  virtual ~remote_allocator() = default;

  /// Handler signature: void(remote_result).
  template <class Token = boost::asio::deferred_t>
  auto async_allocate(remote_call call, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(remote_result)>(
        [this](auto h, remote_call c) { do_allocate(std::move(c), handler{std::move(h)}); }, token, std::move(call));
  }

  /// Whether dead endpoints can be probed. Otherwise a caller's request has to find out whether one is back.
  virtual auto can_probe() const noexcept -> bool { return false; }
  /// Whether the endpoint answers, by something that allocates nothing; the call's allocation is null. Handler signature:
  /// void(std::string): why not, or "".
  template <class Token = boost::asio::deferred_t>
  auto async_probe(remote_call call, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(std::string)>(
        [this](auto h, remote_call c) { do_probe(std::move(c), probe_handler{std::move(h)}); }, token, std::move(call));
  }

 private:
  virtual void do_allocate(remote_call, handler) = 0;
  /// Never asked for where can_probe() says no.
  virtual void do_probe(remote_call, probe_handler) {}
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
