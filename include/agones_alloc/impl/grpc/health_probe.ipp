#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/grpc/health_probe.hpp>
#include <agones_alloc/impl/grpc/grpc_outgoing.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

AGONES_ALLOC_DECL auto health_request(std::string_view service) -> std::string {
  std::string out;
  if (service.empty()) return out;
  out += '\x0a';  // field 1, bytes; the length is that of a path, and has two bytes at most
  auto const size = service.size();
  if (size >= 128) out += static_cast<char>((size & 127U) | 128U);
  out += static_cast<char>(size >= 128 ? size >> 7U : size);
  return out.append(service);
}

AGONES_ALLOC_DECL auto health_status(std::string_view message) noexcept -> std::optional<std::uint64_t> {
  auto const number = [&message]() -> std::optional<std::uint64_t> {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64 && !message.empty(); shift += 7) {
      auto const byte = static_cast<unsigned char>(message.front());
      message.remove_prefix(1);
      out |= static_cast<std::uint64_t>(byte & 127U) << shift;
      if (byte < 128) return out;
    }
    return std::nullopt;
  };
  std::uint64_t status = 0;  // when it is not there: UNKNOWN
  while (!message.empty()) {
    auto const tag = number();
    if (!tag) return std::nullopt;
    auto const value = (*tag & 7U) == 0 || (*tag & 7U) == 2 ? number() : std::nullopt;
    if (!value) return std::nullopt;  // of no kind that the message has
    if ((*tag & 7U) == 2) {
      if (*value > message.size()) return std::nullopt;
      message.remove_prefix(static_cast<std::size_t>(*value));
    } else if (*tag >> 3U == 1) {
      status = *value;
    }
  }
  return status;
}

inline auto judge_health(outgoing_call const& ended) -> probe_answer {
  auto const code = ended.status.error_code();
  if (code == ::grpc::StatusCode::NOT_FOUND || code == ::grpc::StatusCode::UNIMPLEMENTED) return probe_answer::failed;
  return ended.status.ok() && health_status(ended.body()) == 1U ? probe_answer::ready : probe_answer::pending;
}

/// Those that are under way.
class health_calls {
 public:
  health_calls(boost::asio::any_io_executor executor, timer& time) : executor_{std::move(executor)}, own_{executor_}, time_{&time} {}

  void start(probe_target const& target, readiness_probe::handler done) {
    auto const call = std::make_shared<outgoing_call>();
    call->set_time(target.deadline - time_->now());
    call->channel = ::grpc::CreateCustomChannel(uri_of(target), ::grpc::InsecureChannelCredentials(), channel_arguments());
    ::grpc::Slice const wanted{health_request(std::string_view{target.path}.substr(std::min<std::size_t>(target.path.size(), 1)))};
    call->request = ::grpc::ByteBuffer{&wanted, 1};
    // So that the loop does not end meanwhile.
    auto working = boost::asio::prefer(executor_, boost::asio::execution::outstanding_work.tracked);
    // A std::function is copied, and a handler cannot be.
    auto kept = std::make_shared<readiness_probe::handler>(std::move(done));
    calls_.begin(call, health_path, std::move(working), [own = own_, kept = std::move(kept)](outgoing_call const& ended) {
      complete(own, std::move(*kept), error_code{}, judge_health(ended));
    });
  }

  /// What nobody can ask.
  void refuse(readiness_probe::handler done) {
    boost::asio::post(executor_, [own = own_, done = std::move(done)]() mutable {
      complete(own, std::move(done), error_code{}, probe_answer::pending);
    });
  }

  void end_all() { calls_.close(); }

 private:
  static auto uri_of(probe_target const& target) -> std::string {
    boost::system::error_code fault;
    auto const address = boost::asio::ip::make_address(target.address, fault);
    auto const port = std::to_string(target.port);
    if (fault) return "dns:///" + target.address + ":" + port;
    return address.is_v6() ? "ipv6:[" + target.address + "]:" + port : "ipv4:" + target.address + ":" + port;
  }

  static auto channel_arguments() -> ::grpc::ChannelArguments {
    ::grpc::ChannelArguments out;
    out.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    out.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    out.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
    out.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    out.SetInt(GRPC_ARG_MAX_METADATA_SIZE, 8192);
    out.SetMaxReceiveMessageSize(1024);
    out.SetUserAgentPrefix("agones-alloc");
    return out;
  }

  boost::asio::any_io_executor executor_;
  boost::asio::any_completion_executor own_;
  timer* time_;
  outgoing_calls calls_;
};

}  // namespace detail

AGONES_ALLOC_DECL health_probe::health_probe(boost::asio::any_io_executor executor, timer& time, readiness_probe* others)
    : others_{others}, calls_{std::make_shared<detail::health_calls>(std::move(executor), time)} {}

AGONES_ALLOC_DECL health_probe::~health_probe() { calls_->end_all(); }

AGONES_ALLOC_DECL void health_probe::do_probe(probe_target target, handler done) {
  if (target.how == probe_target::protocol::grpc) return calls_->start(target, std::move(done));
  if (others_ != nullptr) return others_->async_probe(std::move(target), std::move(done));
  calls_->refuse(std::move(done));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
