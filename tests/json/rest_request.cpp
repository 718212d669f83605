#include "reading.hpp"

#include <agones_alloc/json/rest.hpp>
#include <agones_alloc/select/defaults.hpp>
#include <agones_alloc/select/validate.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace agones_alloc;
using json_tests::error_of;
using json_tests::parsed;

namespace {
constexpr feature_gates all_gates{true, true};
auto request(std::string_view text, feature_gates gates = all_gates) -> game_server_allocation {
  return rest_request_to_allocation(parsed(text), gates).value();
}
auto request_error(std::string_view text, json_read_options const& options = {}) -> std::string {
  return error_of(rest_request_to_allocation(parsed(text), all_gates, options));
}
}  // namespace

TEST_CASE("a whole AllocationRequest is read") {
  auto const gsa = request(R"({"namespace":"ns","multiClusterSetting":{"enabled":true,"policySelector":{"matchLabels":{"a":"b"}}},
    "requiredGameServerSelector":{"matchLabels":{"c":"d"},"gameServerState":"ALLOCATED","players":{"minAvailable":"1","maxAvailable":2}},
    "preferredGameServerSelectors":[{"gameServerState":0},{"gameServerState":1},{"gameServerState":7}],
    "scheduling":"Distributed","metaPatch":{"labels":{"old":"1"}},"metadata":{"labels":{"new":"1"}},
    "gameServerSelectors":[{"counters":{"r":{"minCount":"1","maxCount":2,"minAvailable":"3","maxAvailable":4}},
                            "lists":{"l":{"containsValue":"v","minAvailable":"5","maxAvailable":6}}}],
    "priorities":[{"type":"List","key":"k","order":"Descending"},{"type":9,"order":9}],
    "counters":{"r":{"action":"Increment","amount":"9007199254740993","capacity":null}},
    "lists":{"l":{"addValues":["a"],"capacity":"0","deleteValues":["b"]}}})");
  CHECK(gsa.meta.namespace_ == "ns");
  auto const& spec = gsa.spec;
  CHECK(spec.multi_cluster.enabled);
  CHECK(spec.multi_cluster.policy_selector.match_labels.find("a") == "b");
  CHECK(spec.required.labels.match_labels.find("c") == "d");
  CHECK(spec.required.game_server_state == shared_string{"Allocated"});
  CHECK(spec.required.players == player_selector{1, 2});
  CHECK(spec.preferred.at(0).game_server_state == shared_string{"Ready"});
  CHECK(spec.preferred.at(1).game_server_state == shared_string{"Allocated"});
  CHECK(spec.preferred.at(2).game_server_state == std::nullopt);
  CHECK(spec.scheduling == "Distributed");
  CHECK(spec.metadata.labels == string_map{{"new", "1"}});
  CHECK(spec.selectors.at(0).counters->at("r") == counter_selector{1, 2, 3, 4});
  CHECK(spec.selectors.at(0).lists->at("l") == list_selector{"v", 5, 6});
  CHECK(spec.priorities->at(0) == priority{"List", "k", "Descending"});
  CHECK(spec.priorities->at(1) == priority{"Counter", "", "Ascending"});
  CHECK(spec.counters->at("r") == counter_action{"Increment", 9007199254740993, std::nullopt});
  CHECK(spec.lists->at("l") == list_action{{"a"}, {"b"}, 0});
}

TEST_CASE("integers come as numbers, texts or whole floats, and stay exact") {
  auto const amount = [](std::string_view number) {
    return request(R"({"counters":{"c":{"amount":)" + std::string{number} + "}}}").spec.counters->at("c").amount;
  };
  CHECK(amount("\"9223372036854775807\"") == std::numeric_limits<std::int64_t>::max());
  CHECK(amount("\"-9223372036854775808\"") == std::numeric_limits<std::int64_t>::min());
  CHECK(amount("100.0") == 100);
  CHECK(amount("1e2") == 100);
  CHECK(amount("\"1e2\"") == 100);
  CHECK(amount("\"-5\"") == -5);
}

TEST_CASE("other numbers are refused with their path") {
  for (std::string_view const number :
       {"1.5", "\"x\"", "\"\"", "\" 1\"", "\"1 \"", "\"01\"", "\"+1\"", "\"0x1\"", "\"1.\"", "\".5\"", "\"inf\"", "\"nan\"", "\"-\"",
        "9223372036854775808", "\"9223372036854775808\"", "1e300", "\"99999999999999999999999\"", "9007199254740994.0", "true", "[]",
        "\"1.e2\""}) {
    CAPTURE(number);
    CHECK(request_error(R"({"counters":{"c":{"amount":)" + std::string{number} + "}}}")
              .starts_with("counters[c].amount: expected a 64-bit integer"));
  }
}

TEST_CASE("players are unsigned on the wire and reinterpreted in the model") {
  auto const players = [](std::string_view number) {
    return R"({"requiredGameServerSelector":{"players":{"minAvailable":)" + std::string{number} + "}}}";
  };
  CHECK(request(players("\"18446744073709551615\"")).spec.required.players->min_available == -1);
  CHECK(request(players("9223372036854775808")).spec.required.players->min_available == std::numeric_limits<std::int64_t>::min());
  CHECK(request_error(players("-1")) ==
        "requiredGameServerSelector.players.minAvailable: expected an unsigned 64-bit integer, -1 is out of range");
  CHECK(request_error(players("\"18446744073709551616\"")).starts_with("requiredGameServerSelector.players.minAvailable:"));
}

TEST_CASE("gates drop what is off, after it was checked") {
  std::string_view const text = R"({"requiredGameServerSelector":{"players":{"minAvailable":1},"counters":{"c":{}},"lists":{"l":{}}},
    "priorities":[{}],"counters":{"c":{}},"lists":{"l":{}}})";
  auto const off = request(text, {false, false});
  CHECK(off.spec.required.players == std::nullopt);
  CHECK(off.spec.required.counters == std::nullopt);
  CHECK(off.spec.required.lists == std::nullopt);
  CHECK(off.spec.priorities == std::nullopt);
  CHECK(off.spec.counters == std::nullopt);
  CHECK(off.spec.lists == std::nullopt);
  auto const on = request(text);
  CHECK(on.spec.required.counters->size() == 1);
  CHECK(on.spec.priorities->size() == 1);
  CHECK_FALSE(rest_request_to_allocation(parsed(R"({"counters":{"c":{"amount":"x"}}})"), {false, false}).has_value());
}

TEST_CASE("metadata wins over metaPatch whenever it is there, even empty") {
  CHECK(request(R"({"metaPatch":{"labels":{"a":"b"}},"metadata":{}})").spec.metadata.empty());
  CHECK(request(R"({"metaPatch":{"labels":{"a":"b"}},"metadata":null})").spec.metadata.labels.contains("a"));
  CHECK(request(R"({"metaPatch":{"labels":{"a":"b"}}})").spec.metadata.labels.contains("a"));
}

TEST_CASE("null is unset for a field and an error as an element") {
  CHECK(request(R"({"namespace":null,"scheduling":null,"counters":null,"gameServerSelectors":null,"requiredGameServerSelector":null})") ==
        request("{}"));
  CHECK(request_error(R"({"gameServerSelectors":[null]})") == "gameServerSelectors[0]: expected an object, got null");
  CHECK(request_error(R"({"counters":{"c":null}})") == "counters[c]: expected an object, got null");
  CHECK(request_error(R"({"metadata":{"labels":{"a":null}}})") == "metadata.labels[a]: expected a string, got null");
  CHECK(request_error("null") == "expected an object, got null");
  CHECK(request_error("[]") == "expected an object, got an array");
}

TEST_CASE("unknown enum names become the default, strict refuses them") {
  std::string_view const text = R"({"scheduling":"distributed","gameServerSelectors":[{"gameServerState":"Allocated"}],"unknown":{}})";
  CHECK(request(text).spec.scheduling == "Packed");
  CHECK(request(text).spec.selectors.at(0).game_server_state == shared_string{"Ready"});
  CHECK(request_error(text, {.strict = true}) == "scheduling: unknown word \"distributed\", expected one of Packed, Distributed");
  CHECK(request_error(R"({"gameServerSelectors":[{"gameServerState":2}]})", {.strict = true}) ==
        "gameServerSelectors[0].gameServerState: unknown enum number");
  CHECK(request_error(R"({"scheduling":true})") == "scheduling: expected an enum's name or number, got a boolean");
  CHECK(request_error(R"({"scheduling":4294967296})").starts_with("scheduling: expected a 32-bit integer"));
}

TEST_CASE("matchExpressions are read as newer versions of Agones have them") {
  auto const labels = [](std::string_view expressions) {
    auto const gsa = request(R"({"requiredGameServerSelector":{"matchLabels":{"a":"1"},"matchExpressions":)" +
                             std::string{expressions} + R"(},"gameServerSelectors":[{"matchExpressions":)" +
                             std::string{expressions} + R"(}],"preferredGameServerSelectors":[{"matchExpressions":)" +
                             std::string{expressions} + "}]}");
    CHECK(gsa.spec.required.labels.match_labels == string_map{{"a", "1"}});
    CHECK(gsa.spec.required.labels.match_expressions == gsa.spec.selectors.at(0).labels.match_expressions);
    CHECK(gsa.spec.preferred.at(0).labels.match_expressions == gsa.spec.selectors.at(0).labels.match_expressions);
    return gsa.spec.selectors.at(0).labels.match_expressions;
  };
  using terms = std::vector<label_requirement>;
  CHECK(labels(R"([{"key":"a","operator":"NotIn","values":["x","y"]},{"key":"b","operator":"Exists"}])") ==
        terms{{"a", "NotIn", {"x", "y"}}, {"b", "Exists", {}}});
  CHECK(labels(R"([{"key":"a","operator":0},{"key":"b","operator":1},{"key":"c","operator":2},{"key":"d","operator":3}])") ==
        terms{{"a", "In", {}}, {"b", "NotIn", {}}, {"c", "Exists", {}}, {"d", "DoesNotExist", {}}});
  CHECK(labels(R"([{"key":"a","values":["x"]},{"operator":null}])") == terms{{"a", "In", {"x"}}, {"", "In", {}}});
  CHECK(labels("[]").empty());
  CHECK(labels("null").empty());
}

TEST_CASE("an operator that means nothing does not become another, and does not validate") {
  for (std::string_view const op : {R"("notin")", R"("")", "4", "-1", "2147483647"}) {
    CAPTURE(op);
    auto const text = R"({"gameServerSelectors":[{"matchExpressions":[{"key":"a","operator":)" + std::string{op} + R"(,"values":["x"]}]}]})";
    auto gsa = request(text);
    CHECK(gsa.spec.selectors.at(0).labels.match_expressions.at(0).op != "In");
    apply_defaults(gsa, all_gates);
    CHECK(validate(gsa, all_gates).size() == 1);
    CHECK(request_error(text, {.strict = true}).starts_with("gameServerSelectors[0].matchExpressions[0].operator: unknown "));
  }
  auto const error = [](std::string_view term) {
    return request_error(R"({"gameServerSelectors":[{"matchExpressions":[)" + std::string{term} + "]}]}");
  };
  std::string const at = "gameServerSelectors[0].matchExpressions[0]";
  CHECK(error(R"({"operator":true})") == at + ".operator: expected an enum's name or number, got a boolean");
  CHECK(error(R"({"operator":4294967296})").starts_with(at + ".operator: expected a 32-bit integer"));
  CHECK(error(R"({"values":[null]})") == at + ".values[0]: expected a string, got null");
  CHECK(error("null") == at + ": expected an object, got null");
}

TEST_CASE("an empty request asks for any Ready server of no namespace") {
  auto const gsa = request("{}");
  CHECK(gsa.meta.namespace_.empty());
  CHECK(gsa.spec.selectors.empty());
  CHECK(gsa.spec.scheduling == "Packed");
  CHECK(gsa.spec.required == game_server_selector{});
}
