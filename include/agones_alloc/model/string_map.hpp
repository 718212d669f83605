// Labels and annotations: a sorted string map in one shared, immutable block.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/model/shared_string.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <string>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

/// A map of string to string with value semantics, eight bytes when empty.
///
/// Copies share one block of memory (count, end offsets, characters), so copying a server
/// costs one reference count per map; a change makes a new block. Entries are sorted by key,
/// byte-wise. Ten labels of 25 characters take about 330 bytes. Thread safety: as int.
class string_map {
 public:
  using value_type = std::pair<std::string_view, std::string_view>;

  class const_iterator {
   public:
    using value_type = string_map::value_type;
    using reference = value_type;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using iterator_concept = std::random_access_iterator_tag;
    struct pointer {
      value_type value;
      auto operator->() const noexcept -> value_type const* { return &value; }
    };

    const_iterator() noexcept = default;
    const_iterator(string_map const* map, std::size_t index) noexcept : map_{map}, index_{index} {}
    auto operator*() const noexcept -> value_type { return map_->at_index(index_); }
    auto operator->() const noexcept -> pointer { return {**this}; }
    auto operator[](difference_type n) const noexcept -> value_type { return *(*this + n); }
    auto operator++() noexcept -> const_iterator& { return ++index_, *this; }
    auto operator++(int) noexcept -> const_iterator { auto copy = *this; ++index_; return copy; }
    auto operator--() noexcept -> const_iterator& { return --index_, *this; }
    auto operator--(int) noexcept -> const_iterator { auto copy = *this; --index_; return copy; }
    auto operator+=(difference_type n) noexcept -> const_iterator& { return index_ += static_cast<std::size_t>(n), *this; }
    auto operator-=(difference_type n) noexcept -> const_iterator& { return index_ -= static_cast<std::size_t>(n), *this; }
    friend auto operator+(const_iterator it, difference_type n) noexcept -> const_iterator { return it += n; }
    friend auto operator+(difference_type n, const_iterator it) noexcept -> const_iterator { return it += n; }
    friend auto operator-(const_iterator it, difference_type n) noexcept -> const_iterator { return it -= n; }
    friend auto operator-(const_iterator const& a, const_iterator const& b) noexcept -> difference_type {
      return static_cast<difference_type>(a.index_) - static_cast<difference_type>(b.index_);
    }
    friend auto operator==(const_iterator const& a, const_iterator const& b) noexcept -> bool { return a.index_ == b.index_; }
    friend auto operator<=>(const_iterator const& a, const_iterator const& b) noexcept { return a.index_ <=> b.index_; }

   private:
    string_map const* map_{nullptr};
    std::size_t index_{0};
  };

  string_map() noexcept = default;
  string_map(std::initializer_list<value_type> entries) : string_map(std::vector<value_type>(entries)) {}
  /// Of entries in any order; of two with one key the later wins (spec 1.1).
  explicit string_map(std::vector<value_type> entries);

  auto size() const noexcept -> std::size_t { return block_.empty() ? 0 : header(); }
  auto empty() const noexcept -> bool { return block_.empty(); }
  auto begin() const noexcept -> const_iterator { return {this, 0}; }
  auto end() const noexcept -> const_iterator { return {this, size()}; }
  auto find(std::string_view key) const noexcept -> std::optional<std::string_view>;
  /// From the first entry whose key is not less.
  auto from(std::string_view key) const noexcept -> const_iterator { return {this, lower_bound(key)}; }
  /// The first key that begins so.
  auto first_with(std::string_view prefix) const noexcept -> std::optional<std::string_view> {
    if (empty()) return std::nullopt;
    auto key = at_index(0).first;
    if (key < prefix) {  // most have only keys that come later
      auto const at = lower_bound(prefix);
      if (at == size()) return std::nullopt;
      key = at_index(at).first;
    }
    return key.starts_with(prefix) ? std::optional{key} : std::nullopt;
  }
  auto contains(std::string_view key) const noexcept -> bool { return find(key).has_value(); }
  /// The value, or "" where the key is absent.
  auto value_or_empty(std::string_view key) const noexcept -> std::string_view { return find(key).value_or(std::string_view{}); }

  /// Adds or overwrites one entry. O(size): to change many, use `merge`.
  void set(std::string_view key, std::string_view value);
  /// Several at once; of two with one key the later wins.
  void set(std::initializer_list<value_type> entries);
  /// Adds or overwrites every entry of `other`.
  void merge(string_map const& other);
  /// f(key, value, std::optional<std::string_view> before) for each entry that is not the same in `before`.
  template <class F>
  void each_change_from(string_map const& before, F f) const;
  /// Removes one entry; true when it was there.
  auto erase(std::string_view key) -> bool;

  /// True when both share one block (a fast path for equality and interning).
  auto same_block(string_map const& other) const noexcept -> bool { return block_.same_buffer(other.block_); }
  /// Asks for the block, before it is needed.
  void bring_near() const noexcept { block_.bring_near(); }
  /// The block's bytes: equal maps have equal bytes. For hashing and interning.
  auto bytes() const noexcept -> std::string_view { return block_.view(); }
  friend auto operator==(string_map const& a, string_map const& b) noexcept -> bool { return a.block_ == b.block_; }

 private:
  // Block: u32 count, then per entry {u32 end of key, u32 end of value}, then the characters.
  AGONES_ALLOC_INLINE auto word(std::size_t index) const noexcept -> std::uint32_t {
    std::uint32_t out;
    std::memcpy(&out, block_.view().data() + index * sizeof out, sizeof out);
    return out;
  }
  AGONES_ALLOC_INLINE auto header() const noexcept -> std::size_t { return word(0); }
  static constexpr auto head_size(std::size_t count) noexcept -> std::size_t {
    return (1 + 2 * count) * sizeof(std::uint32_t);
  }
  AGONES_ALLOC_INLINE auto at_index(std::size_t index) const noexcept -> value_type {
    auto const* const text = block_.view().data();
    auto const begin = index == 0 ? head_size(header()) : word(2 * index);
    auto const key_end = word(1 + 2 * index);
    auto const value_end = word(2 + 2 * index);
    return {{text + begin, key_end - begin}, {text + key_end, value_end - key_end}};
  }
  /// Goes through the entries in order: what an index would have to look up, it knows.
  class cursor {
   public:
    explicit cursor(string_map const& map) noexcept : text_{map.block_.view().data()}, left_{map.size()}, from_{head_size(left_)} { look(); }
    auto done() const noexcept -> bool { return left_ == 0; }
    auto key() const noexcept -> std::string_view { return {text_ + from_, key_end_ - from_}; }
    auto value() const noexcept -> std::string_view { return {text_ + key_end_, value_end_ - key_end_}; }
    /// Key and value without what is between them.
    auto both() const noexcept -> std::string_view { return {text_ + from_, value_end_ - from_}; }
    void next() noexcept {
      --left_;
      from_ = value_end_;
      ends_ += 2 * sizeof(std::uint32_t);
      look();
    }

   private:
    void look() noexcept {
      if (left_ == 0) return;
      std::memcpy(&key_end_, text_ + ends_, sizeof key_end_);
      std::memcpy(&value_end_, text_ + ends_ + sizeof key_end_, sizeof value_end_);
    }
    char const* text_;
    std::size_t left_;
    std::size_t from_;
    std::size_t ends_{sizeof(std::uint32_t)};
    std::uint32_t key_end_{0};
    std::uint32_t value_end_{0};
  };

  /// `for_each(f)` calls f(key, value) for `count` entries in order, `text` characters in all.
  template <class Entries>
  void merge_entries(Entries theirs);
  template <class Entries>
  static auto pack(std::size_t count, std::size_t text, Entries for_each) -> shared_string;
  static auto pack(std::vector<value_type> const& sorted) -> shared_string {
    std::size_t text = 0;
    for (auto const& [key, value] : sorted) text += key.size() + value.size();
    return pack(sorted.size(), text, [&](auto f) {
      for (auto const& [key, value] : sorted) f(key, value);
    });
  }
  /// Where `key` is, or would be.
  auto lower_bound(std::string_view key) const noexcept -> std::size_t {
    if (block_.empty()) return 0;
    auto const* const block = block_.view().data();
    auto const word_of = [block](std::size_t index) {
      std::uint32_t out;
      std::memcpy(&out, block + index * sizeof out, sizeof out);
      return out;
    };
    std::size_t low = 0;
    std::size_t high = word_of(0);
    auto const head = head_size(high);
    while (low != high) {
      auto const middle = (low + high) / 2;
      std::size_t const from = middle == 0 ? head : word_of(2 * middle);
      auto const length = word_of(1 + 2 * middle) - from;
      auto const common = length < key.size() ? length : key.size();
      auto const order = common == 0 ? 0 : std::memcmp(block + from, key.data(), common);
      if (order < 0 || (order == 0 && length < key.size())) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  shared_string block_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI

#include <agones_alloc/impl/model/string_map.hpp>
