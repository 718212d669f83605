// choice_options::exact: a server is a candidate when every action fits as a whole.
#include "make.hpp"

#include <agones_alloc/select/apply.hpp>
#include <agones_alloc/select/find.hpp>
#include <agones_alloc/select/request.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <variant>
#include <vector>

using namespace agones_alloc;

namespace {

auto server_with(std::int64_t count, std::int64_t capacity, std::vector<shared_string> players, std::int64_t list_capacity) -> game_server {
  game_server out;
  out.meta.namespace_ = "default";
  out.meta.name = "a";
  out.status.state = game_server_state::ready;
  out.status.counters["rooms"] = {count, capacity};
  out.status.lists["players"] = {list_capacity, std::move(players)};
  return out;
}

auto exactly(game_server_allocation wanted) -> request_ptr {
  wanted.meta.namespace_ = "default";
  choice_options choice;
  choice.exact = true;
  return std::get<request_ptr>(allocation_request::make(std::move(wanted), {}, choice));
}

auto counting(std::optional<shared_string> action, std::optional<std::int64_t> amount, std::optional<std::int64_t> capacity) {
  game_server_allocation out;
  out.spec.counters.emplace()["rooms"] = {std::move(action), amount, capacity};
  return exactly(std::move(out));
}

auto adding(std::vector<shared_string> values, std::optional<std::int64_t> capacity) {
  game_server_allocation out;
  auto& action = out.spec.lists.emplace()["players"];
  action.add_values = std::move(values);
  action.capacity = capacity;
  return exactly(std::move(out));
}

auto fits(request_ptr const& request, game_server const& server) -> bool { return matches(request->shapes().front().selector, server); }

}  // namespace

TEST_CASE("an exact amount has to fit into the capacity that the same action sets") {
  auto const server = server_with(3, 5, {}, 10);
  CHECK(fits(counting("Increment", 2, {}), server));
  CHECK_FALSE(fits(counting("Increment", 3, {}), server));
  CHECK(fits(counting("Increment", 3, 6), server));
  CHECK_FALSE(fits(counting("Increment", 10, 6), server));
  CHECK(fits(counting({}, {}, 3), server));
  CHECK_FALSE(fits(counting({}, {}, 2), server));  // the count would be cut
  CHECK(fits(counting("Decrement", 3, 3), server));
  CHECK_FALSE(fits(counting("Decrement", 4, 5), server));
  CHECK_FALSE(fits(counting("Decrement", 1, 2), server));
  auto none = server;
  none.status.counters = {};
  CHECK_FALSE(fits(counting("Increment", 1, 6), none));
}

TEST_CASE("exact values have to fit into the capacity that the same action sets") {
  auto const server = server_with(0, 0, {"x"}, 2);
  CHECK(fits(adding({"a"}, {}), server));
  CHECK_FALSE(fits(adding({"a", "b"}, {}), server));
  CHECK(fits(adding({"a", "b"}, 3), server));
  CHECK_FALSE(fits(adding({"a", "b", "c"}, 2), server));
  CHECK_FALSE(fits(adding({}, 0), server));
  CHECK(fits(adding({}, 1), server));
  auto none = server;
  none.status.lists = {};
  CHECK_FALSE(fits(adding({"a"}, 3), none));
}

TEST_CASE("what an exact request is offered is changed by all that it says, and by nothing else") {
  for (std::int64_t count = 0; count <= 4; ++count) {
    for (std::int64_t capacity = count; capacity <= 5; ++capacity) {
      for (std::int64_t amount = 0; amount <= 5; ++amount) {
        for (std::int64_t set = -1; set <= 6; ++set) {
          for (bool const up : {true, false}) {
            auto const request = counting(up ? "Increment" : "Decrement", amount, set < 0 ? std::nullopt : std::optional{set});
            auto server = server_with(count, capacity, {}, 0);
            if (!fits(request, server)) continue;
            CAPTURE(count);
            CAPTURE(capacity);
            CAPTURE(amount);
            CAPTURE(set);
            apply_allocation(server, request->allocation().spec, {}, {});
            auto const& now = server.status.counters.find("rooms")->second;
            CHECK(now.count == count + (up ? amount : -amount));
            CHECK(now.capacity == (set < 0 ? capacity : set));
          }
        }
      }
    }
  }
}

TEST_CASE("an exact request with another capacity is another shape, and is explained by it") {
  auto const three = counting("Increment", 3, 6);
  auto const four = counting("Increment", 4, 6);
  CHECK_FALSE(three->shapes().front() == four->shapes().front());
  CHECK(three->shapes().front().hash != four->shapes().front().hash);
  CHECK(three->shapes().front() == counting("Increment", 3, 6)->shapes().front());
  std::vector<game_server_ptr> const all{std::make_shared<game_server const>(server_with(3, 5, {}, 10))};
  auto const why = explain(*four, all);
  REQUIRE(why.selectors.size() == 1);
  CHECK(why.selectors.front().back().name == "counter rooms within its new capacity");
  CHECK(why.selectors.front().back().remaining == 0);
}
