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
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// A claim that has to be confirmed, as it was first seen.
struct expiring_claim {
  std::uint32_t slot{0};
  shared_string id;
  wall_time expires{};
};

/// By which a claim is found.
struct claim_name {
  shared_string namespace_;
  shared_string id;
};
struct claim_name_view {
  std::string_view namespace_;
  std::string_view id;
};
struct claim_name_hash {
  using is_transparent = void;
  template <class Name>
  auto operator()(Name const& name) const noexcept -> std::size_t {
    return static_cast<std::size_t>(text_hash(name.id, 0));  // hardly ever in several namespaces
  }
};
struct claim_name_equal {
  using is_transparent = void;
  template <class A, class B>
  auto operator()(A const& a, B const& b) const noexcept -> bool {
    return std::string_view{a.id} == std::string_view{b.id} && std::string_view{a.namespace_} == std::string_view{b.namespace_};
  }
};
template <class T>
using map_by_claim = boost::unordered_flat_map<claim_name, T, claim_name_hash, claim_name_equal>;

/// Follows the servers of the cache by slot. Costs a look at the annotations per change of them.
class claim_book {
 public:
  /// The slot's server was `before`, as it was told last, and is now this one; null: none.
  void follow(std::uint32_t slot, game_server const* before, game_server const* now) {
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
        forget({before->meta.namespace_, one.id}, slot);
        if (one.expires) old.push_back({one.id, one.digest, one.made, *one.expires});
      });
    }
    if (!has) return;
    auto next = old.begin();  // both are in the order of their annotations
    each_claim_of(*now, [&](claim_view const& one) {
      place const here{slot, !one.expires, one.made, one.digest};
      shared_string id{one.id};
      auto const [at, first] = slots_.try_emplace({now->meta.namespace_, id}, places{here, {}});
      if (!first) at->second.others.push_back(here);
      if (!one.expires) return;
      mark fresh{std::move(id), one.digest, one.made, *one.expires};
      if (auto const same = std::find(next, old.end(), fresh); same != old.end()) {
        next = same + 1;
        return;
      }
      expiring_.push_back({slot, std::move(fresh.id), fresh.expires});
    });
  }

  struct found {
    std::uint32_t slot{0};
    std::uint64_t digest{0};
    wall_time made{};
  };
  /// The claim of that id: should there be several, by replicas that did not know of each other, one that is confirmed, which
  /// its caller was told of, and of these the first one made.
  auto find(std::string_view ns, std::string_view id) const -> std::optional<found> {
    if (slots_.empty()) return std::nullopt;
    auto const at = slots_.find(claim_name_view{ns, id});
    if (at == slots_.end()) return std::nullopt;
    auto const* first = &at->second.one;
    for (auto const& other : at->second.others) {
      if (std::tuple{!other.confirmed, other.made, other.slot} < std::tuple{!first->confirmed, first->made, first->slot}) first = &other;
    }
    return found{first->slot, first->digest, first->made};
  }

  /// Appends what has to be confirmed and was not taken before.
  void take_expiring(std::vector<expiring_claim>& out) {
    std::move(expiring_.begin(), expiring_.end(), std::back_inserter(out));
    expiring_.clear();
  }
  auto has_expiring() const noexcept -> bool { return !expiring_.empty(); }
  auto size() const noexcept -> std::size_t { return slots_.size(); }

 private:
  struct mark {  ///< a claim that has to be confirmed
    shared_string id;
    std::uint64_t digest;
    wall_time made;
    wall_time expires;
    friend auto operator==(mark const&, mark const&) -> bool = default;
  };
  struct place {
    std::uint32_t slot;
    bool confirmed;
    wall_time made;
    std::uint64_t digest;
  };
  struct places {
    place one;
    std::vector<place> others;  ///< nearly always none
  };

  static auto says_the_same(game_server const& before, game_server const& now) noexcept -> bool {
    return before.meta.annotations == now.meta.annotations && before.meta.namespace_ == now.meta.namespace_ &&
           (before.meta.labels.same_block(now.meta.labels) || game_confirmation{before} == game_confirmation{now});
  }

  void forget(claim_name_view name, std::uint32_t slot) {
    auto const at = slots_.find(name);
    if (at == slots_.end()) return;
    auto& [one, others] = at->second;
    if (one.slot != slot) {
      std::erase_if(others, [slot](place const& p) { return p.slot == slot; });
    } else if (others.empty()) {
      slots_.erase(at);
    } else {
      one = others.back();
      others.pop_back();
    }
  }

  map_by_claim<places> slots_;
  std::vector<expiring_claim> expiring_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
