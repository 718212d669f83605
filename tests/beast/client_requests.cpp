#include "client_fixture.hpp"

using namespace beast_test;

TEST_CASE("A request is written as HTTP/1.1 and its answer is read") {
  client_options options;
  options.user_agent = "tester/1";
  client_fixture f{options};
  client_credentials who;
  who.authorization = "Bearer secret";
  f.credentials->replace(who);
  auto request = patch_request(R"({"a":1})");
  request.headers.emplace_back("Accept", "application/json");
  auto const one = f.ask(request);
  auto const text = f.server.at(0).request();
  CHECK(text == "PATCH /x HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(f.server.port()) +
                    "\r\nUser-Agent: tester/1\r\nAuthorization: Bearer secret\r\n"
                    "Content-Type: application/merge-patch+json\r\nContent-Length: 7\r\nAccept: application/json\r\n\r\n"
                    R"({"a":1})");
  f.server.at(0).answer(429, "slow down", "Content-Type: text/plain\r\nretry-after: 7\r\n");
  f.wait(*one);
  CHECK_FALSE(one->ec);
  CHECK(one->response.status == 429);
  CHECK(one->response.content_type == "text/plain");
  CHECK(one->response.retry_after == 7s);
  CHECK(one->response.content_length == 9U);
  CHECK(one->response.body == "slow down");
}

TEST_CASE("A kept connection serves one request after the other") {
  client_fixture f;
  for (int i = 0; i < 5; ++i) CHECK(f.ok(i % 2 == 0 ? get_request() : patch_request()));
  CHECK(f.server.connections() == 1);
  CHECK(f.client->counts().opened == 1);
  CHECK(f.client->counts().idle == 1);
  CHECK(f.client->counts().sent == 5);
}

TEST_CASE("Answers may be chunked, interim, in pieces, or end with the connection") {
  client_fixture f;
  auto one = f.ask(get_request());
  auto& peer = f.server.at(0);
  peer.request();
  std::string const text = "HTTP/1.1 103 Hints\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                           "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nRetry-After: 9\r\n\r\n";
  for (char const c : text) {
    peer.send({c});
    settle(f.io);
  }
  f.wait(*one);
  CHECK(one->response.status == 200);
  CHECK(one->response.body == "abcdefg");
  CHECK_FALSE(one->response.retry_after);  // a trailer is no field of the head
  CHECK_FALSE(one->response.content_length);

  one = f.ask(get_request());
  peer.request();
  peer.send("HTTP/1.1 200 OK\r\n\r\nuntil the end");
  peer.close();
  f.wait(*one);
  CHECK_FALSE(one->ec);
  CHECK(one->response.body == "until the end");
  CHECK(f.client->counts().open == 0);

  auto head = get_request();
  head.method = "HEAD";
  one = f.ask(head);
  f.server.at(1).request();
  f.server.at(1).send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
  f.wait(*one);
  CHECK_FALSE(one->ec);
  CHECK(one->response.content_length == 1000U);
  CHECK(one->response.body.empty());
  CHECK(f.ok(get_request(), 1));
}

TEST_CASE("A lost connection leaves a write in doubt and a read repeatable") {
  client_fixture f;
  auto const unsafe = f.ask(patch_request());
  f.server.at(0).request();
  f.server.at(0).reset();
  f.wait(*unsafe);
  CHECK(unsafe->ec == errc::outcome_unknown);
  CHECK(unsafe->response.status == 0);

  auto const safe = f.ask(get_request());
  f.server.at(1).request();
  f.server.at(1).close();
  f.wait(*safe);
  CHECK(safe->ec == errc::unavailable);
  CHECK(safe->ec == condition::retryable);
}

TEST_CASE("Half an answer is no answer, and its head is told") {
  client_fixture f;
  for (std::size_t i = 0; i < 2; ++i) {
    auto const one = f.ask(i == 0 ? patch_request() : get_request());
    f.server.at(i).request();
    f.server.at(i).send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    f.server.at(i).close();
    f.wait(*one);
    CHECK(one->ec == (i == 0 ? errc::outcome_unknown : errc::unavailable));
    CHECK(one->response.status == 200);
  }
}

TEST_CASE("An answer over the bounds is cut off") {
  client_options options;
  options.limits.body_bytes = 1000;
  options.limits.header_bytes = 256;
  client_fixture f{options};
  std::string const huge = "HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n";
  std::string const chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n300\r\n" + std::string(0x300, 'x') +
                             "\r\n300\r\n" + std::string(0x300, 'x') + "\r\n";
  std::string const fields = "HTTP/1.1 200 OK\r\nX: " + std::string(300, 'x');
  std::size_t connection = 0;
  for (auto const& text : {huge, chunks, fields}) {
    auto const one = f.ask(get_request());
    f.server.at(connection).request();
    f.server.at(connection++).send(text);
    f.wait(*one);
    CHECK(one->ec == errc::limit_exceeded);
  }
  auto small = get_request();
  small.body_limit = 3;
  auto const one = f.ask(small);
  f.server.at(connection).request();
  f.server.at(connection++).answer(200, "four");
  f.wait(*one);
  CHECK(one->ec == errc::limit_exceeded);
  auto const unsafe = f.ask(patch_request());
  f.server.at(connection).request();
  f.server.at(connection).send(huge);
  f.wait(*unsafe);
  CHECK(unsafe->ec == errc::outcome_unknown);
  CHECK(f.client->counts().open == 0);
}

TEST_CASE("What is no HTTP is malformed, and bytes after an answer end the connection") {
  client_fixture f;
  auto one = f.ask(get_request());
  f.server.at(0).request();
  f.server.at(0).send("SSH-2.0-OpenSSH\r\n\r\n");
  f.wait(*one);
  CHECK(one->ec == errc::malformed);
  one = f.ask(get_request());
  f.server.at(1).request();
  f.server.at(1).send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n");
  f.wait(*one);
  CHECK_FALSE(one->ec);
  CHECK(one->response.body == "ok");
  CHECK(f.client->counts().open == 0);
  CHECK(f.ok(get_request(), 2));
}

TEST_CASE("A request that cannot be written is refused before anything is done") {
  client_options options;
  options.limits.request_bytes = 10;
  client_fixture f{options};
  std::vector<client_request> bad(8, get_request());
  bad[0].method = "GET /evil HTTP/1.1\r\n";
  bad[1].target = "/x y";
  bad[2].target = "x";
  bad[3].headers.emplace_back("X", "a\r\nEvil: b");
  bad[4].headers.emplace_back("X y", "a");
  bad[5].headers.emplace_back("content-length", "5");
  bad[6].content_type = "a\nb";
  bad[7].body = std::string(11, 'x');
  for (auto const& request : bad) {
    auto const one = f.ask(request);
    f.wait(*one);
    CHECK(one->ec == errc::invalid_request);
  }
  CHECK(f.server.connections() == 0);
}

TEST_CASE("An early answer to a request that is still being written counts") {
  client_options options;
  options.limits.request_bytes = 64U << 20U;
  client_fixture f{options};
  auto const one = f.ask(patch_request(std::string(32U << 20U, 'x')));
  f.server.at(0).answer(413, "too large", "Connection: close\r\n");
  f.wait(*one);
  CHECK_FALSE(one->ec);
  CHECK(one->response.status == 413);
}
