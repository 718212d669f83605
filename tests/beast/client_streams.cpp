#include "client_fixture.hpp"

#include <boost/asio/error.hpp>

using namespace beast_test;

namespace {

struct piece {
  bool done{false};
  error_code ec;
  std::string bytes;
  boost::asio::cancellation_signal cancel;
};

auto read(response_stream& stream) -> std::shared_ptr<piece> {
  auto out = std::make_shared<piece>();
  stream.async_read_some(
      boost::asio::bind_cancellation_slot(out->cancel.slot(), [out](error_code ec, std::string_view bytes) {
        CHECK_FALSE(out->done);
        out->done = true;
        out->ec = ec;
        out->bytes = bytes;
      }));
  CHECK_FALSE(out->done);
  return out;
}

constexpr std::string_view chunked = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

struct stream_fixture : client_fixture {
  using client_fixture::client_fixture;
  auto start(std::string_view first = chunked, std::size_t connection = 0) -> std::shared_ptr<opened> {
    auto out = open(get_request());
    server.at(connection).request();
    server.at(connection).send(std::string{first});
    wait(*out);
    REQUIRE_FALSE(out->ec);
    REQUIRE(out->stream);
    return out;
  }
  auto next(response_stream& stream) -> std::shared_ptr<piece> {
    auto out = read(stream);
    until([&] { return out->done; });
    return out;
  }
};

}  // namespace

TEST_CASE("A stream gives the body as it comes, then its end, and its connection is kept") {
  stream_fixture f;
  auto const one = f.start(std::string{chunked} + "5\r\nhello\r\n");
  CHECK(one->stream->head().status == 200);
  CHECK(one->stream->head().content_type == "application/json");
  CHECK(f.next(*one->stream)->bytes == "hello");
  auto const waiting = read(*one->stream);
  settle(f.io);
  CHECK_FALSE(waiting->done);
  f.server.at(0).send("3\r\nabc");
  f.until([&] { return waiting->done; });
  CHECK(waiting->bytes == "abc");
  f.server.at(0).send("\r\n0\r\n\r\n");
  CHECK(f.next(*one->stream)->ec == boost::asio::error::eof);
  CHECK(f.next(*one->stream)->ec == boost::asio::error::eof);
  CHECK(f.client->counts().idle == 1);
  CHECK(f.ok(get_request()));
}

TEST_CASE("A stream that is cut off is unavailable, not complete") {
  stream_fixture f;
  auto const one = f.start(std::string{chunked} + "5\r\nhel");
  CHECK(f.next(*one->stream)->bytes == "hel");
  f.server.at(0).close();
  CHECK(f.next(*one->stream)->ec == errc::unavailable);
  CHECK(f.next(*one->stream)->ec == errc::unavailable);
}

TEST_CASE("Silence ends a stream, bytes keep it alive") {
  stream_fixture f;
  auto request = get_request();
  request.silence = 10s;
  auto const one = f.open(request);
  f.server.at(0).request();
  f.server.at(0).send(std::string{chunked});
  f.wait(*one);
  for (int i = 0; i < 5; ++i) {
    auto const waiting = read(*one->stream);
    f.time.advance(9s);
    settle(f.io);
    CHECK_FALSE(waiting->done);
    f.server.at(0).send("1\r\nx\r\n");
    f.until([&] { return waiting->done; });
    CHECK(waiting->bytes == "x");
  }
  auto const last = read(*one->stream);
  settle(f.io);
  f.time.advance(10s);
  f.until([&] { return last->done; });
  CHECK(last->ec == errc::unavailable);
}

TEST_CASE("A reader that takes its time is not silence, and holds up the server") {
  stream_fixture f;
  auto const one = f.start(std::string{chunked} + "2\r\nab\r\n");
  f.time.advance(1h);
  settle(f.io);
  CHECK(f.next(*one->stream)->bytes == "ab");
}

TEST_CASE("The request's deadline goes on to count for the stream") {
  stream_fixture f;
  auto request = get_request();
  request.deadline = f.time.now() + 30s;
  auto const one = f.open(request);
  f.server.at(0).request();
  f.server.at(0).send(std::string{chunked});
  f.wait(*one);
  auto const waiting = read(*one->stream);
  settle(f.io);
  f.time.advance(30s);
  f.until([&] { return waiting->done; });
  CHECK(waiting->ec == errc::deadline_exceeded);
}

TEST_CASE("A read can be cancelled, and a stream destroyed under it") {
  stream_fixture f;
  auto const one = f.start();
  auto const first = read(*one->stream);
  settle(f.io);
  first->cancel.emit(boost::asio::cancellation_type::terminal);
  f.until([&] { return first->done; });
  CHECK(first->ec == errc::cancelled);
  CHECK(f.next(*one->stream)->ec == errc::cancelled);

  auto const two = f.start(chunked, 1);
  auto const second = read(*two->stream);
  two->stream.reset();
  f.until([&] { return second->done; });
  CHECK(second->ec == errc::cancelled);
  f.until([&] { return f.server.at(1).ended; });

  auto const three = f.start(chunked, 2);
  auto const third = read(*three->stream);
  f.client->close();
  f.until([&] { return third->done; });
  CHECK(third->ec == errc::cancelled);
}

TEST_CASE("Streams do not take the requests' connections, nor more than their own bound") {
  client_options options;
  options.limits.connections = 1;
  options.limits.streams = 2;
  stream_fixture f{options};
  auto const a = f.start(chunked, 0);
  auto const b = f.start(chunked, 1);
  auto const c = f.open(get_request());
  CHECK(f.ok(patch_request(), 2));
  CHECK_FALSE(c->done);
  a->stream.reset();
  f.server.at(2).request();
  f.server.at(2).send(std::string{chunked});
  f.wait(*c);
  CHECK_FALSE(c->ec);
  CHECK(f.server.connections() == 3);
}

TEST_CASE("A stream says any status, and its body can be read") {
  stream_fixture f;
  auto const one = f.start("HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\ngone");
  CHECK(one->stream->head().status == 410);
  CHECK(f.next(*one->stream)->bytes == "gone");
  CHECK(f.next(*one->stream)->ec == boost::asio::error::eof);
}

TEST_CASE("A stream can be cancelled and can fail before its head") {
  stream_fixture f;
  auto one = f.open(get_request());
  f.server.at(0).request();
  one->cancel.emit(boost::asio::cancellation_type::terminal);
  f.wait(*one);
  CHECK(one->ec == errc::cancelled);
  CHECK_FALSE(one->stream);
  one = f.open(get_request());
  f.server.at(1).request();
  f.server.at(1).send("HTTP/1.1 20");
  f.server.at(1).close();
  f.wait(*one);
  CHECK(one->ec == errc::unavailable);
  CHECK_FALSE(one->stream);
}

TEST_CASE("A large stream arrives whole in pieces of bounded size") {
  stream_fixture f;
  std::string sent;
  for (int i = 0; i < 200'000; ++i) sent += static_cast<char>('a' + i % 26);
  auto const one = f.start("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n");
  f.server.at(0).send(sent);
  std::string got;
  while (true) {
    auto const part = f.next(*one->stream);
    if (part->ec) {
      CHECK(part->ec == boost::asio::error::eof);
      break;
    }
    CHECK_FALSE(part->bytes.empty());
    CHECK(part->bytes.size() <= 128U * 1024U);
    got += part->bytes;
  }
  CHECK(got == sent);
}
