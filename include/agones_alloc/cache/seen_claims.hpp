// Which claims stand in what was seen about servers that are being written.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/select/claim.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Slots by the claims of their newest value; a hint, as hashes may be equal. Costs next to nothing for servers without claims. Thread-safe.
template <class Mutex>
class seen_claims {
 public:
  /// What was last seen about the slot's server was `before`, and is `now`; null: nothing.
  void follow(std::uint32_t slot, game_server const* before, game_server const* now) {
    bool const had = before != nullptr && has_claims(*before);
    bool const has = now != nullptr && has_claims(*now);
    if (!had && !has) return;
    std::lock_guard<Mutex> const lock{mutex_};
    if (had) each_claim(*before, [&](std::uint64_t key) { drop(key, slot); });
    if (has) each_claim(*now, [&](std::uint64_t key) { slots_.emplace(key, slot); });
    size_.store(slots_.size(), std::memory_order_release);
  }

  /// Slots that may have the claim of that id.
  auto find(std::string_view ns, std::string_view id) const -> std::vector<std::uint32_t> {
    std::vector<std::uint32_t> out;
    if (size_.load(std::memory_order_acquire) == 0) return out;
    auto const key = key_of(ns, claim_annotation(id));
    std::lock_guard<Mutex> const lock{mutex_};
    auto const [from, to] = slots_.equal_range(key);
    for (auto at = from; at != to; ++at) out.push_back(at->second);
    return out;
  }

 private:
  static auto key_of(std::string_view ns, std::string_view annotation) noexcept -> std::uint64_t {
    return std::hash<std::string_view>{}(annotation) + 0x9e3779b97f4a7c15ULL * std::hash<std::string_view>{}(ns);
  }
  template <class F>
  static void each_claim(game_server const& server, F f) {
    for (auto const [key, value] : server.meta.annotations) {
      if (key.starts_with(keys::claim_prefix)) f(key_of(server.meta.namespace_, key));
    }
  }
  void drop(std::uint64_t key, std::uint32_t slot) {
    auto const [from, to] = slots_.equal_range(key);
    for (auto at = from; at != to; ++at) {
      if (at->second != slot) continue;
      slots_.erase(at);
      return;
    }
  }

  mutable Mutex mutex_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> slots_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
