#include <agones_alloc/flow/ready_events.hpp>

#include <doctest/doctest.h>

using namespace agones_alloc;

namespace {

using said = std::optional<probe_answer>;

constexpr std::string_view head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

auto read(std::string const& text, std::size_t piece = 1'000'000) -> said {
  ready_events reader{"match-7"};
  for (std::size_t at = 0; at < text.size(); at += piece) {
    if (auto const got = reader.take(std::string_view{text}.substr(at, piece))) return got;
  }
  return std::nullopt;
}

auto events(std::string_view text, std::size_t piece = 1'000'000) -> said { return read(std::string{head} + std::string{text}, piece); }

}  // namespace

TEST_CASE("a game says in an event of that name that it is ready, or that it failed") {
  CHECK(events("event: ready\ndata: true\n\n") == probe_answer::ready);
  CHECK(events("event: ready\n\n") == probe_answer::ready);
  CHECK(events("event:ready\r\ndata: match-7\r\n\r\n") == probe_answer::ready);
  CHECK(events("\xef\xbb\xbf" "event: failed\rdata\r\r") == probe_answer::failed);
  CHECK(events(": hello\n\nevent: loading\ndata: 40 %\n\nid: 3\nretry: 1\nevent: ready\n\n") == probe_answer::ready);
  CHECK(events("event: failed\n\nevent: ready\n\n") == probe_answer::failed);
}

TEST_CASE("however the bytes come, they say the same") {
  for (std::size_t piece = 1; piece != 40; ++piece) {
    CHECK(events(": hello\r\n\r\nevent: progress\r\ndata: 1\r\n\r\nevent: ready\r\ndata: match-7\r\n\r\n", piece) == probe_answer::ready);
  }
}

TEST_CASE("what is said about an earlier allocation, without a name, or not to its end, does not count") {
  CHECK(events("event: ready\ndata: match-6\n\n") == said{});
  CHECK(events("event: ready\ndata: true\ndata: true\n\n") == said{});
  CHECK(events("data: ready\n\n") == said{});
  CHECK(events("event: ready\ndata: true\n") == said{});
  CHECK(events("event: Ready\n\n") == said{});
  CHECK(events("event: ready\nevent: other\n\n") == said{});
}

TEST_CASE("an answer that is no stream of events ends the try") {
  CHECK(read("HTTP/1.1 404 Not Found\r\n\r\n") == probe_answer::pending);
  CHECK(read("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n") == probe_answer::pending);
  CHECK(read("HTTP/1.1 2000 \r\n") == probe_answer::pending);
  CHECK(read("SSH-2.0-OpenSSH_9.2\r\n") == probe_answer::pending);
  CHECK(read("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nevent: ready\n\n") == probe_answer::pending);
  CHECK(read("HTTP/1.1 200 OK\r\n\r\nevent: ready\n\n") == probe_answer::pending);
  CHECK(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n") == probe_answer::pending);
  CHECK(read("HTTP/1.0 200\nCONTENT-TYPE:  Text/Event-Stream ; charset=utf-8\n\nevent: ready\n\n") == probe_answer::ready);
}

TEST_CASE("a stream is read to its bounds and not further") {
  CHECK(events(std::string(ready_events::most_line + 1, 'x')) == probe_answer::pending);
  CHECK(events(":" + std::string(ready_events::most_line - 1, 'x') + "\nevent: ready\n\n") == probe_answer::ready);
  std::string fields = "HTTP/1.1 200 OK\r\n";
  while (fields.size() <= ready_events::most_head) fields += "X-More: and more\r\n";
  CHECK(read(fields) == probe_answer::pending);
  std::string comments;
  while (comments.size() <= ready_events::most_bytes) comments += ": still here, nothing to say\n";
  CHECK(events(comments, 4096) == probe_answer::pending);
}

TEST_CASE("whether the head was good can be told before there is an event") {
  ready_events reader{"x"};
  CHECK_FALSE(reader.take(head.substr(0, head.size() - 2)));
  CHECK_FALSE(reader.is_open());
  CHECK_FALSE(reader.take("\r\n"));
  CHECK(reader.is_open());
}
