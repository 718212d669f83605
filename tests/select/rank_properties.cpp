// compare() is a strict total order, and find() agrees with a search written straight from the specification.
#include "make.hpp"

#include <agones_alloc/port/random.hpp>
#include <agones_alloc/select/find.hpp>
#include <agones_alloc/select/rank.hpp>

#include <doctest/doctest.h>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/enumerate.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <variant>

using namespace agones_alloc;

namespace {

class world {
 public:
  explicit world(std::uint64_t seed) : random_{seed} {}

  auto below(std::uint64_t bound) -> std::uint64_t { return random_.below(bound); }
  auto chance(std::uint64_t of) -> bool { return below(of) == 0; }

  /// Few names, nodes and numbers, so that every tie happens.
  auto server() -> game_server {
    auto out = make::server(std::string(1, static_cast<char>('a' + below(6))), "n" + std::to_string(below(4)));
    out.meta.namespace_ = chance(3) ? "other" : "default";
    if (chance(3)) out.status.state = game_server_state::allocated;
    if (!chance(3)) out = make::with_players(out, number(), number());
    if (!chance(3)) out = make::with_counter(out, "rooms", number(), number());
    if (!chance(3)) out = make::with_list(out, "players", number(), {"x"});
    if (!chance(2)) out.meta.labels.set("mode", chance(2) ? "ctf" : "dm");
    out.meta.creation_timestamp = timestamp{std::chrono::seconds{below(3)}};
    return out;
  }

  auto order() -> ranking {
    ranking out;
    out.kind = static_cast<order_kind>(below(5));
    out.players = chance(2);
    if (chance(2)) out.priorities.push_back({false, chance(2), "rooms"});
    if (chance(2)) out.priorities.push_back({true, chance(2), "players"});
    if (out.kind == order_kind::custom) {
      out.custom = make_ranker(
          [](game_server const& a, game_server const& b) { return a.status.node_name < b.status.node_name; });
    }
    return out;
  }

  auto selector() -> game_server_selector {
    game_server_selector out;
    if (chance(2)) out.labels.match_labels.set("mode", chance(2) ? "ctf" : "none");
    if (chance(2)) out.game_server_state = "Allocated";
    if (chance(3))
      out.counters.emplace().emplace("rooms", counter_selector{.min_available = static_cast<std::int64_t>(below(3))});
    return out;
  }

 private:
  auto number() -> std::int64_t {
    return chance(9) ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(below(4));
  }
  seeded_random random_;
};

/// Spec 3, steps 1 to 3, word for word.
auto naive_find(allocation_request const& request, std::vector<game_server_ptr> const& list)
    -> std::optional<found_server> {
  std::map<std::size_t, std::size_t> first_hits;
  using ranges::views::enumerate;
  for (auto const& [hit, which] : ranges::views::cartesian_product(enumerate(list), enumerate(request.shapes()))) {
    auto const& [i, server] = hit;
    auto const& [s, shape] = which;
    if (server->meta.namespace_ != request.allocation().meta.namespace_) continue;
    if (!first_hits.contains(s) && matches(shape.selector, *server)) first_hits[s] = i;
  }
  if (first_hits.empty()) return std::nullopt;
  return found_server{first_hits.begin()->second, first_hits.begin()->first};
}

}  // namespace

TEST_CASE("compare is a strict total order on any servers, nodes and rankings") {
  world random{2};
  for (int round = 0; round != 3000; ++round) {
    auto const order = random.order();
    std::vector<game_server> servers;
    for (int i = 0; i != 6; ++i) servers.push_back(random.server());
    // One node is unknown; loads tie often.
    std::map<std::string, node_load> nodes;
    for (auto const* node : {"n0", "n1", "n2"})
      nodes[node] = {static_cast<std::uint32_t>(random.below(2)), static_cast<std::uint32_t>(random.below(2)), random.below(4) == 0};
    auto const sign = [&](game_server const& a, game_server const& b) {
      auto const load_of = [&nodes](game_server const& server) {
        auto const at = nodes.find(server.status.node_name.str());
        return at == nodes.end() ? nullptr : &at->second;
      };
      auto const result = compare(a, load_of(a), b, load_of(b), order);
      return result < 0 ? -1 : result > 0 ? 1 : 0;
    };
    for (auto const& [a, b] : ranges::views::cartesian_product(servers, servers)) {
      auto const ab = sign(a, b);
      REQUIRE(ab == -sign(b, a));
      // Two objects of one key may differ only where a test makes them: an index holds one of each key.
      if (ab == 0) REQUIRE(key_of(a.meta) == key_of(b.meta));
    }
    for (auto const& [a, b, c] : ranges::views::cartesian_product(servers, servers, servers)) {
      auto const ab = sign(a, b);
      if (ab < 0 && sign(b, c) < 0) REQUIRE(sign(a, c) < 0);
      if (ab == 0) REQUIRE(sign(a, c) == sign(b, c));
    }
  }
}

TEST_CASE("find agrees with the search of the specification") {
  world random{3};
  seeded_random draws{1};
  int found = 0;
  for (int round = 0; round != 3000; ++round) {
    auto gsa = make::allocation();
    auto const selectors = 1 + random.below(3);
    for (std::uint64_t i = 0; i != selectors; ++i) gsa.spec.selectors.push_back(random.selector());
    auto const made = allocation_request::make(gsa);
    auto const& request = *std::get<request_ptr>(made);
    std::vector<game_server_ptr> list;
    auto const size = random.below(8);
    for (std::uint64_t i = 0; i != size; ++i) list.push_back(std::make_shared<game_server const>(random.server()));
    auto const expected = naive_find(request, list);
    found += expected.has_value() ? 1 : 0;
    REQUIRE(find(request, list, draws) == expected);
  }
  CHECK(found > 500);
  CHECK(found < 2900);
}
