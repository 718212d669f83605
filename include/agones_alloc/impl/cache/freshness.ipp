#pragma once

#include <agones_alloc/cache/freshness.hpp>

#include <cstdint>
#include <cstring>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// Four or eight characters at once: the upper halves of digits are 3, also when 6 is added.
template <class Word>
auto are_digits(char const* text) noexcept -> bool {
  constexpr auto each = static_cast<Word>(0x0101010101010101ULL);
  Word word = 0;
  std::memcpy(&word, text, sizeof word);
  return (((word & (each * 0xf0)) ^ (each * 0x30)) | (((word + each * 6) & (each * 0xf0)) ^ (each * 0x30))) == 0;
}

inline auto is_decimal(std::string_view text) noexcept -> bool {
  auto const* const first = text.data();
  auto const size = text.size();
  if (size >= 8) {
    for (std::size_t at = 0; at + 8 < size; at += 8) {
      if (!are_digits<std::uint64_t>(first + at)) return false;
    }
    return are_digits<std::uint64_t>(first + size - 8);
  }
  if (size >= 4) return are_digits<std::uint32_t>(first) && are_digits<std::uint32_t>(first + size - 4);
  for (auto const c : text) {
    if (c < '0' || c > '9') return false;
  }
  return size != 0;
}

inline auto without_leading_zeros(std::string_view text) noexcept -> std::string_view {
  auto const at = text.find_first_not_of('0');
  return at == std::string_view::npos ? std::string_view{} : text.substr(at);
}

}  // namespace detail

AGONES_ALLOC_DECL auto is_newer_version(std::string_view incoming, std::string_view known) noexcept -> bool {
  if (!detail::is_decimal(incoming) || !detail::is_decimal(known)) return incoming != known;
  if (incoming.front() != '0' && known.front() != '0') {
    return incoming.size() != known.size() ? incoming.size() > known.size() : incoming > known;
  }
  auto const a = detail::without_leading_zeros(incoming);
  auto const b = detail::without_leading_zeros(known);
  return a.size() != b.size() ? a.size() > b.size() : a > b;
}

AGONES_ALLOC_DECL auto is_newer(game_server const& incoming, game_server const& known) noexcept -> bool {
  if (incoming.meta.uid != known.meta.uid) return true;
  return is_newer_version(incoming.meta.resource_version, known.meta.resource_version);
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
