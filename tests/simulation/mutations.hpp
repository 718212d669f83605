// Behaviours that are broken on purpose, to see that the simulation notices.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace simulation {

enum class mutation : std::uint8_t {
  none,
  stale_writes,
  lying_feed,
  deaf_feed,
  digest_not_compared,
  digest_lost,
  claim_lost,
  naive_sweeper,
  wrong_clock,
  no_sweeper,
  swallowed_answers,
  told_before_the_write,
  denied_writes,
  dropped_put_back,
  undo_lost,
  skipped_waiter,
  no_deadline,
  exact_cut,
  gate_open,
  gate_endless,
  gate_deaf,
  gate_undo_lost,
  gate_stale_end,
};

struct mutation_entry {
  mutation what;
  std::string_view name;
  std::string_view meaning;
  std::uint64_t seeds;  ///< caught within so many, of 1000 steps each
  bool gate{false};     ///< with a readiness gate
};

auto mutations() -> std::span<mutation_entry const>;
auto mutation_named(std::string_view) -> std::optional<mutation>;

}  // namespace simulation
