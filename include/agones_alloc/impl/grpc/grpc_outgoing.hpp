// Calls to others: each ends once, and their owner's end waits for them.
#pragma once

#include <agones_alloc/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include <grpc/support/time.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
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
    {
      std::lock_guard const lock{mutex_};
      if (closed_) return false;
      ++under_way_;
      open_.emplace(of, std::move(call));
    }
    ::grpc::GenericStub stub{of->channel};
    stub.UnaryCall(&of->context, path, {}, &of->request, &of->response,
                   [this, of, executor = std::move(executor), then = std::move(then)](::grpc::Status status) mutable {
                     ended(of, std::exchange(executor, {}), std::exchange(then, nullptr), std::move(status));
                   });
    return true;
  }

  /// Cancels every call, and waits until gRPC has told of their ends.
  void close() {
    std::vector<std::shared_ptr<outgoing_call>> all;
    {
      std::lock_guard const lock{mutex_};
      closed_ = true;
      for (auto const& [key, call] : open_) all.push_back(call);
    }
    for (auto const& call : all) call->context.TryCancel();  // not under the lock: it may end here and now
    std::unique_lock lock{mutex_};
    emptied_.wait(lock, [this] { return under_way_ == 0; });
  }

 private:
  // On a thread of gRPC's, which must not be who forgets the call: with the last channel gRPC waits for its threads. Nor is the
  // executor kept beyond the end: whoever waits for that may destroy its context.
  void ended(outgoing_call* of, boost::asio::any_io_executor executor, ending then, ::grpc::Status status) {
    of->status = std::move(status);
    std::shared_ptr<outgoing_call> call;
    {
      std::lock_guard const lock{mutex_};
      auto const at = open_.find(of);
      call = std::move(at->second);
      open_.erase(at);
    }
    boost::asio::post(std::exchange(executor, {}), [call = std::move(call), then = std::move(then)] { then(*call); });
    std::lock_guard const lock{mutex_};
    if (--under_way_ == 0) emptied_.notify_all();  // under the lock: afterwards this may be gone
  }

  std::mutex mutex_;
  std::condition_variable emptied_;
  std::unordered_map<outgoing_call const*, std::shared_ptr<outgoing_call>> open_;
  std::size_t under_way_{0};
  bool closed_{false};
};

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
