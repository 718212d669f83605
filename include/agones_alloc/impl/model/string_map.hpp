#pragma once

#include <agones_alloc/model/string_map.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

template <class Entries>
auto string_map::pack(std::size_t count, std::size_t text, Entries for_each) -> shared_string {
  if (count == 0) return {};
  auto const head = head_size(count);
  return shared_string::filled(head + text, [&](char* block) {
    auto* words = block;
    auto end = head;
    auto const put = [&](std::size_t number) {
      auto const narrow = static_cast<std::uint32_t>(number);
      std::memcpy(words, &narrow, sizeof narrow);
      words += sizeof narrow;
    };
    auto const append = [&](std::string_view part) {
      if (!part.empty()) std::memcpy(block + end, part.data(), part.size());
      put(end += part.size());
    };
    put(count);
    for_each([&](std::string_view key, std::string_view value) {
      append(key);
      append(value);
    });
  });
}

inline string_map::string_map(std::vector<value_type> entries) {
  auto const out_of_order = [](value_type const& a, value_type const& b) { return a.first >= b.first; };
  if (std::adjacent_find(entries.begin(), entries.end(), out_of_order) == entries.end()) {  // as nearly all come
    block_ = pack(entries);
    return;
  }
  std::stable_sort(entries.begin(), entries.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
  std::vector<value_type> unique;
  unique.reserve(entries.size());
  for (auto const& entry : entries) {
    if (!unique.empty() && unique.back().first == entry.first) {
      unique.back() = entry;
    } else {
      unique.push_back(entry);
    }
  }
  block_ = pack(unique);
}

inline auto string_map::find(std::string_view key) const noexcept -> std::optional<std::string_view> {
  constexpr std::size_t few = 16;
  auto const count = size();
  if (count <= few) {
    // Most keys differ in length, which is known without a look at the characters.
    auto const text = block_.view();
    std::size_t from = head_size(count);
    for (std::size_t i = 0; i != count; ++i) {
      std::size_t const key_end = word(1 + 2 * i);
      std::size_t const value_end = word(2 + 2 * i);
      if (key_end - from == key.size() && (key.empty() || std::memcmp(text.data() + from, key.data(), key.size()) == 0)) {
        return text.substr(key_end, value_end - key_end);
      }
      from = value_end;
    }
    return std::nullopt;
  }
  auto const at = lower_bound(key);
  if (at == size()) return std::nullopt;
  auto const [found, value] = at_index(at);
  return found == key ? std::optional{value} : std::nullopt;
}

inline void string_map::set(std::string_view key, std::string_view value) {
  auto const index = lower_bound(key);
  auto const count = size();
  auto const known = index != count && at_index(index).first == key;
  auto const next = index + (known ? 1 : 0);  // the first entry behind
  // What is before and behind goes over in one piece each: ends are all that is different.
  auto const old = block_.view();
  auto const old_head = empty() ? 0 : head_size(count);
  auto const head = head_size(count + (known ? 0 : 1));
  auto const before = index == 0 ? 0 : word(2 * index) - old_head;
  auto const skipped = next == 0 ? 0 : word(2 * next) - old_head;
  auto const behind = old.size() - old_head - skipped;
  // Made before it is assigned: `key` and `value` may be of this very map.
  block_ = shared_string::filled(head + before + key.size() + value.size() + behind, [&](char* block) {
    auto* words = block;
    auto const put = [&words](std::size_t number) {
      auto const narrow = static_cast<std::uint32_t>(number);
      std::memcpy(words, &narrow, sizeof narrow);
      words += sizeof narrow;
    };
    auto const put_moved = [&](std::size_t from, std::size_t to, std::size_t by) {
      for (auto const *at = old.data() + from * sizeof(std::uint32_t), *end = old.data() + to * sizeof(std::uint32_t); at != end;
           at += sizeof(std::uint32_t)) {
        std::uint32_t number;
        std::memcpy(&number, at, sizeof number);
        put(number + by);  // forwards or, around zero, backwards
      }
    };
    put(count + (known ? 0 : 1));
    if (index != 0) put_moved(1, 2 * index + 1, head - old_head);
    auto const key_end = head + before + key.size();
    auto const value_end = key_end + value.size();
    put(key_end);
    put(value_end);
    if (next < count) put_moved(2 * next + 1, 2 * count + 1, value_end - old_head - skipped);
    auto const copy = [block](std::size_t to, std::string_view part) {
      if (!part.empty()) std::memcpy(block + to, part.data(), part.size());
    };
    copy(head, old.substr(old_head, before));
    copy(head + before, key);
    copy(key_end, value);
    copy(value_end, old.substr(old_head + skipped));
  });
}

/// `theirs` stands at the first of them: with done(), key(), value() and next(), in order. They are few: each is looked up, and what is
/// between them goes over without a look.
template <class Entries>
void string_map::merge_entries(Entries theirs) {
  auto count = size();
  std::size_t text = count == 0 ? 0 : block_.size() - head_size(count);
  for (auto other = theirs; !other.done(); other.next()) {
    auto const at = lower_bound(other.key());
    auto const known = at != size() && at_index(at).first == other.key();
    count += known ? 0 : 1;
    text += other.value().size() + (known ? 0 : other.key().size());
    if (known) text -= at_index(at).second.size();
  }
  block_ = pack(count, text, [&](auto f) {
    cursor mine{*this};
    std::size_t at = 0;
    for (auto other = theirs; !other.done(); other.next()) {
      for (auto const until = lower_bound(other.key()); at != until; ++at, mine.next()) f(mine.key(), mine.value());
      f(other.key(), other.value());
      if (!mine.done() && mine.key() == other.key()) ++at, mine.next();
    }
    for (; !mine.done(); mine.next()) f(mine.key(), mine.value());
  });
}

inline void string_map::merge(string_map const& other) {
  if (other.empty()) return;
  if (empty()) {
    *this = other;
    return;
  }
  merge_entries(cursor{other});
}

inline void string_map::set(std::initializer_list<value_type> wanted) {
  auto const out_of_order = [](value_type const& a, value_type const& b) { return a.first >= b.first; };
  if (std::adjacent_find(wanted.begin(), wanted.end(), out_of_order) != wanted.end()) return merge(string_map{wanted});
  struct entries {
    value_type const* at;
    value_type const* end;
    auto done() const noexcept -> bool { return at == end; }
    auto key() const noexcept -> std::string_view { return at->first; }
    auto value() const noexcept -> std::string_view { return at->second; }
    void next() noexcept { ++at; }
  };
  merge_entries(entries{wanted.begin(), wanted.end()});
}

template <class F>
void string_map::each_change_from(string_map const& before, F f) const {
  if (same_block(before)) return;
  cursor old{before};
  for (cursor now{*this}; !now.done(); now.next()) {
    // Most have not changed, and stand side by side.
    if (!old.done() && now.key().size() == old.key().size() && now.both() == old.both()) {
      old.next();
      continue;
    }
    auto const key = now.key();
    while (!old.done() && old.key() < key) old.next();
    if (old.done() || old.key() != key) {
      f(key, now.value(), std::optional<std::string_view>{});
      continue;
    }
    if (old.value() != now.value()) f(key, now.value(), std::optional{old.value()});
    old.next();
  }
}

inline auto string_map::erase(std::string_view key) -> bool {
  if (!contains(key)) return false;
  std::vector<value_type> entries;
  entries.reserve(size());
  for (auto const entry : *this) {
    if (entry.first != key) entries.push_back(entry);
  }
  block_ = pack(entries);
  return true;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
