// Which Kubernetes Events are written, which only counted, which dropped: the rules of Kubernetes' own recorder.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/detail/recent_table.hpp>
#include <agones_alloc/model/meta.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Something to tell about a game server.
struct event_note {
  using wall_time = std::chrono::sys_time<std::chrono::nanoseconds>;
  object_key about;
  shared_string uid;
  shared_string resource_version;
  bool warning{false};
  shared_string reason;
  std::string message;
  wall_time at{};
};

/// What becomes of a note.
struct event_decision {
  enum class action : std::uint8_t {
    skip,    ///< too many about this object
    create,  ///< a new Event
    count,   ///< the Event of that name has a new count, time and message
  };
  action what{action::skip};
  std::string name;
  std::string message;
  std::int64_t count{1};
  event_note::wall_time first{};
  event_note::wall_time last{};
};

struct event_correlator_options {
  std::size_t similar{10};  ///< notes that differ in the message only; from here on they share one Event
  std::chrono::nanoseconds similar_time{std::chrono::minutes{10}};  ///< counted anew after such a pause
  std::size_t burst{25};    ///< Events about one object at once
  std::chrono::nanoseconds refill{std::chrono::minutes{5}};  ///< until it may have one more
  std::size_t remembered{4096};  ///< objects and Events, at least 1; the ones used last
  std::size_t message_bytes{1024};  ///< longer messages are cut
};

/// Equal notes are one Event with a count; many that differ in the message only share one whose message begins with
/// `(combined from similar events): `; beyond a burst an object's notes are dropped, but for one in a while.
/// Pure: time comes with the notes. Not thread-safe.
class event_correlator {
 public:
  AGONES_ALLOC_DECL explicit event_correlator(event_correlator_options = {});
  AGONES_ALLOC_DECL auto take(event_note const&) -> event_decision;

 private:
  struct similar_notes {
    std::set<std::string, std::less<>> messages;
    event_note::wall_time last{};
  };
  struct observed {
    std::string name;
    std::int64_t count{0};
    event_note::wall_time first{};
  };
  struct bucket {
    double tokens{-1};  ///< negative: never used
    event_note::wall_time filled{};
  };

  auto may_write(std::string_view object, event_note::wall_time now) -> bool;
  auto new_name(event_note const&) -> std::string;

  event_correlator_options options_;
  detail::recent_table<similar_notes> similar_;
  detail::recent_table<observed> observed_;
  detail::recent_table<bucket> buckets_;
  std::int64_t last_suffix_{0};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/event_correlator.ipp>
#endif
