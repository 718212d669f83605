// How the servers of one fleet behave in a simulation.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/embedded/durations.hpp>
#include <agones_alloc/model/field_error.hpp>
#include <agones_alloc/model/string_map.hpp>

#include <optional>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Simulated time: divided by the simulation's speed before it is waited for.
struct fleet_settings {
  /// From creation to Ready.
  duration_range start_up{std::chrono::seconds{1}, std::chrono::seconds{3}};
  /// From Allocated to Shutdown; nothing: sessions do not end by themselves.
  std::optional<duration_range> session_length{duration_range{std::chrono::minutes{5}, std::chrono::minutes{10}}};
  /// From pending, at a readiness gate, to the game's answer; nothing: it never answers.
  std::optional<duration_range> session_start{duration_range{}};
  /// Chance of that answer to be that it failed, 0 to 1.
  double session_start_failure{0};
  /// From Shutdown (or Error, Unhealthy, deletionTimestamp) to the object's end.
  duration_range shut_down{};
  /// Chance of a server to become Unhealthy instead of Ready, 0 to 1.
  double start_failure{0};

  friend auto operator==(fleet_settings const&, fleet_settings const&) -> bool = default;
};

namespace keys {
inline constexpr std::string_view start_up_annotation = "agones-alloc.dev/start-up";
inline constexpr std::string_view session_length_annotation = "agones-alloc.dev/session-length";
inline constexpr std::string_view session_start_annotation = "agones-alloc.dev/session-start";
inline constexpr std::string_view session_start_failure_annotation = "agones-alloc.dev/session-start-failure";
inline constexpr std::string_view shut_down_annotation = "agones-alloc.dev/shut-down";
inline constexpr std::string_view start_failure_annotation = "agones-alloc.dev/start-failure";
}  // namespace keys

/// `defaults`, changed by what the annotations of a Fleet or GameServer say:
///   agones-alloc.dev/start-up        `2s` or `1s-3s`
///   agones-alloc.dev/session-length  the same, or `never`
///   agones-alloc.dev/session-start   the same: how long a server takes until players can join, where a gate waits for it
///   agones-alloc.dev/session-start-failure  `0` to `1`
///   agones-alloc.dev/shut-down       the same as start-up
///   agones-alloc.dev/start-failure   `0` to `1`
/// What cannot be read is added to `errors` with its path (`metadata.annotations[agones-alloc.dev/start-up]`) and keeps
/// the default. Other keys are left alone.
AGONES_ALLOC_DECL auto settings_from(string_map const& annotations, fleet_settings const& defaults,
                                     field_errors& errors) -> fleet_settings;

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/embedded/fleet_settings.ipp>
#endif
