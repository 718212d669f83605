// A table by text that forgets what was used longest ago.
#pragma once

#include <agones_alloc/config.hpp>

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

template <class Value>
class recent_table {
 public:
  /// `most`: entries, at least 1.
  explicit recent_table(std::size_t most) : most_{most} {}

  /// The entry of that key, made with Value{} where there is none; now the last used.
  auto use(std::string_view key) -> Value& {
    if (auto const found = places_.find(key); found != places_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->second;
    }
    if (entries_.size() >= most_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(std::string{key}, Value{});
    places_.emplace(entries_.front().first, entries_.begin());
    return entries_.front().second;
  }
  /// The entry of that key, or null; its age stays as it is.
  auto find(std::string_view key) -> Value* {
    auto const found = places_.find(key);
    return found == places_.end() ? nullptr : &found->second->second;
  }
  /// From the last used to the one used longest ago.
  template <class Visit>
  void visit(Visit&& each) const {
    for (auto const& [key, value] : entries_) each(std::string_view{key}, value);
  }
  void erase(std::string_view key) {
    auto const found = places_.find(key);
    if (found == places_.end()) return;
    auto const entry = found->second;
    places_.erase(found);  // first: its key lives in the entry
    entries_.erase(entry);
  }
  auto size() const noexcept -> std::size_t { return entries_.size(); }

 private:
  using entry_list = std::list<std::pair<std::string const, Value>>;
  std::size_t most_;
  entry_list entries_;
  std::unordered_map<std::string_view, typename entry_list::iterator> places_;  ///< keys live in the entries
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
