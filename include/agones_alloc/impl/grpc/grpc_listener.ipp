#pragma once

#include <agones_alloc/detail/small_blocks.hpp>
#include <agones_alloc/grpc/grpc_listener.hpp>
#include <agones_alloc/impl/grpc/grpc_call.ipp>
#include <agones_alloc/impl/grpc/grpc_credentials.hpp>

#include <agones_alloc_proto/allocation.grpc.pb.h>
#include <agones_alloc_proto/information.grpc.pb.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

template <class... Arguments>
auto begin_unary(Arguments&&... arguments) -> ::grpc::ServerUnaryReactor* {
  return std::allocate_shared<unary_call>(small_block_allocator<unary_call>{}, std::forward<Arguments>(arguments)...)->reactor();
}

template <class Base>
class allocation_methods final : public Base {
 public:
  explicit allocation_methods(std::shared_ptr<grpc_calls> all) : all_{std::move(all)} {}
  auto Allocate(::grpc::CallbackServerContext* context, ::grpc::ByteBuffer const* in, ::grpc::ByteBuffer* out)
      -> ::grpc::ServerUnaryReactor* override {
    return begin_unary(all_, *context, "/allocation.AllocationService/Allocate", *in, *out);
  }

 private:
  std::shared_ptr<grpc_calls> all_;
};
using allocation_doors = allocation_methods<
    ::allocation::AllocationService::WithRawCallbackMethod_Allocate<::allocation::AllocationService::Service>>;

template <class Base>
class information_methods final : public Base {
 public:
  explicit information_methods(std::shared_ptr<grpc_calls> all) : all_{std::move(all)} {}
  auto Inform(::grpc::CallbackServerContext* context, ::grpc::ByteBuffer const* in, ::grpc::ByteBuffer* out)
      -> ::grpc::ServerUnaryReactor* override {
    return begin_unary(all_, *context, "/information.InformationService/Inform", *in, *out);
  }
  auto Watch(::grpc::CallbackServerContext* context, ::grpc::ByteBuffer const* in)
      -> ::grpc::ServerWriteReactor<::grpc::ByteBuffer>* override {
    return std::make_shared<stream_call>(all_, *context, "/information.InformationService/Watch", *in)->reactor();
  }

 private:
  std::shared_ptr<grpc_calls> all_;
};
using information_doors = information_methods<::information::InformationService::WithRawCallbackMethod_Inform<
    ::information::InformationService::WithRawCallbackMethod_Watch<::information::InformationService::Service>>>;

/// A program that links gRPC's reflection has it in all of its servers. Here it is there when it is wanted.
class reflection_choice final : public ::grpc::ServerBuilderOption {
 public:
  explicit reflection_choice(bool wanted) : wanted_{wanted} {}
  void UpdateArguments(::grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<::grpc::ServerBuilderPlugin>>* plugins) override {
    auto made = std::make_unique<::grpc::reflection::ProtoServerReflectionPlugin>();
    auto const name = made->name();
    std::erase_if(*plugins, [&name](auto const& one) { return one->name() == name; });
    if (wanted_) plugins->push_back(std::move(made));
  }

 private:
  bool wanted_;
};

class grpc_listener_state final : public std::enable_shared_from_this<grpc_listener_state> {
 public:
  using drain_handler = boost::asio::any_completion_handler<void(error_code)>;

  grpc_listener_state(boost::asio::any_io_executor executor, http_handler& handler, timer& time, grpc_listener_options options,
                      http_observer* observer)
      : options_{options},
        calls_{std::make_shared<grpc_calls>(std::move(executor), handler, time, observer, options.calls)},
        allocation_{calls_},
        information_{calls_} {}
  ~grpc_listener_state() {
    if (ending_.joinable()) ending_.join();
  }

  void use(tls_server& tls, client_verification clients) {
    auto const made = std::make_shared<grpc_credentials>(clients);
    credentials_ = made;
    calls_->secured = true;
    tls.on_change([made](tls_bundle const& texts) { made->use(texts); });
  }

  auto listen(std::string const& address, std::uint16_t port) -> error_code {
    error_code ec;
    auto const ip = boost::asio::ip::make_address(address, ec);
    if (ec) return errc::invalid_request;
    ::grpc::EnableDefaultHealthCheckService(true);
    ::grpc::ServerBuilder builder;
    set_manners(builder);
    int bound = 0;
    auto const place = (ip.is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(port);
    builder.AddListeningPort(place, credentials_ ? credentials_ : ::grpc::InsecureServerCredentials(), &bound);
    builder.RegisterService(&allocation_);
    if (options_.information) builder.RegisterService(&information_);
    builder.SetOption(std::make_unique<reflection_choice>(options_.reflection));
    server_ = builder.BuildAndStart();
    if (!server_ || bound == 0) {
      server_.reset();
      return make_error_code(boost::system::errc::address_in_use);
    }
    port_ = static_cast<std::uint16_t>(bound);
    set_serving(false);
    return {};
  }

  void set_serving(bool serving) {
    auto* const health = server_ ? server_->GetHealthCheckService() : nullptr;
    if (health == nullptr || draining_) return;
    health->SetServingStatus(serving);
    health->SetServingStatus("allocation.AllocationService", serving);
    if (options_.information) health->SetServingStatus("information.InformationService", serving);
  }

  void drain(timer::time_point deadline, drain_handler handler) {
    on_drained_.emplace(std::move(handler));
    set_serving(false);
    draining_ = true;
    if (!server_) return drained({});
    calls_->close();
    for (auto const& one : calls_->open()) {
      if (one->is_stream()) one->cut(stopping());
    }
    if (calls_->count() == 0) return shut_down();
    calls_->emptied = [this] { shut_down(); };
    calls_->time->async_wait_until(deadline, boost::asio::bind_cancellation_slot(
                                                 timing_.slot(), boost::asio::bind_executor(
                                                                     calls_->executor, [self = shared_from_this()](error_code ec) {
                                                                       if (!ec) self->cut_all();
                                                                     })));
  }

  /// Whether or not the executor runs.
  void close() {
    calls_->close();
    calls_->emptied = nullptr;
    timing_.emit(boost::asio::cancellation_type::terminal);
    for (auto const& one : calls_->open()) one->cut(stopping());
    calls_->forget_arrived();
    if (server_ && !ending_.joinable()) server_->Shutdown(std::chrono::system_clock::time_point{});
    if (ending_.joinable()) ending_.join();
    if (on_drained_) drained(errc::cancelled);
  }

  auto port() const noexcept -> std::uint16_t { return port_; }
  auto count() const -> std::size_t { return calls_->count(); }

 private:
  static auto stopping() -> ::grpc::Status { return {::grpc::StatusCode::UNAVAILABLE, "the server is stopping"}; }
  static auto in_ms(std::chrono::nanoseconds time) -> int {
    auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
    return static_cast<int>(std::min<std::int64_t>(ms, std::numeric_limits<int>::max()));
  }

  void set_manners(::grpc::ServerBuilder& builder) {
    builder.SetMaxReceiveMessageSize(static_cast<int>(options_.message_bytes));
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, static_cast<int>(options_.calls_of_connection));
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a port in use is an error
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, in_ms(options_.least_ping_interval));
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, in_ms(options_.idle_time));
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, in_ms(options_.ping_time));
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, in_ms(options_.ping_wait));
    ::grpc::ResourceQuota quota{"agones_alloc"};
    quota.Resize(options_.memory_bytes);
    builder.SetResourceQuota(quota);
  }

  // Only now: gRPC would end calls that come meanwhile as cancelled, which nobody tries again. It waits for what is still
  // on its way to clients, in a thread.
  void shut_down() {
    calls_->emptied = nullptr;
    if (ending_.joinable()) return;
    auto const until = calls_->time->wall_now() + std::chrono::seconds{1};
    ending_ = std::thread{[self = shared_from_this(), until] {
      self->server_->Shutdown(std::chrono::time_point_cast<std::chrono::system_clock::duration>(until));
      boost::asio::post(self->calls_->executor, [self] { self->drained({}); });
    }};
  }

  void cut_all() {
    for (auto const& one : calls_->open()) {
      was_cut_ = true;
      one->cut(stopping());
    }
  }

  void drained(error_code ec) {
    if (!on_drained_) return;
    timing_.emit(boost::asio::cancellation_type::terminal);
    if (!ec && was_cut_) ec = errc::deadline_exceeded;
    auto handler = std::move(*on_drained_);
    on_drained_.reset();
    boost::asio::post(calls_->executor, [handler = std::move(handler), ec]() mutable { std::move(handler)(ec); });
  }

  grpc_listener_options options_;
  std::shared_ptr<grpc_calls> calls_;
  allocation_doors allocation_;
  information_doors information_;
  std::shared_ptr<::grpc::ServerCredentials> credentials_;
  std::unique_ptr<::grpc::Server> server_;
  std::uint16_t port_{0};
  std::optional<drain_handler> on_drained_;
  boost::asio::cancellation_signal timing_;
  std::thread ending_;
  bool draining_{false};
  bool was_cut_{false};
};

inline auto checked(grpc_listener_options options) -> grpc_listener_options {
  auto const fail = [](char const* field) {
    throw std::invalid_argument{std::string{"grpc_listener_options::"} + field + " is out of range"};
  };
  auto const count = [&fail](std::size_t value, char const* field) {
    if (value < 1 || value > std::size_t{0x7fffffff}) fail(field);
  };
  auto const time = [&fail](std::chrono::nanoseconds value, char const* field) {
    if (value < std::chrono::milliseconds{1} || value > std::chrono::hours{24}) fail(field);
  };
  count(options.message_bytes, "message_bytes");
  count(options.calls, "calls");
  count(options.calls_of_connection, "calls_of_connection");
  count(options.memory_bytes, "memory_bytes");
  time(options.least_ping_interval, "least_ping_interval");
  time(options.idle_time, "idle_time");
  time(options.ping_time, "ping_time");
  time(options.ping_wait, "ping_wait");
  return options;
}

}  // namespace detail

AGONES_ALLOC_DECL grpc_listener::grpc_listener(boost::asio::any_io_executor executor, http_handler& handler, timer& time,
                                               grpc_listener_options options, http_observer* observer)
    : state_{std::make_shared<detail::grpc_listener_state>(std::move(executor), handler, time, detail::checked(options),
                                                           observer)} {}
AGONES_ALLOC_DECL grpc_listener::~grpc_listener() { state_->close(); }
AGONES_ALLOC_DECL void grpc_listener::use(tls_server& tls, client_verification clients) { state_->use(tls, clients); }
AGONES_ALLOC_DECL auto grpc_listener::listen(std::string const& address, std::uint16_t port) -> error_code {
  return state_->listen(address, port);
}
AGONES_ALLOC_DECL auto grpc_listener::port() const noexcept -> std::uint16_t { return state_->port(); }
AGONES_ALLOC_DECL auto grpc_listener::calls() const -> std::size_t { return state_->count(); }
AGONES_ALLOC_DECL void grpc_listener::set_serving(bool serving) { state_->set_serving(serving); }
AGONES_ALLOC_DECL void grpc_listener::drain(timer::time_point deadline, drain_handler handler) {
  state_->drain(deadline, std::move(handler));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
