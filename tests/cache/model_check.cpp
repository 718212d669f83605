// The index against a full sort: random events, and after each pick a look at what the rules would have chosen.
#include "servers.hpp"

#include <agones_alloc/cache/ranked_index.hpp>
#include <agones_alloc/select/find.hpp>
#include <agones_alloc/select/match.hpp>
#include <agones_alloc/select/rank.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace cache_tests;

/// A plain picture of what the cache should hold.
struct modelled {
  game_server_ptr server;              ///< the value in the order
  game_server_ptr seen;                ///< newer value seen while claimed
  bool gone{false};                    ///< deleted while claimed
  bool unlisted{false};                ///< `gone` only because a list lacked it
  slot_status status{slot_status::free};
  server_handle claim;
};

class world {
 public:
  world(std::uint64_t seed, std::size_t names, index_options options, std::size_t nodes)
      : random_{seed}, index_random_{seed ^ 0x55}, names_{names}, nodes_{nodes}, options_{options}, index_{cache_, options} {
    make_requests();
  }

  void step() {
    ++step_;
    INFO("step ", step_);
    auto const what = random_.below(100);
    if (what < 22) {
      add_or_update();
    } else if (what < 27) {
      erase();
    } else if (what < 60) {
      pick();
    } else if (what < 84) {
      end_claim();
    } else if (what < 85) {
      relist();
    } else if (what < 88) {
      new_request();
    } else if (what < 90) {
      explain();
    } else if (what < 91) {
      close_nodes();
    } else {
      pick();
    }
  }

  auto picks() const -> std::size_t { return picks_; }
  auto hits() const -> std::size_t { return hits_; }
  auto busies() const -> std::size_t { return busies_; }

 private:
  auto word(char const* stem, std::uint64_t count) -> std::string { return stem + std::to_string(random_.below(count)); }
  auto chance(std::uint64_t one_in) -> bool { return random_.below(one_in) == 0; }

  /// Any value of a name: another draw of everything that matters to rules.
  auto draw(std::string const& ns, std::string const& name) -> server_builder {
    server_builder out{name};
    auto& server = out.ns(ns).node(word("node", nodes_)).version(std::to_string(++version_)).value();
    server.meta.labels = {{keys::fleet_label, word("fleet", 3)}};
    if (chance(2)) server.meta.labels.set("map", word("m", 3));
    if (chance(40)) server.meta.labels.set("own", name);
    out.state(chance(4) ? game_server_state::allocated : game_server_state::ready).created(static_cast<std::int64_t>(random_.below(4)));
    if (chance(10)) server.meta.creation_timestamp = unset_time;
    if (chance(2)) out.counter("rooms", static_cast<std::int64_t>(random_.below(4)), static_cast<std::int64_t>(random_.below(6)));
    if (chance(4)) out.counter("huge", chance(2) ? INT64_MIN : 0, INT64_MAX - static_cast<std::int64_t>(random_.below(3)));
    if (chance(3)) {
      list_status list;
      list.capacity = 4;
      list.values.emplace();
      for (auto n = random_.below(4); n != 0; --n) list.values->push_back(word("p", 4));
      server.status.lists["players"] = list;
    }
    if (chance(3)) {
      player_status players;
      players.count = static_cast<std::int64_t>(random_.below(3));
      players.capacity = 4;
      server.status.players = std::make_shared<player_status const>(players);
    }
    return out;
  }

  auto random_key() -> object_key {
    auto const number = random_.below(names_);
    // Long names with a long common part, short ones, and some that do not share it.
    auto const name = number % 7 == 0   ? "z" + std::to_string(number)
                      : number % 5 == 0 ? "fleet0-with-a-long-name-that-goes-on-" + std::to_string(number)
                                        : "fleet" + std::to_string(number % 3) + "-abc-" + std::to_string(number);
    return {number % 4 == 0 ? "other" : "default", name};
  }

  void store(game_server_ptr const& server) {
    cache_.store(server);
    auto const key = key_of(server->meta);
    auto const at = model_.find(key);
    if (at == model_.end()) {
      if (is_allocatable(*server)) model_[key].server = server;
    } else if (at->second.status == slot_status::claimed) {
      auto const same = server->meta.uid == at->second.server->meta.uid;
      if (same && at->second.unlisted) at->second.gone = at->second.unlisted = false;
      if (at->second.gone && same) return;
      at->second.gone = at->second.gone || !same;
      at->second.unlisted = at->second.unlisted && same;
      at->second.seen = server;
    } else {
      set(key, server);
    }
  }

  void set(object_key const& key, game_server_ptr const& server) {
    if (!is_allocatable(*server)) {
      model_.erase(key);
      return;
    }
    model_[key] = modelled{server, nullptr, false, false, slot_status::free, {}};
  }

  void add_or_update() {
    auto const key = random_key();
    auto const at = model_.find(key);
    auto made = draw(key.namespace_.str(), key.name.str());
    if (at != model_.end()) {
      made.uid(at->second.server->meta.uid);
      if (chance(4)) {  // only something that no order looks at
        auto same = *(at->second.seen ? at->second.seen : at->second.server);
        same.meta.annotations.set("note", std::to_string(step_));
        same.meta.resource_version = std::to_string(++version_);
        store(std::make_shared<game_server const>(same));
        return;
      }
      if (chance(12)) made.uid("u-again-" + std::to_string(version_));
      if (chance(12)) made.state(game_server_state::shutdown);
      if (chance(20)) made.version("1");  // late
    } else {
      made.uid("u-" + std::to_string(version_));
    }
    auto const server = made.made();
    auto const& known = at == model_.end() ? nullptr : at->second.seen ? at->second.seen : at->second.server;
    if (known && server->meta.uid == known->meta.uid && server->meta.resource_version == "1") {
      cache_.store(server);  // late values change nothing
      return;
    }
    store(server);
  }

  void erase() {
    auto const key = random_key();
    auto const at = model_.find(key);
    auto const uid = at != model_.end() && chance(2) ? (at->second.seen ? at->second.seen : at->second.server)->meta.uid
                                                     : shared_string{};
    cache_.erase(key, uid);
    if (at == model_.end()) return;
    if (at->second.status == slot_status::claimed) {
      at->second.seen = nullptr;
      at->second.gone = true;
      at->second.unlisted = false;
    } else {
      model_.erase(at);
    }
  }

  void relist() {
    std::vector<game_server_ptr> list;
    std::vector<object_key> missing;
    for (auto& [key, known] : model_) {
      if (chance(20)) {
        missing.push_back(key);
      } else {
        if (known.unlisted) known.gone = known.unlisted = false;  // the list has it again
        list.push_back(known.seen ? known.seen : known.server);
      }
    }
    cache_.replace_all(list);
    for (auto const& key : missing) {
      auto& known = model_[key];
      if (known.status == slot_status::claimed) {
        known.seen = nullptr;
        known.unlisted = !known.gone || known.unlisted;
        known.gone = true;
      } else {
        model_.erase(key);
      }
    }
  }

  void end_claim() {
    std::vector<object_key> claimed;
    for (auto const& [key, known] : model_) {
      if (known.status == slot_status::claimed) claimed.push_back(key);
    }
    if (claimed.empty()) return;
    auto const key = claimed[random_.below(claimed.size())];
    auto known = model_[key];
    auto const drop_or_free = [&](game_server_ptr const& value) {
      model_.erase(key);
      if (value) set(key, value);
    };
    auto const at_once = chance(2);
    switch (random_.below(6)) {
      case 0:
        at_once ? index_.put_back(known.claim) : cache_.put_back(known.claim);
        drop_or_free(known.seen ? known.seen : known.gone ? nullptr : known.server);
        break;
      case 1:
        at_once ? index_.discard(known.claim) : cache_.discard(known.claim);
        if (known.seen || known.gone) {
          drop_or_free(known.seen);
        } else {
          model_[key].status = slot_status::stale;
        }
        break;
      case 2:
        at_once ? index_.remove(known.claim) : cache_.remove(known.claim);
        drop_or_free(known.gone ? known.seen : nullptr);
        break;
      default: {
        auto written = server_builder{*known.server};
        written.allocated().version(std::to_string(++version_));
        if (chance(4)) written.label("map", word("m", 3));
        if (chance(3)) written.counter("rooms", static_cast<std::int64_t>(random_.below(4)), 5);
        auto const server = written.made();
        at_once ? index_.settle(known.claim, server) : cache_.settle(known.claim, server);
        // The write came last, so it is the newest, unless the server it went to is gone; that a list lacked it proves
        // nothing.
        drop_or_free(known.gone && !known.unlisted ? known.seen : server);
      }
    }
  }

  void close_nodes() {
    open_.clear();
    all_open_ = chance(4);
    for (std::size_t i = 0; i != nodes_; ++i) {
      if (!chance(3)) open_.push_back("node" + std::to_string(i));
    }
    cache_.set_open_nodes(all_open_ ? nullptr : std::make_shared<open_nodes const>(open_));
  }

  void make_requests() {
    for (int i = 0; i != 12; ++i) new_request();
  }

  void new_request() {
    game_server_allocation gsa;
    gsa.meta.namespace_ = chance(5) ? "other" : "default";
    gsa.spec.scheduling = chance(3) ? "Distributed" : "Packed";
    for (auto n = random_.below(3) + 1; n != 0; --n) gsa.spec.selectors.push_back(draw_selector());
    if (chance(2)) {
      gsa.spec.priorities.emplace();
      for (auto n = random_.below(6); n != 0; --n) {
        auto const list = chance(3);
        gsa.spec.priorities->push_back({list ? "List" : "Counter", list ? "players" : chance(3) ? "huge" : "rooms",
                                        chance(2) ? "Ascending" : "Descending"});
      }
    }
    feature_gates gates;
    gates.player_allocation_filter = chance(3);
    choice_options choice;
    if (chance(3)) choice.order = static_cast<order_kind>(random_.below(5));
    if (choice.order == order_kind::custom) choice.custom = rankers_[random_.below(2)];
    if (chance(4)) choice.top_n = static_cast<std::uint32_t>(random_.below(6) + 1);
    if (chance(6)) {
      choice.prefer.count = static_cast<std::uint32_t>(random_.below(4) + 1);
      choice.prefer.index = static_cast<std::uint32_t>(random_.below(choice.prefer.count));
    }
    if (chance(8)) {
      auto const key = random_key();
      choice.target = target_server{key.name, chance(3) ? "u-" + std::to_string(random_.below(100)) : "", chance(2)};
    }
    auto made = allocation_request::make(gsa, gates, choice);
    REQUIRE(std::holds_alternative<request_ptr>(made));
    auto const request = std::get<request_ptr>(made);
    if (requests_.size() < 24) {
      requests_.push_back(request);
    } else {
      requests_[random_.below(requests_.size())] = request;
    }
  }

  auto draw_selector() -> game_server_selector {
    game_server_selector out;
    if (chance(2)) out.labels.match_labels.set(keys::fleet_label, word("fleet", 4));
    if (chance(3)) out.labels.match_labels.set("map", word("m", 3));
    if (chance(4)) out.labels.match_expressions.push_back({"map", chance(2) ? "In" : "NotIn", {word("m", 3), "m0"}});
    if (chance(6)) out.labels.match_expressions.push_back({chance(3) ? "own" : "map", chance(2) ? "Exists" : "DoesNotExist", {}});
    if (chance(3)) out.game_server_state = chance(3) ? "Ready" : "Allocated";
    if (chance(6)) out.players = player_selector{static_cast<std::int64_t>(random_.below(3)), 3};
    if (chance(5)) {
      out.counters.emplace();
      (*out.counters)["rooms"] = {0, static_cast<std::int64_t>(random_.below(3)), static_cast<std::int64_t>(random_.below(3)), 0};
    }
    if (chance(6)) {
      out.lists.emplace();
      (*out.lists)["players"] = {chance(2) ? word("p", 4) : "", 0, 0};
    }
    return out;
  }

  auto loads() const -> std::map<std::string, node_load> {
    std::map<std::string, node_load> out;
    for (auto const& [key, known] : model_) {
      auto& load = out[known.server->status.node_name.str()];
      ++(known.server->status.state == game_server_state::allocated ? load.allocated : load.ready);
      load.closing = !all_open_ && std::find(open_.begin(), open_.end(), known.server->status.node_name) == open_.end();
    }
    return out;
  }

  /// Free servers that the shape accepts, best first.
  auto sorted(view_shape const& shape) const -> std::vector<object_key> {
    auto const by_node = loads();
    std::vector<object_key> out;
    for (auto const& [key, known] : model_) {
      if (known.status == slot_status::free && matches_shape(shape, *known.server)) out.push_back(key);
    }
    std::sort(out.begin(), out.end(), [&](object_key const& a, object_key const& b) {
      auto const& x = *model_.at(a).server;
      auto const& y = *model_.at(b).server;
      return compare(x, &by_node.at(x.status.node_name.str()), y, &by_node.at(y.status.node_name.str()), shape.order) < 0;
    });
    return out;
  }

  static auto matches_shape(view_shape const& shape, game_server const& server) -> bool {
    return server.meta.namespace_ == shape.namespace_ && matches(shape.selector, server);
  }

  auto any_in_flight(allocation_request const& request) const -> bool {
    return std::any_of(model_.begin(), model_.end(), [&](auto const& entry) {
      return entry.second.status == slot_status::claimed &&
             std::any_of(request.shapes().begin(), request.shapes().end(),
                         [&](view_shape const& shape) { return matches_shape(shape, *entry.second.server); });
    });
  }

  void pick() {
    auto const& request = *requests_[random_.below(requests_.size())];
    agones_alloc::pick got;
    auto status = try_pick(request, got);
    while (status == pick_status::building) {
      if (chance(2)) {
        add_or_update();
        if (chance(2)) end_claim();
      }
      index_.build_some();
      status = try_pick(request, got);
    }
    ++picks_;
    check(request, status, got);
  }

  auto try_pick(allocation_request const& request, agones_alloc::pick& got) -> pick_status {
    // A pick drains one slice; the order is promised for what was drained.
    while (index_.drain()) continue;
    return index_.pick_and_claim(request, index_random_, got);
  }

  void check(allocation_request const& request, pick_status status, agones_alloc::pick const& got) {
    if (auto const& target = request.target()) {
      auto const at = model_.find({request.shapes().front().namespace_, target->name});
      auto const there = at != model_.end() && (target->uid.empty() || at->second.server->meta.uid == target->uid);
      std::optional<std::uint32_t> selector;
      for (std::uint32_t i = 0; there && !selector && i != request.shapes().size(); ++i) {
        if (matches_shape(request.shapes()[i], *at->second.server)) {
          selector = static_cast<std::uint32_t>(request.selector_of(i));
        }
      }
      if (selector && at->second.status == slot_status::free) {
        REQUIRE(status == pick_status::picked);
        REQUIRE(got.selector == *selector);
        REQUIRE(got.server->meta.name == target->name);
        return note_claim(got);
      }
      if (target->required) {
        auto const fits = [&](game_server_ptr const& server) {
          auto const meant = server && is_allocatable(*server) && (target->uid.empty() || server->meta.uid == target->uid);
          return meant && std::any_of(request.shapes().begin(), request.shapes().end(),
                                      [&](view_shape const& shape) { return matches_shape(shape, *server); });
        };
        // What it has become since, by somebody else's hand, counts when the claim ends.
        auto const busy = at != model_.end() && at->second.status == slot_status::claimed && (selector || fits(at->second.seen));
        REQUIRE(status == (busy ? pick_status::busy : pick_status::none));
        return;
      }
    }
    for (std::uint32_t i = 0; i != request.shapes().size(); ++i) {
      auto const order = sorted(request.shapes()[i]);
      if (order.empty()) continue;
      REQUIRE(status == pick_status::picked);
      REQUIRE(got.selector == request.selector_of(i));
      auto const kind = request.shapes()[i].order.kind;
      auto const among = kind == order_kind::random ? order.size() : std::min<std::size_t>(request.top_n_of(i), order.size());
      auto const end = order.begin() + static_cast<std::ptrdiff_t>(among);
      REQUIRE(std::find(order.begin(), end, key_of(got.server->meta)) != end);
      return note_claim(got);
    }
    REQUIRE(status == (any_in_flight(request) ? pick_status::busy : pick_status::none));
    if (status == pick_status::busy) ++busies_;
  }

  void note_claim(agones_alloc::pick const& got) {
    ++hits_;
    auto& known = model_.at(key_of(got.server->meta));
    REQUIRE(known.status == slot_status::free);
    REQUIRE(*known.server == *got.server);
    known.status = slot_status::claimed;
    known.claim = got.handle;
  }

  void explain() {
    auto const& request = *requests_[random_.below(requests_.size())];
    while (index_.drain()) continue;
    std::vector<game_server_ptr> all;
    for (auto const& [key, known] : model_) all.push_back(known.server);
    REQUIRE(index_.explain(request) == agones_alloc::explain(request, all));
    for (auto const& [node, load] : loads()) REQUIRE(index_.load_of(node) == load);
    REQUIRE(cache_.size() == model_.size());
  }

  seeded_random random_;
  seeded_random index_random_;
  std::size_t names_;
  std::size_t nodes_;
  index_options options_;
  ready_cache cache_;
  ranked_index index_;
  std::map<object_key, modelled> model_;
  std::vector<request_ptr> requests_;
  std::vector<shared_string> open_;
  bool all_open_{true};
  std::uint64_t version_{1};
  std::size_t step_{0};
  std::size_t picks_{0};
  std::size_t hits_{0};
  std::size_t busies_{0};
  std::array<std::shared_ptr<ranker const>, 2> rankers_{
      make_ranker([](game_server const& a, game_server const& b) { return a.meta.name.size() < b.meta.name.size(); }),
      make_ranker([](game_server const& a, game_server const& b) {
        return a.meta.annotations.value_or_empty("note") > b.meta.annotations.value_or_empty("note");
      })};
};

void run(std::uint64_t seed, std::size_t steps, std::size_t names, index_options options, std::size_t nodes = 6) {
  INFO("seed ", seed, ", names ", names);
  world checked{seed, names, options, nodes};
  for (std::size_t i = 0; i != steps; ++i) checked.step();
  CHECK(checked.hits() > steps / 10);
  CHECK(checked.busies() > 0);
}

}  // namespace

TEST_CASE("each pick is the one a full sort would choose, over random events") {
  for (std::uint64_t seed = 1; seed != 9; ++seed) run(seed, 6000, 60, {});
}

TEST_CASE("each pick is right while views come and go and are built in small slices") {
  index_options options;
  options.max_views = 6;
  options.idle_picks = 200;
  options.slice = 3;
  for (std::uint64_t seed = 101; seed != 107; ++seed) run(seed, 6000, 60, options);
}

TEST_CASE("each pick is right among many servers on few nodes") {
  for (std::uint64_t seed = 201; seed != 203; ++seed) run(seed, 12000, 1500, {});
}

TEST_CASE("each pick is right among many nodes, most of whose loads change between two looks of a view") {
  for (std::uint64_t seed = 301; seed != 303; ++seed) run(seed, 6000, 400, {}, 120);
  run(311, 6000, 300, {}, 40);
}
