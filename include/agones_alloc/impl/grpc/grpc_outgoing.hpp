// Calls to others: each ends once, and their owner's end waits for them.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/impl/grpc/open_calls.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <grpc/support/time.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

/// One unary call.
struct outgoing_call {
  std::shared_ptr<::grpc::Channel> channel;
  ::grpc::ClientContext context;
  ::grpc::ByteBuffer request;
  ::grpc::ByteBuffer response;
  ::grpc::Status status;

  /// gRPC has a clock of its own.
  void set_time(std::chrono::nanoseconds left) {
    constexpr std::chrono::nanoseconds most = std::chrono::hours{24 * 365};
    auto const ns = std::clamp(left, std::chrono::nanoseconds{0}, most).count();
    context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(ns, GPR_TIMESPAN)));
  }
  auto body() const -> std::string {
    std::string out;
    std::vector<::grpc::Slice> pieces;
    if (!response.Valid() || !response.Dump(&pieces).ok()) return out;
    for (auto const& one : pieces) out.append(reinterpret_cast<char const*>(one.begin()), one.size());
    return out;
  }
  auto trailer(std::string const& name) const -> std::string {
    auto const& all = context.GetServerTrailingMetadata();
    auto const at = all.find(name);
    return at == all.end() ? std::string{} : std::string{at->second.data(), at->second.size()};
  }
};

/// Thread safety: any thread.
class outgoing_calls {
 public:
  using ending = std::function<void(outgoing_call&)>;

  /// False: it is closed, and nothing was begun. Else `then` is called once, on the executor, with the call's status set.
  auto begin(std::shared_ptr<outgoing_call> call, std::string const& path, boost::asio::any_io_executor executor, ending then)
      -> bool {
    auto* const of = call.get();
    if (!open_.enter(std::move(call))) return false;
    ::grpc::GenericStub stub{of->channel};
    stub.UnaryCall(&of->context, path, {}, &of->request, &of->response,
                   [this, of, executor = std::move(executor), then = std::move(then)](::grpc::Status status) mutable {
                     of->status = std::move(status);
                     open_.leave(of, std::exchange(executor, {}), std::exchange(then, nullptr));
                   });
    return true;
  }

  /// Cancels every call, and waits until gRPC has told of their ends.
  void close() {
    open_.close([](outgoing_call& one) { one.context.TryCancel(); });
  }

 private:
  open_calls<outgoing_call> open_;
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
