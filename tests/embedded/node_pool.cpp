#include <agones_alloc/embedded/node_pool.hpp>
#include <agones_alloc/port/random.hpp>

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace agones_alloc;

namespace {

auto small_cluster() -> simulator_options {
  simulator_options o;
  o.node_count = 2;
  o.max_nodes = 3;
  o.node_capacity = 2;
  return o;
}

auto const one_port = std::vector<game_server_port_template>{{"default", "Dynamic", "UDP", 7654, 0}};

}  // namespace

TEST_CASE("packed fills the fullest node, distributed the emptiest") {
  node_pool packed{small_cluster()};
  auto const first = packed.place(one_port, true);
  auto const second = packed.place(one_port, true);
  REQUIRE((first && second));
  CHECK(first->node == second->node);

  node_pool spread{small_cluster()};
  auto const third = spread.place(one_port, false);
  auto const fourth = spread.place(one_port, false);
  REQUIRE((third && fourth));
  CHECK(third->node != fourth->node);
}

TEST_CASE("a node is added when all are full, up to the bound") {
  node_pool pool{small_cluster()};
  for (int i = 0; i < 6; ++i) CHECK(pool.place(one_port, i % 2 == 0).has_value());
  CHECK(pool.size() == 3);
  CHECK(!pool.place(one_port, true));
  CHECK(pool.size() == 3);
  pool.release({1, {}});
  CHECK(pool.place(one_port, true)->node == 1);
}

TEST_CASE("nodes have names and addresses of their own") {
  node_pool pool{small_cluster()};
  CHECK(pool.name(0) == "node-1");
  CHECK(pool.address(1) == "10.0.0.2");
  CHECK(pool.addresses(1) ==
        std::vector<node_address>{{"ExternalIP", "10.0.0.2"}, {"InternalIP", "10.0.0.2"}, {"Hostname", "node-2"}});
  auto o = small_cluster();
  o.first_address = "127.0.0.1";
  o.same_address = true;
  node_pool local{o};
  CHECK(local.address(1) == "127.0.0.1");
}

TEST_CASE("a node without free ports takes no server that needs one") {
  auto o = small_cluster();
  o.node_count = o.max_nodes = 1;
  o.node_capacity = 100;
  o.min_port = 7000;
  o.max_port = 7004;
  node_pool pool{o};
  auto const two_ports =
      std::vector<game_server_port_template>{{"a", "", "UDP", 1, 0}, {"b", "Passthrough", "TCP", 2, 0}};
  auto const first = pool.place(two_ports, true);
  auto const second = pool.place(two_ports, true);
  REQUIRE((first && second));
  CHECK(!pool.place(two_ports, true));
  CHECK(pool.place(one_port, true).has_value());
  CHECK(!pool.place(one_port, true));
  auto const none = std::vector<game_server_port_template>{{"c", "None", "UDP", 9000, 0}};
  CHECK(pool.place(none, true).has_value());
  pool.release(*first);
  CHECK(pool.place(two_ports, true).has_value());
}

TEST_CASE("a static port is given once on a node") {
  node_pool pool{small_cluster()};
  for (auto const port : {7777, 9999}) {  // within the range and outside of it
    CAPTURE(port);
    auto const fixed = std::vector<game_server_port_template>{{"s", "Static", "UDP", 1, port}};
    auto const first = pool.place(fixed, true);
    auto const second = pool.place(fixed, true);
    auto const third = pool.place(fixed, true);
    REQUIRE((first && second && third));
    CHECK(std::set{first->node, second->node, third->node}.size() == 3);
    CHECK(first->host_ports == std::vector<std::int32_t>{port});
    CHECK(!pool.place(fixed, true));
    for (auto const& place : {first, second, third}) pool.release(*place);
    CHECK(pool.place(fixed, true).has_value());
    pool = node_pool{small_cluster()};
  }
}

TEST_CASE("no host port is given twice on a node, whatever comes and goes") {
  simulator_options o;
  o.node_count = 3;
  o.max_nodes = 5;
  o.node_capacity = 30;
  o.min_port = 7000;
  o.max_port = 7049;
  node_pool pool{o};
  seeded_random random{7};
  std::map<std::uint32_t, std::multiset<std::int32_t>> taken;
  std::vector<placement> alive;
  for (int step = 0; step < 20'000; ++step) {
    if (random.below(100) < 55) {
      std::vector<game_server_port_template> ports;
      for (std::uint64_t i = random.below(4); i > 0; --i) ports.push_back({"p", "Dynamic", "UDP", 1, 0});
      if (random.below(10) == 0)
        ports.push_back({"s", "Static", "UDP", 1, static_cast<std::int32_t>(7040 + random.below(20))});
      auto place = pool.place(ports, random.below(2) == 0);
      if (!place) continue;
      REQUIRE(place->host_ports.size() == ports.size());
      for (auto const port : place->host_ports) {
        taken[place->node].insert(port);
        REQUIRE(taken[place->node].count(port) == 1);
      }
      alive.push_back(std::move(*place));
    } else if (!alive.empty()) {
      auto const at = random.below(alive.size());
      for (auto const port : alive[at].host_ports) taken[alive[at].node].extract(port);
      pool.release(alive[at]);
      alive[at] = alive.back();
      alive.pop_back();
    }
    if (step % 1000 == 0) {
      std::map<std::uint32_t, std::uint32_t> used;
      for (auto const& place : alive) ++used[place.node];
      for (std::uint32_t n = 0; n < pool.size(); ++n) REQUIRE(pool.used(n) == used[n]);
    }
  }
  CHECK(pool.size() == 5);
}

TEST_CASE("a port for TCP and UDP shows as two with one number, one without policy as the container's") {
  std::vector<game_server_port_template> const ports{
      {"game", "Dynamic", "TCPUDP", 1, 0}, {"in", "None", "TCP", 8080, 0}, {"q", "", "", 2, 0}};
  CHECK(status_ports(ports, {7001, 7002}) ==
        std::vector<game_server_port>{{"game-tcp", 7001}, {"game-udp", 7001}, {"in", 8080}, {"q", 7002}});
}
