// Endpoints that do not say what they speak: real TLS ports that choose by ALPN, and two remotes that write down who was called.
#include "../beast/certificates.hpp"

#include <agones_alloc/async/manual_timer.hpp>
#include <agones_alloc/beast/remote/remote_by_protocol.hpp>
#include <agones_alloc/beast/remote/remote_by_trying.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace agones_alloc;
using namespace std::chrono_literals;
using boost::asio::ip::tcp;

namespace {

/// Shakes hands and chooses `chosen` by ALPN, "" for none; then keeps the connection and says nothing. Silent: not even that.
class tls_port {
 public:
  using stream = boost::asio::ssl::stream<tcp::socket>;

  tls_port(boost::asio::io_context& io, beast_test::certificate_authority& ca, std::string protocol, bool is_silent = false)
      : chosen{std::move(protocol)}, acceptor_{io, {boost::asio::ip::address_v4::loopback(), 0}}, silent_{is_silent} {
    auto const pair = ca.issue({"server", "IP:127.0.0.1"});
    context_.use_certificate_chain(boost::asio::buffer(pair.certificate));
    context_.use_private_key(boost::asio::buffer(pair.key), boost::asio::ssl::context::pem);
    SSL_CTX_set_alpn_select_cb(
        context_.native_handle(),
        [](SSL*, unsigned char const** out, unsigned char* size, unsigned char const* offered, unsigned length, void* self) -> int {
          auto const& wanted = static_cast<tls_port*>(self)->chosen;
          for (unsigned at = 0; at < length; at += offered[at] + 1U) {
            if (std::string_view{reinterpret_cast<char const*>(offered + at + 1), offered[at]} != wanted) continue;
            *out = offered + at + 1;
            *size = offered[at];
            return SSL_TLSEXT_ERR_OK;
          }
          return SSL_TLSEXT_ERR_NOACK;
        },
        this);
    accept();
  }
  // Handlers that are on their way come later: they find `alive_` gone.
  ~tls_port() {
    SSL_CTX_set_alpn_select_cb(context_.native_handle(), nullptr, nullptr);
    boost::system::error_code ignored;
    for (auto const& one : open_) one->next_layer().close(ignored);
  }
  tls_port(tls_port const&) = delete;
  auto operator=(tls_port const&) -> tls_port& = delete;
  auto place() const -> std::string { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }
  void close() { acceptor_.close(); }

  std::string chosen;
  int handshakes{0};
  int accepted{0};
  std::size_t bytes{0};  ///< that came after a handshake

 private:
  void accept() {
    acceptor_.async_accept([this, alive = std::weak_ptr<int>{alive_}](boost::system::error_code ec, tcp::socket socket) {
      if (ec || alive.expired()) return;
      ++accepted;
      auto const one = std::make_shared<stream>(std::move(socket), context_);
      open_.push_back(one);
      if (!silent_) {
        one->async_handshake(stream::server, [this, one, alive](boost::system::error_code failed) {
          if (failed || alive.expired()) return;
          ++handshakes;
          auto const byte = std::make_shared<char>();
          one->async_read_some(boost::asio::buffer(byte.get(), 1), [this, one, byte, alive](boost::system::error_code closed, std::size_t n) {
            if (!closed && !alive.expired()) bytes += n;
          });
        });
      }
      accept();
    });
  }

  boost::asio::ssl::context context_{boost::asio::ssl::context::tls_server};
  tcp::acceptor acceptor_;
  bool silent_;
  std::vector<std::shared_ptr<stream>> open_;
  std::shared_ptr<int> alive_{std::make_shared<int>()};
};

/// Answers as it was told to, else as exhausted; while `holds`, only when it is cancelled.
struct scripted_remote final : connected_remote {
  explicit scripted_remote(boost::asio::any_io_executor e) : executor{std::move(e)} {}
  auto can_probe() const noexcept -> bool override { return true; }
  void close() override {}
  void do_allocate(remote_call call, handler done) override {
    calls.push_back(call.endpoint.str());
    remote_result out;
    out.result = outcome::exhausted;
    if (!answers.empty()) {
      out = answers.front();
      answers.pop_front();
    }
    if (holds) {
      held = std::make_unique<handler>(std::move(done));
      boost::asio::get_associated_cancellation_slot(*held).assign([this](boost::asio::cancellation_type) { finish({}); });
      return;
    }
    boost::asio::post(executor, [done = std::move(done), out = std::move(out)]() mutable { std::move(done)(std::move(out)); });
  }
  void finish(remote_result out) {
    boost::asio::post(executor, [done = std::move(held), out = std::move(out)]() mutable { std::move(*done)(std::move(out)); });
  }
  void do_probe(remote_call call, probe_handler done) override {
    probes.push_back(call.endpoint.str());
    boost::asio::post(executor, [done = std::move(done), words = probe_words]() mutable { std::move(done)(std::move(words)); });
  }
  void tell_endpoints(endpoints_handler done) override {
    boost::asio::post(executor, [done = std::move(done)]() mutable { std::move(done)(std::vector<remote_endpoint_state>{}); });
  }
  boost::asio::any_io_executor executor;
  std::deque<remote_result> answers;
  std::vector<std::string> calls;
  std::vector<std::string> probes;
  std::string probe_words;
  std::unique_ptr<handler> held;
  bool holds{false};
};

/// Two Secrets of one name: the test changes which is there.
struct changing_secret final : secret_source {
  explicit changing_secret(boost::asio::any_io_executor e) : executor{std::move(e)} {}
  void do_get(std::string, std::string name, handler done) override {
    error_code const ec = data.entries.empty() ? error_code{errc::not_found} : error_code{};
    auto out = data;
    if (ec) out.problem = "no " + name;
    boost::asio::post(executor, [done = std::move(done), ec, out = std::move(out)]() mutable { std::move(done)(ec, std::move(out)); });
  }
  boost::asio::any_io_executor executor;
  secret_data data;
};

struct pending_call {
  std::optional<remote_result> got;
  boost::asio::cancellation_signal stop;
};

struct trying {
  explicit trying(std::size_t endpoints = 256) {
    remote_by_trying_options options;
    options.endpoints = endpoints;
    tried.emplace(io.get_executor(), rest, grpc, &secrets, time, options);
    all.emplace(io.get_executor(), rest, &grpc, remote_protocol::by_trying, "", &*tried);
    new_secret();
  }
  ~trying() {
    tried.reset();
    io.restart();
    io.poll();
  }
  void new_secret() {
    auto const pair = ca.issue({"client", "", -3600, 3600, "", "clientAuth"});
    secrets.data.entries = {{"tls.crt", pair.certificate}, {"tls.key", pair.key}, {"ca.crt", ca.pem()}};
  }
  auto call(std::string const& endpoint) const -> remote_call {
    remote_call out;
    out.endpoint = endpoint;
    out.credentials = {"games", "east", {}};
    out.deadline = time.now() + 5min;
    return out;
  }
  auto ask(remote_call wanted) -> std::shared_ptr<pending_call> {
    auto out = std::make_shared<pending_call>();
    all->async_allocate(std::move(wanted), boost::asio::bind_cancellation_slot(out->stop.slot(), [out](remote_result r) {
                          CHECK_FALSE(out->got.has_value());
                          out->got.emplace(std::move(r));
                        }));
    CHECK_FALSE(out->got.has_value());
    return out;
  }
  auto ask(std::string const& endpoint) -> std::shared_ptr<pending_call> { return ask(call(endpoint)); }
  /// Not forever: a test that hangs says less than one that fails.
  template <class Done>
  void until(Done const& done) {
    io.restart();
    for (int i = 0; i != 2000 && !done(); ++i) io.run_one_for(10ms);
    if (!done()) throw std::runtime_error{"it does not happen"};
  }
  auto wait(std::shared_ptr<pending_call> const& one) -> remote_result {
    until([&] { return one->got.has_value(); });
    return *one->got;
  }
  auto told(std::string const& endpoint) -> remote_result { return wait(ask(endpoint)); }
  auto probe(std::string const& endpoint) -> std::string {
    std::optional<std::string> out;
    all->async_probe(call(endpoint), [&out](std::string words) { out = std::move(words); });
    until([&] { return out.has_value(); });
    return *out;
  }
  static auto answer(outcome result, int code) -> remote_result {
    remote_result out;
    out.result = result;
    out.code = code;
    return out;
  }

  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  manual_timer time{io.get_executor()};
  beast_test::certificate_authority ca{"everybody's authority"};
  changing_secret secrets{io.get_executor()};
  scripted_remote rest{io.get_executor()};
  scripted_remote grpc{io.get_executor()};
  std::optional<remote_by_trying> tried;
  std::optional<remote_by_protocol> all;
};

}  // namespace

TEST_CASE_FIXTURE(trying, "HTTP/2 is gRPC and all else is REST: found out by a handshake, without a request, and remembered") {
  for (auto const* const protocol : {"h2", "http/1.1", ""}) {
    CAPTURE(protocol);
    tls_port port{io, ca, protocol};
    bool const is_grpc = std::string_view{"h2"} == protocol;
    auto& wanted = is_grpc ? grpc : rest;
    auto& other = is_grpc ? rest : grpc;
    auto const before = wanted.calls.size();
    auto const others = other.calls.size();
    CHECK(probe(port.place()).empty());
    CHECK(wanted.probes.back() == port.place());
    for (int i = 0; i != 5; ++i) CHECK(told(port.place()).result == outcome::exhausted);
    CHECK(wanted.calls.size() == before + 5);
    CHECK(other.calls.size() == others);
    CHECK(port.accepted == 1);
    CHECK(port.bytes == 0);
  }
}

TEST_CASE_FIXTURE(trying, "an endpoint that says what it speaks is not tried") {
  tls_port port{io, ca, "h2"};
  told("https://" + port.place());
  CHECK(rest.calls.size() == 1);
  told("grpc://" + port.place());
  CHECK(grpc.calls.size() == 1);
  CHECK(port.accepted == 0);
}

TEST_CASE_FIXTURE(trying, "calls that come meanwhile wait for the one handshake; one that leaves, or whose time is up, leaves the others") {
  tls_port port{io, ca, "h2", true};
  auto soon = call(port.place());
  soon.deadline = time.now() + 1s;
  auto const first = ask(port.place());
  auto const leaves = ask(port.place());
  auto const late = ask(soon);
  until([&] { return port.accepted == 1; });
  leaves->stop.emit(boost::asio::cancellation_type::terminal);
  CHECK(wait(leaves).result == outcome::cancelled);
  time.advance(1s);
  CHECK(wait(late).result == outcome::deadline);
  CHECK_FALSE(first->got.has_value());
  time.advance(1s);  // two in all: what is silent is not waited for any longer
  auto const got = wait(first);
  CHECK(got.result == outcome::unavailable);
  CHECK(got.code == 0);
  CHECK(got.message == "no connection in time");
  CHECK(port.accepted == 1);
  CHECK(grpc.calls.empty());
  CHECK(rest.calls.empty());
}

TEST_CASE_FIXTURE(trying, "nobody there, no TLS, another authority, a Secret that is missing: unavailable, in words, and nobody is called") {
  tls_port closed{io, ca, "h2"};
  closed.close();
  beast_test::certificate_authority other{"another authority"};
  tls_port strange{io, other, "h2"};
  tcp::acceptor plain{io, {boost::asio::ip::address_v4::loopback(), 0}};
  plain.async_accept([](boost::system::error_code, tcp::socket socket) {
    boost::system::error_code ignored;
    socket.write_some(boost::asio::buffer("HTTP/1.1 400 Bad Request\r\n\r\n", 28), ignored);
    socket.shutdown(tcp::socket::shutdown_send, ignored);
  });
  tcp::acceptor gone{io, {boost::asio::ip::address_v4::loopback(), 0}};
  auto const dead = "127.0.0.1:" + std::to_string(gone.local_endpoint().port());
  gone.close();
  for (auto const& place : {dead, strange.place(), "127.0.0.1:" + std::to_string(plain.local_endpoint().port())}) {
    CAPTURE(place);
    auto const got = told(place);
    CHECK(got.result == outcome::unavailable);
    CHECK_FALSE(got.message.empty());
    CHECK_FALSE(got.whole_cluster);
    CHECK_FALSE(probe(dead).empty());
  }
  CHECK(told("a b").message == "endpoint \"a b\": is no host or address with or without a port");
  tls_port good{io, ca, "h2"};
  auto wanted = call(good.place());
  wanted.credentials.secret = "west";
  secrets.data.entries.clear();
  auto const got = wait(ask(wanted));
  CHECK(got.result == outcome::unavailable);
  CHECK(got.whole_cluster);
  CHECK(got.message == "secret west: no west");
  CHECK(grpc.calls.empty());
  CHECK(rest.calls.empty());
}

TEST_CASE_FIXTURE(trying, "HTTP/2 without gRPC: the same call goes on over REST, once, and later ones do so at once") {
  tls_port port{io, ca, "h2"};
  grpc.answers.push_back(answer(outcome::unavailable, 501));
  rest.answers.push_back(answer(outcome::allocated, 200));
  CHECK(told(port.place()).result == outcome::allocated);
  CHECK(told(port.place()).result == outcome::exhausted);
  CHECK(grpc.calls.size() == 1);
  CHECK(rest.calls.size() == 2);
  CHECK(port.accepted == 1);
  // Neither speaks it: the end, and next time it is found out anew.
  rest.answers.push_back(answer(outcome::unavailable, 404));
  CHECK(told(port.place()).code == 404);
  CHECK(grpc.calls.size() == 1);
  CHECK(told(port.place()).result == outcome::exhausted);
  CHECK(grpc.calls.size() == 2);
  CHECK(port.accepted == 2);
}

TEST_CASE_FIXTURE(trying, "what may have been executed is never sent again, by either protocol; the protocol is found out anew afterwards") {
  for (auto const code : {0, 500, 501, 504}) {
    CAPTURE(code);
    tls_port port{io, ca, "h2"};
    auto const before = grpc.calls.size();
    grpc.answers.push_back(answer(outcome::unknown, code));
    CHECK(told(port.place()).result == outcome::unknown);
    CHECK(grpc.calls.size() == before + 1);
    port.chosen = "http/1.1";
    auto const others = rest.calls.size();
    CHECK(told(port.place()).result == outcome::exhausted);
    CHECK(rest.calls.size() == others + 1);
    CHECK(port.accepted == 2);
  }
}

TEST_CASE_FIXTURE(trying, "no connection is a reason to find it out anew; an answer is not") {
  tls_port port{io, ca, "http/1.1"};
  for (auto const& kept : {answer(outcome::unavailable, 503), answer(outcome::contention, 409), answer(outcome::refused, 403),
                           answer(outcome::invalid, 400), answer(outcome::unavailable, 429)}) {
    rest.answers.push_back(kept);
    told(port.place());
  }
  told(port.place());
  CHECK(port.accepted == 1);
  port.chosen = "h2";
  rest.answers.push_back(answer(outcome::unavailable, 0));
  CHECK(told(port.place()).result == outcome::unavailable);
  CHECK(grpc.calls.empty());
  told(port.place());
  CHECK(grpc.calls.size() == 1);
  CHECK(port.accepted == 2);
  grpc.probe_words = "no answer";
  CHECK(probe(port.place()) == "no answer");
  grpc.probe_words.clear();
  told(port.place());
  CHECK(port.accepted == 3);
}

TEST_CASE_FIXTURE(trying, "other credentials: found out anew; the same ones read again: not") {
  tls_port port{io, ca, "h2"};
  told(port.place());
  time.advance(61s);
  told(port.place());  // the Secret is read behind this call
  until([&] { return io.poll_one() == 0; });
  told(port.place());
  CHECK(port.accepted == 1);
  new_secret();
  time.advance(61s);
  told(port.place());
  for (int i = 0; i != 1000 && port.accepted == 1; ++i) told(port.place());
  told(port.place());
  CHECK(port.accepted == 2);
}

TEST_CASE("what is remembered is bounded: the endpoint unused for longest goes") {
  trying t{1};
  tls_port one{t.io, t.ca, "h2"};
  tls_port two{t.io, t.ca, "http/1.1"};
  for (int i = 0; i != 3; ++i) {
    t.told(one.place());
    t.told(two.place());
  }
  CHECK(t.grpc.calls.size() == 3);
  CHECK(t.rest.calls.size() == 3);
  CHECK(one.accepted == 3);
  CHECK(two.accepted == 3);
}

TEST_CASE_FIXTURE(trying, "who leaves takes the call along, and closing ends what waits") {
  tls_port port{io, ca, "h2"};
  grpc.holds = true;
  auto const leaves = ask(port.place());
  until([&] { return grpc.calls.size() == 1; });
  leaves->stop.emit(boost::asio::cancellation_type::terminal);
  wait(leaves);
  tls_port silent{io, ca, "h2", true};
  auto const waits = ask(silent.place());
  until([&] { return silent.accepted == 1; });
  all->close();
  CHECK(wait(waits).result == outcome::cancelled);
  CHECK(told(port.place()).result == outcome::cancelled);
  CHECK(grpc.calls.size() == 1);
}

TEST_CASE("options out of range are named") {
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  scripted_remote remote{io.get_executor()};
  auto const make = [&](remote_by_trying_options options) {
    remote_by_trying{io.get_executor(), remote, remote, nullptr, time, options};
  };
  CHECK_THROWS_WITH_AS(make({.connect_time = 0s}), "remote_by_trying_options::connect_time is out of range", std::invalid_argument);
  CHECK_THROWS_WITH_AS(make({.endpoints = 0}), "remote_by_trying_options::endpoints is out of range", std::invalid_argument);
}
