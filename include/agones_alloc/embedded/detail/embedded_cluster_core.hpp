// The driver of a fleet simulator: action -> store call -> outcome, event -> simulator.
#pragma once

#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/embedded/embedded_cluster.hpp>
#include <agones_alloc/embedded/fleet_simulator.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/strand.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Members below the mutex are touched on the strand only.
class embedded_cluster_core : public std::enable_shared_from_this<embedded_cluster_core> {
 public:
  AGONES_ALLOC_DECL embedded_cluster_core(boost::asio::any_io_executor, memory_store&, timer&,
                                          embedded_cluster_options const&);

  /// Calls `use(simulator, instant)` alone, then has the strand look for work.
  template <class Use>
  auto change(Use&& use) {
    auto outcome = [&] {
      std::scoped_lock const lock{mutex_};
      return use(simulator_, instant());
    }();
    wake();
    return outcome;
  }
  template <class Use>
  auto read(Use&& use) const {
    std::scoped_lock const lock{mutex_};
    return use(simulator_);
  }
  auto take_changed() -> std::vector<fleet> {
    std::scoped_lock const lock{mutex_};
    return simulator_.take_changed();
  }
  AGONES_ALLOC_DECL void run(embedded_cluster::handler);
  AGONES_ALLOC_DECL void stop();

 private:
  auto instant() const -> simulator_instant { return {timer_.now(), timer_.wall_now()}; }
  AGONES_ALLOC_DECL void wake();
  AGONES_ALLOC_DECL void start(embedded_cluster::handler);
  AGONES_ALLOC_DECL void end();
  AGONES_ALLOC_DECL void step();
  AGONES_ALLOC_DECL void post_step();
  AGONES_ALLOC_DECL void tell(fleet_shortage const&) const;
  AGONES_ALLOC_DECL auto perform(simulator_action const&) -> result<game_server_ptr>;
  AGONES_ALLOC_DECL void arm(timer::time_point);
  AGONES_ALLOC_DECL void list();
  AGONES_ALLOC_DECL void watch();
  AGONES_ALLOC_DECL void watched(error_code, server_events);
  AGONES_ALLOC_DECL void list_later();

  boost::asio::strand<boost::asio::any_io_executor> strand_;
  memory_store& store_;
  timer& timer_;
  std::size_t batch_;
  logger* log_;
  mutable std::mutex mutex_;
  fleet_simulator simulator_;

  std::optional<embedded_cluster::handler> handler_;  ///< while it runs
  std::uint64_t run_{0};                              ///< counts runs: what belongs to an earlier one does nothing
  bool step_posted_{false};
  std::optional<timer::time_point> armed_;
  // One signal per wait: an operation that ends must not clear the slot of the one that follows it.
  std::shared_ptr<boost::asio::cancellation_signal> cancel_wait_;
  std::shared_ptr<boost::asio::cancellation_signal> cancel_watch_;
  std::string version_;  ///< where the watch is
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
