// A hash that is the same in every process and library: for keys of views, not for hostile input.
#pragma once

#include <agones_alloc/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// FNV-1a over lengths and bytes, finished with a mixer so that the low bits are usable.
class stable_hash {
 public:
  constexpr auto add(std::uint64_t word) noexcept -> stable_hash& {
    int left = 8;
    for (; word != 0; word >>= 8, --left) byte(static_cast<unsigned char>(word));
    state_ *= zeros[static_cast<std::size_t>(left)];  // most words are small: what is left is zeros, each a factor
    return *this;
  }
  constexpr auto add(std::int64_t word) noexcept -> stable_hash& { return add(static_cast<std::uint64_t>(word)); }
  constexpr auto add(bool flag) noexcept -> stable_hash& { return byte(flag ? 1 : 0), *this; }
  constexpr auto add(std::string_view text) noexcept -> stable_hash& {
    add(static_cast<std::uint64_t>(text.size()));
    for (char const c : text) byte(static_cast<unsigned char>(c));
    return *this;
  }
  /// The same text to both: each byte waits for the one before it, and two can wait together.
  static constexpr void add_to_both(stable_hash& a, stable_hash& b, std::string_view text) noexcept {
    a.add(static_cast<std::uint64_t>(text.size()));
    b.add(static_cast<std::uint64_t>(text.size()));
    for (char const c : text) {
      a.byte(static_cast<unsigned char>(c));
      b.byte(static_cast<unsigned char>(c));
    }
  }
  constexpr auto value() const noexcept -> std::size_t {
    auto mixed = state_;
    mixed = (mixed ^ (mixed >> 33)) * 0xff51afd7ed558ccdULL;
    mixed = (mixed ^ (mixed >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return static_cast<std::size_t>(mixed ^ (mixed >> 33));
  }

 private:
  static constexpr std::uint64_t factor = 0x100000001b3ULL;
  static constexpr auto zeros = [] {
    std::array<std::uint64_t, 9> powers{1};
    for (std::size_t i = 1; i != powers.size(); ++i) powers[i] = powers[i - 1] * factor;
    return powers;
  }();
  constexpr void byte(unsigned char value) noexcept { state_ = (state_ ^ value) * factor; }
  std::uint64_t state_{0xcbf29ce484222325ULL};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
