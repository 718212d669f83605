// `/v1/fleets` and `/v1/gameservers` over real sockets: pages, tags, streams, who may look where.
#include "fed_directory.hpp"
#include "front_end_fixture.hpp"

#include <agones_alloc/beast/fleets/event_reader.hpp>
#include <agones_alloc/beast/fleets/fleets_front_end.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

using namespace agones_alloc;
using namespace beast_test;
using namespace std::chrono_literals;

namespace {

/// A stream's events, as they come.
class listening {
 public:
  listening(boost::asio::io_context& io, std::uint16_t port, std::string_view target = "/v1/fleets", std::string_view fields = {})
      : io_{&io}, socket_{io} {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    boost::asio::write(socket_, boost::asio::buffer(request_text(
        "GET", target, "Accept: text/event-stream\r\n" + std::string{fields}, "")));
    read();
    run_until(io, [this] { return text_.find("\r\n\r\n") != std::string::npos || over_; });
    head_ = text_.substr(0, text_.find("\r\n\r\n") + 4);
    text_.erase(0, head_.size());
    take();
  }
  ~listening() { socket_.close(); settle(*io_); }

  auto head() const -> std::string const& { return head_; }
  auto over() const -> bool { return over_; }
  /// Waits until an event of that kind came, and takes all up to it: their kinds.
  auto until(std::string_view what) -> std::vector<std::string> {
    std::vector<std::string> out;
    run_until(*io_, [&] { return find(what) != events_.size(); });
    auto const end = find(what);
    for (std::size_t i = 0; i <= end; ++i) out.push_back(events_[i].what);
    last = events_[end];
    events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(end) + 1);
    return out;
  }
  void until_over() { run_until(*io_, [this] { return over_; }); }
  auto waiting() const -> std::size_t { return events_.size(); }

  server_sent_event last;

 private:
  auto find(std::string_view what) const -> std::size_t {
    std::size_t i = 0;
    while (i != events_.size() && events_[i].what != what) ++i;
    return i;
  }
  void read() {
    socket_.async_read_some(boost::asio::buffer(chunk_), [this](boost::system::error_code ec, std::size_t size) {
      if (ec == boost::asio::error::operation_aborted) return;
      over_ = static_cast<bool>(ec);
      text_.append(chunk_, size);
      if (!head_.empty()) take();
      if (!ec) read();
    });
  }
  /// Chunks, joined.
  void take() {
    for (;;) {
      auto const line = text_.find("\r\n");
      if (line == std::string::npos) return;
      auto const size = std::stoul(text_.substr(0, line), nullptr, 16);
      if (text_.size() < line + 4 + size) return;
      auto const body = text_.substr(line + 2, size);
      text_.erase(0, line + 4 + size);
      std::string_view rest{body};
      while (auto event = reader_.next(rest)) events_.push_back(*std::move(event));
    }
  }

  boost::asio::io_context* io_;
  boost::asio::ip::tcp::socket socket_;
  char chunk_[4096];
  std::string text_;
  std::string head_;
  event_reader reader_{1U << 20U};
  std::vector<server_sent_event> events_;
  bool over_{false};
};

struct fleets_fixture : fed_directory {
  explicit fleets_fixture(front_end_options options = {}) : front_end{directory, time, std::move(options), few_streams()} {
    REQUIRE_FALSE(listener.listen("127.0.0.1", 0));
    settle(io);
  }
  ~fleets_fixture() {
    listener.close();
    settle(io);
  }
  auto get(std::string_view target, std::string_view fields = {}) -> answer {
    raw_client client{io, listener.port()};
    return client.ask(request_text("GET", target, fields, ""));
  }

  fleets_front_end front_end;
  http_listener listener{io.get_executor(), front_end, time};
};

}  // namespace

TEST_CASE_FIXTURE(fleets_fixture, "a page has fleets, clusters, a token, and goes on where it is told") {
  put("a", game_server_state::ready, "one");
  put("b", game_server_state::allocated, "two");
  auto first = get("/v1/fleets?limit=1");
  CHECK(first.status == 200);
  CHECK(first.field("content-type") == "application/json");
  CHECK(json_at(first.body, "/fleets/0/fleetName") == "\"one\"");
  CHECK(json_at(first.body, "/fleets/1").empty());
  CHECK(json_at(first.body, "/fleets/0/recount/readyGameservers") == "1");
  CHECK(json_at(first.body, "/clusters/0/clusterName") == "\"local\"");
  CHECK(json_at(first.body, "/token").starts_with("\"run1-"));
  auto token = json_at(first.body, "/continue");
  auto const second = get("/v1/fleets?limit=1&continue=" + token.substr(1, token.size() - 2));
  CHECK(json_at(second.body, "/fleets/0/fleetName") == "\"two\"");
  CHECK(json_at(second.body, "/continue").empty());
}

TEST_CASE_FIXTURE(fleets_fixture, "an answer that has not changed is 304") {
  put("a", game_server_state::ready);
  auto const tag = get("/v1/fleets").field("etag");
  CHECK(tag.starts_with("W/\"run1-"));
  auto same = get("/v1/fleets", "If-None-Match: \"x\", " + tag + "\r\n");
  CHECK(same.status == 304);
  CHECK(same.body.empty());
  CHECK(get("/v1/fleets", "If-None-Match: *\r\n").status == 304);
  CHECK(get("/v1/fleets?include=nodes", "If-None-Match: " + tag + "\r\n").status == 200);
  put("a", game_server_state::allocated);
  CHECK(get("/v1/fleets", "If-None-Match: " + tag + "\r\n").status == 200);
}

TEST_CASE_FIXTURE(fleets_fixture, "a page that is asked for again and again is the same, until something changes") {
  put("a", game_server_state::ready, "one");
  put("b", game_server_state::ready, "two");
  auto const first = get("/v1/fleets").body;
  for (int i = 0; i != 3; ++i) CHECK(get("/v1/fleets").body == first);
  for (int i = 0; i != 3; ++i) {
    CHECK(json_at(get("/v1/fleets?limit=1").body, "/fleets/1").empty());
    CHECK(!json_at(get("/v1/fleets?include=nodes").body, "/fleets/0/recount/nodes").empty());
    CHECK(get("/v1/fleets").body == first);
  }
  put("a", game_server_state::allocated, "one");
  for (int i = 0; i != 3; ++i) CHECK(json_at(get("/v1/fleets").body, "/fleets/0/recount/allocatedGameservers") == "1");
  for (int i = 0; i != 3; ++i) CHECK(json_at(get("/v1/fleets?limit=2").body, "/continue").empty());
  put("c", game_server_state::ready, "three");
  for (int i = 0; i != 3; ++i) CHECK(!json_at(get("/v1/fleets?limit=2").body, "/continue").empty());
}

TEST_CASE_FIXTURE(fleets_fixture, "what is wrong with a request is told with the parameter's name") {
  auto const message = [&](std::string_view target, int status = 400) {
    auto const got = get(target);
    CHECK(got.status == status);
    CHECK(json_at(got.body, "/code") == std::to_string(status));
    auto text = json_at(got.body, "/message");
    return text.substr(1, text.size() - 2);
  };
  CHECK(message("/v1/fleets?limit=0") == "limit: a number from 1 to 10000 is wanted");
  CHECK(message("/v1/fleets?limit=1&limit=2") == "limit: is given twice");
  CHECK(message("/v1/fleets?labelselector=a") == "labelselector: is no parameter of this path");
  CHECK(message("/v1/fleets?labelSelector=a+b") == "labelSelector: one of =, ==, !=, in, notin is wanted at character 4");
  CHECK(message("/v1/fleets?labelSelector=-a%3Db").starts_with("labelSelector: key: Invalid value"));
  CHECK(message("/v1/fleets?include=node") == "include: nodes and annotations can be included");
  CHECK(message("/v1/fleets?continue=zz") == "continue: is no token of this server");
  CHECK(message("/v1/fleets?multiCluster=1") == "multiCluster: true or false is wanted");
  CHECK(message("/v1/fleets?cluster=%zz").starts_with("cluster: is badly encoded"));
  CHECK(message("/v1/gameservers") == "namespace: must not be empty");
  CHECK(message("/v1/gameservers?namespace=default&continue=0") == "continue: is no token of this server");
  CHECK(message("/v1/fleetsx", 404) == "there is no such path");
  CHECK(get("/v1/fleets", "Accept: image/png\r\n").status == 406);
  CHECK(get("/v1/fleets", "Agones-Alloc-Hops: 99\r\n").status == 508);
  CHECK(get("/v1/fleets", "Agones-Alloc-Hops: x\r\n").status == 400);
  raw_client client{io, listener.port()};
  CHECK(client.ask(request_text("POST", "/v1/fleets", "", "{}")).status == 405);
}

TEST_CASE_FIXTURE(fleets_fixture, "servers of a fleet are told without their spec, page by page") {
  for (auto const* name : {"b", "a", "c"}) put(name, game_server_state::ready);
  put("x", game_server_state::ready, "other");
  auto const first = get("/v1/gameservers?namespace=default&fleet=fleet&limit=2");
  CHECK(first.status == 200);
  CHECK(json_at(first.body, "/gameServers/0/metadata/name") == "\"a\"");
  CHECK(json_at(first.body, "/gameServers/0/status/state") == "\"Ready\"");
  auto token = json_at(first.body, "/continue");
  auto const second = get("/v1/gameservers?namespace=default&fleet=fleet&limit=2&continue=" + token.substr(1, token.size() - 2));
  CHECK(json_at(second.body, "/gameServers/0/metadata/name") == "\"c\"");
  CHECK(json_at(second.body, "/continue").empty());
}

TEST_CASE_FIXTURE(fleets_fixture, "a stream tells the state, then changes at once, and goes on from its last id") {
  put("a", game_server_state::ready, "one");
  std::string id;
  {
    listening stream{io, listener.port()};
    CHECK(stream.head().find("text/event-stream") != std::string::npos);
    CHECK(stream.head().find("Transfer-Encoding: chunked") != std::string::npos);
    CHECK(stream.until("SYNCED") == std::vector<std::string>{"CLUSTER_STATUS", "SNAPSHOT_ITEM", "SYNCED"});
    CHECK(json_at(stream.last.data, "/token") == "\"" + stream.last.id + "\"");
    pass(1s);
    put("a", game_server_state::allocated, "one");
    CHECK(stream.until("MODIFIED").size() == 1);
    CHECK(json_at(stream.last.data, "/fleet/recount/allocatedGameservers") == "1");
    id = stream.last.id;
    CHECK(front_end.counts().open == 1);
  }
  run_until(io, [&] { return front_end.counts().open == 0; });
  pass(1s);
  put("b", game_server_state::ready, "two");
  directory.erased({"default", "a"}, {});
  settle(io);
  pass(1s);
  listening resumed{io, listener.port(), "/v1/fleets", "Last-Event-ID: " + id + "\r\n"};
  auto const heard = resumed.until("DELETED");
  CHECK(heard == std::vector<std::string>{"ADDED", "DELETED"});
  CHECK(resumed.last.data == R"({"fleet":{"clusterName":"local","namespace":"default","fleetName":"one"}})");
  listening lost{io, listener.port(), "/v1/fleets?resume=other-1"};
  CHECK(lost.until("SYNCED").front() == "RESET");
}

TEST_CASE_FIXTURE(fleets_fixture, "streams have heartbeats, a bound on their number, and an end") {
  put("a", game_server_state::ready);
  listening one{io, listener.port()};
  listening two{io, listener.port()};
  one.until("SYNCED");
  two.until("SYNCED");
  auto const third = get("/v1/fleets", "Accept: text/event-stream\r\n");
  CHECK(third.status == 503);
  CHECK(third.field("retry-after") == "5");
  CHECK(front_end.counts().refused == 1);
  pass(5s);
  pass(5s);
  CHECK(one.until("HEARTBEAT").size() == 1);
  for (int i = 0; i != 1000 && !one.over(); ++i) pass(5s);
  one.until_over();
  CHECK(front_end.counts().open == 0);
}

TEST_CASE_FIXTURE(fleets_fixture, "many streams at one place are told the same bytes, which are written once") {
  put("a", game_server_state::ready);
  listening one{io, listener.port()};
  listening two{io, listener.port()};
  one.until("SYNCED");
  two.until("SYNCED");
  auto const before = front_end.counts().events;
  for (int i = 0; i != 20; ++i) {
    pass(1s);
    put("a", i % 2 == 0 ? game_server_state::allocated : game_server_state::ready);
    one.until("MODIFIED");
  }
  run_until(io, [&] { return two.waiting() == 20; });
  CHECK(front_end.counts().events - before == 20);  // written once for both
}

TEST_CASE_FIXTURE(fleets_fixture, "a server that stops ends its streams as agreed") {
  listening stream{io, listener.port()};
  stream.until("SYNCED");
  bool drained = false;
  listener.async_drain(time.now() + 10s, [&](error_code ec) { drained = !ec; });
  stream.until_over();
  for (int i = 0; i != 20 && !drained; ++i) pass(1s);
  CHECK(drained);
}

TEST_CASE("a caller sees the namespaces where they may allocate, and no others") {
  front_end_options options;
  options.may_allocate = [](http_request const& request, std::string_view ns) { return request.header("X-Who") == ns; };
  fleets_fixture f{options};
  f.put("a", game_server_state::ready, "mine", "red");
  f.put("b", game_server_state::ready, "theirs", "blue");
  auto const got = f.get("/v1/fleets", "X-Who: red\r\n");
  CHECK(json_at(got.body, "/fleets/0/fleetName") == "\"mine\"");
  CHECK(json_at(got.body, "/fleets/1").empty());
  CHECK(f.get("/v1/fleets?namespace=blue", "X-Who: red\r\n").status == 403);
  CHECK(f.get("/v1/gameservers?namespace=blue", "X-Who: red\r\n").status == 403);
  CHECK(f.get("/v1/gameservers?namespace=red", "X-Who: red\r\n").status == 200);
  listening stream{f.io, f.listener.port(), "/v1/fleets", "X-Who: blue\r\n"};
  CHECK(stream.until("SYNCED").size() == 3);
  f.pass(1s);
  f.put("c", game_server_state::ready, "mine", "red");
  f.put("d", game_server_state::ready, "theirs", "blue");
  stream.until("MODIFIED");
  CHECK(json_at(stream.last.data, "/fleet/fleetName") == "\"theirs\"");
}

TEST_CASE("events are read however their bytes are cut") {
  std::string const text = ": comment\r\nid: 7\r\nevent: A\r\ndata: one\r\ndata:two\r\n\r\ndata\n\nretry: 5\n\nevent: B\nid\ndata: x\n\n";
  for (std::size_t size = 1; size != text.size(); ++size) {
    event_reader reader{100};
    std::vector<server_sent_event> got;
    for (std::size_t at = 0; at < text.size(); at += size) {
      auto chunk = std::string_view{text}.substr(at, size);
      while (auto event = reader.next(chunk)) got.push_back(*std::move(event));
    }
    REQUIRE(got.size() == 3);
    CHECK(got[0].what == "A");
    CHECK(got[0].data == "one\ntwo");
    CHECK(got[0].id == "7");
    CHECK(got[1].what == "message");
    CHECK(got[1].data.empty());
    CHECK(got[2].what == "B");
    CHECK(got[2].id.empty());
  }
  event_reader reader{10};
  std::string_view large{"data: 0123456789abcdef\n\n"};
  CHECK_FALSE(reader.next(large).has_value());
  CHECK(reader.failed());
}
