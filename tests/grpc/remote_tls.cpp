// Mutual TLS from the remote allocator's side: Secrets, names, and certificates that change.
#include "remote_fixture.hpp"

using namespace grpc_test;
using namespace std::chrono_literals;
using beast_test::certificate_authority;

namespace {

/// A remote that hands out a server of the client certificate's name.
struct secured : served {
  explicit secured(beast_test::certificate_wish const& own) : served{nullptr} {
    auto const pair = ca.issue(own);
    folder.write("tls.crt", pair.certificate);
    folder.write("tls.key", pair.key);
    folder.write("clients.pem", client_ca.pem());
    tls_server_options options;
    options.certificate = folder.path() / "tls.crt";
    options.key = folder.path() / "tls.key";
    options.clients = client_verification::required;
    options.client_authorities.push_back(folder.path() / "clients.pem");
    tls.emplace(io.get_executor(), time, options);
    REQUIRE(tls->load() == "");
    handler.act = [](http_request const& request, http_handler::reply done) {
      std::move(done)(named(request.client == nullptr ? "nobody" : request.client->common_name));
    };
    prepare({});
    listener->use(*tls, client_verification::required);
    REQUIRE_FALSE(listener->listen("127.0.0.1", 0));
    run();
  }
  ~secured() { stop(); }
  auto secret(std::string const& name) -> secret_data {
    auto const pair = client_ca.issue({name, "", -3600, 3600, "", "clientAuth"});
    secret_data out;
    out.entries = {{"tls.crt", pair.certificate}, {"tls.key", pair.key}, {"ca.crt", ca.pem()}};
    return out;
  }
  auto place() const -> std::string { return "grpc://127.0.0.1:" + std::to_string(listener->port()); }

  beast_test::scratch_folder folder;
  certificate_authority ca{"the server's authority"};
  certificate_authority client_ca{"the clients' authority"};
  std::optional<tls_server> tls;
};

auto with_secret(calling const& f) -> remote_call {
  auto out = f.call();
  out.credentials = {"games", "east", {}};
  return out;
}

}  // namespace

TEST_CASE("mutual TLS with a Secret, and the name of the policy in place of the host") {
  secured far{{"server", "DNS:allocator.example"}};
  calling f{far.place()};
  f.secrets.data = far.secret("east");
  auto call = with_secret(f);
  SUBCASE("the wrong name") {
    auto const got = f.told(call);
    CHECK(got.result == outcome::unavailable);
    CHECK_FALSE(got.message.empty());
    call.server_name = "other.example";
    CHECK(f.told(call).result == outcome::unavailable);
  }
  SUBCASE("the right name") {
    call.server_name = "allocator.example";
    auto const got = f.told(call);
    CHECK(got.result == outcome::allocated);
    CHECK(got.server->meta.name == "east");
    auto const state = f.state();
    CHECK(state.secret == "games/east");
    CHECK(state.server_name == "allocator.example");
    CHECK(state.credential_version == 1);
    CHECK(state.problem.empty());
  }
  SUBCASE("no such Secret: the cluster's other endpoints need not be tried") {
    f.secrets.data.entries.clear();
    auto const got = f.told(call);
    CHECK(got.result == outcome::unavailable);
    CHECK(got.whole_cluster);
    CHECK(got.message == "secret east: no east");
    CHECK(f.state().problem == "secret east: no east");
  }
  SUBCASE("no certificate, where one is wanted") {
    call.credentials = {"games", {}, far.ca.pem()};
    call.server_name = "allocator.example";
    CHECK(f.told(call).result == outcome::unavailable);
  }
}

TEST_CASE("a host's address in the certificate, and the authority of the policy") {
  secured far{{"server", "IP:127.0.0.1"}};
  calling f{far.place()};
  f.secrets.data = far.secret("east");
  f.secrets.data.entries.erase("ca.crt");
  auto call = with_secret(f);
  call.credentials.server_ca = far.ca.pem();
  CHECK(f.told(call).result == outcome::allocated);
  call.credentials.server_ca = certificate_authority{"another"}.pem();
  CHECK(f.told(call).result == outcome::unavailable);
}

TEST_CASE("a server's expired certificate") {
  secured far{{"server", "IP:127.0.0.1", -7200, -3600}};
  calling f{far.place()};
  f.secrets.data = far.secret("east");
  auto const got = f.told(with_secret(f));
  CHECK(got.result == outcome::unavailable);
}

TEST_CASE("a port without TLS, and a client without it at a port with it") {
  served open;
  calling f{"grpc://" + open.place()};
  auto call = f.call();
  call.credentials.server_ca = certificate_authority{"some"}.pem();
  CHECK(f.told(call).result == outcome::unavailable);
  secured far{{"server", "IP:127.0.0.1"}};
  calling other{"grpc+http://127.0.0.1:" + std::to_string(far.listener->port())};
  CHECK(other.told().result == outcome::unavailable);
}

TEST_CASE("a Secret that changes makes a new channel, and drops no call") {
  secured far{{"server", "IP:127.0.0.1"}};
  calling f{far.place(), {.secret_time_to_live = 0s}};
  std::promise<void> come;
  std::unique_ptr<http_handler::reply> kept;
  auto const act = far.handler.act;
  far.handler.act = [&](http_request const& request, http_handler::reply done) {
    if (kept) return act(request, std::move(done));
    kept = std::make_unique<http_handler::reply>(std::move(done));
    come.set_value();
  };
  f.secrets.data = far.secret("east");
  auto const call = with_secret(f);
  auto const under_way = f.ask(call);
  f.until(come.get_future());
  f.secrets.data = far.secret("west");
  // It is read behind a call, which goes by the old one.
  std::string last;
  for (int i = 0; i != 1000 && last != "west"; ++i) last = f.told(call).server->meta.name.str();
  CHECK(last == "west");
  far.on_loop([&] { std::move(*kept)(named("old")); });
  CHECK(f.wait(under_way).server->meta.name == "old");
  CHECK(f.state().credential_version == 2);
  CHECK(f.state().opened == 2);
  // A broken one leaves the last good one in use.
  f.secrets.data.entries["tls.key"] = "no key";
  for (int i = 0; i != 1000 && f.state().problem.empty(); ++i) CHECK(f.told(call).result == outcome::allocated);
  CHECK(holds(f.state().problem, "secret east"));
  CHECK(f.told(call).result == outcome::allocated);
}
