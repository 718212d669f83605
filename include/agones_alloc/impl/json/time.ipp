#pragma once

#include <agones_alloc/json/time.hpp>

#include <array>
#include <cstddef>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail::wire {

/// Reads fixed-width fields off the front of a text.
class time_scanner {
 public:
  explicit time_scanner(std::string_view text) noexcept : text_{text} {}
  auto number(std::size_t digits, int low, int high) noexcept -> int {
    int out = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (!digit()) return fail();
      out = out * 10 + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return out < low || out > high ? fail() : out;
  }
  void literal(char wanted) noexcept {
    if (text_.empty() || text_.front() != wanted) {
      fail();
    } else {
      text_.remove_prefix(1);
    }
  }
  auto take(char wanted) noexcept -> bool {
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  void skip_digits() noexcept {
    if (!digit()) fail();
    while (digit()) text_.remove_prefix(1);
  }
  auto complete() const noexcept -> bool { return good_ && text_.empty(); }

 private:
  auto digit() const noexcept -> bool { return !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; }
  auto fail() noexcept -> int {
    good_ = false;
    return 0;
  }
  std::string_view text_;
  bool good_{true};
};

inline constexpr auto first_printable_time = std::chrono::sys_days{std::chrono::year{0} / 1 / 1};
inline constexpr auto end_of_printable_time = std::chrono::sys_days{std::chrono::year{10'000} / 1 / 1};
inline constexpr auto go_zero_time = std::chrono::sys_days{std::chrono::year{1} / 1 / 1};

inline void append_digits(std::string& out, int value, int width) {
  std::array<char, 4> digits{};
  for (int i = width; i-- > 0; value /= 10) digits[static_cast<std::size_t>(i)] = static_cast<char>('0' + value % 10);
  out.append(digits.data(), static_cast<std::size_t>(width));
}

}  // namespace detail::wire

AGONES_ALLOC_DECL auto parse_time(std::string_view text) noexcept -> std::optional<timestamp> {
  using namespace std::chrono;
  detail::wire::time_scanner scan{text};
  auto const y = scan.number(4, 0, 9999);
  scan.literal('-');
  auto const m = scan.number(2, 1, 12);
  scan.literal('-');
  auto const d = scan.number(2, 1, 31);
  scan.literal('T');
  auto const h = scan.number(2, 0, 23);
  scan.literal(':');
  auto const min = scan.number(2, 0, 59);
  scan.literal(':');
  auto const sec = scan.number(2, 0, 59);
  if (scan.take('.')) scan.skip_digits();
  seconds offset{0};
  if (!scan.take('Z')) {
    bool const behind = scan.take('-');
    if (!behind) scan.literal('+');
    auto const offset_hours = scan.number(2, 0, 23);
    scan.literal(':');
    offset = hours{offset_hours} + minutes{scan.number(2, 0, 59)};
    if (behind) offset = -offset;
  }
  year_month_day const date{year{y}, month{static_cast<unsigned>(m)}, day{static_cast<unsigned>(d)}};
  if (!scan.complete() || !date.ok()) return std::nullopt;
  timestamp const time = sys_days{date} + hours{h} + minutes{min} + seconds{sec} - offset;
  if (time < detail::wire::first_printable_time || time >= detail::wire::end_of_printable_time) return std::nullopt;
  return time == detail::wire::go_zero_time ? unset_time : time;
}

AGONES_ALLOC_DECL auto format_time(timestamp time) -> std::string {
  using namespace std::chrono;
  std::string out;
  if (time < detail::wire::first_printable_time || time >= detail::wire::end_of_printable_time) return out;
  auto const midnight = floor<days>(time);
  year_month_day const date{midnight};
  hh_mm_ss<seconds> const clock{time - midnight};
  detail::wire::append_digits(out, static_cast<int>(date.year()), 4);
  out += '-';
  detail::wire::append_digits(out, static_cast<int>(static_cast<unsigned>(date.month())), 2);
  out += '-';
  detail::wire::append_digits(out, static_cast<int>(static_cast<unsigned>(date.day())), 2);
  out += 'T';
  detail::wire::append_digits(out, static_cast<int>(clock.hours().count()), 2);
  out += ':';
  detail::wire::append_digits(out, static_cast<int>(clock.minutes().count()), 2);
  out += ':';
  detail::wire::append_digits(out, static_cast<int>(clock.seconds().count()), 2);
  out += 'Z';
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
