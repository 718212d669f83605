// Which server has the claim of which id, by what the servers' annotations say.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/detail/text_hash.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/select/claim.hpp>
#include <agones_alloc/select/detail/claim_reading.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// A claim that has to be confirmed, as it was first seen.
struct expiring_claim {
  std::uint32_t slot{0};
  shared_string id;
  wall_time expires{};
};

/// Of the id alone: hardly ever there is one in several namespaces.
inline auto claim_hash(std::string_view id) noexcept -> std::size_t { return static_cast<std::size_t>(text_hash(id, 0)); }

/// Annotations that were written just now, and the only claim that they hold: who has them need not read it.
struct written_claim {
  string_map const& annotations;
  claim_view claim;
  shared_string const& id;  ///< the claim's
  std::size_t hash;         ///< claim_hash(id)
};

/// Follows the servers of the cache by slot. Costs a look at the annotations per change of them.
class claim_book {
 public:
  /// The slot's server was `before`, as it was told last, and is now this one; null: none. `written`: what is known of its
  /// claims, if it has those annotations; may be null.
  void follow(std::uint32_t slot, game_server const* before, game_server const* now, written_claim const* written = nullptr) {
    if (before != nullptr && now != nullptr && before->meta.annotations.same_block(now->meta.annotations) &&
        before->meta.labels.same_block(now->meta.labels) && before->meta.namespace_ == now->meta.namespace_) {
      return;
    }
    auto const had = before != nullptr && has_claims(*before);
    auto const has = now != nullptr && has_claims(*now);
    if ((!had && !has) || (had && has && says_the_same(*before, *now))) return;
    std::vector<mark> old;
    if (had) {
      each_claim_of(*before, [&](claim_view const& one) {
        forget(claim_hash(one.id), slot);
        if (one.expires) old.push_back({one.id, one.digest, one.made, *one.expires});
      });
    }
    if (!has) return;
    auto next = old.begin();  // both are in the order of their annotations
    auto const note = [&](claim_view const& one, shared_string const& id, std::size_t hash) {
      if (!slots_.try_emplace(hash, slot).second) others_.emplace(hash, slot);
      if (!one.expires) return;
      mark fresh{id, one.digest, one.made, *one.expires};
      if (auto const same = std::find(next, old.end(), fresh); same != old.end()) {
        next = same + 1;
        return;
      }
      expiring_.push_back({slot, std::move(fresh.id), fresh.expires});
    };
    if (written != nullptr && written->annotations.same_block(now->meta.annotations)) {
      note(written->claim, written->id, written->hash);
    } else {
      each_claim_of(*now, [&](claim_view const& one) { note(one, shared_string{one.id}, claim_hash(one.id)); });
    }
  }

  /// The slot of the server with the claim of that id, of which `hash` is claim_hash: should there be several, by replicas that did
  /// not know of each other, one that is confirmed, which its caller was told of, and of these the first one made.
  /// `server_of(slot)`: what was last told of it, as a pointer; null: nothing.
  template <class ServerOf>
  auto find(std::string_view ns, std::string_view id, std::size_t hash, ServerOf server_of) const -> std::optional<std::uint32_t> {
    auto const at = slots_.find(hash);
    if (at == slots_.end()) return std::nullopt;
    std::optional<std::tuple<bool, wall_time, std::uint32_t>> first;  // unconfirmed ones come later
    auto const look_at = [&](std::uint32_t slot) {
      game_server const* const server = server_of(slot);
      if (server == nullptr || server->meta.namespace_ != ns) return;
      auto const claim = find_claim(*server, id);
      if (!claim) return;
      std::tuple const here{claim->expires.has_value(), claim->made, slot};
      if (!first || here < *first) first = here;
    };
    look_at(at->second);
    if (!others_.empty()) {
      for (auto [other, end] = others_.equal_range(hash); other != end; ++other) look_at(other->second);
    }
    return first ? std::optional{std::get<2>(*first)} : std::nullopt;
  }

  /// Appends what has to be confirmed and was not taken before.
  void take_expiring(std::vector<expiring_claim>& out) {
    std::move(expiring_.begin(), expiring_.end(), std::back_inserter(out));
    expiring_.clear();
  }
  auto has_expiring() const noexcept -> bool { return !expiring_.empty(); }
  auto size() const noexcept -> std::size_t { return slots_.size() + others_.size(); }

 private:
  struct mark {  ///< a claim that has to be confirmed
    shared_string id;
    std::uint64_t digest;
    wall_time made;
    wall_time expires;
    friend auto operator==(mark const&, mark const&) -> bool = default;
  };
  /// The keys are hashes.
  struct as_it_is {
    using is_avalanching = void;
    auto operator()(std::size_t hash) const noexcept -> std::size_t { return hash; }
  };

  static auto says_the_same(game_server const& before, game_server const& now) noexcept -> bool {
    return before.meta.annotations == now.meta.annotations && before.meta.namespace_ == now.meta.namespace_ &&
           (before.meta.labels.same_block(now.meta.labels) || game_confirmation{before} == game_confirmation{now});
  }

  void forget(std::size_t hash, std::uint32_t slot) {
    auto const at = slots_.find(hash);
    if (at == slots_.end()) return;
    auto const [begin, end] = others_.equal_range(hash);
    if (at->second != slot) {
      auto const other = std::find_if(begin, end, [slot](auto const& one) { return one.second == slot; });
      if (other != end) others_.erase(other);
    } else if (begin == end) {
      slots_.erase(at);
    } else {
      at->second = begin->second;
      others_.erase(begin);
    }
  }

  // Where the claims of an id are, and no more: what they say stands on the servers, and an entry that is small is near.
  boost::unordered_flat_map<std::size_t, std::uint32_t, as_it_is> slots_;
  std::unordered_multimap<std::size_t, std::uint32_t> others_;  ///< of a hash that is there already; hardly ever
  std::vector<expiring_claim> expiring_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
