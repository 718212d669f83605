// Keeps a ready cache in step with a source of game servers: list, then watch.
#pragma once

#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/flow/backoff.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/random.hpp>
#include <agones_alloc/port/server_observer.hpp>
#include <agones_alloc/port/server_source.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct reflector_options {
  /// Between failed lists and watches; never gives up. The failures start anew after a success. Also between lists
  /// that follow each other because the watch of each is too old at once.
  backoff_options retry{backoff_options::endless(std::chrono::milliseconds{100}, std::chrono::seconds{30})};
  logger* log{nullptr};
  /// Called on the reflector's executor for every event after the cache took it in (null server: a relist).
  /// Must not throw.
  std::function<void(server_event const&)> on_event{};
  /// Called likewise with every complete list. What is not in it is gone. Must not throw.
  std::function<void(std::vector<game_server_ptr> const&)> on_list{};
  server_observer* observer{nullptr};  ///< is told all that comes, before the cache; must outlive the reflector as the cache does
};

struct reflector_statistics {
  std::uint64_t lists{0};
  std::uint64_t events{0};
  std::uint64_t errors{0};
};

namespace detail {
class reflector_core;
}

/// Lists into the cache (replace_all), watches from the list's version, stores ADDED like MODIFIED (Q7), erases
/// DELETED by key and uid (Q8), lists again when the version is too old, waits and tries again on any other error.
///
/// A list goes into the cache in one piece, as what is missing in it counts as gone: its executor is busy for
/// about a second with some 300,000 servers. Where that matters, give the reflector a thread of its own.
///
/// Lifetimes: source, cache, timer, random source and logger must outlive the reflector and, once it is destroyed,
/// its last completion on the executor. Thread safety: all functions from any thread. Everything it does runs
/// on its executor, one thing at a time.
class reflector {
 public:
  /// Throws std::invalid_argument for options out of range.
  AGONES_ALLOC_DECL reflector(boost::asio::any_io_executor, server_source&, ready_cache&, timer&, random_source&,
                              reflector_options = {});
  /// Stops.
  AGONES_ALLOC_DECL ~reflector();
  reflector(reflector const&) = delete;
  auto operator=(reflector const&) -> reflector& = delete;

  /// Begins to list. Once; later calls do nothing.
  AGONES_ALLOC_DECL void start();
  /// Ends every wait; the cache stays as it is. For good.
  AGONES_ALLOC_DECL void stop();

  /// True from the first complete list on.
  AGONES_ALLOC_DECL auto synced() const noexcept -> bool;
  AGONES_ALLOC_DECL auto statistics() const noexcept -> reflector_statistics;

  /// Completes when the first list is in the cache; at once, though not inline, when it is already.
  /// Handler signature: void(error_code). Error: cancelled, by its slot (terminal) or because the reflector stops.
  template <class Token = boost::asio::deferred_t>
  auto async_wait_synced(Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code)>(
        [this](auto h) { wait_synced(synced_handler{std::move(h)}); }, token);
  }

 private:
  using synced_handler = boost::asio::any_completion_handler<void(error_code)>;
  AGONES_ALLOC_DECL void wait_synced(synced_handler);

  std::shared_ptr<detail::reflector_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/reflector.ipp>
#endif
