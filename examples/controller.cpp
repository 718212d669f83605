// A controller of one's own on a Kubernetes cluster: its own order of servers, and a hook on each allocation.
//
//   controller KUBECONFIG NAMESPACE FLEET COUNT
//
// Allocates so many game servers of the fleet, those in zone "home" first, and says which; exits with 1 when some are
// missing.
#include <agones_alloc/async/allocator.hpp>
#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/beast/client/kube_connection.hpp>
#include <agones_alloc/beast/client/pooled_http_client.hpp>
#include <agones_alloc/beast/kubernetes/kubernetes_cluster.hpp>
#include <agones_alloc/select/rank.hpp>
#include <agones_alloc/yaml/kubeconfig.hpp>

#include <boost/asio/io_context.hpp>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <random>

namespace aa = agones_alloc;

namespace {

auto is_home(aa::game_server const& server) { return server.meta.labels.value_or_empty("zone") == "home"; }

/// Hears of each allocation once it is written, and passes it on to the cluster's Events.
struct allocation_hook final : aa::recorder {
  explicit allocation_hook(aa::recorder& next) : next_{&next} {}
  void record(aa::game_server const& about, type kind, std::string_view reason, std::string_view message) override {
    std::cout << reason << " " << about.meta.name << " at " << about.status.address << "\n";
    next_->record(about, kind, reason, message);
  }
  aa::recorder* next_;
};

}  // namespace

auto main(int argc, char** argv) -> int {
  int const count = argc == 5 ? std::atoi(argv[4]) : 0;
  if (count < 1) return std::cerr << "usage: controller KUBECONFIG NAMESPACE FLEET COUNT\n", 2;
  auto const config = aa::yaml::load_kubeconfig({argv[1]});
  for (auto const& problem : config.errors) std::cerr << to_string(problem) << "\n";
  if (!config.ok()) return 2;

  boost::asio::io_context io;
  aa::asio_timer clock{io.get_executor()};
  aa::seeded_random random{std::random_device{}()};
  auto connection = aa::make_kube_connection(io.get_executor(), clock, config.target);
  aa::pooled_http_client client{io.get_executor(), connection.endpoint, connection.credentials, clock};
  aa::ready_cache cache;
  aa::kubernetes_cluster_options scope;
  scope.namespaces = {argv[2]};
  aa::kubernetes_cluster cluster{io.get_executor(), client, cache, clock, random, scope};
  allocation_hook hook{*cluster.events()};
  aa::allocator_options options;
  options.choice.order = aa::order_kind::custom;
  options.choice.custom = aa::make_ranker([](auto const& a, auto const& b) { return is_home(a) && !is_home(b); });
  aa::allocator allocator{io.get_executor(), cache, cluster.servers(), clock, random, options, {&hook}};

  aa::game_server_allocation wanted;
  wanted.meta.namespace_ = argv[2];
  wanted.spec.selectors.emplace_back().labels.match_labels.set(aa::keys::fleet_label, argv[3]);
  int waiting = count;
  int missing = count;
  std::function<void()> const finish = [&] {  // Events may lag behind
    if (cluster.events()->counts().waiting != 0) {
      return clock.async_wait_until(clock.now() + std::chrono::milliseconds{20}, [&](aa::error_code) { finish(); });
    }
    cluster.stop();
    client.close();
  };
  cluster.start();
  cluster.async_wait_synced([&](aa::error_code) {
    for (int i = 0; i != count; ++i) {
      allocator.async_allocate(wanted, std::nullopt, {}, [&](aa::error_code failed, aa::allocation_result const&) {
        if (failed) std::cerr << "no server: " << failed.message() << "\n";
        if (!failed) --missing;
        if (--waiting == 0) finish();
      });
    }
  });
  io.run();
  return missing == 0 ? 0 : 1;
}
