// A fleet's status, kept up to date server by server (spec 1.5).
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/fleet.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <cstdint>
#include <map>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Sums of 64-bit numbers that can be taken out again: exact where an int64 would have overflowed or been clamped.
class wide_sum {
 public:
  void add(std::int64_t value) noexcept { high_ += value >> 32, low_ += value & 0xffffffff; }
  void subtract(std::int64_t value) noexcept { high_ -= value >> 32, low_ -= value & 0xffffffff; }
  /// Clamped to the range of int64. Exact for up to 2^31 summands.
  AGONES_ALLOC_DECL auto value() const noexcept -> std::int64_t;

 private:
  std::int64_t high_{0};
  std::int64_t low_{0};
};

/// Adding and removing a server costs O(its counters and lists). Thread safety: none.
class fleet_tally {
 public:
  /// Servers that are being deleted do not count.
  void add(game_server const& server) { change(server, 1); }
  /// `server` as it was added.
  void remove(game_server const& server) { change(server, -1); }
  AGONES_ALLOC_DECL auto status() const -> fleet_status;
  auto allocated() const noexcept -> std::int32_t { return allocated_; }

 private:
  struct sums {
    std::int64_t servers{0};  ///< that have it: gone from the status with the last one
    wide_sum count, capacity, allocated_count, allocated_capacity;
    AGONES_ALLOC_DECL void change(std::int64_t count_value, std::int64_t capacity_value, bool allocated, int sign);
    AGONES_ALLOC_DECL auto aggregated() const -> aggregated_capacity;
  };
  using sums_by_name = std::map<shared_string, sums, std::less<>>;

  AGONES_ALLOC_DECL void change(game_server const& server, int sign);
  AGONES_ALLOC_DECL static auto aggregated(sums_by_name const&) -> named_map<aggregated_capacity>;

  std::int32_t replicas_{0};
  std::int32_t ready_{0};
  std::int32_t reserved_{0};
  std::int32_t allocated_{0};
  sums players_;
  sums_by_name counters_;
  sums_by_name lists_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/embedded/fleet_tally.ipp>
#endif
