#include "gate_serving.hpp"

namespace agones_alloc_server {

auto make_health_probe(boost::asio::any_io_executor, agones_alloc::timer&, agones_alloc::readiness_probe&)
    -> std::unique_ptr<agones_alloc::readiness_probe> {
  return nullptr;
}

}  // namespace agones_alloc_server
