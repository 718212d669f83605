// Makes cached servers share the memory of equal label sets, node names and other repeated words.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/game_server.hpp>

#include <boost/container/container_fwd.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline auto bytes_of(shared_string const& text) noexcept -> std::string_view { return text.view(); }
inline auto bytes_of(string_map const& map) noexcept -> std::string_view { return map.bytes(); }

/// A bounded memory of values: the copy seen first stands for all equal ones, until newer ones push it out.
/// Sharing is a saving only, so forgetting is harmless.
template <class Value>
class value_pool {
 public:
  explicit value_pool(std::size_t capacity) : sets_(capacity == 0 ? 0 : std::bit_ceil((capacity + ways - 1) / ways)) {}

  /// The value to use in place of an equal one.
  auto shared(Value const& value) -> Value const& {
    if (sets_.empty() || bytes_of(value).empty()) return value;
    auto& set = sets_[std::hash<std::string_view>{}(bytes_of(value)) & (sets_.size() - 1)];
    auto const found = std::find(set.begin(), set.end(), value);
    if (found == set.end()) {
      std::rotate(set.begin(), set.end() - 1, set.end());
      set.front() = value;
    } else {
      std::rotate(set.begin(), found, found + 1);
    }
    return set.front();
  }

 private:
  static constexpr std::size_t ways = 4;
  std::vector<std::array<Value, ways>> sets_;
};

/// Thread-safe.
template <class Mutex>
class word_sharing {
 public:
  word_sharing(std::size_t label_sets, std::size_t words) : labels_{label_sets}, words_{words} {}

  /// `server` itself when it shares all there is to share, else a copy that does.
  auto share(game_server_ptr server) -> game_server_ptr {
    std::lock_guard const lock{mutex_};
    if (shares_all(*server)) return server;
    auto copy = std::make_shared<game_server>(*server);
    copy->meta.labels = labels_.shared(copy->meta.labels);
    share_word(copy->meta.namespace_);
    share_word(copy->status.node_name);
    share_word(copy->status.address);
    share_word(copy->status.eviction_safe);
    for (auto& port : copy->status.ports) share_word(port.name);
    for (auto& address : copy->status.addresses) {
      share_word(address.type);
      share_word(address.address);
    }
    share_names(copy->status.counters);
    share_names(copy->status.lists);
    return copy;
  }

 private:
  /// The two that show whether a value came through here before.
  auto shares_all(game_server const& server) -> bool {
    return labels_.shared(server.meta.labels).same_block(server.meta.labels) &&
           words_.shared(server.status.node_name).same_buffer(server.status.node_name);
  }
  void share_word(shared_string& word) { word = words_.shared(word); }

  template <class Map>
  void share_names(Map& map) {
    auto entries = map.extract_sequence();
    for (auto& entry : entries) share_word(entry.first);
    map.adopt_sequence(boost::container::ordered_unique_range, std::move(entries));
  }

  Mutex mutex_;
  value_pool<string_map> labels_;
  value_pool<shared_string> words_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
