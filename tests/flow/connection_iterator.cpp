#include <agones_alloc/flow/connection_iterator.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <set>

using namespace agones_alloc;

namespace {

auto policy(std::string_view name, std::string_view cluster, std::int32_t priority, std::int64_t weight)
    -> game_server_allocation_policy {
  game_server_allocation_policy out;
  out.meta.namespace_ = "default";
  out.meta.name = name;
  out.priority = priority;
  out.weight = weight;
  out.connection_info.cluster_name = cluster;
  out.connection_info.secret_name = name;  // tells which policy a connection came from
  return out;
}

using policies = std::vector<game_server_allocation_policy>;

/// The policies whose connections are tried, in order.
auto order_of(policies const& all, std::uint64_t seed = 1) -> std::vector<std::string> {
  connection_iterator iterator{all};
  seeded_random random{seed};
  std::vector<std::string> out;
  while (auto const connection = iterator.next(random)) out.push_back(connection->secret_name.str());
  CHECK_FALSE(iterator.next(random).has_value());
  return out;
}

auto first_picks(policies const& all) -> std::map<std::string, int> {
  std::map<std::string, int> out;
  seeded_random random{5};
  for (int i = 0; i != 10000; ++i) {
    connection_iterator iterator{all};
    ++out[iterator.next(random).value().secret_name.str()];
  }
  return out;
}

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("no policies, no cluster") { CHECK(order_of({}).empty()); }

TEST_CASE("the lowest priority number goes first") {
  CHECK(order_of({policy("a", "A", 9, 1), policy("b", "B", 1, 1), policy("c", "C", 5, 1)}) == names{"b", "c", "a"});
}

TEST_CASE("a weight of 0 is never drawn at that priority") {
  CHECK(order_of({policy("a", "A", 1, 0), policy("b", "B", 1, 1), policy("c", "A", 2, 1)}) == names{"b", "c"});
  CHECK(order_of({policy("a", "A", 1, 0)}).empty());
}

TEST_CASE("a negative weight counts as 0") {
  CHECK(order_of({policy("a", "A", 1, -5), policy("b", "B", 1, 1)}) == names{"b"});
}

TEST_CASE("a cluster is tried once, at its first priority") {
  CHECK(order_of({policy("a", "A", 1, 1), policy("b", "A", 2, 1), policy("c", "C", 2, 1)}) == names{"a", "c"});
}

TEST_CASE("each cluster of a priority is tried once, in random order by weight") {
  policies const all{policy("a", "A", 1, 1), policy("b", "B", 1, 3)};
  std::set<names> orders;
  for (std::uint64_t seed = 0; seed != 50; ++seed) orders.insert(order_of(all, seed));
  CHECK(orders == std::set<names>{{"a", "b"}, {"b", "a"}});
  auto const picks = first_picks(all);
  CHECK(picks.at("a") > 2300);
  CHECK(picks.at("a") < 2700);
}

TEST_CASE("a cluster's weight is the integer mean of its policies'") {
  policies const all{policy("a", "A", 1, 3), policy("b", "A", 1, 4), policy("c", "C", 1, 3)};
  connection_iterator const iterator{all};
  REQUIRE(iterator.groups().size() == 1);
  REQUIRE(iterator.groups()[0].clusters.size() == 2);
  CHECK(iterator.groups()[0].clusters[0].weight == 3);
  auto const picks = first_picks(all);
  CHECK(picks.at("a") > 4700);
  CHECK(picks.at("a") < 5300);
}

TEST_CASE("a cluster's connection is that of its first policy by namespace and name, whatever the input order") {
  policies const all{policy("b", "A", 1, 1), policy("a", "A", 1, 1)};
  CHECK(order_of(all) == names{"a"});
}

TEST_CASE("clusters without a name stay apart (Q31)") {
  auto first = policy("a", "", 1, 1);
  auto second = policy("b", "", 1, 1);
  CHECK(order_of({first, second}).size() == 2);
  first.meta.uid = "u1";
  second.meta.uid = "u1";
  second.priority = 2;
  CHECK(order_of({first, second}) == names{"a"});
}

TEST_CASE("a nameless cluster is not one whose name is its UID") {
  auto nameless = policy("a", "", 1, 1);
  nameless.meta.uid = "A";
  CHECK(order_of({nameless, policy("b", "A", 1, 1)}).size() == 2);
}

TEST_CASE("a copy starts where its original was, and goes its own way") {
  connection_iterator original{policies{policy("a", "A", 1, 1), policy("b", "B", 2, 1)}};
  seeded_random random{1};
  auto copy = original;
  CHECK(original.next(random)->secret_name == "a");
  CHECK(original.next(random)->secret_name == "b");
  CHECK(copy.next(random)->secret_name == "a");
}

TEST_CASE("weights at the end of the integer range do not overflow") {
  auto const most = std::numeric_limits<std::int64_t>::max();
  policies const all{policy("a", "A", 1, most), policy("b", "A", 1, most), policy("c", "C", 1, most),
                     policy("d", "D", 1, most)};
  CHECK(connection_iterator{all}.groups()[0].clusters[0].weight == most);
  CHECK(order_of(all).size() == 3);
}

TEST_CASE("what a cluster is and knows comes from annotations of its first policy") {
  auto first = policy("a", "A", 1, 1);
  first.meta.annotations.set(server_name_annotation, "allocator.example");
  first.meta.annotations.set(match_expressions_annotation, "true");
  policies const all{policy("b", "A", 1, 1), first, policy("c", "C", 2, 1)};
  connection_iterator iterator{all};
  seeded_random random{1};
  auto const* const drawn = iterator.next_cluster(random);
  REQUIRE(drawn != nullptr);
  CHECK(drawn->server_name == "allocator.example");
  CHECK(drawn->match_expressions);
  auto const* const other = iterator.next_cluster(random);
  REQUIRE(other != nullptr);
  CHECK(other->server_name.empty());
  CHECK_FALSE(other->match_expressions);
  CHECK(iterator.next_cluster(random) == nullptr);
}
