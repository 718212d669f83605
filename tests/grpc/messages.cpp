// Messages against the REST form: whatever the JSON of a message says, the message says too.
#include <agones_alloc/grpc/messages.hpp>
#include <agones_alloc/json/parse.hpp>
#include <agones_alloc/json/response.hpp>
#include <agones_alloc/json/rest.hpp>
#include <agones_alloc/select/request.hpp>

#include <agones_alloc_proto/allocation.pb.h>

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace agones_alloc;

template <class Message>
auto message_of(std::string const& json) -> Message {
  Message out;
  auto const status = google::protobuf::util::JsonStringToMessage(json, &out);
  CAPTURE(json);
  CAPTURE(status.ToString());
  REQUIRE(status.ok());
  return out;
}

auto all_gates() -> std::vector<feature_gates> {
  feature_gates with_players;
  with_players.player_allocation_filter = true;
  feature_gates without_counts;
  without_counts.counts_and_lists = false;
  return {{}, with_players, without_counts};
}

std::vector<std::string> const requests{
    R"({})",
    R"({"namespace":"default"})",
    R"({"namespace":"n","scheduling":"Distributed"})",
    R"({"scheduling":7})",
    R"({"multiClusterSetting":{"enabled":true,"policySelector":{"matchLabels":{"region":"east","a":"b"}}}})",
    R"({"requiredGameServerSelector":{"matchLabels":{"a":"b"}},"preferredGameServerSelectors":[{"matchLabels":{"c":"d"}},{}]})",
    R"({"requiredGameServerSelector":{}})",
    R"({"metaPatch":{"labels":{"a":"b"},"annotations":{"c":"d"}}})",
    R"({"metaPatch":{"labels":{"a":"b"}},"metadata":{}})",
    R"({"metaPatch":{"labels":{"a":"b"}},"metadata":{"labels":{"x":"y"}}})",
    R"({"gameServerSelectors":[{"matchLabels":{"b":"1","a":"2"},"gameServerState":"ALLOCATED"},{"gameServerState":5}]})",
    R"({"gameServerSelectors":[{"players":{"minAvailable":"1","maxAvailable":"18446744073709551615"}}]})",
    R"({"gameServerSelectors":[{"counters":{"rooms":{"minCount":"1","maxCount":"2","minAvailable":"3","maxAvailable":"4"}},)"
    R"("lists":{"players":{"containsValue":"p","minAvailable":"1","maxAvailable":"9"}}}]})",
    R"({"gameServerSelectors":[{"counters":{"rooms":{"minCount":"-1"},"empty":{}}}]})",
    R"({"gameServerSelectors":[{"matchLabels":{"a":"1"},"matchExpressions":[{"key":"a","values":["1"]},{"key":"a","values":["2"]},)"
    R"({"key":"b","operator":"NotIn","values":["x","y"]},{"key":"c","operator":"Exists"},{"key":"d","operator":3}]}]})",
    R"({"priorities":[{"type":"List","key":"players","order":"Descending"},{"key":"rooms"},{"type":9,"key":"x","order":9}]})",
    R"({"counters":{"rooms":{"action":"Increment","amount":"1","capacity":"10"},"none":{},"zero":{"amount":"0"}}})",
    R"({"lists":{"players":{"addValues":["a","b","a"],"capacity":"5","deleteValues":["c"]},"none":{}}})",
};

}  // namespace

TEST_CASE("a request converts to what its JSON converts to, whatever the gates (spec 8.8 a)") {
  for (auto const& json : requests) {
    for (auto const gates : all_gates()) {
      CAPTURE(json);
      auto const value = parse_json(json);
      REQUIRE(value.has_value());
      auto const wanted = rest_request_to_allocation(*value, gates);
      REQUIRE(wanted.has_value());
      CHECK(message_to_allocation(message_of<allocation::AllocationRequest>(json), gates) == *wanted);
    }
  }
}

TEST_CASE("a uint64 becomes an int64 bit by bit, so that what is huge is refused as negative") {
  feature_gates gates;
  gates.player_allocation_filter = true;
  allocation::AllocationRequest message;
  message.set_namespace_("n");
  message.add_gameserverselectors()->mutable_players()->set_maxavailable(0xffff'ffff'ffff'ffffULL);
  auto const gsa = message_to_allocation(message, gates);
  CHECK(gsa.spec.selectors.at(0).players->max_available == -1);
  CHECK(std::holds_alternative<field_errors>(allocation_request::make(gsa, gates, {})));
}

TEST_CASE("matchExpressions are taken over; an operator that means nothing is refused") {
  auto message = message_of<allocation::AllocationRequest>(
      R"({"namespace":"n","gameServerSelectors":[{"matchExpressions":[{"key":"a","operator":"NotIn","values":["x","y"]},)"
      R"({"key":"b","operator":"Exists"}]}]})");
  auto const gsa = message_to_allocation(message);
  auto const& terms = gsa.spec.selectors.at(0).labels.match_expressions;
  CHECK(terms == std::vector<label_requirement>{{"a", "NotIn", {"x", "y"}}, {"b", "Exists", {}}});
  CHECK(std::holds_alternative<request_ptr>(allocation_request::make(gsa, {}, {})));
  message.mutable_gameserverselectors(0)->mutable_matchexpressions(0)->set_operator_(
      static_cast<allocation::LabelMatchExpressions::Operator>(9));
  CHECK(std::holds_alternative<field_errors>(allocation_request::make(message_to_allocation(message), {}, {})));
}

TEST_CASE("what is forwarded says what the forwarded JSON says (spec 8.8 b)") {
  for (auto const& json : requests) {
    for (auto const gates : all_gates()) {
      CAPTURE(json);
      auto const parsed = parse_json(json);
      auto gsa = rest_request_to_allocation(*parsed, gates).value();
      auto const made = allocation_request::make(gsa, gates, {});
      if (!std::holds_alternative<request_ptr>(made)) continue;  // such a one is never forwarded
      gsa = std::get<request_ptr>(made)->allocation();
      for (bool const alone : {false, true}) {
        auto const text = allocation_to_rest_request(gsa, gates, {"elsewhere", alone, true});
        REQUIRE(text.has_value());
        auto wanted = message_of<allocation::AllocationRequest>(*text);
        allocation::AllocationRequest got;
        REQUIRE_FALSE(allocation_to_message(gsa, got, gates, {"elsewhere", alone, true}));
        google::protobuf::util::MessageDifferencer differ;
        std::string difference;
        differ.ReportDifferencesToString(&difference);
        bool const same = differ.Compare(wanted, got);
        CAPTURE(difference);
        CHECK(same);
      }
    }
  }
}

TEST_CASE("what a forwarded request cannot say is refused with its path (Q10)") {
  game_server_allocation gsa;
  gsa.spec.selectors.resize(2);
  gsa.spec.selectors[1].labels.match_expressions = {{"a", "NotIn", {"x"}}};
  allocation::AllocationRequest out;
  auto const problem = allocation_to_message(gsa, out);
  REQUIRE(problem);
  CHECK(problem->fault == decode_fault::unsupported);
  CHECK(problem->field == "spec.selectors[1].matchExpressions[0]");
  REQUIRE_FALSE(allocation_to_message(gsa, out, {}, {.match_expressions = true}));
  CHECK(out.gameserverselectors(1).matchexpressions(0).operator_() == allocation::LabelMatchExpressions::NotIn);

  gsa.spec.selectors[1].labels.match_expressions = {{"a", "In", {"x"}}};
  REQUIRE_FALSE(allocation_to_message(gsa, out));
  CHECK(out.gameserverselectors(1).matchlabels().at("a") == "x");
  gsa.spec.selectors[1].labels.match_labels = {{"a", "y"}};
  CHECK(allocation_to_message(gsa, out));
}

TEST_CASE("a response says what its JSON says, and reads back as it (spec 8.8 c)") {
  game_server_allocation gsa;
  gsa.status.state = "Allocated";
  gsa.status.game_server_name = "gs1";
  gsa.status.ports = {{"default", 7777}, {"", 1}};
  gsa.status.address = "1.2.3.4";
  gsa.status.addresses = {{"ExternalIP", "1.2.3.4"}, {"PodIP", "::1"}};
  gsa.status.node_name = "n1";
  gsa.status.source = "local";
  gsa.status.metadata = meta_patch{{{"a", "b"}}, {{"c", "d"}}};
  gsa.status.counters["rooms"] = {1, 5};
  gsa.status.counters["zero"] = {0, 0};
  gsa.status.lists["players"] = {5, std::vector<shared_string>{"x", "y"}};
  gsa.status.lists["none"] = {0, std::nullopt};
  for (auto const gates : all_gates()) {
    allocation::AllocationResponse got;
    allocation_to_message(gsa, got, gates);
    auto const json = allocation_to_rest_response(gsa, gates);
    CHECK(google::protobuf::util::MessageDifferencer::Equals(message_of<allocation::AllocationResponse>(json), got));
    auto const value = parse_json(json);
    CHECK(message_to_allocation(got, "far:443", gates) == rest_response_to_allocation(*value, "far:443", gates).value());
  }
}

TEST_CASE("the response of what is not allocated is empty") {
  game_server_allocation gsa;
  gsa.status.state = "UnAllocated";
  gsa.status.address = "1.2.3.4";
  allocation::AllocationResponse got;
  got.set_address("left over");
  allocation_to_message(gsa, got);
  CHECK(got.ByteSizeLong() == 0);
}

TEST_CASE("a result says the same as the GameServerAllocation that is made of it") {
  game_server server;
  server.meta.name = "gs1";
  server.meta.labels = {{"a", "b"}, {"of no value", ""}};
  // Lengths of one, two and three bytes, of the value and of what it is in.
  server.meta.annotations = {{"c", "d"}, {"e", std::string(118, 'x')}, {"f", std::string(130, 'y')}, {"g", std::string(20'000, 'z')}};
  server.status.state = game_server_state::allocated;
  server.status.ports = {{"default", 7777}, {"", 1}, {"none", -1}, {"", 0}};
  server.status.address = "1.2.3.4";
  server.status.addresses = {{"ExternalIP", "1.2.3.4"}, {"PodIP", "::1"}};
  server.status.node_name = "n1";
  server.status.counters["rooms"] = {1, 5};
  server.status.counters["zero"] = {0, 0};
  server.status.counters["far"] = {-1, std::numeric_limits<std::int64_t>::max()};
  server.status.lists["players"] = {5, std::vector<shared_string>{"x", "", "y"}};
  server.status.lists["none"] = {0, std::nullopt};
  allocation_result result;
  result.result = outcome::allocated;
  result.server = std::make_shared<game_server const>(server);
  for (auto const* const source : {"", "local", "far:443"}) {
    result.source = source;
    for (auto const gates : all_gates()) {
      allocation::AllocationResponse wanted;
      allocation_to_message(allocation_response({}, result, gates), wanted, gates);
      allocation::AllocationResponse got;
      CHECK(got.ParseFromString(result_to_message(result, gates)));
      CHECK(google::protobuf::util::MessageDifferencer::Equals(wanted, got));
      CHECK(got.gameservername() == "gs1");
    }
  }
  result.server = nullptr;
  CHECK(result_to_message(result).empty());
}

TEST_CASE("metadata that is not there stays so") {
  allocation::AllocationResponse message;
  CHECK_FALSE(message_to_allocation(message, "x").status.metadata);
  message.mutable_metadata();
  CHECK(message_to_allocation(message, "x").status.metadata);
}
