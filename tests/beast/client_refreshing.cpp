#include "client_fixture.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/post.hpp>

using namespace beast_test;

namespace {

/// Gives what the test says when the test says.
class scripted_credentials final : public credentials_provider {
 public:
  explicit scripted_credentials(boost::asio::io_context& io) : io_{&io} {}
  auto current() -> credentials_ptr override { return now; }
  void give(error_code ec, credentials_ptr what) {
    REQUIRE(pending.size() == 1);
    auto done = std::move(pending.back());
    pending.clear();
    boost::asio::post(*io_, [done = std::move(done), ec, what]() mutable { std::move (*done)(ec, what); });
  }
  credentials_ptr now;
  std::vector<std::unique_ptr<handler>> pending;
  std::vector<credentials_ptr> refusals;
  int cancelled{0};

 private:
  void do_fetch(credentials_ptr refused, handler done) override {
    refusals.push_back(std::move(refused));
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    slot.assign([this](boost::asio::cancellation_type) { ++cancelled; });
    pending.push_back(std::make_unique<handler>(std::move(done)));
  }
  boost::asio::io_context* io_;
};

auto token(std::string what) -> credentials_ptr {
  client_credentials out;
  out.authorization = "Bearer " + std::move(what);
  return std::make_shared<client_credentials const>(std::move(out));
}

struct refreshing_fixture : client_fixture {
  explicit refreshing_fixture(client_options options = {}) : client_fixture{options} {
    client.emplace(io.get_executor(), client_endpoint{"127.0.0.1", server.port(), false, {}}, who, time, options, &log);
  }
  ~refreshing_fixture() {
    client.reset();
    settle(io);
    who->pending.clear();
  }
  std::shared_ptr<scripted_credentials> who{std::make_shared<scripted_credentials>(io)};
};

auto holds(std::string const& text, std::string_view part) -> bool { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("A 401 is answered with fresh credentials, once") {
  refreshing_fixture f;
  f.who->now = token("old");
  auto const one = f.ask(patch_request("body"));
  CHECK(holds(f.server.at(0).request(), "Bearer old\r\n"));
  f.server.at(0).answer(401, "no");
  f.until([&] { return f.who->pending.size() == 1; });
  CHECK(f.who->refusals.back() == f.who->now);
  f.who->now = token("new");
  f.who->give({}, f.who->now);
  auto const again = f.server.at(0).request();
  CHECK(holds(again, "Bearer new\r\n"));
  CHECK(holds(again, "\r\n\r\nbody"));
  CHECK_FALSE(one->done);
  f.server.at(0).answer(401, "no again");
  f.wait(*one);
  CHECK_FALSE(one->ec);
  CHECK(one->response.status == 401);
  CHECK(one->response.body == "no again");
  CHECK(f.who->refusals.size() == 1);
}

TEST_CASE("A 401 stands when there are no other credentials, or none to be had") {
  refreshing_fixture f;
  f.who->now = token("only");
  for (bool const fails : {false, true}) {
    auto const one = f.ask(patch_request());
    f.server.at(0).request();
    f.server.at(0).answer(401, "no");
    f.until([&] { return f.who->pending.size() == 1; });
    f.who->give(fails ? error_code{errc::unavailable} : error_code{}, fails ? nullptr : f.who->now);
    f.wait(*one);
    CHECK_FALSE(one->ec);
    CHECK(one->response.status == 401);
    CHECK(one->response.body == "no");
  }
  CHECK(f.server.connections() == 1);
}

TEST_CASE("Many refusals are one refresh") {
  refreshing_fixture f;
  f.who->now = token("old");
  std::vector<std::shared_ptr<asked>> all;
  for (int i = 0; i < 4; ++i) all.push_back(f.ask(get_request()));
  for (std::size_t i = 0; i < 4; ++i) {
    f.server.at(i).request();
    f.server.at(i).answer(401, "no");
  }
  settle(f.io);
  f.who->now = token("new");
  f.who->give({}, f.who->now);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(holds(f.server.at(i).request(), "Bearer new\r\n"));
    f.server.at(i).answer(200, "yes");
  }
  for (auto const& one : all) {
    f.wait(*one);
    CHECK(one->response.status == 200);
  }
  CHECK(f.who->refusals.size() == 1);
  CHECK(f.server.connections() == 4);
}

TEST_CASE("A stream is refreshed as well") {
  refreshing_fixture f;
  f.who->now = token("old");
  auto const one = f.open(get_request());
  f.server.at(0).request();
  f.server.at(0).send("HTTP/1.1 401 No\r\nContent-Length: 5\r\n\r\n");
  f.until([&] { return f.who->pending.size() == 1; });
  f.who->now = token("new");
  f.who->give({}, f.who->now);
  CHECK(holds(f.server.at(1).request(), "Bearer new\r\n"));
  f.server.at(1).answer(200, "x");
  f.wait(*one);
  REQUIRE(one->stream);
  CHECK(one->stream->head().status == 200);
}

TEST_CASE("Requests wait for the first credentials together") {
  refreshing_fixture f;
  auto const a = f.ask(patch_request());
  auto const b = f.ask(patch_request());
  f.until([&] { return f.who->pending.size() == 1; });
  settle(f.io);
  CHECK(f.server.connections() == 0);
  CHECK(f.who->refusals.back() == nullptr);
  f.who->now = token("first");
  f.who->give({}, f.who->now);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(holds(f.server.at(i).request(), "Bearer first\r\n"));
    f.server.at(i).answer(200, "x");
  }
  f.wait(*a);
  f.wait(*b);
  CHECK_FALSE(a->ec);
  CHECK_FALSE(b->ec);
}

TEST_CASE("Without credentials nothing is sent") {
  client_options options;
  options.times.credentials = 10s;
  options.times.queue = 20s;
  refreshing_fixture f{options};
  auto one = f.ask(patch_request());
  f.until([&] { return f.who->pending.size() == 1; });
  f.who->give(errc::unavailable, nullptr);
  f.wait(*one);
  CHECK(one->ec == errc::unavailable);
  CHECK(f.log.lines.size() == 1);

  one = f.ask(patch_request());
  f.until([&] { return f.who->pending.size() == 1; });
  one->cancel.emit(boost::asio::cancellation_type::terminal);
  f.wait(*one);
  CHECK(one->ec == errc::cancelled);

  one = f.ask(patch_request());
  settle(f.io);
  CHECK(f.who->pending.size() == 1);  // the same fetch goes on
  f.time.advance(10s);
  f.wait(*one);
  CHECK(one->ec == errc::unavailable);
  CHECK(f.who->cancelled == 1);
  // Its late answer is of no use any more, and hurts nobody.
  f.who->give({}, token("late"));
  settle(f.io);
  CHECK(f.server.connections() == 0);
}

TEST_CASE("Credentials that are fetched but not kept serve those who waited") {
  refreshing_fixture f;
  for (int i = 0; i < 2; ++i) {
    auto const one = f.ask(patch_request());
    f.until([&] { return f.who->pending.size() == 1; });
    f.who->give({}, token("once"));
    if (i == 0) {
      // The connection is not there yet: by then they are asked for again.
      f.server.at(0);
      f.until([&] { return f.who->pending.size() == 1; });
      f.who->give({}, token("once"));
    }
    f.server.at(0).request();
    f.server.at(0).answer(200, "x");
    f.wait(*one);
    CHECK_FALSE(one->ec);
  }
}
