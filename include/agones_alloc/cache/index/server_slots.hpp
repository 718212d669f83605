// What the index knows of each slot of the cache.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/server_handle.hpp>
#include <agones_alloc/detail/bring_near.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// One cache line: at a million servers each line that is not near is a fifth of a step.
struct alignas(64) indexed_server {
  game_server_ptr server;      ///< the value that is in the order; null: absent
  std::uint64_t version{0};    ///< of the cache's slot
  std::uint64_t touched{0};    ///< when it was last put in its place (the index's own count of events)
  void const* slot{nullptr};   ///< where the cache keeps it: for prefetching only
  std::uint32_t node{0};
  std::uint32_t label_set{0};
  std::uint32_t member{0};     ///< its position among the members of the label set
  std::uint32_t placement{0};  ///< changes whenever entries that do not follow it by key become void
  slot_status status{slot_status::absent};
  game_server_state state{game_server_state::unset};
};

/// By id of the cache. Growing moves nothing.
class server_slots {
 public:
  auto at(std::uint32_t id) -> indexed_server& {
    auto const segment = id / per_segment;
    while (segment >= segments_.size()) segments_.push_back(std::make_unique<indexed_server[]>(per_segment));
    return segments_[segment][id % per_segment];
  }
  /// Asks for the memory of a server, before it is needed.
  void bring_near(std::uint32_t id) const noexcept {
    if (has(id)) detail::bring_near(&(*this)[id]);
  }
  auto has(std::uint32_t id) const noexcept -> bool { return id / per_segment < segments_.size(); }
  auto operator[](std::uint32_t id) const noexcept -> indexed_server const& {
    return segments_[id / per_segment][id % per_segment];
  }
  auto operator[](std::uint32_t id) noexcept -> indexed_server& { return segments_[id / per_segment][id % per_segment]; }

 private:
  static constexpr std::uint32_t per_segment = 1024;
  std::vector<std::unique_ptr<indexed_server[]>> segments_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
