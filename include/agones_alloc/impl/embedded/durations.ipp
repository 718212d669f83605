#pragma once

#include <agones_alloc/embedded/durations.hpp>

#include <array>
#include <cstdint>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

// Longest word first where one begins with another.
inline constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> duration_units{{
    {"ns", 1},
    {"us", 1'000},
    {"ms", 1'000'000},
    {"s", 1'000'000'000},
    {"m", 60'000'000'000},
    {"h", 3'600'000'000'000},
}};

/// Cuts the digits off the front; how many there were, -1 when more than `most`.
inline auto take_digits(std::string_view& text, int most, std::int64_t& number) noexcept -> int {
  int digits = 0;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1)) {
    if (++digits > most) return -1;
    number = number * 10 + (text.front() - '0');
  }
  return digits;
}

/// Cuts a unit off the front; its nanoseconds, 0 when there is none.
inline auto take_unit(std::string_view& text) noexcept -> std::int64_t {
  for (auto const& [word, size] : duration_units) {
    if (!text.starts_with(word)) continue;
    text.remove_prefix(word.size());
    return size;
  }
  return 0;
}

}  // namespace detail

AGONES_ALLOC_DECL auto parse_duration(std::string_view text) noexcept -> std::optional<std::chrono::nanoseconds> {
  if (text == "0") return std::chrono::nanoseconds{0};
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;
  while (!text.empty()) {
    std::int64_t whole = 0;
    std::int64_t fraction = 0;
    auto const whole_digits = detail::take_digits(text, 12, whole);
    int fraction_digits = 0;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      fraction_digits = detail::take_digits(text, 6, fraction);
    }
    if (whole_digits < 0 || fraction_digits < 0 || whole_digits + fraction_digits == 0) return std::nullopt;
    auto const unit = detail::take_unit(text);
    if (unit == 0 || whole > longest_duration.count() / unit) return std::nullopt;
    for (int i = 0; i < 6 - fraction_digits; ++i) fraction *= 10;
    // In range: below 10^6 times an hour's nanoseconds.
    total += whole * unit + fraction * unit / 1'000'000;
    if (total > longest_duration.count()) return std::nullopt;
  }
  return std::chrono::nanoseconds{total};
}

AGONES_ALLOC_DECL auto parse_duration_range(std::string_view text) noexcept -> std::optional<duration_range> {
  auto const dash = text.find('-');
  auto const min = parse_duration(text.substr(0, dash));
  if (dash == std::string_view::npos) return min ? std::optional{duration_range{*min, *min}} : std::nullopt;
  auto const max = parse_duration(text.substr(dash + 1));
  if (!min || !max || *min > *max) return std::nullopt;
  return duration_range{*min, *max};
}

AGONES_ALLOC_DECL auto to_string(std::chrono::nanoseconds span) -> std::string {
  if (span.count() == 0) return "0s";
  static constexpr std::array<std::string_view, 6> largest_first{"h", "m", "s", "ms", "us", "ns"};
  std::string out;
  auto left = span.count();
  for (auto const word : largest_first) {
    for (auto const& [unit, size] : detail::duration_units) {
      if (unit != word || left / size == 0) continue;
      out += std::to_string(left / size) + std::string{word};
      left %= size;
    }
  }
  return out;
}

AGONES_ALLOC_DECL auto to_string(duration_range const& range) -> std::string {
  return range.min == range.max ? to_string(range.min) : to_string(range.min) + "-" + to_string(range.max);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
