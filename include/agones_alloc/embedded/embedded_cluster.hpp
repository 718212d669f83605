// Fleets that live in this process: a fleet simulator at work on a store in memory.
#pragma once

#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/embedded/simulator_options.hpp>
#include <agones_alloc/error.hpp>
#include <agones_alloc/model/field_error.hpp>
#include <agones_alloc/model/fleet.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct embedded_cluster_options {
  simulator_options simulator{};
  std::size_t batch{256};  ///< writes in one turn of the loop, 1 to 100,000: about a millisecond's work
  logger* log{nullptr};    ///< is warned of each fleet that lacks room, once until it is scaled; outlives the run
};

namespace detail {
class embedded_cluster_core;
}

/// Creates, changes and removes the game servers of its fleets in a memory_store, as Agones and its nodes would, and
/// reacts to what others write there: an allocation begins a session, a Shutdown is followed by a replacement.
///
/// Add fleets before or while it runs. An allocator on the same store sees ordinary game servers.
///
/// Lifetimes: store and timer must outlive the cluster and the end of its async_run. Destroying the cluster ends the
/// run. Thread safety: all functions from any thread; its own work runs on a strand of the executor, never for longer
/// than one batch.
class embedded_cluster {
 public:
  using handler = boost::asio::any_completion_handler<void(error_code)>;

  /// Throws std::invalid_argument that names every option out of range.
  AGONES_ALLOC_DECL embedded_cluster(boost::asio::any_io_executor, memory_store&, timer&,
                                     embedded_cluster_options = {});
  AGONES_ALLOC_DECL ~embedded_cluster();
  embedded_cluster(embedded_cluster const&) = delete;
  auto operator=(embedded_cluster const&) -> embedded_cluster& = delete;

  /// As fleet_simulator's functions of the same names: errors say why nothing was changed.
  AGONES_ALLOC_DECL auto add_fleet(fleet) -> field_errors;
  AGONES_ALLOC_DECL auto add_server(game_server, game_server_template const& shape = {}) -> field_errors;
  AGONES_ALLOC_DECL auto scale(object_key const& fleet, std::int64_t replicas) -> field_errors;

  /// Fleets with their status of this moment, sorted by namespace and name.
  AGONES_ALLOC_DECL auto fleets() const -> std::vector<fleet>;
  AGONES_ALLOC_DECL auto find_fleet(object_key const&) const -> std::optional<fleet>;
  /// Those that were added or have changed since it was asked last, in no order: for one who keeps a table of them.
  AGONES_ALLOC_DECL auto take_changed_fleets() -> std::vector<fleet>;
  /// True when a fleet lacks servers because no node has room.
  AGONES_ALLOC_DECL auto is_full() const -> bool;

  /// Runs until it is stopped. Handler signature: void(error_code), on the handler's associated executor, else on the
  /// strand; never inside this call. Errors: cancelled, after stop(), destruction or cancellation (terminal, partial
  /// and total alike); invalid_request when it runs already. Servers stay in the store as they are, and a later run
  /// goes on.
  template <class Token = boost::asio::deferred_t>
  auto async_run(Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code)>([this](auto h) { run(handler{std::move(h)}); }, token);
  }
  AGONES_ALLOC_DECL void stop();

 private:
  AGONES_ALLOC_DECL void run(handler);

  std::shared_ptr<detail::embedded_cluster_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/embedded/embedded_cluster.ipp>
#endif
