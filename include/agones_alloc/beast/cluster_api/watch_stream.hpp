// A watch as the body of an answer: one JSON document a line, as events come.
#pragma once

#include <agones_alloc/beast/cluster_api/list_answer.hpp>
#include <agones_alloc/beast/cluster_api/list_query.hpp>
#include <agones_alloc/beast/cluster_api/object_feed.hpp>
#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct watch_options {
  std::size_t piece_bytes{64 * 1024};  ///< about the most of one piece
  std::chrono::nanoseconds pace{std::chrono::milliseconds{10}};  ///< least time between two pieces of changes
  std::chrono::nanoseconds bookmark_every{std::chrono::minutes{1}};
  std::chrono::nanoseconds length{std::chrono::minutes{30}};     ///< then it ends
};

/// ADDED, MODIFIED and DELETED by what enters, changes in and leaves the selection; BOOKMARK where they are allowed; ERROR
/// with a Status of code 410 when the client is so slow that the history has gone on without it, and then the end.
///
/// Without a version (or with 0) it begins with what there is, as ADDED. It holds its place in the feed's history and
/// nothing more, but for the objects it begins with. Confined to the executor; feed and timer must outlive it.
class watch_stream final : public http_body_stream, public std::enable_shared_from_this<watch_stream> {
 public:
  /// `seat` is let go at the end: who counts watches counts those. `form.now` is not used.
  AGONES_ALLOC_DECL watch_stream(boost::asio::any_io_executor, object_feed&, timer&, list_query, std::string space,
                                 object_form form, watch_options, std::shared_ptr<void> seat);

  AGONES_ALLOC_DECL void next(std::function<void(piece)>) override;
  AGONES_ALLOC_DECL void stop() override;

 private:
  AGONES_ALLOC_DECL void pump();
  void deliver(std::string text);
  auto make_piece() -> std::string;
  void arm();
  void disarm();
  void wait_for_changes(std::uint64_t round);
  void wait_until(timer::time_point, std::uint64_t round);
  void woken(std::uint64_t round, error_code);
  void append_change(std::string& out, feed_change const&);
  void append_event(std::string& out, std::string_view type, api_object const&);
  void append_bookmark(std::string& out, bool ends_initial_events);
  void append_error(std::string& out, api_refusal const&);
  void open_event(std::string& out, std::string_view type, std::string_view version);

  boost::asio::any_io_executor executor_;
  object_feed* feed_;
  timer* time_;
  list_query query_;
  std::string space_;
  object_form form_;
  watch_options options_;
  std::shared_ptr<void> seat_;
  std::function<void(piece)> then_;  ///< while the connection waits for a piece
  std::vector<api_object> initial_;
  std::size_t next_initial_{0};
  std::string version_;  ///< everything up to here has been told
  std::shared_ptr<boost::asio::cancellation_signal> cancel_feed_;
  std::shared_ptr<boost::asio::cancellation_signal> cancel_time_;
  timer::time_point end_;
  timer::time_point next_bookmark_;
  timer::time_point not_before_{};
  std::uint64_t round_{0};  ///< counts waits: what belongs to an earlier one does nothing
  bool owes_initial_end_{false};
  bool columns_told_{false};
  bool ended_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/cluster_api/watch_stream.ipp>
#endif
