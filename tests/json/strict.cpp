#include "reading.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace agones_alloc;
using json_tests::allocation_error;
using json_tests::error_of;
using json_tests::parsed;

TEST_CASE("unknown words pass by default and are refused when strict") {
  struct {
    std::string_view text;
    std::string_view error;
  } const cases[] = {
      {R"({"spec":{"scheduling":"packed"}})", "spec.scheduling: unknown word \"packed\", expected one of Packed, Distributed"},
      {R"({"spec":{"required":{"gameServerState":"ready"}}})",
       "spec.required.gameServerState: unknown word \"ready\", expected one of Ready, Allocated"},
      {R"({"spec":{"priorities":[{"type":"counter"}]}})",
       "spec.priorities[0].type: unknown word \"counter\", expected one of Counter, List"},
      {R"({"spec":{"priorities":[{"type":"List","order":"Up"}]}})",
       "spec.priorities[0].order: unknown word \"Up\", expected one of Ascending, Descending"},
      {R"({"spec":{"counters":{"c":{"action":"Add"}}}})",
       "spec.counters[c].action: unknown word \"Add\", expected one of Increment, Decrement"},
  };
  for (auto const& one : cases) {
    CAPTURE(one.text);
    CHECK(allocation_error(one.text).empty());
    CHECK(allocation_error(one.text, {.strict = true}) == one.error);
  }
  CHECK(read_game_server_allocation(parsed(cases[0].text), {.strict = true}).error().fault == decode_fault::enum_name);
}

TEST_CASE("strict accepts what is right, and what is to be defaulted") {
  CHECK(allocation_error(R"({"spec":{"scheduling":"Packed","priorities":[{"type":"List"}],"counters":{"c":{"amount":1}}}})",
                         {.strict = true})
            .empty());
  CHECK(allocation_error("{}", {.strict = true}).empty());
}

TEST_CASE("an unknown state of a game server is refused when strict") {
  CHECK(error_of(read_game_server(parsed(R"({"status":{"state":"Dancing"}})"), {.strict = true})) ==
        "status.state: unknown game server state \"Dancing\"");
}

TEST_CASE("unknown fields are collected with their paths, up to a bound") {
  auto const value = parsed(R"({"extra":1,"spec":{"selectors":[{"matchLabel":{}}],"counters":{"c":{"amounts":1}}},"metadata":{"clusterName":"c"}})");
  std::vector<std::string> unknown;
  CHECK(read_game_server_allocation(value, {.unknown_fields = &unknown}).has_value());
  CHECK(unknown ==
        std::vector<std::string>{"extra", "spec.selectors[0].matchLabel", "spec.counters[c].amounts", "metadata.clusterName"});
  unknown.clear();
  CHECK(read_game_server_allocation(value, {.unknown_fields = &unknown, .max_unknown_fields = 2}).has_value());
  CHECK(unknown.size() == 2);
}

TEST_CASE("unknown fields are refused only when asked for") {
  auto const value = parsed(R"({"spec":{"selectors":[{"matchLabel":{}}]}})");
  auto const error = read_game_server_allocation(value, {.refuse_unknown_fields = true}).error();
  CHECK(error.fault == decode_fault::unknown_field);
  CHECK(to_string(error) == "spec.selectors[0].matchLabel: unknown field");
}

TEST_CASE("a fleet's ordinary fields that are not used are not unknown") {
  std::vector<std::string> unknown;
  CHECK(read_fleet(parsed(R"({"spec":{"strategy":{},"template":{"spec":{"health":{},"template":{"spec":{"x":1}},"tmplate":{}}}}})"),
                   {.unknown_fields = &unknown})
            .has_value());
  CHECK(unknown == std::vector<std::string>{"spec.template.spec.tmplate"});
}

TEST_CASE("maps and arrays of the model are bounded") {
  json_read_options const few{.max_entries = 2};
  auto const error = [&](std::string_view text) { return read_game_server_allocation(parsed(text), few).error(); };
  CHECK(allocation_error(R"({"spec":{"selectors":[{},{}]}})", few).empty());
  CHECK(error(R"({"spec":{"selectors":[{},{},{}]}})").fault == decode_fault::limit);
  CHECK(to_string(error(R"({"spec":{"selectors":[{},{},{}]}})")) == "spec.selectors: 3 entries, at most 2 are accepted");
  CHECK(error(R"({"metadata":{"labels":{"a":"","b":"","c":""}}})").field == "metadata.labels");
  CHECK(error(R"({"spec":{"counters":{"a":{},"b":{},"c":{}}}})").field == "spec.counters");
  CHECK(error(R"({"spec":{"lists":{"a":{"addValues":["1","2","3"]}}}})").field == "spec.lists[a].addValues");
}
