#include <agones_alloc/async/detail/block_cache.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

using namespace agones_alloc;

namespace {

struct thing : detail::recycled<thing> {
  explicit thing(int v) : value{v} {}
  int value;
  char rest[100]{};
};

}  // namespace

TEST_CASE("a block is used again by the thread that let go of it, if blocks are kept at all") {
  auto* const first = new thing{1};
  void const* const where = first;
  delete first;
  auto const second = std::make_unique<thing>(2);
  CHECK(second->value == 2);
  if constexpr (AGONES_ALLOC_KEPT_BLOCKS > 0) CHECK(static_cast<void const*>(second.get()) == where);
}

TEST_CASE("more blocks than are kept, and blocks that go from thread to thread, are all there and apart") {
  std::vector<std::unique_ptr<thing>> things;
  for (int round = 0; round != 3; ++round) {
    for (int i = 0; i != 1000; ++i) things.push_back(std::make_unique<thing>(i));
    std::set<thing const*> places;
    for (auto const& t : things) places.insert(t.get());
    CHECK(places.size() == things.size());
    for (int i = 0; i != 1000; ++i) CHECK(things[static_cast<std::size_t>(i)]->value == i);
    std::thread{[mine = std::move(things)] {}}.join();  // freed there, and kept until that thread ends
    things.clear();
  }
}
