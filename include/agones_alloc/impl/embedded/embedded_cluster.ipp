#pragma once

#include <agones_alloc/embedded/detail/embedded_cluster_core.hpp>
#include <agones_alloc/embedded/embedded_cluster.hpp>

#include <agones_alloc/impl/embedded/embedded_cluster_core.ipp>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

inline auto checked(embedded_cluster_options const& options) -> embedded_cluster_options const& {
  if (options.batch < 1 || options.batch > 100'000) throw std::invalid_argument{"batch must be between 1 and 100000"};
  return options;
}

}  // namespace detail

AGONES_ALLOC_DECL embedded_cluster::embedded_cluster(boost::asio::any_io_executor executor, memory_store& store,
                                                     timer& clock, embedded_cluster_options options)
    : core_{std::make_shared<detail::embedded_cluster_core>(std::move(executor), store, clock,
                                                            detail::checked(options))} {}

AGONES_ALLOC_DECL embedded_cluster::~embedded_cluster() { core_->stop(); }

AGONES_ALLOC_DECL auto embedded_cluster::add_fleet(fleet f) -> field_errors {
  return core_->change(
      [&](fleet_simulator& simulator, simulator_instant t) { return simulator.add_fleet(std::move(f), t); });
}

AGONES_ALLOC_DECL auto embedded_cluster::add_server(game_server server, game_server_template const& shape)
    -> field_errors {
  return core_->change([&](fleet_simulator& simulator, simulator_instant t) {
    return simulator.add_server(std::move(server), shape, t);
  });
}

AGONES_ALLOC_DECL auto embedded_cluster::scale(object_key const& key, std::int64_t replicas) -> field_errors {
  return core_->change([&](fleet_simulator& simulator, simulator_instant) { return simulator.scale(key, replicas); });
}

AGONES_ALLOC_DECL auto embedded_cluster::fleets() const -> std::vector<fleet> {
  return core_->read([](fleet_simulator const& simulator) { return simulator.fleets(); });
}

AGONES_ALLOC_DECL auto embedded_cluster::find_fleet(object_key const& key) const -> std::optional<fleet> {
  return core_->read([&](fleet_simulator const& simulator) { return simulator.find_fleet(key); });
}

AGONES_ALLOC_DECL auto embedded_cluster::take_changed_fleets() -> std::vector<fleet> { return core_->take_changed(); }

AGONES_ALLOC_DECL auto embedded_cluster::is_full() const -> bool {
  return core_->read([](fleet_simulator const& simulator) { return simulator.is_full(); });
}

AGONES_ALLOC_DECL void embedded_cluster::run(handler h) { core_->run(std::move(h)); }

AGONES_ALLOC_DECL void embedded_cluster::stop() { core_->stop(); }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
