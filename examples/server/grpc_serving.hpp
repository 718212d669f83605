// gRPC beside HTTP, on a port of its own, if this server was built with it.
#pragma once

#include "options.hpp"

#include <agones_alloc/async/fleet_directory.hpp>
#include <agones_alloc/beast/allocation_backend.hpp>
#include <agones_alloc/beast/http_handler.hpp>
#include <agones_alloc/beast/http_router.hpp>
#include <agones_alloc/beast/remote/connected_remote.hpp>
#include <agones_alloc/beast/remote/remote_feed.hpp>
#include <agones_alloc/beast/remote/secret_source.hpp>
#include <agones_alloc/beast/tls/tls_server.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/metrics.hpp>
#include <agones_alloc/port/readiness_probe.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace agones_alloc_server {

/// Calls become requests: the gates that REST has stand before them too. Confined to the server's one thread.
class grpc_serving {
 public:
  virtual ~grpc_serving() = default;
  /// The services, behind whatever asks who it is.
  virtual void add_routes(agones_alloc::http_router&) = 0;
  /// Binds; prints what is wrong. `tls`: null for plaintext. False: it cannot be served.
  virtual auto listen(agones_alloc::http_handler& gate, agones_alloc::tls_server* tls, agones_alloc::client_verification,
                      agones_alloc::http_observer&) -> bool = 0;
  /// The health service follows `serving` from now on.
  virtual void start(std::function<bool()> serving) = 0;
  virtual void stop_serving() = 0;
  /// `then`: whether nothing had to be cut.
  virtual void drain(agones_alloc::timer::time_point deadline, std::function<void(bool)> then) = 0;
  virtual auto port() const -> std::uint16_t = 0;
};

/// What it stands on. The directory is null where there is none.
struct grpc_parts {
  boost::asio::any_io_executor executor;
  agones_alloc::allocation_backend& backend;
  agones_alloc::fleet_directory* directory;
  agones_alloc::timer& time;
  agones_alloc::logger& log;
};

/// Null without --grpc-listen.
auto make_grpc(server_options const&, agones_alloc::front_end_options const&, grpc_parts const&) -> std::unique_ptr<grpc_serving>;

/// For other clusters' gRPC endpoints; null in a server that was built without it.
auto make_grpc_remote(boost::asio::any_io_executor, agones_alloc::secret_source*, agones_alloc::timer&,
                      remote_cluster_settings const&, agones_alloc::logger&, agones_alloc::metrics&)
    -> std::shared_ptr<agones_alloc::connected_remote>;

/// For the fleets of other clusters' gRPC endpoints; null in a server that was built without it.
auto make_grpc_fleet_feeds(agones_alloc::secret_source*, agones_alloc::timer&, agones_alloc::logger&)
    -> std::shared_ptr<agones_alloc::remote_feeds>;

/// Asks games by gRPC's health protocol, and by `others` all else; null in a server that was built without it.
auto make_health_probe(boost::asio::any_io_executor, agones_alloc::timer&, agones_alloc::readiness_probe& others, agones_alloc::logger&)
    -> std::shared_ptr<agones_alloc::readiness_probe>;

/// Why gRPC cannot be had; "": it can.
auto grpc_problem() -> std::string;

/// The namespace that a call asks for; nullopt: it is no call, or asks for none.
auto grpc_namespace_of(agones_alloc::http_request const&, agones_alloc::front_end_options const&) -> std::optional<std::string>;

}  // namespace agones_alloc_server
