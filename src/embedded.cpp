// Bodies of the compiled form. Written by tools/list_bodies.
#include <agones_alloc/impl/embedded/durations.ipp>
#include <agones_alloc/impl/embedded/embedded_cluster.ipp>
#include <agones_alloc/impl/embedded/embedded_cluster_core.ipp>
#include <agones_alloc/impl/embedded/fleet_settings.ipp>
#include <agones_alloc/impl/embedded/fleet_simulator.ipp>
#include <agones_alloc/impl/embedded/fleet_tally.ipp>
#include <agones_alloc/impl/embedded/fleet_upkeep.ipp>
#include <agones_alloc/impl/embedded/node_pool.ipp>
#include <agones_alloc/impl/embedded/server_life.ipp>
#include <agones_alloc/impl/embedded/session_start.ipp>
#include <agones_alloc/impl/embedded/simulator_options.ipp>
#include <agones_alloc/impl/embedded/single_server.ipp>
