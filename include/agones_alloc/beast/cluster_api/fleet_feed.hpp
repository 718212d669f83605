// The fleets of an embedded cluster, with versions and a history, for list and watch.
#pragma once

#include <agones_alloc/beast/cluster_api/object_feed.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct fleet_feed_options {
  std::size_t history{4096};     ///< changes kept, at least 1; older ones make a watch too old
  std::uint64_t first_version{0};  ///< the first change gets the next number
  std::chrono::nanoseconds pace{std::chrono::milliseconds{100}};  ///< between two looks while somebody waits, above 0
  std::size_t waiters{1024};     ///< at once; more are told errc::too_many_requests
};

namespace detail {
class fleet_feed_core;
}

/// Simulated fleets have no versions: this one looks at them, when it is asked for them and, while somebody waits, at its
/// pace, and numbers what it finds changed. Several changes between two looks are one.
///
/// Confined to the executor. `look` gives all fleets, sorted by namespace and name; it and the timer must outlive the
/// feed. Destruction completes those who wait with errc::cancelled.
class fleet_feed final : public object_feed {
 public:
  using look_function = std::function<std::vector<fleet>()>;

  AGONES_ALLOC_DECL fleet_feed(boost::asio::any_io_executor, look_function look, timer&, fleet_feed_options = {});
  AGONES_ALLOC_DECL ~fleet_feed() override;
  fleet_feed(fleet_feed const&) = delete;
  auto operator=(fleet_feed const&) -> fleet_feed& = delete;

  AGONES_ALLOC_DECL auto kind() const noexcept -> api_kind const& override;
  AGONES_ALLOC_DECL auto list() -> feed_list override;
  AGONES_ALLOC_DECL auto find(object_key const&) -> std::optional<api_object> override;
  AGONES_ALLOC_DECL auto changes_after(std::string_view, std::size_t most) -> result<feed_changes> override;
  AGONES_ALLOC_DECL void wait(std::string resource_version, waiter) override;

 private:
  std::shared_ptr<detail::fleet_feed_core> core_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/cluster_api/fleet_feed.ipp>
#endif
