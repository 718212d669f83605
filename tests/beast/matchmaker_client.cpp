// A matchmaker's client against a server that does what the test says, byte by byte.
#include "../support/servers.hpp"
#include "certificates.hpp"
#include "client_fixture.hpp"

#include <agones_alloc/beast/client/matchmaker_client.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <utility>

using namespace beast_test;
using test_support::fleet_allocation;

namespace {

struct pending {
  std::optional<std::pair<error_code, ticket_result>> got;
  boost::asio::cancellation_signal stop;
  auto code() const -> error_code { return got.value().first; }
  auto result() const -> ticket_result const& { return got.value().second; }
};

auto handed_out(std::string const& name) -> std::string {
  return R"({"gameServerName":")" + name + R"(","ports":[{"name":"default","port":7777}],"address":"1.2.3.4","source":"local"})";
}
auto claimed(std::string const& name) -> std::string {
  return R"({"id":"match-1","namespace":"default","gameServerName":")" + name + R"(","state":"Allocated","confirmed":true})";
}

/// Pauses between tries are a second at most, everything else that is timed takes longer.
struct matchmaker {
  explicit matchmaker(boost::asio::ssl::context* tls = nullptr, tls_identity identity = {}, matchmaker_client_options options = {})
      : server{io, tls}, second{io} {
    auto credentials = std::make_shared<static_credentials>(io.get_executor(), client_credentials{std::move(identity), {}});
    for (auto const& one : {&server, &second}) {
      client_endpoint endpoint;
      endpoint.host = "127.0.0.1";
      endpoint.port = one->port();
      endpoint.tls = tls != nullptr;
      options.endpoints.push_back(std::move(endpoint));
    }
    options.rules.retry = {std::numeric_limits<std::uint32_t>::max(), 100ms, 2.0, 0.0, 1s};
    options.log = &log;
    client.emplace(io.get_executor(), std::move(credentials), time, random, std::move(options));
  }
  ~matchmaker() {
    client.reset();
    settle(io);
    CHECK(time.pending() == 0);
    server.close_all();
    second.close_all();
  }

  static auto keeping(std::shared_ptr<pending> const& out) {
    return boost::asio::bind_cancellation_slot(out->stop.slot(), [out](error_code ec, ticket_result r) {
      CHECK_FALSE(out->got.has_value());
      out->got.emplace(ec, std::move(r));
    });
  }
  static auto wish() -> ticket {
    ticket out;
    out.allocation = fleet_allocation();
    out.id = "match-1";
    return out;
  }
  auto allocate(ticket what = wish()) -> std::shared_ptr<pending> {
    auto out = std::make_shared<pending>();
    client->async_allocate(std::move(what), keeping(out));
    CHECK_FALSE(out->got.has_value());
    return out;
  }
  auto release(std::string id, release_to to = release_to::ready) -> std::shared_ptr<pending> {
    auto out = std::make_shared<pending>();
    client->async_release("default", std::move(id), to, 30s, keeping(out));
    return out;
  }
  auto confirm(std::string id) -> std::shared_ptr<pending> {
    auto out = std::make_shared<pending>();
    client->async_confirm("default", std::move(id), 30s, keeping(out));
    return out;
  }
  auto wait(std::shared_ptr<pending> const& one) -> ticket_result const& {
    run_until(io, [&] { return one->got.has_value(); });
    return one->result();
  }
  /// The client rests between two tries: until it is told to go on.
  void pass_pause() {
    run_until(io, [&] { return resting(); });
    time.advance_to_next();
  }
  auto resting() const -> bool {
    auto const next = time.next();
    return next && *next - time.now() <= 2s;
  }

  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  seeded_random random{1};
  listening log;
  scripted_server server;
  scripted_server second;
  std::optional<matchmaker_client> client;
};

auto holds(std::string const& text, std::string_view part) -> bool { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("one call asks with an id, a time for the claim and a wait, and confirms") {
  matchmaker m;
  auto wish = m.wish();
  wish.wait = 2500ms;
  auto const one = m.allocate(std::move(wish));
  auto const asked = m.server.at(0).request();
  CHECK(asked.starts_with("POST /gameserverallocation HTTP/1.1\r\n"));
  CHECK(holds(asked, "\r\nIdempotency-Key: match-1\r\n"));
  CHECK(holds(asked, "\r\nAgones-Alloc-Claim-TTL: 30000000us\r\n"));
  CHECK(holds(asked, "\r\nPrefer: wait=3\r\n"));
  CHECK(holds(asked, R"("namespace":"default")"));
  m.server.at(0).answer(200, handed_out("gs-1"));
  auto const confirms = m.server.at(0).request();
  CHECK(confirms.starts_with("POST /v1/claims/match-1:confirm?namespace=default HTTP/1.1\r\n"));
  CHECK_FALSE(one->got.has_value());
  m.server.at(0).answer(200, claimed("gs-1"));
  auto const& result = m.wait(one);
  CHECK_FALSE(one->code());
  CHECK(result.result == outcome::allocated);
  CHECK(result.confirmed);
  CHECK(result.id == "match-1");
  CHECK(result.tries == 2);
  REQUIRE(result.server);
  CHECK(result.server->meta.name == "gs-1");
  CHECK(result.server->status.address == "1.2.3.4");
  CHECK(result.server->status.ports.at(0).port == 7777);
}

TEST_CASE("an id is drawn where none is given, and each call has its own") {
  matchmaker m;
  auto wish = m.wish();
  wish.id.clear();
  wish.claim_ttl = 0ns;
  std::vector<std::string> ids;
  for (int i = 0; i < 2; ++i) {
    auto const one = m.allocate(wish);
    auto const asked = m.server.at(0).request();
    CHECK_FALSE(holds(asked, "Claim-TTL"));
    CHECK_FALSE(holds(asked, "Prefer"));
    m.server.at(0).answer(200, handed_out("gs"));
    CHECK(m.wait(one).confirmed);
    CHECK(holds(asked, "Idempotency-Key: " + one->result().id + "\r\n"));
    ids.push_back(one->result().id);
  }
  CHECK(ids[0].size() == 32);
  CHECK(ids[0] != ids[1]);
}

TEST_CASE("a lost answer is asked for again, with the same id") {
  matchmaker m;
  auto const one = m.allocate();
  CHECK(holds(m.server.at(0).request(), "Idempotency-Key: match-1\r\n"));
  m.server.at(0).reset();
  m.pass_pause();
  CHECK(holds(m.server.at(1).request(), "Idempotency-Key: match-1\r\n"));
  m.server.at(1).answer(200, handed_out("gs-1"));
  m.server.at(1).request();
  m.server.at(1).reset();
  m.pass_pause();
  CHECK(holds(m.server.at(2).request(), "match-1:confirm"));
  m.server.at(2).answer(200, claimed("gs-1"));
  CHECK(m.wait(one).result == outcome::allocated);
  CHECK(one->result().tries == 4);
}

TEST_CASE("a replica that is not there is left for the next, which is asked first from then on") {
  matchmaker m;
  m.server.stop();
  auto wish = m.wish();
  wish.claim_ttl = 0ns;
  auto const one = m.allocate(wish);
  m.pass_pause();
  m.second.at(0).request();
  m.second.at(0).answer(200, handed_out("gs-1"));
  CHECK(m.wait(one).result == outcome::allocated);
  auto const other = m.allocate(wish);
  m.second.at(0).request();
  m.second.at(0).answer(200, handed_out("gs-2"));
  CHECK(m.wait(other).tries == 1);
  CHECK(other->result().endpoint == "127.0.0.1:" + std::to_string(m.second.port()));
}

TEST_CASE("a server that has too much to do is left alone for as long as it says") {
  matchmaker m;
  auto wish = m.wish();
  wish.claim_ttl = 0ns;
  auto const one = m.allocate(wish);
  m.server.at(0).request();
  m.server.at(0).answer(409, R"({"code":10,"message":"too many"})", "Retry-After: 1\r\n");
  auto const before = m.time.now();
  m.pass_pause();
  CHECK(m.time.now() - before == 1s);
  m.server.at(0).request();
  m.server.at(0).answer(200, handed_out("gs-1"));
  CHECK(m.wait(one).result == outcome::allocated);
}

TEST_CASE("where the confirmed claim is on another server, that one is the caller's") {
  matchmaker m;
  auto const one = m.allocate();
  m.server.at(0).request();
  m.server.at(0).answer(200, handed_out("gs-2"));
  m.server.at(0).request();
  m.server.at(0).answer(200, claimed("gs-1"));
  m.pass_pause();
  CHECK(holds(m.server.at(0).request(), "Idempotency-Key: match-1\r\n"));
  m.server.at(0).answer(200, handed_out("gs-1"));
  CHECK(holds(m.server.at(0).request(), "match-1:confirm"));
  m.server.at(0).answer(200, claimed("gs-1"));
  CHECK(m.wait(one).server->meta.name == "gs-1");
  CHECK(one->result().result == outcome::allocated);
}

TEST_CASE("nothing matches, or a request makes no sense: the answer's own words") {
  matchmaker m;
  auto const none = m.allocate();
  m.server.at(0).request();
  m.server.at(0).answer(429, R"({"code":8,"message":"there is no available GameServer to allocate"})");
  CHECK(m.wait(none).result == outcome::exhausted);
  CHECK(none->code() == errc::exhausted);
  auto const misused = m.allocate();
  m.server.at(0).request();
  m.server.at(0).answer(400, R"({"code":3,"message":"options.request_id: was used for another request"})");
  CHECK(m.wait(misused).result == outcome::invalid);
  CHECK(misused->result().message == "options.request_id: was used for another request");
  CHECK(misused->result().code == 400);
}

TEST_CASE("what cannot be asked is refused with the field's name, and nothing is sent") {
  matchmaker m;
  auto const refused = [&m](ticket wish, std::string_view word) {
    auto const one = m.allocate(std::move(wish));
    CHECK(m.wait(one).result == outcome::invalid);
    CHECK(one->code() == errc::invalid_request);
    CHECK_MESSAGE(holds(one->result().message, word), one->result().message);
    CHECK(one->result().tries == 0);
  };
  auto wish = m.wish();
  wish.id = "a b";
  refused(wish, "id: must have visible characters");
  wish = m.wish();
  wish.allocation.meta.namespace_ = {};
  refused(wish, "namespace");
  wish = m.wish();
  wish.wait = -1s;
  refused(wish, "wait");
  wish = m.wish();
  wish.claim_ttl = std::chrono::hours{24 * 400};
  refused(wish, "claim_ttl");
  wish = m.wish();
  wish.timeout = -1s;
  refused(wish, "timeout");
  wish = m.wish();
  wish.allocation.spec.multi_cluster.enabled = true;
  refused(wish, "multiClusterSetting");
  wish = m.wish();
  wish.allocation.spec.scheduling = "Random";
  refused(wish, "scheduling");
  CHECK(m.wait(m.release("a b")).result == outcome::invalid);
  CHECK(m.server.connections() == 0);
}

TEST_CASE("who leaves during a request may have a server, who leaves during a pause has none") {
  matchmaker m;
  auto const sent = m.allocate();
  m.server.at(0).request();
  sent->stop.emit(boost::asio::cancellation_type::terminal);
  CHECK(m.wait(sent).result == outcome::unknown);
  CHECK(sent->code() == errc::outcome_unknown);
  run_until(m.io, [&] { return m.server.at(0).ended; });  // the server sees it leave

  auto const paused = m.allocate();
  m.server.at(1).request();
  m.server.at(1).answer(503, R"({"code":14,"message":"away"})");
  run_until(m.io, [&] { return m.resting(); });
  paused->stop.emit(boost::asio::cancellation_type::terminal);
  CHECK(m.wait(paused).result == outcome::cancelled);
  CHECK_FALSE(paused->result().server);
}

TEST_CASE("the ticket's time ends it, whatever it waits for") {
  matchmaker m;
  auto wish = m.wish();
  wish.timeout = 5s;
  auto const silent = m.allocate(wish);
  m.server.at(0).request();
  m.time.advance(5s);
  CHECK(m.wait(silent).result == outcome::unknown);
  wish.timeout = 0ns;
  CHECK(m.wait(m.allocate(wish)).result == outcome::deadline);
}

TEST_CASE("calls beyond the bound end at once, and the client's end ends all") {
  matchmaker_client_options options;
  options.most = 1;
  matchmaker m{nullptr, {}, options};
  auto const first = m.allocate();
  m.server.at(0).request();
  auto const second = m.allocate();
  CHECK(m.wait(second).result == outcome::contention);
  CHECK(second->result().retry_after > 0ns);
  m.client.reset();
  CHECK(m.wait(first).result == outcome::unknown);
}

TEST_CASE("a release goes where it is told to, and says what could not be taken back") {
  matchmaker m;
  auto const one = m.release("match/1", release_to::shutdown);
  CHECK(m.server.at(0).request().starts_with("POST /v1/claims/match%2F1:release?namespace=default&to=shutdown HTTP/1.1\r\n"));
  m.server.at(0).answer(200, R"({"id":"match/1","gameServerName":"gs-1","state":"Shutdown","notUndone":["label.a: changed since"]})");
  auto const& result = m.wait(one);
  CHECK_FALSE(one->code());
  CHECK(result.server->status.state == game_server_state::shutdown);
  CHECK(result.not_undone == std::vector<std::string>{"label.a: changed since"});
}

TEST_CASE("a claim that a replica does not know is asked of the others for a while before it is none") {
  matchmaker m;
  auto const missing = R"({"code":404,"message":"no such claim"})";
  auto const found = m.confirm("match-1");
  m.server.at(0).request();
  m.server.at(0).answer(404, missing);
  m.pass_pause();
  m.second.at(0).request();
  m.second.at(0).answer(200, claimed("gs-1"));
  CHECK(m.wait(found).confirmed);

  auto const none = m.release("match-1");
  std::array<scripted_server*, 2> const replicas{&m.second, &m.server};
  for (std::size_t i = 0;; ++i) {
    auto& replica = replicas[i % 2]->at(0);
    run_until(m.io, [&] {
      if (m.resting()) m.time.advance_to_next();
      return none->got.has_value() || replica.has_request();
    });
    if (none->got.has_value()) break;
    replica.request();
    replica.answer(404, missing);
  }
  CHECK(none->code() == errc::not_found);
  CHECK(none->result().tries > 5);
}

TEST_CASE("over mutual TLS") {
  certificate_authority server_ca{"server-ca"};
  certificate_authority client_ca{"client-ca"};
  auto const own = server_ca.issue({"server", "IP:127.0.0.1"});
  boost::asio::ssl::context tls{boost::asio::ssl::context::tls_server};
  tls.use_certificate_chain(boost::asio::buffer(own.certificate));
  tls.use_private_key(boost::asio::buffer(own.key), boost::asio::ssl::context::pem);
  tls.add_certificate_authority(boost::asio::buffer(client_ca.pem()));
  tls.set_verify_mode(boost::asio::ssl::verify_peer | boost::asio::ssl::verify_fail_if_no_peer_cert);
  auto const pair = client_ca.issue({"matchmaker", {}});
  tls_identity identity;
  identity.ca_pem = server_ca.pem();
  identity.certificate_pem = pair.certificate;
  identity.key_pem = pair.key;
  matchmaker m{&tls, identity};
  auto const one = m.allocate();
  m.server.at(0).request();
  m.server.at(0).answer(200, handed_out("gs-1"));
  m.server.at(0).request();
  m.server.at(0).answer(200, claimed("gs-1"));
  CHECK(m.wait(one).result == outcome::allocated);
}

TEST_CASE("options out of range are refused at construction") {
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  seeded_random random{1};
  auto const make = [&](matchmaker_client_options options) {
    auto credentials = std::make_shared<static_credentials>(io.get_executor());
    matchmaker_client const client{io.get_executor(), std::move(credentials), time, random, std::move(options)};
  };
  matchmaker_client_options good;
  good.endpoints.emplace_back().host = "127.0.0.1";
  CHECK_NOTHROW(make(good));
  CHECK_THROWS_WITH_AS(make({}), doctest::Contains("endpoints"), std::invalid_argument);
  auto bad = good;
  bad.most = 0;
  CHECK_THROWS_WITH_AS(make(bad), doctest::Contains("most"), std::invalid_argument);
  bad = good;
  bad.try_time = 0ns;
  CHECK_THROWS_WITH_AS(make(bad), doctest::Contains("try_time"), std::invalid_argument);
  bad = good;
  bad.rules.retry.factor = 0.5;
  CHECK_THROWS_WITH_AS(make(bad), doctest::Contains("rules.retry"), std::invalid_argument);
  settle(io);
}
