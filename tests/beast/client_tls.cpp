#include "certificates.hpp"
#include "client_fixture.hpp"

using namespace beast_test;

namespace {

auto server_context(certificate_authority::pair const& own, std::string const& client_ca = {}) -> boost::asio::ssl::context {
  boost::asio::ssl::context out{boost::asio::ssl::context::tls_server};
  out.use_certificate_chain(boost::asio::buffer(own.certificate));
  out.use_private_key(boost::asio::buffer(own.key), boost::asio::ssl::context::pem);
  if (!client_ca.empty()) {
    out.add_certificate_authority(boost::asio::buffer(client_ca));
    out.set_verify_mode(boost::asio::ssl::verify_peer | boost::asio::ssl::verify_fail_if_no_peer_cert);
  }
  SSL_CTX_set_session_id_context(out.native_handle(), reinterpret_cast<unsigned char const*>("test"), 4);
  return out;
}

auto trusting(certificate_authority const& ca) -> tls_identity {
  tls_identity out;
  out.ca_pem = ca.pem();
  return out;
}

/// The one line that is logged for a handshake that fails.
auto failure(boost::asio::ssl::context& tls, tls_identity identity, std::string host = "127.0.0.1") -> std::string {
  client_fixture f{{}, &tls, std::move(identity), std::move(host)};
  auto const one = f.ask(patch_request());
  f.wait(*one);
  CHECK(one->ec == errc::unavailable);
  REQUIRE(f.log.lines.size() == 1);
  CHECK(f.log.lines[0].find("phase=TLS handshake") != std::string::npos);
  return f.log.lines[0];
}

auto holds(std::string const& text, std::string_view part) -> bool { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("TLS connections are made and kept, whatever the version") {
  certificate_authority ca{"ca"};
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    auto tls = server_context(ca.issue({"server", "IP:127.0.0.1"}));
    SSL_CTX_set_max_proto_version(tls.native_handle(), version);
    client_fixture f{{}, &tls, trusting(ca)};
    std::string const large(100'000, 'x');
    CHECK(f.ok(patch_request(large), 0, large));
    CHECK(f.ok(get_request()));
    CHECK(f.server.connections() == 1);
    CHECK(f.log.lines.empty());
  }
}

TEST_CASE("A server that cannot prove who it is gets nothing") {
  certificate_authority ca{"ca"};
  certificate_authority other{"other"};
  auto good = server_context(ca.issue({"server", "IP:127.0.0.1"}));
  CHECK(holds(failure(good, trusting(other)), "unable to get local issuer certificate"));
  CHECK(holds(failure(good, trusting(ca), "localhost"), "hostname mismatch"));
  auto named = server_context(ca.issue({"127.0.0.1", "DNS:localhost"}));
  CHECK(holds(failure(named, trusting(ca)), "IP address mismatch"));
  auto expired = server_context(ca.issue({"server", "IP:127.0.0.1", -7200, -3600}));
  CHECK(holds(failure(expired, trusting(ca)), "certificate has expired"));
  auto future = server_context(ca.issue({"server", "IP:127.0.0.1", 3600, 7200}));
  CHECK(holds(failure(future, trusting(ca)), "not yet valid"));
  auto old = server_context(ca.issue({"server", "IP:127.0.0.1"}));
  SSL_CTX_set_security_level(old.native_handle(), 0);
  SSL_CTX_set_min_proto_version(old.native_handle(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(old.native_handle(), TLS1_1_VERSION);
  failure(old, trusting(ca));
}

TEST_CASE("Each phase that fails is told once until a connection is made") {
  certificate_authority ca{"ca"};
  certificate_authority other{"other"};
  auto tls = server_context(ca.issue({"server", "IP:127.0.0.1"}));
  client_fixture f{{}, &tls, trusting(other)};
  auto const fails = [&] {
    auto const one = f.ask(patch_request());
    f.wait(*one);
    CHECK(one->ec == errc::unavailable);
  };
  fails();
  fails();
  REQUIRE(f.log.lines.size() == 1);
  CHECK(holds(f.log.lines[0], "phase=TLS handshake"));
  f.server.stop();
  fails();
  fails();
  REQUIRE(f.log.lines.size() == 2);
  CHECK(holds(f.log.lines[1], "phase=connect"));
}

TEST_CASE("What fails is told again after a connection was made") {
  certificate_authority ca{"ca"};
  auto tls = server_context(ca.issue({"server", "IP:127.0.0.1"}));
  client_fixture f{{}, &tls, trusting(certificate_authority{"other"})};
  f.wait(*f.ask(patch_request()));
  CHECK(f.log.lines.size() == 1);
  f.credentials->replace({trusting(ca), {}});
  auto const one = f.ask(patch_request());
  f.until([&] { return f.server.connections() == 2 && f.server.at(1).has_request(); });
  f.server.at(1).answer(200, "fine");
  f.wait(*one);
  CHECK_FALSE(one->ec);
  f.server.at(1).close();
  f.server.stop();
  f.wait(*f.ask(patch_request()));
  CHECK(f.log.lines.size() == 2);
}

TEST_CASE("Another name can be expected, and verification can be left out") {
  certificate_authority ca{"ca"};
  auto tls = server_context(ca.issue({"x", "DNS:api.internal,DNS:*.wild.internal"}));
  auto identity = trusting(ca);
  for (auto const* name : {"api.internal", "a.wild.internal"}) {
    identity.server_name = name;
    client_fixture f{{}, &tls, identity};
    CHECK(f.ok(patch_request()));
  }
  identity.server_name = "b.a.wild.internal";
  failure(tls, identity);
  tls_identity careless;
  careless.insecure_skip_verify = true;
  client_fixture f{{}, &tls, careless};
  CHECK(f.ok(patch_request()));
}

TEST_CASE("A client shows its certificate, and one that is refused executed nothing") {
  certificate_authority ca{"ca"};
  certificate_authority clients{"clients"};
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    auto tls = server_context(ca.issue({"server", "IP:127.0.0.1"}), clients.pem());
    SSL_CTX_set_max_proto_version(tls.native_handle(), version);
    auto identity = trusting(ca);
    auto mine = clients.issue({"me", {}});
    identity.certificate_pem = mine.certificate;
    identity.key_pem = mine.key;
    {
      client_fixture f{{}, &tls, identity};
      CHECK(f.ok(patch_request()));
    }
    mine = ca.issue({"me", {}});  // by another authority
    identity.certificate_pem = mine.certificate;
    identity.key_pem = mine.key;
    {
      client_fixture f{{}, &tls, identity};
      auto const one = f.ask(patch_request());
      f.wait(*one);
      CHECK(one->ec == errc::unavailable);
    }
    identity.certificate_pem.clear();
    identity.key_pem.clear();
    client_fixture f{{}, &tls, identity};
    auto const one = f.ask(patch_request());
    f.wait(*one);
    CHECK(one->ec == errc::unavailable);
  }
}

TEST_CASE("Credentials that cannot be loaded are named, never shown") {
  certificate_authority ca{"ca"};
  auto tls = server_context(ca.issue({"server", "IP:127.0.0.1"}));
  auto const mine = ca.issue({"me", {}});
  auto const other = ca.issue({"other", {}});
  auto const refused = [&](tls_identity identity) {
    client_fixture f{{}, &tls, std::move(identity)};
    auto const one = f.ask(patch_request());
    f.wait(*one);
    CHECK(one->ec == errc::unavailable);
    REQUIRE(f.log.lines.size() == 1);
    CHECK_FALSE(holds(f.log.lines[0], "secret-looking"));
    return f.log.lines[0];
  };
  auto identity = trusting(ca);
  identity.ca_pem = "secret-looking";
  CHECK(holds(refused(identity), "certificate authority"));
  identity = trusting(ca);
  identity.certificate_pem = "secret-looking";
  CHECK(holds(refused(identity), "client certificate"));
  identity.certificate_pem = mine.certificate;
  identity.key_pem = "secret-looking";
  CHECK(holds(refused(identity), "client key"));
  identity.key_pem = other.key;
  CHECK(holds(refused(identity), "client key"));
}

TEST_CASE("A second connection resumes the first one's session") {
  certificate_authority ca{"ca"};
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    auto tls = server_context(ca.issue({"server", "IP:127.0.0.1"}));
    SSL_CTX_set_max_proto_version(tls.native_handle(), version);
    client_fixture f{{}, &tls, trusting(ca)};
    CHECK(f.ok(patch_request()));
    f.server.at(0).close();
    CHECK(f.ok(patch_request(), 1));
    CHECK_FALSE(f.server.at(0).resumed);
    CHECK(f.server.at(1).resumed);
  }
}

TEST_CASE("A rotated certificate is used for new requests, and the old connections go when idle") {
  certificate_authority ca{"ca"};
  certificate_authority next{"next"};
  auto tls = server_context(ca.issue({"server", "IP:127.0.0.1"}));
  client_fixture f{{}, &tls, trusting(ca)};
  CHECK(f.ok(patch_request()));
  auto const busy = f.ask(patch_request());
  f.server.at(0).request();
  auto const mine = ca.issue({"me", {}});
  client_credentials rotated;
  rotated.tls = trusting(ca);
  rotated.tls.certificate_pem = mine.certificate;
  rotated.tls.key_pem = mine.key;
  f.credentials->replace(rotated);
  CHECK(f.ok(patch_request(), 1));
  CHECK_FALSE(f.server.at(0).ended);
  f.server.at(0).answer(200, "old but whole");
  f.wait(*busy);
  CHECK(busy->response.body == "old but whole");
  f.until([&] { return f.server.at(0).ended; });
  CHECK(f.client->counts().open == 1);
  // Another token alone leaves the connections.
  rotated.authorization = "Bearer next";
  f.credentials->replace(rotated);
  auto const one = f.ask(get_request());
  CHECK(holds(f.server.at(1).request(), "Authorization: Bearer next\r\n"));
  f.server.at(1).answer(200, "x");
  f.wait(*one);
  CHECK(f.server.connections() == 2);
}

TEST_CASE("A TLS connection that is cut is not the end of a body") {
  certificate_authority ca{"ca"};
  auto tls = server_context(ca.issue({"server", "IP:127.0.0.1"}));
  client_fixture f{{}, &tls, trusting(ca)};
  auto const one = f.ask(get_request());
  f.server.at(0).request();
  f.server.at(0).send("HTTP/1.1 200 OK\r\n\r\nuntil the end, or so");
  f.server.at(0).close();
  f.wait(*one);
  CHECK(one->ec == errc::unavailable);
}

TEST_CASE("A handshake that never ends is given up in time") {
  client_options options;
  options.times.handshake = 5s;
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  listening log;
  scripted_server mute{io};
  client_endpoint endpoint{"127.0.0.1", mute.port(), true, {}};
  pooled_http_client client{io.get_executor(), endpoint, std::make_shared<static_credentials>(io.get_executor()), time,
                            options, &log};
  bool done = false;
  client.async_request(patch_request(), [&](error_code ec, client_response) {
    CHECK(ec == errc::unavailable);
    done = true;
  });
  run_until(io, [&] { return !mute.at(0).input.empty(); });
  time.advance(5s);
  run_until(io, [&] { return done; });
  REQUIRE(log.lines.size() == 1);
  CHECK(holds(log.lines[0], "TLS handshake"));
  mute.close_all();
}
