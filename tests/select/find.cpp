#include "make.hpp"

#include <agones_alloc/port/random.hpp>
#include <agones_alloc/select/find.hpp>

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <variant>

using namespace agones_alloc;

namespace {

auto request_of(game_server_allocation gsa, choice_options choice = {}) -> request_ptr {
  return std::get<request_ptr>(allocation_request::make(std::move(gsa), {}, std::move(choice)));
}

auto list_of(std::vector<game_server> servers) -> std::vector<game_server_ptr> {
  std::vector<game_server_ptr> out;
  for (auto& server : servers) out.push_back(std::make_shared<game_server const>(std::move(server)));
  return out;
}

/// Words given out in turn, then again from the first.
class scripted_random final : public random_source {
 public:
  explicit scripted_random(std::vector<std::uint64_t> words) : words_{std::move(words)} {}
  auto next() noexcept -> std::uint64_t override {
    ++draws;
    return words_[at_++ % words_.size()];
  }
  int draws{0};

 private:
  std::vector<std::uint64_t> words_;
  std::size_t at_{0};
};

auto const three = list_of({make::server("a"), make::server("b"), make::server("c")});

/// How often each index is drawn.
auto tally(allocation_request const& request, std::vector<game_server_ptr> const& list) -> std::map<std::size_t, int> {
  std::map<std::size_t, int> out;
  seeded_random random{11};
  for (int i = 0; i != 3000; ++i) ++out[find(request, list, random).value().index];
  return out;
}

}  // namespace

TEST_CASE("packed takes the first that matches, without a draw") {
  scripted_random random{{0}};
  CHECK(find(*request_of(make::allocation()), three, random) == found_server{0, 0});
  CHECK(random.draws == 0);
}

TEST_CASE("nothing that matches is nothing") {
  seeded_random random{1};
  auto gsa = make::allocation();
  gsa.meta.namespace_ = "elsewhere";
  CHECK_FALSE(find(*request_of(gsa), three, random).has_value());
  CHECK_FALSE(find(*request_of(make::allocation()), {}, random).has_value());
}

TEST_CASE("a worse server of selector 0 beats a better one of selector 1") {
  seeded_random random{1};
  auto gsa = make::allocation();
  gsa.spec.selectors = {make::selector({{"mode", "ctf"}}), {}};
  auto const list = list_of({make::server("a"), make::labelled(make::server("b"), {{"mode", "ctf"}})});
  CHECK(find(*request_of(gsa), list, random) == found_server{1, 0});
  CHECK(find(*request_of(gsa), std::span{list}.first(1), random) == found_server{0, 1});
}

TEST_CASE("deprecated fields search preferred first, then required") {
  seeded_random random{1};
  auto gsa = make::allocation();
  gsa.spec.preferred = {make::selector({{"mode", "ctf"}})};
  auto const list = list_of({make::server("a"), make::labelled(make::server("b"), {{"mode", "ctf"}})});
  CHECK(find(*request_of(gsa), list, random) == found_server{1, 0});
}

TEST_CASE("an Allocated server is found only by a selector that asks for it") {
  seeded_random random{1};
  auto const list = list_of({make::server("a", "n", game_server_state::allocated)});
  CHECK_FALSE(find(*request_of(make::allocation()), list, random).has_value());
  auto gsa = make::allocation();
  gsa.spec.selectors.resize(1);
  gsa.spec.selectors[0].game_server_state = "Allocated";
  CHECK(find(*request_of(gsa), list, random).has_value());
}

TEST_CASE("distributed without priorities draws uniformly among all hits") {
  auto const counts = tally(*request_of(make::allocation("Distributed")), three);
  REQUIRE(counts.size() == 3);
  for (auto const& [index, times] : counts) {
    CHECK(times > 900);
    CHECK(times < 1100);
  }
}

TEST_CASE("distributed with priorities walks the list") {
  auto gsa = make::allocation("Distributed");
  gsa.spec.priorities.emplace({priority{"Counter", "rooms", "Ascending"}});
  CHECK(tally(*request_of(gsa), three).size() == 1);
}

TEST_CASE("top_n draws among the best n hits and no others") {
  choice_options choice;
  choice.top_n = 2;
  auto const counts = tally(*request_of(make::allocation(), choice), three);
  CHECK(counts.size() == 2);
  CHECK(counts.contains(0));
  CHECK(counts.contains(1));
  choice.top_n = 1000;
  CHECK(tally(*request_of(make::allocation(), choice), three).size() == 3);
}

TEST_CASE("top_n stays within the best selector") {
  choice_options choice;
  choice.top_n = 5;
  auto gsa = make::allocation();
  gsa.spec.selectors = {make::selector({{"mode", "ctf"}}), {}};
  auto const list =
      list_of({make::server("a"), make::labelled(make::server("b"), {{"mode", "ctf"}}), make::server("c")});
  CHECK(tally(*request_of(gsa, choice), list) == std::map<std::size_t, int>{{1, 3000}});
}

TEST_CASE("a required target is taken, or nothing is") {
  seeded_random random{1};
  choice_options choice;
  choice.target = target_server{"b", "", true};
  CHECK(find(*request_of(make::allocation(), choice), three, random) == found_server{1, 0});
  choice.target->name = "x";
  CHECK_FALSE(find(*request_of(make::allocation(), choice), three, random).has_value());
}

TEST_CASE("a preferred target is taken if it can be") {
  seeded_random random{1};
  choice_options choice;
  choice.target = target_server{"b", "", false};
  CHECK(find(*request_of(make::allocation(), choice), three, random) == found_server{1, 0});
  choice.target->uid = "another";
  CHECK(find(*request_of(make::allocation(), choice), three, random) == found_server{0, 0});
}

TEST_CASE("a target must match a selector, and its UID where one is given") {
  seeded_random random{1};
  auto named = make::server("b");
  named.meta.uid = "u1";
  auto const list = list_of({make::server("a"), named});
  choice_options choice;
  choice.target = target_server{"b", "u1", true};
  CHECK(find(*request_of(make::allocation(), choice), list, random) == found_server{1, 0});
  auto gsa = make::allocation();
  gsa.spec.selectors = {make::selector({{"mode", "ctf"}})};
  CHECK_FALSE(find(*request_of(gsa, choice), list, random).has_value());
  gsa.spec.selectors.push_back({});
  CHECK(find(*request_of(gsa, choice), list, random) == found_server{1, 1});
}

TEST_CASE("servers of the preferred share go first, then the others, then the next selector") {
  std::vector<game_server> servers;
  for (char name = 'a'; name != 'z'; ++name) servers.push_back(make::server(std::string(1, name)));
  servers[3] = make::labelled(make::server("d"), {{"mode", "ctf"}});
  choice_options choice;
  choice.prefer = {0, 4};
  if (is_in(choice.prefer, servers[3])) choice.prefer.index = 1;  // the one of the first selector is another's
  auto const list = list_of(servers);
  seeded_random random{1};
  auto const all = find(*request_of(make::allocation(), choice), list, random).value();
  CHECK(all.selector == 0);
  CHECK(is_in(choice.prefer, *list[all.index]));
  for (std::size_t i = 0; i != all.index; ++i) CHECK_FALSE(is_in(choice.prefer, *list[i]));
  auto gsa = make::allocation();
  gsa.spec.selectors = {make::selector({{"mode", "ctf"}}), {}};
  CHECK(find(*request_of(gsa, choice), list, random) == found_server{3, 0});
  gsa.spec.selectors = {make::selector({{"mode", "none"}}), {}};
  CHECK(find(*request_of(gsa, choice), list, random) == found_server{all.index, 1});
}
