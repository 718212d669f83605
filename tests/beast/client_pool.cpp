#include "client_fixture.hpp"

#include <algorithm>

using namespace beast_test;

TEST_CASE("No more connections than the bound, and who waits is served in order") {
  client_options options;
  options.limits.connections = 2;
  client_fixture f{options};
  std::vector<std::shared_ptr<asked>> all;
  for (int i = 0; i < 6; ++i) all.push_back(f.ask(get_request("/" + std::to_string(i))));
  f.server.at(1);
  std::string order;
  for (std::size_t round = 0; round < 3; ++round) {
    for (std::size_t c = 0; c < 2; ++c) {
      order += f.server.at(c).request().substr(5, 1);
      f.server.at(c).answer(200, "x");
    }
  }
  for (auto const& one : all) {
    f.wait(*one);
    CHECK_FALSE(one->ec);
  }
  CHECK(f.server.connections() == 2);
  std::sort(order.begin(), order.end());
  CHECK(order == "012345");
  CHECK(f.client->counts().open == 2);
}

TEST_CASE("A full queue and a long wait are refused without sending") {
  client_options options;
  options.limits.connections = 1;
  options.limits.queue = 2;
  options.times.queue = 5s;
  client_fixture f{options};
  auto const active = f.ask(patch_request());
  f.server.at(0).request();
  auto const waits = f.ask(patch_request());
  auto request = patch_request();
  request.deadline = f.time.now() + 2s;
  auto const impatient = f.ask(request);
  auto const refused = f.ask(patch_request());
  f.wait(*refused);
  CHECK(refused->ec == errc::too_many_requests);
  settle(f.io);
  f.time.advance(2s);
  f.wait(*impatient);
  CHECK(impatient->ec == errc::deadline_exceeded);
  f.time.advance(3s);
  f.wait(*waits);
  CHECK(waits->ec == errc::too_many_requests);
  f.server.at(0).answer(200, "x");
  f.wait(*active);
  CHECK_FALSE(active->ec);
  CHECK(f.client->counts().sent == 1);
}

TEST_CASE("A deadline that has passed sends nothing") {
  client_fixture f;
  auto request = patch_request();
  request.deadline = f.time.now();
  auto const one = f.ask(request);
  f.wait(*one);
  CHECK(one->ec == errc::deadline_exceeded);
  CHECK(f.server.connections() == 0);
}

TEST_CASE("Kept connections that the server closed are not used again") {
  client_fixture f;
  CHECK(f.ok(patch_request()));
  f.server.at(0).close();
  // At once: the client has had no turn to see it.
  CHECK(f.ok(patch_request(), 1));
  CHECK(f.ok(patch_request(), 1));
  f.server.at(1).close();
  f.until([&] { return f.client->counts().open == 0; });
  CHECK(f.ok(patch_request(), 2));
}

TEST_CASE("A kept connection lost under a request: a read is sent again, a write is in doubt") {
  client_fixture f;
  CHECK(f.ok(get_request()));
  auto const safe = f.ask(get_request());
  f.server.at(0).request();
  f.server.at(0).reset();
  f.server.at(1).request();
  f.server.at(1).answer(200, "again");
  f.wait(*safe);
  CHECK_FALSE(safe->ec);
  CHECK(safe->response.body == "again");
  CHECK(f.client->counts().repeated == 1);

  auto const unsafe = f.ask(patch_request());
  f.server.at(1).request();
  f.server.at(1).reset();
  f.wait(*unsafe);
  CHECK(unsafe->ec == errc::outcome_unknown);
  CHECK(f.server.connections() == 2);
}

TEST_CASE("A read is sent again once only") {
  client_fixture f;
  auto const first = f.ask(get_request());
  auto const second = f.ask(get_request());
  for (std::size_t i = 0; i < 2; ++i) {
    f.server.at(i).request();
    f.server.at(i).answer(200, "x");
  }
  f.wait(*first);
  f.wait(*second);
  auto const one = f.ask(get_request());
  f.until([&] { return f.server.at(0).has_request() || f.server.at(1).has_request(); });
  f.server.at(f.server.at(0).has_request() ? 0 : 1).close();
  f.server.at(2).request();
  f.server.at(2).close();
  f.wait(*one);
  CHECK(one->ec == errc::unavailable);
}

TEST_CASE("Each phase has its time") {
  client_options options;
  options.times.write = 1s;
  options.times.first_byte = 2s;
  options.times.body = 3s;
  options.limits.request_bytes = 64U << 20U;
  client_fixture f{options};
  auto const expect = [&](asked& one, std::chrono::nanoseconds after, errc what) {
    settle(f.io);
    f.time.advance(after - 1ns);
    settle(f.io);
    CHECK_FALSE(one.done);
    f.time.advance(1ns);
    f.wait(one);
    CHECK(one.ec == what);
  };
  auto one = f.ask(patch_request());
  f.server.at(0).request();
  expect(*one, 2s, errc::outcome_unknown);
  one = f.ask(get_request());
  f.server.at(1).request();
  f.server.at(1).send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12");
  settle(f.io);
  expect(*one, 3s, errc::unavailable);
  auto impatient = get_request();
  impatient.deadline = f.time.now() + 1500ms;
  one = f.ask(impatient);
  f.server.at(2).request();
  expect(*one, 1500ms, errc::deadline_exceeded);
  impatient = patch_request();
  impatient.deadline = f.time.now() + 1500ms;
  one = f.ask(impatient);
  f.server.at(3).request();
  expect(*one, 1500ms, errc::outcome_unknown);
}

TEST_CASE("A server that does not read is given up in time") {
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  tcp::acceptor silent{io, {boost::asio::ip::address_v4::loopback(), 0}};
  client_options options;
  options.times.write = 1s;
  options.limits.request_bytes = 64U << 20U;
  client_endpoint endpoint{"127.0.0.1", silent.local_endpoint().port(), false, {}};
  pooled_http_client client{io.get_executor(), endpoint, std::make_shared<static_credentials>(io.get_executor()), time,
                            options};
  error_code ec;
  bool done = false;
  client.async_request(patch_request(std::string(32U << 20U, 'x')), [&](error_code failed, client_response) {
    ec = failed;
    done = true;
  });
  run_until(io, [&] { return client.counts().sent == 1; });
  settle(io);
  time.advance(1s);
  run_until(io, [&] { return done; });
  CHECK(ec == errc::outcome_unknown);
  client.close();
  settle(io);
}

TEST_CASE("An unused connection is closed after its time") {
  client_options options;
  options.times.idle = 10s;
  client_fixture f{options};
  CHECK(f.ok(get_request()));
  settle(f.io);
  f.time.advance(10s);
  f.until([&] { return f.server.at(0).ended; });
  CHECK(f.client->counts().open == 0);
}

TEST_CASE("Nobody listening fails each request once, says so once, and recovers") {
  client_fixture f;
  auto const port = f.server.port();
  f.server.stop();
  std::vector<std::shared_ptr<asked>> all;
  for (int i = 0; i < 5; ++i) all.push_back(f.ask(patch_request()));
  for (auto const& one : all) {
    f.wait(*one);
    CHECK(one->ec == errc::unavailable);
  }
  CHECK(f.client->counts().failed == 5);
  REQUIRE(f.log.lines.size() == 1);
  CHECK(f.log.lines[0].find("phase=connect") != std::string::npos);
  CHECK(f.log.lines[0].find(std::to_string(port)) != std::string::npos);
}

TEST_CASE("A name that does not resolve is unavailable") {
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  listening log;
  // A label is too long for any name: no server is asked.
  client_endpoint endpoint{std::string(70, 'x') + ".invalid", 80, false, {}};
  pooled_http_client client{io.get_executor(), endpoint, std::make_shared<static_credentials>(io.get_executor()), time,
                            {}, &log};
  bool done = false;
  client.async_request(get_request(), [&](error_code ec, client_response) {
    CHECK(ec == errc::unavailable);
    done = true;
  });
  run_until(io, [&] { return done; });
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0].find("phase=resolve") != std::string::npos);
}

TEST_CASE("A request can be cancelled at any moment") {
  client_options options;
  options.limits.connections = 1;
  client_fixture f{options};
  auto const cancel = [&](asked& one) {
    one.cancel.emit(boost::asio::cancellation_type::terminal);
    f.wait(one);
  };
  auto one = f.ask(patch_request());  // while connecting
  cancel(*one);
  CHECK(one->ec == errc::cancelled);
  one = f.ask(patch_request());
  f.server.at(0).request();
  auto const waiting = f.ask(patch_request());
  cancel(*waiting);
  CHECK(waiting->ec == errc::cancelled);
  cancel(*one);  // while its answer is awaited
  CHECK(one->ec == errc::outcome_unknown);
  f.until([&] { return f.server.at(0).ended; });
  one = f.ask(get_request());
  f.server.at(1).request();
  f.server.at(1).send("HTTP/1.1 200 OK\r\n");
  settle(f.io);
  cancel(*one);
  CHECK(one->ec == errc::cancelled);
  CHECK(f.ok(patch_request(), 2));
}

TEST_CASE("Closing the client ends what is pending and what comes") {
  client_options options;
  options.limits.connections = 1;
  client_fixture f{options};
  auto const active = f.ask(patch_request());
  f.server.at(0).request();
  auto const waiting = f.ask(patch_request());
  f.client->close();
  f.wait(*active);
  f.wait(*waiting);
  CHECK(active->ec == errc::outcome_unknown);
  CHECK(waiting->ec == errc::cancelled);
  auto const late = f.ask(get_request());
  f.wait(*late);
  CHECK(late->ec == errc::cancelled);
}

TEST_CASE("A client that is dropped with its loop leaves nothing behind") {
  auto io = std::make_unique<boost::asio::io_context>();
  auto time = std::make_unique<manual_timer>(io->get_executor());
  auto server = std::make_unique<scripted_server>(*io);
  auto credentials = std::make_shared<static_credentials>(io->get_executor());
  client_endpoint endpoint{"127.0.0.1", server->port(), false, {}};
  auto client = std::make_unique<pooled_http_client>(io->get_executor(), endpoint, credentials, *time);
  auto const alive = std::make_shared<int>(0);
  client->async_request(patch_request(), [alive](error_code, client_response) {});
  client->async_stream(get_request(), [alive](error_code, std::unique_ptr<response_stream>) {});
  server->at(1).request();
  client.reset();
  credentials.reset();
  time.reset();
  server.reset();
  io.reset();
  CHECK(alive.use_count() == 1);
}

TEST_CASE("The rate limit lets a burst go and then one at a time") {
  client_options options;
  options.rate.per_second = 10;
  options.rate.burst = 2;
  client_fixture f{options};
  std::vector<std::shared_ptr<asked>> all;
  for (int i = 0; i < 4; ++i) all.push_back(f.ask(get_request()));
  auto const served = [&](std::size_t count) {
    std::size_t done = 0;
    for (int turn = 0; turn < 20; ++turn) {
      settle(f.io);
      for (std::size_t i = 0; i < f.server.connections(); ++i) {
        while (f.server.at(i).has_request()) {
          f.server.at(i).request();
          f.server.at(i).answer(200, "x");
        }
      }
      done = f.client->counts().sent;
    }
    return done == count;
  };
  f.until([&] { return f.client->counts().sent == 2; });
  CHECK(served(2));
  f.time.advance(99ms);
  CHECK(served(2));
  f.time.advance(1ms);
  f.until([&] { return f.client->counts().sent == 3; });
  CHECK(served(3));
  f.time.advance(100ms);
  f.until([&] { return f.client->counts().sent == 4; });
  CHECK(served(4));
  for (auto const& one : all) f.wait(*one);
}

TEST_CASE("Options out of range are named") {
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  client_options options;
  options.times.first_byte = 0s;
  CHECK_THROWS_WITH_AS(pooled_http_client(io.get_executor(), client_endpoint{"h", 1, false, {}},
                                          std::make_shared<static_credentials>(io.get_executor()), time, options),
                       "client_options::times.first_byte is out of range", std::invalid_argument);
}
