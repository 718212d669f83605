// The gRPC endpoints that are called, each with its credentials and channel.
#pragma once

#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/beast/remote/secret_credentials.hpp>
#include <agones_alloc/config.hpp>
#include <agones_alloc/flow/detail/recent_table.hpp>
#include <agones_alloc/grpc/grpc_remote_allocator.hpp>

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// One endpoint. A call holds it, so that it may be forgotten meanwhile.
struct grpc_target {
  std::string endpoint;
  client_endpoint place;
  credential_reference reference;
  std::string server_name;
  std::shared_ptr<secret_credentials> credentials;
  credentials_ptr used;  ///< what the channel was made with
  std::shared_ptr<::grpc::Channel> channel;
  std::uint64_t opened{0};
  std::uint64_t sent{0};

  auto connected() const -> bool {
    return channel != nullptr && channel->GetState(false) == GRPC_CHANNEL_READY;
  }
};

/// Confined to the executor.
class grpc_targets {
 public:
  grpc_targets(boost::asio::any_io_executor executor, secret_source* secrets, timer& time, grpc_remote_options const& options)
      : executor_{std::move(executor)}, secrets_{secrets}, time_{&time}, options_{&options}, known_{options.endpoints} {}

  /// For the call: made when there is none yet; or what is wrong with its endpoint.
  auto of(remote_call const& call) -> std::variant<std::shared_ptr<grpc_target>, std::string> {
    std::string key;
    for (auto const* part : {&call.endpoint, &call.server_name, &call.credentials.namespace_, &call.credentials.secret,
                             &call.credentials.server_ca}) {
      key.append(part->view()).append(1, '\0');
    }
    if (auto const* const known = known_.find(key); known != nullptr && *known) return known_.use(key);
    auto parsed = parse_grpc_endpoint(call.endpoint.view(), options_->allow_plaintext);
    if (auto* const problem = std::get_if<std::string>(&parsed)) return std::move(*problem);
    auto made = std::make_shared<grpc_target>();
    made->endpoint = call.endpoint.str();
    made->place = std::get<client_endpoint>(std::move(parsed));
    made->reference = call.credentials;
    made->server_name = call.server_name.str();
    secret_credentials_options how;
    how.time_to_live = options_->secret_time_to_live;
    how.retry = options_->secret_retry;
    how.counts = options_->counts;
    how.log = options_->log;
    made->credentials =
        std::make_shared<secret_credentials>(executor_, *time_, secrets_, call.credentials, made->server_name, how);
    known_.use(key) = made;
    return made;
  }

  /// The channel for these credentials; an older one goes on with the calls that it has.
  auto channel_of(grpc_target& to, credentials_ptr const& credentials) const -> std::shared_ptr<::grpc::Channel> {
    if (to.channel == nullptr || to.used != credentials) {
      to.channel = open(to, credentials->tls);
      to.used = credentials;
    }
    return to.channel;
  }

  auto states() const -> std::vector<remote_endpoint_state> {
    std::vector<remote_endpoint_state> out;
    known_.visit([&out](std::string_view, std::shared_ptr<grpc_target> const& of) {
      if (of) out.push_back(state_of(*of));
    });
    std::sort(out.begin(), out.end(), [](auto const& a, auto const& b) { return a.endpoint < b.endpoint; });
    return out;
  }

  void close() {
    known_.visit([](std::string_view, std::shared_ptr<grpc_target> const& of) {
      if (of) of->channel = nullptr;
    });
  }

 private:
  static auto in_ms(std::chrono::nanoseconds time) -> int {
    auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
    return static_cast<int>(std::clamp<std::int64_t>(ms, 1, std::numeric_limits<int>::max()));
  }

  auto open(grpc_target const& to, tls_identity const& with) const -> std::shared_ptr<::grpc::Channel> {
    ::grpc::ChannelArguments how;
    how.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);        // connections of its own
    how.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);  // which could say that calls are to be repeated
    how.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    // An endpoint that accepts and says GOAWAY at once would be connected to again and again for as long as a call has time: what was never
    // sent gRPC repeats without end and without a pause.
    how.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    // The time for one address: the longer of these two.
    how.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, in_ms(options_->connect_time / 2));
    how.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    how.SetInt(GRPC_ARG_CLIENT_IDLE_TIMEOUT_MS, in_ms(options_->idle_time));
    how.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, in_ms(options_->ping_time));
    how.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, in_ms(options_->ping_wait));
    how.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    how.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    how.SetMaxReceiveMessageSize(static_cast<int>(options_->answer_bytes));
    if (!to.server_name.empty()) how.SetSslTargetNameOverride(to.server_name);
    bool const v6 = to.place.host.find(':') != std::string::npos;
    auto const place = "dns:///" + (v6 ? "[" + to.place.host + "]" : to.place.host) + ":" + std::to_string(to.place.port);
    if (!to.place.tls) return ::grpc::CreateCustomChannel(place, ::grpc::InsecureChannelCredentials(), how);
    ::grpc::SslCredentialsOptions pem;
    pem.pem_root_certs = with.ca_pem;
    pem.pem_cert_chain = with.certificate_pem;
    pem.pem_private_key = with.key_pem;
    return ::grpc::CreateCustomChannel(place, ::grpc::SslCredentials(pem), how);
  }

  static auto state_of(grpc_target const& of) -> remote_endpoint_state {
    remote_endpoint_state out;
    out.endpoint = of.endpoint;
    out.protocol = "grpc";
    if (!of.reference.secret.empty()) out.secret = of.reference.namespace_.str() + "/" + of.reference.secret.str();
    out.server_name = of.server_name;
    out.credential_version = of.credentials->version();
    out.problem = of.credentials->problem();
    out.connections = of.connected() ? 1 : 0;
    out.opened = of.opened;
    out.sent = of.sent;
    return out;
  }

  boost::asio::any_io_executor executor_;
  secret_source* secrets_;
  timer* time_;
  grpc_remote_options const* options_;
  recent_table<std::shared_ptr<grpc_target>> known_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
