// Hands out game servers: the asynchronous allocator.
#pragma once

#include <agones_alloc/async/allocator_options.hpp>
#include <agones_alloc/async/detail/allocated_simply.hpp>
#include <agones_alloc/async/detail/claim_purpose.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/model/outcome.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/store.hpp>
#include <agones_alloc/port/timer.hpp>
#include <agones_alloc/select/request.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class allocation_engine;
}

/// The code that goes with an outcome: none for `allocated`; errc::exhausted, contention, invalid_request,
/// refused, unavailable, outcome_unknown, cancelled, deadline_exceeded for the others.
AGONES_ALLOC_DECL auto error_of(outcome) noexcept -> error_code;

/// Claims a server in the cache, writes it through the store, and says exactly what happened.
///
/// Lifetimes: cache, store, timer, random source and ports must outlive the allocator and its outstanding
/// operations; if it is destroyed on another thread than its executor's, also what runs there at that moment.
/// One allocator per cache: it owns the cache's index and its on_change hook; construct it before other threads use
/// the cache. Destroying the allocator cancels: what is not written ends as `cancelled`, what is being written goes
/// on to its end; the operations keep what they need.
///
/// Thread safety: any thread may start or cancel. All else runs on the executor, one thing at a time whether or
/// not it is a strand; the fastest is the caller's own single-threaded executor.
class allocator {
 public:
  using handler = boost::asio::any_completion_handler<void(error_code, allocation_result)>;

  /// Throws std::invalid_argument for options out of range; nothing else of the library throws.
  AGONES_ALLOC_DECL allocator(boost::asio::any_io_executor, ready_cache&, store&, timer&, random_source&,
                              allocator_options = {}, allocator_ports = {});
  AGONES_ALLOC_DECL ~allocator();
  allocator(allocator const&) = delete;
  auto operator=(allocator const&) -> allocator& = delete;

  /// Allocates one server (spec 6, 7; product rules: never lost, never handed out twice).
  ///
  /// Handler signature: void(error_code, allocation_result). The result says all, `allocation_result::result`
  /// first; the code is error_of(result), for those who only test codes. Runs on the handler's associated executor,
  /// else on the allocator's; never inside this call; exactly once.
  ///
  /// A deferred operation must be started before the allocator is destroyed.
  ///
  /// Cancellation (terminal, partial and total alike):
  ///   before a server is claimed       `cancelled`, and no server is taken
  ///   claimed, the write not yet sent  `cancelled`, and the server is free again
  ///   while the write is under way     the store is asked to withdraw it; then as its answer says
  ///   while a lost answer is resolved  `unknown` at once; the resolving goes on in the background
  /// The deadline is alike, with `deadline` for `cancelled`, and `unknown` at once while a write is under way.
  template <class Token = boost::asio::deferred_t>
  auto async_allocate(request_ptr request, allocate_options options, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, allocation_result)>(
        [this](auto h, request_ptr r, allocate_options o) { start(std::move(r), o, false, handler{detail::allocated_simply(std::move(h))}); },
        token, std::move(request), options);
  }

  /// The same from a plain allocation: applies defaults, validates and compiles it with the allocator's gates.
  /// `invalid` lists every field error. To allocate many times, make the request once instead.
  /// Without `choice`, allocator_options::choice counts.
  template <class Token = boost::asio::deferred_t>
  auto async_allocate(game_server_allocation allocation, std::optional<choice_options> choice, allocate_options options,
                      Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, allocation_result)>(
        [this](auto h, game_server_allocation a, std::optional<choice_options> c, allocate_options o) {
          start(std::move(a), std::move(c), o, handler{detail::allocated_simply(std::move(h))});
        },
        token, std::move(allocation), std::move(choice), options);
  }

  /// A dry run: which server would be handed out now, with the request applied to it? Claims, writes and reports
  /// nothing (Q19). `allocated`: one would be; `exhausted`; `contention`: all that match are being written.
  template <class Token = boost::asio::deferred_t>
  auto async_decide(request_ptr request, allocate_options options, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, allocation_result)>(
        [this](auto h, request_ptr r, allocate_options o) { start(std::move(r), o, true, handler{detail::allocated_simply(std::move(h))}); }, token,
        std::move(request), options);
  }

  /// Looks for the claim of that id, in what has been seen; writes nothing. Waits for the end of a call with that id that is under
  /// way. The result as that of async_confirm.
  template <class Token = boost::asio::deferred_t>
  auto async_find_claim(shared_string ns, shared_string id, allocate_options options, Token&& token = {}) {
    return claim_operation(detail::claim_purpose::find, release_to::ready, std::move(ns), std::move(id), std::move(options),
                           std::forward<Token>(token));
  }

  /// Confirms the claim of that id, so that it does not expire. `allocated`: it is confirmed, now or before, and the result has
  /// its server; `exhausted` with errc::not_found: there is no such claim. Everything else as async_allocate, of whose options deadline
  /// and timeout count.
  template <class Token = boost::asio::deferred_t>
  auto async_confirm(shared_string ns, shared_string id, allocate_options options, Token&& token = {}) {
    return claim_operation(detail::claim_purpose::confirm, release_to::ready, std::move(ns), std::move(id), std::move(options),
                           std::forward<Token>(token));
  }

  /// Ends the claim of that id, confirmed or not: takes back what its allocation put on the server (release_claim). The result has
  /// the server as it is then, and in `not_undone` what could not be taken back. Otherwise as async_confirm.
  template <class Token = boost::asio::deferred_t>
  auto async_release(shared_string ns, shared_string id, release_to to, allocate_options options, Token&& token = {}) {
    return claim_operation(detail::claim_purpose::release, to, std::move(ns), std::move(id), std::move(options),
                           std::forward<Token>(token));
  }

  auto get_executor() const noexcept -> boost::asio::any_io_executor const& { return executor_; }
  /// Calls that have not completed, and claims that are still being read back behind a completed one. At 0, an
  /// allocator that is destroyed touches cache, store and ports no more. Any thread.
  AGONES_ALLOC_DECL auto outstanding() const noexcept -> std::size_t;

 private:
  template <class Token>
  auto claim_operation(detail::claim_purpose what, release_to to, shared_string ns, shared_string id, allocate_options options,
                       Token&& token) {
    return boost::asio::async_initiate<Token, void(error_code, allocation_result)>(
        [this, what, to](auto h, shared_string n, shared_string i, allocate_options o) {
          start_claim(what, to, std::move(n), std::move(i), o, handler{detail::allocated_simply(std::move(h))});
        },
        token, std::move(ns), std::move(id), std::move(options));
  }

  AGONES_ALLOC_DECL void start(request_ptr, allocate_options const&, bool dry_run, handler);
  AGONES_ALLOC_DECL void start_claim(detail::claim_purpose, release_to, shared_string ns, shared_string id,
                                     allocate_options const&, handler);
  AGONES_ALLOC_DECL void start(game_server_allocation, std::optional<choice_options>, allocate_options const&, handler);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<detail::allocation_engine> engine_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/allocator.ipp>
#endif
