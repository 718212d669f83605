#include <agones_alloc/detail/small_blocks.hpp>
#include <agones_alloc/detail/text_hash.hpp>
#include <agones_alloc/model/shared_string.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace agones_alloc;

TEST_CASE("a small block is used again for another of its size, if blocks are kept at all") {
  // The first block that a thread lets go of is not kept.
  detail::small_blocks::give(detail::small_blocks::take(100), 100);
  auto* const first = detail::small_blocks::take(100);
  detail::small_blocks::give(first, 100);
  auto* const second = detail::small_blocks::take(97);
  if constexpr (AGONES_ALLOC_KEPT_BLOCKS > 0) CHECK(second == first);
  detail::small_blocks::give(second, 97);
}

TEST_CASE("blocks of all sizes are writable from end to end, and apart") {
  for (int round = 0; round != 3; ++round) {
    std::vector<std::pair<unsigned char*, std::size_t>> blocks;
    for (std::size_t size = 1; size != 600; ++size) {
      auto* const block = static_cast<unsigned char*>(detail::small_blocks::take(size));
      std::memset(block, static_cast<int>(size % 251), size);
      blocks.emplace_back(block, size);
    }
    for (auto const& [block, size] : blocks) {
      CHECK(block[0] == size % 251);
      CHECK(block[size - 1] == size % 251);
      detail::small_blocks::give(block, size);
    }
  }
}

TEST_CASE("texts made by one thread may be dropped by another that ends, and by this one in great number") {
  for (int round = 0; round != 2; ++round) {
    std::vector<shared_string> texts;
    for (int i = 0; i != 2000; ++i) texts.emplace_back("number " + std::to_string(i));
    for (int i = 0; i != 2000; ++i) CHECK(texts[static_cast<std::size_t>(i)] == "number " + std::to_string(i));
    auto const first = texts.front();
    std::thread{[mine = std::move(texts)] {}}.join();
    CHECK(first == "number 0");
  }
}

TEST_CASE("shared objects live in small blocks, over-aligned ones elsewhere") {
  struct alignas(64) line {
    int value{7};
  };
  auto const shared = std::allocate_shared<std::string>(detail::small_block_allocator<std::string>{}, "text");
  auto const aligned = std::allocate_shared<line>(detail::small_block_allocator<line>{});
  CHECK(*shared == "text");
  CHECK(aligned->value == 7);
  CHECK(reinterpret_cast<std::uintptr_t>(aligned.get()) % 64 == 0);
}

TEST_CASE("texts that differ in one place, in length or in seed have different hashes") {
  std::set<std::uint64_t> seen;
  std::string text(39, 'a');
  for (std::size_t length = 0; length <= text.size(); ++length) seen.insert(detail::text_hash({text.data(), length}, 0));
  for (std::size_t at = 0; at != text.size(); ++at) {
    auto other = text;
    other[at] = 'b';
    seen.insert(detail::text_hash(other, 0));
  }
  CHECK(seen.size() == 40 + 39);
  CHECK(detail::text_hash(text, 1) != detail::text_hash(text, 0));
}
