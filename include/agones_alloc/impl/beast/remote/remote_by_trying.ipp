#pragma once

#include <agones_alloc/async/detail/complete.hpp>
#include <agones_alloc/beast/remote/detail/tried_places.hpp>
#include <agones_alloc/beast/remote/remote_by_trying.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace agones_alloc::inline AGONES_ALLOC_ABI {

namespace detail {

/// One allocation or probe: it waits for its endpoint's protocol, and then for the remote that speaks it.
struct tried_errand {
  explicit tried_errand(remote_call c) : call{std::move(c)} {}
  remote_call call;
  std::optional<remote_allocator::handler> allocated;
  std::optional<remote_allocator::probe_handler> probed;  ///< one of the two
  std::shared_ptr<tried_place> place;
  remote_protocol by{remote_protocol::rest};  ///< under way
  boost::asio::cancellation_signal timing;
  boost::asio::cancellation_signal stop;
  bool cancelled{false};
};

/// No answer, or one that says that there is nobody to speak this protocol with.
inline auto shows_change(remote_result const& end) noexcept -> bool {
  if (end.result == outcome::unknown) return true;
  return end.result == outcome::unavailable && (end.code == 0 || end.code == 404 || end.code == 405 || end.code == 501);
}

/// Confined to its strand, but for `submit` and `shut`.
class remote_by_trying_core final : public std::enable_shared_from_this<remote_by_trying_core> {
 public:
  remote_by_trying_core(boost::asio::any_io_executor executor, connected_remote& rest, connected_remote& grpc, secret_source* secrets,
                        timer& time, remote_by_trying_options options)
      : strand_{boost::asio::make_strand(std::move(executor))},
        own_{strand_},
        rest_{&rest},
        grpc_{&grpc},
        time_{&time},
        options_{checked(options)},
        places_{strand_, secrets, time, options_} {}

  auto can_probe() const noexcept -> bool { return rest_->can_probe() && grpc_->can_probe(); }

  template <class Handler>
  void submit(remote_call call, Handler done, std::optional<Handler> tried_errand::*where) {
    auto slot = boost::asio::get_associated_cancellation_slot(done);
    auto const one = std::make_shared<tried_errand>(std::move(call));
    ((*one).*where).emplace(std::move(done));
    if (slot.is_connected()) {
      slot.assign([weak_self = weak_from_this(), weak = std::weak_ptr<tried_errand>{one},
                   strand = strand_](boost::asio::cancellation_type type) {
        if (type == boost::asio::cancellation_type::none) return;
        boost::asio::dispatch(strand, [weak_self, weak] {
          auto const self = weak_self.lock();
          auto const found = weak.lock();
          if (self && found) self->cancel(found);
        });
      });
    }
    boost::asio::dispatch(strand_, [self = shared_from_this(), one] { self->begin(one); });
  }

  void tell_none(boost::asio::any_completion_handler<void(std::vector<remote_endpoint_state>)> done) {
    boost::asio::post(strand_, [self = shared_from_this(), done = std::move(done)]() mutable {
      complete(self->own_, std::move(done), std::vector<remote_endpoint_state>{});
    });
  }

  void shut() {
    shut_ = true;
    boost::asio::post(strand_, [self = shared_from_this()] {
      for (auto const& place : self->places_.all()) {
        if (auto const search = std::exchange(place->search, nullptr)) search->stop();
        for (auto const& one : std::exchange(place->waiting, {})) self->finish(one, withdrawn());
      }
    });
  }

 private:
  using errand_ptr = std::shared_ptr<tried_errand>;
  using place_ptr = std::shared_ptr<tried_place>;

  static auto checked(remote_by_trying_options options) -> remote_by_trying_options {
    if (options.connect_time < std::chrono::milliseconds{1} || options.connect_time > std::chrono::hours{24}) {
      throw std::invalid_argument{"remote_by_trying_options::connect_time is out of range"};
    }
    if (options.endpoints < 1) throw std::invalid_argument{"remote_by_trying_options::endpoints is out of range"};
    return options;
  }

  static auto withdrawn() -> remote_result {
    remote_result out;
    out.result = outcome::cancelled;
    out.message = "withdrawn before it was sent";
    return out;
  }
  static auto too_late() -> remote_result {
    remote_result out;
    out.result = outcome::deadline;
    out.message = "not sent: no time left";
    return out;
  }

  // Perhaps still inside the initiating function.
  void begin(errand_ptr const& one) {
    if (one->cancelled || shut_) return finish_later(one, withdrawn());
    if (time_->now() >= one->call.deadline) return finish_later(one, too_late());
    auto found = places_.of(one->call);
    if (auto* const wrong = std::get_if<std::string>(&found)) {
      remote_result out;
      out.message = std::move(*wrong);
      return finish_later(one, std::move(out));
    }
    one->place = std::get<0>(std::move(found));
    auto& place = *one->place;
    if (place.known && place.credentials->current() == place.used) return go(one, *place.known);
    wait(one);
    if (!place.search) look(one->place);
  }

  void wait(errand_ptr const& one) {
    one->place->waiting.push_back(one);
    if (one->call.deadline == timer::time_point::max()) return;
    time_->async_wait_until(one->call.deadline,
                            boost::asio::bind_cancellation_slot(
                                one->timing.slot(), boost::asio::bind_executor(strand_, [self = shared_from_this(), one](error_code ec) {
                                  if (!ec && self->leave(one)) self->finish(one, too_late());
                                })));
  }

  /// Whether it waited.
  static auto leave(errand_ptr const& one) -> bool {
    if (!one->place) return false;
    auto& waiting = one->place->waiting;
    auto const at = std::find(waiting.begin(), waiting.end(), one);
    if (at == waiting.end()) return false;
    waiting.erase(at);
    return true;
  }

  void cancel(errand_ptr const& one) {
    one->cancelled = true;
    if (leave(one)) return finish(one, withdrawn());
    one->stop.emit(boost::asio::cancellation_type::terminal);
  }

  void look(place_ptr const& place) {
    place->search = std::make_shared<protocol_search>(
        strand_, *time_, place->endpoint, place->credentials, options_.connect_time,
        [self = shared_from_this(), place](protocol_found found) { self->found(*place, std::move(found)); });
    place->search->start();
  }

  void found(tried_place& place, protocol_found found) {
    place.search = nullptr;
    if (found.protocol) learn(place, *found.protocol, std::move(found.credentials));
    remote_result problem;
    problem.message = std::move(found.problem);
    problem.whole_cluster = found.whole_cluster;
    for (auto const& one : std::exchange(place.waiting, {})) {
      one->timing.emit(boost::asio::cancellation_type::terminal);
      if (found.protocol) {
        go(one, *found.protocol);
      } else {
        finish(one, problem);
      }
    }
  }

  void learn(tried_place& place, remote_protocol protocol, credentials_ptr with) {
    place.known = protocol;
    place.used = std::move(with);
    if (options_.log == nullptr) return;
    options_.log->log(severity::info, "an endpoint's protocol was found out",
                      {{"endpoint", place.name}, {"protocol", protocol == remote_protocol::grpc ? "grpc" : "rest"}});
  }

  void go(errand_ptr const& one, remote_protocol protocol) {
    if (one->cancelled || shut_) return finish_later(one, withdrawn());
    one->by = protocol;
    auto& to = protocol == remote_protocol::grpc ? *grpc_ : *rest_;
    auto const back = [this, &one](auto then) {
      return boost::asio::bind_cancellation_slot(one->stop.slot(), boost::asio::bind_executor(strand_, std::move(then)));
    };
    if (one->allocated) {
      to.async_allocate(one->call, back([self = shared_from_this(), one](remote_result end) { self->ended(one, std::move(end)); }));
    } else {
      to.async_probe(one->call, back([self = shared_from_this(), one](std::string problem) {
                       remote_result end;
                       if (!problem.empty()) one->place->known.reset();
                       end.message = std::move(problem);
                       self->finish(one, std::move(end));
                     }));
    }
  }

  void ended(errand_ptr const& one, remote_result end) {
    auto& place = *one->place;
    // HTTP/2 that is no gRPC: its 404 is gRPC's "unimplemented", and nothing was executed.
    if (one->by == remote_protocol::grpc && end.result == outcome::unavailable && end.code == 501) {
      if (place.known == remote_protocol::grpc) learn(place, remote_protocol::rest, place.used);
      if (!one->cancelled && time_->now() < one->call.deadline) return go(one, remote_protocol::rest);
    } else if (shows_change(end)) {
      place.known.reset();
    }
    finish(one, std::move(end));
  }

  void finish_later(errand_ptr const& one, remote_result end) {
    boost::asio::post(strand_, [self = shared_from_this(), one, end = std::move(end)]() mutable { self->finish(one, std::move(end)); });
  }

  void finish(errand_ptr const& one, remote_result end) {
    one->timing.emit(boost::asio::cancellation_type::terminal);
    if (one->allocated) {
      complete(own_, std::move(*one->allocated), std::move(end));
    } else {
      complete(own_, std::move(*one->probed), end.message.str());
    }
  }

  boost::asio::strand<boost::asio::any_io_executor> strand_;
  boost::asio::any_completion_executor own_;
  connected_remote* rest_;
  connected_remote* grpc_;
  timer* time_;
  remote_by_trying_options options_;
  tried_places places_;
  std::atomic<bool> shut_{false};
};

}  // namespace detail

AGONES_ALLOC_DECL remote_by_trying::remote_by_trying(boost::asio::any_io_executor executor, connected_remote& rest,
                                                     connected_remote& grpc, secret_source* secrets, timer& time,
                                                     remote_by_trying_options options)
    : core_{std::make_shared<detail::remote_by_trying_core>(std::move(executor), rest, grpc, secrets, time, std::move(options))} {}
AGONES_ALLOC_DECL remote_by_trying::~remote_by_trying() { close(); }
AGONES_ALLOC_DECL auto remote_by_trying::can_probe() const noexcept -> bool { return core_->can_probe(); }
AGONES_ALLOC_DECL void remote_by_trying::close() { core_->shut(); }
AGONES_ALLOC_DECL void remote_by_trying::do_allocate(remote_call call, handler done) {
  core_->submit(std::move(call), std::move(done), &detail::tried_errand::allocated);
}
AGONES_ALLOC_DECL void remote_by_trying::do_probe(remote_call call, probe_handler done) {
  core_->submit(std::move(call), std::move(done), &detail::tried_errand::probed);
}
AGONES_ALLOC_DECL void remote_by_trying::tell_endpoints(endpoints_handler done) { core_->tell_none(std::move(done)); }

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI
