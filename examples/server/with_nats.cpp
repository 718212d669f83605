#include "nats_serving.hpp"

#include <agones_alloc/nats/nats_sink.hpp>

#include <fstream>
#include <iterator>
#include <utility>

namespace agones_alloc_server {

using namespace agones_alloc;

auto make_nats_sink(boost::asio::any_io_executor executor, event_sink_settings const& settings, std::string const& source, timer& time,
                    std::string& problem) -> std::shared_ptr<event_sink> {
  nats_options out;
  out.url = settings.url;
  out.subject = settings.subject;
  out.source = source;
  out.client_name = "agones-alloc-server";
  out.tls = settings.endpoint.tls;
  out.credentials_file = settings.credentials;
  out.authorities_file = settings.authorities;
  out.certificate_file = settings.certificate;
  out.key_file = settings.key;
  if (!settings.token.empty()) {
    std::ifstream in{settings.token, std::ios::binary};
    out.token.assign(std::istreambuf_iterator<char>{in}, {});
    while (!out.token.empty() && (out.token.back() == '\n' || out.token.back() == '\r')) out.token.pop_back();
    if (out.token.empty()) {
      problem = settings.token + ": cannot be read, or is empty";
      return nullptr;
    }
  }
  return std::make_shared<nats_sink>(std::move(executor), time, std::move(out));
}

}  // namespace agones_alloc_server
