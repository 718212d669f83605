// Rankings of one's own: by comparator, and by deriving. Without an event loop: the synchronous allocator.
#include <agones_alloc/cache/ready_cache.hpp>
#include <agones_alloc/cache/sync_allocator.hpp>
#include <agones_alloc/select/rank.hpp>
#include <agones_alloc/select/request.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <variant>

using namespace agones_alloc;

namespace {

auto make_server(std::string const& name, std::string const& region, std::int64_t players) -> game_server_ptr {
  game_server server;
  server.meta.namespace_ = "default";
  server.meta.name = name;
  server.meta.uid = name;
  server.meta.resource_version = "1";
  server.meta.labels.set("region", region);
  server.status.state = game_server_state::ready;
  server.status.counters["players"] = {players, 16};
  return std::make_shared<game_server const>(std::move(server));
}

auto players_on(game_server const& server) -> std::int64_t {
  auto const at = server.status.counters.find("players");
  return at == server.status.counters.end() ? 0 : at->second.count;
}

// The fullest first: a comparator is enough.
auto fullest_first() -> std::shared_ptr<ranker const> {
  return make_ranker([](game_server const& a, game_server const& b) { return players_on(a) > players_on(b); });
}

// Home region first: a ranker with something to remember.
class home_first final : public ranker {
 public:
  explicit home_first(std::string region) : region_{std::move(region)} {}
  auto before(game_server const& a, game_server const& b) const noexcept -> bool override {
    return is_home(a) && !is_home(b);
  }

 private:
  auto is_home(game_server const& server) const noexcept -> bool {
    return server.meta.labels.value_or_empty("region") == region_;
  }
  std::string region_;
};

auto any_server(std::shared_ptr<ranker const> by) -> request_ptr {
  game_server_allocation wanted;
  wanted.meta.namespace_ = "default";
  choice_options choice;
  choice.order = order_kind::custom;
  choice.custom = std::move(by);
  auto made = allocation_request::make(std::move(wanted), {}, choice);
  if (auto* const errors = std::get_if<field_errors>(&made)) {
    std::fprintf(stderr, "%s\n", to_string(*errors).c_str());
    std::exit(1);
  }
  return std::get<request_ptr>(std::move(made));
}

}  // namespace

auto main() -> int {
  ready_cache cache;
  cache.store(make_server("a", "eu", 2));
  cache.store(make_server("b", "us", 12));
  cache.store(make_server("c", "eu", 7));
  seeded_random random{1};
  sync_allocator servers{cache, random};

  std::string order;
  auto const take = [&](request_ptr const& request, char const* why) {
    claimed_server got;
    if (servers.claim(*request, std::chrono::sys_time<std::chrono::nanoseconds>{}, got) != sync_outcome::claimed) return;
    servers.commit(got);  // write it to where your servers live first
    std::printf("%s: %s\n", why, got.desired->meta.name.str().c_str());
    order += got.desired->meta.name.view();
  };
  take(any_server(fullest_first()), "the fullest");
  take(any_server(std::make_shared<home_first>("eu")), "at home");
  take(any_server(std::make_shared<home_first>("us")), "away, for lack of another");
  return order == "bac" ? 0 : 1;
}
