#include "reading.hpp"

#include <agones_alloc/json/rest.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace agones_alloc;
using json_tests::allocation_of;
using json_tests::error_of;
using json_tests::parsed;

namespace {
auto with_selector(std::string_view selector) -> game_server_allocation {
  return allocation_of(R"({"metadata":{"namespace":"ns"},"spec":{"selectors":[{},)" + std::string{selector} + "]}}");
}
}  // namespace

TEST_CASE("a forwarded request prints every field, and old servers' fields too") {
  auto const gsa = allocation_of(R"({"metadata":{"namespace":"ns"},"spec":{"scheduling":"Distributed",
    "selectors":[{"matchLabels":{"a":"1"},"gameServerState":"Allocated"},{"counters":{"c":{"maxCount":15}},"players":{"minAvailable":1}}],
    "metadata":{"labels":{"l":"v"}},"priorities":[{"type":"List","key":"k","order":"Descending"}],
    "counters":{"c":{"action":"Increment","amount":6}},"lists":{"l":{"deleteValues":["v"]}}}})");
  std::string const first = R"({"matchLabels":{"a":"1"},"gameServerState":"ALLOCATED","players":null,"counters":{},"lists":{}})";
  std::string const last =
      R"({"matchLabels":{},"gameServerState":"READY","players":null,"counters":{"c":{"minCount":"0","maxCount":"15","minAvailable":"0","maxAvailable":"0"}},"lists":{}})";
  CHECK(allocation_to_rest_request(gsa).value() ==
        R"({"namespace":"ns","multiClusterSetting":{"enabled":false,"policySelector":null},"requiredGameServerSelector":)" + last +
            R"(,"preferredGameServerSelectors":[)" + first +
            R"(],"scheduling":"Distributed","metaPatch":{"labels":{"l":"v"},"annotations":{}},"metadata":{"labels":{"l":"v"},"annotations":{}},"gameServerSelectors":[)" +
            first + "," + last +
            R"(],"priorities":[{"type":"List","key":"k","order":"Descending"}],"counters":{"c":{"action":"Increment","amount":"6","capacity":null}},"lists":{"l":{"addValues":[],"capacity":null,"deleteValues":["v"]}}})");
}

TEST_CASE("a forwarded request reads back as the same selectors") {
  feature_gates const gates{true, true};
  auto const gsa = allocation_of(R"({"metadata":{"namespace":"ns"},"spec":{"scheduling":"Packed","selectors":[
    {"matchLabels":{"a":"1"},"gameServerState":"Ready","players":{"minAvailable":1,"maxAvailable":9007199254740993},
     "counters":{"c":{"minCount":1}},"lists":{"l":{"containsValue":"x"}}}]}})");
  auto const back = rest_request_to_allocation(parsed(allocation_to_rest_request(gsa, gates).value()), gates).value();
  CHECK(back.spec.selectors == gsa.spec.selectors);
  CHECK(back.spec.required == gsa.spec.selectors.back());
}

TEST_CASE("In with one value is forwarded as a label") {
  auto const text = allocation_to_rest_request(
      with_selector(R"({"matchLabels":{"b":"2"},"matchExpressions":[{"key":"a","operator":"In","values":["1"]},{"key":"b","operator":"In","values":["2"]}]})"));
  CHECK(rest_request_to_allocation(parsed(text.value())).value().spec.selectors.at(1).labels.match_labels ==
        string_map{{"a", "1"}, {"b", "2"}});
}

TEST_CASE("a selector the service cannot express is refused, not widened") {
  auto const error = [](std::string_view selector) { return error_of(allocation_to_rest_request(with_selector(selector))); };
  std::string const refused = ": cannot be forwarded to another cluster: only In with one value can";
  CHECK(error(R"({"matchExpressions":[{"key":"a","operator":"Exists"}]})") == "spec.selectors[1].matchExpressions[0]" + refused);
  CHECK(error(R"({"matchExpressions":[{"key":"a","operator":"In","values":["1"]},{"key":"a","operator":"NotIn","values":["1"]}]})") ==
        "spec.selectors[1].matchExpressions[1]" + refused);
  CHECK(error(R"({"matchExpressions":[{"key":"a","operator":"In","values":["1","2"]}]})") ==
        "spec.selectors[1].matchExpressions[0]" + refused);
  CHECK(error(R"({"matchLabels":{"a":"1"},"matchExpressions":[{"key":"a","operator":"In","values":["2"]}]})") ==
        "spec.selectors[1].matchExpressions[0]: contradicts another label of the selector");
  CHECK(allocation_to_rest_request(with_selector(R"({"matchExpressions":[{"key":"a","operator":"Exists"}]})")).error().fault ==
        decode_fault::unsupported);
}

TEST_CASE("a remote that knows matchExpressions is told them, for old servers' fields too") {
  auto const gsa = with_selector(
      R"({"matchLabels":{"b":"2"},"matchExpressions":[{"key":"a","operator":"In","values":["1"]},{"key":"b","operator":"In","values":["3"]},)"
      R"({"key":"c","operator":"NotIn","values":["x","y"]},{"key":"d","operator":"Exists"}]})");
  rest_forward_options const knowing{.match_expressions = true};
  auto const text = allocation_to_rest_request(gsa, {}, knowing).value();
  std::string const last =
      R"({"matchLabels":{"a":"1","b":"2"},"gameServerState":"READY","players":null,"counters":{},"lists":{},"matchExpressions":[)"
      R"({"key":"b","operator":"In","values":["3"]},{"key":"c","operator":"NotIn","values":["x","y"]},{"key":"d","operator":"Exists","values":[]}]})";
  CHECK(text.find(R"("requiredGameServerSelector":)" + last) != std::string::npos);
  auto const back = rest_request_to_allocation(parsed(text)).value();
  CHECK(back.spec.selectors.at(1).labels.match_labels == string_map{{"a", "1"}, {"b", "2"}});
  CHECK(back.spec.selectors.at(1).labels.match_expressions ==
        std::vector<label_requirement>{{"b", "In", {"3"}}, {"c", "NotIn", {"x", "y"}}, {"d", "Exists", {}}});
  CHECK(back.spec.required.labels == back.spec.selectors.at(1).labels);
  // There is no field for those of a policy selector.
  auto const policies = allocation_of(R"({"spec":{"multiClusterSetting":{"enabled":true,
    "policySelector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}},"selectors":[{}]}})");
  CHECK(allocation_to_rest_request(policies, {}, knowing).error().fault == decode_fault::unsupported);
}

TEST_CASE("a forwarder sets the namespace and clears the multi-cluster setting with its selector") {
  auto gsa = allocation_of(R"({"metadata":{"namespace":"ns"},"spec":{"multiClusterSetting":{"enabled":true,
    "policySelector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}},"selectors":[{}]}})");
  CHECK(error_of(allocation_to_rest_request(gsa)).starts_with("spec.multiClusterSetting.policySelector.matchExpressions[0]:"));
  auto const text = allocation_to_rest_request(gsa, {}, {.namespace_ = "there", .disable_multi_cluster = true}).value();
  CHECK(text.starts_with(R"({"namespace":"there","multiClusterSetting":{"enabled":false,"policySelector":null},)"));
}

TEST_CASE("gates keep counters, lists and priorities from being forwarded") {
  auto const gsa = allocation_of(R"({"spec":{"selectors":[{"counters":{"c":{}},"players":{"minAvailable":1}}],
    "priorities":[{"type":"List","key":"k"}],"counters":{"c":{}},"lists":{"l":{}}}})");
  auto const off = parsed(allocation_to_rest_request(gsa, {false, false}).value());
  CHECK(off.at("counters").as_object().empty());
  CHECK(off.at("lists").as_object().empty());
  CHECK(off.at("priorities").as_array().empty());
  CHECK(off.at("gameServerSelectors").at(0).at("counters").as_object().empty());
  CHECK(off.at("gameServerSelectors").at(0).at("players").is_null());
}
