#include "make.hpp"

#include <agones_alloc/select/request.hpp>

#include <doctest/doctest.h>

#include <variant>

using namespace agones_alloc;

namespace {

auto request_of(game_server_allocation gsa, choice_options choice = {}, feature_gates gates = {}) -> request_ptr {
  return std::get<request_ptr>(allocation_request::make(std::move(gsa), gates, std::move(choice)));
}

auto problems_of(game_server_allocation gsa, choice_options choice = {}) -> std::vector<std::string> {
  std::vector<std::string> out;
  auto const made = allocation_request::make(std::move(gsa), {}, std::move(choice));
  for (auto const& error : std::get<field_errors>(made)) out.push_back(to_string(error));
  return out;
}

}  // namespace

TEST_CASE("an empty request is one shape: any Ready server of the namespace, packed") {
  game_server_allocation gsa;
  gsa.meta.namespace_ = "games";
  auto const request = request_of(gsa);
  REQUIRE(request->shapes().size() == 1);
  auto const& shape = request->shapes()[0];
  CHECK(shape.namespace_ == "games");
  CHECK(shape.selector.state == game_server_state::ready);
  CHECK(shape.selector.labels.empty());
  CHECK(shape.order == ranking{});
  CHECK(request->allocation().spec.scheduling == "Packed");
  CHECK(request->allocation().spec.selectors.size() == 1);
}

TEST_CASE("an incoming status is dropped (Q6)") {
  auto gsa = make::allocation();
  gsa.status.address = "6.6.6.6";
  gsa.status.state = "Allocated";
  CHECK(request_of(gsa)->allocation().status == allocation_status{});
}

TEST_CASE("an invalid request is refused with every problem") {
  auto gsa = make::allocation("x");
  gsa.spec.metadata.labels = {{"k", "-"}};
  auto const found = problems_of(gsa);
  REQUIRE(found.size() == 2);
  CHECK(found[0].starts_with("spec.scheduling: "));
  CHECK(found[1].starts_with("spec.metadata.labels: "));
}

TEST_CASE("options out of range are refused by their names") {
  choice_options choice;
  choice.top_n = 0;
  CHECK(problems_of(make::allocation(), choice) ==
        std::vector<std::string>{"options.top_n: Invalid value: 0: must be between 1 and 1024, inclusive"});
  choice.top_n = 1025;
  choice.order = order_kind::custom;
  choice.target = target_server{};
  CHECK(problems_of(make::allocation(), choice).size() == 3);
  choice = {};
  choice.top_n = 1024;
  CHECK(request_of(make::allocation(), choice)->top_n() == 1024);
}

TEST_CASE("requests that mean the same share a shape, others do not") {
  auto a = make::allocation();
  a.spec.required.labels.match_expressions = {{"fleet", "In", {"red"}}};
  auto b = make::allocation();
  b.spec.selectors = {make::selector({{"fleet", "red"}})};
  b.spec.metadata.labels = {{"patched", "yes"}};
  CHECK(request_of(a)->shapes()[0] == request_of(b)->shapes()[0]);
  auto c = b;
  c.meta.namespace_ = "other";
  CHECK_FALSE(request_of(c)->shapes()[0] == request_of(b)->shapes()[0]);
  CHECK(request_of(c)->shapes()[0].hash != request_of(b)->shapes()[0].hash);
  auto d = b;
  d.spec.scheduling = "Distributed";
  CHECK_FALSE(request_of(d)->shapes()[0] == request_of(b)->shapes()[0]);
}

TEST_CASE("options override the order and keep what it looks at") {
  auto gsa = make::allocation("Distributed");
  gsa.spec.priorities.emplace({priority{"Counter", "rooms", "Descending"}});
  choice_options choice;
  auto const order = [&](order_kind kind) {
    choice.order = kind;
    return request_of(gsa, choice, {true, true})->shapes()[0].order;
  };
  CHECK(order(order_kind::packed).players);
  CHECK(order(order_kind::packed).priorities.size() == 1);
  CHECK(order(order_kind::newest_first).kind == order_kind::newest_first);
  CHECK(order(order_kind::newest_first).priorities.size() == 1);
  CHECK(order(order_kind::by_priorities).priorities.size() == 1);
  CHECK(order(order_kind::random).priorities.empty());
  choice.custom = make_ranker([](game_server const&, game_server const&) { return false; });
  CHECK(order(order_kind::custom).custom == choice.custom);
  CHECK(order(order_kind::custom).priorities.empty());
  CHECK_FALSE(order(order_kind::custom).players);
}

TEST_CASE("a ranker without the custom order is not used") {
  choice_options choice;
  choice.custom = make_ranker([](game_server const&, game_server const&) { return false; });
  CHECK(request_of(make::allocation(), choice)->shapes()[0].order == ranking{});
}

TEST_CASE("the same wishes for another namespace are what a request made there would be") {
  game_server_allocation elsewhere;
  elsewhere.meta.namespace_ = "games";
  game_server_allocation there;
  there.meta.namespace_ = "other";
  auto const moved = request_of(elsewhere)->in_namespace("other");
  CHECK(moved->shapes() == request_of(there)->shapes());
  CHECK(moved->allocation() == request_of(there)->allocation());
}

TEST_CASE("a preferred share adds a shape before that of each selector") {
  auto gsa = make::allocation();
  gsa.spec.selectors = {make::selector({{"mode", "ctf"}}), {}};
  auto const plain = request_of(gsa);
  choice_options choice;
  choice.prefer = {1, 3};
  auto const request = request_of(gsa, choice);
  REQUIRE(request->shapes().size() == 4);
  for (std::size_t i = 0; i != 4; ++i) {
    auto const& shape = request->shapes()[i];
    CHECK(request->selector_of(i) == i / 2);
    CHECK(request->top_n_of(i) == (i % 2 == 0 ? 1 : 256));
    CHECK(shape.selector.labels == plain->shapes()[i / 2].selector.labels);
    CHECK(shape.selector.share == (i % 2 == 0 ? server_share{1, 3} : server_share{}));
  }
  CHECK(request->shapes()[1] == plain->shapes()[0]);
  CHECK(request->shapes()[0].hash != request->shapes()[1].hash);
  choice.prefer = {2, 3};
  CHECK(request_of(gsa, choice)->shapes()[0] != request->shapes()[0]);
}

TEST_CASE("a preferred share that is none of the shares is refused") {
  choice_options choice;
  choice.prefer = {0, 0};
  CHECK(problems_of(make::allocation(), choice) ==
        std::vector<std::string>{"options.prefer.count: Invalid value: 0: must be between 1 and 1024, inclusive"});
  choice.prefer = {0, 1025};
  CHECK(problems_of(make::allocation(), choice).size() == 1);
  choice.prefer = {3, 3};
  CHECK(problems_of(make::allocation(), choice) ==
        std::vector<std::string>{"options.prefer.index: Invalid value: 3: must be less than options.prefer.count"});
}
