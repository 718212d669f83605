// One consumer of the fleet directory.
#pragma once

#include <agones_alloc/cache/fleet_event.hpp>
#include <agones_alloc/cache/fleet_filter.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
class fleet_directory_core;
}

/// Made by fleet_directory::watch. Holds nothing but where it stands: what is waiting for a slow reader is never more than
/// each fleet once, and is kept for nobody in particular.
///
/// Use: next() until it says that there is no more, then async_wait(), and again. Thread safety: one thread at a time.
class fleet_watch {
 public:
  using handler = boost::asio::any_completion_handler<void(error_code)>;

  AGONES_ALLOC_DECL fleet_watch(std::shared_ptr<detail::fleet_directory_core>, fleet_filter, fleet_cursor);
  fleet_watch(fleet_watch&&) noexcept = default;
  auto operator=(fleet_watch&&) noexcept -> fleet_watch& = delete;
  AGONES_ALLOC_DECL ~fleet_watch();

  /// Appends up to about `limit` (at least 1) events; true: there are more at once. Never waits.
  AGONES_ALLOC_DECL auto next(std::size_t limit, std::vector<fleet_event>& out) -> bool;

  /// Completes when next() may have something; one at a time. Handler signature: void(error_code), on its associated executor,
  /// else on the directory's; never inside this call. Error: cancelled, by its slot (terminal) or the directory's end.
  template <class Token = boost::asio::deferred_t>
  auto async_wait(Token&& token = {}) {
    return boost::asio::async_initiate<Token, void(error_code)>([this](auto h) { wait(handler{std::move(h)}); }, token);
  }

  /// Where it stands, to be compared; watches with equal filters that stand at one place are told the same.
  auto cursor() const noexcept -> fleet_cursor const& { return cursor_; }
  /// Goes on from a place that another watch with an equal filter has come to.
  void skip_to(fleet_cursor const& there) { cursor_ = there; }
  auto filter() const noexcept -> fleet_filter const& { return filter_; }

 private:
  AGONES_ALLOC_DECL void wait(handler);

  std::shared_ptr<detail::fleet_directory_core> core_;
  fleet_filter filter_;
  fleet_cursor cursor_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/async/fleet_watch.ipp>
#endif
