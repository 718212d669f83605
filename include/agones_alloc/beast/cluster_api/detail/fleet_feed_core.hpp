// What a fleet_feed and the waits that outlive it share.
#pragma once

#include <agones_alloc/beast/cluster_api/fleet_feed.hpp>
#include <agones_alloc/config.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

class fleet_feed_core : public std::enable_shared_from_this<fleet_feed_core> {
 public:
  AGONES_ALLOC_DECL fleet_feed_core(boost::asio::any_io_executor, fleet_feed::look_function, timer&, fleet_feed_options);

  AGONES_ALLOC_DECL void refresh();
  AGONES_ALLOC_DECL void refresh_when_due();
  AGONES_ALLOC_DECL auto list() const -> feed_list;
  AGONES_ALLOC_DECL auto find(object_key const&) const -> std::optional<api_object>;
  AGONES_ALLOC_DECL auto changes_after(std::string_view, std::size_t most) const -> result<feed_changes>;
  AGONES_ALLOC_DECL void wait(std::string_view from, object_feed::waiter);
  AGONES_ALLOC_DECL void close();

 private:
  struct waiting {
    std::uint64_t id;
    std::uint64_t from;
    object_feed::waiter handler;
  };
  struct change {
    std::uint64_t version;
    feed_change what;
  };
  auto has_news_for(std::uint64_t from) const noexcept -> bool { return from < forgotten_ || from != version_; }
  void remember(server_event::kind, fleet_ptr);
  void look_later();
  void wake();
  void cancel(std::uint64_t id);
  void complete_later(object_feed::waiter, error_code);

  boost::asio::any_io_executor executor_;
  fleet_feed::look_function look_;
  timer* time_;
  fleet_feed_options options_;
  std::vector<fleet_ptr> fleets_;  ///< as they were last seen, sorted
  std::deque<change> history_;
  std::vector<waiting> waiting_;
  std::shared_ptr<boost::asio::cancellation_signal> looking_;  ///< null: nobody waits
  std::optional<timer::time_point> looked_;
  std::uint64_t version_;
  std::uint64_t forgotten_;  ///< changes up to this version are no longer in history_
  std::uint64_t next_id_{1};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
