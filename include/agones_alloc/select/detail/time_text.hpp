// Times as text, RFC 3339 in UTC.
#pragma once

#include <agones_alloc/config.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// The last `pairs` pairs of decimal digits of `number`, with leading zeros.
inline void put_pairs(char* out, int pairs, std::uint64_t number) noexcept {
  static constexpr auto digits = [] {
    std::array<char, 200> all{};
    for (std::size_t i = 0; i != 100; ++i) {
      all[2 * i] = static_cast<char>('0' + i / 10);
      all[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
    return all;
  }();
  for (int i = pairs; i-- > 0; number /= 100) std::memcpy(out + 2 * i, digits.data() + 2 * (number % 100), 2);
}

/// With as many digits of the fraction as the time needs.
class time_text {
 public:
  explicit time_text(std::chrono::sys_time<std::chrono::nanoseconds> when) noexcept {
    // One time is often written at several places: as an allocation's stamp, and in its claim.
    thread_local constinit known_text last{std::numeric_limits<std::int64_t>::min(), 0, {}};
    auto const number = when.time_since_epoch().count();
    if (number == last.number && last.size != 0) {
      size_ = last.size;
      std::memcpy(text_, last.text, sizeof text_);
      return;
    }
    write(when);
    last.number = number;
    last.size = size_;
    std::memcpy(last.text, text_, sizeof text_);
  }
  operator std::string_view() const noexcept { return {text_, size_}; }

 private:
  struct known_text {
    std::int64_t number;
    std::size_t size;
    char text[30];
  };
  struct known_second {
    std::int64_t number;
    char text[21];
  };

  void write(std::chrono::sys_time<std::chrono::nanoseconds> when) noexcept {
    auto const whole = std::chrono::floor<std::chrono::seconds>(when);
    auto const fraction = static_cast<std::uint64_t>((when - whole).count());
    std::memcpy(text_, second_of(whole), 21);
    auto* end = text_ + 19;
    if (fraction != 0) {
      text_[20] = static_cast<char>('0' + fraction / 100'000'000);
      put_pairs(text_ + 21, 4, fraction % 100'000'000);
      end = text_ + 29;
      while (end[-1] == '0') --end;
    }
    *end++ = 'Z';
    size_ = static_cast<std::size_t>(end - text_);
  }

  /// Most are of one of the two seconds before: now, and when something ends that begins now.
  static auto second_of(std::chrono::sys_seconds whole) noexcept -> char const* {
    static constexpr auto none = std::numeric_limits<std::int64_t>::min();
    thread_local constinit std::array<known_second, 2> kept{known_second{none, {}}, known_second{none, {}}};
    thread_local constinit std::size_t newer = 0;
    auto const number = whole.time_since_epoch().count();
    for (auto const& one : kept) {
      if (one.number == number) return one.text;
    }
    newer ^= 1;
    auto& fresh = kept[newer];
    fresh.number = number;
    auto const day = std::chrono::floor<std::chrono::days>(whole);
    std::chrono::year_month_day const date{day};
    auto const second = static_cast<std::uint64_t>((whole - day).count());
    std::memcpy(fresh.text, "0000-00-00T00:00:00.0", 21);
    // 64 bits of nanoseconds reach from 1677 to 2262: four digits.
    put_pairs(fresh.text, 2, static_cast<std::uint64_t>(static_cast<int>(date.year())));
    put_pairs(fresh.text + 5, 1, static_cast<unsigned>(date.month()));
    put_pairs(fresh.text + 8, 1, static_cast<unsigned>(date.day()));
    put_pairs(fresh.text + 11, 1, second / 3600);
    put_pairs(fresh.text + 14, 1, second / 60 % 60);
    put_pairs(fresh.text + 17, 1, second % 60);
    return fresh.text;
  }

  std::size_t size_;
  char text_[30];
};

/// Digits of a text, of which the worst is looked at once, at the end.
class digit_reader {
 public:
  explicit digit_reader(char const* text) noexcept : text_{text} {}
  AGONES_ALLOC_INLINE auto pair(std::size_t at) noexcept -> int { return digit(at) * 10 + digit(at + 1); }
  auto all_digits() const noexcept -> bool { return worst_ <= 9; }

 private:
  AGONES_ALLOC_INLINE auto digit(std::size_t at) noexcept -> int {
    auto const out = static_cast<unsigned>(static_cast<unsigned char>(text_[at])) - '0';
    worst_ = std::max(worst_, out);
    return static_cast<int>(out);
  }
  char const* text_;
  unsigned worst_{0};
};

/// What time_text writes: UTC, at most nine digits of a fraction.
inline auto parse_rfc3339_nano(std::string_view text) noexcept -> std::optional<std::chrono::sys_time<std::chrono::nanoseconds>> {
  static constexpr std::size_t whole = std::string_view{"0000-00-00T00:00:00"}.size();
  if (text.size() <= whole || text.back() != 'Z') return std::nullopt;
  digit_reader digits{text.data()};
  auto const year = digits.pair(0) * 100 + digits.pair(2);
  auto const month = digits.pair(5);
  auto const day = digits.pair(8);
  auto const hour = digits.pair(11);
  auto const minute = digits.pair(14);
  auto const second = digits.pair(17);
  bool const shaped = text[4] == '-' && text[7] == '-' && text[10] == 'T' && text[13] == ':' && text[16] == ':';
  if (!shaped || !digits.all_digits()) return std::nullopt;
  // Within what 64 bits of nanoseconds can say.
  if (year < 1970 || year > 2261 || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  std::chrono::year_month_day const date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  auto fraction = text.substr(whole, text.size() - whole - 1);
  std::int64_t nanoseconds = 0;
  if (!fraction.empty()) {
    if (fraction.front() != '.' || fraction.size() < 2 || fraction.size() > 10) return std::nullopt;
    fraction.remove_prefix(1);
    static constexpr std::array<std::int64_t, 10> units{1'000'000'000, 100'000'000, 10'000'000, 1'000'000, 100'000,
                                                        10'000,        1'000,       100,        10,        1};
    for (char const c : fraction) {
      if (c < '0' || c > '9') return std::nullopt;
      nanoseconds = nanoseconds * 10 + (c - '0');
    }
    nanoseconds *= units[fraction.size()];
  }
  auto const seconds = (hour * 60 + minute) * 60 + second;
  return std::chrono::sys_time<std::chrono::nanoseconds>{std::chrono::sys_days{date}} + std::chrono::seconds{seconds} +
         std::chrono::nanoseconds{nanoseconds};
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
