// Which change of a game server or a fleet is which event: by what was known before.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/object_event.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {
struct tracked_key_hash {
  auto operator()(object_key const& key) const noexcept -> std::size_t {
    auto const hash = std::hash<std::string_view>{};
    return hash(key.name.view()) * 31 + hash(key.namespace_.view());
  }
};
}  // namespace detail

/// Remembers the last value of every object. Rules:
///   added      the first value of a UID
///   updated    a newer value, and nothing of the below
///   allocated  Allocated and not so before; or Allocated again (`agones.dev/last-allocated` is another)
///   released   Allocated before and not any more: another state, or deleted (then before `deleted`)
///   deleted    deleted, missing in a list, or another UID has its name
/// A server that is Allocated when it is first seen is `added`, and `allocated` too unless it is of the first list: what was
/// there before is not news. A value that is not newer than the one known is no event.
///
/// A fleet's value is newer when it differs; without a resource version of its own, the time stands for it.
/// Pure: time comes with the values. Not thread-safe.
class event_tracker {
 public:
  using wall_time = object_event::wall_time;
  using events = std::vector<object_event>;

  /// Each appends to `out`, in the order in which to tell it.
  AGONES_ALLOC_DECL void stored(game_server_ptr const&, wall_time now, events& out);
  /// `last`, if not null, is the value the store told last; without a state it is not believed but for its key.
  AGONES_ALLOC_DECL void erased(object_key const&, std::string_view uid, game_server_ptr const& last, wall_time now,
                                events& out);
  /// All game servers there are.
  AGONES_ALLOC_DECL void replaced(std::span<game_server_ptr const>, wall_time now, events& out);
  /// All fleets there are.
  AGONES_ALLOC_DECL void fleets(std::span<fleet const>, wall_time now, events& out);

  auto servers() const noexcept -> std::size_t { return servers_.size(); }
  AGONES_ALLOC_DECL auto known() const -> std::vector<game_server_ptr>;
  /// Before the first list: what an earlier run knew. That list is not the first one then.
  AGONES_ALLOC_DECL void recall(std::span<game_server_ptr const>);

 private:
  template <class Value>
  struct tracked {
    Value value;
    std::uint64_t list{0};  ///< the last one it was in
  };
  template <class Value>
  using table = boost::unordered_flat_map<object_key, tracked<Value>, detail::tracked_key_hash>;

  void take(game_server_ptr const&, wall_time now, events& out);
  static void gone(game_server_ptr const& known, game_server_ptr const& last, wall_time now, events& out);

  table<game_server_ptr> servers_;
  table<fleet_ptr> fleets_;
  std::uint64_t lists_{0};
  std::uint64_t fleet_lists_{0};
  bool first_{false};  ///< the first list is being taken in
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/event_tracker.ipp>
#endif
