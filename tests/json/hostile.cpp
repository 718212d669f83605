#include "reading.hpp"

#include <agones_alloc/json/rest.hpp>
#include <agones_alloc/json/write.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace agones_alloc;
using json_tests::parsed;

TEST_CASE("a depth bomb is refused whatever its brackets, and inside a known field") {
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"spec\":";
  CHECK(parse_json(objects).error().fault == decode_fault::limit);
  CHECK(parse_json(R"({"spec":)" + std::string(100'000, '[')).error().fault == decode_fault::limit);
}

TEST_CASE("a huge array is refused by its count, not read") {
  std::string text = R"({"spec":{"selectors":[)";
  for (int i = 0; i < 100'000; ++i) text += "{},";
  text += "{}]}}";
  auto const error = read_game_server_allocation(parsed(text)).error();
  CHECK(error.fault == decode_fault::limit);
  CHECK(to_string(error) == "spec.selectors: 100001 entries, at most 10000 are accepted");
}

TEST_CASE("a giant number is no integer") {
  auto const digits = std::string(100'000, '9');
  auto const value = parsed(R"({"metadata":{"generation":)" + digits + "}}");
  CHECK(read_game_server(value).error().field == "metadata.generation");
}

TEST_CASE("an error's text stays short whatever it quotes") {
  auto const big = std::string(1'000'000, 'x');
  CHECK(to_string(read_game_server_allocation(parsed(R"({"kind":")" + big + "\"}")).error()).size() < 200);
  CHECK(to_string(read_game_server_allocation(parsed(R"({"metadata":{"creationTimestamp":")" + big + "\"}}")).error()).size() < 200);
  CHECK(to_string(rest_request_to_allocation(parsed(R"({"counters":{"c":{"amount":")" + big + "\"}}}")).error()).size() < 200);
  CHECK(to_string(read_game_server_allocation(parsed(R"({"spec":{"scheduling":")" + big + "\"}}"), {.strict = true}).error()).size() < 200);
}

TEST_CASE("a long key is cut in an error's path and in the list of unknown fields") {
  auto const big = std::string(1'000'000, 'x');
  std::vector<std::string> unknown;
  CHECK(read_game_server_allocation(parsed("{\"" + big + "\":1}"), {.unknown_fields = &unknown}).has_value());
  CHECK(unknown.at(0).size() < 1000);
  CHECK(read_game_server_allocation(parsed(R"({"metadata":{"labels":{")" + big + R"(":1}}})")).error().field.size() < 1000);
}

TEST_CASE("NUL bytes and line ends in texts survive and are escaped") {
  auto const server = json_tests::game_server_of("{\"metadata\":{\"labels\":{\"a\\u0000b\":\"c\\n\\u0000\"}}}");
  CHECK(server.meta.labels.begin()->first.size() == 3);
  auto const text = to_json(server);
  CHECK(text.find("\"a\\u0000b\":\"c\\n\\u0000\"") != std::string::npos);
  CHECK(json_tests::game_server_of(text) == server);
}

TEST_CASE("of a key given twice the last wins, in maps and in fields") {
  auto const gsa = json_tests::allocation_of(
      R"({"spec":{"scheduling":"Packed","scheduling":"Distributed","counters":{"a":{"amount":1},"a":{"amount":2}},
          "metadata":{"labels":{"k":"1","k":"2"}}}})");
  CHECK(gsa.spec.scheduling == "Distributed");
  CHECK(gsa.spec.counters->at("a").amount == 2);
  CHECK(gsa.spec.metadata.labels.find("k") == "2");
}

TEST_CASE("a name with brackets and dots is shown as it is in a path") {
  CHECK(json_tests::allocation_error(R"({"spec":{"counters":{"a].b[c":{"amount":"x"}}}})").starts_with("spec.counters[a].b[c].amount:"));
}
