// HTTPS: certificates, and who may ask.
#pragma once

#include "options.hpp"

#include <agones_alloc/beast/client/http_client.hpp>
#include <agones_alloc/beast/access_gate.hpp>
#include <agones_alloc/beast/http_listener.hpp>
#include <agones_alloc/beast/identity_gate.hpp>
#include <agones_alloc/beast/kubernetes/access_reviewer.hpp>
#include <agones_alloc/beast/kubernetes/front_proxy_source.hpp>
#include <agones_alloc/beast/tls/tls_server.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <optional>

namespace agones_alloc_server {

/// Asks the API server about callers that do not come through it.
struct direct_access {
  direct_access(boost::asio::any_io_executor, agones_alloc::http_client& cluster, agones_alloc::http_handler& kubernetes_behind,
                agones_alloc::http_handler& rest_behind, agones_alloc::front_end_options const&, agones_alloc::timer&,
                agones_alloc::logger&);
  agones_alloc::access_reviewer reviewer;
  agones_alloc::access_gate kubernetes;
  agones_alloc::access_gate rest;
};

/// Confined to the server's one thread.
class tls_serving {
 public:
  /// `cluster`: null without one. The Kubernetes API may be asked through the front proxy, REST may not.
  tls_serving(boost::asio::any_io_executor, server_options const&, agones_alloc::http_client* cluster,
              agones_alloc::http_handler& kubernetes, agones_alloc::http_handler& rest, agones_alloc::timer&,
              agones_alloc::logger&);

  auto kubernetes() -> agones_alloc::http_handler& { return kubernetes_; }
  auto rest() -> agones_alloc::http_handler& { return rest_; }
  auto certificates() -> agones_alloc::tls_server& { return certificates_; }
  auto clients() const -> agones_alloc::client_verification;
  /// Before the listener listens; prints what is wrong. False: it cannot be served.
  auto prepare(agones_alloc::http_listener&) -> bool;
  void start();
  void stop();
  void look() { certificates_.look(); }
  /// False while it is not known whom to believe.
  auto known() const -> bool { return !source_ || source_->known(); }

 private:
  void trust(agones_alloc::front_proxy_rules const&);

  tls_settings const& settings_;
  agones_alloc::tls_server certificates_;
  std::unique_ptr<direct_access> access_;  ///< null: direct callers are not looked up
  agones_alloc::identity_gate kubernetes_;
  agones_alloc::identity_gate rest_;
  std::optional<agones_alloc::front_proxy_source> source_;
};

}  // namespace agones_alloc_server
