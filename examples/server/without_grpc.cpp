#include "grpc_serving.hpp"

namespace agones_alloc_server {

auto make_grpc(server_options const&, agones_alloc::front_end_options const&, grpc_parts const&) -> std::unique_ptr<grpc_serving> {
  return nullptr;
}

auto make_grpc_remote(boost::asio::any_io_executor, agones_alloc::secret_source*, agones_alloc::timer&,
                      remote_cluster_settings const&, agones_alloc::logger&, agones_alloc::metrics&)
    -> std::shared_ptr<agones_alloc::connected_remote> {
  return nullptr;
}

auto make_grpc_fleet_feeds(agones_alloc::secret_source*, agones_alloc::timer&, agones_alloc::logger&)
    -> std::shared_ptr<agones_alloc::remote_feeds> {
  return nullptr;
}

auto make_health_probe(boost::asio::any_io_executor, agones_alloc::timer&, agones_alloc::readiness_probe&, agones_alloc::logger&)
    -> std::shared_ptr<agones_alloc::readiness_probe> {
  return nullptr;
}

auto grpc_problem() -> std::string {
  return "this server was built without gRPC: install libgrpc++-dev, libprotobuf-dev and protobuf-compiler-grpc, and build again";
}

auto grpc_namespace_of(agones_alloc::http_request const&, agones_alloc::front_end_options const&) -> std::optional<std::string> {
  return std::nullopt;
}

}  // namespace agones_alloc_server
