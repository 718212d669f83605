#include "../support/servers.hpp"

#include <agones_alloc/cache/index/claim_book.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace test_support;
using namespace std::chrono_literals;

namespace {

/// A book, and the servers that it was told of.
struct followed_book {
  detail::claim_book book;
  std::map<std::uint32_t, game_server> servers;

  void follow(std::uint32_t slot, game_server const* now, detail::written_claim const* written = nullptr) {
    auto const at = servers.find(slot);
    book.follow(slot, at == servers.end() ? nullptr : &at->second, now, written);
    if (now != nullptr) {
      servers.insert_or_assign(slot, *now);
    } else {
      servers.erase(slot);
    }
  }
  auto find(std::string_view ns, std::string_view id) const -> std::optional<std::uint32_t> {
    return find(ns, id, detail::claim_hash(id));
  }
  auto find(std::string_view ns, std::string_view id, std::size_t hash) const -> std::optional<std::uint32_t> {
    return book.find(ns, id, hash, [this](std::uint32_t slot) -> game_server const* {
      auto const at = servers.find(slot);
      return at == servers.end() ? nullptr : &at->second;
    });
  }
};

wall_time const noon = std::chrono::sys_days{std::chrono::year{2026} / 11 / 29} + 12h;

auto with_claim(game_server server, std::string_view id, std::optional<wall_time> expires = {}, wall_time made = noon) -> game_server {
  auto const base = server;
  write_claim(server, base, {id, 7, expires}, made, wall_time::min());
  return server;
}

auto taken(followed_book& from) -> std::vector<std::string> {
  std::vector<detail::expiring_claim> all;
  from.book.take_expiring(all);
  std::vector<std::string> out;
  for (auto const& one : all) out.push_back(std::to_string(one.slot) + ":" + one.id.str());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("a book of claims follows its servers") {
  followed_book book;
  auto const plain = make_server("a");
  auto const one = with_claim(plain, "one", noon + 5s);
  auto const both = with_claim(one, "two%&=");
  book.follow(3, &plain);
  CHECK(book.book.size() == 0);
  book.follow(3, &one);
  CHECK(book.find("default", "one") == 3);
  CHECK_FALSE(book.find("elsewhere", "one"));
  CHECK(taken(book) == std::vector<std::string>{"3:one"});
  book.follow(3, &both);
  CHECK(book.book.size() == 2);
  CHECK(book.find("default", "two%&="));
  CHECK(taken(book).empty());  // it was told of once
  book.follow(3, &one);
  CHECK_FALSE(book.find("default", "two%&="));
  book.follow(3, nullptr);
  CHECK(book.book.size() == 0);
}

TEST_CASE("a claim that gets another expiry is to be waited for anew, and a confirmed one is not") {
  followed_book book;
  auto const first = with_claim(make_server("a"), "one", noon + 5s);
  auto later = first;
  expire_claim_at(later, "one", noon + 9s);
  auto confirmed = later;
  confirmed.meta.labels.set(keys::sdk_confirmed, "true");  // by the game: not a word of it in the annotations
  book.follow(3, &first);
  CHECK(taken(book).size() == 1);
  book.follow(3, &later);
  CHECK(taken(book).size() == 1);
  book.follow(3, &confirmed);
  CHECK(taken(book).empty());
  book.follow(4, &first);  // another replica's, made at the same time, not confirmed
  CHECK(book.find("default", "one") == 3);
}

TEST_CASE("of several servers with one id the confirmed one counts, then the first one made; the others stay known") {
  followed_book book;
  std::vector<game_server> servers;
  for (int i = 0; i != 4; ++i) servers.push_back(with_claim(make_server("s" + std::to_string(i)), "one", noon + 60s, noon - std::chrono::seconds{i}));
  servers[1] = with_claim(make_server("s1"), "one");
  for (std::uint32_t i = 0; i != 4; ++i) book.follow(i, &servers[i]);
  auto const next = [&book] { return book.find("default", "one"); };
  CHECK(next() == 1);
  book.follow(1, nullptr);
  CHECK(next() == 3);
  book.follow(0, nullptr);  // the one that came first
  CHECK(next() == 3);
  book.follow(3, nullptr);
  CHECK(next() == 2);
  book.follow(2, nullptr);
  CHECK_FALSE(book.find("default", "one"));
  CHECK(book.book.size() == 0);
}

TEST_CASE("ids of one hash do not stand for each other, and each is found as long as it is there") {
  followed_book book;
  constexpr std::size_t same = 5;
  std::vector<game_server> servers;
  for (auto const* id : {"a", "b", "c"}) {
    auto const& made = servers.emplace_back(with_claim(make_server(id), id));
    shared_string const name{id};
    detail::written_claim const written{made.meta.annotations, {name, 7, noon, std::nullopt}, name, same};
    book.follow(static_cast<std::uint32_t>(servers.size()), &made, &written);
  }
  CHECK(book.book.size() == 3);
  CHECK(book.find("default", "a", same) == 1);
  CHECK(book.find("default", "b", same) == 2);
  CHECK(book.find("default", "c", same) == 3);
  CHECK_FALSE(book.find("default", "d", same));
}

TEST_CASE("what was just written is believed of the annotations that it was written into, and of no others") {
  followed_book book;
  auto const plain = make_server("a");
  auto const written = with_claim(plain, "one", noon + 5s);
  auto const other = with_claim(plain, "two", noon + 5s);
  shared_string const id{"one"};
  auto const digest = detail::claim_hash(id);
  detail::written_claim const told{written.meta.annotations, {id, 7, noon, noon + 5s}, id, digest};
  book.follow(1, &plain);
  book.follow(1, &written, &told);
  CHECK(book.find("default", "one") == 1);
  CHECK(taken(book) == std::vector<std::string>{"1:one"});
  book.follow(1, nullptr);
  CHECK(book.book.size() == 0);
  book.follow(2, &other, &told);
  CHECK_FALSE(book.find("default", "one"));
  CHECK(book.find("default", "two") == 2);
  CHECK(taken(book) == std::vector<std::string>{"2:two"});
}
