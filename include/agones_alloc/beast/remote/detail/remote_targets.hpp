// The endpoints that are called, each with its credentials and kept connections.
#pragma once

#include <agones_alloc/beast/client/pooled_http_client.hpp>
#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/beast/remote/rest_remote_allocator.hpp>
#include <agones_alloc/beast/remote/secret_credentials.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/detail/recent_table.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// One endpoint with its connections. A call holds it, so that it may be forgotten meanwhile.
struct remote_target {
  std::string endpoint;
  credential_reference reference;
  std::string server_name;
  std::shared_ptr<secret_credentials> credentials;
  std::optional<pooled_http_client> client;
};

/// Confined to the executor.
class remote_targets {
 public:
  remote_targets(boost::asio::any_io_executor executor, secret_source* secrets, timer& time,
                 rest_remote_options const& options, client_options client)
      : executor_{std::move(executor)},
        secrets_{secrets},
        time_{&time},
        client_{std::move(client)},
        log_{options.log},
        allow_plaintext_{options.allow_plaintext},
        known_{options.endpoints} {
    how_.time_to_live = options.secret_time_to_live;
    how_.retry = options.secret_retry;
    how_.counts = options.counts;
    how_.log = options.log;
  }

  /// For the call: made when there is none yet; or what is wrong with its endpoint.
  auto of(remote_call const& call) -> std::variant<std::shared_ptr<remote_target>, std::string> {
    key_.clear();
    for (auto const* part : {&call.endpoint, &call.server_name, &call.credentials.namespace_, &call.credentials.secret,
                             &call.credentials.server_ca}) {
      key_.append(part->view()).append(1, '\0');
    }
    if (auto const* const known = known_.find(key_); known != nullptr && *known) return known_.use(key_);
    auto parsed = parse_endpoint(call.endpoint.view(), allow_plaintext_);
    if (auto* const problem = std::get_if<std::string>(&parsed)) return std::move(*problem);
    auto made = std::make_shared<remote_target>();
    made->endpoint = call.endpoint.str();
    made->reference = call.credentials;
    made->server_name = call.server_name.str();
    made->credentials =
        std::make_shared<secret_credentials>(executor_, *time_, secrets_, call.credentials, made->server_name, how_);
    made->client.emplace(executor_, std::get<client_endpoint>(std::move(parsed)), made->credentials, *time_, client_, log_);
    known_.use(key_) = made;
    return made;
  }

  void close() {
    known_.visit([](std::string_view, std::shared_ptr<remote_target> const& of) {
      if (of && of->client) of->client->close();
    });
  }

  auto states() const -> std::vector<remote_endpoint_state> {
    std::vector<remote_endpoint_state> out;
    known_.visit([&out](std::string_view, std::shared_ptr<remote_target> const& of) {
      if (of && of->client) out.push_back(state_of(*of));
    });
    std::sort(out.begin(), out.end(), [](auto const& a, auto const& b) { return a.endpoint < b.endpoint; });
    return out;
  }

 private:
  static auto state_of(remote_target const& of) -> remote_endpoint_state {
    auto const counts = of.client->counts();
    remote_endpoint_state out;
    out.endpoint = of.endpoint;
    if (!of.reference.secret.empty()) out.secret = of.reference.namespace_.str() + "/" + of.reference.secret.str();
    out.server_name = of.server_name;
    out.credential_version = of.credentials->version();
    out.problem = of.credentials->problem();
    out.connections = counts.open;
    out.opened = counts.opened;
    out.resumed = counts.resumed;
    out.sent = counts.sent;
    return out;
  }

  boost::asio::any_io_executor executor_;
  secret_source* secrets_;
  timer* time_;
  client_options client_;
  logger* log_;
  bool allow_plaintext_;
  secret_credentials_options how_;
  recent_table<std::shared_ptr<remote_target>> known_;
  std::string key_;  ///< its memory is used again
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
