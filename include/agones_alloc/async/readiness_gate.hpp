// The readiness gate: hands claimed servers over when players can join, and ends the wait for those that never will be ready.
#pragma once

#include <agones_alloc/async/gate_options.hpp>
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/server_observer.hpp>
#include <agones_alloc/port/store.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class gate_core;
}

/// Between an allocation's first write, which makes the server pending (has_pending), and its second, which makes it
/// Allocated (spec 12.2). Give it to an allocator (allocator_ports::gate), which then makes servers pending where a gate is on, and to
/// who feeds the cache (reflector_options::observer), as it learns from what is seen of the servers.
///
/// All that it knows of a pending server stands on the server. So it carries on with those that another replica, or an earlier
/// process, has made pending, with their old deadlines. Of several replicas one finishes or ends a server: every
/// write has the version that it was decided on.
///
/// Lifetimes: cache, store, timer, random source and ports must outlive it and the completions of what it began; it must outlive the
/// allocator and its outstanding operations. Destroying it stops it. Thread safety: all functions from any thread. Where the executor runs
/// several functions at once, as a pool does, random source and secrets must be no other's: the allocator has its own.
class readiness_gate final : public server_observer {
 public:
  using handler = boost::asio::any_completion_handler<void(error_code, gate_result)>;

  /// Throws std::invalid_argument for options out of range, and for a source that the probe cannot ask by.
  AGONES_ALLOC_DECL readiness_gate(boost::asio::any_io_executor, ready_cache&, store&, timer&, random_source&, gate_options = {},
                                   gate_ports = {});
  AGONES_ALLOC_DECL ~readiness_gate() override;
  readiness_gate(readiness_gate const&) = delete;
  auto operator=(readiness_gate const&) -> readiness_gate& = delete;

  /// Nothing more is begun: pending servers are left to others. What waits ends as not known.
  AGONES_ALLOC_DECL void stop();

  AGONES_ALLOC_DECL void stored(game_server_ptr const& server) override;
  AGONES_ALLOC_DECL void erased(object_key const& key, std::string_view uid) override;
  AGONES_ALLOC_DECL void replaced(std::span<game_server_ptr const> servers, std::string_view version) override;
  AGONES_ALLOC_DECL void lost(error_code) override;
  AGONES_ALLOC_DECL void regained() override;

  /// The end of the wait for the allocation of that id: at once where it is over and remembered. Handler signature: void(error_code,
  /// gate_result). Errors: errc::not_found; errc::deadline_exceeded, and it goes on; errc::cancelled. Cancellation: terminal.
  template <class Token = boost::asio::deferred_t>
  auto async_wait(shared_string ns, shared_string id, timer::time_point deadline, Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code, gate_result)>(
        [this](auto h, shared_string n, shared_string i, timer::time_point until) {
          wait(std::move(n), std::move(i), until, handler{std::move(h)});
        },
        token, std::move(ns), std::move(id), deadline);
  }

  /// The pending server of that allocation, as last seen; null: there is none.
  AGONES_ALLOC_DECL auto find(std::string_view ns, std::string_view id) const -> game_server_ptr;
  /// How the wait ended, while it is remembered here; nullptr: it has not, or nobody knows.
  AGONES_ALLOC_DECL auto find_end(std::string_view ns, std::string_view id) const -> std::shared_ptr<gate_result const>;
  /// The game calls back (source `webhook`). False: no pending server has this token.
  AGONES_ALLOC_DECL auto call(std::string_view token, bool ready) -> bool;
  /// Servers that are pending, as far as is known here.
  AGONES_ALLOC_DECL auto pending() const -> std::size_t;

  /// For the allocator.
  auto core() const noexcept -> std::shared_ptr<detail::gate_core> const& { return core_; }

 private:
  AGONES_ALLOC_DECL void wait(shared_string ns, shared_string id, timer::time_point deadline, handler);

  std::shared_ptr<detail::gate_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/readiness_gate.ipp>
#endif
