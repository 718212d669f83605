// The REST remote allocator against a server that does what the test says.
#include "../support/servers.hpp"
#include "certificates.hpp"
#include "client_fixture.hpp"

#include <agones_alloc/beast/remote/rest_remote_allocator.hpp>
#include <agones_alloc/json/parse.hpp>

using namespace beast_test;
using test_support::fleet_allocation;

namespace {

constexpr std::string_view allocated_body = R"({"gameServerName":"far","ports":[],"address":"1.2.3.4","source":"local"})";

/// One Secret, which the test may change.
struct one_secret final : secret_source {
  explicit one_secret(boost::asio::any_io_executor e) : executor{std::move(e)} {}
  void do_get(std::string, std::string name, handler done) override {
    ++asked;
    secret_data out = data;
    error_code const ec = out.entries.empty() ? error_code{errc::not_found} : error_code{};
    if (ec) out.problem = "no " + name;
    boost::asio::post(executor, [done = std::move(done), ec, out = std::move(out)]() mutable { std::move(done)(ec, std::move(out)); });
  }
  boost::asio::any_io_executor executor;
  secret_data data;
  int asked{0};
};

struct pending {
  std::optional<remote_result> got;
  boost::asio::cancellation_signal stop;
};

struct remote_fixture {
  explicit remote_fixture(boost::asio::ssl::context* tls = nullptr, rest_remote_options options = {}) : server{io, tls} {
    options.allow_plaintext = tls == nullptr;
    options.log = &log;
    remote.emplace(io.get_executor(), &secrets, time, options);
    endpoint = (tls == nullptr ? "http://127.0.0.1:" : "127.0.0.1:") + std::to_string(server.port());
  }
  ~remote_fixture() {
    remote.reset();
    settle(io);
    CHECK(time.pending() == 0);
    server.close_all();
  }
  auto call() -> remote_call {
    remote_call out;
    out.cluster = "east";
    out.endpoint = endpoint;
    out.namespace_ = "games";
    out.allocation = std::make_shared<game_server_allocation const>(
        test_support::compile_request(fleet_allocation())->allocation());
    out.deadline = time.now() + 10s;
    out.request_id = "id-1";
    return out;
  }
  auto ask(remote_call c) -> std::shared_ptr<pending> {
    auto out = std::make_shared<pending>();
    remote->async_allocate(std::move(c), boost::asio::bind_cancellation_slot(out->stop.slot(), [out](remote_result r) {
      CHECK_FALSE(out->got.has_value());
      out->got.emplace(std::move(r));
    }));
    CHECK_FALSE(out->got.has_value());
    return out;
  }
  auto probe() -> std::shared_ptr<std::optional<std::string>> {
    auto out = std::make_shared<std::optional<std::string>>();
    auto wanted = call();
    wanted.allocation = nullptr;
    remote->async_probe(std::move(wanted), [out](std::string problem) { *out = std::move(problem); });
    CHECK_FALSE(out->has_value());
    return out;
  }
  auto wait(std::shared_ptr<pending> const& one) -> remote_result {
    run_until(io, [&] { return one->got.has_value(); });
    return *one->got;
  }
  auto state() -> remote_endpoint_state {
    std::optional<std::vector<remote_endpoint_state>> out;
    remote->async_endpoints([&out](std::vector<remote_endpoint_state> all) { out = std::move(all); });
    run_until(io, [&] { return out.has_value(); });
    return out->at(0);
  }

  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  listening log;
  one_secret secrets{io.get_executor()};
  scripted_server server;
  std::string endpoint;
  std::optional<rest_remote_allocator> remote;
};

auto mutual_context(certificate_authority& server_ca, certificate_authority const& client_ca, std::string const& name)
    -> boost::asio::ssl::context {
  auto const own = server_ca.issue({"server", name});
  boost::asio::ssl::context out{boost::asio::ssl::context::tls_server};
  out.use_certificate_chain(boost::asio::buffer(own.certificate));
  out.use_private_key(boost::asio::buffer(own.key), boost::asio::ssl::context::pem);
  out.add_certificate_authority(boost::asio::buffer(client_ca.pem()));
  out.set_verify_mode(boost::asio::ssl::verify_peer | boost::asio::ssl::verify_fail_if_no_peer_cert);
  SSL_CTX_set_session_id_context(out.native_handle(), reinterpret_cast<unsigned char const*>("test"), 4);
  return out;
}

auto holds(std::string_view text, std::string_view part) -> bool { return text.find(part) != std::string_view::npos; }

}  // namespace

TEST_CASE("what a remote is sent: the policy's namespace, no several clusters, its id, its hops, the time left") {
  remote_fixture f;
  auto call = f.call();
  call.hops = 1;
  call.gate = "http; path=/up";
  auto const one = f.ask(call);
  auto const request = f.server.at(0).request();
  CHECK(holds(request, "Agones-Alloc-Gate: http; path=/up\r\n"));
  CHECK(holds(request, "POST /gameserverallocation HTTP/1.1\r\n"));
  CHECK_FALSE(holds(request, "Accept:"));  // each field costs both sides, and JSON is what comes anyway
  CHECK(holds(request, "Idempotency-Key: id-1\r\n"));
  CHECK(holds(request, "Agones-Alloc-Hops: 2\r\n"));
  CHECK(holds(request, "Grpc-Timeout: 10000m\r\n"));
  auto const body = parse_json(request.substr(request.find("\r\n\r\n") + 4)).value();
  CHECK(body.at("namespace").as_string() == "games");
  CHECK(body.at("multiClusterSetting").at("enabled").as_bool() == false);
  CHECK(body.at("gameServerSelectors").at(0).at("matchLabels").at("agones.dev/fleet").as_string() == "fleet");
  f.server.at(0).answer(200, allocated_body);
  auto const got = f.wait(one);
  CHECK(got.result == outcome::allocated);
  CHECK(got.server->meta.name == "far");
}

TEST_CASE("on a serial executor, without a strand, answers and cancellations are the same, and never inside the call") {
  remote_fixture f{nullptr, {.serial_executor = true}};
  std::optional<remote_result> inner;
  std::shared_ptr<pending> left;
  boost::asio::post(f.io, [&] {  // where nothing keeps it from going on at once
    f.remote->async_allocate(f.call(), [&](remote_result r) { inner = std::move(r); });
    CHECK_FALSE(inner);
    auto bad = f.call();
    bad.endpoint = "east:port";
    left = f.ask(bad);
  });
  auto const request = f.server.at(0).request();
  CHECK(holds(request, "POST /gameserverallocation HTTP/1.1\r\n"));
  CHECK(f.wait(left).result == outcome::unavailable);
  f.server.at(0).answer(200, allocated_body);
  run_until(f.io, [&] { return inner.has_value(); });
  CHECK(inner->result == outcome::allocated);
  left = f.ask(f.call());
  f.server.at(0).request();
  boost::asio::post(f.io, [&] { left->stop.emit(boost::asio::cancellation_type::terminal); });
  CHECK(f.wait(left).result == outcome::unknown);  // it was sent
}

TEST_CASE("calls to an endpoint share its kept connections (Q46)") {
  remote_fixture f;
  for (int i = 0; i != 5; ++i) {
    auto const one = f.ask(f.call());
    f.server.at(0).request();
    f.server.at(0).answer(429, R"({"code":8,"message":"there is no available GameServer to allocate","details":[]})");
    CHECK(f.wait(one).result == outcome::exhausted);
  }
  CHECK(f.server.connections() == 1);
  CHECK(f.state().opened == 1);
  CHECK(f.state().sent == 5);
}

TEST_CASE("what cannot be forwarded is refused with its field, and nothing is sent (Q10)") {
  remote_fixture f;
  auto wanted = fleet_allocation();
  wanted.spec.selectors[0].labels.match_expressions.push_back({"region", "NotIn", {"us"}});
  auto call = f.call();
  call.allocation = std::make_shared<game_server_allocation const>(test_support::compile_request(wanted)->allocation());
  auto const got = f.wait(f.ask(call));
  CHECK(got.result == outcome::invalid);
  REQUIRE(got.errors.size() == 1);
  CHECK(got.errors[0].field == "spec.selectors[0].matchExpressions[0]");
  CHECK(f.server.connections() == 0);

  call.match_expressions = true;  // a newer endpoint
  auto const one = f.ask(call);
  auto const request = f.server.at(0).request();
  auto const body = parse_json(request.substr(request.find("\r\n\r\n") + 4)).value();
  CHECK(body.at("gameServerSelectors").at(0).at("matchExpressions").at(0).at("operator").as_string() == "NotIn");
  f.server.at(0).answer(200, allocated_body);
  CHECK(f.wait(one).result == outcome::allocated);
}

TEST_CASE("an endpoint that refuses or is none was not asked anything") {
  remote_fixture f;
  f.server.stop();
  auto got = f.wait(f.ask(f.call()));
  CHECK(got.result == outcome::unavailable);
  CHECK(holds(got.message.view(), "connect: "));
  CHECK_FALSE(got.whole_cluster);
  auto call = f.call();
  call.endpoint = "east:port";
  got = f.wait(f.ask(call));
  CHECK(got.result == outcome::unavailable);
  CHECK(holds(got.message.view(), "endpoint \"east:port\""));
}

TEST_CASE("a name that does not resolve") {
  remote_fixture f;
  auto call = f.call();
  call.endpoint = "http://no-such-host.invalid:1";
  auto const got = f.wait(f.ask(call));
  CHECK(got.result == outcome::unavailable);
  CHECK(holds(got.message.view(), "resolve: "));
}

TEST_CASE("answers that do not come, come in half, or are no answers leave the fate unknown") {
  remote_fixture f{nullptr, {.answer_bytes = 1000}};
  auto const one = f.ask(f.call());
  f.server.at(0).request();
  SUBCASE("reset") { f.server.at(0).reset(); }
  SUBCASE("closed without a word") { f.server.at(0).close(); }
  SUBCASE("half an answer") {
    f.server.at(0).send("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"gameServ");
    f.server.at(0).close();
  }
  SUBCASE("no HTTP") { f.server.at(0).send("220 mail ready\r\n\r\n"); }
  SUBCASE("200 with garbage") { f.server.at(0).answer(200, "<html>hello</html>"); }
  SUBCASE("a length of a gigabyte") { f.server.at(0).send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\nx"); }
  SUBCASE("chunks without end") {
    f.server.at(0).send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" + std::string(2000, 'x'));
  }
  SUBCASE("a head without end") { f.server.at(0).send("HTTP/1.1 200 OK\r\nX: " + std::string(200'000, 'x')); }
  SUBCASE("never") { f.time.advance(10s); }
  SUBCASE("one byte at a time, too slowly") {
    f.server.at(0).send("HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n");
    for (int i = 0; i != 10; ++i) {
      f.server.at(0).send(" ");
      settle(f.io);
      f.time.advance(1s);
    }
  }
  CHECK(f.wait(one).result == outcome::unknown);
}

TEST_CASE("no connection within its time is not the end of the call's time (S8)") {
  // A listener whose queue nobody empties: the TLS handshake never ends.
  certificate_authority ca{"ca"};
  remote_fixture f;
  auto call = f.call();
  call.endpoint = "127.0.0.1:" + std::to_string(f.server.port());  // TLS, to a server that says nothing
  call.credentials.server_ca = ca.pem();
  auto const one = f.ask(call);
  run_until(f.io, [&] { return f.server.connections() == 1 && f.server.at(0).input.size() > 100; });
  f.time.advance(2s);
  auto const got = f.wait(one);
  CHECK(got.result == outcome::unavailable);
}

TEST_CASE("a caller who leaves: before it is sent, and after") {
  remote_fixture f;
  SUBCASE("before") {
    auto const one = f.ask(f.call());
    one->stop.emit(boost::asio::cancellation_type::terminal);
    CHECK(f.wait(one).result == outcome::cancelled);
  }
  SUBCASE("after") {
    auto const one = f.ask(f.call());
    f.server.at(0).request();
    one->stop.emit(boost::asio::cancellation_type::terminal);
    CHECK(f.wait(one).result == outcome::unknown);
  }
}

TEST_CASE("a call whose time is up before it begins is not sent") {
  remote_fixture f;
  auto call = f.call();
  call.deadline = f.time.now();
  CHECK(f.wait(f.ask(call)).result == outcome::deadline);
  CHECK(f.server.connections() == 0);
}

TEST_CASE("destroying it ends what is under way") {
  remote_fixture f;
  auto const one = f.ask(f.call());
  f.server.at(0).request();
  f.remote.reset();
  CHECK(f.wait(one).result == outcome::unknown);
}

TEST_CASE("mutual TLS with a Secret, and the name of the policy in place of the host") {
  certificate_authority server_ca{"server ca"};
  certificate_authority client_ca{"client ca"};
  auto tls = mutual_context(server_ca, client_ca, "DNS:allocator.example");
  auto const client = client_ca.issue({"client", "", -3600, 3600, "", "clientAuth"});
  remote_fixture f{&tls};
  f.secrets.data.entries = {{"tls.crt", client.certificate}, {"tls.key", client.key}, {"ca.crt", server_ca.pem()}};
  auto call = f.call();
  call.credentials = {"default", "east", {}};
  SUBCASE("the wrong name") {
    auto const got = f.wait(f.ask(call));
    CHECK(got.result == outcome::unavailable);
    CHECK(holds(got.message.view(), "IP address mismatch"));
  }
  SUBCASE("the right name") {
    call.server_name = "allocator.example";
    auto const one = f.ask(call);
    f.server.at(0).request();
    f.server.at(0).answer(200, allocated_body);
    CHECK(f.wait(one).result == outcome::allocated);
    CHECK(f.state().credential_version == 1);
    CHECK(f.state().secret == "default/east");
  }
  SUBCASE("no such Secret: the cluster's other endpoints need not be tried") {
    f.secrets.data.entries.clear();
    auto const got = f.wait(f.ask(call));
    CHECK(got.result == outcome::unavailable);
    CHECK(got.whole_cluster);
    CHECK(got.message == "secret east: no east");
    CHECK(f.server.connections() == 0);
  }
}

TEST_CASE("a server's expired certificate, and one of another authority") {
  certificate_authority server_ca{"server ca"};
  certificate_authority other{"other"};
  auto const own = server_ca.issue({"server", "IP:127.0.0.1", -7200, -3600});
  boost::asio::ssl::context tls{boost::asio::ssl::context::tls_server};
  tls.use_certificate_chain(boost::asio::buffer(own.certificate));
  tls.use_private_key(boost::asio::buffer(own.key), boost::asio::ssl::context::pem);
  remote_fixture f{&tls};
  auto call = f.call();
  call.credentials.server_ca = server_ca.pem();
  auto got = f.wait(f.ask(call));
  CHECK(got.result == outcome::unavailable);
  CHECK(holds(got.message.view(), "certificate has expired"));
  call.credentials.server_ca = other.pem();
  got = f.wait(f.ask(call));
  CHECK(holds(got.message.view(), "unable to get local issuer certificate"));
}

TEST_CASE("a Secret that changes makes new connections, and drops no call") {
  certificate_authority server_ca{"server ca"};
  certificate_authority client_ca{"client ca"};
  auto tls = mutual_context(server_ca, client_ca, "IP:127.0.0.1");
  auto const client = client_ca.issue({"client", "", -3600, 3600, "", "clientAuth"});
  auto const next = client_ca.issue({"client", "", -3600, 3600, "", "clientAuth"});
  remote_fixture f{&tls};
  f.secrets.data.entries = {{"tls.crt", client.certificate}, {"tls.key", client.key}, {"ca.crt", server_ca.pem()}};
  auto call = f.call();
  call.credentials = {"default", "east", {}};
  auto const under_way = f.ask(call);
  f.server.at(0).request();
  f.secrets.data.entries["tls.crt"] = next.certificate;
  f.secrets.data.entries["tls.key"] = next.key;
  f.time.advance(60s - 1ms - 50s);  // the call's own time goes on
  settle(f.io);
  f.server.at(0).answer(200, allocated_body);
  CHECK(f.wait(under_way).result == outcome::allocated);
  f.time.advance(51s);
  call = f.call();
  call.credentials = {"default", "east", {}};
  auto const old = f.ask(call);  // begins the reading, goes by the old one
  f.server.at(0).request();
  f.server.at(0).answer(200, allocated_body);
  CHECK(f.wait(old).result == outcome::allocated);
  auto const fresh = f.ask(call);
  f.server.at(1).request();
  f.server.at(1).answer(200, allocated_body);
  CHECK(f.wait(fresh).result == outcome::allocated);
  CHECK(f.state().credential_version == 2);
  CHECK(f.state().opened == 2);
}

TEST_CASE("sessions are resumed with a client certificate, where the server allows") {
  certificate_authority server_ca{"server ca"};
  certificate_authority client_ca{"client ca"};
  auto tls = mutual_context(server_ca, client_ca, "IP:127.0.0.1");
  auto const client = client_ca.issue({"client", "", -3600, 3600, "", "clientAuth"});
  remote_fixture f{&tls};
  f.secrets.data.entries = {{"tls.crt", client.certificate}, {"tls.key", client.key}, {"ca.crt", server_ca.pem()}};
  auto call = f.call();
  call.credentials = {"default", "east", {}};
  for (std::size_t i = 0; i != 2; ++i) {
    auto const one = f.ask(call);
    f.server.at(i).request();
    f.server.at(i).send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " +
                        std::to_string(allocated_body.size()) + "\r\n\r\n" + std::string{allocated_body});
    CHECK(f.wait(one).result == outcome::allocated);
  }
  CHECK_FALSE(f.server.at(0).resumed);
  CHECK(f.server.at(1).resumed);
}

TEST_CASE("endpoints beyond the bound: the one unused for longest loses its connections") {
  remote_fixture f{nullptr, {.endpoints = 1}};
  auto const first = f.ask(f.call());
  f.server.at(0).request();
  auto other = f.call();
  other.server_name = "other";
  auto const second = f.ask(other);
  f.server.at(1).request();
  f.server.at(0).answer(200, allocated_body);  // forgotten, but not cut
  f.server.at(1).answer(200, allocated_body);
  CHECK(f.wait(first).result == outcome::allocated);
  CHECK(f.wait(second).result == outcome::allocated);
}

TEST_CASE("options out of range are refused") {
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  CHECK_THROWS_AS((rest_remote_allocator{io.get_executor(), nullptr, time, {.connections = 0}}), std::invalid_argument);
  CHECK_THROWS_AS((rest_remote_allocator{io.get_executor(), nullptr, time, {.endpoints = 0}}), std::invalid_argument);
}

TEST_CASE("a probe is a request that allocates nothing, and any answer but a proxy's is one") {
  std::vector<std::pair<int, std::string>> const table{{501, ""},    {405, ""}, {404, ""}, {403, ""}, {200, ""}, {500, ""},
                                                       {502, "502"}, {503, "503"}, {504, "504"}};
  for (auto const& [status, words] : table) {
    remote_fixture f;
    auto const told = f.probe();
    CHECK(holds(f.server.at(0).request(), "GET /gameserverallocation HTTP/1.1\r\n"));
    f.server.at(0).answer(status, "{}");
    run_until(f.io, [&] { return told->has_value(); });
    CHECK(holds(**told, words));
    CHECK((*told)->empty() == words.empty());
  }
}

TEST_CASE("a probe that nobody answers in time, or whose endpoint is none, says why") {
  remote_fixture f;
  auto const silent = f.probe();
  f.server.at(0).request();
  f.time.advance(10s);
  run_until(f.io, [&] { return silent->has_value(); });
  CHECK_FALSE((*silent)->empty());
  f.endpoint = "no endpoint";
  auto const none = f.probe();
  run_until(f.io, [&] { return none->has_value(); });
  CHECK(holds(**none, "is no host or address"));
}

TEST_CASE("a probe's connection is kept for calls") {
  remote_fixture f;
  auto const told = f.probe();
  f.server.at(0).request();
  f.server.at(0).answer(501, "{}");
  run_until(f.io, [&] { return told->has_value(); });
  auto const one = f.ask(f.call());
  f.server.at(0).request();
  f.server.at(0).answer(200, allocated_body);
  CHECK(f.wait(one).result == outcome::allocated);
  CHECK(f.server.connections() == 1);
}

TEST_CASE("equal requests are written once, and no request is taken for another") {
  remote_fixture f;
  std::vector<remote_call> calls{f.call(), f.call(), f.call()};
  calls[1].allocation = calls[0].allocation;
  calls[1].namespace_ = "lobby";
  auto other = fleet_allocation("other");
  calls[2].allocation = std::make_shared<game_server_allocation const>(test_support::compile_request(other)->allocation());
  for (int round = 0; round != 2; ++round) {
    for (std::size_t i = 0; i != calls.size(); ++i) {
      auto const one = f.ask(calls[i]);
      auto const request = f.server.at(0).request();
      CHECK(holds(request, i == 1 ? R"("namespace":"lobby")" : R"("namespace":"games")"));
      CHECK(holds(request, i == 2 ? R"("agones.dev/fleet":"other")" : R"("agones.dev/fleet":"fleet")"));
      f.server.at(0).answer(200, allocated_body);
      CHECK(f.wait(one).result == outcome::allocated);
    }
  }
}
