#include "gate_serving.hpp"

#include <agones_alloc/grpc/health_probe.hpp>

#include <utility>

namespace agones_alloc_server {

auto make_health_probe(boost::asio::any_io_executor executor, agones_alloc::timer& time, agones_alloc::readiness_probe& others)
    -> std::unique_ptr<agones_alloc::readiness_probe> {
  return std::make_unique<agones_alloc::health_probe>(std::move(executor), time, &others);
}

}  // namespace agones_alloc_server
