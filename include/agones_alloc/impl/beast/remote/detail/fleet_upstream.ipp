#pragma once

#include <agones_alloc/beast/remote/detail/fleet_upstream.hpp>
#include <agones_alloc/beast/remote/endpoint.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

AGONES_ALLOC_DECL fleet_upstream::fleet_upstream(std::shared_ptr<upstream_context> context, upstream_place place)
    : context_{std::move(context)}, place_{std::move(place)}, retry_{context_->options.retry} {
  for (auto const& text : place_.endpoints) {
    auto const protocol = protocol_of(text, context_->options.otherwise);
    if (protocol != remote_protocol::grpc) add_way(text, &context_->over_http);
    if (protocol != remote_protocol::rest) add_way(text, context_->options.grpc);
  }
}

inline void fleet_upstream::add_way(std::string const& endpoint, remote_feeds* by) {
  way one;
  one.endpoint = endpoint;
  if (by == nullptr) {
    one.code = 12;
    one.problem = "fleets are listened to over HTTPS, and this endpoint is for gRPC";
  } else {
    auto made = by->make(context_->strand, {endpoint, place_.server_name, place_.credentials}, context_->options);
    if (auto* const problem = std::get_if<std::string>(&made)) {
      one.problem = std::move(*problem);
    } else {
      one.feed = std::get<0>(std::move(made));
    }
  }
  ways_.push_back(std::move(one));
}

AGONES_ALLOC_DECL void fleet_upstream::start() {
  tell(14, "it was not heard yet", true);
  connect();
}

AGONES_ALLOC_DECL void fleet_upstream::stop() {
  stopped_ = true;
  pending_.emit(boost::asio::cancellation_type::terminal);
  for (auto const& one : ways_) {
    if (one.feed) one.feed->close();
  }
}

inline void fleet_upstream::connect() {
  auto const& to = current();
  if (!to.feed) return lost({to.code, to.problem, false, false});
  to.feed->open(token_, weak_from_this());
}

AGONES_ALLOC_DECL void fleet_upstream::opened() {
  left_out_ = false;
  if (token_.empty()) {
    listing_ = true;
    context_->directory.begin_list(place_.cluster);
  } else {
    failures_ = 0;
    tell(0, "", false);
  }
}

AGONES_ALLOC_DECL void fleet_upstream::reset() {
  listing_ = true;
  token_.clear();
  context_->directory.begin_list(place_.cluster);
}

AGONES_ALLOC_DECL void fleet_upstream::synced(std::string token) {
  if (std::exchange(listing_, false)) context_->directory.end_list(place_.cluster);
  token_ = std::move(token);
  failures_ = 0;
  ever_synced_ = true;
  tell(left_out_ ? 8 : 0, left_out_ ? "it has more fleets than are kept" : "", false);
}

AGONES_ALLOC_DECL void fleet_upstream::changed(fleet_info fleet, std::string const& token) {
  fleet.cluster = place_.cluster;
  fleet.stale = false;
  std::vector<fleet_info> one;
  one.push_back(std::move(fleet));
  left_out_ = !context_->directory.put(std::move(one)) || left_out_;
  keep(token);
}

AGONES_ALLOC_DECL void fleet_upstream::removed(fleet_info key, std::string const& token) {
  key.cluster = place_.cluster;
  context_->directory.remove(key_of(key));
  keep(token);
}

inline void fleet_upstream::keep(std::string const& token) {
  if (!listing_ && !token.empty()) token_ = token;
}

AGONES_ALLOC_DECL void fleet_upstream::ended(remote_feed_end why) {
  if (stopped_) return;
  if (why.anew) token_.clear();
  lost(why);
}

inline void fleet_upstream::lost(remote_feed_end const& why) {
  auto const& options = context_->options;
  if (failures_ == 0 && options.log != nullptr) {
    options.log->log(severity::warning, "the fleets of another cluster are not heard",
                     {{"cluster", place_.cluster}, {"endpoint", current().endpoint}, {"reason", why.message}});
  }
  tell(why.code, why.message, true);
  ++at_;
  ++failures_;
  // The other endpoints may be different: all of them are tried before a long pause.
  bool const round = failures_ % ways_.size() == 0;
  auto const most = std::max(options.retry.attempts - 1, 1U);
  auto const rounds = static_cast<std::uint32_t>(1 + (failures_ - 1) / ways_.size());
  auto const wait = !why.soon && round
                        ? options.unserved_retry
                        : retry_.wait_after(std::min(rounds, most), context_->random.unit()).value_or(options.retry.cap);
  context_->time.async_wait_until(
      context_->time.now() + wait,
      boost::asio::bind_cancellation_slot(pending_.slot(),
                                          boost::asio::bind_executor(context_->strand, [self = shared_from_this()](error_code) {
                                            if (!self->stopped_) self->connect();
                                          })));
}

inline void fleet_upstream::tell(int code, std::string_view message, bool stale) {
  cluster_info now;
  now.name = place_.cluster;
  now.endpoint = current().endpoint;
  now.code = code;
  now.message = message;
  now.synced = ever_synced_;
  now.stale = stale;
  now.observed = context_->time.wall_now();
  context_->directory.set_cluster(std::move(now));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
