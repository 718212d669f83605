// What do several clusters cost, over calling the one that has the servers directly?
//
// A remote server (own thread, mutual TLS on loopback, its own fleet) is asked by the same callers in three ways: with
// prepared bodies over a pool of connections; the same with a request id each, which is what a remote call has, so that it can
// be repeated; and through multi_cluster_allocator, which converts, chooses, calls and reads. Rounds alternate; medians
// count. Processor time is told, too, of the callers' thread and of the remote's: on a machine that does other things
// besides, it says more than rates. Then both sides' certificates change under load, and policies are drawn.
#include "../tests/beast/certificates.hpp"
#include "median.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/async/multi_cluster_allocator.hpp>
#include <agones_alloc/beast/allocator_backend.hpp>
#include <agones_alloc/beast/client/pooled_http_client.hpp>
#include <agones_alloc/beast/client/static_credentials.hpp>
#include <agones_alloc/beast/http_listener.hpp>
#include <agones_alloc/beast/remote/rest_remote_allocator.hpp>
#include <agones_alloc/beast/rest_front_end.hpp>
#include <agones_alloc/beast/tls/tls_server.hpp>
#include <agones_alloc/flow/connection_iterator.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

namespace asio = boost::asio;
using namespace agones_alloc;
using beast_test::certificate_authority;
using clock_type = std::chrono::steady_clock;

struct settings {
  bool json{false};
  std::size_t callers{64};
  std::size_t calls{20'000};  ///< of one round
  std::size_t rounds{3};
};

/// A folder with the server's files, gone afterwards.
class folder {
 public:
  folder() {
    auto pattern = (std::filesystem::temp_directory_path() / "agones_alloc_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  folder(folder const&) = delete;
  auto operator=(folder const&) -> folder& = delete;
  auto write(char const* name, std::string const& text) const -> std::filesystem::path {
    std::ofstream{path_ / name} << text;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

auto make_server(std::size_t number) -> game_server {
  static string_map const labels{{"agones.dev/fleet", "simple"}, {"agones.dev/gameserverset", "simple-abcde"}};
  game_server server;
  server.meta.name = "simple-abcde-" + std::to_string(number);
  server.meta.namespace_ = "default";
  server.meta.labels = labels;
  server.status.state = game_server_state::ready;
  server.status.node_name = "node-" + std::to_string(number / 64);
  server.status.address = "10.0.0.1";
  server.status.ports = {{"default", static_cast<std::int32_t>(7000 + number % 1000)}};
  return server;
}

/// The other cluster. Its loop is its thread's.
class remote_server {
 public:
  remote_server(std::size_t servers, std::string const& client_ca, certificate_authority::pair const& own)
      : files_{}, tls_{io_.get_executor(), time_, tls_settings(client_ca, own)} {
    for (std::size_t i = 0; i != servers; ++i) cache_.store(store_.create(make_server(i)).value());
    if (!tls_.load().empty() || (listener_.use(tls_), listener_.listen("127.0.0.1", 0))) {
      std::fputs("remote: cannot serve on 127.0.0.1\n", stderr);
      std::exit(1);
    }
    thread_ = std::thread{[this] { io_.run(); }};
  }
  ~remote_server() {
    asio::post(io_, [this] { listener_.close(); });
    work_.reset();
    io_.stop();
    thread_.join();
  }
  remote_server(remote_server const&) = delete;
  auto operator=(remote_server const&) -> remote_server& = delete;
  auto port() -> std::uint16_t { return listener_.port(); }
  void rotate(certificate_authority::pair const& own) {
    asio::post(io_, [this, own] {
      files_.write("tls.crt", own.certificate);
      files_.write("tls.key", own.key);
      tls_.look();
    });
  }

 private:
  auto tls_settings(std::string const& client_ca, certificate_authority::pair const& own) -> tls_server_options {
    tls_server_options out;
    out.certificate = files_.write("tls.crt", own.certificate);
    out.key = files_.write("tls.key", own.key);
    out.client_authorities.push_back(files_.write("ca.crt", client_ca));
    out.clients = client_verification::required;
    return out;
  }

  folder files_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  asio_timer time_{io_.get_executor()};
  memory_store store_{io_.get_executor(), memory_store_options{.clock = &time_}};
  ready_cache cache_;
  seeded_random random_{1};
  allocator allocate_{io_.get_executor(), cache_, store_, time_, random_};
  allocator_backend backend_{allocate_};
  rest_front_end front_end_{backend_, time_, {}};
  tls_server tls_;
  http_listener listener_{io_.get_executor(), front_end_, time_};
  std::thread thread_;
};

/// The client's Secret; the caller's loop only.
struct one_secret final : secret_source {
  explicit one_secret(asio::any_io_executor e) : executor{std::move(e)} {}
  void do_get(std::string, std::string, handler done) override {
    asio::post(executor, [done = std::move(done), out = data]() mutable { std::move(done)(error_code{}, std::move(out)); });
  }
  asio::any_io_executor executor;
  secret_data data;
};

auto secret_of(certificate_authority const& trusted, certificate_authority::pair const& own) -> secret_data {
  return {{{"tls.crt", own.certificate}, {"tls.key", own.key}, {"ca.crt", trusted.pem()}}, {}};
}

/// In microseconds, used so far by this thread, or by all of the process.
auto processor_time(int of) -> double {
  rusage used{};
  ::getrusage(of, &used);
  auto const micro = [](timeval const& t) { return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec); };
  return micro(used.ru_utime) + micro(used.ru_stime);
}

struct tally {
  std::size_t failed{0};
  double own_time{0};  ///< of the processor, in microseconds
  double all_time{0};
  std::vector<double> took;  ///< microseconds
  std::multiset<std::string> names;
  double seconds{0};
  auto per_second() const -> double { return static_cast<double>(took.size()) / seconds; }
  auto median() -> double {
    std::nth_element(took.begin(), took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2), took.end());
    return took[took.size() / 2];
  }
};

using answered = std::function<void(std::string const& name)>;  ///< "": none was had
using ask = std::function<void(answered)>;

/// So many callers, each with one call at a time, until all calls are done.
auto load(asio::io_context& io, std::size_t callers, std::size_t calls, ask const& one) -> tally {
  tally out;
  out.took.reserve(calls);
  std::size_t begun = 0;
  std::function<void()> next = [&] {
    if (begun == calls) return;
    ++begun;
    one([&, started = clock_type::now()](std::string const& name) {
      out.took.push_back(std::chrono::duration<double, std::micro>{clock_type::now() - started}.count());
      if (name.empty()) ++out.failed;
      out.names.insert(name);
      next();
    });
  };
  auto const own = processor_time(RUSAGE_THREAD);
  auto const all = processor_time(RUSAGE_SELF);
  auto const started = clock_type::now();
  for (std::size_t i = 0; i != std::min(callers, calls); ++i) next();
  io.restart();
  while (out.took.size() < calls) io.run_one();
  out.seconds = std::chrono::duration<double>{clock_type::now() - started}.count();
  out.own_time = processor_time(RUSAGE_THREAD) - own;
  out.all_time = processor_time(RUSAGE_SELF) - all;
  return out;
}

/// Of one way to call, a value for each round.
struct rounds {
  std::vector<double> rates;
  std::vector<double> own;    ///< processor time of the callers' thread, a call
  std::vector<double> other;  ///< the same of the remote's
  void add(tally const& one) {
    auto const calls = static_cast<double>(one.took.size());
    rates.push_back(one.per_second());
    own.push_back(one.own_time / calls);
    other.push_back((one.all_time - one.own_time) / calls);
  }
};

using bench::median;

/// The largest distance of a first pick's share from its weight, in 100,000 draws.
auto share_error() -> double {
  std::vector<std::int64_t> const weights{50, 30, 15, 5};
  std::vector<game_server_allocation_policy> policies;
  for (std::size_t i = 0; i != weights.size(); ++i) {
    policies.emplace_back().meta.name = std::to_string(i);
    policies.back().weight = weights[i];
    policies.back().connection_info.cluster_name = std::to_string(i);
  }
  connection_iterator const clusters{policies};
  seeded_random random{3};
  std::vector<int> picks(weights.size());
  for (int i = 0; i != 100'000; ++i) {
    auto one = clusters;
    ++picks[static_cast<std::size_t>(std::stoi(one.next_cluster(random)->identity))];
  }
  double worst = 0;
  for (std::size_t i = 0; i != weights.size(); ++i) {
    worst = std::max(worst, std::abs(picks[i] / 100'000.0 - static_cast<double>(weights[i]) / 100.0));
  }
  return worst;
}

}  // namespace

auto main(int argc, char** argv) -> int {
  settings how;
  CLI::App app{"Measures what several clusters cost, over calling the one that has the servers directly."};
  app.add_flag("--json", how.json, "One JSON object");
  app.add_option("--callers", how.callers, "Calls at any time")->check(CLI::Range(1, 1'000'000))->capture_default_str();
  app.add_option("--calls", how.calls, "Of one round")->check(CLI::Range(8, 1'000'000))->capture_default_str();
  app.add_option("--rounds", how.rounds, "Of each kind")->check(CLI::Range(1, 1000))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  ::mallopt(M_MXFAST, 0);  // see "Memory" in the guide: pauses
  certificate_authority server_ca{"servers"};
  certificate_authority client_ca{"clients"};
  auto const server_pair = [&] { return server_ca.issue({"server", "IP:127.0.0.1", -3600, 3600, "", "serverAuth"}); };
  auto const client_pair = [&] { return client_ca.issue({"client", "", -3600, 3600, "", "clientAuth"}); };
  auto const lone = std::min<std::size_t>(how.calls, 2000);
  remote_server server{(3 * how.rounds + 1) * how.calls + 3 * lone + 1000, client_ca.pem(), server_pair()};

  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> const work{io.get_executor()};
  asio_timer time{io.get_executor()};
  one_secret secrets{io.get_executor()};
  secrets.data = secret_of(server_ca, client_pair());

  // Directly.
  client_endpoint endpoint{"127.0.0.1", server.port(), true, ""};
  client_credentials shown;
  shown.tls = {server_ca.pem(), secrets.data.entries.at("tls.crt"), secrets.data.entries.at("tls.key"), "", false};
  pooled_http_client direct{io.get_executor(), endpoint, std::make_shared<static_credentials>(io.get_executor(), shown), time};
  client_request prepared;
  prepared.method = "POST";
  prepared.target = "/gameserverallocation";
  prepared.content_type = "application/json";
  prepared.body = R"({"namespace":"default","gameServerSelectors":[{"matchLabels":{"agones.dev/fleet":"simple"}}]})";
  auto const send = [&direct](client_request const& wanted, answered done) {
    direct.async_request(wanted, [done = std::move(done)](error_code ec, client_response const& answer) {
      constexpr std::string_view before = "{\"gameServerName\":\"";
      auto const name = answer.body.substr(std::min(before.size(), answer.body.size()));
      done(ec || answer.status != 200 ? std::string{} : name.substr(0, name.find('"')));
    });
  };
  ask const directly = [&](answered done) { send(prepared, std::move(done)); };
  auto identified = prepared;
  identified.headers.emplace_back("Idempotency-Key", "");
  std::size_t ids = 0;
  ask const by_id = [&](answered done) {
    identified.headers.back().second = "direct-" + std::to_string(++ids);
    send(identified, std::move(done));
  };

  // Through policies.
  game_server_allocation_policy policy;
  policy.meta.namespace_ = "default";
  policy.meta.name = "east";
  policy.weight = 1;
  policy.connection_info.cluster_name = "east";
  policy.connection_info.secret_name = "client";
  policy.connection_info.allocation_endpoints.push_back("127.0.0.1:" + std::to_string(server.port()));
  policy_list const policies{{policy}};
  rest_remote_options options;
  options.secret_time_to_live = std::chrono::milliseconds{50};
  options.serial_executor = true;  // one thread
  rest_remote_allocator remote{io.get_executor(), &secrets, time, options};
  seeded_random random{2};
  multi_cluster_options serial;
  serial.serial_executor = true;
  multi_cluster_allocator clusters{io.get_executor(), nullptr, remote, policies, time, random, serial};
  game_server_allocation wanted;
  wanted.meta.namespace_ = "default";
  wanted.spec.selectors.emplace_back().labels.match_labels.set("agones.dev/fleet", "simple");
  multi_cluster_request request;
  request.request = std::get<request_ptr>(allocation_request::make(wanted));
  ask const by_policy = [&](answered done) {
    clusters.async_allocate(request, [done = std::move(done)](error_code ec, allocation_result const& result) {
      done(ec ? std::string{} : result.server->meta.name.str());
    });
  };
  auto const connections = [&] {
    remote_endpoint_state out;
    bool told = false;
    remote.async_endpoints([&](std::vector<remote_endpoint_state> all) {
      if (!all.empty()) out = all.front();
      told = true;
    });
    while (!told) io.run_one();
    return out;
  };

  rounds direct_rounds;
  rounds id_rounds;
  rounds policy_rounds;
  std::size_t failed = 0;
  remote_endpoint_state warm;
  for (std::size_t round = 0; round != how.rounds; ++round) {
    auto const a = load(io, how.callers, how.calls, directly);
    auto const b = load(io, how.callers, how.calls, by_id);
    auto const c = load(io, how.callers, how.calls, by_policy);
    direct_rounds.add(a);
    id_rounds.add(b);
    policy_rounds.add(c);
    failed += a.failed + b.failed + c.failed;
    if (round == 0) warm = connections();
  }
  auto direct_lone = load(io, 1, lone, directly);
  auto id_lone = load(io, 1, lone, by_id);
  auto policy_lone = load(io, 1, lone, by_policy);
  auto const steady = connections();
  auto const steady_calls = static_cast<double>(std::max<std::uint64_t>(steady.sent - warm.sent, 1));
  auto const handshakes = 1000.0 * static_cast<double>(steady.opened - warm.opened) / steady_calls;

  // Both sides change while 64 callers go on.
  std::size_t asked = 0;
  ask const rotating = [&](answered done) {
    if (++asked % std::max<std::size_t>(how.calls / 8, 1) == 0) {
      server.rotate(server_pair());
      secrets.data = secret_of(server_ca, client_pair());
    }
    by_policy(std::move(done));
  };
  auto const rotated = load(io, 64, how.calls, rotating);
  auto const distinct = std::set<std::string>(rotated.names.begin(), rotated.names.end()).size();
  auto const versions = connections().credential_version;
  direct.close();
  remote.close();
  io.restart();
  io.poll();

  auto const rate = median(policy_rounds.rates);
  auto const direct_rate = median(direct_rounds.rates);
  auto const id_rate = median(id_rounds.rates);
  std::printf(how.json ? "{\"per_second\":%.0f,\"direct_per_second\":%.0f,\"ratio\":%.3f,\"p50_us\":%.1f,\"direct_p50_us\":%.1f,"
                         "\"p50_ratio\":%.3f,\"id_per_second\":%.0f,\"id_ratio\":%.3f,\"id_p50_us\":%.1f,\"id_p50_ratio\":%.3f,"
                         "\"cpu_us\":%.1f,\"direct_cpu_us\":%.1f,\"id_cpu_us\":%.1f,"
                         "\"remote_cpu_us\":%.1f,\"direct_remote_cpu_us\":%.1f,\"id_remote_cpu_us\":%.1f,\"handshakes_per_1000\":%.2f,\"failed\":%zu,\"rotation_failed\":%zu,"
                         "\"rotation_duplicated\":%zu,\"rotations\":%llu,\"share_error\":%.4f}\n"
                       : "%.0f remote allocations/s, %.0f directly, ratio %.3f; alone p50 %.1f us, %.1f us directly, ratio %.3f; "
                         "directly with ids %.0f/s, ratio %.3f, p50 %.1f us, ratio %.3f; "
                         "processor time a call %.1f us, directly %.1f us, with ids %.1f us; the remote's %.1f us, %.1f us, %.1f us; "
                         "%.2f handshakes in 1000 calls; %zu failed; rotation: %zu failed, %zu duplicated, %llu bundles; shares off by %.4f\n",
              rate, direct_rate, rate / direct_rate, policy_lone.median(), direct_lone.median(),
              policy_lone.median() / direct_lone.median(), id_rate, rate / id_rate, id_lone.median(),
              policy_lone.median() / id_lone.median(), median(policy_rounds.own), median(direct_rounds.own),
              median(id_rounds.own), median(policy_rounds.other), median(direct_rounds.other), median(id_rounds.other), handshakes, failed, rotated.failed, how.calls - distinct,
              static_cast<unsigned long long>(versions), share_error());
  return failed + rotated.failed == 0 && distinct == how.calls ? 0 : 1;
}
