#include "server.hpp"

#include "cluster_serving.hpp"
#include "embedded_backing.hpp"
#include "event_serving.hpp"
#include "fleet_serving.hpp"
#include "gate_serving.hpp"
#include "grpc_serving.hpp"
#include "kubernetes_backing.hpp"
#include "live_page.hpp"
#include "logging.hpp"
#include "metrics.hpp"
#include "process_limits.hpp"
#include "tls_serving.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/socket_probe.hpp>
#include <agones_alloc/beast/allocator_backend.hpp>
#include <agones_alloc/beast/caller_gate.hpp>
#include <agones_alloc/beast/gate_front_end.hpp>
#include <agones_alloc/beast/http_listener.hpp>
#include <agones_alloc/beast/claims_front_end.hpp>
#include <agones_alloc/beast/cluster_api/cluster_front_end.hpp>
#include <agones_alloc/beast/http_router.hpp>
#include <agones_alloc/beast/kubernetes_front_end.hpp>
#include <agones_alloc/beast/probes.hpp>
#include <agones_alloc/beast/rest_front_end.hpp>
#include <agones_alloc/beast/service_document.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace agones_alloc_server {

namespace {

using namespace agones_alloc;

/// `target`: null for embedded fleets.
auto make_backing(boost::asio::any_io_executor executor, server_options const& options, yaml::kube_target const* target,
                  ready_cache& cache, timer& time, random_source& random, logger& log, server_observer* observer,
                  event_serving& told) -> std::unique_ptr<backing> {
  if (target != nullptr) {
    return std::make_unique<kubernetes_backing>(executor, options, *target, cache, time, random, log, observer, told);
  }
  return std::make_unique<embedded_backing>(executor, options, cache, time, random, log, observer, told);
}

/// Replicas in front of one cluster must not all draw the same numbers.
auto seed_of(server_options const& options) -> std::uint64_t {
  return options.kubernetes.used() ? std::random_device{}() : options.simulator.seed;
}

auto place_of(std::string const& address, std::uint16_t port) -> std::string {
  auto const host = address.find(':') == std::string::npos ? address : "[" + address + "]";
  return host + ":" + std::to_string(port);
}

/// Connections to games that are kept from one check to the next: most descriptors are for clients.
auto most_kept_checks() -> std::size_t { return std::min(socket_probe::default_max_kept, raise_descriptor_limit() / 4); }

/// Of claims, beside those of fleets: they leave room for others as well.
auto claim_streams(server_options const& options) -> fleets_options {
  fleets_options out;
  out.streams = std::min(options.directory.streams, std::max<std::size_t>(options.limits.connections / 8, 1));
  out.streams_per_caller = options.directory.streams_per_caller;
  out.heartbeat = options.directory.heartbeat;
  out.stream_time = options.directory.stream_time;
  return out;
}

class program {
 public:
  program(server_options const& options, yaml::kube_target const* target)
      : options_{options},
        random_{seed_of(options)},
        directory_{make_directory(io_.get_executor(), options, time_)},
        events_{io_.get_executor(), options, time_, random_, log_},
        backing_{make_backing(io_.get_executor(), options, target, cache_, time_, random_, log_, &relay_, events_)},
        metrics_{std::chrono::system_clock::now(), [this] { return backing_->fleets(); }, [this] { return events_.counts(); }, probes_},
        gate_{make_gate(io_.get_executor(), options, cache_, *backing_, time_, random_, log_, metrics_, probe_, secrets_, directory_.get())},
        allocator_{io_.get_executor(), cache_, backing_->servers(), time_, random_, allocation_options(options),
                   {backing_->events(), &metrics_, &log_, observer(), gate_.get()}},
        backend_{allocator_},
        clusters_{io_.get_executor(), options, allocator_, backend_, backing_->client(), time_, random_, log_, metrics_,
                  directory_.get()},
        kubernetes_{clusters_.backend(), time_, front_end(options)},
        rest_{clusters_.backend(), time_, front_end(options)},
        calls_{gate_ ? std::make_unique<gate_front_end>(*gate_) : nullptr},
        claims_{allocator_, time_, claims_options(), gate_.get(), claim_streams(options)},
        fleets_{make_fleets()},
        grpc_{make_grpc(options, front_end(options),
                        {io_.get_executor(), clusters_.backend(), directory_.get(), time_, log_})},
        rest_routes_{rest_},
        cluster_api_{make_cluster_api()},
        loads_{options.requests_per_client},
        kubernetes_gate_{kubernetes_api(), loads_, refusal_form::kubernetes},
        rest_gate_{rest_routes_, loads_, refusal_form::rest},
        tls_{make_tls()},
        router_{tls_ ? tls_->kubernetes() : kubernetes_gate_},
        listener_{io_.get_executor(), router_, time_, options.limits, &log_, &metrics_},
        signals_{io_, SIGINT, SIGTERM},
        reload_{io_} {
    relay_.pass_to(observer());
    probes_.add_live("allocator", [this] {
      return allocator_.outstanding() < options_.max_allocations ? std::string{} : std::string{"too many allocations at once"};
    });
    probes_.add_ready("game-server-cache", [this] { return backing_->synced() ? std::string{} : std::string{"not filled yet"}; });
    probes_.add_ready("agones-alloc-server", [this] {
      return stopping_ ? std::string{"asked to shut down, failed readiness check"} : std::string{};
    });
    if (tls_) {
      probes_.add_ready("front-proxy", [this] {
        return tls_->known() ? std::string{} : std::string{"it is not known yet whose certificate is the API server's"};
      });
    }
    probes_.add_ready("policies", [this] { return clusters_.synced() ? std::string{} : std::string{"not listed yet"}; });
    metrics_.watch(loads_);
    rest_routes_.add("/v1/clusters", clusters_.page());
    rest_routes_.add(std::string{claims_front_end::prefix}, claims_, true);
    if (fleets_) fleets_->add_routes(rest_routes_);
    if (grpc_) grpc_->add_routes(rest_routes_);  // not over HTTP: router_ knows nothing of them
    if (calls_) router_.add(std::string{gate_front_end::prefix}, *calls_, true);
    http_handler& rest = rest_door();
    router_.add("/gameserverallocation", rest, true);
    router_.add("/v1/clusters", rest);
    router_.add(std::string{claims_front_end::prefix}, rest, true);
    if (fleets_) {
      fleets_->add_routes(router_, rest);
      metrics_.show(*fleets_);
    }
    router_.add(std::string{service_document::path}, document_);
    router_.add("/live", probes_);
    router_.add("/ready", probes_);
    router_.add("/metrics", metrics_);
    if (fleets_ && !options_.no_page) {
      rest_routes_.add(std::string{live_page::root}, page_);
      rest_routes_.add(std::string{live_page::folder}, page_, true);
      router_.add(std::string{live_page::root}, rest);
      router_.add(std::string{live_page::folder}, rest, true);
    }
  }

  auto run() -> int {
    check_descriptors();
    for (auto const& name : options_.unknown_variables) {
      log_.log(severity::warning, "the environment has a variable that is no option's; --help tells the options", {{"variable", name}});
    }
    if (!events_.prepare() || !backing_->prepare() || !clusters_.prepare(backing_->policies())) return 2;
    if (tls_ && !tls_->prepare(listener_)) return 2;
    if (auto const ec = listener_.listen(options_.address, options_.port)) {
      auto const place = place_of(options_.address, options_.port);
      std::cerr << "agones-alloc-server: --listen " << place << ": "
                << (ec == errc::invalid_request ? "not a numeric address" : ec.message()) << '\n';
      return 1;
    }
    if (grpc_ && !grpc_->listen(rest_door(), tls_ ? &tls_->certificates() : nullptr,
                                tls_ ? tls_->clients() : client_verification::none, metrics_)) {
      return 1;
    }
    backing_->start();
    events_.start([this] {
      std::optional<std::vector<fleet>> out;
      if (backing_->synced()) out = backing_->fleets();
      return out;
    });
    clusters_.start();
    if (fleets_) fleets_->start();
    if (grpc_) grpc_->start([this] { return backing_->synced() && clusters_.synced() && (!tls_ || tls_->known()); });
    await_signal();
    if (tls_) tls_->start();
    if (tls_ || !options_.clusters.policies.empty() || events_.used()) {
      reload_.add(SIGHUP);
      await_reload();
    }
    announce();
    io_.run();
    return exit_code_;
  }

 private:
  auto rest_door() -> http_handler& { return tls_ ? tls_->rest() : static_cast<http_handler&>(rest_gate_); }
  /// Who is told of every value of a game server; null: nobody wants to know.
  auto observer() const -> server_observer* { return gate_ ? static_cast<server_observer*>(gate_.get()) : directory_.get(); }

  auto make_tls() -> std::unique_ptr<tls_serving> {
    if (!options_.tls.used()) return nullptr;
    return std::make_unique<tls_serving>(io_.get_executor(), options_, backing_->client(), kubernetes_gate_, rest_gate_, time_,
                                         log_);
  }

  auto claims_options() const -> front_end_options {
    auto out = front_end(options_);
    out.listed = [this] { return backing_->synced(); };
    return out;
  }

  auto make_fleets() -> std::unique_ptr<fleet_serving> {
    if (!directory_) return nullptr;
    return std::make_unique<fleet_serving>(options_, *directory_, allocator_, *backing_, time_, front_end(options_));
  }

  auto make_cluster_api() -> std::unique_ptr<cluster_front_end> {
    auto const parts = backing_->embedded();
    if (options_.no_cluster_api || parts.cluster == nullptr) return nullptr;
    cluster_api_options how;
    how.watches = how.fleets.waiters = options_.max_watches;
    how.max_replicas = options_.simulator.max_servers;
    how.fleets.first_version = first_version(time_);
    how.events = parts.events;
    how.may_use = front_end(options_).may_allocate;
    return std::make_unique<cluster_front_end>(io_.get_executor(), *parts.store, *parts.cluster, time_, kubernetes_, how);
  }

  auto kubernetes_api() -> http_handler& {
    if (cluster_api_) return *cluster_api_;
    return kubernetes_;
  }

  static auto front_end(server_options const& options) -> front_end_options {
    auto out = options.front_end;
    if (options.tls.clients.empty()) return out;
    out.may_allocate = [&rules = options.tls.clients](http_request const& request, std::string_view space) {
      return may_allocate(rules, request, space);
    };
    return out;
  }

  static auto allocation_options(server_options const& options) -> allocator_options {
    allocator_options out;
    out.gates = options.front_end.gates;
    out.choice = options.front_end.choice;
    out.timeout = options.front_end.request_time;
    out.max_operations = options.max_allocations;
    out.max_writes = options.max_writes;
    out.index.max_views = options.max_shapes;
    out.max_waiting = options.max_waiting;
    out.max_waiting_alike = options.max_waiting;
    out.claims = options.claims;
    out.claims.sweep = !options.leave_claims;
    // Beyond its own share a replica meets others; the more its watch has told by the next try, the better that goes.
    if (options.front_end.choice.prefer.count > 1) {
      out.retry = std::make_shared<backoff>(
          backoff_options{5, std::chrono::milliseconds{100}, 4.0, 0.5, std::chrono::seconds{5}});
    }
    return out;
  }

  void check_descriptors() {
    static constexpr std::size_t beside_connections = 64;
    auto const limit = raise_descriptor_limit();
    if (limit - std::min(limit, beside_connections) >= options_.limits.connections) return;
    auto const shown = std::to_string(limit);
    log_.log(severity::warning, "--max-connections is more than the descriptors this process may have (ulimit -n) allow",
             {{"descriptors", shown}});
  }

  void announce() {
    auto const url = (tls_ ? "https://" : "http://") + place_of(options_.address, listener_.port());
    if (options_.speaks_by_log()) {
      backing_->describe();
      log_.log(severity::info, "listening", {{"url", url}});
      if (grpc_) log_.log(severity::info, "listening for gRPC", {{"place", place_of(options_.grpc.address, grpc_->port())}});
      return;
    }
    std::cout << "agones-alloc-server " << AGONES_ALLOC_VERSION << '\n';
    auto const first_namespace = backing_->describe();
    if (auto const count = clusters_.policies(); count != 0) std::cout << "  policies for several clusters: " << count << '\n';
    if (fleets_ && !options_.no_page) std::cout << "  the fleets, live, in a browser: " << url << "/\n";
    if (grpc_) std::cout << "  gRPC on " << place_of(options_.grpc.address, grpc_->port()) << (tls_ ? " (TLS)\n" : " (plaintext)\n");
    std::cout << "  listening on " << url << "  (also /live, /ready, /metrics)\n"
              << "  the next game server:\n    curl -s -H 'Content-Type: application/json' " << url
              << "/apis/allocation.agones.dev/v1/namespaces/" << first_namespace << "/gameserverallocations -d '{\"spec\":{}}'\n";
    if (cluster_api_) {
      std::cout << "  the fleets:\n    kubectl --server " << url << " -n " << first_namespace << " get fleets,gameservers\n";
    }
    std::cout << std::flush;
  }

  void await_signal() {
    signals_.async_wait([this](error_code ec, int signal) {
      if (ec) return;
      if (stopping_) std::_Exit(1);  // asked twice: now
      stopping_ = true;
      await_signal();
      log_.log(severity::info, "stopping", {{"signal", signal == SIGINT ? "SIGINT" : "SIGTERM"}});
      if (grpc_) grpc_->stop_serving();
      time_.async_wait_until(time_.now() + options_.readiness_shutdown_duration, [this](error_code) { drain(); });
    });
  }

  void await_reload() {
    reload_.async_wait([this](error_code ec, int) {
      if (ec) return;
      if (tls_) tls_->look();
      clusters_.look();
      events_.look();
      await_reload();
    });
  }

  void drain() {
    auto const deadline = time_.now() + options_.shutdown_grace;
    draining_ = grpc_ ? 2 : 1;
    listener_.async_drain(deadline, [this](error_code ec) { drained(!ec); });
    if (grpc_) grpc_->drain(deadline, [this](bool whole) { drained(whole); });
  }

  void drained(bool whole) {
    if (!whole) {
      log_.log(severity::warning, "requests were cut: --shutdown-grace was not enough");
      exit_code_ = 1;
    }
    if (--draining_ > 0) return;
    if (!events_.used()) return finish_writing(time_.now() + std::chrono::seconds{5});
    // The watch may lag behind the last allocations.
    time_.async_wait_until(time_.now() + watch_lag, [this](error_code) { finish_writing(time_.now() + std::chrono::seconds{5}); });
  }

  // Events may lag behind the allocations that they tell of.
  void finish_writing(timer::time_point until) {
    if (backing_->unwritten() > 0 && time_.now() < until) {
      time_.async_wait_until(time_.now() + std::chrono::milliseconds{20}, [this, until](error_code) { finish_writing(until); });
      return;
    }
    if (fleets_) fleets_->stop();
    clusters_.stop();
    backing_->stop();
    events_.drain(time_.now() + options_.event_grace, [this] { end(); });
  }

  void end() {
    log_.log(severity::info, "stopped");
    events_.stop();
    error_code ignored;
    signals_.cancel(ignored);
    reload_.cancel(ignored);
    if (tls_) tls_->stop();
    io_.stop();
  }

  static constexpr std::chrono::milliseconds watch_lag{100};

  server_options const& options_;
  boost::asio::io_context io_{1};
  asio_timer time_{io_.get_executor()};
  line_logger log_{options_.format, options_.level, time_};
  ready_cache cache_;
  seeded_random random_;
  std::unique_ptr<fleet_directory> directory_;  ///< null: nobody wants to know
  event_serving events_;
  observer_relay relay_;
  std::unique_ptr<backing> backing_;
  probes probes_;
  server_metrics metrics_;
  system_random secrets_;
  socket_probe sockets_{io_.get_executor(), most_kept_checks()};
  std::shared_ptr<readiness_probe> const health_{make_health_probe(io_.get_executor(), time_, sockets_, log_)};
  readiness_probe& probe_{health_ ? *health_ : sockets_};
  std::unique_ptr<readiness_gate> gate_;  ///< null: --no-gates
  allocator allocator_;
  allocator_backend backend_;
  cluster_serving clusters_;
  kubernetes_front_end kubernetes_;
  rest_front_end rest_;
  std::unique_ptr<gate_front_end> calls_;  ///< null: --no-gates
  claims_front_end claims_;
  std::unique_ptr<fleet_serving> fleets_;
  std::unique_ptr<grpc_serving> grpc_;  ///< null: HTTP only
  http_router rest_routes_;  ///< what needs the same rights
  std::unique_ptr<cluster_front_end> cluster_api_;  ///< null: no embedded fleets, or not to be shown
  caller_loads loads_;
  caller_gate kubernetes_gate_;
  caller_gate rest_gate_;
  std::unique_ptr<tls_serving> tls_;  ///< null: plain HTTP
  service_document document_;
  http_router router_;
  live_page page_;
  http_listener listener_;
  boost::asio::signal_set signals_;
  boost::asio::signal_set reload_;
  bool stopping_{false};
  int draining_{0};
  int exit_code_{0};
};

}  // namespace

auto serve(server_options const& options) -> int {
  avoid_heap_pauses();
  survive_closed_output();
  if (!options.kubernetes.used()) return program{options, nullptr}.run();
  auto const cluster = find_cluster(options.kubernetes);
  for (auto const& problem : cluster.errors) std::cerr << "agones-alloc-server: " << to_string(problem) << '\n';
  return cluster.ok() ? program{options, &cluster.target}.run() : 2;
}

}  // namespace agones_alloc_server
