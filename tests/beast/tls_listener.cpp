#include "http_fixture.hpp"
#include "scratch_folder.hpp"
#include "tls_client.hpp"

#include <agones_alloc/beast/tls/tls_server.hpp>
#include <agones_alloc/port/logger.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>

using namespace beast_test;
using namespace std::chrono_literals;

namespace {

struct lines final : logger {
  void log(severity, std::string_view message, std::initializer_list<field> fields) override {
    std::string line{message};
    for (auto const& [name, value] : fields) line.append(" ").append(name).append("=").append(value);
    all.push_back(std::move(line));
  }
  auto hold(std::string_view part) const -> bool {
    for (auto const& line : all) {
      if (line.find(part) != std::string::npos) return true;
    }
    return false;
  }
  std::vector<std::string> all;
};

/// Says whose certificate came with the request.
struct telling final : http_handler {
  void handle(http_request const& request, reply done) override {
    client.reset();
    if (request.client != nullptr) client = *request.client;
    std::move(done)(text_response(200, request.client == nullptr ? "nobody" : request.client->common_name));
  }
  std::optional<client_certificate> client;
};

struct tls_fixture {
  explicit tls_fixture(client_verification clients = client_verification::none, http_limits limits = {})
      : limits_{limits} {
    write("server");
    folder.write("clients.pem", client_ca.pem());
    options.certificate = folder.path() / "tls.crt";
    options.key = folder.path() / "tls.key";
    options.clients = clients;
    if (clients != client_verification::none) options.client_authorities.push_back(folder.path() / "clients.pem");
  }
  ~tls_fixture() {
    if (listener) listener->close();
    if (tls) tls->stop();
    settle(io);
    CHECK(time.pending() == 0);
  }
  void write(std::string const& name, long valid_to = 3600, bool rsa = false) {
    auto const own = ca.issue({name, "DNS:localhost,IP:127.0.0.1", valid_to - 7200, valid_to, {}, {}, rsa});
    folder.write("tls.crt", own.certificate);
    folder.write("tls.key", own.key);
  }
  void serve() {
    tls.emplace(io.get_executor(), time, options, &log);
    REQUIRE(tls->load() == "");
    listener.emplace(io.get_executor(), handler, time, limits_, &log, &observer);
    listener->use(*tls);
    REQUIRE_FALSE(listener->listen("127.0.0.1", 0));
  }
  auto client(tls_client_wish wish = {}) -> tls_client {
    if (wish.authority.empty()) wish.authority = ca.pem();
    return {io, listener->port(), wish};
  }
  /// What a request over a new connection is told; "" when the connection is refused.
  auto told(certificate_authority::pair own = {}, int version = TLS1_3_VERSION) -> std::string {
    tls_client_wish wish;
    wish.own = std::move(own);
    wish.version = version;
    auto one = client(wish);
    return one.ask(get("/")).body;
  }

  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  telling handler;
  watching observer;
  lines log;
  scratch_folder folder;
  certificate_authority ca{"ca"};
  certificate_authority client_ca{"client-ca"};
  certificate_authority other_ca{"other-ca"};
  tls_server_options options;
  std::optional<tls_server> tls;
  std::optional<http_listener> listener;

 private:
  http_limits limits_;
};

}  // namespace

TEST_CASE("Requests are answered over TLS 1.2 and 1.3, one connection for many") {
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    tls_fixture f;
    f.serve();
    tls_client_wish wish;
    wish.version = version;
    auto one = f.client(wish);
    CHECK(one.ask(get("/")).body == "nobody\n");
    CHECK(one.ask(post(std::string(100'000, 'x'))).status == 200);
    CHECK(f.listener->connections() == 1);
    one.close();
    run_until(f.io, [&] { return f.listener->connections() == 0; });
  }
}

TEST_CASE("Answers of any size arrive whole over TLS, and a refusal is read though its body was not") {
  http_limits limits;
  limits.body_bytes = 1000;
  limits.linger_bytes = 1 << 20;
  tls_fixture f{client_verification::none, limits};
  f.serve();
  auto one = f.client();
  auto const refused = one.ask(post(std::string(300'000, 'x')));
  CAPTURE(one.problem().message());
  CHECK(refused.status == 413);
  CHECK(one.ends_cleanly());  // it said so before it closed
}

TEST_CASE("Older TLS, and clients that do not speak HTTP/1.1, are refused") {
  tls_fixture f;
  f.serve();
  tls_client_wish wish;
  wish.version = TLS1_1_VERSION;
  CHECK(f.client(wish).problem());
  wish.version = TLS1_3_VERSION;
  wish.protocols = std::string{"\2h2", 3};
  CHECK(f.client(wish).problem());
  wish.protocols = std::string{"\2h2\10http/1.1", 12};
  auto good = f.client(wish);
  unsigned char const* chosen = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(good.native(), &chosen, &size);
  CHECK(std::string_view{reinterpret_cast<char const*>(chosen), size} == "http/1.1");
  run_until(f.io, [&] { return f.observer.cuts.size() == 2; });
  CHECK(f.observer.cuts == std::vector<std::string>{"handshake", "handshake"});
}

TEST_CASE("A client that offers nothing but CBC, or a key exchange without forward secrecy, is refused") {
  for (bool const rsa : {false, true}) {
    tls_fixture f;
    f.write("server", 3600, rsa);
    f.serve();
    auto const offer = [&](char const* ciphers) {
      tls_client_wish wish;
      wish.version = TLS1_2_VERSION;
      wish.ciphers = ciphers;
      return f.client(wish);
    };
    for (auto const* good : {"ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384",
                             "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305",
                             "AES128-GCM-SHA256:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256"}) {
      CAPTURE(good);
      auto one = offer(good);
      CHECK(one.ask(get("/")).body == "nobody\n");
      CHECK(std::string_view{SSL_get_cipher_name(one.native())}.starts_with(rsa ? "ECDHE-RSA-" : "ECDHE-ECDSA-"));
    }
    std::ptrdiff_t refused = 0;
    for (auto const* bad : {"ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA384",
                            "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA", "AES128-GCM-SHA256:AES256-GCM-SHA384", "AES128-SHA256:AES256-SHA",
                            "DHE-RSA-AES128-GCM-SHA256"}) {
      CAPTURE(bad);
      ++refused;
      CHECK(offer(bad).problem());
      run_until(f.io, [&] { return std::count(f.observer.cuts.begin(), f.observer.cuts.end(), "handshake") == refused; });
    }
  }
}

TEST_CASE("Plain HTTP to a TLS port is closed, and so is a handshake that does not come on") {
  tls_fixture f;
  f.serve();
  raw_client plain{f.io, f.listener->port()};
  plain.send(get("/"));
  run_until(f.io, [&] { return f.observer.cuts.size() == 1; });
  raw_client silent{f.io, f.listener->port()};
  silent.send(std::string_view{"\x16\x03\x01", 3});
  run_until(f.io, [&] { return f.listener->connections() == 1; });
  f.time.advance(9s);
  settle(f.io);
  CHECK(f.listener->connections() == 1);
  f.time.advance(1s);
  run_until(f.io, [&] { return f.listener->connections() == 0; });
  CHECK(f.observer.cuts.back() == "slow handshake");
  CHECK(silent.ends());
}

TEST_CASE("A silent handshake makes room when there are too many connections") {
  http_limits limits;
  limits.connections = 2;
  tls_fixture f{client_verification::none, limits};
  f.serve();
  raw_client a{f.io, f.listener->port()};
  run_until(f.io, [&] { return f.listener->connections() == 1; });
  f.time.advance(1s);
  raw_client b{f.io, f.listener->port()};
  run_until(f.io, [&] { return f.listener->connections() == 2; });
  CHECK(f.told() == "nobody\n");
  CHECK(a.ends());
  f.listener->close();
}

TEST_CASE("A certificate is required, verified, and told to the handler") {
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    tls_fixture f{client_verification::required};
    f.serve();
    certificate_wish wish{"me", "DNS:a.example,DNS:b.example,IP:10.0.0.1,IP:2001:db8::1,email:m@example.com,URI:spiffe://x/y"};
    wish.organization = "players";
    wish.usage = "clientAuth";
    CHECK(f.told(f.client_ca.issue(wish), version) == "me\n");
    auto const& shown = f.handler.client.value();
    CHECK(shown.by_client_authority);
    CHECK_FALSE(shown.by_front_proxy);
    CHECK(shown.organizations == std::vector<std::string>{"players"});
    CHECK(shown.dns_names == std::vector<std::string>{"a.example", "b.example"});
    CHECK(shown.addresses == std::vector<std::string>{"10.0.0.1", "2001:db8::1"});
    CHECK(shown.emails == std::vector<std::string>{"m@example.com"});
    CHECK(shown.uris == std::vector<std::string>{"spiffe://x/y"});

    CHECK(f.told({}, version) == "");
    CHECK(f.told(f.other_ca.issue({"me", {}}), version) == "");
    CHECK(f.told(f.client_ca.issue({"me", {}, -7200, -3600}), version) == "");
    CHECK(f.log.hold("certificate has expired"));
    CHECK(f.told(f.client_ca.issue({"me", {}, 3600, 7200}), version) == "");
    wish.usage = "serverAuth";  // not what a client's is for
    CHECK(f.told(f.client_ca.issue(wish), version) == "");
    CHECK(f.observer.cuts.size() == 5);
  }
}

TEST_CASE("An optional certificate may be missing, but not be wrong") {
  tls_fixture f{client_verification::optional};
  f.serve();
  CHECK(f.told() == "nobody\n");
  CHECK(f.told(f.client_ca.issue({"me", {}})) == "me\n");
  CHECK(f.told(f.other_ca.issue({"me", {}})) == "");
}

namespace {

/// The session of a connection with that certificate, and what comes of it on the next one.
struct resuming {
  resuming(tls_fixture& fixture, certificate_authority::pair own, int version) : f{&fixture} {
    wish.version = version;
    wish.own = std::move(own);
    auto one = f->client(wish);
    first = one.ask(get("/")).body;
    wish.resumed = SSL_get1_session(one.native());
    leave(one);
  }
  ~resuming() { SSL_SESSION_free(wish.resumed); }
  resuming(resuming const&) = delete;
  auto operator=(resuming const&) -> resuming& = delete;
  /// What the handler answers; "" when the connection is refused.
  auto next() -> std::string {
    auto two = f->client(wish);
    auto const answer = two.ask(get("/"));
    reused = SSL_session_reused(two.native()) == 1;
    leave(two);
    return answer.body;
  }
  /// OpenSSL does not resume the session of a connection that was cut.
  static void leave(tls_client& one) { SSL_set_shutdown(one.native(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN); }

  tls_fixture* f;
  tls_client_wish wish;
  std::string first;
  bool reused{false};
};

}  // namespace

TEST_CASE("The session of a client with a certificate is resumed, and tells who it is") {
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (auto const asked : {client_verification::optional, client_verification::required}) {
      tls_fixture f{asked};
      f.serve();
      resuming one{f, f.client_ca.issue({"me", {}}), version};
      CHECK(one.first == "me\n");
      f.handler.client.reset();
      CHECK(one.next() == "me\n");
      CHECK(one.reused);
      REQUIRE(f.handler.client);
      CHECK(f.handler.client->by_client_authority);
      CHECK_FALSE(f.handler.client->by_front_proxy);
    }
  }
}

TEST_CASE("A session is verified anew by the whole chain that its client has shown") {
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    tls_fixture f{client_verification::required};
    f.serve();
    certificate_authority below{"below", f.client_ca};
    auto own = below.issue({"me", {}});
    own.certificate += below.pem();
    resuming one{f, own, version};
    CHECK(one.next() == "me\n");
    CHECK(one.reused);
    // What was resumed can be resumed again.
    CHECK(one.next() == "me\n");
    CHECK(one.reused);
  }
}

TEST_CASE("A session made under an authority that is trusted no more is not resumed, and its client is refused") {
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    tls_fixture f{client_verification::required};
    f.serve();
    resuming one{f, f.client_ca.issue({"me", {}}), version};
    REQUIRE(one.next() == "me\n");
    REQUIRE(one.reused);
    f.folder.write("clients.pem", f.other_ca.pem());
    REQUIRE(f.tls->look());
    CHECK(one.next() == "");
    CHECK_FALSE(one.reused);
    // The new authority's clients are served, and theirs is resumed.
    resuming two{f, f.other_ca.issue({"you", {}}), version};
    CHECK(two.next() == "you\n");
    CHECK(two.reused);
  }
}

TEST_CASE("After a change of the server's certificate a session begins anew, for a client that is still good") {
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    tls_fixture f{client_verification::required};
    f.serve();
    resuming one{f, f.client_ca.issue({"me", {}}), version};
    f.write("next");
    REQUIRE(f.tls->look());
    CHECK(one.next() == "me\n");
    CHECK_FALSE(one.reused);
  }
}

TEST_CASE("Sessions are resumed where no certificate is asked for") {
  tls_fixture f;
  f.serve();
  tls_client_wish wish;
  auto one = f.client(wish);
  CHECK(one.ask(get("/")).status == 200);
  wish.resumed = SSL_get1_session(one.native());
  auto two = f.client(wish);
  CHECK(two.ask(get("/")).status == 200);
  CHECK(SSL_session_reused(two.native()) == 1);
  SSL_SESSION_free(wish.resumed);
}

TEST_CASE("New files are used for new connections, and the old ones go on (Q40)") {
  tls_fixture f;
  f.serve();
  f.tls->start();
  auto old = f.client();
  CHECK(old.server() == "server");
  CHECK(old.ask(get("/")).status == 200);
  f.write("next");
  f.time.advance(9s);
  settle(f.io);
  CHECK(f.tls->version() == 1);
  f.time.advance(1s);
  settle(f.io);
  CHECK(f.tls->version() == 2);
  CHECK(f.client().server() == "next");
  CHECK(old.ask(get("/")).status == 200);
  f.time.advance(10s);  // unchanged
  settle(f.io);
  CHECK(f.tls->version() == 2);
}

TEST_CASE("A broken bundle leaves the last good one in use, is logged once, and is tried again") {
  tls_fixture f;
  f.serve();
  auto const good = f.folder.read("tls.key");
  auto const certificate = f.folder.read("tls.crt");
  auto const fails = [&](std::string const& part) {
    f.log.all.clear();
    CHECK_FALSE(f.tls->look());
    CHECK_FALSE(f.tls->look());
    CHECK(f.log.all.size() == 1);
    CAPTURE(f.log.all.front());
    CHECK(f.log.hold(part));
    CHECK_FALSE(f.log.hold("BEGIN"));
    CHECK(f.client().server() == "server");
  };
  f.folder.write("tls.crt", f.ca.issue({"next", "IP:127.0.0.1"}).certificate);
  fails("tls.key: key: does not belong to the certificate");
  f.folder.write("tls.crt", "rubbish");
  fails("tls.crt: certificate:");
  f.folder.write("tls.crt", "");
  fails("tls.crt: is empty");
  f.folder.write("tls.crt", certificate);
  f.folder.write("tls.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
  fails("is encrypted");
  std::filesystem::remove(f.folder.path() / "tls.key");
  fails("tls.key: No such file");
  f.folder.write("tls.key", good);
  CHECK(f.tls->look());
  CHECK(f.tls->version() == 1);  // what it was
  f.write("next");
  CHECK(f.tls->look());
  CHECK(f.client().server() == "next");
}

TEST_CASE("A look every no time is refused") {
  tls_fixture f;
  f.options.look_every = 0s;
  CHECK_THROWS_AS(f.tls.emplace(f.io.get_executor(), f.time, f.options), std::invalid_argument);
}

TEST_CASE("An own certificate that has expired is served, with a warning") {
  tls_fixture f;
  f.write("server", -400'000'000);  // the clock of the test stands in 2020
  f.serve();
  CHECK(f.log.hold("the server's certificate has expired"));
}

TEST_CASE("Client authorities come from folders too, and broken files of a folder are left out") {
  tls_fixture f{client_verification::required};
  std::filesystem::create_directory(f.folder.path() / "cas");
  f.options.client_authorities = {f.folder.path() / "cas"};
  f.serve();
  auto const mine = f.client_ca.issue({"me", {}});
  CHECK(f.told(mine) == "");  // an empty pool accepts nobody
  f.folder.write("cas/a.crt", f.other_ca.pem() + f.client_ca.pem());
  f.folder.write("cas/b.pem", "rubbish");
  f.folder.write("cas/notes.txt", "rubbish too");
  f.log.all.clear();
  CHECK(f.tls->look());
  CHECK(f.log.hold("b.pem: holds no certificate"));
  CHECK_FALSE(f.log.hold("notes.txt"));
  CHECK(f.told(mine) == "me\n");
  CHECK(f.told(f.other_ca.issue({"you", {}})) == "you\n");
  std::filesystem::remove(f.folder.path() / "cas/a.crt");
  CHECK(f.tls->look());
  CHECK(f.told(mine) == "");
}

TEST_CASE("The front proxy's authority is a pool of its own, and may change") {
  tls_fixture f{client_verification::optional};
  f.serve();
  certificate_authority proxies{"proxies"};
  auto const proxy = proxies.issue({"proxy", {}});
  CHECK(f.told(proxy) == "");
  CHECK(f.tls->trust_front_proxy(proxies.pem()));
  CHECK(f.told(proxy) == "proxy\n");
  CHECK(f.handler.client->by_front_proxy);
  CHECK_FALSE(f.handler.client->by_client_authority);
  CHECK(f.told(f.client_ca.issue({"proxy", {}})) == "proxy\n");
  CHECK_FALSE(f.handler.client->by_front_proxy);
  CHECK_FALSE(f.tls->trust_front_proxy("rubbish"));
  CHECK(f.told(proxy) == "proxy\n");
  CHECK(f.tls->look());  // the files leave it alone
  CHECK(f.told(proxy) == "proxy\n");
  CHECK(f.tls->trust_front_proxy(f.other_ca.pem()));
  CHECK(f.told(proxy) == "");
}
