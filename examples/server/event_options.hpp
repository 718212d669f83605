// One --event-sink: where events go, which ones, and how.
#pragma once

#include <agones_alloc/async/event_publisher.hpp>
#include <agones_alloc/beast/client/client_options.hpp>
#include <agones_alloc/beast/webhook/webhook_sink.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace agones_alloc_server {

struct event_sink_settings {
  enum class kind : std::uint8_t { standard_output, webhook, nats };
  kind what{kind::standard_output};
  agones_alloc::event_channel_options channel;
  // Webhooks.
  agones_alloc::client_endpoint endpoint;
  std::string target{"/"};
  agones_alloc::webhook_mode mode{agones_alloc::webhook_mode::structured};
  bool allow_plaintext{false};
  // Files.
  std::string sign_key;       ///< of webhooks
  std::string token;          ///< "Authorization: Bearer" of webhooks, the token of NATS
  std::string authorities;    ///< "": the system's
  std::string certificate;
  std::string key;
  std::string credentials;    ///< of NATS, a .creds file
  // NATS.
  std::string url;            ///< without the path
  std::string subject{"agones"};
};

/// `stdout:`, `http[s]://HOST[:PORT]/PATH`, `nats[+tls]://HOST[:PORT][/SUBJECT]`, each with ` NAME=VALUE NAME=VALUE...` behind it;
/// or what is wrong with it.
auto parse_event_sink(std::string_view text) -> std::variant<event_sink_settings, std::string>;

}  // namespace agones_alloc_server
