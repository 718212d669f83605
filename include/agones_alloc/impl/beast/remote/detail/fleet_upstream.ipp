#pragma once

#include <agones_alloc/beast/remote/detail/fleet_upstream.hpp>
#include <agones_alloc/beast/remote/endpoint.hpp>
#include <agones_alloc/beast/remote/hop_header.hpp>
#include <agones_alloc/json/fleet_info.hpp>
#include <agones_alloc/json/parse.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace agones_alloc::inline AGONES_ALLOC_ABI::detail {

inline auto upstream_client(remote_fleets_options const& from) -> client_options {
  client_options out;
  out.limits.connections = 1;
  out.limits.streams = 1;
  out.limits.queue = 1;
  out.limits.body_bytes = from.event_bytes;
  out.times.queue = out.times.resolve = out.times.connect = out.times.handshake = out.times.credentials = from.connect_time;
  out.times.first_byte = std::chrono::seconds{10};
  out.times.silence = from.silence;
  return out;
}

/// The gRPC code and the words for an answer that is no stream; whether it may be different soon.
struct upstream_refusal {
  int code;
  std::string_view message;
  bool soon;
};
inline auto refusal_of(int status) noexcept -> upstream_refusal {
  switch (status) {
    case 200:
    case 404:
    case 405:
    case 406:
    case 501: return {12, "it has no directory of fleets: an older server, or one with --no-fleet-directory", false};
    case 401: return {16, "it does not know us", false};
    case 403: return {7, "it does not let us look", false};
    case 400: return {3, "it does not understand the question", false};
    case 429:
    case 503: return {8, "it has no room for another stream", true};
    case 508: return {9, "the question was forwarded too often: is there a loop?", false};
    default: return {14, "it answers with an error", true};
  }
}

AGONES_ALLOC_DECL fleet_upstream::fleet_upstream(std::shared_ptr<upstream_context> context, upstream_place place)
    : context_{std::move(context)}, place_{std::move(place)}, retry_{context_->options.retry} {
  auto const& options = context_->options;
  for (auto const& text : place_.endpoints) {
    auto one = std::make_unique<way>();
    auto parsed = parse_endpoint(text, options.allow_plaintext);
    if (protocol_of(text, options.otherwise) == remote_protocol::grpc) {
      one->code = 12;
      one->problem = "fleets are listened to over HTTPS, and this endpoint is for gRPC";
    } else if (auto* const problem = std::get_if<std::string>(&parsed)) {
      one->problem = std::move(*problem);
    } else {
      secret_credentials_options how;
      how.time_to_live = options.secret_time_to_live;
      how.retry = options.secret_retry;
      how.counts = options.counts;
      how.log = options.log;
      one->credentials = std::make_shared<secret_credentials>(context_->strand, context_->time, context_->secrets,
                                                              place_.credentials, place_.server_name, how);
      one->client.emplace(context_->strand, std::get<client_endpoint>(std::move(parsed)), one->credentials, context_->time,
                          upstream_client(options), options.log);
    }
    ways_.push_back(std::move(one));
  }
}

// Runs f(*this, arguments...) unless it was stopped meanwhile.
template <class F>
auto fleet_upstream::back(F f) {
  return boost::asio::bind_cancellation_slot(
      pending_.slot(),
      boost::asio::bind_executor(context_->strand, [self = shared_from_this(), f](auto&&... arguments) {
        if (!self->stopped_) f(*self, std::forward<decltype(arguments)>(arguments)...);
      }));
}

AGONES_ALLOC_DECL void fleet_upstream::start() {
  tell(14, "it was not heard yet", true);
  connect();
}

AGONES_ALLOC_DECL void fleet_upstream::stop() {
  stopped_ = true;
  pending_.emit(boost::asio::cancellation_type::terminal);
  stream_.reset();
  for (auto const& one : ways_) {
    if (one->client) one->client->close();
  }
}

inline void fleet_upstream::connect() {
  auto& to = current();
  if (!to.client) return lost(to.code, to.problem, false);
  client_request request;
  request.method = "GET";
  request.target = "/v1/fleets?multiCluster=false&include=nodes,annotations";
  request.headers.emplace_back("Accept", "text/event-stream");
  request.headers.emplace_back(hop_header, "1");
  if (!token_.empty()) request.headers.emplace_back("Last-Event-ID", token_);
  to.client->async_stream(std::move(request), back([](fleet_upstream& self, error_code ec, std::unique_ptr<response_stream> s) {
                            if (!ec) return self.opened(std::move(s));
                            auto const& credentials = *self.current().credentials;
                            bool const none = credentials.version() == 0 && !credentials.problem().empty();
                            self.lost(14, none ? credentials.problem() : "it cannot be reached: " + ec.message(), true);
                          }));
}

inline void fleet_upstream::opened(std::unique_ptr<response_stream> stream) {
  auto const& head = stream->head();
  if (head.status != 200 || !std::string_view{head.content_type}.starts_with("text/event-stream")) {
    auto const why = refusal_of(head.status);
    return lost(why.code, std::string{why.message} + " (" + std::to_string(head.status) + ")", why.soon);
  }
  stream_ = std::move(stream);
  reader_.emplace(context_->options.event_bytes);
  left_out_ = false;
  if (token_.empty()) {
    listing_ = true;
    context_->directory.begin_list(place_.cluster);
  } else {
    failures_ = 0;
    tell(0, "", false);
  }
  read();
}

inline void fleet_upstream::read() {
  stream_->async_read_some(back([](fleet_upstream& self, error_code ec, std::string_view chunk) {
    if (!ec) return self.take(chunk);
    self.lost(14, ec == boost::asio::error::eof ? std::string{"the stream has ended"} : "the stream was lost: " + ec.message(),
              true);
  }));
}

inline void fleet_upstream::take(std::string_view chunk) {
  while (auto const event = reader_->next(chunk)) {
    if (!take(*event)) {
      token_.clear();
      return lost(13, "it says what cannot be understood", true);
    }
  }
  if (reader_->failed()) {
    token_.clear();
    return lost(8, "it says more at once than may be", true);
  }
  read();
}

inline auto fleet_upstream::take(server_sent_event const& event) -> bool {
  auto& directory = context_->directory;
  if (event.what == "HEARTBEAT" || event.what == "CLUSTER_STATUS" || event.what == "CLUSTER_GONE") return true;
  if (event.what == "RESET") {
    listing_ = true;
    token_.clear();
    directory.begin_list(place_.cluster);
    return true;
  }
  if (event.what == "SYNCED") {
    if (std::exchange(listing_, false)) directory.end_list(place_.cluster);
    token_ = event.id;
    failures_ = 0;
    ever_synced_ = true;
    tell(left_out_ ? 8 : 0, left_out_ ? "it has more fleets than are kept" : "", false);
    return true;
  }
  bool const gone = event.what == "DELETED";
  if (!gone && event.what != "SNAPSHOT_ITEM" && event.what != "ADDED" && event.what != "MODIFIED") return true;  // of a newer one
  json_parse_options parsing;
  parsing.max_bytes = event.data.size() + 1;
  auto const value = parse_json(event.data, parsing);
  auto const* const object = value ? value->if_object() : nullptr;
  auto const* const inner = object != nullptr ? object->if_contains("fleet") : nullptr;
  if (inner == nullptr) return false;
  auto fleet = read_fleet_info(*inner);
  if (!fleet) return false;
  fleet->cluster = place_.cluster;
  if (gone) {
    directory.remove(key_of(*fleet));
  } else {
    fleet->stale = false;
    std::vector<fleet_info> one;
    one.push_back(*std::move(fleet));
    left_out_ = !directory.put(std::move(one)) || left_out_;
  }
  if (!listing_ && !event.id.empty()) token_ = event.id;
  return true;
}

inline void fleet_upstream::lost(int code, std::string message, bool soon) {
  stream_.reset();
  auto const& options = context_->options;
  if (failures_ == 0 && options.log != nullptr) {
    options.log->log(severity::warning, "the fleets of another cluster are not heard",
                     {{"cluster", place_.cluster}, {"endpoint", endpoint()}, {"reason", message}});
  }
  tell(code, message, true);
  ++at_;
  ++failures_;
  // The other endpoints may be different: all of them are tried before a long pause.
  bool const round = failures_ % ways_.size() == 0;
  auto const most = std::max(options.retry.attempts - 1, 1U);
  auto const rounds = static_cast<std::uint32_t>(1 + (failures_ - 1) / ways_.size());
  auto const wait = !soon && round ? options.unserved_retry
                                   : retry_.wait_after(std::min(rounds, most), context_->random.unit()).value_or(options.retry.cap);
  context_->time.async_wait_until(context_->time.now() + wait, back([](fleet_upstream& self, error_code) { self.connect(); }));
}

inline void fleet_upstream::tell(int code, std::string_view message, bool stale) {
  cluster_info now;
  now.name = place_.cluster;
  now.endpoint = endpoint();
  now.code = code;
  now.message = message;
  now.synced = ever_synced_;
  now.stale = stale;
  now.observed = context_->time.wall_now();
  context_->directory.set_cluster(std::move(now));
}

}  // namespace agones_alloc::inline AGONES_ALLOC_ABI::detail
