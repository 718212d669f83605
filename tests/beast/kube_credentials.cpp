#include "client_fixture.hpp"
#include "scratch_folder.hpp"

#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/beast/client/exec_credentials.hpp>
#include <agones_alloc/beast/client/file_credentials.hpp>
#include <agones_alloc/beast/client/kube_connection.hpp>

#include <optional>

using namespace beast_test;

namespace {

struct fetched {
  bool done{false};
  error_code ec;
  credentials_ptr credentials;
  boost::asio::cancellation_signal cancel;
};

struct outcome {
  error_code ec;
  credentials_ptr credentials;
};

auto fetch(credentials_provider& from, credentials_ptr refused = {}) -> std::shared_ptr<fetched> {
  auto out = std::make_shared<fetched>();
  from.async_fetch(std::move(refused),
                   boost::asio::bind_cancellation_slot(out->cancel.slot(), [out](error_code ec, credentials_ptr got) {
                     CHECK_FALSE(out->done);
                     out->done = true;
                     out->ec = ec;
                     out->credentials = std::move(got);
                   }));
  CHECK_FALSE(out->done);
  return out;
}

/// What a plugin is run with, on the real clock.
struct plugin_fixture {
  explicit plugin_fixture(std::string const& script, exec_limits limits = {}) {
    target.host = "::1";
    target.port = 6443;
    target.tls_server_name = "api";
    target.exec.emplace();
    target.exec->api_version = "client.authentication.k8s.io/v1";
    target.exec->command = folder.script("plugin", "echo run >> '" + (folder.path() / "runs").string() + "'\n" + script);
    target.exec->install_hint = "get it";
    make(limits);
  }
  void make(exec_limits limits) {
    auto base = std::make_shared<file_credentials>(io.get_executor(), time, target, &log);
    plugin.emplace(io.get_executor(), time, target, std::move(base), limits, &log);
  }
  auto get(credentials_ptr refused = {}) -> outcome {
    auto const one = fetch(*plugin, std::move(refused));
    run_until(io, [&] { return one->done; });
    return {one->ec, one->credentials};
  }
  auto runs() const -> std::size_t { return folder.read("runs").size() / 4; }
  auto reason() const -> std::string { return log.lines.empty() ? std::string{} : log.lines.back(); }

  scratch_folder folder;
  boost::asio::io_context io;
  asio_timer time{io.get_executor()};
  listening log;
  yaml::kube_target target;
  std::optional<exec_credentials> plugin;
};

auto prints(std::string const& status) -> std::string {
  return "cat <<'END'\n{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":" + status +
         "}\nEND\n";
}

auto holds(std::string const& text, std::string_view part) -> bool { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("A token file is read again each minute, and its last good state kept") {
  scratch_folder folder;
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  listening log;
  yaml::kube_target target;
  target.token_file = folder.write("token", "first\n");
  target.ca.file = folder.write("ca", "PEM");
  file_credentials provider{io.get_executor(), time, target, &log};
  auto const first = provider.current();
  REQUIRE(first);
  CHECK(first->authorization == "Bearer first");
  CHECK(first->tls.ca_pem == "PEM");
  folder.write("token", "second");
  time.advance(59s);
  CHECK(provider.current() == first);
  time.advance(1s);
  auto const second = provider.current();
  REQUIRE(second);
  CHECK(second->authorization == "Bearer second");
  time.advance(60s);
  CHECK(provider.current() == second);  // the same, not a copy
  std::filesystem::remove(folder.path() / "token");
  time.advance(60s);
  CHECK(provider.current() == second);
  time.advance(60s);
  CHECK(provider.current() == second);
  REQUIRE(log.lines.size() == 1);
  CHECK(holds(log.lines[0], "No such file"));
  CHECK_FALSE(holds(log.lines[0], "second"));
  // A server's refusal makes it look at once, though not all the time.
  folder.write("token", "third");
  time.advance(1s);
  auto const asked = fetch(provider, second);
  run_until(io, [&] { return asked->done; });
  REQUIRE(asked->credentials);
  CHECK(asked->credentials->authorization == "Bearer third");
  folder.write("token", "fourth");
  auto const hasty = fetch(provider, asked->credentials);
  run_until(io, [&] { return hasty->done; });
  CHECK(hasty->credentials == asked->credentials);
}

TEST_CASE("Without a first good state there are no credentials") {
  scratch_folder folder;
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  yaml::kube_target target;
  target.token_file = (folder.path() / "token").string();
  file_credentials provider{io.get_executor(), time, target};
  for (auto const* bad : {"", " \n", "a b", "a\x01"}) {
    if (*bad != 0) folder.write("token", bad);
    CHECK_FALSE(provider.current());
    auto const one = fetch(provider);
    run_until(io, [&] { return one->done; });
    CHECK(one->ec == errc::unavailable);
    time.advance(1s);
  }
  folder.write("token", "good");
  REQUIRE(provider.current());
  target.token = "spare";
  std::filesystem::remove(folder.path() / "token");
  file_credentials spare{io.get_executor(), time, target};
  REQUIRE(spare.current());
  CHECK(spare.current()->authorization == "Bearer spare");
  yaml::kube_target basic;
  basic.username = "me";
  basic.password = "pw";
  file_credentials user{io.get_executor(), time, basic};
  CHECK(user.current()->authorization == "Basic bWU6cHc=");
}

TEST_CASE("A plugin is run once for all who ask, and its credential kept") {
  plugin_fixture f{prints(R"({"token":"abc"})")};
  CHECK_FALSE(f.plugin->current());
  auto const a = fetch(*f.plugin);
  auto const b = fetch(*f.plugin);
  run_until(f.io, [&] { return a->done && b->done; });
  REQUIRE_FALSE(a->ec);
  CHECK(a->credentials == b->credentials);
  CHECK(a->credentials->authorization == "Bearer abc");
  CHECK(a->credentials->tls.server_name == "api");
  CHECK(f.plugin->current() == a->credentials);
  CHECK(f.runs() == 1);
  // Refused, but so fresh that another run is not worth it.
  CHECK(f.get(a->credentials).credentials == a->credentials);
  CHECK(f.runs() == 1);
  CHECK(f.log.lines.empty());
}

TEST_CASE("A plugin's certificate goes with the authority of the target") {
  plugin_fixture f{prints(R"({"clientCertificateData":"C","clientKeyData":"K","expirationTimestamp":"9999-12-31T00:00:00Z"})")};
  f.target.ca.pem = "CA";
  f.make({});
  auto const got = f.get();
  REQUIRE(got.credentials);
  CHECK(got.credentials->tls.ca_pem == "CA");
  CHECK(got.credentials->tls.certificate_pem == "C");
  CHECK(got.credentials->tls.key_pem == "K");
  CHECK(got.credentials->authorization.empty());
}

TEST_CASE("A refused credential is fetched anew, and an expired one is none") {
  exec_limits limits;
  limits.pause = 1ns;
  plugin_fixture f{prints(R"({"token":"'$(wc -l < "$(dirname "$0")/runs")'"})")};
  f.target.exec->command = f.folder.script(
      "counting", "d=$(dirname \"$0\"); echo run >> $d/runs; n=$(wc -l < $d/runs)\n"
                  "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t'$n'\"}}'\n");
  f.make(limits);
  auto const first = f.get();
  REQUIRE(first.credentials);
  CHECK(first.credentials->authorization == "Bearer t1");
  auto const second = f.get(first.credentials);
  REQUIRE(second.credentials);
  CHECK(second.credentials->authorization == "Bearer t2");
  CHECK(f.get(first.credentials).credentials == second.credentials);
  CHECK(f.runs() == 2);

  plugin_fixture old{prints(R"({"token":"x","expirationTimestamp":"2020-01-01T00:00:00Z"})")};
  CHECK(old.get().ec == errc::unavailable);
  CHECK(holds(old.reason(), "printed a credential that has expired"));
  CHECK_FALSE(old.plugin->current());
}

TEST_CASE("A plugin sees its arguments, its variables and what it may know") {
  plugin_fixture f{""};
  f.target.ca.pem = "CA";
  f.target.exec->args = {"one", "two words"};
  f.target.exec->env = {{"REGION", "eu"}, {"PATH", "/bin:/usr/bin"}};
  f.target.exec->provide_cluster_info = true;
  f.target.exec->command = f.folder.script("show",
                                           "{ echo \"$# $2 $REGION $PATH\"; echo \"$KUBERNETES_EXEC_INFO\"; cat; } > \"$(dirname "
                                           "\"$0\")/seen\"\n" +
                                               prints(R"({"token":"x"})"));
  f.make({});
  CHECK_FALSE(f.get().ec);
  auto const seen = f.folder.read("seen");
  CHECK(holds(seen, "2 two words eu /bin:/usr/bin\n"));
  CHECK(holds(seen, R"("server":"https://[::1]:6443","tls-server-name":"api","certificate-authority-data":"Q0E=")"));
}

TEST_CASE("A plugin that fails is said to, without its output, and not run again at once") {
  plugin_fixture f{"echo secret; exit 3\n"};
  CHECK(f.get().ec == errc::unavailable);
  CHECK(holds(f.reason(), "reason=exited with status 3 hint=get it"));
  CHECK_FALSE(holds(f.reason(), "secret"));
  CHECK(f.get().ec == errc::unavailable);
  CHECK(f.runs() == 1);

  plugin_fixture nonsense{"echo secret\n"};
  CHECK(nonsense.get().ec == errc::unavailable);
  CHECK(holds(nonsense.reason(), "printed no credential"));
  CHECK_FALSE(holds(nonsense.reason(), "secret"));

  plugin_fixture killed{"kill -9 $$\n"};
  CHECK(killed.get().ec == errc::unavailable);
  CHECK(holds(killed.reason(), "was ended by signal 9"));

  plugin_fixture missing{""};
  missing.target.exec->command = "agones-alloc-no-such-plugin";
  missing.make({});
  CHECK(missing.get().ec == errc::unavailable);
  CHECK(holds(missing.reason(), "cannot run agones-alloc-no-such-plugin: No such file"));
}

TEST_CASE("A plugin that goes on for ever, in time or in words, is killed with its children") {
  exec_limits limits;
  limits.time = 200ms;
  plugin_fixture silent{"sleep 1000 & wait\n", limits};
  CHECK(silent.get().ec == errc::unavailable);
  CHECK(holds(silent.reason(), "did not end in time"));

  plugin_fixture lingering{"exec >&-\nsleep 1000\n", limits};
  CHECK(lingering.get().ec == errc::unavailable);
  CHECK(holds(lingering.reason(), "did not end in time"));

  limits = {};
  limits.output_bytes = 1000;
  plugin_fixture loud{"while :; do echo secret; done\n", limits};
  CHECK(loud.get().ec == errc::unavailable);
  CHECK(holds(loud.reason(), "printed too much"));
}

TEST_CASE("Who waits for a plugin can leave, and its end ends all") {
  plugin_fixture f{"sleep 1000\n"};
  auto const one = fetch(*f.plugin);
  auto const two = fetch(*f.plugin);
  one->cancel.emit(boost::asio::cancellation_type::terminal);
  run_until(f.io, [&] { return one->done; });
  CHECK(one->ec == errc::cancelled);
  CHECK_FALSE(two->done);
  f.plugin.reset();
  run_until(f.io, [&] { return two->done; });
  CHECK(two->ec == errc::cancelled);
  f.io.restart();
  f.io.run();  // nothing is left that would go on
}

TEST_CASE("In a cluster, everything is where Kubernetes puts it") {
  scratch_folder folder;
  CHECK(in_cluster_target("", "", folder.path()).errors.size() == 4);
  folder.write("token", "tok");
  folder.write("ca.crt", "PEM");
  folder.write("namespace", "games\n");
  auto const bad = in_cluster_target("10.0.0.1", "port", folder.path());
  REQUIRE(bad.errors.size() == 1);
  CHECK(to_string(bad.errors[0]) == "KUBERNETES_SERVICE_PORT: is no port");
  auto const got = in_cluster_target("10.0.0.1", "443", folder.path());
  REQUIRE(got.ok());
  boost::asio::io_context io;
  manual_timer time{io.get_executor()};
  auto const connection = make_kube_connection(io.get_executor(), time, got.target);
  CHECK(connection.endpoint.host == "10.0.0.1");
  CHECK(connection.endpoint.port == 443);
  CHECK(connection.endpoint.tls);
  CHECK(connection.default_namespace == "games");
  REQUIRE(connection.credentials->current());
  CHECK(connection.credentials->current()->authorization == "Bearer tok");
  CHECK(connection.credentials->current()->tls.ca_pem == "PEM");
}
