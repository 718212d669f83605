// What a client may send to the HTTP server: a connection as the listener makes it, in front of the real front ends, over
// a stream in memory. Whatever the bytes, the answers are well formed, and how the bytes were cut does not matter, except
// for what is refused last: a header without end may be noticed to be bad, or too large, or only cut off.
#include "../support/memory_stream.hpp"

#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/beast/http_connection.hpp>
#include <agones_alloc/beast/http_router.hpp>
#include <agones_alloc/beast/kubernetes_front_end.hpp>
#include <agones_alloc/beast/probes.hpp>
#include <agones_alloc/beast/rest_front_end.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace agones_alloc;

namespace {

void require(bool good, char const* what, std::string_view about = {}) {
  if (good) return;
  std::fprintf(stderr, "%s: %.*s\n", what, static_cast<int>(about.size()), about.data());
  std::abort();
}

/// Allocates on every second call.
class alternating_backend final : public allocation_backend {
 public:
  void allocate(call, handler done) override {
    allocation_result out;
    out.result = ++calls_ % 2 == 0 ? outcome::exhausted : outcome::allocated;
    if (out.result == outcome::allocated) {
      game_server server;
      server.meta.name = "gs1";
      server.meta.namespace_ = "default";
      server.status.state = game_server_state::allocated;
      server.status.ports = {{"default", 7777}};
      out.server = std::make_shared<game_server const>(std::move(server));
    }
    auto const executor = boost::asio::get_associated_executor(done);
    boost::asio::dispatch(executor, boost::asio::append(std::move(done), error_code{}, std::move(out)));
  }

 private:
  std::size_t calls_{0};
};

class owner final : public detail::http_session_owner {
 public:
  void closed(detail::http_session&) override { ++ends; }
  auto date() -> std::string_view override { return "Sun, 29 Nov 2026 12:43:08 GMT"; }
  int ends{0};
};

struct one_answer {
  std::string method;
  int status;
  bool refusal;  ///< of the protocol: nothing follows
  std::string text;
};

struct answers final : http_observer {
  void request(std::string_view route, std::string_view method, int status, std::chrono::nanoseconds) override {
    given.push_back({std::string{method}, status, route == "protocol", {}});
  }
  std::vector<one_answer> given;
};

void run(boost::asio::io_context& io) {
  io.restart();
  io.poll();
}

struct conversation {
  std::string output;
  std::vector<one_answer> given;
};

/// What a client gets that sends `input` in pieces of this size, then ends, then waits for longer than any limit.
auto converse(std::string_view input, std::size_t piece) -> conversation {
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  alternating_backend backend;
  front_end_options options;
  options.default_namespace = "default";
  kubernetes_front_end kubernetes{backend, time, options};
  rest_front_end rest{backend, time, options};
  probes live;
  http_router router{kubernetes};
  router.add("/gameserverallocation", rest, true);
  router.add("/live", live);
  answers seen;
  auto const host = std::make_shared<owner>();
  host->limits.header_bytes = 1024;
  host->limits.body_bytes = 4096;
  host->answerer = &router;
  host->time = &time;
  host->observer = &seen;
  auto const pipe = std::make_shared<test_support::memory_pipe>(io.get_executor());
  using connection = detail::http_connection<test_support::memory_stream>;
  std::make_shared<connection>(test_support::memory_stream{pipe}, host)->start();
  for (auto left = input; !left.empty(); left.remove_prefix(std::min(piece, left.size()))) {
    pipe->feed(left.substr(0, piece));
    run(io);
  }
  pipe->end_input();
  run(io);
  for (int i = 0; i != 20 && host->ends == 0; ++i) {
    time.advance_to_next();
    run(io);
  }
  require(host->ends == 1 && pipe->closed(), "the connection does not end");
  run(io);
  require(time.pending() == 0, "a wait outlives its connection");
  return {pipe->output(), std::move(seen.given)};
}

/// Takes the answers out of the text; what is left of `100 Continue` depends on how the request arrived.
auto read_answers(conversation heard) -> std::vector<one_answer> {
  static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  std::string_view rest = heard.output;
  for (auto& [method, status, refusal, text] : heard.given) {
    if (rest.starts_with(go_on)) rest.remove_prefix(go_on.size());
    boost::beast::http::response_parser<boost::beast::http::string_body> parser;
    parser.eager(true);
    if (method == "HEAD") parser.skip(true);
    boost::system::error_code ec;
    auto const used = parser.put(boost::asio::buffer(rest), ec);
    require(!ec && parser.is_done(), "an answer is not well formed", rest);
    require(parser.get().result_int() == static_cast<unsigned>(status), "an answer has not the status that was told", rest);
    require(status >= 200 && status < 600, "a status out of range", rest);
    require(status != 500, "input that breaks a front end", rest);
    text = rest.substr(0, used);
    require(!refusal || &text == &heard.given.back().text, "something follows a refusal", rest);
    rest.remove_prefix(used);
  }
  if (rest.starts_with(go_on)) rest.remove_prefix(go_on.size());
  require(rest.empty(), "more than the answers was sent", rest);
  return std::move(heard.given);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  if (size > 32 * 1024) return 0;
  std::string_view const input{reinterpret_cast<char const*>(data), size};
  auto at_once = read_answers(converse(input, std::max<std::size_t>(size, 1)));
  auto in_pieces = read_answers(converse(input, 1 + size % 13));
  auto& longer = at_once.size() > in_pieces.size() ? at_once : in_pieces;
  if (at_once.size() != in_pieces.size() && longer.back().refusal) longer.pop_back();
  require(at_once.size() == in_pieces.size(), "another number of answers when it comes in pieces", input);
  for (std::size_t i = 0; i != at_once.size(); ++i) {
    if (at_once[i].refusal && in_pieces[i].refusal) continue;
    require(at_once[i].text == in_pieces[i].text, "another answer when it comes in pieces", in_pieces[i].text);
  }
  return 0;
}
