#include "gate_serving.hpp"

#include <utility>

namespace agones_alloc_server {

using namespace agones_alloc;

auto make_gate(boost::asio::any_io_executor executor, server_options const& options, ready_cache& cache, backing& servers, timer& time,
               random_source& random, logger& log, metrics& counts, readiness_probe& probe,
               random_source& secrets, server_observer* next) -> std::unique_ptr<readiness_gate> {
  if (options.no_gates) return nullptr;
  gate_ports ports;
  ports.events = servers.events();
  ports.counts = &counts;
  ports.log = &log;
  ports.observer = next;
  ports.secrets = &secrets;
  ports.probe = &probe;
  return std::make_unique<readiness_gate>(std::move(executor), cache, servers.servers(), time, random, options.gate, ports);
}

}  // namespace agones_alloc_server
