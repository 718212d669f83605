// The events of a Kubernetes watch, out of its body as it arrives.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/json/decode_error.hpp>
#include <agones_alloc/json/object_reader.hpp>

#include <boost/json/value.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct watch_event {
  enum class kind : std::uint8_t {
    added,
    modified,
    deleted,
    bookmark,  ///< nothing happened up to the resource version
    error,     ///< the object is a Status; the watch ends
  };
  kind what{kind::error};
  boost::json::value const* object{nullptr};  ///< never null in what the reader returns
  std::string_view resource_version;          ///< of the object; "" for `error`
  bool initial_events_end{false};             ///< a bookmark that ends a streaming list
};

/// `{"type": ..., "object": {...}}`. The event points into the value. Unknown words for `type` are fault `enum_name`.
AGONES_ALLOC_DECL auto read_watch_event(boost::json::value const&) -> decoded<watch_event>;

/// Splits a body into events and remembers how far it got. Not thread-safe; not movable.
class watch_reader {
 public:
  /// `from`: the resource version that the watch was asked for. `place` is always `event`.
  AGONES_ALLOC_DECL explicit watch_reader(std::string from, object_reader_options = {});

  /// The next event in `chunk`, whose bytes it takes off the front; valid until the next call. Null: `chunk` is used
  /// up. After an error the body is of no more use.
  AGONES_ALLOC_DECL auto next(std::string_view& chunk) -> decoded<watch_event const*>;

  /// Where a watch goes on after the last event returned, bookmarks included.
  auto resource_version() const noexcept -> std::string const& { return version_; }
  /// True in the middle of an event.
  auto pending() const noexcept -> bool { return reader_.pending(); }

 private:
  object_reader reader_;
  watch_event event_;
  std::string version_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/json/watch_reader.ipp>
#endif
