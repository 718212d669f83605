// Fleets of another cluster over a real connection: a state, changes, a loss, a return, and remotes that cannot be heard.
#include "../support/reports.hpp"
#include "../support/servers.hpp"
#include "raw_client.hpp"

#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/beast/fleets/fleets_front_end.hpp>
#include <agones_alloc/beast/http_listener.hpp>
#include <agones_alloc/beast/http_router.hpp>
#include <agones_alloc/beast/query_string.hpp>
#include <agones_alloc/beast/remote/remote_fleets.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace beast_test;
using namespace agones_alloc;
using namespace std::chrono_literals;
using test_support::make_server;
using test_support::share;

namespace {

/// Says one thing to everybody.
struct sayer final : http_handler {
  void handle(http_request const& request, reply done) override {
    ++asked;
    hops = request.header("Agones-Alloc-Hops");
    target = std::string{request.path} + "?" + std::string{request.query};
    accept = request.header("Accept");
    std::move(done)(answer);
  }
  http_response answer{text_response(404, "404 page not found")};
  int asked{0};
  std::string hops;
  std::string target;
  std::string accept;
};

/// Another cluster's server.
struct remote_cluster {
  explicit remote_cluster(boost::asio::io_context& io, timer& time, std::string instance)
      : directory{io.get_executor(), time, [&] {
          fleet_directory_options out;
          out.instance = std::move(instance);
          out.book.cluster = "as-it-calls-itself";
          return out;
        }()},
        front_end{directory, time, {}},
        listener{io.get_executor(), front_end, time} {}
  void put(std::string_view name, game_server_state state, std::string_view fleet = "fleet") {
    auto server = make_server(name, fleet, state);
    server.meta.resource_version = std::to_string(++version);
    directory.stored(share(std::move(server)));
  }
  fleet_directory directory;
  fleets_front_end front_end;
  http_listener listener;
  int version{0};
};

struct remote_fixture {
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  test_support::log_list log;
  seeded_random random{1};
  policy_list policies;
  fleet_directory directory{io.get_executor(), time};
  std::optional<remote_fleets> remotes;

  remote_fixture() {
    remote_fleets_options options;
    options.allow_plaintext = true;
    options.log = &log;
    remotes.emplace(io.get_executor(), directory, policies, nullptr, time, random, options);
  }
  ~remote_fixture() {
    remotes.reset();
    settle(io);
  }
  void listen_to(std::vector<std::uint16_t> ports, std::string_view name = "east") {
    game_server_allocation_policy policy;
    policy.meta.name = name;
    policy.meta.namespace_ = "default";
    policy.connection_info.cluster_name = name;
    for (auto const port : ports) {
      policy.connection_info.allocation_endpoints.emplace_back("http://127.0.0.1:" + std::to_string(port));
    }
    policies.replace({policy});
    pass(1s);
  }
  void pass(std::chrono::nanoseconds t) {
    time.advance(t);
    settle(io);
  }
  auto cluster(std::string_view name = "east") -> cluster_info_ptr {
    for (auto const& one : directory.snapshot().clusters) {
      if (one->name == name) return one;
    }
    return nullptr;
  }
  auto fleet(std::string_view name = "fleet") -> fleet_info_ptr {
    for (auto const& one : directory.snapshot().fleets) {
      if (one->name == name && one->cluster == "east") return one;
    }
    return nullptr;
  }
  void until(std::function<bool()> const& done) { run_until(io, done); }
};

auto free_port(boost::asio::io_context& io) -> std::uint16_t {
  boost::asio::ip::tcp::acceptor taken{io, {boost::asio::ip::address_v4::loopback(), 0}};
  return taken.local_endpoint().port();
}

}  // namespace

TEST_CASE_FIXTURE(remote_fixture, "another cluster's fleets are heard, turn stale with its loss, and are caught up with on its return") {
  auto far = std::make_unique<remote_cluster>(io, time, "one");
  REQUIRE_FALSE(far->listener.listen("127.0.0.1", 0));
  auto const port = far->listener.port();
  far->put("a", game_server_state::ready);
  far->put("b", game_server_state::ready, "goes");
  settle(io);
  remotes->start();
  listen_to({port});
  until([&] { return cluster() && cluster()->code == 0; });
  REQUIRE(fleet());
  CHECK(fleet()->recount->in(game_server_state::ready) == 1);
  CHECK_FALSE(fleet()->stale);
  CHECK(cluster()->synced);

  pass(1s);
  far->put("a", game_server_state::allocated);
  until([&] { return fleet()->recount->in(game_server_state::allocated) == 1; });

  far.reset();
  until([&] { return cluster()->stale; });
  CHECK(cluster()->code == 14);
  CHECK(fleet()->stale);
  CHECK(fleet()->recount->in(game_server_state::allocated) == 1);
  CHECK_FALSE(log.lines.empty());

  far = std::make_unique<remote_cluster>(io, time, "two");
  REQUIRE_FALSE(far->listener.listen("127.0.0.1", port));
  far->put("a", game_server_state::ready);
  settle(io);
  for (int i = 0; i != 100 && cluster()->stale; ++i) {
    pass(1s);
    for (int j = 0; j != 50 && cluster()->stale; ++j) {
      io.restart();
      io.run_for(10ms);
    }
  }
  CHECK_FALSE(cluster()->stale);
  until([&] { return fleet("goes") == nullptr; });
  CHECK(fleet()->recount->in(game_server_state::ready) == 1);
}

TEST_CASE_FIXTURE(remote_fixture, "a stream that is cut goes on from its token, without a new state") {
  remote_cluster far{io, time, "one"};
  REQUIRE_FALSE(far.listener.listen("127.0.0.1", 0));
  far.put("a", game_server_state::ready);
  remotes->start();
  listen_to({far.listener.port()});
  until([&] { return cluster() && cluster()->code == 0; });
  auto const opened = far.front_end.counts();
  far.listener.close();  // every connection
  until([&] { return cluster()->stale; });
  http_listener again{io.get_executor(), far.front_end, time};
  REQUIRE_FALSE(again.listen("127.0.0.1", far.listener.port()));
  pass(1s);
  until([&] { return !cluster()->stale; });
  CHECK(far.front_end.counts().opened == opened.opened + 1);
  CHECK(far.front_end.counts().resets == 0);
  CHECK_FALSE(fleet()->stale);
}

TEST_CASE_FIXTURE(remote_fixture, "a remote without fleet information is unimplemented and left alone, the next endpoint is tried") {
  sayer old;
  http_listener listener{io.get_executor(), old, time};
  REQUIRE_FALSE(listener.listen("127.0.0.1", 0));
  remotes->start();
  listen_to({listener.port()});
  until([&] { return cluster() && cluster()->code == 12; });
  CHECK(old.hops == "1");
  // Of itself only: nothing goes round in circles.
  CHECK(old.target.starts_with("/v1/fleets?"));
  CHECK(query_values(old.target.substr(old.target.find('?') + 1), "multiCluster") == std::vector<std::string>{"false"});
  CHECK(old.accept == "text/event-stream");
  CHECK(old.asked == 1);
  pass(10s);
  CHECK(old.asked == 1);

  remote_cluster far{io, time, "one"};
  REQUIRE_FALSE(far.listener.listen("127.0.0.1", 0));
  far.put("a", game_server_state::ready);
  listen_to({listener.port(), far.listener.port()});
  until([&] { return old.asked == 2 && cluster()->code == 12; });
  pass(1s);
  until([&] { return cluster()->code == 0; });
  CHECK(fleet());
}

TEST_CASE_FIXTURE(remote_fixture, "an endpoint for gRPC is unimplemented, and one for HTTPS beside it is heard") {
  remote_cluster far{io, time, "one"};
  REQUIRE_FALSE(far.listener.listen("127.0.0.1", 0));
  game_server_allocation_policy policy;
  policy.meta.name = "east";
  policy.meta.namespace_ = "default";
  policy.connection_info.cluster_name = "east";
  policy.connection_info.allocation_endpoints.emplace_back("grpc://127.0.0.1:1");
  policy.connection_info.allocation_endpoints.emplace_back("http://127.0.0.1:" + std::to_string(far.listener.port()));
  policies.replace({policy});
  remotes->start();
  pass(1s);
  until([&] { return cluster() && cluster()->code == 12; });
  CHECK(cluster()->message == "fleets are listened to over HTTPS, and this endpoint is for gRPC");
  pass(1min);
  until([&] { return cluster()->code == 0; });
  far.listener.close();
}

TEST_CASE_FIXTURE(remote_fixture, "no endpoint, a refusal and nonsense are told, and a policy that goes takes its fleets along") {
  remotes->start();
  listen_to({free_port(io)});
  until([&] { return cluster() && cluster()->code == 14 && cluster()->message.view().find("reached") != std::string_view::npos; });
  sayer other;
  http_listener listener{io.get_executor(), other, time};
  REQUIRE_FALSE(listener.listen("127.0.0.1", 0));
  other.answer = text_response(403, "no");
  listen_to({listener.port()});
  until([&] { return cluster()->code == 7; });
  other.answer = {};
  other.answer.content_type = "text/event-stream";
  other.answer.body = "event: SNAPSHOT_ITEM\ndata: {\"fleet\":{}}\n\n";
  listen_to({listener.port(), listener.port()});
  until([&] { return cluster()->code == 13; });
  policies.replace({});
  pass(1s);
  until([&] { return cluster() == nullptr; });
}

TEST_CASE_FIXTURE(remote_fixture, "clusters are listened to once, whatever the number of policies, and never this one") {
  sayer old;
  http_listener listener{io.get_executor(), old, time};
  REQUIRE_FALSE(listener.listen("127.0.0.1", 0));
  auto const endpoint = "http://127.0.0.1:" + std::to_string(listener.port());
  std::vector<game_server_allocation_policy> many;
  for (auto const* name : {"east", "east", "west", "local", "none"}) {
    game_server_allocation_policy policy;
    policy.meta.name = std::string{name} + std::to_string(many.size());
    policy.meta.namespace_ = many.size() == 1 ? "other" : "default";
    policy.connection_info.cluster_name = name;
    if (std::string_view{name} != "none") policy.connection_info.allocation_endpoints.emplace_back(endpoint);
    many.push_back(policy);
  }
  policies.replace(many);
  remotes->start();
  until([&] { return cluster() && cluster()->code == 12; });
  settle(io);
  CHECK(old.asked == 1);
  CHECK(directory.snapshot().clusters.size() == 2);
}

TEST_CASE_FIXTURE(remote_fixture, "options out of range are refused") {
  auto const refused = [&](auto change) {
    remote_fleets_options options;
    change(options);
    CHECK_THROWS_AS((remote_fleets{io.get_executor(), directory, policies, nullptr, time, random, options}),
                    std::invalid_argument);
  };
  refused([](auto& o) { o.silence = 0ns; });
  refused([](auto& o) { o.look_every = -1ns; });
  refused([](auto& o) { o.connect_time = 48h; });
  refused([](auto& o) { o.event_bytes = 1; });
  refused([](auto& o) { o.unserved_retry = 0ns; });
}
