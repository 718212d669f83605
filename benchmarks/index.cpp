// Measures the ranked index by itself: one pick, claim and index update of the settled write, from a full cache to an
// empty one; events; memory; the longest pause. Prints one JSON object a line.
#include <agones_alloc/cache/ranked_index.hpp>

#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace agones_alloc;

constexpr std::size_t servers_per_node = 50;
constexpr std::size_t shapes_per_fleet = 5;

auto wall_ns() -> std::int64_t {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// Time this thread had the processor: a pause that another program causes is none of ours.
auto own_ns() -> std::int64_t {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}
auto heap_bytes() -> std::size_t {
  auto const info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

struct setup {
  std::size_t servers{1000};
  std::size_t views{1};
  std::string ranking{"packed"};
  auto fleets() const -> std::size_t { return views == 1 ? 1 : (views + shapes_per_fleet - 1) / shapes_per_fleet; }
};

auto random_text(random_source& random, std::size_t size) -> std::string {
  std::string out(size, 'x');
  for (auto& c : out) c = "bcdfghjklmnpqrstvwxz2456789"[random.below(27)];
  return out;
}

/// Ten labels, two counters, 200 bytes of annotations.
auto make_server(setup const& chosen, std::size_t number, random_source& random) -> game_server_ptr {
  auto const fleet = "fleet-" + std::to_string(number % chosen.fleets());
  auto const set = fleet + "-" + std::to_string(10000 + number % 3);
  auto const map = "map-" + std::to_string(number % 4);
  game_server out;
  out.meta.name = set + "-" + random_text(random, 5) + std::to_string(number);
  out.meta.namespace_ = "default";
  out.meta.uid = random_text(random, 36);
  out.meta.resource_version = std::to_string(1'000'000 + number);
  out.meta.creation_timestamp = timestamp{std::chrono::seconds{1'700'000'000 + random.below(1'000'000)}};
  out.meta.labels = {{keys::fleet_label, fleet},          {keys::game_server_set_label, set},
                     {"map", map},                        {"region", "europe-west1"},
                     {"mode", "ranked"},                  {"tier", "gold"},
                     {"build", "2025-11-29.build-7"},     {"team", "matchmaking"},
                     {"agones.dev/safe-to-evict", "true"}, {"app.kubernetes.io/name", "game"}};
  out.meta.annotations = {{"agones.dev/sdk-version", "1.57.0"}, {"note", random_text(random, 170)}};
  out.status.state = game_server_state::ready;
  auto const nodes = (chosen.servers + servers_per_node - 1) / servers_per_node;
  auto const node = random.below(nodes);
  out.status.node_name = "gke-cluster-pool-" + std::to_string(node);
  out.status.address = "10.0." + std::to_string(node / 250) + "." + std::to_string(node % 250);
  out.status.ports = {{"default", static_cast<std::int32_t>(7000 + number % 1000)}};
  out.status.counters["rooms"] = {static_cast<std::int64_t>(random.below(10)), 10};
  out.status.counters["players"] = {static_cast<std::int64_t>(random.below(100)), 128};
  return std::make_shared<game_server const>(std::move(out));
}

/// Five ways to ask for each fleet: its label; with a map; with room; by priority; its label and region.
auto make_requests(setup const& chosen) -> std::vector<request_ptr> {
  std::vector<request_ptr> out;
  for (std::size_t i = 0; i != chosen.views; ++i) {
    game_server_allocation gsa;
    gsa.meta.namespace_ = "default";
    auto& selector = gsa.spec.selectors.emplace_back();
    selector.labels.match_labels.set(keys::fleet_label, "fleet-" + std::to_string(i % chosen.fleets()));
    gsa.spec.scheduling = chosen.ranking == "packed" || chosen.ranking == "newest" ? "Packed" : "Distributed";
    if (chosen.ranking == "priorities") gsa.spec.priorities = std::vector<priority>{{"Counter", "rooms", "Ascending"}};
    switch (i / chosen.fleets()) {
      case 1: selector.labels.match_labels.set("map", "map-1"); break;
      case 2: selector.counters.emplace()["rooms"] = {0, 0, 3, 0}; break;
      case 3: selector.counters.emplace()["players"] = {0, 0, 40, 0}; break;
      case 4: selector.labels.match_labels.set("region", "europe-west1"); break;
      default: break;
    }
    choice_options choice;
    if (chosen.ranking == "newest") choice.order = order_kind::newest_first;
    out.push_back(std::get<request_ptr>(allocation_request::make(gsa, {}, choice)));
  }
  return out;
}

struct samples {
  std::vector<std::int64_t> values;
  auto at(double part) -> std::int64_t {
    if (values.empty()) return 0;
    auto const index = static_cast<std::size_t>(static_cast<double>(values.size() - 1) * part);
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index), values.end());
    return values[index];
  }
};

class measurement {
 public:
  explicit measurement(setup chosen) : chosen_{std::move(chosen)} {}

  void run() {
    auto const requests = make_requests(chosen_);
    fill();
    build(requests);
    bytes_ = heap_bytes() - heap_before_;
    events();
    impossible();
    allocate_all(requests);
    std::printf(
        "{\"servers\":%zu,\"views\":%zu,\"ranking\":\"%s\",\"step_ns\":%lld,\"p99_ns\":%lld,\"last_tenth_ns\":%lld,"
        "\"event_ns\":%lld,\"event_p99_ns\":%lld,\"impossible_ns\":%lld,\"build_ns_per_server\":%lld,"
        "\"bytes_per_server\":%zu,\"index_bytes_per_server\":%zu,\"longest_pause_us\":%lld}\n",
        chosen_.servers, chosen_.views, chosen_.ranking.c_str(), ll(steps_.at(0.5)), ll(steps_.at(0.99)),
        ll(late_steps_.at(0.5)), ll(events_.at(0.5)), ll(events_.at(0.99)), ll(impossible_ns_),
        ll(build_ns_ / static_cast<std::int64_t>(chosen_.servers)), bytes_ / chosen_.servers,
        (bytes_ - record_bytes_) / chosen_.servers, ll(pause_ / 1000));
    std::fflush(stdout);
  }

 private:
  static auto ll(std::int64_t value) -> long long { return value; }

  /// Runs f; remembers how long it kept the thread.
  template <class F>
  void pausing(F f) {
    auto const start = own_ns();
    f();
    pause_ = std::max(pause_, own_ns() - start);
  }

  void drain() {
    for (auto more = true; more;) pausing([&] { more = index_.drain(); });
  }

  void fill() {
    heap_before_ = heap_bytes();
    {
      // The records alone, as the cache shares their memory.
      std::vector<game_server_ptr> some;
      ready_cache alone;
      auto const count = std::min<std::size_t>(chosen_.servers, 20000);
      seeded_random same{1};
      auto const before = heap_bytes();
      for (std::size_t i = 0; i != count; ++i) alone.store(make_server(chosen_, i, same));
      some = alone.snapshot("");
      auto const with_cache = heap_bytes() - before - some.capacity() * sizeof(game_server_ptr);
      some.clear();
      record_bytes_ = with_cache / count * chosen_.servers;
    }
    for (std::size_t i = 0; i != chosen_.servers; ++i) {
      cache_.store(make_server(chosen_, i, random_));
      if (i % 1024 == 0) drain();
    }
    drain();
  }

  void build(std::vector<request_ptr> const& requests) {
    auto const start = own_ns();
    for (auto const& request : requests) {
      auto status = pick_status::building;
      pausing([&] { status = index_.pick_and_claim(*request, random_, got_); });
      for (; status == pick_status::building; pausing([&] { status = index_.pick_and_claim(*request, random_, got_); })) {
        for (auto more = true; more;) pausing([&] { more = index_.build_some(); });
      }
      if (status == pick_status::picked) cache_.put_back(got_.handle);
    }
    build_ns_ = own_ns() - start;
    drain();
  }

  /// A third each: a new server, a changed one, a deleted one; with its drain.
  void events() {
    auto const count = std::min<std::size_t>(chosen_.servers, 30000);
    std::vector<game_server_ptr> added;
    auto all = cache_.snapshot("");
    for (std::size_t i = 0; i != count; ++i) {
      auto const& known = all[random_.below(all.size())];
      auto changed = std::make_shared<game_server>(*known);
      changed->meta.resource_version = std::to_string(10'000'000 + i);
      changed->meta.labels = string_map{std::vector<string_map::value_type>(known->meta.labels.begin(), known->meta.labels.end())};
      changed->status.counters["rooms"].count = static_cast<std::int64_t>(random_.below(10));
      added.push_back(make_server(chosen_, chosen_.servers + i, random_));
      time_event([&] { cache_.store(std::move(changed)); });
      time_event([&] { cache_.store(added.back()); });
    }
    for (auto const& server : added) {
      time_event([&] { cache_.erase(key_of(server->meta), server->meta.uid); });
    }
  }

  template <class F>
  void time_event(F f) {
    auto const start = wall_ns();
    f();
    index_.drain();
    events_.values.push_back(wall_ns() - start - clock_ns_);
  }

  void impossible() {
    game_server_allocation gsa;
    gsa.meta.namespace_ = "default";
    gsa.spec.selectors.emplace_back().labels.match_labels.set(keys::fleet_label, "no-such-fleet");
    auto const request = std::get<request_ptr>(allocation_request::make(gsa));
    index_.pick_and_claim(*request, random_, got_);
    samples taken;
    for (int i = 0; i != 1000; ++i) {
      auto const start = wall_ns();
      index_.pick_and_claim(*request, random_, got_);
      taken.values.push_back(wall_ns() - start - clock_ns_);
    }
    impossible_ns_ = taken.at(0.5);
  }

  void allocate_all(std::vector<request_ptr> const& requests) {
    std::size_t empty = 0;
    std::size_t turn = 0;
    std::int64_t own_before = 0;
    steps_.values.reserve(chosen_.servers);
    while (empty != requests.size()) {
      auto const& request = *requests[turn++ % requests.size()];
      // Asking the system for the thread's time disturbs the step, so this is the pause of sixteen steps.
      if (turn % 16 == 0) {
        auto const own = own_ns();
        if (turn != 16) pause_ = std::max(pause_, own - own_before);
        own_before = own;
      }
      auto const start = wall_ns();
      auto const status = index_.pick_and_claim(request, random_, got_);
      auto const picked = wall_ns();
      if (status != pick_status::picked) {
        ++empty;
        continue;
      }
      empty = 0;
      // Whoever writes holds the claimed value longer than the cache does, so freeing it is no part of the step.
      auto const claimed = std::move(got_.server);
      auto written = std::make_shared<game_server>(*claimed);
      written->status.state = game_server_state::allocated;
      written->meta.resource_version = std::to_string(20'000'000 + turn);
      auto const answered = wall_ns();
      index_.settle(got_.handle, std::move(written));
      index_.drain();
      auto const done = wall_ns();
      steps_.values.push_back(picked - start + done - answered - 2 * clock_ns_);
    }
    auto const tenth = steps_.values.size() / 10;
    late_steps_.values.assign(steps_.values.end() - static_cast<std::ptrdiff_t>(tenth), steps_.values.end());
  }

  static auto clock_cost() -> std::int64_t {
    samples pairs;
    for (int i = 0; i != 10001; ++i) {
      auto const start = wall_ns();
      pairs.values.push_back(wall_ns() - start);
    }
    return pairs.at(0.5);
  }

  setup chosen_;
  seeded_random random_{1};
  std::int64_t clock_ns_{clock_cost()};
  std::size_t heap_before_{0};
  std::size_t bytes_{0};
  std::size_t record_bytes_{0};
  std::int64_t pause_{0};
  std::int64_t build_ns_{0};
  std::int64_t impossible_ns_{0};
  samples steps_, late_steps_, events_;
  ready_cache cache_;
  ranked_index index_{cache_};
  pick got_;
};

auto usage() -> int {
  std::fputs("usage: index [--json] [--servers N] [--views V] [--ranking packed|priorities|random|newest]\n"
             "Without --servers: 1000, 100000 and 1000000. Without --ranking: all four.\n", stderr);
  return 2;
}

auto number_of(char const* text) -> std::size_t {
  char* end = nullptr;
  auto const value = std::strtoull(text, &end, 10);
  return *text == '\0' || *end != '\0' ? 0 : static_cast<std::size_t>(value);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes{1000, 100'000, 1'000'000};
  std::vector<std::string> rankings{"packed", "priorities", "random", "newest"};
  std::size_t views = 1;
  mallopt(M_MXFAST, 0);  // see "Memory" in the guide: pauses
  for (int i = 1; i < argc; ++i) {
    std::string const flag = argv[i];
    if (flag == "--json") continue;  // it prints nothing else
    if (i + 1 == argc) return usage();
    std::string const value = argv[++i];
    if (flag == "--servers") {
      sizes = {number_of(value.c_str())};
      if (sizes[0] == 0 || sizes[0] > 20'000'000) return usage();
    } else if (flag == "--views") {
      views = number_of(value.c_str());
      if (views == 0 || views > 1000) return usage();
    } else if (flag == "--ranking") {
      if (std::find(rankings.begin(), rankings.end(), value) == rankings.end()) return usage();
      rankings = {value};
    } else {
      return usage();
    }
  }
  for (auto const size : sizes) {
    for (auto const& ranking : rankings) measurement{{size, views, ranking}}.run();
  }
}
