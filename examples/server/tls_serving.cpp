#include "tls_serving.hpp"

#include "grpc_serving.hpp"
#include "live_page.hpp"

#include <agones_alloc/beast/claims_front_end.hpp>
#include <agones_alloc/beast/fleets/fleet_query.hpp>
#include <agones_alloc/beast/fleets/fleets_front_end.hpp>
#include <agones_alloc/beast/fleets/query_front_end.hpp>
#include <agones_alloc/beast/kubernetes_front_end.hpp>
#include <agones_alloc/beast/rest_front_end.hpp>

#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace agones_alloc_server {

using namespace agones_alloc;

namespace {

auto verification(tls_settings const& from) -> client_verification {
  return from.client_authorities.empty() ? client_verification::none : client_verification::optional;
}

auto certificate_settings(tls_settings const& from) -> tls_server_options {
  tls_server_options out;
  out.certificate = from.certificate;
  out.key = from.key;
  out.client_authorities.assign(from.client_authorities.begin(), from.client_authorities.end());
  // Probes and scrapers have none, so it is asked for, and missed where it counts: at the gates.
  out.clients = verification(from);
  out.look_every = from.look_every;
  return out;
}

auto gate_settings(tls_settings const& from, bool through_proxy) -> identity_gate_options {
  identity_gate_options out;
  out.certificates = !from.client_authorities.empty();
  out.anybody = from.anybody || from.reviews;  // the access gate finds out about them
  if (through_proxy && from.trusts_proxy()) out.front_proxy = from.proxy;
  return out;
}

auto reviewer_settings(logger& log) -> access_reviewer_options {
  access_reviewer_options out;
  out.log = &log;
  return out;
}

}  // namespace

direct_access::direct_access(boost::asio::any_io_executor executor, http_client& cluster, http_handler& kubernetes_behind,
                             http_handler& rest_behind, front_end_options const& options, timer& time, logger& log)
    : reviewer{std::move(executor), cluster, time, reviewer_settings(log)},
      kubernetes{kubernetes_behind, reviewer, kubernetes_namespace_of},
      rest{rest_behind, reviewer, [options](http_request const& request) -> std::optional<std::string> {
             if (live_page::serves(request.path)) return std::string{};  // as for the fleets of all namespaces
             if (request.path.starts_with(claims_front_end::prefix)) return claims_namespace_of(request, options);
             if (request.path == query_front_end::path) return query_namespace_of(request, options);
             if (request.path == fleets_front_end::fleets_path || request.path == fleets_front_end::servers_path) {
               return fleets_namespace_of(request, options);
             }
             if (auto space = grpc_namespace_of(request, options)) return space;
             return rest_namespace_of(request, options);
           }} {}

tls_serving::tls_serving(boost::asio::any_io_executor executor, server_options const& options, http_client* cluster,
                         http_handler& kubernetes, http_handler& rest, timer& time, logger& log)
    : settings_{options.tls},
      certificates_{executor, time, certificate_settings(options.tls), &log},
      access_{options.tls.reviews && cluster != nullptr
                  ? std::make_unique<direct_access>(executor, *cluster, kubernetes, rest, options.front_end, time, log)
                  : nullptr},
      kubernetes_{access_ ? access_->kubernetes : kubernetes, gate_settings(options.tls, true)},
      rest_{access_ ? access_->rest : rest, gate_settings(options.tls, false)} {
  if (!settings_.front_proxy || cluster == nullptr) return;
  front_proxy_source_options how;
  how.log = &log;
  source_.emplace(executor, *cluster, time, [this](front_proxy_rules const& rules) { trust(rules); }, how);
}

auto tls_serving::prepare(http_listener& listener) -> bool {
  auto const fail = [](std::string const& what) {
    std::cerr << "agones-alloc-server: " << what << '\n';
    return false;
  };
  if (auto const problem = certificates_.load(); !problem.empty()) return fail(problem);
  if (auto const& file = settings_.front_proxy_authority; !file.empty()) {
    std::ifstream in{file};
    std::string pem{std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
    if (!in || pem.empty() || !certificates_.trust_front_proxy(std::move(pem))) {
      return fail("--requestheader-client-ca-file " + file + ": holds no certificate that can be read");
    }
  }
  listener.use(certificates_);
  return true;
}

auto tls_serving::clients() const -> client_verification { return verification(settings_); }

void tls_serving::start() {
  certificates_.start();
  if (source_) source_->start();
}

void tls_serving::stop() {
  certificates_.stop();
  if (source_) source_->stop();
}

void tls_serving::trust(front_proxy_rules const& rules) {
  if (certificates_.trust_front_proxy(rules.authorities)) kubernetes_.use(rules);
}

}  // namespace agones_alloc_server
