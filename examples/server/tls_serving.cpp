#include "tls_serving.hpp"

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>

namespace agones_alloc_server {

using namespace agones_alloc;

namespace {

auto certificate_settings(tls_settings const& from) -> tls_server_options {
  tls_server_options out;
  out.certificate = from.certificate;
  out.key = from.key;
  out.client_authorities.assign(from.client_authorities.begin(), from.client_authorities.end());
  // Probes and scrapers have none, so it is asked for, and missed where it counts: at the gates.
  out.clients = from.client_authorities.empty() ? client_verification::none : client_verification::optional;
  out.look_every = from.look_every;
  return out;
}

auto gate_settings(tls_settings const& from, bool through_proxy) -> identity_gate_options {
  identity_gate_options out;
  out.certificates = !from.client_authorities.empty();
  out.anybody = from.anybody;
  if (through_proxy && from.trusts_proxy()) out.front_proxy = from.proxy;
  return out;
}

}  // namespace

tls_serving::tls_serving(boost::asio::any_io_executor executor, server_options const& options, http_client* cluster,
                         http_handler& kubernetes, http_handler& rest, timer& time, logger& log)
    : settings_{options.tls},
      certificates_{executor, time, certificate_settings(options.tls), &log},
      kubernetes_{kubernetes, gate_settings(options.tls, true)},
      rest_{rest, gate_settings(options.tls, false)} {
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
