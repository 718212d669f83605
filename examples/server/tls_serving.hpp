// HTTPS: certificates, and who may ask.
#pragma once

#include "options.hpp"

#include <agones_alloc/beast/client/http_client.hpp>
#include <agones_alloc/beast/http_listener.hpp>
#include <agones_alloc/beast/identity_gate.hpp>
#include <agones_alloc/beast/kubernetes/front_proxy_source.hpp>
#include <agones_alloc/beast/tls/tls_server.hpp>
#include <agones_alloc/port/logger.hpp>
#include <agones_alloc/port/timer.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <optional>

namespace agones_alloc_server {

/// Confined to the server's one thread.
class tls_serving {
 public:
  /// `cluster`: null without one. The Kubernetes API may be asked through the front proxy, REST may not.
  tls_serving(boost::asio::any_io_executor, server_options const&, agones_alloc::http_client* cluster,
              agones_alloc::http_handler& kubernetes, agones_alloc::http_handler& rest, agones_alloc::timer&,
              agones_alloc::logger&);

  auto kubernetes() -> agones_alloc::http_handler& { return kubernetes_; }
  auto rest() -> agones_alloc::http_handler& { return rest_; }
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
  agones_alloc::identity_gate kubernetes_;
  agones_alloc::identity_gate rest_;
  std::optional<agones_alloc::front_proxy_source> source_;
};

}  // namespace agones_alloc_server
