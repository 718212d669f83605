// The HTTP server over real loopback sockets: framing, pipelining, leaving clients.
#include "http_fixture.hpp"

#include <agones_alloc/beast/parsed_request.hpp>

#include <boost/asio/buffer.hpp>
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace agones_alloc;
using namespace beast_test;

TEST_CASE("a request reaches the handler with its parts, and the answer comes back on a kept connection") {
  fixture f;
  auto client = f.client();
  auto const one = client.ask("POST /a/b?c=d%20e HTTP/1.1\r\nhOst: here\r\nAccept: a/b\r\naccept: c/d\r\nContent-Length: 5\r\n\r\nhello");
  CHECK(one.status == 200);
  CHECK(one.body == "hello");
  CHECK(one.field("x-path") == "/a/b");
  CHECK(one.field("content-type") == "text/plain");
  CHECK(one.field("date") == "Sun, 13 Sep 2020 12:26:40 GMT");
  CHECK(one.field("connection").empty());
  REQUIRE(f.handler.requests.size() == 1);
  auto const& seen = f.handler.requests[0];
  CHECK(seen.method == "POST");
  CHECK(seen.path == "/a/b");
  CHECK(seen.query == "c=d%20e");
  CHECK(seen.body == "hello");
  CHECK(seen.host == "here");
  CHECK(seen.accept == "a/b, c/d");
  CHECK(client.ask(get("/second")).field("x-path") == "/second");
  CHECK(f.observer.open == 1);
  CHECK(f.observer.finished == std::vector<std::string>{" POST 200", " GET 200"});
}

TEST_CASE("HEAD is answered with the length and without the body") {
  fixture f;
  auto client = f.client();
  auto const one = client.ask("HEAD /h HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", true);
  CHECK(one.status == 200);
  CHECK(one.field("content-length") == "3");
  CHECK(client.ask(get("/next")).field("x-path") == "/next");
}

TEST_CASE("chunked bodies are joined") {
  fixture f;
  auto client = f.client();
  auto const one = client.ask("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\n\r\n");
  CHECK(one.status == 200);
  CHECK(one.body == "abcde");
}

TEST_CASE("a request may arrive byte by byte") {
  fixture f;
  auto client = f.client();
  for (char const c : post("slow but in time")) REQUIRE(client.send({&c, 1}));
  CHECK(client.receive().body == "slow but in time");
}

TEST_CASE("HTTP/1.0 closes unless keep-alive is asked for, and HTTP/1.1 keeps unless close is asked for") {
  fixture f;
  auto old = f.client();
  CHECK(old.ask("GET /a HTTP/1.0\r\n\r\n").field("connection") == "close");
  CHECK(old.ends());
  auto kept = f.client();
  CHECK(kept.ask("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").field("connection") == "keep-alive");
  CHECK(kept.ask(get("/b")).status == 200);
  auto closing = f.client();
  CHECK(closing.ask("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").field("connection") == "close");
  CHECK(closing.ends());
}

TEST_CASE("pipelined requests are answered one by one and in order") {
  fixture f;
  f.handler.hold = true;
  auto client = f.client();
  client.send(get("/1") + get("/2") + get("/3"));
  f.until([&] { return f.handler.held.size() == 1; });
  settle(f.io);
  CHECK(f.handler.requests.size() == 1);
  for (auto const* body : {"one", "two", "three"}) {
    f.until([&] { return f.handler.held.size() == 1; });
    f.handler.release(body);
    CHECK(client.receive().body == body);
  }
  CHECK(f.handler.requests[2].path == "/3");
}

TEST_CASE("pipelined garbage is answered with 400 after the good request, and ends the connection") {
  fixture f;
  auto client = f.client();
  client.send(get("/good") + std::string("\x01\x02 garbage\r\n\r\n"));
  CHECK(client.receive().status == 200);
  CHECK(client.receive().status == 400);
  CHECK(client.ends());
  CHECK(f.handler.requests.size() == 1);
}

TEST_CASE("Expect: 100-continue is honoured before the body, and a body too large is refused without it") {
  fixture f{small()};
  auto client = f.client();
  client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  CHECK(client.receive().status == 100);
  client.send("hello");
  CHECK(client.receive().body == "hello");
  CHECK(client.ask("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 101\r\n\r\n").status == 413);
  auto eager = f.client();
  CHECK(eager.ask("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello").body == "hello");
}

TEST_CASE("a client that leaves while its request waits cancels the request") {
  fixture f;
  f.handler.hold = true;
  auto client = f.client();
  client.send(post("x"));
  f.until([&] { return !f.handler.held.empty(); });
  CHECK(f.handler.cancelled == 0);
  client.close();
  f.until([&] { return f.handler.cancelled == 1; });
  f.handler.release();
  f.until([&] { return f.listener.connections() == 0; });
}

TEST_CASE("a client that only stopped sending is cancelled too, but still gets the answer") {
  fixture f;
  f.handler.hold = true;
  auto client = f.client();
  client.send(post("x"));
  client.shut_sending();
  f.until([&] { return f.handler.cancelled == 1; });
  f.handler.release("who knows");
  auto const answer = client.receive();
  CHECK(answer.body == "who knows");
  CHECK(answer.field("connection") == "close");
}

TEST_CASE("a line break in an answer's field does not start another field") {
  class bad final : public http_handler {
    void handle(http_request const&, reply done) override {
      http_response out;
      out.headers.emplace_back("A", "b\r\nInjected: yes");
      std::move(done)(std::move(out));
    }
  } handler;
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  http_listener listener{io.get_executor(), handler, time};
  REQUIRE_FALSE(listener.listen("127.0.0.1", 0));
  raw_client client{io, listener.port()};
  auto const answer = client.ask(get("/"));
  CHECK(answer.field("a") == "b  Injected: yes");
  CHECK(answer.field("injected").empty());
}

TEST_CASE("a client that leaves is noticed behind everything it pipelined") {
  for (std::string const& behind : {std::string{"\n"}, get("/2"), get("/2") + get("/3") + "GET"}) {
    CAPTURE(behind);
    fixture f;
    f.handler.hold = true;
    auto client = f.client();
    client.send(get("/1") + behind);
    f.until([&] { return !f.handler.held.empty(); });
    CHECK(f.handler.cancelled == 0);
    client.close();
    f.until([&] { return f.handler.cancelled == 1; });
    f.handler.release();
    f.until([&] { return f.listener.connections() == 0; });
    CHECK(f.handler.requests.size() == 1);
  }
}

TEST_CASE("pipelined requests come through in any pieces, also those that fill the buffer") {
  for (std::size_t const piece : {1U, 7U, 500U, 5000U}) {
    CAPTURE(piece);
    fixture f{small()};
    f.handler.hold = true;
    auto client = f.client();
    std::string all;
    for (int i = 0; i < 40; ++i) all += post(std::string(90, static_cast<char>('a' + i % 26)));
    std::size_t sent = 0;
    for (int i = 0; i < 40; ++i) {
      while (f.handler.held.empty()) {
        if (sent >= all.size()) {
          f.until([&] { return !f.handler.held.empty(); });
          break;
        }
        REQUIRE(client.send(std::string_view{all}.substr(sent, piece)));
        sent += piece;
      }
      f.handler.release(std::to_string(i));
      CHECK(client.receive().body == std::to_string(i));
      settle(f.io);
      REQUIRE(f.handler.requests.at(static_cast<std::size_t>(i)).body == std::string(90, static_cast<char>('a' + i % 26)));
    }
  }
}

TEST_CASE("line breaks between requests are ignored, whether they come with the one before or later") {
  for (auto const* breaks : {"\r\n", "\n", "\r\n\r\n", "\n\r\n"}) {
    CAPTURE(breaks);
    fixture f;
    auto client = f.client();
    CHECK(client.ask(post("x") + breaks).body == "x");
    CHECK(client.ask(get("/next")).field("x-path") == "/next");
    for (auto const* c = breaks; *c != 0; ++c) client.send({c, 1});
    CHECK(client.ask(get("/third")).field("x-path") == "/third");
  }
  fixture f;
  auto client = f.client();
  CHECK(client.ask("\r" + get("/")).status == 400);
}

TEST_CASE("fields after the last chunk change nothing") {
  fixture f;
  auto client = f.client();
  std::string const chunked = "POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n";
  CHECK(client.ask(chunked + "\r\n1\r\na\r\n0\r\nAccept: x/y\r\n\r\n").body == "a");
  CHECK(client.ask(chunked + "Accept: a/b\r\n\r\n1\r\nb\r\n0\r\nAccept: x/y\r\nHost: there\r\n\r\n").body == "b");
  CHECK(client.ask(get("/next")).status == 200);
  REQUIRE(f.handler.requests.size() == 3);
  CHECK(f.handler.requests[0].accept == "");
  CHECK(f.handler.requests[1].accept == "a/b");
  CHECK(f.handler.requests[1].host == "here");
  CHECK(f.handler.requests[2].host == "x");
}

TEST_CASE("nothing of a request is left for the next on its connection, however large it was") {
  fixture f;
  auto client = f.client();
  std::string const large(6000, 'l');
  for (auto const& value : {std::string{"small"}, large}) {
    f.handler.requests.clear();
    CHECK(client.ask("POST /first?one HTTP/1.1\r\nHost: here\r\nAccept: " + value + "\r\nContent-Length: " +
                     std::to_string(value.size()) + "\r\n\r\n" + value)
              .body == value);
    CHECK(client.ask("GET /second HTTP/1.1\r\nHost: there\r\n\r\n").status == 200);
    REQUIRE(f.handler.requests.size() == 2);
    CHECK(f.handler.requests[0].accept == value);
    auto const& second = f.handler.requests[1];
    CHECK(second.method == "GET");
    CHECK(second.path == "/second");
    CHECK(second.query == "");
    CHECK(second.body == "");
    CHECK(second.host == "there");
    CHECK(second.accept == "");
  }
}

TEST_CASE("fields are visited in the order in which they came, also those that are repeated") {
  namespace http = boost::beast::http;
  detail::request_text text;
  detail::request_parser parser{text, {}};
  std::string const bytes = "GET / HTTP/1.1\r\nHost: x\r\nOne: 1\r\nTwo: 2\r\none: 3\r\n\r\n";
  boost::system::error_code ec;
  CHECK(parser.put(boost::asio::buffer(bytes), ec) == bytes.size());
  CHECK_FALSE(ec);
  REQUIRE(parser.is_done());
  CHECK(text.count(http::field::host) == 1);
  detail::parsed_request const request{text};
  std::string seen;
  request.visit_headers([&seen](std::string_view name, std::string_view value) { seen.append(name).append("=").append(value).append(" "); });
  CHECK(seen == "Host=x One=1 Two=2 one=3 ");
  CHECK(request.header("ONE") == "1, 3");
  CHECK(request.header("On") == "");
}
