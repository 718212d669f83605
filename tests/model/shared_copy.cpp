#include <agones_alloc/model/game_server.hpp>
#include <agones_alloc/model/shared_copy.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace agones_alloc;

namespace {

using numbers = shared_copy<std::vector<int>>;
using counters = shared_copy<named_map<counter_status>>;

}  // namespace

TEST_CASE("copies share one block until one is changed, and the other keeps what it had") {
  numbers a{1, 2, 3};
  auto b = a;
  CHECK(a.same_block(b));
  b.push_back(4);
  CHECK_FALSE(a.same_block(b));
  CHECK(a == std::vector<int>{1, 2, 3});
  CHECK(b == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("every way to change one copy leaves the other alone") {
  numbers const before{5, 6};
  auto const changed = [&](auto change) {
    auto copy = before;
    change(copy);
    CHECK(before == numbers{5, 6});
    return copy;
  };
  CHECK(changed([](numbers& n) { n[0] = 1; }) == numbers{1, 6});
  CHECK(changed([](numbers& n) { n.at(1) = 1; }) == numbers{5, 1});
  CHECK(changed([](numbers& n) { n.front() = 1; }) == numbers{1, 6});
  CHECK(changed([](numbers& n) { n.back() = 1; }) == numbers{5, 1});
  CHECK(changed([](numbers& n) { for (auto& one : n) ++one; }) == numbers{6, 7});
  CHECK(changed([](numbers& n) { n.emplace_back(7); }) == numbers{5, 6, 7});
  CHECK(changed([](numbers& n) { n.insert(n.begin(), 4); }) == numbers{4, 5, 6});
  CHECK(changed([](numbers& n) { n.erase(n.begin()); }) == numbers{6});
  CHECK(changed([](numbers& n) { n.resize(1); }) == numbers{5});
  CHECK(changed([](numbers& n) { n.own().clear(); }).empty());
  CHECK(changed([](numbers& n) { n.clear(); }).empty());
  CHECK(changed([](numbers& n) { n = {8}; }) == numbers{8});
}

TEST_CASE("the last owner changes its block in place") {
  numbers a{1};
  auto const* const where = a.get().data();
  {
    auto const b = a;
  }
  a[0] = 2;
  CHECK(a.get().data() == where);
}

TEST_CASE("an empty one has no block, and may be asked all the same") {
  numbers const none;
  CHECK(sizeof none == sizeof(void*));
  CHECK(none.empty());
  CHECK(none.size() == 0);
  CHECK(none.begin() == none.end());
  CHECK(none.get().empty());
  CHECK(none == numbers(std::vector<int>{}));
  CHECK(none.same_block(numbers(std::vector<int>{})));
  numbers emptied{1};
  emptied.erase(emptied.begin());
  CHECK(emptied == none);
  CHECK_THROWS_AS(none.at(0), std::out_of_range);
}

TEST_CASE("what was moved from is empty") {
  numbers a{1, 2};
  auto const b = std::move(a);
  CHECK(b == numbers{1, 2});
  CHECK(a.empty());  // NOLINT: that is what is tested
}

TEST_CASE("a shared map is looked up, filled and compared as a map") {
  counters a;
  CHECK(a.find("rooms") == a.end());
  CHECK_FALSE(a.contains("rooms"));
  a["rooms"] = {1, 10};
  a.emplace("players", counter_status{2, 20});
  auto const b = a;
  a.find("rooms")->second.count = 5;
  CHECK(b.find("rooms")->second.count == 1);
  CHECK(b.at("players").capacity == 20);
  CHECK(a.at("rooms").count == 5);
  CHECK(a != b);
  a["rooms"].count = 1;
  CHECK(a == b);
  CHECK(a.count("players") == 1);
  std::string names;
  for (auto const& [name, counter] : b) names += name.str() + " ";
  CHECK(names == "players rooms ");
}

TEST_CASE("a server's copy shares its ports and counters until they are changed") {
  game_server server;
  server.status.ports = {{"default", 7000}};
  server.status.counters["rooms"] = {1, 10};
  auto copy = server;
  CHECK(copy.status.ports.same_block(server.status.ports));
  CHECK(copy == server);
  copy.status.counters["rooms"].count = 2;
  CHECK(server.status.counters.at("rooms").count == 1);
  CHECK(copy != server);
}
