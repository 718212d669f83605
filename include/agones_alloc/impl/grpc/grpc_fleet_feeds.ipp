#pragma once

#include <agones_alloc/beast/client/client_alarm.hpp>
#include <agones_alloc/beast/remote/remote_fleets_options.hpp>
#include <agones_alloc/grpc/grpc_fleet_feeds.hpp>
#include <agones_alloc/grpc/grpc_remote_allocator.hpp>
#include <agones_alloc/grpc/information_messages.hpp>
#include <agones_alloc/impl/grpc/grpc_targets.hpp>
#include <agones_alloc/impl/grpc/grpc_watch.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// What the end of a stream says.
inline auto end_of_watch(::grpc::Status const& status) -> remote_feed_end {
  constexpr std::size_t most_text = 512;
  auto const& words = status.error_message();
  auto const said = [&words](int code, std::string why, bool soon, bool anew = false) {
    if (!words.empty()) why += ": " + words.substr(0, most_text);
    return remote_feed_end{code, std::move(why), soon, anew};
  };
  switch (status.error_code()) {
    case ::grpc::StatusCode::OK: return {14, "the stream has ended"};
    case ::grpc::StatusCode::UNIMPLEMENTED:
    case ::grpc::StatusCode::NOT_FOUND:
      return said(12, "it has no directory of fleets: another server, or one with --no-fleet-directory", false);
    case ::grpc::StatusCode::UNAUTHENTICATED: return said(16, "it does not know us", false);
    case ::grpc::StatusCode::PERMISSION_DENIED: return said(7, "it does not let us look", false);
    case ::grpc::StatusCode::INVALID_ARGUMENT: return said(3, "it does not understand the question", false);
    case ::grpc::StatusCode::FAILED_PRECONDITION: return said(9, "it does not take the question", false);
    case ::grpc::StatusCode::RESOURCE_EXHAUSTED: return said(8, "it says more at once than may be", true, true);
    default: return said(14, "it is not heard", true);
  }
}

inline auto feed_targets(remote_fleets_options const& from) -> grpc_remote_options {
  grpc_remote_options out;
  out.connect_time = from.connect_time;
  out.answer_bytes = from.event_bytes;
  out.endpoints = 1;
  out.allow_plaintext = from.allow_plaintext;
  out.secret_time_to_live = from.secret_time_to_live;
  out.secret_retry = from.secret_retry;
  out.counts = from.counts;
  out.log = from.log;
  return out;
}

class grpc_feed final : public remote_feed, public std::enable_shared_from_this<grpc_feed> {
 public:
  grpc_feed(boost::asio::any_io_executor executor, timer& time, secret_source* secrets, std::shared_ptr<watch_calls> calls,
            remote_feed_place const& place, remote_fleets_options const& options)
      : executor_{executor},
        time_{&time},
        calls_{std::move(calls)},
        silence_{options.silence},
        connect_time_{options.connect_time},
        options_{feed_targets(options)},
        targets_{executor, secrets, time, options_},
        alarm_{time, executor} {
    whom_.endpoint = place.endpoint;
    whom_.server_name = place.server_name;
    whom_.credentials = place.credentials;
  }

  /// "", or what is wrong with its endpoint.
  auto prepare() -> std::string {
    auto found = targets_.of(whom_);
    if (auto* const problem = std::get_if<std::string>(&found)) return std::move(*problem);
    target_ = std::get<0>(std::move(found));
    return {};
  }

  void open(std::string token, std::weak_ptr<remote_feed_listener> listener) override {
    listener_ = std::move(listener);
    token_ = std::move(token);
    heard_ = false;
    alarm_.set(time_->now() + connect_time_ + first_answer, shared_from_this());
    if (auto const credentials = target_->credentials->current()) return begin(credentials);
    target_->credentials->async_fetch(
        nullptr, boost::asio::bind_cancellation_slot(
                     fetching_.slot(), boost::asio::bind_executor(executor_, [self = shared_from_this()](
                                                                                 error_code ec, credentials_ptr const& credentials) {
                       if (ec == errc::cancelled || !self->listening()) return;
                       if (!ec && credentials) return self->begin(credentials);
                       auto const& problem = self->target_->credentials->problem();
                       self->end({14, problem.empty() ? "no credentials" : problem});
                     })));
  }

  void close() override {
    listener_.reset();
    stop();
    target_->channel = nullptr;
  }

  void on_alarm() { end({14, heard_ ? "the stream was lost: it is silent" : "it cannot be reached: no answer in time"}); }

 private:
  static constexpr std::chrono::seconds first_answer{10};

  auto listening() const -> bool { return !listener_.expired(); }

  void begin(credentials_ptr const& credentials) {
    auto const call = std::make_shared<watch_call>();
    call->channel = targets_.channel_of(*target_, credentials);
    call->context.AddMetadata("agones-alloc-hops", "1");
    call->request.set_withannotations(true);
    call->request.set_withnodes(true);
    call->request.set_resumetoken(std::exchange(token_, {}));
    call_ = call;
    auto const mine = [weak = weak_from_this()](auto then) {
      return [weak, then](watch_call& of) {
        auto const self = weak.lock();
        if (self && self->call_.get() == &of) then(*self, of);
      };
    };
    if (calls_->begin(call, executor_, mine([](grpc_feed& self, watch_call&) { self.opened(); }),
                      mine([](grpc_feed& self, watch_call& of) { self.took(of); }),
                      mine([](grpc_feed& self, watch_call& of) { self.ended(of); }))) {
      return;
    }
    boost::asio::post(executor_, [self = shared_from_this()] { self->end({14, "it is not listened to any more"}); });
  }

  void opened() {
    auto const listener = listener_.lock();
    if (!listener) return stop();
    if (std::exchange(heard_, true)) return;
    alarm_.set(time_->now() + silence_, shared_from_this());
    listener->opened();
  }

  void took(watch_call& of) {
    opened();  // an older one does not say so before
    auto const listener = listener_.lock();
    if (!listener || call_.get() != &of) return;
    if (!tell(of.event, *listener)) return end({13, "it says what cannot be understood", true, true});
    if (call_.get() != &of) return;  // it was closed meanwhile
    alarm_.set(time_->now() + silence_, shared_from_this());
    of.go_on();
  }

  /// False: it cannot be understood.
  static auto tell(::information::InformEvent const& event, remote_feed_listener& listener) -> bool {
    using kind = ::information::InformEvent;
    switch (event.kind()) {
      case kind::RESET: listener.reset(); return true;
      case kind::SYNCED: listener.synced(event.resumetoken()); return true;
      case kind::SNAPSHOT_ITEM:
      case kind::ADDED:
      case kind::MODIFIED:
      case kind::DELETED: break;
      default: return true;  // heartbeats, clusters, and what a newer one may say
    }
    auto fleet = message_to_fleet(event.fleet());
    if (!fleet) return false;
    if (event.kind() == kind::DELETED) {
      listener.removed(*std::move(fleet), event.resumetoken());
    } else {
      listener.changed(*std::move(fleet), event.resumetoken());
    }
    return true;
  }

  void ended(watch_call& of) { end(end_of_watch(of.status)); }

  void end(remote_feed_end why) {
    stop();
    // It is connected to anew, not after gRPC's own pauses.
    if (!target_->connected()) target_->channel = nullptr;
    if (auto const listener = std::exchange(listener_, {}).lock()) listener->ended(std::move(why));
  }

  void stop() {
    alarm_.stop();
    fetching_.emit(boost::asio::cancellation_type::terminal);
    if (auto const call = std::exchange(call_, nullptr)) call->cut();
  }

  boost::asio::any_io_executor executor_;
  timer* time_;
  std::shared_ptr<watch_calls> calls_;
  std::chrono::nanoseconds silence_;
  std::chrono::nanoseconds connect_time_;
  grpc_remote_options options_;
  grpc_targets targets_;
  client_alarm alarm_;  ///< of the opening, then of silence
  remote_call whom_;
  std::shared_ptr<grpc_target> target_;
  std::shared_ptr<watch_call> call_;
  std::weak_ptr<remote_feed_listener> listener_;
  boost::asio::cancellation_signal fetching_;
  std::string token_;
  bool heard_{false};
};

}  // namespace detail

AGONES_ALLOC_DECL grpc_fleet_feeds::grpc_fleet_feeds(secret_source* secrets, timer& time)
    : secrets_{secrets}, time_{&time}, calls_{std::make_shared<detail::watch_calls>()} {}

AGONES_ALLOC_DECL grpc_fleet_feeds::~grpc_fleet_feeds() { calls_->close(); }

AGONES_ALLOC_DECL auto grpc_fleet_feeds::make(boost::asio::any_io_executor executor, remote_feed_place const& place,
                                              remote_fleets_options const& options)
    -> std::variant<std::shared_ptr<remote_feed>, std::string> {
  auto out = std::make_shared<detail::grpc_feed>(std::move(executor), *time_, secrets_, calls_, place, options);
  if (auto problem = out->prepare(); !problem.empty()) return problem;
  return out;
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
