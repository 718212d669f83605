// One stripe of the ready cache: slots, the way from keys to slots, and which slots changed. No meaning.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/server_handle.hpp>
#include <agones_alloc/detail/text_hash.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Hash of namespace and name; the low half finds the slot, the high half the stripe.
inline auto key_hash(std::string_view ns, std::string_view name) noexcept -> std::uint64_t {
  return text_hash(name, text_hash(ns, 0));
}

struct server_slot {
  game_server_ptr server;
  std::uint64_t version{0};
  std::uint32_t hash{0};
  std::uint32_t list{0};  ///< the last complete list that had it, or was under way when it was stored
  slot_status status{slot_status::absent};
  bool queued{false};  ///< it stands in `changed`
};

/// What was seen about a claimed server.
struct seen_meanwhile {
  game_server_ptr newest;  ///< null: nothing newer
  bool gone{false};        ///< the claimed server does not exist any more
  bool unlisted{false};    ///< `gone` only because a list lacked it: a list can be older than what is known
  shared_string list_version{};  ///< of that list; "" when not known
};

/// A server that left the cache, so that a late value does not bring it back.
struct removed_server {
  std::uint32_t hash{0};
  bool gone{false};      ///< deleted: its UID never comes back
  bool unlisted{false};  ///< a list lacked it: the same version may come back, an older one not
  shared_string namespace_;
  shared_string name;
  shared_string uid;
  shared_string resource_version;
};

/// Everything but `mutex` is for holders of the mutex.
template <class Mutex>
class alignas(64) slot_stripe {
 public:
  slot_stripe() : by_key_{0, hash_of{this}, same_key{this}} {}
  slot_stripe(slot_stripe const&) = delete;
  auto operator=(slot_stripe const&) -> slot_stripe& = delete;

  mutable Mutex mutex;
  std::vector<std::uint32_t> changed;
  boost::unordered_flat_map<std::uint32_t, seen_meanwhile> meanwhile;  ///< claimed slots about which something was seen
  std::deque<removed_server> removed;                                  ///< oldest first
  std::size_t claimed{0};

  auto size() const noexcept -> std::size_t { return by_key_.size(); }
  auto slots() const noexcept -> std::uint32_t { return used_; }
  auto at(std::uint32_t local) noexcept -> server_slot& { return segments_[local / per_segment][local % per_segment]; }
  auto at(std::uint32_t local) const noexcept -> server_slot const& { return segments_[local / per_segment][local % per_segment]; }

  auto find(std::uint64_t hash, std::string_view ns, std::string_view name) const -> std::optional<std::uint32_t> {
    auto const found = by_key_.find(probe{static_cast<std::uint32_t>(hash), ns, name});
    if (found == by_key_.end()) return std::nullopt;
    return *found;
  }

  /// A slot for a server whose key is not there yet.
  auto insert(std::uint64_t hash, game_server_ptr server) -> std::uint32_t {
    std::uint32_t local = used_;
    if (!unused_.empty()) {
      local = unused_.back();
      unused_.pop_back();
    } else {
      if (used_ == segments_.size() * per_segment) segments_.push_back(std::make_unique<server_slot[]>(per_segment));
      ++used_;
    }
    auto& made = at(local);
    made.hash = static_cast<std::uint32_t>(hash);
    made.server = std::move(server);
    by_key_.insert(local);
    return local;
  }

  /// Takes a slot out of the map and makes it empty; the caller gets the value.
  auto take_out(std::uint32_t local) -> game_server_ptr {
    by_key_.erase(by_key_.find(local));
    auto& slot = at(local);
    slot.status = slot_status::absent;
    unused_.push_back(local);
    return std::move(slot.server);
  }

  auto next_version() noexcept -> std::uint64_t { return ++version_; }

 private:
  static constexpr std::uint32_t per_segment = 64;

  struct probe {
    std::uint32_t hash;
    std::string_view ns;
    std::string_view name;
  };
  struct hash_of {
    using is_transparent = void;
    slot_stripe const* in;
    auto operator()(std::uint32_t local) const noexcept -> std::size_t { return in->at(local).hash; }
    auto operator()(probe const& p) const noexcept -> std::size_t { return p.hash; }
  };
  struct same_key {
    using is_transparent = void;
    slot_stripe const* in;
    auto operator()(std::uint32_t a, std::uint32_t b) const noexcept -> bool { return a == b; }
    auto operator()(probe const& p, std::uint32_t local) const noexcept -> bool {
      auto const& slot = in->at(local);
      return slot.hash == p.hash && slot.server->meta.name == p.name && slot.server->meta.namespace_ == p.ns;
    }
    auto operator()(std::uint32_t local, probe const& p) const noexcept -> bool { return (*this)(p, local); }
  };

  std::vector<std::unique_ptr<server_slot[]>> segments_;  // slots do not move, growth does not stop the world
  std::uint32_t used_{0};
  std::uint64_t version_{0};
  std::vector<std::uint32_t> unused_;
  boost::unordered_flat_set<std::uint32_t, hash_of, same_key> by_key_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
