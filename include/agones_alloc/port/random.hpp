// Port: random numbers, so that tests and simulations replay exactly.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstdint>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A source of uniform 64-bit words. Not thread-safe: one per engine.
class random_source {
 public:
  virtual ~random_source() = default;
  virtual auto next() noexcept -> std::uint64_t = 0;

  /// Uniform in [0, bound), bound > 0, without modulo bias beyond 2^-64.
  auto below(std::uint64_t bound) noexcept -> std::uint64_t {
    __extension__ using wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<wide>(next()) * bound) >> 64);
  }
  /// Uniform in [0, 1).
  auto unit() noexcept -> double { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
};

/// SplitMix64: small, fast, the same on every platform; not for secrets.
class seeded_random final : public random_source {
 public:
  explicit seeded_random(std::uint64_t seed) noexcept : state_{seed} {}
  auto next() noexcept -> std::uint64_t override {
    auto z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
