#include "server.hpp"

#include "logging.hpp"
#include "metrics.hpp"
#include "process_limits.hpp"

#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/async/memory_store.hpp>
#include <agones_alloc/async/reflector.hpp>
#include <agones_alloc/beast/allocator_backend.hpp>
#include <agones_alloc/beast/http_listener.hpp>
#include <agones_alloc/beast/http_router.hpp>
#include <agones_alloc/beast/kubernetes_front_end.hpp>
#include <agones_alloc/beast/probes.hpp>
#include <agones_alloc/beast/rest_front_end.hpp>
#include <agones_alloc/embedded/embedded_cluster.hpp>
#include <agones_alloc/port/recorder.hpp>
#include <agones_alloc/yaml/manifest_files.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

namespace agones_alloc_server {

namespace {

using namespace agones_alloc;

/// Kubernetes Events as log lines.
class event_log final : public recorder {
 public:
  explicit event_log(logger& log) : log_{&log} {}
  void record(game_server const& about, type kind, std::string_view reason, std::string_view message) override {
    auto const key = to_string(key_of(about.meta));
    log_->log(kind == type::warning ? severity::warning : severity::debug, message, {{"gsKey", key}, {"reason", reason}});
  }

 private:
  logger* log_;
};

/// Everything of all --fleets; prints problems and notes. nullopt: there were problems.
auto load_fleets(server_options const& options, logger& log) -> std::optional<yaml::manifests> {
  yaml::manifests all;
  bool sound = true;
  for (auto const& path : options.fleets) {
    auto loaded = yaml::load_path(path);
    for (auto const& problem : loaded.errors) std::cerr << "agones-alloc-server: " << to_string(problem) << '\n';
    sound = sound && loaded.ok();
    for (auto const& note : loaded.notes) log.log(severity::info, to_string(note));
    std::move(loaded.fleets.begin(), loaded.fleets.end(), std::back_inserter(all.fleets));
    std::move(loaded.game_servers.begin(), loaded.game_servers.end(), std::back_inserter(all.game_servers));
    std::move(loaded.policies.begin(), loaded.policies.end(), std::back_inserter(all.policies));
  }
  if (!sound) return std::nullopt;
  return all;
}

auto add_to(embedded_cluster& cluster, yaml::manifests const& loaded) -> bool {
  field_errors problems;
  auto const take = [&problems](std::string const& what, field_errors found) {
    for (auto& problem : found) {
      std::cerr << "agones-alloc-server: " << what << ": " << to_string(problem) << '\n';
      problems.push_back(std::move(problem));
    }
  };
  for (auto const& fleet : loaded.fleets) take("fleet " + to_string(key_of(fleet.meta)), cluster.add_fleet(fleet));
  for (auto const& one : loaded.game_servers) {
    take("game server " + to_string(key_of(one.server.meta)), cluster.add_server(one.server, one.shape));
  }
  return problems.empty();
}

auto url_of(std::string const& address, std::uint16_t port) -> std::string {
  auto const host = address.find(':') == std::string::npos ? address : "[" + address + "]";
  return "http://" + host + ":" + std::to_string(port);
}

class program {
 public:
  explicit program(server_options const& options)
      : options_{options},
        cluster_{io_.get_executor(), store_, time_, {options.simulator, 256}},
        random_{options.simulator.seed},
        metrics_{std::chrono::system_clock::now(), [this] { return cluster_.fleets(); }, probes_},
        allocator_{io_.get_executor(), cache_, store_, time_, random_, allocation_options(options), {&events_, &metrics_, &log_}},
        reflector_{io_.get_executor(), store_, cache_, time_, random_, reflector_options{.log = &log_}},
        backend_{allocator_},
        kubernetes_{backend_, time_, options.front_end},
        rest_{backend_, time_, options.front_end},
        router_{kubernetes_},
        listener_{io_.get_executor(), router_, time_, options.limits, &log_, &metrics_},
        signals_{io_, SIGINT, SIGTERM} {
    probes_.add_live("allocator", [this] {
      return allocator_.outstanding() < options_.max_allocations ? std::string{} : std::string{"too many allocations at once"};
    });
    probes_.add_ready("game-server-cache", [this] { return reflector_.synced() ? std::string{} : std::string{"not filled yet"}; });
    probes_.add_ready("agones-alloc-server", [this] {
      return stopping_ ? std::string{"asked to shut down, failed readiness check"} : std::string{};
    });
    router_.add("/gameserverallocation", rest_, true);
    router_.add("/live", probes_);
    router_.add("/ready", probes_);
    router_.add("/metrics", metrics_);
  }

  auto run() -> int {
    check_descriptors();
    auto const loaded = load_fleets(options_, log_);
    if (!loaded || !add_to(cluster_, *loaded)) return 2;
    if (auto const ec = listener_.listen(options_.address, options_.port)) {
      auto const place = url_of(options_.address, options_.port).substr(7);
      std::cerr << "agones-alloc-server: --listen " << place << ": "
                << (ec == errc::invalid_request ? "not a numeric address" : ec.message()) << '\n';
      return 1;
    }
    cluster_.async_run([](error_code) {});
    reflector_.start();
    await_signal();
    announce(*loaded);
    io_.run();
    return exit_code_;
  }

 private:
  static auto allocation_options(server_options const& options) -> allocator_options {
    allocator_options out;
    out.gates = options.front_end.gates;
    out.choice = options.front_end.choice;
    out.timeout = options.front_end.request_time;
    out.max_operations = options.max_allocations;
    out.max_writes = options.max_writes;
    out.index.max_views = options.max_shapes;
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

  void announce(yaml::manifests const& loaded) {
    auto const url = url_of(options_.address, listener_.port());
    auto const& simulator = options_.simulator;
    if (options_.format == log_format::json) {
      for (auto const& fleet : loaded.fleets) {
        auto const replicas = std::to_string(fleet.replicas);
        log_.log(severity::info, "fleet loaded", {{"fleet", to_string(key_of(fleet.meta))}, {"replicas", replicas}});
      }
      log_.log(severity::info, "listening", {{"url", url}});
      return;
    }
    std::cout << "agones-alloc-server " << AGONES_ALLOC_VERSION << '\n';
    std::string first_namespace = "default";
    for (auto const& fleet : loaded.fleets) {
      if (&fleet == &loaded.fleets.front()) first_namespace = fleet.meta.namespace_.str();
      std::cout << "  fleet " << to_string(key_of(fleet.meta)) << ": " << fleet.replicas << " game servers\n";
    }
    if (!loaded.game_servers.empty()) std::cout << "  single game servers: " << loaded.game_servers.size() << '\n';
    if (!loaded.policies.empty()) std::cout << "  policies (not used yet): " << loaded.policies.size() << '\n';
    std::cout << "  nodes: " << simulator.node_count << ", ports " << simulator.min_port << '-' << simulator.max_port << ", speed "
              << simulator.speed << ", seed " << simulator.seed << '\n'
              << "  listening on " << url << "  (also /live, /ready, /metrics)\n"
              << "  the next game server:\n    curl -s -H 'Content-Type: application/json' " << url
              << "/apis/allocation.agones.dev/v1/namespaces/" << first_namespace << "/gameserverallocations -d '{\"spec\":{}}'\n"
              << std::flush;
  }

  void await_signal() {
    signals_.async_wait([this](error_code ec, int signal) {
      if (ec) return;
      if (stopping_) std::_Exit(1);  // asked twice: now
      stopping_ = true;
      await_signal();
      log_.log(severity::info, "stopping", {{"signal", signal == SIGINT ? "SIGINT" : "SIGTERM"}});
      time_.async_wait_until(time_.now() + options_.readiness_shutdown_duration, [this](error_code) { drain(); });
    });
  }

  void drain() {
    listener_.async_drain(time_.now() + options_.shutdown_grace, [this](error_code ec) {
      if (ec) {
        log_.log(severity::warning, "requests were cut: --shutdown-grace was not enough");
        exit_code_ = 1;
      }
      log_.log(severity::info, "stopped");
      reflector_.stop();
      cluster_.stop();
      error_code ignored;
      signals_.cancel(ignored);
      io_.stop();
    });
  }

  server_options const& options_;
  boost::asio::io_context io_{1};
  asio_timer time_{io_.get_executor()};
  line_logger log_{options_.format, options_.level, time_};
  event_log events_{log_};
  memory_store store_{io_.get_executor(), memory_store_options{.clock = &time_}};
  embedded_cluster cluster_;
  ready_cache cache_;
  seeded_random random_;
  probes probes_;
  server_metrics metrics_;
  allocator allocator_;
  reflector reflector_;
  allocator_backend backend_;
  kubernetes_front_end kubernetes_;
  rest_front_end rest_;
  http_router router_;
  http_listener listener_;
  boost::asio::signal_set signals_;
  bool stopping_{false};
  int exit_code_{0};
};

}  // namespace

auto serve(server_options const& options) -> int {
  avoid_heap_pauses();
  survive_closed_output();
  return program{options}.run();
}

}  // namespace agones_alloc_server
