#include <agones_alloc/flow/answer_rest.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace agones_alloc;

namespace {

constexpr std::size_t most = 200;

auto rest(std::string_view text) -> answer_rest { return rest_of_answer(text, most); }
/// Of an answer with these fields and this body.
auto rest_of(std::string_view fields, std::string_view body = {}) -> answer_rest {
  return rest("HTTP/1.1 503 Not yet\r\n" + std::string{fields} + "\r\n" + std::string{body});
}

}  // namespace

TEST_CASE("an answer is whole when it has as many bytes as it says, and no sooner") {
  std::string const all = "HTTP/1.1 503 Not yet\r\nContent-Type: text/plain\r\ncontent-length:  3 \r\nConnection: Keep-Alive\r\n\r\nnot";
  for (std::size_t size = 0; size != all.size(); ++size) {
    CAPTURE(size);
    CHECK(rest(std::string_view{all}.substr(0, size)) == answer_rest::more);
  }
  CHECK(rest(all) == answer_rest::whole);
  CHECK(rest(all + "H") == answer_rest::open);
  CHECK(rest("HTTP/1.1 204\r\n\r\n") == answer_rest::whole);
  CHECK(rest("HTTP/1.1 304 Not Modified\r\nContent-Length: 0\r\n\r\n") == answer_rest::whole);
  CHECK(rest_of("Content-Length: 0\r\n") == answer_rest::whole);
}

TEST_CASE("a connection whose answer has an end that cannot be known is not kept") {
  CHECK(rest_of("") == answer_rest::open);
  CHECK(rest_of("Transfer-Encoding: chunked\r\n", "0\r\n\r\n") == answer_rest::open);
  CHECK(rest_of("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "not") == answer_rest::open);
  CHECK(rest("HTTP/1.0 503 Not yet\r\nContent-Length: 0\r\n\r\n") == answer_rest::open);
  CHECK(rest("HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n") == answer_rest::open);
  CHECK(rest("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nContent-Length: 0\r\n\r\n") == answer_rest::open);
  CHECK(rest("HTTP/1.1 2000\r\nContent-Length: 0\r\n\r\n") == answer_rest::open);
  CHECK(rest("nonsense\r\n\r\n") == answer_rest::open);
  CHECK(rest("\r\n\r\n") == answer_rest::open);
}

TEST_CASE("a connection that the other side closes, or whose length is none, or which is told twice, is not kept") {
  for (auto const* const field :
       {"Connection: close\r\nContent-Length: 0\r\n", "Connection: keep-alive, close\r\nContent-Length: 0\r\n", "Content-Length: 0\r\nContent-Length: 0\r\n",
        "Content-Length: -1\r\n", "Content-Length: +0\r\n", "Content-Length: 0x0\r\n", "Content-Length: 0, 0\r\n", "Content-Length:\r\n",
        "Content-Length: 99999999999999999999999999\r\n", "Content-Length: 18446744073709551615\r\n", "Content-Length : 0\r\n", " Content-Length: 0\r\n",
        "X: y\r\n Content-Length: 0\r\nContent-Length: 0\r\n", "X: y\nConnection: close\r\nContent-Length: 0\r\n", "no field\r\nContent-Length: 0\r\n",
        ": x\r\nContent-Length: 0\r\n"}) {
    CAPTURE(field);
    CHECK(rest_of(field) == answer_rest::open);
  }
  CHECK(rest("HTTP/1.1 204 No Content\r\nContent-Length: 1\r\n\r\n") == answer_rest::open);
}

TEST_CASE("more than may be read is not waited for") {
  CHECK(rest_of("Content-Length: 1000\r\n", "x") == answer_rest::open);
  std::string const head = "HTTP/1.1 503 Not yet\r\nContent-Length: 100\r\n\r\n";
  REQUIRE(head.size() + 100 < most);
  CHECK(rest(head + std::string(99, 'x')) == answer_rest::more);
  CHECK(rest(head + std::string(100, 'x')) == answer_rest::whole);
  std::string const endless = "HTTP/1.1 503 " + std::string(most, 'x');
  CHECK(rest(std::string_view{endless}.substr(0, most - 1)) == answer_rest::more);
  CHECK(rest(std::string_view{endless}.substr(0, most)) == answer_rest::open);
}
