#include <agones_alloc/model/string_map.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using agones_alloc::string_map;

namespace {
auto entries_of(string_map const& map) -> std::vector<std::pair<std::string, std::string>> {
  std::vector<std::pair<std::string, std::string>> out;
  for (auto const [key, value] : map) out.emplace_back(key, value);
  return out;
}
using entries = std::vector<std::pair<std::string, std::string>>;
}  // namespace

TEST_CASE("a string_map sorts its keys and keeps the last of two equal ones") {
  string_map const map{{"b", "1"}, {"a", "2"}, {"b", "3"}};
  CHECK(entries_of(map) == entries{{"a", "2"}, {"b", "3"}});
  CHECK(map.size() == 2);
  CHECK(map.find("b") == std::string_view{"3"});
  CHECK(map.find("c") == std::nullopt);
  CHECK(map.contains("a"));
  CHECK(map.value_or_empty("c").empty());
}

TEST_CASE("empty keys and values are entries like others") {
  string_map map;
  CHECK(map.empty());
  map.set("", "");
  CHECK(map.size() == 1);
  CHECK(map.find("") == std::string_view{""});
  CHECK(map.erase(""));
  CHECK(map.empty());
  CHECK(map == string_map{});
}

TEST_CASE("a change to a string_map leaves its copies alone") {
  string_map const before{{"a", "1"}};
  auto after = before;
  CHECK(after.same_block(before));
  after.set("a", "2");
  after.set("b", "");
  CHECK(entries_of(before) == entries{{"a", "1"}});
  CHECK(entries_of(after) == entries{{"a", "2"}, {"b", ""}});
  CHECK_FALSE(after.erase("zzz"));
}

TEST_CASE("merge overwrites and adds, in one block, whatever the sides hold") {
  string_map map{{"a", "1"}, {"c", "3"}};
  map.merge({{"b", "2"}, {"c", "x"}, {"d", "4"}});
  CHECK(entries_of(map) == entries{{"a", "1"}, {"b", "2"}, {"c", "x"}, {"d", "4"}});
  auto const same = map;
  map.merge({});
  CHECK(map.same_block(same));
  string_map into_empty;
  into_empty.merge(same);
  CHECK(into_empty.same_block(same));
}

TEST_CASE("several entries are set at once, in any order, the later of two with one key") {
  string_map map{{"a", "1"}, {"c", "3"}};
  map.set({{"b", "2"}, {"c", "x"}, {"d", "4"}});
  CHECK(entries_of(map) == entries{{"a", "1"}, {"b", "2"}, {"c", "x"}, {"d", "4"}});
  map.set({{"d", "5"}, {"", "0"}, {"d", "6"}, {"a", ""}});
  CHECK(entries_of(map) == entries{{"", "0"}, {"a", ""}, {"b", "2"}, {"c", "x"}, {"d", "6"}});
  auto const same = map;
  map.set({});
  CHECK(map == same);
  string_map from_nothing;
  from_nothing.set({{"k", "v"}, {"l", "w"}});
  CHECK(entries_of(from_nothing) == entries{{"k", "v"}, {"l", "w"}});
  CHECK(map == same);
}

TEST_CASE("what changed from one map to another is told with what was before, and nothing else") {
  std::uint64_t seed = 7;
  auto const random = [&seed] {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return seed >> 33;
  };
  auto const draw = [&] {
    string_map out;
    for (int i = 0; i != 12; ++i) {
      if (random() % 2 == 0) out.set(std::string(1 + random() % 2, static_cast<char>('a' + random() % 6)), std::string(random() % 3, 'v'));
    }
    return out;
  };
  for (int round = 0; round != 2'000; ++round) {
    auto const before = draw();
    auto const now = round % 10 == 0 ? before : draw();
    std::map<std::string, std::pair<std::string, std::optional<std::string>>> told;
    now.each_change_from(before, [&](std::string_view key, std::string_view value, std::optional<std::string_view> was) {
      auto const first = told.emplace(key, std::pair{std::string{value}, was ? std::optional<std::string>{*was} : std::nullopt}).second;
      CHECK(first);
    });
    for (auto const entry : now) {
      auto const was = before.find(entry.first);
      auto const at = told.find(std::string{entry.first});
      auto const changed = was != std::optional{entry.second};
      REQUIRE((at != told.end()) == changed);
      if (!changed) continue;
      CHECK(at->second.first == entry.second);
      CHECK(at->second.second == (was ? std::optional<std::string>{*was} : std::nullopt));
      told.erase(at);
    }
    CHECK(told.empty());
  }
}

TEST_CASE("equal maps have equal bytes however they were made") {
  string_map made{{"k", "v"}};
  made.set("a", "b");
  string_map const other{{"a", "b"}, {"k", "v"}};
  CHECK(made == other);
  CHECK(made.bytes() == other.bytes());
  CHECK(string_map{{"ab", "c"}} != string_map{{"a", "bc"}});
}

TEST_CASE("a string_map agrees with std::map over many changes") {
  std::map<std::string, std::string> model;
  string_map map;
  std::uint64_t state = 7;
  for (int step = 0; step < 4000; ++step) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    auto const key = "key-" + std::to_string((state >> 33) % (step < 2000 ? 10 : 40));  // few are looked for in another way than many
    auto const value = std::string((state >> 20) % 30, static_cast<char>('a' + step % 26));
    if ((state >> 60) < 5) {
      CHECK(map.erase(key) == (model.erase(key) == 1));
    } else {
      map.set(key, value);
      model[key] = value;
    }
    auto const wanted = "key-" + std::to_string((state >> 12) % 40);
    auto const known = model.find(wanted);
    CHECK(map.contains(wanted) == (known != model.end()));
    if (known != model.end()) CHECK(map.value_or_empty(wanted) == known->second);
    auto const next = model.lower_bound(wanted);
    auto const first = next != model.end() && next->first.starts_with(wanted) ? next->first : "";
    CHECK(map.first_with(wanted).value_or("") == first);
  }
  CHECK(entries_of(map) == entries(model.begin(), model.end()));
  static_assert(std::random_access_iterator<string_map::const_iterator>);
}

TEST_CASE("keys of equal length, and the empty one, are told apart") {
  string_map const map{{"", "none"}, {"aa", "1"}, {"ab", "2"}, {"b", ""}};
  CHECK(map.find("") == "none");
  CHECK(map.find("aa") == "1");
  CHECK(map.find("ab") == "2");
  CHECK(map.find("b") == "");
  CHECK_FALSE(map.find("ac"));
  CHECK_FALSE(map.find("a"));
  CHECK_FALSE(string_map{}.find(""));
  CHECK(map.first_with("a") == "aa");
  CHECK(map.first_with("ab") == "ab");
  CHECK(map.first_with("") == "");
  CHECK_FALSE(map.first_with("c"));
  CHECK_FALSE(string_map{}.first_with(""));
}

TEST_CASE("a value of the map itself can be set again under another key") {
  string_map map{{"a", "text"}, {"b", ""}};
  map.set("b", *map.find("a"));
  map.set("0", *map.find("b"));
  CHECK(entries_of(map) == entries{{"0", "text"}, {"a", "text"}, {"b", "text"}});
}
