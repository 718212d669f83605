// Mutual TLS with gRPC's own client, and certificates that change.
#include "../beast/certificates.hpp"
#include "../beast/scratch_folder.hpp"
#include "grpc_fixture.hpp"

#include <agones_alloc/beast/tls/tls_server.hpp>

using namespace grpc_test;
using beast_test::certificate_authority;

namespace {

struct secured : served {
  explicit secured(client_verification clients) : served{nullptr} {
    own("server");
    folder.write("clients.pem", client_ca.pem());
    tls_server_options options;
    options.certificate = folder.path() / "tls.crt";
    options.key = folder.path() / "tls.key";
    options.clients = clients;
    if (clients != client_verification::none) options.client_authorities.push_back(folder.path() / "clients.pem");
    tls.emplace(io.get_executor(), time, options);
    REQUIRE(tls->load() == "");
    handler.act = [](http_request const& request, http_handler::reply done) {
      if (request.client == nullptr) return std::move(done)(named("nobody"));
      auto const& shown = *request.client;
      std::move(done)(named(shown.common_name + "/" + (shown.organizations.empty() ? "" : shown.organizations.front()) + "/" +
                            (shown.dns_names.empty() ? "" : shown.dns_names.front()) + (shown.by_client_authority ? "/ok" : "")));
    };
    prepare({});
    listener->use(*tls, clients);
    REQUIRE_FALSE(listener->listen("127.0.0.1", 0));
    run();
  }
  ~secured() { stop(); }
  void own(std::string const& name) {
    auto const pair = ca.issue({name, "DNS:localhost,IP:127.0.0.1"});
    folder.write("tls.crt", pair.certificate);
    folder.write("tls.key", pair.key);
  }
  void look() {
    on_loop([this] { looked = tls->look(); });
  }
  /// A new connection each time: gRPC shares those of equal channels.
  auto told(certificate_authority::pair const& with = {}, std::uint16_t port = 0) -> std::string {
    grpc::SslCredentialsOptions how;
    how.pem_root_certs = ca.pem();
    how.pem_cert_chain = with.certificate;
    how.pem_private_key = with.key;
    grpc::ChannelArguments arguments;
    arguments.SetInt("grpc.use_local_subchannel_pool", 1);
    auto const got = ask(grpc::CreateCustomChannel(port == 0 ? place() : "127.0.0.1:" + std::to_string(port), grpc::SslCredentials(how), arguments));
    return got.status.ok() ? got.response.gameservername() : "code " + std::to_string(got.code());
  }

  beast_test::scratch_folder folder;
  certificate_authority ca{"the server's authority"};
  certificate_authority client_ca{"the clients' authority"};
  certificate_authority stranger{"another authority"};
  std::optional<tls_server> tls;
  bool looked{false};
};

}  // namespace

TEST_CASE("a client is known by its certificate") {
  secured s{client_verification::optional};
  CHECK(s.told() == "nobody");
  CHECK(s.told(s.client_ca.issue({"east", "DNS:east.example", -3600, 3600, "games"})) == "east/games/east.example/ok");
  CHECK(s.told(s.stranger.issue({"east", {}})) == "code 14");
}

TEST_CASE("with mutual TLS nobody gets in without a certificate of the right authority, time and use") {
  secured s{client_verification::required};
  CHECK(s.told() == "code 14");
  CHECK(s.told(s.client_ca.issue({"east", {}})) == "east///ok");
  CHECK(s.told(s.client_ca.issue({"east", {}, -3600, 3600, {}, "clientAuth"})) == "east///ok");
  CHECK(s.told(s.client_ca.issue({"east", {}, -3600, 3600, {}, "serverAuth"})) == "code 14");
  CHECK(s.told(s.client_ca.issue({"east", {}, -7200, -3600})) == "code 14");
}

TEST_CASE("without an authority no certificate is accepted") {
  secured s{client_verification::required};
  auto const client = s.client_ca.issue({"east", {}});
  CHECK(s.told(client) == "east///ok");
  s.folder.write("clients.pem", "");
  auto const folder = s.folder.path() / "authorities";
  std::filesystem::create_directory(folder);
  tls_server_options options;
  options.certificate = s.folder.path() / "tls.crt";
  options.key = s.folder.path() / "tls.key";
  options.clients = client_verification::required;
  options.client_authorities = {folder};
  tls_server nobodys{s.io.get_executor(), s.time, options};
  REQUIRE(nobodys.load() == "");
  grpc_listener other{s.io.get_executor(), s.handler, s.time};
  other.use(nobodys, client_verification::required);
  REQUIRE_FALSE(other.listen("127.0.0.1", 0));
  CHECK(s.told(client, other.port()) == "code 14");
  CHECK(s.told({}, other.port()) == "code 14");
}

TEST_CASE("plain clients of a TLS port get nowhere") {
  secured s{client_verification::none};
  CHECK(s.told() == "nobody");
  CHECK(ask(s.channel()).code() == grpc::StatusCode::UNAVAILABLE);
}

TEST_CASE("certificates and authorities are replaced while it runs; a broken one keeps the last") {
  secured s{client_verification::required};
  auto const old_client = s.client_ca.issue({"east", {}});
  CHECK(s.told(old_client) == "east///ok");

  s.ca = certificate_authority{"the server's next authority"};
  s.own("server");
  s.look();
  CHECK(s.looked);
  CHECK(s.told(old_client) == "east///ok");  // it trusts the new authority only

  s.folder.write("tls.key", "no key");
  s.look();
  CHECK_FALSE(s.looked);
  CHECK(s.told(old_client) == "east///ok");
  s.own("server");

  s.folder.write("clients.pem", s.stranger.pem());
  s.look();
  CHECK(s.looked);
  CHECK(s.told(old_client) == "code 14");
  CHECK(s.told(s.stranger.issue({"west", {}})) == "west///ok");
}
