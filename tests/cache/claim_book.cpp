#include "../support/servers.hpp"

#include <agones_alloc/cache/index/claim_book.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace test_support;
using namespace std::chrono_literals;
using agones_alloc::detail::claim_book;

namespace {

wall_time const noon = std::chrono::sys_days{std::chrono::year{2026} / 11 / 29} + 12h;

auto with_claim(game_server server, std::string_view id, std::optional<wall_time> expires = {}, wall_time made = noon) -> game_server {
  auto const base = server;
  write_claim(server, base, {id, 7, expires}, made, wall_time::min());
  return server;
}

auto taken(claim_book& book) -> std::vector<std::string> {
  std::vector<detail::expiring_claim> all;
  book.take_expiring(all);
  std::vector<std::string> out;
  for (auto const& one : all) out.push_back(std::to_string(one.slot) + ":" + one.id.str());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("a book of claims follows its servers") {
  claim_book book;
  auto const plain = make_server("a");
  auto const one = with_claim(plain, "one", noon + 5s);
  auto const both = with_claim(one, "two%&=");
  book.follow(3, nullptr, &plain);
  CHECK(book.size() == 0);
  book.follow(3, &plain, &one);
  REQUIRE(book.find("default", "one"));
  CHECK(book.find("default", "one")->slot == 3);
  CHECK(book.find("default", "one")->digest == 7);
  CHECK(book.find("default", "one")->made == noon);
  CHECK_FALSE(book.find("elsewhere", "one"));
  CHECK(taken(book) == std::vector<std::string>{"3:one"});
  book.follow(3, &one, &both);
  CHECK(book.size() == 2);
  CHECK(book.find("default", "two%&="));
  CHECK(taken(book).empty());  // it was told of once
  book.follow(3, &both, &one);
  CHECK_FALSE(book.find("default", "two%&="));
  book.follow(3, &one, nullptr);
  CHECK(book.size() == 0);
}

TEST_CASE("a claim that gets another expiry is to be waited for anew, and a confirmed one is not") {
  claim_book book;
  auto const first = with_claim(make_server("a"), "one", noon + 5s);
  auto later = first;
  expire_claim_at(later, "one", noon + 9s);
  auto confirmed = later;
  confirmed.meta.labels.set(keys::sdk_confirmed, "true");  // by the game: not a word of it in the annotations
  book.follow(3, nullptr, &first);
  CHECK(taken(book).size() == 1);
  book.follow(3, &first, &later);
  CHECK(taken(book).size() == 1);
  book.follow(3, &later, &confirmed);
  CHECK(taken(book).empty());
  book.follow(4, nullptr, &first);  // another replica's, made at the same time, not confirmed
  CHECK(book.find("default", "one")->slot == 3);
}

TEST_CASE("of several servers with one id the confirmed one counts, then the first one made; the others stay known") {
  claim_book book;
  std::vector<game_server> servers;
  for (int i = 0; i != 4; ++i) servers.push_back(with_claim(make_server("s" + std::to_string(i)), "one", noon + 60s, noon - std::chrono::seconds{i}));
  servers[1] = with_claim(make_server("s1"), "one");
  for (std::uint32_t i = 0; i != 4; ++i) book.follow(i, nullptr, &servers[i]);
  auto const next = [&book] { return book.find("default", "one")->slot; };
  CHECK(next() == 1);
  book.follow(1, &servers[1], nullptr);
  CHECK(next() == 3);
  book.follow(0, &servers[0], nullptr);  // the one that came first
  CHECK(next() == 3);
  book.follow(3, &servers[3], nullptr);
  CHECK(next() == 2);
  book.follow(2, &servers[2], nullptr);
  CHECK_FALSE(book.find("default", "one"));
  CHECK(book.size() == 0);
}
