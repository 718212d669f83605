// The servers of a view without order: a uniform draw in constant time.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/cache/index/server_slots.hpp>
#include <agones_alloc/detail/bring_near.hpp>
#include <agones_alloc/port/random.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// Taking a server out costs nothing: its entry becomes void with its placement. Void entries are dropped where a draw
/// meets one, and looked for while they are the majority, so there are never many.
class random_bag {
 public:
  void insert(std::uint32_t id, server_slots const& servers) {
    if (size_ == blocks_.size() * per_block) blocks_.push_back(std::make_unique_for_overwrite<block>());
    at(size_++) = {id, servers[id].placement};
  }

  /// To be called with each change: a few looks for void entries when fewer than half of all are valid.
  void tidy(server_slots const& servers, std::size_t valid) {
    for (int look = 0; look != 4 && size_ > 2 * valid + 16; ++look) {
      whim_ = whim_ * 6364136223846793005ULL + 1442695040888963407ULL;
      drop_if_void(static_cast<std::size_t>(whim_ >> 33) % size_, servers);
    }
  }

  /// Takes out a uniform draw from the valid entries, of which there must be one.
  auto draw(server_slots const& servers, random_source& random) -> std::uint32_t {
    for (;;) {
      for (; words_ != lookahead; ++words_) word_[words_] = random.next();
      auto const index = scaled(word_[0], size_);
      std::shift_left(word_.begin(), word_.end(), 1);
      --words_;
      auto const drawn = at(index);
      remove(index);
      if (servers[drawn.id].placement == drawn.placement) return drawn.id;
    }
  }

  /// Some valid entries, up to `count`; they stay.
  auto some(std::size_t count, server_slots const& servers) -> std::vector<std::uint32_t> {
    std::vector<std::uint32_t> out;
    for (std::size_t i = 0; i != size_ && out.size() != count; ++i) {
      if (servers[at(i).id].placement == at(i).placement) out.push_back(at(i).id);
    }
    return out;
  }

  static constexpr std::size_t foresight = 5;  ///< so many draws ahead are known after one was made

  /// What the draw after `depth` others gives, at most `foresight`, if nothing changes.
  auto ahead(std::size_t depth) noexcept -> std::optional<std::uint32_t> {
    if (words_ <= depth || size_ <= depth) return std::nullopt;
    return at(scaled(word_[depth], size_ - depth)).id;
  }
  /// Brings near what ahead(foresight) is going to look at after the next draw.
  void bring_near() noexcept {
    constexpr auto depth = foresight + 1;
    if (words_ > depth && size_ > depth) detail::bring_near(&at(scaled(word_[depth], size_ - depth)));
  }

 private:
  struct entry {
    std::uint32_t id;
    std::uint32_t placement;
  };
  static constexpr std::size_t per_block = 1024;
  static constexpr std::size_t lookahead = foresight + 3;
  using block = std::array<entry, per_block>;

  auto at(std::size_t index) noexcept -> entry& { return (*blocks_[index / per_block])[index % per_block]; }

  static auto scaled(std::uint64_t word, std::size_t size) noexcept -> std::size_t {
    __extension__ using wide = unsigned __int128;  // -Wpedantic of users
    return static_cast<std::size_t>((wide{word} * size) >> 64);
  }

  void remove(std::size_t index) {
    at(index) = at(--size_);
    // One block is kept, so that a size at the edge does not allocate again and again.
    if (blocks_.size() > size_ / per_block + 2) blocks_.pop_back();
  }

  void drop_if_void(std::size_t index, server_slots const& servers) {
    auto const looked_at = at(index);
    if (servers[looked_at.id].placement != looked_at.placement) remove(index);
  }

  std::vector<std::unique_ptr<block>> blocks_;
  std::size_t size_{0};
  std::uint64_t whim_{0};
  std::array<std::uint64_t, lookahead> word_{};  // of the next draws: known early, so that servers can be brought near
  std::size_t words_{0};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
