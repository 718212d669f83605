// Which server has the claim of which id, by what the servers' annotations say.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/select/claim.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// A claim that has to be confirmed, as it was first seen.
struct expiring_claim {
  std::uint32_t slot{0};
  std::string id;
  wall_time expires{};
};

/// Follows the servers of the cache by slot. Costs a look at the annotations per change of them.
class claim_book {
 public:
  /// The slot's server was `before` and is now this one; null: none.
  void follow(std::uint32_t slot, game_server const* before, game_server const* now) {
    if (before != nullptr && now != nullptr && before->meta.annotations.same_block(now->meta.annotations) &&
        before->meta.namespace_ == now->meta.namespace_) {
      return;
    }
    auto const any = now != nullptr && has_claims(*now);
    auto const known = by_slot_.empty() ? by_slot_.end() : by_slot_.find(slot);
    if (!any && known == by_slot_.end()) return;
    entry fresh;
    if (any) {
      fresh.namespace_ = now->meta.namespace_;
      fresh.claims = claims_of(*now);
    }
    if (known != by_slot_.end()) {
      if (known->second == fresh) return;
      for (auto const& claim : known->second.claims) forget(known->second.namespace_, claim.id, slot);
      note_expiries(slot, fresh, &known->second);
    } else {
      note_expiries(slot, fresh, nullptr);
    }
    for (auto const& claim : fresh.claims) slots_[key(fresh.namespace_, claim.id)].push_back({slot, claim.made, claim.digest, !claim.expires});
    if (fresh.claims.empty()) {
      if (known != by_slot_.end()) by_slot_.erase(known);
    } else {
      by_slot_.insert_or_assign(slot, std::move(fresh));
    }
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
    auto const at = slots_.find(key(ns, id));
    if (at == slots_.end()) return std::nullopt;
    auto const& first = *std::min_element(at->second.begin(), at->second.end(), [](place const& a, place const& b) {
      return std::tuple{!a.confirmed, a.made, a.slot} < std::tuple{!b.confirmed, b.made, b.slot};
    });
    return found{first.slot, first.digest, first.made};
  }

  /// Appends what has to be confirmed and was not taken before.
  void take_expiring(std::vector<expiring_claim>& out) {
    std::move(expiring_.begin(), expiring_.end(), std::back_inserter(out));
    expiring_.clear();
  }
  auto has_expiring() const noexcept -> bool { return !expiring_.empty(); }
  auto size() const noexcept -> std::size_t { return slots_.size(); }

 private:
  struct entry {
    shared_string namespace_;
    std::vector<claim_record> claims;
    friend auto operator==(entry const&, entry const&) -> bool = default;
  };
  struct place {
    std::uint32_t slot;
    wall_time made;
    std::uint64_t digest;
    bool confirmed;
  };

  static auto key(std::string_view ns, std::string_view id) -> std::string {
    std::string out;
    out.reserve(ns.size() + 1 + id.size());
    return out.append(ns).append(1, '/').append(id);
  }

  void forget(shared_string const& ns, std::string const& id, std::uint32_t slot) {
    auto const at = slots_.find(key(ns, id));
    if (at == slots_.end()) return;
    std::erase_if(at->second, [slot](place const& p) { return p.slot == slot; });
    if (at->second.empty()) slots_.erase(at);
  }

  void note_expiries(std::uint32_t slot, entry const& fresh, entry const* before) {
    for (auto const& claim : fresh.claims) {
      if (!claim.expires) continue;
      if (before != nullptr && std::find(before->claims.begin(), before->claims.end(), claim) != before->claims.end()) continue;
      expiring_.push_back({slot, claim.id, *claim.expires});
    }
  }

  boost::unordered_flat_map<std::uint32_t, entry> by_slot_;
  boost::unordered_flat_map<std::string, std::vector<place>> slots_;  ///< by namespace and id; almost always one
  std::vector<expiring_claim> expiring_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
