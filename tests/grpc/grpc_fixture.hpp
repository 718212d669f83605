// A gRPC listener on a loopback port whose handler the test gives, and real clients of it.
#pragma once

#include "plain_request.hpp"

#include <agones_alloc/async/asio_timer.hpp>
#include <agones_alloc/grpc/allocation_front_end.hpp>
#include <agones_alloc/grpc/grpc_listener.hpp>

#include <agones_alloc_proto/allocation.grpc.pb.h>
#include <agones_alloc_proto/information.grpc.pb.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>

#include <doctest/doctest.h>

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace grpc_test {

using namespace agones_alloc;

/// Runs `act` on each request, on the listener's executor.
class acting_handler final : public http_handler {
 public:
  std::function<void(http_request const&, reply)> act;
  void handle(http_request const& request, reply done) override { act(request, std::move(done)); }
};

inline auto named(std::string const& name) -> http_response {
  allocation::AllocationResponse message;
  message.set_gameservername(name);
  http_response out;
  message.SerializeToString(&out.body);
  return out;
}

struct served {
  explicit served(grpc_listener_options options = {}) { start(options); }
  explicit served(std::nullptr_t) {}  ///< the test starts it
  ~served() { stop(); }

  void start(grpc_listener_options options = {}) {
    prepare(options);
    REQUIRE_FALSE(listener->listen("127.0.0.1", 0));
    run();
  }
  void prepare(grpc_listener_options options) {
    if (!handler.act) handler.act = [](http_request const&, http_handler::reply done) { std::move(done)(named("gs1")); };
    listener = std::make_unique<grpc_listener>(io.get_executor(), handler, time, options);
  }
  void run() {
    thread = std::thread{[this] { io.run(); }};
    on_loop([this] { listener->set_serving(true); });
  }
  void stop() {
    if (thread.joinable()) on_loop([this] { listener.reset(); });
    work.reset();
    if (thread.joinable()) thread.join();
    listener.reset();
  }
  /// Does it on the executor, and waits for it.
  void on_loop(std::function<void()> what) {
    std::promise<void> done;
    boost::asio::post(io, [&] {
      what();
      done.set_value();
    });
    done.get_future().wait();
  }
  auto place() const -> std::string { return "127.0.0.1:" + std::to_string(listener->port()); }
  auto channel(std::shared_ptr<grpc::ChannelCredentials> how = grpc::InsecureChannelCredentials()) const
      -> std::shared_ptr<grpc::Channel> {
    return grpc::CreateChannel(place(), how);
  }

  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  asio_timer time{io.get_executor()};
  acting_handler handler;
  std::unique_ptr<grpc_listener> listener;
  std::thread thread;
};

/// One unary call and what came of it.
struct asked {
  grpc::Status status;
  allocation::AllocationResponse response;
  std::vector<std::pair<std::string, std::string>> trailers;
  auto code() const -> int { return status.error_code(); }
  auto trailer(std::string const& name) const -> std::string {
    for (auto const& [key, value] : trailers) {
      if (key == name) return value;
    }
    return {};
  }
};

inline auto ask(std::shared_ptr<grpc::Channel> const& channel, allocation::AllocationRequest const& request = {},
                std::function<void(grpc::ClientContext&)> const& prepare = {}) -> asked {
  auto const stub = allocation::AllocationService::NewStub(channel);
  grpc::ClientContext context;
  if (prepare) prepare(context);
  asked out;
  out.status = stub->Allocate(&context, request, &out.response);
  for (auto const& [key, value] : context.GetServerTrailingMetadata()) {
    out.trailers.emplace_back(std::string{key.data(), key.size()}, std::string{value.data(), value.size()});
  }
  return out;
}

/// A call of any method with these bytes.
inline auto ask_raw(std::shared_ptr<grpc::Channel> const& channel, std::string const& method, std::string const& bytes, std::string& answer)
    -> grpc::Status {
  grpc::GenericStub stub{channel};
  grpc::ClientContext context;
  grpc::Slice const slice{bytes};
  grpc::ByteBuffer const request{&slice, 1};
  grpc::ByteBuffer response;
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, method, {}, &request, &response, [&done](grpc::Status status) { done.set_value(std::move(status)); });
  auto status = done.get_future().get();
  std::vector<grpc::Slice> pieces;
  answer.clear();
  if (response.Valid() && response.Dump(&pieces).ok()) {
    for (auto const& one : pieces) answer.append(reinterpret_cast<char const*>(one.begin()), one.size());
  }
  return status;
}

/// SERVING is 1, NOT_SERVING 2; 0 when it is not told.
inline auto health(std::shared_ptr<grpc::Channel> const& channel, std::string const& service = {}) -> int {
  std::string request;
  if (!service.empty()) request = std::string{"\x0a"} + static_cast<char>(service.size()) + service;
  std::string answer;
  auto const status = ask_raw(channel, "/grpc.health.v1.Health/Check", request, answer);
  return status.ok() && answer.size() == 2 ? answer[1] : 0;
}

}  // namespace grpc_test
