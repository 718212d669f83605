// The information service without gRPC: what is told, to whom, and how it goes on (spec 12.1).
#include "../beast/fed_directory.hpp"
#include "../beast/front_end_fixture.hpp"
#include "plain_request.hpp"

#include <agones_alloc/grpc/allocation_front_end.hpp>
#include <agones_alloc/grpc/information_front_end.hpp>
#include <agones_alloc/grpc/information_messages.hpp>

#include <agones_alloc_proto/information.pb.h>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace agones_alloc;
using namespace grpc_test;
using namespace std::chrono_literals;
using beast_test::fed_directory;
using beast_test::settle;
using event = information::InformEvent;

namespace {

/// Reads a stream as fast as it gives.
class reading {
 public:
  explicit reading(std::shared_ptr<http_body_stream> stream) : stream_{std::move(stream)} { go_on(); }
  ~reading() { stream_->stop(); }

  auto kinds() const -> std::vector<event::Kind> {
    std::vector<event::Kind> out;
    for (auto const& one : events) out.push_back(one.kind());
    return out;
  }
  std::vector<event> events;
  bool over{false};
  bool paused{false};
  void go_on() {
    stream_->next([this](http_body_stream::piece piece) {
      if (piece == nullptr) {
        over = true;
        return;
      }
      for (std::size_t at = 0; at < piece->size();) {
        std::size_t size = 0;
        for (int i = 0; i < 4; ++i) size = size << 8U | static_cast<unsigned char>((*piece)[at++]);
        REQUIRE(events.emplace_back().ParseFromString(piece->substr(at, size)));
        at += size;
      }
      if (!paused) go_on();
    });
  }

 private:
  std::shared_ptr<http_body_stream> stream_;
};

struct informed : fed_directory {
  explicit informed(front_end_options options = {}) : front_end{directory, time, std::move(options), few_streams()} { settle(io); }
  ~informed() { settle(io); }
  auto ask(std::string_view path, information::InformRequest const& request = {}, plain_request::fields fields = {}) -> http_response {
    plain_request const call{path, request.SerializeAsString(), std::move(fields)};
    std::optional<http_response> out;
    front_end.handle(call, [&out](http_response answer) { out = std::move(answer); });
    REQUIRE(out);
    return *out;
  }
  auto inform(information::InformRequest const& request = {}, plain_request::fields fields = {}) -> information::InformResponse {
    auto const answer = ask(information_front_end::inform_path, request, std::move(fields));
    information::InformResponse out;
    REQUIRE(answer.status == 200);
    REQUIRE(out.ParseFromString(answer.body));
    return out;
  }
  auto code(information::InformRequest const& request, plain_request::fields fields = {}) -> std::string {
    return field_of(ask(information_front_end::inform_path, request, std::move(fields)), grpc_status_field);
  }
  auto watch(information::InformRequest const& request = {}, plain_request::fields fields = {}) -> std::unique_ptr<reading> {
    auto const answer = ask(information_front_end::watch_path, request, std::move(fields));
    REQUIRE(answer.stream);
    auto out = std::make_unique<reading>(answer.stream);
    settle(io);
    return out;
  }

  information_front_end front_end;
};

}  // namespace

TEST_CASE("a fleet is told with its own status, and beside it what was counted") {
  fleet_info fleet;
  fleet.cluster = "east";
  fleet.namespace_ = "games";
  fleet.name = "arena";
  fleet.uid = "u1";
  fleet.resource_version = "7";
  fleet.generation = 3;
  fleet.labels = {{"a", "b"}};
  fleet.annotations = {{"c", "d"}};
  fleet.scheduling = "Packed";
  fleet.desired = 9;
  fleet.observed = fleet_info::wall_time{1500ms};
  fleet.stale = true;
  fleet_status status;
  status.replicas = 8;
  status.ready_replicas = 5;
  status.reserved_replicas = 1;
  status.allocated_replicas = 2;
  status.players = counter_status{3, 30};
  status.counters["rooms"] = {1, 2, 3, 4};
  fleet.status = status;
  fleet_recount count;
  count.total = 7;
  count.states[static_cast<std::size_t>(game_server_state::allocated)] = 3;
  count.lists["players"] = {5, 6, 7, 8, 9};
  fleet.recount = count;
  information::FleetInformation out;
  fleet_to_message(fleet, {}, out);
  CHECK(out.clustername() == "east");
  CHECK(out.fleetname() == "arena");
  CHECK(out.namespace_() == "games");
  CHECK(out.labels(0).key() == "a");
  CHECK(out.labels(0).value() == "b");
  CHECK(out.annotations_size() == 0);
  CHECK(out.allocatedgameservers() == 2);
  CHECK(out.readygameservers() == 5);
  CHECK(out.reservedgameservers() == 1);
  CHECK(out.totalgameservers() == 8);
  CHECK(out.desiredgameservers() == 9);
  CHECK(out.players().capacity() == 30);
  CHECK(out.counters().at("rooms").capacity() == 4);
  CHECK(out.recount().totalgameservers() == 7);
  CHECK(out.recount().allocatedgameservers() == 3);
  CHECK(out.recount().lists().at("players").allocatedcapacity() == 6);
  CHECK(out.observedtime().seconds() == 1);
  CHECK(out.observedtime().nanos() == 500'000'000);
  CHECK(out.stale());
  fleet_info_parts parts;
  parts.annotations = true;
  information::FleetInformation more;
  fleet_to_message(fleet, parts, more);
  CHECK(more.annotations(0).value() == "d");
}

TEST_CASE("what is told of a fleet is heard as it was") {
  fleet_info fleet;
  fleet.cluster = "east";
  fleet.namespace_ = "games";
  fleet.name = "arena";
  fleet.uid = "1f0c";
  fleet.resource_version = "812";
  fleet.generation = 3;
  fleet.labels = {{"a", "b"}, {"c", "d"}};
  fleet.annotations = {{"e", "f"}};
  fleet.scheduling = "Packed";
  fleet.desired = 9;
  fleet.observed = fleet_info::wall_time{1500ms};
  auto& status = fleet.status.emplace();
  status.replicas = 8;
  status.ready_replicas = 5;
  status.reserved_replicas = 1;
  status.allocated_replicas = 2;
  status.players = counter_status{20, 30};
  status.counters["rooms"] = {1, 2, 3, 4};
  status.lists["who"] = {5, 6, 7, 8};
  auto& recount = fleet.recount.emplace();
  recount.total = 7;
  recount.shutting_down = 1;
  recount.states[static_cast<std::size_t>(game_server_state::ready)] = 3;
  recount.states[static_cast<std::size_t>(game_server_state::allocated)] = 2;
  recount.states[static_cast<std::size_t>(game_server_state::unset)] = 1;
  recount.states[static_cast<std::size_t>(game_server_state::other)] = 1;
  recount.players = capacity_info{1, 2, 3, 4, 5};
  recount.counters["rooms"] = {1, 2, 3, 4, 5};
  recount.lists["who"] = {5, 6, 7, 8, 9};
  recount.nodes = {{"node-1", 4, 2, 1}, {"node-2", 3, 1, 1}};
  auto const heard = [&fleet](fleet_info_parts parts) {
    information::FleetInformation message;
    fleet_to_message(fleet, parts, message);
    auto const out = message_to_fleet(message);
    REQUIRE(out.has_value());
    CHECK(out->cluster == fleet.cluster);
    CHECK(out->namespace_ == fleet.namespace_);
    CHECK(out->name == fleet.name);
    CHECK(out->uid == fleet.uid);
    CHECK(out->resource_version == fleet.resource_version);
    CHECK(out->generation == fleet.generation);
    CHECK(out->labels == fleet.labels);
    CHECK(out->scheduling == fleet.scheduling);
    CHECK(out->desired == fleet.desired);
    CHECK(out->status == fleet.status);
    CHECK(out->observed == fleet.observed);
    return *out;
  };
  fleet_info_parts all;
  all.nodes = all.annotations = true;
  auto const whole = heard(all);
  CHECK(whole.annotations == fleet.annotations);
  CHECK(whole.recount == fleet.recount);
  auto const part = heard({});
  CHECK(part.annotations.empty());
  CHECK(part.recount->nodes.empty());
  fleet.uid = "";
  fleet.status.reset();
  fleet.desired.reset();
  fleet.recount.reset();
  heard({});
}

TEST_CASE("of a fleet that another cluster tells nothing is taken that cannot be") {
  information::FleetInformation message;
  CHECK_FALSE(message_to_fleet(message).has_value());
  message.set_fleetname("arena");
  message.mutable_observedtime()->set_seconds(std::numeric_limits<std::int64_t>::max());
  auto& recount = *message.mutable_recount();
  recount.set_readygameservers(3);  // of an older one, without states
  CHECK(message_to_fleet(message)->observed == fleet_info::wall_time{});
  CHECK(message_to_fleet(message)->recount->in(game_server_state::ready) == 3);
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  (*recount.mutable_states())["Strange"] = most;
  (*recount.mutable_states())["Stranger"] = most;
  CHECK(message_to_fleet(message)->recount->in(game_server_state::other) == most);
  message.mutable_observedtime()->set_seconds(-1);
  CHECK(message_to_fleet(message)->observed == fleet_info::wall_time{});
}

TEST_CASE_FIXTURE(informed, "Inform tells fleets, clusters, and where a watch can go on") {
  put("a", game_server_state::ready, "one");
  put("b", game_server_state::allocated, "two");
  auto const got = inform();
  REQUIRE(got.fleetinformation_size() == 2);
  CHECK(got.fleetinformation(0).fleetname() == "one");
  CHECK(got.fleetinformation(0).recount().readygameservers() == 1);
  CHECK(got.fleetinformation(1).recount().allocatedgameservers() == 1);
  CHECK(got.clusters(0).clustername() == "local");
  CHECK(got.resumetoken().starts_with("run1-"));
  information::InformRequest request;
  request.set_resumetoken(got.resumetoken());
  auto const stream = watch(request);
  CHECK(stream->kinds().empty());
  put("c", game_server_state::ready, "three");
  CHECK(stream->kinds() == std::vector{event::ADDED});
}

TEST_CASE_FIXTURE(informed, "what is asked for can be narrowed") {
  put("a", game_server_state::ready, "one");
  put("b", game_server_state::ready, "two", "other");
  information::InformRequest request;
  request.set_namespace_("other");
  CHECK(inform(request).fleetinformation(0).fleetname() == "two");
  request.set_namespace_("");
  request.set_clustername("nowhere");
  CHECK(inform(request).fleetinformation_size() == 0);
  request.set_clustername("");
  auto& term = *request.add_matchexpressions();
  term.set_key("no-such");
  term.set_operator_("Exists");
  CHECK(inform(request).fleetinformation_size() == 0);
  term.set_operator_("DoesNotExist");
  CHECK(inform(request).fleetinformation_size() == 2);
  term.set_operator_("Nope");
  CHECK(code(request) == "3");
  request.clear_matchexpressions();
  (*request.mutable_matchlabels())["a"] = std::string(5000, 'x');
  CHECK(code(request) == "3");
}

TEST_CASE_FIXTURE(informed, "bytes that are no message, loops and other methods are refused") {
  plain_request const garbage{information_front_end::inform_path, "\xff\xff"};
  std::optional<http_response> out;
  front_end.handle(garbage, [&out](http_response answer) { out = std::move(answer); });
  CHECK(field_of(*out, grpc_status_field) == "3");
  CHECK(code({}, {{"agones-alloc-hops", "99"}}) == "9");
  CHECK(field_of(ask("/information.InformationService/Nope"), grpc_status_field) == "12");
}

TEST_CASE_FIXTURE(informed, "a watch tells the state, then changes, and goes on from its last token") {
  put("a", game_server_state::ready, "one");
  std::string token;
  {
    auto const stream = watch();
    CHECK(stream->kinds() == std::vector{event::CLUSTER_STATUS, event::SNAPSHOT_ITEM, event::SYNCED});
    CHECK(stream->events[1].resumetoken().empty());
    pass(1s);
    put("a", game_server_state::allocated, "one");
    CHECK(stream->events.back().kind() == event::MODIFIED);
    CHECK(stream->events.back().fleet().recount().allocatedgameservers() == 1);
    token = stream->events.back().resumetoken();
    CHECK(front_end.counts().open == 1);
  }
  settle(io);
  CHECK(front_end.counts().open == 0);
  pass(1s);
  put("b", game_server_state::ready, "two");
  directory.erased({"default", "a"}, {});
  settle(io);
  pass(1s);
  information::InformRequest request;
  request.set_resumetoken(token);
  auto const resumed = watch(request);
  CHECK(resumed->kinds() == std::vector{event::ADDED, event::DELETED});
  CHECK(resumed->events[1].fleet().fleetname() == "one");
  CHECK_FALSE(resumed->events[1].fleet().has_recount());
  request.set_resumetoken("other-1");
  auto const lost = watch(request);
  CHECK(lost->kinds().front() == event::RESET);
  CHECK(lost->kinds().back() == event::SYNCED);
}

TEST_CASE_FIXTURE(informed, "who wants events together gets the same ones in fewer messages") {
  for (int i = 0; i != 40; ++i) {  // more than one piece
    auto const number = std::to_string(i);
    put("a" + number, game_server_state::ready, i == 7 ? "arena-" + std::string(300, 'x') : "fleet" + number);  // its length has two bytes
  }
  auto const alone = watch();
  information::InformRequest request;
  request.set_together(true);
  auto const together = watch(request);
  auto const flat = [](std::vector<event> const& events) {
    std::vector<std::string> out;
    for (auto one : events) {
      auto const more = one.more();
      one.clear_more();
      out.push_back(one.SerializeAsString());
      for (auto const& next : more) {
        CHECK(next.more_size() == 0);
        out.push_back(next.SerializeAsString());
      }
    }
    return out;
  };
  CHECK(alone->events.size() == 42);
  CHECK(together->events.size() == 2);
  CHECK(flat(together->events) == flat(alone->events));
  pass(1s);
  put("a0", game_server_state::allocated, "fleet0");  // alone in its piece
  CHECK(together->events.size() == 3);
  CHECK(flat(together->events) == flat(alone->events));
}

TEST_CASE_FIXTURE(informed, "one who does not read is told the latest state only") {
  put("a", game_server_state::ready, "one");
  auto const stream = watch();
  stream->paused = true;
  pass(1s);
  put("a", game_server_state::allocated, "one");  // its read that was under way
  auto const before = stream->events.size();
  for (int i = 0; i < 50; ++i) {
    pass(1s);
    put("a", i % 2 == 0 ? game_server_state::ready : game_server_state::allocated, "one");
  }
  CHECK(stream->events.size() == before);
  stream->paused = false;
  stream->go_on();
  settle(io);
  CHECK(stream->events.size() == before + 1);
  CHECK(stream->events.back().fleet().recount().allocatedgameservers() == 1);
}

TEST_CASE_FIXTURE(informed, "streams have heartbeats, a bound on their number, and an end") {
  auto const one = watch();
  auto const two = watch();
  auto const third = ask(information_front_end::watch_path);
  CHECK(third.stream == nullptr);
  CHECK(field_of(third, grpc_status_field) == "14");
  pass(5s);
  pass(5s);
  CHECK(one->events.back().kind() == event::HEARTBEAT);
  CHECK(one->events.back().has_servertime());
  for (int i = 0; i != 1000 && !one->over; ++i) pass(5s);
  CHECK(one->over);
  CHECK(two->over);
}

TEST_CASE("a caller is told of namespaces where they may allocate") {
  front_end_options options;
  options.may_allocate = [](http_request const& request, std::string_view space) { return request.header("who") == space; };
  informed f{options};
  f.put("a", game_server_state::ready, "one", "east");
  f.put("b", game_server_state::ready, "two", "west");
  auto const got = f.inform({}, {{"who", "east"}});
  REQUIRE(got.fleetinformation_size() == 1);
  CHECK(got.fleetinformation(0).fleetname() == "one");
  information::InformRequest request;
  request.set_namespace_("west");
  CHECK(f.code(request, {{"who", "east"}}) == "7");
}

TEST_CASE("the namespace that a call looks at is known before it is let through") {
  information::InformRequest request;
  CHECK(information_namespace_of(plain_request{information_front_end::watch_path, request.SerializeAsString()}) == "");
  request.set_namespace_("games");
  CHECK(information_namespace_of(plain_request{information_front_end::inform_path, request.SerializeAsString()}) == "games");
  CHECK_FALSE(information_namespace_of(plain_request{allocation_front_end::path, ""}));
}
