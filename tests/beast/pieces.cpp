// Small parts of the front ends: media types, queries, durations, header texts, routing, probes.
#include "front_end_fixture.hpp"

#include <agones_alloc/beast/breakdown_header.hpp>
#include <agones_alloc/beast/cross_origin.hpp>
#include <agones_alloc/beast/detail/wanted_form.hpp>
#include <agones_alloc/beast/http_head.hpp>
#include <agones_alloc/beast/http_router.hpp>
#include <agones_alloc/beast/media_type.hpp>
#include <agones_alloc/beast/outcome_answer.hpp>
#include <agones_alloc/beast/probes.hpp>
#include <agones_alloc/beast/query_string.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace agones_alloc;
using namespace beast_test;

TEST_CASE("query parameters are decoded, repeated, or absent") {
  using list = std::vector<std::string>;
  CHECK(query_values("a=1&b=2&a=3", "a") == list{"1", "3"});
  CHECK(query_values("a%20b=c+d%2B", "a b") == list{"c d+"});
  CHECK(query_values("a", "a") == list{""});
  CHECK(query_values("a=b=c", "a") == list{"b=c"});
  CHECK(query_values("a=%zz&a=%4", "a") == list{"%zz", "%4"});
  CHECK(query_values("", "a").empty());
  CHECK(query_values("&&=&", "a").empty());
  CHECK(percent_decoded("a+b%2f") == "a+b/");
  CHECK_FALSE(percent_decoded("%"));
  CHECK_FALSE(percent_decoded("%f"));
}

TEST_CASE("durations are read as Go and gRPC write them") {
  using namespace std::chrono_literals;
  CHECK(parse_go_duration("5s") == 5s);
  CHECK(parse_go_duration("1h2m3s4ms5us6ns") == 1h + 2min + 3s + 4ms + 5us + 6ns);
  CHECK(parse_go_duration("1.5s") == 1500ms);
  CHECK(parse_go_duration(".5s") == 500ms);
  CHECK(parse_go_duration("0") == 0ns);
  for (auto const* bad : {"", "5", "s", ".s", "-5s", "5 s", "5s ", "1e3s", "99999999999999999999h"}) CHECK_FALSE(parse_go_duration(bad));
  CHECK(parse_grpc_timeout("10S") == 10s);
  CHECK(parse_grpc_timeout("2H") == 2h);
  CHECK(parse_grpc_timeout("3M") == 3min);
  CHECK(parse_grpc_timeout("4m") == 4ms);
  CHECK(parse_grpc_timeout("5u") == 5us);
  CHECK(parse_grpc_timeout("99999999n") == 99999999ns);
  CHECK(parse_grpc_timeout("99999999H") == 365 * 24h);
  for (auto const* bad : {"", "S", "1", "1s", "123456789S", "1.5S", "-1S"}) CHECK_FALSE(parse_grpc_timeout(bad));
}

TEST_CASE("a breakdown fits in a header field: printable, bounded, one list per selector") {
  breakdown b;
  b.selectors = {{{"namespace default", 12}, {"label a\r\nb=\xc3\xa4", 0}}, {{"namespace default", 12}}};
  CHECK(breakdown_text(b) == "namespace default=12; label a??b=?\?=0 | namespace default=12");
  CHECK(breakdown_text({}).empty());
  breakdown many;
  many.selectors.resize(1000, {{std::string(50, 'x'), 1}});
  CHECK(breakdown_text(many).size() == 1024);
  CHECK(breakdown_text(many).ends_with("..."));
}

TEST_CASE("a field of any limit holds no more than that") {
  CHECK(field_text("a\tb") == "a?b");
  CHECK(field_text("abcd", 4) == "abcd");
  CHECK(field_text("abcde", 4) == "a...");
  CHECK(field_text("abcde", 2).empty());
  CHECK(field_text("abcde", 0).empty());
}

TEST_CASE("an answer's fields say what each cluster said, and which actions were not applied") {
  auto const fields_of = [](allocation_result const& result) {
    http_response out;
    add_outcome_fields(out, result);
    std::string text;
    for (auto const& [name, value] : out.headers) text.append(name).append(": ").append(value).append("\n");
    return text;
  };
  using namespace std::chrono_literals;
  allocation_result result;
  result.result = outcome::exhausted;
  result.multi_cluster = true;
  result.attempts.push_back({{}, "", "", outcome::exhausted, "", 0ms});
  result.attempts.push_back({{}, "east", "e1", outcome::refused, "no\r\nX: y", 12ms});
  CHECK(fields_of(result) == "Agones-Alloc-Attempts: this cluster: exhausted, 0 ms; east at e1: refused, 12 ms (no??X: y)\n");
  result.multi_cluster = false;
  CHECK(fields_of(result).empty());
  result.multi_cluster = true;
  result.result = outcome::allocated;
  result.attempts = std::vector<attempt>{{{}, "east", "e1", outcome::allocated, "", 3ms}};
  CHECK(fields_of(result).empty());
  result.counter_errors.push_back("no counter");
  result.list_errors.push_back("no list");
  CHECK(fields_of(result) == "Agones-Alloc-Action-Errors: no counter; no list\n");
  result.attempts = std::vector<attempt>(100, {{}, "east", "e1", outcome::unavailable, std::string(500, 'x'), 3ms});
  auto const many = fields_of(result);
  CHECK(many.find("; and more") == std::string::npos);  // cut before that
  CHECK(many.size() < 1200);
}

TEST_CASE("dates and heads are written as RFC 9110 wants them") {
  CHECK(http_date(std::chrono::sys_seconds{std::chrono::seconds{784111777}}) == "Sun, 06 Nov 1994 08:49:37 GMT");
  http_response response;
  response.status = 404;
  response.content_type = "a/b";
  response.body = "xyz";
  std::string head;
  append_head(head, response, "D", true, false);
  CHECK(head == "HTTP/1.1 404 Not Found\r\nDate: D\r\nContent-Length: 3\r\nContent-Type: a/b\r\n\r\n");
}

TEST_CASE("an origin is what browsers send") {
  for (auto const* text : {"https://play.example", "http://localhost:3000", "http://10.0.0.1", "http://[::1]", "http://[fe80::1]:8080", "http://a:443",
                           "https://a:80", "https://a:65535", "https://xn--bcher-kva.example", "http://a_b.c-d", "chrome-extension://abc"}) {
    CAPTURE(text);
    CHECK(is_origin(text));
  }
  for (auto const* text : {"", "null", "*", "://", "https://", "://a", "a", "a:80", "https:/a", "https://a/", "https://a?b", "https://a#b", "https://u@a",
                           "https://A", "Https://a", "https://*.a", "https://a:443", "http://a:80", "http://a:", "http://a:0", "http://a:080",
                           "http://a:-1", "http://a:1x", "http://a:65536", "http://a:99999999999", "http://[::1", "http://[]", "http://[::1]x",
                           "http://::1", "http://a b", "http://a\n", " https://a"}) {
    CAPTURE(text);
    CHECK_FALSE(is_origin(text));
  }
}

TEST_CASE("a stream is wanted where Accept has it before JSON, by quality and then by order") {
  using form = detail::wanted_form;
  CHECK(detail::form_of("") == form::json);
  CHECK(detail::form_of("*/*") == form::json);
  CHECK(detail::form_of("text/event-stream") == form::events);
  CHECK(detail::form_of("TEXT/Event-Stream; charset=utf-8") == form::events);
  CHECK(detail::form_of("text/event-stream, application/json") == form::events);
  CHECK(detail::form_of("application/json, text/event-stream") == form::json);
  CHECK(detail::form_of("application/json;q=0.5, text/event-stream") == form::events);
  CHECK(detail::form_of("text/event-stream;q=0.1, application/json") == form::json);
  CHECK(detail::form_of("text/event-stream;q=0.0, */*") == form::json);
  CHECK(detail::form_of("text/event-stream;q=0") == form::other);
  CHECK(detail::form_of("text/html") == form::other);
}

TEST_CASE("a status has its phrase, also one that only a webhook or a store would choose") {
  CHECK(reason_phrase(202) == "Accepted");
  CHECK(reason_phrase(402) == "Payment Required");
  CHECK(reason_phrase(412) == "Precondition Failed");
  CHECK(reason_phrase(422) == "Unprocessable Content");
  CHECK(reason_phrase(451) == "Unavailable For Legal Reasons");
  CHECK(reason_phrase(508) == "Loop Detected");
  CHECK(reason_phrase(599) == "Unknown");
}

TEST_CASE("the longest route wins, and the fallback takes the rest") {
  struct named final : http_handler {
    explicit named(std::string n) : name{std::move(n)} {}
    void handle(http_request const&, reply done) override { std::move(done)(text_response(200, name)); }
    std::string name;
  };
  named rest{"rest"}, live{"live"}, other{"other"}, deep{"deep"};
  http_router router{other};
  router.add("/rest", rest, true);
  router.add("/rest/deep", deep);
  router.add("/live", live);
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  http_listener listener{io.get_executor(), router, time};
  REQUIRE_FALSE(listener.listen("127.0.0.1", 0));
  raw_client client{io, listener.port()};
  auto const ask = [&](std::string_view target) { return client.ask(request_text("GET", target, "", "")).body; };
  CHECK(ask("/rest") == "rest\n");
  CHECK(ask("/rest/") == "rest\n");
  CHECK(ask("/rest/deep") == "deep\n");
  CHECK(ask("/live?full=1") == "live\n");
  CHECK(ask("/live/") == "other\n");
  CHECK(ask("/") == "other\n");
}

TEST_CASE("probes answer 200 or 503, list their checks on demand, and know GET and HEAD only") {
  std::string trouble;
  bool stopping = false;
  probes p;
  p.add_live("allocator", [&] { return trouble; });
  p.add_ready("server", [&] { return stopping ? std::string{"asked to shut down, failed readiness check"} : std::string{}; });
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  http_listener listener{io.get_executor(), p, time};
  REQUIRE_FALSE(listener.listen("127.0.0.1", 0));
  raw_client client{io, listener.port()};
  auto const ask = [&](std::string_view target) { return client.ask(request_text("GET", target, "", "")); };

  CHECK(ask("/live").status == 200);
  CHECK(ask("/live").body == "{}\n");
  CHECK(ask("/live").field("content-type") == "application/json; charset=utf-8");
  CHECK(ask("/ready?full=1").body == "{\"allocator\":\"OK\",\"server\":\"OK\"}\n");
  stopping = true;
  CHECK(ask("/live").status == 200);
  CHECK(ask("/ready").status == 503);
  CHECK(ask("/ready").body == "{}\n");
  CHECK(ask("/ready?full=1").body == "{\"allocator\":\"OK\",\"server\":\"asked to shut down, failed readiness check\"}\n");
  stopping = false;
  trouble = "want 1 worker goroutine(s), got 0";
  CHECK(ask("/live?full=1").body == "{\"allocator\":\"want 1 worker goroutine(s), got 0\"}\n");
  CHECK(ask("/ready").status == 503);
  CHECK(client.ask(request_text("POST", "/live", "", "{}")).status == 405);
  CHECK(client.ask(request_text("HEAD", "/live", "", ""), true).status == 503);
}
