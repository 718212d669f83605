#include "nats_serving.hpp"

namespace agones_alloc_server {

auto make_nats_sink(boost::asio::any_io_executor, event_sink_settings const&, std::string const&, agones_alloc::timer&,
                    std::string& problem) -> std::shared_ptr<agones_alloc::event_sink> {
  problem = "this server was built without NATS: install libnats-dev and build again";
  return nullptr;
}

}  // namespace agones_alloc_server
