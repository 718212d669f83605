// What goes into a ranked index and what comes out of it.
#pragma once

#include <agones_alloc/cache/server_handle.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <cstddef>
#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

struct index_options {
  std::size_t max_views{1024};              ///< live request shapes; the least recently used goes first
  std::uint64_t idle_picks{4'000'000};      ///< a view that was not asked for so many picks is dropped
  std::size_t max_entries{std::size_t{1} << 25};  ///< entries (32 bytes each) over all views; one view may exceed it alone
  std::size_t max_shape_bytes{std::size_t{64} << 20};  ///< words of selectors and priorities over all views, about
  std::size_t slice{512};                   ///< servers handled by one step of drain() or build_some(), at least 1
};

/// A server that was claimed for a request.
struct pick {
  server_handle handle;       ///< ends with put_back, settle, discard or remove, of the index (on its thread) or of the cache
  game_server_ptr server;     ///< the value that was claimed
  std::uint32_t selector{0};  ///< the selector it matched
  bool game_confirms{true};   ///< false: its labels do not confirm claims (keys::sdk_confirmed)
};

enum class pick_status : std::uint8_t {
  picked,
  busy,      ///< nothing is free, but matching servers are in flight
  none,      ///< nothing matches, nothing matching is in flight
  building,  ///< not known yet: call build_some(), then try again
};

struct index_statistics {
  std::size_t views{0};
  std::size_t entries{0};     ///< over all views
  std::size_t label_sets{0};  ///< distinct pairs of namespace and labels
  std::size_t nodes{0};
  std::size_t waiting{0};     ///< tokens that watch
  std::uint64_t lost_claims{0};  ///< so far: servers that were chosen, and had changed when they were to be claimed
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
