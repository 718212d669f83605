// Streams of the information service that are read, and the end that waits for them.
#pragma once

#include <agones_alloc/config.hpp>
#include <agones_alloc/impl/grpc/open_calls.hpp>

#include <agones_alloc_proto/information.grpc.pb.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

class watch_calls;

/// One stream. An event is handed over on the executor, and the next one is read when that is asked for.
class watch_call final : public ::grpc::ClientReadReactor<::information::InformEvent>,
                         public std::enable_shared_from_this<watch_call> {
 public:
  using reaction = std::function<void(watch_call&)>;

  std::shared_ptr<::grpc::Channel> channel;
  ::grpc::ClientContext context;
  ::information::InformRequest request;
  ::information::InformEvent event;
  ::grpc::Status status;  ///< at the end

  /// The event has been taken.
  void go_on() {
    {
      std::lock_guard const lock{mutex_};
      if (cut_ || !std::exchange(handed_over_, false)) return;
    }
    StartRead(&event);
  }
  /// Ends it soon. Any thread.
  void cut() {
    bool idle = false;
    {
      std::lock_guard const lock{mutex_};
      cut_ = true;
      idle = std::exchange(handed_over_, false);
    }
    context.TryCancel();
    if (idle) RemoveHold();
  }

 private:
  friend class watch_calls;

  void OnReadInitialMetadataDone(bool ok) override {
    if (!ok || context.GetServerInitialMetadata().count("agones-alloc-stream") == 0) return;
    boost::asio::post(executor_, [self = shared_from_this()] { self->opened_(*self); });
  }
  void OnReadDone(bool ok) override {
    bool over = !ok;
    {
      std::lock_guard const lock{mutex_};
      over = over || cut_;
      handed_over_ = !over;
    }
    if (over) return RemoveHold();
    boost::asio::post(executor_, [self = shared_from_this()] { self->taken_(*self); });
  }
  void OnDone(::grpc::Status const& ended) override;

  std::mutex mutex_;
  bool cut_{false};
  bool handed_over_{false};  ///< nothing is being read: a hold of gRPC's keeps the call
  open_calls<watch_call>* all_{nullptr};
  boost::asio::any_io_executor executor_;
  reaction opened_;
  reaction taken_;
  reaction ended_;
};

/// Thread safety: any thread.
class watch_calls {
 public:
  /// False: it is closed, and nothing was begun. Else, on the executor, `opened` is called where the server says so before its first
  /// event, `taken` with each event, and `ended` once, as the last.
  auto begin(std::shared_ptr<watch_call> const& call, boost::asio::any_io_executor executor, watch_call::reaction opened,
             watch_call::reaction taken, watch_call::reaction ended) -> bool {
    call->all_ = &open_;
    call->executor_ = std::move(executor);
    call->opened_ = std::move(opened);
    call->taken_ = std::move(taken);
    call->ended_ = std::move(ended);
    if (!open_.enter(call)) return false;
    ::information::InformationService::NewStub(call->channel)->async()->Watch(&call->context, &call->request, call.get());
    call->AddHold();
    call->StartRead(&call->event);
    call->StartCall();
    return true;
  }

  /// Cuts every stream, and waits until gRPC has told of their ends.
  void close() {
    open_.close([](watch_call& one) { one.cut(); });
  }

 private:
  open_calls<watch_call> open_;
};

inline void watch_call::OnDone(::grpc::Status const& with) {
  status = with;
  all_->leave(this, std::exchange(executor_, {}), [](watch_call& self) { self.ended_(self); });
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
