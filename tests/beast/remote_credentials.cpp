// Credentials for other clusters: bundles, where they come from, and how they change.
#include "certificates.hpp"
#include "client_fixture.hpp"
#include "scratch_folder.hpp"
#include "scripted_client.hpp"

#include <agones_alloc/beast/remote/client_bundle.hpp>
#include <agones_alloc/beast/remote/folder_secrets.hpp>
#include <agones_alloc/beast/remote/kubernetes_secrets.hpp>
#include <agones_alloc/beast/remote/secret_credentials.hpp>
#include <agones_alloc/json/base64.hpp>

#include <deque>

using namespace beast_test;

namespace {

struct bundles {
  certificate_authority ca{"ca"};
  certificate_authority::pair one{ca.issue({"client", "", -3600, 3600, "", "clientAuth"})};
  certificate_authority::pair other{ca.issue({"client", "", -3600, 3600, "", "clientAuth"})};

  auto secret() const -> secret_data {
    return {{{"tls.crt", one.certificate}, {"tls.key", one.key}, {"ca.crt", ca.pem()}}, {}};
  }
};

auto problem_of(secret_data const& secret, std::string_view server_ca = {}) -> std::string {
  tls_identity out;
  return make_client_bundle(secret, "s1", server_ca, out);
}

/// Secrets that the test answers.
struct scripted_secrets final : secret_source {
  explicit scripted_secrets(boost::asio::any_io_executor e) : executor{std::move(e)} {}
  void do_get(std::string space, std::string name, handler done) override {
    asked.push_back(space + "/" + name);
    auto next = answers.empty() ? std::pair{error_code{errc::unavailable}, secret_data{}} : answers.front();
    if (!answers.empty()) answers.pop_front();
    boost::asio::post(executor, [done = std::move(done), next = std::move(next)]() mutable {
      std::move(done)(next.first, std::move(next.second));
    });
  }
  boost::asio::any_io_executor executor;
  std::vector<std::string> asked;
  std::deque<std::pair<error_code, secret_data>> answers;
};

struct counting final : metrics {
  void credentials_read(std::string_view, bool good) override { ++(good ? read : failed); }
  int read{0};
  int failed{0};
};

struct credential_fixture {
  auto make(credential_reference reference = {"games", "s1", {}}) -> std::shared_ptr<secret_credentials> {
    return std::make_shared<secret_credentials>(io.get_executor(), time, &secrets, std::move(reference), "name.example",
                                                secret_credentials_options{60s, 5s, &counts, &log});
  }
  void run() {
    io.restart();
    io.poll();
  }
  void pass(std::chrono::nanoseconds t) {
    time.advance(t);
    run();
  }
  auto fetch(secret_credentials& of, credentials_ptr refused = {}) -> std::pair<error_code, credentials_ptr> {
    std::optional<std::pair<error_code, credentials_ptr>> out;
    of.async_fetch(std::move(refused), [&out](error_code ec, credentials_ptr got) { out.emplace(ec, std::move(got)); });
    CHECK_FALSE(out.has_value());
    run();
    return out.value();
  }

  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  scripted_secrets secrets{io.get_executor()};
  counting counts;
  listening log;
  bundles b;
};

}  // namespace

TEST_CASE("a good Secret becomes an identity, with both authorities trusted") {
  bundles b;
  certificate_authority const more{"more"};
  tls_identity out;
  out.server_name = "kept";
  CHECK(make_client_bundle(b.secret(), "s1", more.pem(), out).empty());
  CHECK(out.certificate_pem == b.one.certificate);
  CHECK(out.ca_pem == b.ca.pem() + more.pem());
  CHECK(out.server_name == "kept");
}

TEST_CASE("certificates with their chain, and bundles of authorities in PEM, are taken whole (S9)") {
  bundles b;
  auto secret = b.secret();
  secret.entries["tls.crt"] += b.ca.pem();
  secret.entries["ca.crt"] += certificate_authority{"second"}.pem();
  CHECK(problem_of(secret).empty());
}

TEST_CASE("what is wrong with a Secret is said, in the reference's words where it has any (S10)") {
  bundles b;
  CHECK(problem_of({}) == "secret s1 does not have data");
  auto const without = [&b](char const* key) {
    auto secret = b.secret();
    secret.entries.erase(key);
    return problem_of(secret);
  };
  CHECK(without("tls.crt") == "missing client certificate key pair in secret s1");
  CHECK(without("tls.key") == "missing client certificate key pair in secret s1");
  CHECK(without("ca.crt").empty());
  auto const with = [&b](char const* key, std::string text) {
    auto secret = b.secret();
    secret.entries[key] = std::move(text);
    return problem_of(secret);
  };
  CHECK(with("tls.crt", "junk").find("failed to find any PEM data in certificate input") != std::string::npos);
  CHECK(with("tls.key", "junk").find("secret s1: client key: ") == 0);
  CHECK(with("tls.key", b.other.key).find("secret s1: client key: ") == 0);
  CHECK(with("tls.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMII\n").find("is encrypted") != std::string::npos);
  CHECK(with("tls.key", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n").find("is encrypted") != std::string::npos);
  CHECK(with("ca.crt", "junk").find("ca.crt: ") != std::string::npos);
  CHECK(with("ca.crt", b.ca.pem() + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").find("ca.crt: ") != std::string::npos);
  CHECK(problem_of(b.secret(), "DER") == "only PEM format is accepted for server CA");
}

TEST_CASE("Secrets as folders: by namespace first, and never outside the root") {
  scratch_folder folder;
  std::filesystem::create_directories(folder.path() / "games" / "s1" / "..2026");
  std::filesystem::create_directories(folder.path() / "s1");
  folder.write("games/s1/tls.crt", "A");
  folder.write("games/s1/..2026/tls.crt", "hidden");
  folder.write("s1/tls.crt", "B");
  boost::asio::io_context io;
  folder_secrets secrets{io.get_executor(), folder.path()};
  auto const get = [&](std::string space, std::string name) {
    std::pair<error_code, secret_data> out;
    secrets.async_get(std::move(space), std::move(name), [&out](error_code ec, secret_data d) { out = {ec, std::move(d)}; });
    io.restart();
    io.poll();
    return out;
  };
  CHECK(get("games", "s1").second.entries.at("tls.crt") == "A");
  CHECK(get("games", "s1").second.entries.size() == 1);
  CHECK(get("other", "s1").second.entries.at("tls.crt") == "B");
  for (auto const* name : {"none", "..", "../s1", "s1/../s1", "", "S1"}) CHECK(get("games", name).first == errc::not_found);
}

TEST_CASE("Secrets of a cluster are got by name, and nothing else is asked for (Q30)") {
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  beast_tests::scripted_client client{io.get_executor()};
  kubernetes_secrets secrets{client, time};
  auto const get = [&](int status, std::string body) {
    std::optional<std::pair<error_code, secret_data>> out;
    secrets.async_get("games", "s1", [&out](error_code ec, secret_data d) { out.emplace(ec, std::move(d)); });
    CHECK(client.request(client.last()).method == "GET");
    CHECK(client.request(client.last()).target == "/api/v1/namespaces/games/secrets/s1");
    client.answer(client.last(), status, std::move(body));
    io.restart();
    io.poll();
    return out.value();
  };
  CHECK(get(200, R"({"kind":"Secret","data":{"tls.crt":")" + encode_base64("PEM") + R"("}})").second.entries.at("tls.crt") == "PEM");
  CHECK(get(200, R"({"kind":"Secret"})").second.entries.empty());
  CHECK(get(200, R"({"data":{"tls.crt":"***"}})").first == errc::malformed);
  CHECK(get(200, R"({"data":{"tls.crt":"***"}})").second.problem == "data.tls.crt: is no base64");
  CHECK(get(200, R"([])").first == errc::malformed);
  auto const gone = get(404, R"({"kind":"Status","apiVersion":"v1","message":"secrets \"s1\" not found","code":404})");
  CHECK(gone.first == errc::not_found);
  CHECK(gone.second.problem.find("s1") != std::string::npos);
  CHECK(get(403, "").first == errc::refused);
  CHECK(get(500, "").first == errc::unavailable);
}

TEST_CASE_FIXTURE(credential_fixture, "the Secret is read when it is first needed, once for all who wait") {
  auto const of = make();
  CHECK(secrets.asked.empty());
  secrets.answers.emplace_back(error_code{}, b.secret());
  CHECK(of->current() == nullptr);
  auto const [ec, got] = fetch(*of);
  REQUIRE_FALSE(ec);
  CHECK(got->tls.certificate_pem == b.one.certificate);
  CHECK(got->tls.server_name == "name.example");
  CHECK(of->current() == got);
  CHECK(of->version() == 1);
  CHECK(secrets.asked == std::vector<std::string>{"games/s1"});
  CHECK(counts.read == 1);
}

TEST_CASE_FIXTURE(credential_fixture, "after its time to live it is read again, behind the calls") {
  auto const of = make();
  secrets.answers.emplace_back(error_code{}, b.secret());
  auto const first = fetch(*of).second;
  pass(59s);
  CHECK(of->current() == first);
  CHECK(secrets.asked.size() == 1);
  auto changed = b.secret();
  changed.entries["tls.crt"] = b.other.certificate;
  changed.entries["tls.key"] = b.other.key;
  secrets.answers.emplace_back(error_code{}, changed);
  pass(1s);
  CHECK(of->current() == first);  // and begins to read
  run();
  CHECK(of->current() != first);
  CHECK(of->current()->tls.certificate_pem == b.other.certificate);
  CHECK(of->version() == 2);
}

TEST_CASE_FIXTURE(credential_fixture, "the same content again is the same version") {
  auto const of = make();
  secrets.answers.emplace_back(error_code{}, b.secret());
  auto const first = fetch(*of).second;
  secrets.answers.emplace_back(error_code{}, b.secret());
  pass(60s);
  of->current();
  run();
  CHECK(of->current() == first);
  CHECK(of->version() == 1);
}

TEST_CASE_FIXTURE(credential_fixture, "a broken bundle leaves the old one in use, says so once, and is tried again") {
  auto const of = make();
  secrets.answers.emplace_back(error_code{}, b.secret());
  auto const first = fetch(*of).second;
  auto broken = b.secret();
  broken.entries["tls.key"] = b.other.key;
  for (int i = 0; i != 3; ++i) secrets.answers.emplace_back(error_code{}, broken);
  pass(60s);
  for (int i = 0; i != 3; ++i) {
    CHECK(of->current() == first);
    run();
    pass(5s);
  }
  CHECK(of->problem().find("client key") != std::string::npos);
  CHECK(counts.failed == 3);
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0].find("the last good ones stay in use") != std::string::npos);
  CHECK(log.lines[0].find("PRIVATE") == std::string::npos);
  secrets.answers.emplace_back(error_code{}, b.secret());
  of->current();
  run();
  CHECK(of->problem().empty());
  CHECK(of->current() == first);
}

TEST_CASE_FIXTURE(credential_fixture, "without a good bundle calls fail at once until the next try") {
  auto const of = make();
  secrets.answers.emplace_back(error_code{errc::not_found}, secret_data{{}, "not found"});
  CHECK(fetch(*of).first == errc::unavailable);
  CHECK(of->problem() == "secret s1: not found");
  CHECK(fetch(*of).first == errc::unavailable);
  CHECK(secrets.asked.size() == 1);
  pass(5s);
  secrets.answers.emplace_back(error_code{}, b.secret());
  CHECK_FALSE(fetch(*of).first);
}

TEST_CASE_FIXTURE(credential_fixture, "a reference without a Secret is trust alone") {
  auto const of = make({"games", "", shared_string{b.ca.pem()}});
  auto const [ec, got] = fetch(*of);
  REQUIRE_FALSE(ec);
  CHECK(secrets.asked.empty());
  CHECK(got->tls.certificate_pem.empty());
  CHECK(got->tls.ca_pem == b.ca.pem());
  auto const bad = make({"games", "", "junk"});
  CHECK(fetch(*bad).first == errc::unavailable);
  CHECK(bad->problem() == "only PEM format is accepted for server CA");
}

TEST_CASE_FIXTURE(credential_fixture, "who waits for the Secret may leave") {
  auto const of = make();
  secrets.answers.emplace_back(error_code{}, b.secret());
  boost::asio::cancellation_signal leave;
  std::optional<error_code> told;
  of->async_fetch({}, boost::asio::bind_cancellation_slot(leave.slot(), [&told](error_code ec, credentials_ptr) { told = ec; }));
  leave.emit(boost::asio::cancellation_type::terminal);
  run();
  CHECK(told == errc::cancelled);
  CHECK(of->current() != nullptr);
}
