// A matchmaker's way to a running agones-alloc-server: one call from the wish to a server that is surely its own.
#pragma once

#include <agones_alloc/beast/client/credentials.hpp>
#include <agones_alloc/beast/client/ticket.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/timer.hpp>
#include <agones_alloc/select/claim.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class matchmaker_core;
}

/// Asks over REST (`/gameserverallocation`, `/v1/claims`), HTTP or HTTPS with or without a client certificate, on kept
/// connections. Each call has an id, so it is repeated, with back-off, until it is answered or its time is up, whatever became
/// of the last try; a replica that does not answer is left for the next. What it promises, and what not: docs/promises.md.
///
/// Lifetimes: timer, random source and logger must outlive it and what is outstanding. Destroying it ends what is
/// outstanding, as cancellation does. Thread safety: any thread may start or cancel; the random source is used on a strand of
/// the executor.
class matchmaker_client {
 public:
  using handler = boost::asio::any_completion_handler<void(error_code, ticket_result)>;

  /// Throws std::invalid_argument that names the option out of range. `credentials`: as for pooled_http_client.
  AGONES_ALLOC_DECL matchmaker_client(boost::asio::any_io_executor, std::shared_ptr<credentials_provider> credentials, timer&,
                                      random_source&, matchmaker_client_options);
  AGONES_ALLOC_DECL ~matchmaker_client();
  matchmaker_client(matchmaker_client const&) = delete;
  auto operator=(matchmaker_client const&) -> matchmaker_client& = delete;

  /// A server by a ticket: allocated, and confirmed unless the ticket says otherwise.
  ///
  /// Handler signature: void(error_code, ticket_result). The code is error_of(result). Completes once, never inside this
  /// function, on the handler's executor, else on the client's, and no later than the ticket's time allows (`wait`, `timeout`).
  /// Cancellation (terminal): `cancelled` if nothing was taken, `unknown` if that is not known, or if a server was handed
  /// out and is not confirmed; the request under way is withdrawn, and what the server hands out all the same is
  /// given back after the claim_ttl.
  template <class Token = boost::asio::deferred_t>
  auto async_allocate(ticket wish, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, ticket_result)>(
        [this](auto h, ticket t) { allocate(std::move(t), handler{std::move(h)}); }, token, std::move(wish));
  }

  /// Confirms the claim of an earlier ticket. `exhausted` with errc::not_found: there is none, or none any more. As async_allocate.
  template <class Token = boost::asio::deferred_t>
  auto async_confirm(std::string ns, std::string id, std::chrono::nanoseconds timeout, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, ticket_result)>(
        [this, timeout](auto h, std::string n, std::string i) {
          claim(ticket_step::confirm, release_to::ready, std::move(n), std::move(i), timeout, handler{std::move(h)});
        },
        token, std::move(ns), std::move(id));
  }

  /// Ends the claim: its server goes to Ready, to be allocated again, or to Shutdown. As async_confirm.
  template <class Token = boost::asio::deferred_t>
  auto async_release(std::string ns, std::string id, release_to to, std::chrono::nanoseconds timeout, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, ticket_result)>(
        [this, to, timeout](auto h, std::string n, std::string i) {
          claim(ticket_step::release, to, std::move(n), std::move(i), timeout, handler{std::move(h)});
        },
        token, std::move(ns), std::move(id));
  }

  /// Ends what is outstanding, as cancellation does, and closes the connections. For good. Any thread.
  AGONES_ALLOC_DECL void close();

 private:
  AGONES_ALLOC_DECL void allocate(ticket, handler);
  AGONES_ALLOC_DECL void claim(ticket_step, release_to, std::string ns, std::string id, std::chrono::nanoseconds timeout, handler);

  std::shared_ptr<detail::matchmaker_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/client/matchmaker_client.ipp>
#endif
