// Port: where game servers live and where an allocation is written.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// One optimistic write: `desired` replaces `base` if the store still holds base's resource version.
///
/// A store on a wire sends the difference as a merge patch that carries base's resource version, so
/// fields this library does not know are kept (Q42). `desired` differs from `base` in metadata and
/// status only, and still has base's resource version.
struct update_request {
  game_server_ptr base;
  game_server_ptr desired;
  /// After it nothing is sent: errc::unavailable then. A write that is under way may end as unknown. None: the store's own bounds.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  /// `desired` was made for this request, not const: a store that finds no other owner may change and keep it.
  bool may_take_over{false};
};

/// What is known after a write or a read.
struct store_result {
  game_server_ptr server;      ///< the object as the store now has it; null when not known
  shared_string server_message;  ///< the store's own words on failure
  int server_code{0};          ///< its HTTP code, 0 when it has none
  std::chrono::nanoseconds retry_after{0};
};

/// Implementations: `memory_store`, the Kubernetes adapter, the user's own.
///
/// Errors (any category; these conditions are what the allocator tests):
///   condition::conflict         another resource version; nothing written
///   condition::gone             no such object; nothing written
///   errc::refused               the store says no; nothing written
///   condition::retryable        not reached or told to slow down; nothing written
///   condition::outcome_unknown  sent, answer lost
///   condition::cancelled        cancelled before it was sent; once sent, it ends in one of the others
/// Completion never runs inside the initiating function. Cancellation: terminal and total.
/// Thread safety: initiated from the allocator's executor only; completes on any thread.
class store {
 public:
  using handler = boost::asio::any_completion_handler<void(error_code, store_result)>;

  virtual ~store() = default;

  /// Handler signature: void(error_code, store_result).
  template <class Token = boost::asio::deferred_t>
  auto async_update(update_request request, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, store_result)>(
        [this](auto h, update_request r) { do_update(std::move(r), handler{std::move(h)}); }, token, std::move(request));
  }

  /// Reads one object from the authority, not from a cache. Handler signature: void(error_code, store_result).
  template <class Token = boost::asio::deferred_t>
  auto async_read(object_key key, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, store_result)>(
        [this](auto h, object_key k) { do_read(std::move(k), handler{std::move(h)}); }, token, std::move(key));
  }

 private:
  virtual void do_update(update_request, handler) = 0;
  virtual void do_read(object_key, handler) = 0;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
