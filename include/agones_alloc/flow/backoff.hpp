// How long to wait before the next try (spec 6.1). A pure value: no clock, no random source.
#pragma once

#include <agones_alloc/config.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// Defaults: the reference's local retry, 5 attempts, 10 ms apart, jitter up to +10 %.
struct backoff_options {
  std::uint32_t attempts{5};                     ///< tries in all, at least 1
  std::chrono::nanoseconds base{std::chrono::milliseconds{10}};  ///< the first wait
  double factor{1.0};                            ///< each wait is this many times the one before, at least 1
  double jitter{0.1};                            ///< a wait is prolonged by up to this part of itself, 0 to 1
  std::chrono::nanoseconds cap{std::chrono::seconds{30}};  ///< the longest wait before jitter
  friend auto operator==(backoff_options const&, backoff_options const&) -> bool = default;

  /// For loops that never give up: a watch, or the reading back of a write whose fate is unknown.
  static constexpr auto endless(std::chrono::nanoseconds base, std::chrono::nanoseconds cap) -> backoff_options {
    return {std::numeric_limits<std::uint32_t>::max(), base, 2.0, 0.1, cap};
  }
};

/// Throws std::invalid_argument naming the option (`prefix.attempts`, ...) when one is out of range.
AGONES_ALLOC_DECL void check(backoff_options const&, char const* prefix);

/// The rule of one's own for retries: derive, and give it to allocator_options::retry.
/// Thread safety: const calls from any thread. Must not throw.
class retry_policy {
 public:
  virtual ~retry_policy() = default;
  /// The wait after the `failures`-th failed try (1 for the first), or nullopt: give up.
  /// `draw` is uniform in [0, 1).
  virtual auto wait_after(std::uint32_t failures, double draw) const noexcept
      -> std::optional<std::chrono::nanoseconds> = 0;
};

/// base * factor^(failures - 1), capped, plus jitter; no wait after the last attempt.
class backoff final : public retry_policy {
 public:
  constexpr backoff() noexcept = default;
  constexpr explicit backoff(backoff_options options) noexcept : options_{options} {}
  constexpr auto options() const noexcept -> backoff_options const& { return options_; }
  AGONES_ALLOC_DECL auto wait_after(std::uint32_t failures, double draw) const noexcept
      -> std::optional<std::chrono::nanoseconds> override;

 private:
  backoff_options options_{};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#ifdef AGONES_ALLOC_HEADER_ONLY
#include <agones_alloc/impl/flow/backoff.ipp>
#endif
