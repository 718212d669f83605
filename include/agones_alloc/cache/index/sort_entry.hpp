// The place of a server in a view's order, mostly decided without looking at the server.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/index/server_slots.hpp>
#include <agones_alloc/detail/saturating.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/select/rank.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Keys grow with compare_static, but may be equal where it is not: then the servers decide.
struct sort_entry {
  std::uint64_t wish{0};  ///< players, priorities or date
  std::uint64_t name_head{0};
  std::uint64_t name_tail{0};
  std::uint32_t id{0};
};

/// Makes the keys of one view. Names are taken after a prefix that most of them share; others get the least or the
/// greatest key, so a prefix that fits badly costs time but no correctness.
class sort_key_maker {
 public:
  explicit sort_key_maker(ranking const& order) : order_{&order} {}

  void set_prefix(std::string_view prefix) { prefix_ = prefix; }
  /// True when the name begins with the prefix.
  auto fits(std::string_view name) const noexcept -> bool {
    return name.size() >= prefix_.size() && (prefix_.empty() || std::memcmp(name.data(), prefix_.data(), prefix_.size()) == 0);
  }

  auto make(game_server const& server, std::uint32_t id) const noexcept -> sort_entry {
    sort_entry out;
    out.id = id;
    // A ranker of the user's own has no key.
    if (order_->kind == order_kind::custom) return out;
    if (set_wish(server, out)) set_name(server.meta.name, out);
    return out;
  }

 private:
  static constexpr std::size_t most_parts = 4;

  /// False when the key of equal wishes may stand for different ones: then names must not be compared.
  auto set_wish(game_server const& server, sort_entry& out) const noexcept -> bool {
    auto const dated = order_->kind == order_kind::newest_first;
    auto const players = order_->kind == order_kind::packed && order_->players;
    auto const parts = order_->priorities.size() + (dated ? 1 : 0) + (players ? 1 : 0);
    if (parts == 0) return true;
    auto const used = parts < most_parts ? parts : most_parts;
    auto const bits = static_cast<unsigned>(64 / used);
    auto exact = true;
    std::size_t done = 0;
    auto const add = [&](std::optional<std::int64_t> amount, bool descending) {
      if (done == used) return;
      ++done;
      if (exact) {
        exact = add_part(out.wish, amount, descending, bits);
      } else {
        out.wish <<= bits;
      }
    };
    if (dated) add(server.meta.creation_timestamp.time_since_epoch().count(), true);
    if (players) {
      auto const* status = server.status.players.get();
      add(status == nullptr ? std::nullopt : std::optional{saturating_sub(status->capacity, status->count)}, false);
    }
    for (auto const& wanted : order_->priorities) add(available(server, wanted), wanted.descending);
    return exact && parts <= used;
  }

  /// Code: absent last; amounts by size, negative ones and those past the last code share one.
  static auto add_part(std::uint64_t& wish, std::optional<std::int64_t> amount, bool descending, unsigned bits) noexcept
      -> bool {
    auto const absent = ~std::uint64_t{0} >> (64 - bits);
    auto const largest = absent - 1;
    auto code = absent;
    auto exact = true;
    if (amount) {
      auto const size = static_cast<std::uint64_t>(*amount);
      exact = *amount >= 0 && size < largest - 1;
      code = *amount < 0 ? 0 : exact ? size + 1 : largest;
      if (descending) code = largest - code;
    }
    wish = bits == 64 ? code : (wish << bits) | code;
    return exact;
  }

  void set_name(std::string_view name, sort_entry& out) const noexcept {
    if (!fits(name)) {
      if (name < prefix_) return;
      out.name_head = out.name_tail = ~std::uint64_t{0};
      return;
    }
    name.remove_prefix(prefix_.size());
    out.name_head = bytes(name);
    if (name.size() > 8) out.name_tail = bytes(name.substr(8));
  }

  /// The first eight bytes as a number that compares as they do.
  static auto bytes(std::string_view text) noexcept -> std::uint64_t {
    char first[8]{};
    if (text.size() >= 8) {
      std::memcpy(first, text.data(), 8);
    } else {
      for (std::size_t i = 0; i != text.size(); ++i) first[i] = text[i];
    }
    std::uint64_t out = 0;  // in one step, as compilers know
    for (int i = 0; i != 8; ++i) out = out << 8 | static_cast<unsigned char>(first[i]);
    return out;
  }

  ranking const* order_;
  std::string prefix_;
};

/// Strict order of the entries of one view.
struct entry_order {
  ranking const* order;
  server_slots const* servers;

  AGONES_ALLOC_INLINE auto operator()(sort_entry const& a, sort_entry const& b) const noexcept -> bool {
    if (a.wish != b.wish) return a.wish < b.wish;
    if (a.name_head != b.name_head) return a.name_head < b.name_head;
    if (a.name_tail != b.name_tail) return a.name_tail < b.name_tail;
    if (a.id == b.id) return false;
    return compare_static(*(*servers)[a.id].server, *(*servers)[b.id].server, *order) < 0;
  }
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
