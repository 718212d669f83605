// Fleets as a stream of events, in whatever form.
#pragma once

#include <agones_alloc/async/fleet_directory.hpp>
#include <agones_alloc/beast/detail/stream_places.hpp>
#include <agones_alloc/beast/fleets/fleet_query.hpp>
#include <agones_alloc/beast/fleets/fleet_event_form.hpp>
#include <agones_alloc/beast/fleets/fleets_options.hpp>
#include <agones_alloc/beast/http_message.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

class fleet_stream;

/// What the streams of one front end share: their form, whole batches for those that stand at the same place, one clock for
/// heartbeats, and the bounds on their number.
class fleet_streams : public std::enable_shared_from_this<fleet_streams> {
 public:
  fleet_streams(fleet_directory& directory, timer& time, fleets_options options, std::shared_ptr<fleet_event_form> form)
      : directory_{&directory}, time_{&time}, options_{options}, form_{std::move(form)},
        places_{std::make_shared<stream_places>(options.streams, options.streams_per_caller)} {}

  /// Null: there are too many, at all or of one who has shown who they are.
  AGONES_ALLOC_DECL auto open(fleet_query, http_request const&) -> std::shared_ptr<fleet_stream>;
  AGONES_ALLOC_DECL void stop();
  auto counts() const noexcept -> fleet_stream_counts const& { return counts_; }

 private:
  friend class fleet_stream;
  struct batch {
    http_body_stream::piece text;
    fleet_cursor after;
    bool more{false};
  };
  void closed(fleet_stream&);
  void beat();
  void beat_later();
  AGONES_ALLOC_DECL auto batch_for(fleet_stream&) -> batch;
  auto written(fleet_stream&, std::vector<fleet_event> const&) -> http_body_stream::piece;

  fleet_directory* directory_;
  timer* time_;
  fleets_options options_;
  std::shared_ptr<fleet_event_form> form_;
  std::shared_ptr<stream_places> places_;
  fleet_stream_counts counts_;
  std::set<fleet_stream*> streams_;
  std::unordered_map<std::string, batch> batches_;  ///< by shape and place
  std::deque<std::string> batch_order_;
  std::size_t batch_bytes_{0};
  boost::asio::cancellation_signal beating_;
  bool ticking_{false};
  bool stopped_{false};
};

/// One client's.
class fleet_stream final : public http_body_stream, public std::enable_shared_from_this<fleet_stream> {
 public:
  AGONES_ALLOC_DECL fleet_stream(std::shared_ptr<fleet_streams>, fleet_watch, fleet_query, std::shared_ptr<void> place);
  AGONES_ALLOC_DECL ~fleet_stream() override;
  AGONES_ALLOC_DECL void next(std::function<void(piece)>) override;
  AGONES_ALLOC_DECL void stop() override;

 private:
  friend class fleet_streams;
  void pump();
  void give(piece);

  std::shared_ptr<fleet_streams> all_;
  fleet_watch watch_;
  fleet_query query_;
  std::shared_ptr<void> place_;
  std::function<void(piece)> then_;
  boost::asio::cancellation_signal ending_;
  timer::time_point until_;
  bool began_{false};
  bool abreast_{false};     ///< has been told everything once: may be told what others are told
  bool waits_{false};       ///< for the directory
  bool quiet_{false};       ///< was told nothing since the last beat
  bool over_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/beast/fleets/fleet_stream.ipp>
#endif
