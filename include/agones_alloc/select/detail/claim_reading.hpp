// Reading claims off a server's annotations.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/detail/hash.hpp>
#include <agones_alloc/select/claim.hpp>
#include <agones_alloc/select/detail/claim_text.hpp>
#include <agones_alloc/select/detail/time_text.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Sixteen digits, written to `out`.
inline void put_digits(std::uint64_t number, char* out) noexcept {
  auto const put_half = [](std::uint64_t half, char* to) noexcept {
    // A digit to each byte, eight at once: those above nine get the distance from ':' to 'a' besides.
    half = (half | half << 16) & 0x0000ffff0000ffffULL;
    half = (half | half << 8) & 0x00ff00ff00ff00ffULL;
    half = (half | half << 4) & 0x0f0f0f0f0f0f0f0fULL;
    auto const letters = (half + 0x0606060606060606ULL) >> 4 & 0x0101010101010101ULL;
    half += 0x3030303030303030ULL + letters * ('a' - '0' - 10);
    if constexpr (std::endian::native == std::endian::little) half = __builtin_bswap64(half);
    std::memcpy(to, &half, sizeof half);
  };
  put_half(number >> 32, out);
  put_half(number & 0xffffffffU, out + 8);
}
/// What follows the prefix. Two hashes: ids come from callers, and one must not be able to stand in the way of another.
inline auto claim_digits(std::string_view id) noexcept -> std::array<char, 32> {
  static constexpr auto of_claims = stable_hash{}.add(std::string_view{"claim"});
  stable_hash first;
  auto second = of_claims;
  stable_hash::add_to_both(first, second, id);
  std::array<char, 32> out;
  put_digits(first.value(), out.data());
  put_digits(second.value(), out.data() + 16);
  return out;
}

/// The annotation of an id's claim.
class claim_key {
 public:
  explicit claim_key(std::string_view id) noexcept {
    std::memcpy(text_.data(), keys::claim_prefix.data(), keys::claim_prefix.size());
    auto const digits = claim_digits(id);
    std::memcpy(text_.data() + keys::claim_prefix.size(), digits.data(), digits.size());
  }
  operator std::string_view() const noexcept { return {text_.data(), text_.size()}; }

 private:
  std::array<char, keys::claim_prefix.size() + 32> text_;
};

/// Fields of a claim's annotation: `name=value` joined by `&`, each percent-encoded. Those of the undo part come in threes: what, its name, and how it was.
namespace claim_field {
inline constexpr std::string_view id = "id";
inline constexpr std::string_view digest = "digest";
inline constexpr std::string_view made = "made";
inline constexpr std::string_view expires = "expires";
inline constexpr std::string_view fresh = "fresh";  ///< the server was Ready before its first claim
inline constexpr std::string_view lost = "lost";    ///< the rest was too long to be kept
inline constexpr std::string_view label = "label.";
inline constexpr std::string_view annotation = "annotation.";
inline constexpr std::string_view label_was = "label-was.";
inline constexpr std::string_view annotation_was = "annotation-was.";
inline constexpr std::string_view counted = "counter.";
inline constexpr std::string_view capacity = "counter-capacity.";
inline constexpr std::string_view added = "list.";
inline constexpr std::string_view list_capacity = "list-capacity.";
}  // namespace claim_field

inline auto is_claim_key(std::string_view key) noexcept -> bool { return key.starts_with(keys::claim_prefix); }

/// f(key, text) for each annotation with a claim; the map must not change meanwhile.
template <class F>
void each_claim(game_server const& server, F f) {
  auto const& annotations = server.meta.annotations;
  for (auto at = annotations.from(keys::claim_prefix); at != annotations.end(); ++at) {
    auto const [key, text] = *at;
    if (!is_claim_key(key)) return;
    f(key, text);
  }
}

/// One claim as it is written; `id` is of the text, or of the room that was given.
struct claim_view {
  std::string_view id;
  std::uint64_t digest{0};
  wall_time made{};
  std::optional<wall_time> expires;
};


/// All but the id, from fields that are asked in the order in which they were written.
template <class Fields>
auto read_claim_terms(Fields& fields, claim_view& out) -> bool {
  auto const digest = parse_digits(fields.value(claim_field::digest).value_or(""));
  auto const made = parse_rfc3339_nano(fields.value(claim_field::made).value_or(""));
  if (!request_id_problem(out.id).empty() || !digest || !made) return false;
  out.digest = *digest;
  out.made = *made;
  if (auto const expires = fields.value(claim_field::expires)) {
    out.expires = parse_rfc3339_nano(*expires);
    if (!out.expires) return false;
  }
  return true;
}

/// Nullopt where it cannot be read. `room` keeps the id where it had to be decoded.
inline auto read_claim(std::string_view text, std::string& room) -> std::optional<claim_view> {
  claim_view out;
  if (text.find('%') == std::string_view::npos) {
    plain_claim_fields fields{text};
    out.id = fields.value(claim_field::id).value_or("");
    return read_claim_terms(fields, out) ? std::optional{out} : std::nullopt;
  }
  claim_fields const fields{text};
  room = fields.value(claim_field::id).value_or("");
  out.id = room;
  return read_claim_terms(fields, out) ? std::optional{out} : std::nullopt;
}

/// What the game said of its claims: "true" for all, or one id; a label's value cannot have every id in it.
class game_confirmation {
 public:
  explicit game_confirmation(game_server const& server) noexcept
      : by_annotation_{server.meta.annotations.value_or_empty(keys::sdk_confirmed)},
        by_label_{server.meta.labels.value_or_empty(keys::sdk_confirmed)} {}
  auto covers(std::string_view id) const noexcept -> bool {
    return by_annotation_ == "true" || by_annotation_ == id || by_label_ == "true" || by_label_ == id;
  }
  friend auto operator==(game_confirmation const&, game_confirmation const&) -> bool = default;

 private:
  std::string_view by_annotation_;
  std::string_view by_label_;
};

/// f(claim_view) for each claim that can be read. What the game has confirmed counts as confirmed.
template <class F>
void each_claim_of(game_server const& server, F f) {
  std::optional<game_confirmation> confirmed;
  std::string room;
  each_claim(server, [&](std::string_view key, std::string_view text) {
    auto one = read_claim(text, room);
    if (!one) return;
    auto const digits = claim_digits(one->id);
    if (key.substr(keys::claim_prefix.size()) != std::string_view{digits.data(), digits.size()}) return;
    if (one->expires) {
      if (!confirmed) confirmed.emplace(server);
      if (confirmed->covers(one->id)) one->expires = std::nullopt;
    }
    f(*one);
  });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
