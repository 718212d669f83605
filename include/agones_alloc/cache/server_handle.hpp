// One slot of the ready cache at one version: what a claim names.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <cstddef>
#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A server as it was seen once. Any change of the slot (another value, another server in the same slot)
/// gives it a new version, and versions are never used twice, so an old handle can only lose.
struct server_handle {
  std::uint32_t id{0};
  std::uint64_t version{0};  ///< 0: no server
  friend auto operator==(server_handle const&, server_handle const&) -> bool = default;
};

/// What `store` did with a value.
enum class store_outcome : std::uint8_t {
  stored,   ///< it is the newest; pickable now, or when the claim in flight ends
  stale,    ///< the cache knows something newer, or the same
  removed,  ///< newest, but not allocatable: it took a cached server away
  ignored,  ///< not allocatable, and not cached
};

/// Where a slot stands.
enum class slot_status : std::uint8_t {
  absent,   ///< no server
  free,     ///< may be claimed
  claimed,  ///< a write is in flight
  stale,    ///< lost a conflict: waits for a newer value
};

/// A slot as it is now; `server` is null when absent, the claimed value when claimed.
struct slot_view {
  server_handle handle;
  slot_status status{slot_status::absent};
  game_server_ptr server;
  void const* memory{nullptr};  ///< where the cache keeps the slot: never read, only to bring it near the processor
};

struct cache_options {
  std::size_t stripes{64};           ///< locks; rounded up to a power of two, 1 to 64
  std::size_t shared_label_sets{4096};  ///< label sets kept for sharing between servers; 0: do not share
  std::size_t shared_words{8192};       ///< the same for node names, namespaces and other repeated words
  std::size_t remembered_removals{128};  ///< per stripe: removed servers that a late value cannot bring back
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
