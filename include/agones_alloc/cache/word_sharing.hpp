// Makes cached servers share the memory of equal label sets, counters and lists, node names and other repeated words.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/detail/text_hash.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <boost/container/container_fwd.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline auto content_hash(shared_string const& text) noexcept -> std::uint64_t { return text_hash(text, 0); }
inline auto content_hash(string_map const& map) noexcept -> std::uint64_t { return text_hash(map.bytes(), 0); }
inline auto content_hash(counter_status const& counter) noexcept -> std::uint64_t {
  return static_cast<std::uint64_t>(counter.count) * 31 + static_cast<std::uint64_t>(counter.capacity);
}
inline auto content_hash(list_status const& list) noexcept -> std::uint64_t {
  return static_cast<std::uint64_t>(list.count()) * 31 + static_cast<std::uint64_t>(list.capacity);
}
template <class Value>
auto content_hash(shared_copy<named_map<Value>> const& map) noexcept -> std::uint64_t {
  std::uint64_t hash = map.size();
  for (auto const& [name, value] : map) hash = text_hash(name, hash + content_hash(value));
  return hash;
}

/// A bounded memory of values: the copy seen first stands for all equal ones, until newer ones push it out.
/// Sharing is a saving only, so forgetting is harmless.
template <class Value>
class value_pool {
 public:
  explicit value_pool(std::size_t capacity) : sets_(capacity == 0 ? 0 : std::bit_ceil((capacity + ways - 1) / ways)) {}

  /// The value to use in place of an equal one.
  auto shared(Value const& value) -> Value const& {
    if (sets_.empty() || value.empty()) return value;
    auto& set = set_of(value);
    auto const found = std::find(set.begin(), set.end(), value);
    if (found == set.end()) {
      std::rotate(set.begin(), set.end() - 1, set.end());
      set.front() = value;
    } else {
      std::rotate(set.begin(), found, found + 1);
    }
    return set.front();
  }

  /// Null when there is no equal one.
  auto find(Value const& value) -> Value const* {
    if (sets_.empty()) return nullptr;
    auto const& set = set_of(value);
    auto const found = std::find(set.begin(), set.end(), value);
    return found == set.end() ? nullptr : &*found;
  }

 private:
  static constexpr std::size_t ways = 4;
  auto set_of(Value const& value) -> std::array<Value, ways>& { return sets_[content_hash(value) & (sets_.size() - 1)]; }
  std::vector<std::array<Value, ways>> sets_;
};

/// Thread-safe.
template <class Mutex>
class word_sharing {
 public:
  word_sharing(std::size_t label_sets, std::size_t words)
      : labels_{label_sets}, words_{words}, counters_{words / 8}, lists_{words / 8} {}

  /// `server` itself when it shares all there is to share, else a copy that does.
  auto share(game_server_ptr server) -> game_server_ptr {
    std::lock_guard const lock{mutex_};
    if (shares_all(*server)) return server;
    auto copy = copy_of(*server);
    share_parts(*copy);
    return copy;
  }
  /// The same for a server that nobody else has yet.
  void share_in(game_server& server) {
    std::lock_guard const lock{mutex_};
    if (!shares_all(server)) share_parts(server);
  }

 private:
  /// The two that show whether a value came through here before.
  auto shares_all(game_server const& server) -> bool {
    return labels_.shared(server.meta.labels).same_block(server.meta.labels) &&
           words_.shared(server.status.node_name).same_buffer(server.status.node_name);
  }
  void share_parts(game_server& server) {
    auto& status = server.status;
    server.meta.labels = labels_.shared(server.meta.labels);
    share_word(server.meta.namespace_);
    share_word(status.node_name);
    share_word(status.address);
    share_word(status.eviction_safe);
    for (auto& port : status.ports) share_word(port.name);
    for (auto& address : status.addresses) {
      share_word(address.type);
      share_word(address.address);
    }
    share_entries(status.counters, counters_);
    share_entries(status.lists, lists_);
  }
  void share_word(shared_string& word) { word = words_.shared(word); }

  template <class Value>
  void share_entries(shared_copy<named_map<Value>>& map, value_pool<shared_copy<named_map<Value>>>& known) {
    if (map.empty()) return;
    if (auto const* equal = known.find(map)) {
      map = *equal;
      return;
    }
    auto entries = map.own().extract_sequence();
    for (auto& entry : entries) share_word(entry.first);
    map.own().adopt_sequence(boost::container::ordered_unique_range, std::move(entries));
    known.shared(map);
  }

  Mutex mutex_;
  value_pool<string_map> labels_;
  value_pool<shared_string> words_;
  value_pool<shared_copy<named_map<counter_status>>> counters_;  ///< servers that are Ready often have equal ones
  value_pool<shared_copy<named_map<list_status>>> lists_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
