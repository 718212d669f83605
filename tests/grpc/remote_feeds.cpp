// Feeds of fleets over gRPC, from a listener of ours and from ports that are none.
#include "../support/servers.hpp"
#include "grpc_fixture.hpp"
#include "talker.hpp"

#include <agones_alloc/async/fleet_directory.hpp>
#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/beast/remote/remote_fleets_options.hpp>
#include <agones_alloc/grpc/grpc_fleet_feeds.hpp>
#include <agones_alloc/grpc/information_front_end.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace agones_alloc;
using namespace grpc_test;
using namespace std::chrono_literals;
using test_support::make_server;
using test_support::share;

namespace {

/// Writes down what it is told, a word each.
struct ear final : remote_feed_listener {
  void opened() override { said.emplace_back("opened"); }
  void reset() override { said.emplace_back("reset"); }
  void synced(std::string at) override {
    said.emplace_back("synced");
    token = std::move(at);
  }
  void changed(fleet_info fleet, std::string const& at) override {
    said.push_back(fleet.name.str() + " " + std::to_string(fleet.recount ? fleet.recount->in(game_server_state::ready) : -1));
    if (!at.empty()) token = at;
  }
  void removed(fleet_info key, std::string const& at) override {
    said.push_back("no " + key.name.str());
    token = at;
  }
  void ended(remote_feed_end why) override {
    said.emplace_back("ended");
    end = std::move(why);
  }
  auto has(std::string const& word) const -> bool { return std::find(said.begin(), said.end(), word) != said.end(); }
  std::vector<std::string> said;
  std::string token;
  std::optional<remote_feed_end> end;
};

/// Both sides on one loop. The far one's time is its own, and stands still unless the test moves it: there are no heartbeats.
struct feeding {
  explicit feeding(bool with_information = true) {
    grpc_listener_options how;
    how.information = with_information;
    listener.emplace(io.get_executor(), front_end, far_time, how);
    REQUIRE_FALSE(listener->listen("127.0.0.1", 0));
    feeds.emplace(nullptr, time);
    options.allow_plaintext = true;
  }
  ~feeding() {
    if (feed) feed->close();
    feeds.reset();
    listener.reset();
    work.reset();
    io.restart();
    io.run();
  }
  void put(std::string_view name, std::string_view fleet, game_server_state state = game_server_state::ready) {
    auto server = make_server(name, fleet, state);
    server.meta.resource_version = std::to_string(++version);
    directory.stored(share(std::move(server)));
    io.restart();
    io.poll();
    far_time.advance(1s);
  }
  auto place() const -> std::string { return "grpc+http://127.0.0.1:" + std::to_string(listener->port()); }
  void open(std::string const& endpoint, std::string token = {}) {
    if (feed) feed->close();
    auto made = feeds->make(io.get_executor(), {endpoint, "", {}}, options);
    REQUIRE(std::holds_alternative<std::shared_ptr<remote_feed>>(made));
    feed = std::get<0>(std::move(made));
    heard = std::make_shared<ear>();
    feed->open(std::move(token), heard);
    CHECK(heard->said.empty());
  }
  /// Not forever: a test that hangs says less than one that fails.
  template <class Done>
  void until(Done const& done) {
    io.restart();
    for (int i = 0; i != 3000 && !done(); ++i) io.run_one_for(10ms);
    if (!done()) throw std::runtime_error{"it does not happen"};
  }

  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  manual_timer far_time{io.get_executor()};
  manual_timer time{io.get_executor()};
  fleet_directory directory{io.get_executor(), far_time, [] {
    fleet_directory_options out;
    out.instance = "run1";
    return out;
  }()};
  information_front_end front_end{directory, far_time, {}};
  std::optional<grpc_listener> listener;
  std::optional<grpc_fleet_feeds> feeds;
  remote_fleets_options options;
  std::shared_ptr<remote_feed> feed;
  std::shared_ptr<ear> heard;
  int version{0};
};

}  // namespace

TEST_CASE_FIXTURE(feeding, "a feed tells the state and what changes, and goes on from a token at once, although nothing has changed") {
  put("a", "one");
  open(place());
  until([&] { return heard->has("synced"); });
  CHECK(heard->said == std::vector<std::string>{"opened", "one 1", "synced"});
  put("b", "two");
  until([&] { return heard->has("two 1"); });
  CHECK(heard->token.starts_with("run1-"));
  open(place(), heard->token);
  until([&] { return heard->has("opened"); });
  CHECK(heard->said == std::vector<std::string>{"opened"});
  put("b", "two", game_server_state::allocated);
  until([&] { return heard->has("two 0"); });
  open(place(), "of another run");
  until([&] { return heard->has("synced"); });
  CHECK(heard->has("reset"));
}

TEST_CASE_FIXTURE(feeding, "a feed that is closed says nothing more, whatever is under way") {
  put("a", "one");
  open(place());
  feed->close();
  auto const first = heard;
  open(place());
  until([&] { return heard->has("synced"); });
  CHECK(first->said.empty());
  auto const second = heard;
  put("b", "two");  // it may have been told of already, or be on its way
  feed->close();
  auto const before = second->said.size();
  open(place());
  until([&] { return heard->has("synced"); });
  CHECK(second->said.size() == before);
}

TEST_CASE_FIXTURE(feeding, "what makes feeds may end with an event on its way that nobody takes") {
  put("a", "one");
  open(place());
  until([&] { return heard->has("opened"); });
  // Perhaps it is handed over already, and the loop does not run.
  feeds.reset();
  auto const before = heard->said.size();
  feed->close();
  io.restart();
  io.poll();
  CHECK(heard->said.size() == before);
}

TEST_CASE_FIXTURE(feeding, "a stream that is silent too long is lost, and one that hears heartbeats is not") {
  options.silence = 45s;
  open(place());
  until([&] { return heard->has("synced"); });
  time.advance(44s);
  far_time.advance(1min);
  far_time.advance(1min);
  put("a", "one");
  until([&] { return heard->has("one 1"); });
  time.advance(44s);
  io.restart();
  io.poll();
  CHECK_FALSE(heard->end.has_value());
  time.advance(1s);
  until([&] { return heard->end.has_value(); });
  CHECK(heard->end->code == 14);
  CHECK(heard->end->soon);
  CHECK_FALSE(heard->end->anew);
}

TEST_CASE_FIXTURE(feeding, "nobody there, and a port that accepts and says nothing, are 14") {
  boost::asio::ip::tcp::acceptor silent{io, {boost::asio::ip::address_v4::loopback(), 0}};
  auto const port = std::to_string(silent.local_endpoint().port());
  open("grpc+http://127.0.0.1:" + port);
  io.restart();
  io.run_for(50ms);
  time.advance(options.connect_time + 10s);
  until([&] { return heard->end.has_value(); });
  CHECK(heard->end->code == 14);
  silent.close();
  open("grpc+http://127.0.0.1:" + port);
  until([&] { return heard->end.has_value(); });
  CHECK(heard->end->code == 14);
  CHECK(heard->said == std::vector<std::string>{"ended"});
}

TEST_CASE_FIXTURE(feeding, "an endpoint that ends each connection at once is 14, and has few connections each time it is listened to") {
  talker far{goaway_at_once()};
  for (int times = 1; times != 4; ++times) {
    open("grpc+http://" + far.place());
    until([&] { return heard->end.has_value(); });
    CHECK(heard->end->code == 14);
    CHECK(int{far.connections} <= times * few_connections);
  }
}

TEST_CASE("a server without the service is 12, and not asked again soon; what is no endpoint is said in words") {
  feeding f{false};
  f.open(f.place(), "a token");
  f.until([&] { return f.heard->end.has_value(); });
  CHECK(f.heard->end->code == 12);
  CHECK_FALSE(f.heard->end->soon);
  CHECK(f.heard->said == std::vector<std::string>{"ended"});
  auto const made = f.feeds->make(f.io.get_executor(), {"grpc://a b", "", {}}, f.options);
  CHECK(std::get<std::string>(made) == "endpoint \"grpc://a b\": is no host or address with or without a port");
  // A Secret that nobody has.
  f.open("grpc://127.0.0.1:1");
  f.feed->close();
  auto missing = f.feeds->make(f.io.get_executor(), {"grpc://127.0.0.1:1", "", {"games", "east", {}}}, f.options);
  f.feed = std::get<0>(std::move(missing));
  f.heard = std::make_shared<ear>();
  f.feed->open({}, f.heard);
  f.until([&] { return f.heard->end.has_value(); });
  CHECK(f.heard->end->code == 14);
  CHECK(f.heard->end->message == "secret east: there is no source of Secrets");
}
